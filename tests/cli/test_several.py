"""`--repo A --repo B`: the same command in each of several repositories."""

from pathlib import Path

import pytest

from tests.cli.conftest import Cli, git


@pytest.fixture
def other(cli: Cli, tmp_path: Path) -> Path:
    """Another repository, with a task."""
    top = tmp_path / "other"
    git(tmp_path, "init", "--quiet", "-b", "main", str(top))
    git(top, "commit", "--quiet", "--allow-empty", "-m", "First commit")
    for words in (("init", "--yes"), ("add", "Say hello")):
        assert cli("-C", str(top), *words).code == 0
    return top


SHOWN = """\
TOP
no tasks yet

add one: paddock add "what to do"

OTHER
1 task: 1 ready
no daemon is running (`paddock up` starts one)

tasks
  ○ ready     t1    Say hello  AGE
NOWHERE
--- stderr
error: `NOWHERE` is not a directory
[exit 1]
"""


def test_status_shows_each_under_its_name_and_what_is_missing_holds_up_none(cli: Cli, other: Path) -> None:
    nowhere = other.parent / "nowhere"
    shown = cli.shown("status", "--repo", str(cli.top), "--repo", str(other), "--repo", str(nowhere))
    plain = shown.replace(str(other), "OTHER").replace(str(nowhere), "NOWHERE")
    assert plain.replace("\n\nNOWHERE", "\nNOWHERE") == SHOWN


def test_as_json_each_has_its_error_or_what_the_command_prints_alone(cli: Cli, other: Path) -> None:
    nowhere = other.parent / "nowhere"
    said = cli("status", "--json", "--repo", str(other), "--repo", str(nowhere))
    assert said.code == 1
    seen, missing = said.json()["repositories"]
    alone = cli.good("-C", str(other), "status", "--json").json()
    assert (seen.pop("repository"), seen.pop("error")) == (str(other), None)
    assert seen.keys() == alone.keys() - {"schema"}
    assert seen["tasks"][0]["title"] == "Say hello"
    assert missing == {
        "repository": str(nowhere),
        "error": {"message": f"`{nowhere}` is not a directory", "hint": None},
    }


def test_with_one_it_is_as_if_the_command_had_been_run_there(cli: Cli, other: Path) -> None:
    inner = other / "folder"
    inner.mkdir()
    assert cli.shown("status", "--repo", str(inner)) == cli.shown("-C", str(other), "status")
    alone = cli.good("status", "--json", "--repo", str(other)).json()
    assert alone.keys() == cli.good("-C", str(other), "status", "--json").json().keys()
    nowhere = str(other / "nowhere")
    assert cli.shown("up", "--repo", nowhere) == f"--- stderr\nerror: `{nowhere}` is not a directory\n[exit 1]\n"


def test_one_that_is_named_twice_is_asked_once(cli: Cli, other: Path) -> None:
    said = cli("down", "--repo", str(other), "--repo", str(other / "../other"))
    assert said.out == "no daemon was running\n"
    assert said.err == f"warning: `{other}/../other` is in the same repository as `{other}`: shown once\n"


def test_what_makes_no_sense_for_several_is_refused_with_what_does(cli: Cli, other: Path) -> None:
    both = ("--repo", str(cli.top), "--repo", str(other))
    for words, told in (
        (("up", "--web", *both), "--web serves the page of one repository"),
        (("status", "--watch", *both), "--watch shows one repository"),
    ):
        said = cli(*words)
        assert (said.code, said.out) == (2, "")
        assert said.err == f"error: {told}\n\nhint: for several: `paddock web --repo A --repo B`\n"
    said = cli("-C", str(other), "down", "--repo", str(cli.top))
    assert said.code == 2
    assert "-C and --repo cannot be used together" in said.err
