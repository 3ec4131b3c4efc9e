"""The review loop with real processes: planted defects, findings, fixes, a second look, and every fault of a reviewer."""

import sys
from pathlib import Path

import pytest

from paddock.core.events import AnswerRefused, AttemptStarted
from paddock.core.review.events import FindingReported, FindingSettled, ReviewGiven, ReviewPassed, ReviewSentBack
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Role
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, write

CRITIC = Path(__file__).with_name("critic.py")


def critic(name: str = "critic", moods: str = "") -> str:
    argv = [sys.executable, str(CRITIC), "{prompt}", moods]
    return f"[engines.{name}]\ncommand = {argv}\n[agents.{name}]\nrole = 'reviewer'\nengine = '{name}'\n"


def reviewed(make_yard: MakeYard, settings: str = "", *critics: str) -> Yard:
    yard = make_yard()
    config = f'engine = "scripted"\n[land]\napproval = "review"\nci = "true"\n{settings}\n'
    (yard.top / "paddock.toml").write_text(config + "\n".join(critics or (critic(),)))
    return yard


def test_a_planted_defect_is_found_fixed_reviewed_again_and_landed(make_yard: MakeYard) -> None:
    yard = reviewed(make_yard)
    fix = {"turn": 2}
    task = yard.add(
        write("a.py", "one\nBUG here\n"), commit("Add a"), {**write("a.py", "one\n"), **fix}, {**commit("Fix a"), **fix}
    )
    yard.run()
    board = yard.board()
    assert board.task(task).phase is Phase.LANDED
    heads = [record.event.head for record in yard.records(ReviewGiven)]
    assert len(set(heads)) == 2, "each verdict names the version it saw"
    assert [record.event.objects for record in yard.records(ReviewGiven)] == [True, False]
    [reported] = yard.records(FindingReported)
    assert (reported.event.claim.path, reported.event.claim.line, reported.event.blocking) == ("a.py", 2, True)
    [settled] = yard.records(FindingSettled)
    assert (settled.event.id, settled.event.how, settled.event.head) == ("f1", "fixed", heads[1])
    [sent] = yard.records(ReviewSentBack)
    assert "a.py:2" in sent.event.message
    roles = [record.event.role for record in yard.records(AttemptStarted)]
    assert roles == [Role.WORK, Role.REVIEW, Role.WORK, Role.REVIEW]
    assert yard.records(ReviewPassed)[-1].event.head == heads[1]
    assert "BUG" not in yard.git("show", "main:a.py")
