"""Plans in a terminal: as a tree, as a text to edit, and what the command refuses."""

import sys
from contextlib import closing

import msgspec
from hypothesis import given

from paddock.cli.pages.plan import render_plan
from paddock.cli.plan_text import read_yaml, write_yaml
from paddock.core import events as ev
from paddock.core.board import Board
from paddock.core.events import Acceptance, AcceptFile, Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.core.intent.plan import PlanRequest, request_plan
from paddock.core.intent.tasks import Known
from paddock.core.plan.plan import Plan, PlanLimits, PlannedTask, Size, encode_plan
from paddock.core.tasks.vocabulary import Outcome, Role, Step
from paddock.store.sqlite import SqliteStore
from paddock.views.plan import (
    AddedOrderView,
    OverlapView,
    PlanForecastView,
    PlannedTaskView,
    PlanPreviewView,
)
from tests.cli.conftest import Cli
from tests.cli.test_lease import write
from tests.core.plan.plans import plans

ACCEPT = Acceptance((("pytest", "-q", "a b"),), (AcceptFile("tests/x.py", "assert 1\n"),))


def row(key: str, *after: str, **fields: object) -> PlannedTaskView:
    usual = PlannedTaskView(
        key=key,
        title=f"Do {key}",
        brief="Do it.",
        paths=(f"src/{key}.py",),
        after=after,
        kind=None,
        size="medium",
        labels=(),
        accept=None,
        agent=None,
        engine="claude",
        seconds_p50=660.0,
        seconds_p90=1200.0,
        tokens_p50=441_000,
        tokens_p90=837_000,
        usd_p50=None,
        usd_p90=None,
    )
    return msgspec.structs.replace(usual, **fields)


FORECAST = PlanForecastView(
    tokens_p50=1_300_000,
    tokens_p90=2_500_000,
    usd_p50=0.4,
    usd_p90=1.2,
    unpriced=2,
    slots=4,
    agents=2,
    wall_seconds=1320.0,
    serial_seconds=1800.0,
    chain=("errors", "manual"),
    chain_seconds=1320.0,
    reasons=("3 pieces, 30m for one agent alone",),
)
VIEW = PlanPreviewView(
    task="t5",
    seq=9,
    decided="",
    convoy="strict",
    title="Be \x1b[31mstrict",
    joins=True,
    notes="Mind the cache.\nAnd \x1b[2J the rest.",
    risks=("It may be slow.",),
    tasks=(
        row("errors", kind="fix", agent="fixer", accept=ACCEPT, usd_p50=0.4, usd_p90=1.2, size="large"),
        row("manual", "errors", paths=()),
        row("both", "errors", "manual", "t3"),
    ),
    added=(AddedOrderView("both", "manual", "src/x.py"),),
    overlaps=(OverlapView("manual", None, None), OverlapView("both", "t7", "src/**")),
    forecast=FORECAST,
)
PAGE = """\
convoy strict  3 tasks  Be �[31mstrict
  errors  Do errors
    large · fix · fixer/claude · about 11m · cost $0.40 to $1.20
    paths src/errors.py
    accept pytest -q 'a b' with tests/x.py
    manual  Do manual
      medium · claude · about 11m · cost unknown
      any path
      both  Do both
        medium · claude · about 11m · cost unknown · after errors, manual, t3
        paths src/both.py

convoy strict exists already: these tasks would join it
order added: both waits for manual; both may change src/x.py
overlap: manual names no paths: it may touch what others change
overlap: both and t7 may change src/** at the same time
time: about 22m with 2 agents of 4, one agent alone 30m
  3 pieces, 30m for one agent alone
  longest chain: errors → manual, 22m
cost: $0.40 to $1.20 for 1 of 3; the others have no price  (1,300k tokens, 2,500k in a bad case)
notes: Mind the cache.
  And �[2J the rest.
risk: It may be slow.
"""


def test_a_plan_is_a_tree_with_what_it_may_take() -> None:
    assert "\n".join(render_plan(VIEW)) + "\n" == PAGE


@given(plans())
def test_a_plan_that_nobody_changes_in_the_editor_stays_as_it_is(plan: Plan) -> None:
    assert read_yaml(write_yaml(plan), PlanLimits()) == plan


def test_texts_of_several_lines_are_easy_to_edit_and_mistakes_name_their_place() -> None:
    one = PlannedTask("a", "A: b # c", "First.\n\nSecond: `x`.", ("src/**",), size=Size.SMALL, accept=ACCEPT)
    text = write_yaml(Plan("strict", (one,), notes="- x\n- y"))
    assert "  brief: |-\n    First.\n\n    Second: `x`.\n" in text
    assert "  size: small\n" in text
    assert read_yaml(text, PlanLimits()) == Plan("strict", (one,), notes="- x\n- y")
    assert read_yaml("convoy: x\ntasks: [\n", PlanLimits()) == [
        "line 3, column 1: expected the node content, but found '<stream end>'"
    ]
    assert read_yaml("just words", PlanLimits()) == ["it must have `convoy` and `tasks`"]
    problems = read_yaml(text.replace("size: small", "size: tiny"), PlanLimits())
    assert problems == ["tasks[0].size: invalid enum value 'tiny'; allowed are small, medium, large"]


