"""The review loop with real processes: planted defects, findings, fixes, a second look, every fault of a reviewer."""

import json
import sys
from pathlib import Path
from typing import TypeVar

from paddock.core.events import AnswerRefused, AttemptStarted, Event, MessagesDelivered
from paddock.core.review.answer import MOST_FINDINGS
from paddock.core.review.events import (
    FindingReported,
    FindingSettled,
    ReviewGiven,
    ReviewPassed,
    ReviewSentBack,
    Settlement,
)
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome, Role
from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard, commit, play, write

_Kind = TypeVar("_Kind", bound=Event)
CRITIC = Path(__file__).with_name("critic.py")


def critic(name: str = "critic") -> str:
    argv = [sys.executable, str(CRITIC), "{prompt}"]
    return f"[engines.{name}]\ncommand = {argv}\n[agents.{name}]\nrole = 'reviewer'\nengine = '{name}'\n"


def reviewed(make_yard: MakeYard, settings: str = "", *critics: str) -> Yard:
    yard = make_yard()
    config = f'engine = "scripted"\n[land]\napproval = "review"\nci = "true"\n{settings}\n'
    (yard.top / "paddock.toml").write_text(config + "\n".join(critics or (critic(),)))
    return yard


def events(yard: Yard, kind: type[_Kind], task: str | None = None) -> list[_Kind]:
    return [record.event for record in yard.records(kind, task) if isinstance(record.event, kind)]


def test_a_planted_defect_is_found_fixed_reviewed_again_and_landed(make_yard: MakeYard) -> None:
    yard = reviewed(make_yard)
    fix = {"turn": 2}
    task = yard.add(
        write("a.py", "one\nBUG here\n"), commit("Add a"), {**write("a.py", "one\n"), **fix}, {**commit("Fix a"), **fix}
    )
    yard.run()
    assert yard.task(task).phase is Phase.LANDED
    given = events(yard, ReviewGiven)
    assert [one.objects for one in given] == [True, False]
    assert given[0].head != given[1].head, "each verdict names the version it saw"
    [reported] = events(yard, FindingReported)
    assert (reported.claim.path, reported.claim.line, reported.blocking) == ("a.py", 2, True)
    [settled] = events(yard, FindingSettled)
    assert (settled.id, settled.how, settled.head) == ("f1", Settlement.FIXED, given[1].head)
    [sent] = events(yard, ReviewSentBack)
    assert "a.py:2" in sent.message
    assert [one.role for one in events(yard, AttemptStarted)] == [Role.WORK, Role.REVIEW, Role.WORK, Role.REVIEW]
    assert events(yard, ReviewPassed)[-1].head == given[1].head
    assert "BUG" not in yard.git("show", "main:a.py")


def test_every_fault_of_a_reviewer_ends_well_or_with_a_person(make_yard: MakeYard) -> None:
    """One fleet, a task for each fault; what is sound goes on to main meanwhile."""
    yard = reviewed(make_yard, "[review]\nrounds = 2")
    moods = {
        "prose": "prose,sound",
        "wrong": "wrong-head,sound",
        "deaf": "prose",
        "mute": "nothing",
        "crashes": "crash",
        "sound": "sound",
        "many": "many,sound",
    }
    names = {
        mood: yard.add({"say": f"MOODS={words}"}, write(f"{mood}.py", "fine\n"), commit(f"Add {mood}"), title=mood)
        for mood, words in moods.items()
    }
    wrong = [write("bug.py", "BUG\n"), commit("Add a bug")]
    names["refutes"] = yard.add(
        {"say": "MOODS=sound,agree"}, *wrong, {"say": "PADDOCK-REFUTE: f999 no\nPADDOCK-REFUTE: F1 no", "turn": 2}
    )
    yard.run()
    phases = {mood: yard.task(name).phase for mood, name in names.items()}
    assert phases == {
        **dict.fromkeys(("prose", "wrong", "sound"), Phase.LANDED),
        **dict.fromkeys(("deaf", "mute", "crashes", "many", "refutes"), Phase.BLOCKED),
    }
    assert "there is no JSON in it" in events(yard, AnswerRefused, names["prose"])[0].problem
    assert "look at that one" in events(yard, AnswerRefused, names["wrong"])[0].problem
    outcomes = [one.outcome for one in yard.task(names["deaf"]).attempts]
    assert outcomes == [Outcome.DELIVERED, Outcome.EMPTY, Outcome.EMPTY]
    assert "no reviewer could review it" in yard.task(names["crashes"]).reason
    kept = list(events(yard, FindingReported, names["many"]))
    assert len(kept) == MOST_FINDINGS
    assert events(yard, ReviewGiven, names["many"])[0].dropped == 500 - MOST_FINDINGS
    assert yard.task(names["refutes"]).worker is not None
    assert yard.unreachable_commits() == []


def test_a_message_during_a_review_is_for_the_worker_whose_next_version_is_reviewed(make_yard: MakeYard) -> None:
    yard = make_yard()
    ready, gate, seen = (yard.folder / name for name in ("ready", "gate", "seen"))
    waits = f'echo "$0" >>{seen}; touch {ready}; until [ -e {gate} ]; do sleep 0.05; done; exec "$@" "$0"'
    argv = ["sh", "-c", waits, "{prompt}", sys.executable, str(CRITIC)]
    slow = f"[engines.slow]\ncommand = {json.dumps(argv)}\n[agents.slow]\nrole = 'reviewer'\nengine = 'slow'\n"
    (yard.top / "paddock.toml").write_text(f'engine = "scripted"\n[land]\napproval = "review"\nci = "true"\n{slow}')
    task = yard.add(write("a.txt"), commit("Add a"))
    fleet = yard.start("run", "--until-idle")
    yard.await_that(ready.exists, "the reviewer")
    assert "queued as" in yard.paddock("message", task, play({"say": "HEARD"}, write("b.txt"), commit("Add b")))
    gate.touch()
    assert fleet.wait() == 0, fleet.words
    assert yard.task(task).phase is Phase.LANDED
    assert [one.role for one in events(yard, AttemptStarted)] == [Role.WORK, Role.REVIEW, Role.WORK, Role.REVIEW]
    [receipt] = yard.records(MessagesDelivered)
    assert receipt.attempt == f"{task}.3"
    assert "HEARD" not in seen.read_text(), "reviewers are told nothing of it"
    assert len({one.head for one in events(yard, ReviewGiven)}) == 2
    assert yard.git("show", "main:b.txt") == "hello"
