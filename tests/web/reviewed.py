"""Tasks under review, with a question, a plan and a report, in a log of a yard that nobody has run: only commits are
real."""

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from paddock.core import events as ev
from paddock.core.ids import AttemptId, TaskId
from paddock.core.review import events as rv
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from paddock.store.protocol import Author
from paddock.store.sqlite import SqliteStore
from tests.fleet.yard import Yard

ANA, DAEMON = Author("ana@harbor"), Author("daemon@harbor")
CONFIG = """\
engine = "scripted"
[land]
approval = "review"
ci = "true"
[review]
rounds = 3
[[review.checks]]
name = "ruff"
run = "ruff check"
[agents.fixer]
[agents.critic]
role = "reviewer"
[agents.security]
role = "reviewer"
"""
BEFORE = "def parse(text):\n    return int(text)\n"
FIRST = "import re\n\n\ndef parse(text):\n    found = re.fullmatch('PT(.*)S', text)\n    return int(found[1])\n"
SECOND = FIRST.replace("int(found", "float(found")
EVIL = "<img src=x onerror=alert(1)> parse() dies of `None`\nwhere nothing matches"
PLAN = {
    "convoy": "durations",
    "title": "Durations everywhere",
    "notes": "The parser comes first.",
    "risks": ["The gateway may send weeks."],
    "tasks": [
        {"key": "parser", "title": "Read durations", "brief": "Parse PT1M30S.", "paths": ["src/parse.py"]},
        {
            "key": "docs",
            "title": "Document durations",
            "brief": "Say what is read.",
            "paths": ["docs/**"],
            "after": ["parser"],
        },
        {"key": "tests", "title": "Test durations", "brief": "Property tests.", "paths": ["tests/**"], "size": "small"},
    ],
}


@dataclass
class Reviewed:
    """`heads` are the versions of t1: its first and its second."""

    yard: Yard
    heads: tuple[str, str] = ("", "")

    def write(self, task: str, *events: ev.Event, attempt: str | None = None, by: Author = DAEMON) -> None:
        drafts = [ev.Draft(one, TaskId(task), AttemptId(attempt) if attempt else None) for one in events]
        with closing(SqliteStore(self.yard.log_path)) as store:
            store.append(lambda _: drafts, by)


def seed_reviews(yard: Yard) -> Reviewed:
    """t1 is in the second round of its review, t2 asks, t3 has a plan, t4 a report; t5 audited and found something."""
    (yard.top / "paddock.toml").write_text(CONFIG)
    made = Reviewed(yard)
    _change(made)
    _question(made)
    _answers(made)
    return made


def _commit(yard: Yard, text: str) -> str:
    (yard.top / "parse.py").write_text(text)
    yard.git("add", "parse.py")
    yard.git("commit", "-q", "-m", "Parse durations")
    return yard.git("rev-parse", "HEAD").strip()


def _attempt(
    made: Reviewed, task: str, number: int, end: ev.AttemptEnded, base: str, *, agent: str, role: Role = Role.WORK,
    between: Sequence[ev.Event] = (),
) -> None:  # fmt: skip
    attempt = f"{task}.{number}"
    started = ev.AttemptStarted("scripted", base, f"paddock/{task}", agent=agent, role=role)
    told = made.yard.task(task).inbox if role is Role.WORK else ()
    turn = (ev.TurnStarted(1, messages=told), ev.TurnEnded(1, exit=0, steps=3, cost_usd=0.21))
    made.write(task, started, *turn, *between, end, attempt=attempt)