def test_the_schema_is_printed_anywhere(fresh: Cli) -> None:
    schema = fresh.good("plan", "--schema").json()
    assert schema["$defs"]["Plan"]["required"] == ["convoy", "tasks"]


def test_what_makes_no_sense_is_refused_before_anything_is_recorded(cli: Cli) -> None:
    for words, complaint in (
        ((), "no goal was given"),
        (("x", "--show", "t1"), "cannot be used together"),
        (("x", "--json", "--chat"), "--json and --chat cannot be used together"),
        (("x", "--max-tasks", "0"), "0 is not in the range"),
        (("x", "--convoy", "a b"), "`a b` is not a convoy name"),
        (("x", "--paths", "../y"), "not a path inside the repository"),
        (("--show", "t1"), "there is no task `t1`"),
    ):
        said = cli("plan", *words)
        assert said.code in (1, 2)
        assert complaint in said.err
    cli.good("add", "x")
    assert "task `t1` makes no plan" in cli("plan", "--accept", "t1").err


ONE = PlannedTask("one", "Do one", "Do one.", ("src/**",))
TWO = PlannedTask("two", "Do two", "Do two.", ("src/b.py",), accept=ACCEPT, labels=("ui",))


def propose(cli: Cli) -> None:
    """A planner has delivered: `t1` waits for a person."""
    request = PlanRequest("Do both", max_tasks=2)
    write(cli, *request_plan(Board(), request, Known()))
    t1, first = TaskId("t1"), AttemptId("t1.1")
    write(
        cli,
        Draft(ev.AttemptStarted("scripted", "b" * 40, "paddock/t1", role=Role.PLAN), t1, first),
        Draft(ev.PlanProposed(encode_plan(Plan("pair", (ONE, TWO)))), t1, first),
        Draft(ev.AttemptEnded(Outcome.ANSWERED, Step.DONE, False), t1, first),
    )


def test_a_plan_waits_for_a_decision_and_is_shown_until_then(cli: Cli) -> None:
    propose(cli)
    assert "run: paddock plan --show t1, then paddock plan --accept t1" in cli.good("status").out
    shown = cli.good("plan", "--show", "t1")
    assert "order added: two waits for one; both may change src/b.py" in shown.out
    assert "`paddock plan --accept t1` adds these tasks" in shown.err
    assert "decide [l]ater?" in cli.good("plan", "--edit", "t1", stdin=b"what\n\n").err
    assert "decided" not in cli.good("plan", "--show", "t1").out
    accepted = cli.good("plan", "--accept", "t1", "--json").json()
    assert accepted["ids"] == ["t2", "t3"]
    with closing(SqliteStore(cli.log, read_only=True)) as store:
        task = store.board().task(TaskId("t3"))
    assert (task.after, task.paths, task.labels, task.accept_seq > 0) == (("t2",), ("src/b.py",), ("ui",), True)
    assert "its plan was accepted" in cli.good("plan", "--show", "t1").out
    assert "its plan was accepted" in cli("plan", "--drop", "t1").err
    assert "t1" not in cli.good("status", "--json").json()["needs_you"]["tasks"]


def test_a_plan_is_edited_until_it_can_be_used_and_then_the_persons_order_stands(cli: Cli) -> None:
    propose(cli)
    editor = cli.top / "editor"
    editor.write_text(f"#!{sys.executable}\n{EDITOR}")
    editor.chmod(0o755)
    cli.monkeypatch.setenv("EDITOR", str(editor))
    said = cli.good("plan", "--edit", "t1", stdin=b"y\naccept\n")
    assert "tasks[1].after: there is no task `nobody`" in said.err
    assert "overlap: two and one may change src/b.py at the same time" in said.out
    assert "added t2  Do one\nadded t3  Do it\n" in said.out, "what Paddock had added is gone with the person's edit"


EDITOR = """\
import pathlib, sys
plan = pathlib.Path(sys.argv[1])
text = plan.read_text()
if "nobody" in text:
    text = text.replace("  after:\\n  - nobody\\n", "").replace("title: Do two", "title: Do it")
else:
    text = text.replace("  - one\\n", "  - nobody\\n")
plan.write_text(text)
"""


def test_talking_about_a_plan_goes_on_until_something_is_decided(cli: Cli) -> None:
    propose(cli)
    said = cli.good("plan", "--show", "t1", "--chat", stdin=b"drop\n")
    assert "say what should be different" in said.err
    assert "dropped the plan of t1; nothing was added" in said.err
    assert "its plan was dropped" in cli("plan", "--accept", "t1").err
