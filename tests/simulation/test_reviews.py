"""The review loop in the simulated daemon: git is real, workers, reviewers and CI play, and daemons die on the way."""

import json
from collections import Counter
from pathlib import Path
from random import Random

from msgspec.structs import replace

from paddock.config.schema import Agent
from paddock.core.board import Board
from paddock.core.events import AttemptEnded, AttemptStarted
from paddock.core.ids import AttemptId, task_of
from paddock.core.merge.events import ChangeQueued
from paddock.core.review.events import ReviewGiven, ReviewPassed, ReviewSentBack
from paddock.core.review.intake import to_be_ruled_on
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Role
from paddock.git.command import run_git
from paddock.sessions.protocol import Turn, TurnOrder
from tests.simulation.parts import answers, conversation_of, crashes, is_throttled, lies, vanishes
from tests.simulation.test_landing import TASKS, Farm, farm_of, is_bad
from tests.simulation.test_simulation import seeds, survive, why
from tests.simulation.troupe import Part

FAULTS = {"crashes": crashes, "vanishes": vanishes, "is_throttled": is_throttled, "says nothing": lies}
MANNERS = ("sound", "sound", "sound", "sound", "hasty", "prose", "wrong head", *FAULTS)
ENDS = {Phase.LANDED, Phase.BLOCKED, Phase.WAITING}


class Court(Farm):
    """Whether a version is bad is new with each; reviewers see it, or are of another temper for a turn."""

    def write_part(self, turn: Turn, order: TurnOrder) -> Part:
        attempt = self.board.tasks[task_of(AttemptId(turn.owner))].live_attempt if "." in turn.owner else None
        if attempt is None or attempt.role is not Role.REVIEW:
            return super().write_part(turn, order)
        chance, session = Random(f"{self.seed} {turn}"), conversation_of(order)
        manner = chance.choice(MANNERS)
        if manner in FAULTS:
            return FAULTS[manner](chance, session)
        return answers(chance, session, self.review(turn, order.cwd, manner, chance))

    def is_bad(self, task: str) -> bool:
        return (
            Random(f"{self.seed} is {task} bad in {self.board.tasks[task_of(AttemptId(task))].started}").random() < 0.5
        )

    def review(self, turn: Turn, folder: Path, manner: str, chance: Random) -> str:
        if manner == "prose":
            return "It looks good to me."
        task = task_of(AttemptId(turn.owner))
        bad = is_bad(folder)
        found = [{"claim": "it is bad", "severity": "error", "path": task, "line": 1}] if bad else []
        if manner == "hasty":
            found.append({"claim": f"I do not like {turn}", "severity": chance.choice(("error", "note"))})
        rulings = [
            {"id": one.id, "now": "open" if bad and one.path else "fixed"} for one in to_be_ruled_on(self.board, task)
        ]
        head = run_git(folder, "rev-parse", "HEAD").text.strip()
        seen = head if manner != "wrong head" else head[::-1]
        return json.dumps({"head": seen, "findings": found, "earlier": rulings})


def court_of(seed: int, folder: Path) -> Court:
    farm = farm_of(seed, folder)
    reviewer = Agent(role="reviewer")
    config = replace(
        farm.config,
        land=replace(farm.config.land, approval="review"),
        agents={"ann": reviewer, "bob": reviewer},
    )
    return Court(seed, farm.repo, folder, config, ("delivers",), log=farm.log)


@seeds(1, 24)
def test_every_review_ends_and_nothing_is_queued_that_a_finding_blocks(seed: int, stage: Path) -> None:
    court = court_of(seed, stage)
    survive(court, Random(f"{seed} deaths"), 4)
    assert court.violations == [], why(court)
    assert len(court.board.tasks) == TASKS
    assert {task.phase for task in court.board.tasks.values()} <= ENDS, why(court)
    board, sent_back = Board(), Counter[str]()
    for record in court.records():
        task = board.tasks.get(record.task) if record.task is not None else None
        match record.event:
            case ReviewGiven(head=head) | ReviewPassed(head=head):
                assert task is not None
                assert head == task.head, "a verdict is about the version that is there"
            case ReviewSentBack():
                sent_back[str(record.task)] += 1
            case ChangeQueued(change=change) if task is not None:
                assert not board.reviews.blocking_of(task.id), why(court)
                assert board.reviews.has_passed(task.id, change.head), why(court)
        board.apply(record)
    assert max(sent_back.values(), default=0) < court.config.review.rounds
    records = court.records()
    started = Counter(record.attempt for record in records if isinstance(record.event, AttemptStarted))
    assert started == Counter(record.attempt for record in records if isinstance(record.event, AttemptEnded))
    assert not court.troupe.running()
    assert not board.live
    assert not board.leases.held or set(board.leases.held) == {"daemon"}
