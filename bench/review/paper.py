"""What the loop's decisions cost with many changes under review, without any agent."""

import asyncio
import contextlib
import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median

from bench.fleet import Yard, make_yard
from bench.measure import Line
from paddock.config.load import load_config
from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.ids import attempt_id, task_id
from paddock.core.review import events as rv
from paddock.core.review.evolve import KEPT_FINDINGS
from paddock.core.review.plan import ReviewPolicy, StartReview, next_action
from paddock.core.review.sarif import read_sarif
from paddock.core.snapshot import encode_board
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from paddock.fleet.chores import Inquest
from paddock.fleet.dispatch.dispatcher import Dispatcher
from paddock.fleet.dispatch.gate import Gate
from paddock.fleet.ledger import Ledger, take_lead
from paddock.fleet.review.loop import ReviewLoop
from paddock.fleet.site import Site
from paddock.git.repo import discover
from paddock.sessions.host import this_process
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore

REVIEWERS = ("ada", "ben")
HEAD = "b" * 40
CONFIG = """\
engine = "sh"
[engines.sh]
command = ["sh", "-c", "{task}"]
[land]
approval = "review"
[agents.ada]
role = "reviewer"
[agents.ben]
role = "reviewer"
[worktrees]
disk_floor_mb = 0
"""
CLAIM = "the loop leaves out the last of the items when the caller passes an empty page in between"


@dataclass(frozen=True, slots=True)
class Sizes:
    tasks: int
    rounds: int
    findings: int
    sarif_bytes: int


def measure(sizes: Sizes) -> list[Line]:
    return [
        *decision_lines(sizes),
        *round_lines(sizes),
        *snapshot_lines(sizes),
        *sarif_lines(sizes),
    ]


# -- boards -------------------------------------------------------------------------------------------------------


def added(number: int) -> ev.Draft:
    return ev.Draft(ev.TaskAdded(f"Make part {number} faster", "Make it faster.\n" * 5), task=task_id(number))


