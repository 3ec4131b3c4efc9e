"""A planner's answer: whatever it is wrapped in, and everything that can be wrong with it."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.answers import Unusable
from paddock.core.plan.answer import MOST_PROBLEMS, read_plan
from paddock.core.plan.checks import is_inside
from paddock.core.plan.plan import Plan, PlanLimits, Size, decode_plan, encode_plan, plan_schema
from tests.core.plan.plans import plans

LIMITS = PlanLimits(agents=frozenset({"fixer", "docs"}), tasks=frozenset({"t3"}))


def task(key: str = "a", **fields: object) -> dict[str, object]:
    return {"key": key, "title": f"Do {key}", "brief": f"Do {key} well.", **fields}


def plan(*tasks: object, **fields: object) -> dict[str, Any]:
    return {"convoy": "parser", "tasks": list(tasks), **fields}


def read(answer: object, limits: PlanLimits = LIMITS) -> Plan:
    found = read_plan(answer if isinstance(answer, str) else json.dumps(answer), limits)
    assert isinstance(found, Plan), found
    return found


def problem(answer: object, limits: PlanLimits = LIMITS) -> str:
    found = read_plan(answer if isinstance(answer, str) else json.dumps(answer), limits)
    assert isinstance(found, Unusable), found
    return found.problem


WRAPPED = json.dumps(plan(task(), task("b", after=["a"])), indent=2)


@pytest.mark.parametrize(
    "text",
    [
        WRAPPED,
        f"\n\n{WRAPPED}\n",
        f"Here is my plan:\n\n```json\n{WRAPPED}\n```\n\nTell me {{what}} you think.",
        f"Here is my plan:\n```\n{WRAPPED}\n```",
        f"First I thought of ```json\n{{}}\n```, but {{this}} is better:\n\n{WRAPPED}\n\nIt has two tasks.",
        f'```json\n{{"draft": 1}}\n```\nand then\n```json\n{WRAPPED}\n```',
        f'```json\n{WRAPPED}\n```\nYou could run it with:\n```json\n{{"engine": "claude"}}\n```',
    ],
)
def test_what_surrounds_the_json_does_not_count(text: str) -> None:
    assert [one.key for one in read(text).tasks] == ["a", "b"]


def test_of_two_plans_the_last_one_counts() -> None:
    first, last = (json.dumps(plan(task(key)), indent=1) for key in ("first", "last"))
    assert read(f"```json\n{first}\n```\nNo, rather:\n```json\n{last}\n```").tasks[0].key == "last"
    assert read(f"{first}\nNo, rather:\n{last}").tasks[0].key == "last"


def test_all_fields_are_read() -> None:
    accept = {"commands": [["pytest", "-q", "tests/x.py"]], "files": [{"path": "tests/x.py", "text": "assert 1\n"}]}
    full = task(paths=["src/**"], after=["t3"], kind="docs", size="large", agent="fixer", labels=["ui"], accept=accept)
    found = read(plan(full, title="Strict", notes="Mind the cache.", risks=["It may be slow."]))
    one = found.tasks[0]
    assert (one.paths, one.after, one.kind, one.agent, one.labels) == (("src/**",), ("t3",), "docs", "fixer", ("ui",))
    assert one.size is Size.LARGE
    assert one.accept is not None
    assert one.accept.commands == (("pytest", "-q", "tests/x.py"),)
    assert (found.title, found.notes, found.risks) == ("Strict", "Mind the cache.", ("It may be slow.",))


def test_shell_in_a_title_is_text() -> None:
    assert read(plan(task(title="$(rm -rf /) `x`; && |"))).tasks[0].title == "$(rm -rf /) `x`; && |"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "is empty"),
        ("I would rather not say.", "no JSON"),
        ('{"convoy": "x",\n "tasks": [{"key" 1}]}', "line 2, column 19 of the JSON: expected ':'"),
        ('{"convoy": "x", "tasks": [', "cannot be read: Input data was truncated"),
        ("[1, 2]", "it is a list"),
        ("[" * 50_000, "nested too deeply"),
        ("x" * 1_000_001, "1,000,001 characters"),
        ({"convoy": "x"}, "tasks: this must be a list of at least one task"),
        (plan(), "tasks: this must be a list of at least one task"),
        (plan(*(task(f"k{number}") for number in range(400))), "tasks: there are 400; at most 20 are allowed"),
        ({"tasks": [task()]}, "missing required field `convoy`"),
        (plan(task(), convoy="a b"), "convoy: `a b` is not a convoy name"),
        (plan(task(), colour="red"), "unknown field `colour`; allowed are convoy, tasks, title, notes, risks"),
        (plan(task(), notes="a\x1b[31mb"), "notes: there is a control character U+001B at character 2"),
        (plan(3), "tasks[0]: expected an object, got a number"),
        (plan(task(colour="red")), "tasks[0]: object contains unknown field `colour`; allowed are key, title"),
        (plan({"key": "a", "title": "A"}), "tasks[0]: object missing required field `brief`"),
        (plan(task(), task("b", brief=3)), "tasks[1].brief: expected text, got a number"),
        (plan(task(brief="  \n ")), "tasks[0].brief: the brief is empty"),
        (plan(task(brief="x" * 20_001)), "tasks[0].brief: expected text of length <= 20000"),
        (plan(task(brief="a\u202eb")), "tasks[0].brief: there is a control character U+202E at character 2"),
        (plan(task(title="a\nb")), "tasks[0].title: the title contains the control character U+000A"),
        (plan(task(size="huge")), "tasks[0].size: invalid enum value 'huge'; allowed are small, medium, large"),
        (plan(task(), task()), "tasks[1].key: `a` is the key of tasks[0]"),
        (plan(3, task(), task()), "tasks[2].key: `a` is the key of tasks[1]"),
        (plan(task("t7")), "tasks[0].key: `t7` looks like the id of an existing task"),
        (plan(task("a/b")), "tasks[0].key: `a/b` is not a key name"),
        (plan(task("parse"), task("b", after=["prase"])), "there is no task `prase`; did you mean `parse`?"),
        (plan(task(after=["t99"])), "tasks[0].after: there is no task `t99`; `after` names keys of this plan or"),
        (plan(task(after=["a"])), "they wait for each other: a → a"),
        (plan(task("a", after=["c"]), task("b", after=["a"]), task("c", after=["b"])), "a → c → b → a"),
        (plan(task(agent="fixr")), "tasks[0].agent: there is no agent `fixr`; did you mean `fixer`?"),
        (plan(task(kind="a b")), "tasks[0].kind: `a b` is not a kind name"),
        (plan(task(labels=["a,b"])), "tasks[0].labels: `a,b` is not a label"),
        (plan(task(paths=["/etc/passwd"])), "tasks[0].paths[0]: `/etc/passwd` is absolute"),
        (plan(task(paths=["C:/x"])), "`C:/x` is absolute"),
        (plan(task(paths=["~/x"])), "`~/x` is absolute"),
        (plan(task(paths=["ok", "a/../../x"])), "tasks[0].paths[1]: `a/../../x` has `..` in it"),
        (plan(task(paths=["sub/.Git/hooks"])), "is inside of git's own directory"),
        (plan(task(paths=[""])), "is not a path of 1 to 200 printable characters"),
        (plan(task(paths=["a\tb"])), "is not a path of 1 to 200 printable characters"),
        (plan(task(paths=["{a,b}/{c,d}"])), "too many alternatives"),
        (plan(task(paths=["*a*b*c*d*e*f*g"])), "has more than 6 wildcards"),
        (plan(task(paths="src/**")), "tasks[0].paths: expected a list, got text"),
        (plan(*(task(f"k{n}", paths=[f"{n}/{m:0190}" for m in range(14)]) for n in range(10))), "140 paths are too"),
        (plan(task(accept={"commands": ["pytest -q"]})), 'commands[0]: expected a list, got text; a command is a list'),
        (plan(task(accept={"commands": [[]]})), "tasks[0].accept: a command of the acceptance is empty"),
        (plan(task(accept={"run": [["x"]], "commands": [["x"]]})), "tasks[0].accept: it has no field `run`"),
        (plan(task(accept={"files": []})), "tasks[0].accept.commands: name at least one; a command is a list of words"),
        (
            plan(task(accept={"commands": [["x"]], "files": [{"path": "../x", "text": ""}]})),
            "tasks[0].accept: the acceptance cannot have a file `../x`",
        ),
    ],
)  # fmt: skip
def test_every_problem_says_where_it_is_and_what_is_wrong(answer: object, words: str) -> None:
    assert words in problem(answer)


def test_all_problems_are_told_at_once_but_not_endlessly() -> None:
    told = problem(plan(task(brief=" "), task("b", agent="nobody", paths=["/x"])))
    assert re.findall(r"\(\d\) (\S+):", told) == ["tasks[0].brief", "tasks[1].agent", "tasks[1].paths[0]"]
    assert "\n" not in told
    many = problem(plan(*(task(f"k{n}", paths=["/x", "/y"]) for n in range(20))))
    assert many.count("is absolute") == MOST_PROBLEMS
    assert many.endswith("and 20 more problems")


def test_where_there_are_no_agents_none_can_be_named() -> None:
    assert "there are no agents here; omit it" in problem(plan(task(agent="fixer")), PlanLimits())


def test_where_agents_take_kinds_another_kind_is_a_mistake() -> None:
    limits = PlanLimits(kinds=frozenset({"docs"}))
    read(plan(task(kind="docs")), limits)
    assert "there is no kind `doc`" in problem(plan(task(kind="doc")), limits)


def test_paths_stay_inside_of_what_may_be_planned() -> None:
    limits = PlanLimits(fence=("src/**", "docs"))
    read(plan(task(paths=["src/api/*.py", "docs/a.md"])), limits)
    assert "`tests/**` is outside of what may be planned: src/**, docs" in problem(
        plan(task(paths=["tests/**"])), limits
    )
    assert "name at least one path inside of src/**, docs" in problem(plan(task()), limits)


@pytest.mark.parametrize(
    ("path", "fence", "inside"),
    [
        ("src/a.py", "src/**", True),
        ("src/**", "src/**", True),
        ("src/**/x.py", "src/**", True),
        ("src", "src/**", True),
        ("src/a", "src", True),
        ("src/*.py", "src/*.py", True),
        ("src/*", "src/*.py", False),
        ("src/**", "src/*", False),
        ("src/**", "src/api/**", False),
        ("**", "src/**", False),
        ("*", "src/**", False),
        ("{src,docs}/**", "src/**", False),
        ("srcs/a.py", "src/**", False),
    ],
)
def test_a_glob_is_inside_of_another_only_if_all_it_matches_is(path: str, fence: str, inside: bool) -> None:
    assert is_inside(path, (fence,)) is inside


@given(st.text(max_size=300) | st.text(alphabet='{}[]",:\\ntasks ', max_size=80))
def test_reading_raises_nothing(text: str) -> None:
    assert isinstance(read_plan(text, LIMITS), Plan | Unusable)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below, max_size=4),
    max_leaves=12,
)
_FIELDS = ("key", "title", "brief", "paths", "after", "kind", "size", "agent", "accept", "labels")
_ALMOST = st.fixed_dictionaries(
    {"convoy": st.just("x") | _JSON, "tasks": st.lists(st.dictionaries(st.sampled_from(_FIELDS), _JSON), max_size=3)}
)


@given(_ALMOST | _JSON)
def test_json_of_any_shape_is_a_plan_or_a_problem(tree: object) -> None:
    found = read_plan(json.dumps(tree), LIMITS)
    assert isinstance(found, Plan) or found.problem


@given(plans())
def test_what_is_recorded_is_what_is_read_back(made: Plan) -> None:
    assert decode_plan(encode_plan(made)) == made
    assert read_plan(encode_plan(made), PlanLimits()) == made


def test_the_schema_names_every_field() -> None:
    schema = plan_schema()
    task_fields = schema["$defs"]["PlannedTask"]["properties"]
    assert set(task_fields) == set(_FIELDS)
    assert all("description" in field or "$ref" in str(field) for field in task_fields.values())
