"""Whatever the two sides do, composing says what `git merge` in a real worktree says."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from paddock.core.merge.model import RefusalCause
from paddock.git.landing.audit import Move, audit
from paddock.git.landing.compose import Composed, Policy, Unit, compose
from paddock.git.landing.workbench import open_workbench
from paddock.git.repo import discover
from tests.git.conftest import git
from tests.git.landing.lab import merged_in_a_worktree, part

NAMES = ("a", "b", "dir/c", "dir/d", "e")
BODY = tuple(f"{n} {'x' * n}" for n in range(12))


@dataclass(frozen=True)
class Edit:
    """What a side does to one file: replace lines, move it, delete it, or make it anew."""

    name: str
    lines: tuple[tuple[int, str], ...] = ()
    moved_to: str | None = None
    deleted: bool = False


edits = st.builds(
    Edit,
    name=st.sampled_from(NAMES),
    lines=st.lists(st.tuples(st.integers(0, 11), st.sampled_from("PQ")), max_size=3).map(tuple),
    moved_to=st.none() | st.sampled_from(("moved", "dir/moved", "other/moved")),
    deleted=st.sampled_from((False, False, False, True)),
)
sides = st.lists(edits, max_size=3)


def apply(start: Mapping[str, str], side: list[Edit]) -> dict[str, str]:
    files = dict(start)
    for edit in side:
        text = files.pop(edit.name, "\n".join(BODY)).split("\n")
        for number, word in edit.lines:
            text[number] = f"{number} {word}"
        if not edit.deleted:
            files[edit.moved_to or edit.name] = "\n".join(text)
    return {name: text for name, text in files.items() if not any(other.startswith(f"{name}/") for other in files)}


def stream(branch: str, files: Mapping[str, str], parent: str) -> str:
    head = f"commit refs/heads/{branch}\ncommitter T <t@example.invalid> 1600000000 +0000\ndata 1\nx\n"
    origin = f"from refs/heads/{parent}\n" if parent else ""
    body = "".join(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n" for name, text in files.items())
    return f"{head}{origin}deleteall\n{body}\n"


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("property") / "repo"
    subprocess.run(("git", "init", "--quiet", "-b", "main", str(place)), check=True)
    return place


numbers = count()


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@example(
    ours=[Edit("b", ((2, "P"),))],
    theirs=[Edit("b", moved_to="moved"), Edit("a", ((0, "P"),), moved_to="moved")],
    policy=Policy.MERGE,
)
@given(ours=sides, theirs=sides, policy=st.sampled_from(Policy))
def test_composing_is_what_git_merge_does(top: Path, ours: list[Edit], theirs: list[Edit], policy: Policy) -> None:
    number = next(numbers)
    start = {name: "\n".join((name, *BODY[1:])) for name in NAMES}
    root, main, branch = (f"{kind}{number}" for kind in ("root", "ours", "theirs"))
    text = stream(root, start, "") + stream(main, apply(start, ours), root) + stream(branch, apply(start, theirs), root)
    subprocess.run(("git", "-C", str(top), "fast-import", "--quiet"), input=text.encode(), check=True)
    base, head = (git(top, "rev-parse", f"refs/heads/{name}") for name in (main, branch))
    expected = merged_in_a_worktree(top, top.parent / f"merge{number}", base, head)
    bench = open_workbench(discover(top))
    result = compose(bench, Unit(base, (part("t1", head),), policy))
    if isinstance(result, Composed):
        assert result.tree == expected
        member = part("t1", head).member
        assert audit(bench, Move("main", base, result.commit, result.tree, (member,), policy)) == ()
    elif result.cause is RefusalCause.EMPTY:
        assert expected == git(top, "rev-parse", f"{base}^{{tree}}")
    else:
        assert expected is None
        assert result.paths