def under_review(number: int, head: str) -> Iterator[ev.Draft]:
    """Delivered; every other one has had its first review, with one finding."""
    task = task_id(number)
    delivered = ev.AttemptEnded(Outcome.DELIVERED, Step.REVIEW, True, head=head, base=head, commits=1, files=1)
    first = attempt_id(task, 1)
    yield ev.Draft(ev.AttemptStarted("sh", head, f"paddock/{task}"), task, first)
    yield ev.Draft(delivered, task, first)
    if number % 2:
        return
    attempt = attempt_id(task, 2)
    yield ev.Draft(ev.AttemptStarted("sh", head, f"paddock/{task}", agent="ada", role=Role.REVIEW), task, attempt)
    yield ev.Draft(finding(number // 2, head), task, attempt)
    yield ev.Draft(rv.ReviewGiven(head, "ada", 1, objects=True, findings=1), task, attempt)
    yield ev.Draft(ev.AttemptEnded(Outcome.ANSWERED, Step.REVIEW, True), task, attempt)


def finding(number: int, head: str = HEAD) -> rv.FindingReported:
    claim = rv.Claim(f"{CLAIM} ({number})", f"src/part{number}.py", 41, rv.Severity.ERROR, evidence="x" * 500)
    return rv.FindingReported(f"f{number}", head, "ada", claim, blocking=True)


def fold(drafts: Iterator[ev.Draft], board: Board | None = None) -> Board:
    board = board or Board()
    for draft in drafts:
        record = ev.Record(board.seq + 1, 1e9 + board.seq, "bench", 0, draft.task, draft.attempt, draft.event, b"")
        board.apply(record)
    return board


def reviewing_drafts(tasks: int, head: str) -> Iterator[ev.Draft]:
    for number in range(1, tasks + 1):
        yield added(number)
    for number in range(1, tasks + 1):
        yield from under_review(number, head)


# -- measures -----------------------------------------------------------------------------------------------------


def seconds_of(run: Callable[[], object], rounds: int) -> float:
    """The median, after one run that does not count."""
    run()
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        took.append(time.perf_counter() - began)
    return median(took)


def decision_lines(sizes: Sizes) -> list[Line]:
    board = fold(reviewing_drafts(sizes.tasks, HEAD))
    tasks: list[Task] = [board.tasks[name] for name in board.reviewing]
    policy = ReviewPolicy(reviewers=REVIEWERS)
    assert all(isinstance(next_action(board, task, policy, 2e9), StartReview) for task in tasks)
    took = seconds_of(lambda: [next_action(board, task, policy, 2e9) for task in tasks], sizes.rounds)
    return [Line(f"decisions, {sizes.tasks:,} tasks under review", len(tasks) / took, "/s")]


def round_lines(sizes: Sizes) -> list[Line]:
    """What a daemon decides in a round in which nothing may start, against one with as many tasks that are ready."""
    few = max(2, sizes.tasks // 10)
    ready = round_seconds(lambda _: (added(number) for number in range(1, sizes.tasks + 1)), sizes.rounds)
    tenth = round_seconds(partial(reviewing_drafts, few), sizes.rounds)
    all_of_them = round_seconds(partial(reviewing_drafts, sizes.tasks), sizes.rounds)
    return [
        Line(f"a daemon's round, {sizes.tasks:,} tasks ready", 1000 * ready.later, "ms"),
        Line(f"a daemon's round, {few:,} under review", 1000 * tenth.later, "ms"),
        Line(
            f"a daemon's round, {sizes.tasks:,} under review",
            1000 * all_of_them.later,
            "ms",
            f"{sizes.tasks:,} ready",
            1000 * ready.later,
        ),
        Line(f"its first round, {sizes.tasks:,} under review", 1000 * all_of_them.first, "ms"),
        Line("of a round: the review loop", 1000 * all_of_them.loop, "ms"),
        Line("of a round: what may start", 1000 * (all_of_them.later - all_of_them.loop), "ms"),
    ]


@dataclass(frozen=True, slots=True)
class Rounds:
    """Seconds of the first round, of a later one, and of the review loop's part in that."""

    first: float
    later: float
    loop: float


def round_seconds(drafts: Callable[[str], Iterator[ev.Draft]], rounds: int) -> Rounds:
    """`drafts` are given a commit that exists, for changes to begin and end at."""
    with make_yard(CONFIG) as yard:
        tip = subprocess.run(("git", "rev-parse", "main"), cwd=yard.top, check=True, capture_output=True, text=True)
        with leading(yard, list(drafts(tip.stdout.strip()))) as (site, ledger):
            return asyncio.run(_time_rounds(site, ledger, rounds))


@contextlib.contextmanager
def leading(yard: Yard, drafts: list[ev.Draft]) -> Iterator[tuple[Site, Ledger]]:
    store = SqliteStore(yard.log_path)
    try:
        store.append(lambda _: drafts, Author("bench"))
        config = load_config(yard.top, {}).config
        site = Site(discover(yard.top), config, yard.log_path.parent, "bench", log_identity=store.board().identity)
        ledger = take_lead(store, this_process("daemon"), site.seat)
        ledger.lead.take_seat()
        site.follow(ledger.lead)
        try:
            yield site, ledger
        finally:
            site.sessions.close()
            ledger.give_up()
    finally:
        store.close()


class NoChecks:
    def start(self, task: Task, names: tuple[str, ...]) -> None:
        raise AssertionError(f"{task.id} has no checks: {names}")


async def _time_rounds(site: Site, ledger: Ledger, rounds: int) -> Rounds:
    ledger.lead.answer_in(asyncio.get_running_loop())
    reviews = ReviewLoop(site, ledger, NoChecks())
    dispatcher = Dispatcher(site, ledger, Gate(site), Inquest(lambda: None))
    before = ledger.read().seq
    whole, loop = [], []
    for _ in range(rounds + 1):
        board = ledger.read()
        began = time.perf_counter()
        await reviews.step(board)
        loop.append(time.perf_counter() - began)
        await dispatcher.start(board, Counter(), 0, None)
        whole.append(time.perf_counter() - began)
    dispatcher.gate.flush()
    assert ledger.read().seq == before, "a round in which nothing happens has recorded something"
    return Rounds(whole[0], median(whole[1:]), median(loop[1:]))


def snapshot_lines(sizes: Sizes) -> list[Line]:
    """How much the findings that a board keeps add to it, beside tasks of a fleet's usual size."""
    assert sizes.findings <= KEPT_FINDINGS
    plain = encode_board(fold(added(number) for number in range(1, sizes.tasks + 1)))
    board = fold(added(number) for number in range(1, sizes.tasks + 1))
    began = time.perf_counter()
    fold((ev.Draft(finding(n), task=task_id(n % sizes.tasks + 1)) for n in range(1, sizes.findings + 1)), board)
    took = time.perf_counter() - began
    grown = len(encode_board(board)) - len(plain)
    return [
        Line(f"snapshot of {sizes.tasks:,} tasks", len(plain) / 1024, "kB"),
        Line(f"added by {sizes.findings:,} findings", grown / 1024, "kB", f"{sizes.tasks:,} tasks", len(plain) / 1024),
        Line("bytes of a finding in a snapshot", grown / sizes.findings, "B"),
        Line(f"findings folded, up to {sizes.findings:,} on a board", sizes.findings / took, "/s"),
    ]


def sarif_lines(sizes: Sizes) -> list[Line]:
    text = sarif_text(sizes.sarif_bytes)
    plain = seconds_of(lambda: json.loads(text), sizes.rounds)
    took = seconds_of(lambda: read_sarif(text, "/work"), sizes.rounds)
    megabytes = len(text) / 2**20
    return [
        Line(f"json.loads of {megabytes:.2g} MB of SARIF", 1000 * plain, "ms"),
        Line(f"reading {megabytes:.2g} MB of SARIF", 1000 * took, "ms", "json.loads", 1000 * plain),
    ]


def sarif_text(size: int) -> str:
    results, length, number = [], 0, 0
    while length < size:
        number += 1
        place = {"artifactLocation": {"uri": f"src/part{number}.py"}, "region": {"startLine": 40 + number % 7}}
        result = {
            "ruleId": "E501",
            "level": ("error", "warning", "note")[number % 3],
            "message": {"text": f"{CLAIM} ({number})"},
            "locations": [{"physicalLocation": place}],
        }
        results.append(result)
        length += len(json.dumps(result)) + 2
    rules = [{"id": "E501", "shortDescription": {"text": "Line too long"}}]
    run = {"tool": {"driver": {"name": "ruff", "rules": rules}}, "results": results}
    return json.dumps({"version": "2.1.0", "runs": [run]})