def _change(made: Reviewed) -> None:
    yard = made.yard
    base = _commit(yard, BEFORE)
    yard.git("checkout", "-q", "-b", "paddock/t1")
    first, second = _commit(yard, FIRST), _commit(yard, SECOND)
    yard.git("checkout", "-q", "main")
    made.heads = first, second
    accept = ev.Acceptance(
        (("python", "-m", "pytest", "tests/hidden"),), (ev.AcceptFile("tests/hidden/test_a.py", "a\nb\n"),)
    )
    brief = "Gateways answer 429 with PT1M30S. Accept it."
    added = ev.TaskAdded("Parse ISO 8601 durations", brief, agent="fixer", accept=accept, attempts=3)
    made.write("t1", added, by=ANA)
    delivered = ev.AttemptEnded(
        Outcome.DELIVERED, Step.REVIEW, False, "1 commit", head=first, base=base, files=1, insertions=5, deletions=2
    )
    _attempt(made, "t1", 1, delivered, base, agent="fixer")
    made.write(
        "t1",
        rv.CheckEnded(first, "accept", True, 0, 4.2, "1 passed"),
        rv.CheckEnded(first, "ruff", True, 0, 0.3, "All checks passed!"),
    )
    fraction = rv.Claim("PT0.5S becomes 0", "parse.py", 6, rv.Severity.ERROR, "int() drops the fraction", "use float()")
    nothing = rv.Claim(EVIL, "parse.py", 5, rv.Severity.ERROR, "parse('x') raises TypeError\n<b>bold</b>", "check it")
    note = rv.Claim("re is compiled on each call", "parse.py", 1, rv.Severity.NOTE)
    found = [
        rv.FindingReported(f"f{n}", first, "critic", one, n < 3) for n, one in enumerate((fraction, nothing, note), 1)
    ]
    given = rv.ReviewGiven(first, "critic", 1, True, "Two things are wrong.", 3)
    _attempt(made, "t1", 2, _answered(), first, agent="critic", role=Role.REVIEW, between=(*found, given))
    made.write("t1", rv.ReviewSentBack(first, 1, ("f1", "f2"), "f1 `parse.py:6` …"))
    again = ev.AttemptEnded(
        Outcome.DELIVERED, Step.REVIEW, False, "1 commit", head=second, base=base, files=1, insertions=5, deletions=2
    )
    dispute = rv.FindingDisputed("f2", "only matching text gets here")
    _attempt(made, "t1", 3, again, first, agent="fixer", between=(dispute,))
    made.write(
        "t1",
        rv.CheckEnded(second, "accept", True, 0, 4.4, "1 passed"),
        rv.CheckEnded(second, "ruff", False, 1, 0.4, "parse.py:5:1: E501\nFound 1 error."),
    )
    fixed = rv.FindingSettled("f1", rv.Settlement.FIXED, second, "critic", "it does now")
    held = rv.FindingHeld("f2", second, "critic", True)
    second_look = rv.ReviewGiven(second, "critic", 2, True, "One is left.", 0)
    _attempt(made, "t1", 4, _answered(), second, agent="critic", role=Role.REVIEW, between=(fixed, held, second_look))


def _answered() -> ev.AttemptEnded:
    return ev.AttemptEnded(Outcome.ANSWERED, Step.REVIEW, False, "1 finding; objects")


def _question(made: Reviewed) -> None:
    made.write("t2", ev.TaskAdded("Cap retries", "Cap them.", agent="fixer"), by=ANA)
    asks = ev.QuestionAsked("Is a negative delay an error, or zero?\nThe brief says neither.")
    ended = ev.AttemptEnded(
        Outcome.ASKED,
        Step.BLOCK,
        False,
        "asks: Is a negative delay an error, or zero?",
        unblock='paddock message t2 "…"',
    )
    _attempt(made, "t2", 1, ended, "b" * 40, agent="fixer", between=(asks,))


def _answers(made: Reviewed) -> None:
    done = ev.AttemptEnded(Outcome.ANSWERED, Step.DONE, False, "answered")
    made.write("t3", ev.TaskAdded("Plan: durations", "Durations.", role=Role.PLAN), by=ANA)
    plan = ev.PlanProposed(json.dumps(PLAN))
    _attempt(made, "t3", 1, done, "b" * 40, agent="planner", role=Role.PLAN, between=(plan,))
    made.write("t4", ev.TaskAdded("How are durations read?", "Report.", role=Role.REPORT), by=ANA)
    report = ev.ReportGiven("# Durations\nThree places read them:\n<script>alert(1)</script>\n- parse.py")
    _attempt(made, "t4", 1, done, "b" * 40, agent="fixer", role=Role.REPORT, between=(report,))
    made.write("t5", ev.TaskAdded("Audit security of the code", "Look.", role=Role.REVIEW, agent="security"), by=ANA)
    claim = rv.Claim("the token is logged", "log.py", 40, rv.Severity.WARNING, "log.py prints it", "leave it out")
    found = rv.FindingReported("f4", "b" * 40, "security", claim)
    given = rv.ReviewGiven("b" * 40, "security", 1, False, "One leak.", 1)
    _attempt(made, "t5", 1, done, "b" * 40, agent="security", role=Role.REVIEW, between=(found, given))
