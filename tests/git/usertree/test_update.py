"""One checkout, one move of main: what is brought up to date, and what is never touched."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.git.usertree.places import trees_on
from paddock.git.usertree.update import IN_THE_WAY, LeftAlone, UpToDate
from tests.git.conftest import commit, git, write
from tests.git.usertree.desk import Desk


def test_a_clean_checkout_shows_main_afterwards(desk: Desk) -> None:
    move = desk.land({"README.md": "landed\n", "new/file.txt": "new\n", "src/deep/er.txt": None})
    assert desk.update(move) == UpToDate(3)
    assert desk.status() == [""]
    assert git(desk.top, "diff-files", "--name-only") == ""
    assert (desk.top / "new" / "file.txt").read_text() == "new\n"
    assert not (desk.top / "src" / "deep").exists()
    assert sorted(os.listdir(desk.top / ".git")) == sorted({*os.listdir(desk.top / ".git")} - {"paddock-sync"})


def test_edits_elsewhere_stay_staged_and_unstaged_as_they_were(desk: Desk) -> None:
    write(desk.top, {"src/app.py": "staged\n", "mine.txt": "m\n", ".gitignore": "*.tmp\n", "x.tmp": "ignored\n"})
    git(desk.top, "add", "src/app.py")
    write(desk.top, {"src/app.py": "edited after\n"})
    (desk.top / "run.sh").unlink()
    before = desk.status()
    move = desk.land({"README.md": "landed\n"})
    assert desk.update(move) == UpToDate(1)
    assert desk.status() == before == [" D run.sh", "MM src/app.py", "?? .gitignore", "?? mine.txt"]
    assert git(desk.top, "show", ":src/app.py") == "staged"
    assert (desk.top / "src" / "app.py").read_text() == "edited after\n"


def test_doing_it_again_does_nothing(desk: Desk) -> None:
    move = desk.land({"README.md": "landed\n"})
    desk.update(move)
    before = desk.contents()
    assert desk.update(move) == UpToDate(0)
    assert desk.contents() == before


def edit(desk: Desk) -> None:
    write(desk.top, {"README.md": "mine\n"})


def edit_behind_gits_back(desk: Desk) -> None:
    git(desk.top, "update-index", "--assume-unchanged", "README.md")
    edit(desk)


def stage(desk: Desk) -> None:
    edit(desk)
    git(desk.top, "add", "README.md")


def stage_and_take_back(desk: Desk) -> None:
    stage(desk)
    write(desk.top, {"README.md": "hello\n"})


def delete(desk: Desk) -> None:
    (desk.top / "README.md").unlink()


def make_executable(desk: Desk) -> None:
    (desk.top / "README.md").chmod(0o755)


def make_a_link(desk: Desk) -> None:
    (desk.top / "README.md").unlink()
    (desk.top / "README.md").symlink_to("run.sh")


def make_a_folder(desk: Desk) -> None:
    (desk.top / "README.md").unlink()
    write(desk.top, {"README.md/inside": "mine\n"})


def make_a_pipe(desk: Desk) -> None:
    (desk.top / "README.md").unlink()
    os.mkfifo(desk.top / "README.md")


@pytest.mark.parametrize(
    "work",
    [
        edit,
        edit_behind_gits_back,
        stage,
        stage_and_take_back,
        delete,
        make_executable,
        make_a_link,
        make_a_folder,
        make_a_pipe,
    ],
)
def test_work_on_a_file_that_landed_keeps_everything_as_it_is(desk: Desk, work: Callable[[Desk], None]) -> None:
    work(desk)
    before = desk.contents()
    result = desk.update(desk.land({"README.md": "landed\n", "src/app.py": "landed\n"}))
    assert isinstance(result, LeftAlone)
    assert result.reason == IN_THE_WAY
    assert result.files == (("README.md/inside",) if work is make_a_folder else ("README.md",))
    assert desk.contents() == before


@pytest.mark.parametrize(
    ("landed", "mine", "named"),
    [
        ({"new.txt": "landed\n"}, {"new.txt": "mine\n"}, ("new.txt",)),
        ({"build/out": "landed\n"}, {"build/out": "ignored, mine\n"}, ("build/out",)),
        ({"new/file": "landed\n"}, {"new": "a file of mine\n"}, ("new",)),
        ({"new": "landed\n"}, {"new/file": "in a folder of mine\n"}, ("new/file",)),
        ({"src/app.py": None, "src/deep/er.txt": None, "src": "a file now\n"}, {"src/x": "mine\n"}, ("src/x",)),
    ],
)
def test_an_untracked_or_ignored_file_in_the_way_is_named_and_kept(
    desk: Desk, landed: dict[str, str | None], mine: dict[str, str], named: tuple[str, ...]
) -> None:
    (desk.top / ".git" / "info" / "exclude").write_text("build/\n")
    write(desk.top, mine)
    before = desk.contents()

    def act(place: Path) -> None:
        for name, text in landed.items():
            if text is None:
                (place / name).unlink()
        for folder in ("src/deep", "src"):
            if "src" in landed:
                (place / folder).rmdir()
        write(place, {name: text for name, text in landed.items() if text is not None})

    result = desk.update(desk.land(act=act))
    assert result == LeftAlone(IN_THE_WAY, named)
    assert desk.contents() == before


def test_an_untracked_file_that_is_what_landed_is_taken_for_it(desk: Desk) -> None:
    write(desk.top, {"new.txt": "the same\n", "README.md": "the same\n"})
    assert desk.update(desk.land({"new.txt": "the same\n", "README.md": "the same\n"})) == UpToDate(0)
    assert desk.status() == [""]


def test_a_folder_behind_a_link_of_the_users_is_not_written_to(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (desk.top / "src").rename(outside)
    (desk.top / "src").symlink_to(outside)
    result = desk.update(desk.land({"src/app.py": "landed\n", "src/new.py": "landed\n"}))
    assert isinstance(result, LeftAlone)
    assert sorted(os.listdir(outside)) == ["app.py", "deep"]
    assert (outside / "app.py").read_text() == "print('hello')\n"


def test_modes_links_and_odd_names_arrive(desk: Desk) -> None:
    odd = ["a\nb", '"quoted"', "tab\there", "ümlaut", os.fsdecode(b"latin-\xe9"), "-dash", ":(top)", "sp ace"]

    def act(place: Path) -> None:
        (place / "run.sh").chmod(0o755)
        (place / "link").symlink_to("run.sh")
        (place / "README.md").unlink()
        (place / "README.md").symlink_to("src/app.py")
        write(place, dict.fromkeys(odd, "odd\n"))

    move = desk.land(act=act)
    assert desk.update(move) == UpToDate(3 + len(odd))
    assert desk.status() == [""]
    assert os.access(desk.top / "run.sh", os.X_OK)
    assert (desk.top / "README.md").is_symlink()
    back = desk.land(dict.fromkeys(odd))
    write(desk.top, {"a\nb": "mine\n"})
    assert desk.update(back) == LeftAlone(IN_THE_WAY, ("a\nb",))
    write(desk.top, {"a\nb": "odd\n"})
    assert desk.update(back) == UpToDate(len(odd))
    assert desk.status() == [""]


def test_a_file_becomes_a_folder_and_a_folder_a_file(desk: Desk) -> None:
    def act(place: Path) -> None:
        for name in ("src/app.py", "src/deep/er.txt", "README.md"):
            (place / name).unlink()
        (place / "src" / "deep").rmdir()
        (place / "src").rmdir()
        write(place, {"src": "a file\n", "README.md/inside": "a folder\n"})

    assert isinstance(desk.update(desk.land(act=act)), UpToDate)
    assert desk.status() == [""]
    assert (desk.top / "src").is_file()


def test_line_ends_and_filters_are_those_of_the_new_main(desk: Desk) -> None:
    git(desk.top, "config", "filter.shout.smudge", "tr a-z A-Z")
    git(desk.top, "config", "filter.shout.clean", "tr A-Z a-z")
    move = desk.land({".gitattributes": "*.md text eol=crlf\n*.loud filter=shout\n", "x.md": "x\n", "y.loud": "why\n"})
    assert isinstance(desk.update(move), UpToDate)
    assert (desk.top / "x.md").read_bytes() == b"x\r\n"
    assert (desk.top / "y.loud").read_text() == "WHY\n"
    assert desk.status() == [""]
    (desk.top / "x.md").write_bytes(b"x\r\nmine\r\n")
    before = desk.contents()
    assert desk.update(desk.land({"x.md": "other\n", "y.loud": "other\n"})) == LeftAlone(IN_THE_WAY, ("x.md",))
    assert desk.contents() == before


def test_names_that_differ_in_case_only_are_kept_apart_from_the_users(desk: Desk) -> None:
    git(desk.top, "config", "core.ignorecase", "true")
    write(desk.top, {"Notes.txt": "mine\n"})
    before = desk.contents()
    assert desk.update(desk.land({"NOTES.txt": "landed\n"})) == LeftAlone(IN_THE_WAY, ("Notes.txt",))
    assert desk.contents() == before


def test_a_reset_of_the_index_does_not_hide_that_the_files_are_old(desk: Desk) -> None:
    write(desk.top, {"src/app.py": "mine\n"})
    move = desk.land({"README.md": "landed\n", "new.txt": "landed\n", "run.sh": None})
    git(desk.top, "reset", "--quiet")
    assert isinstance(desk.update(move), UpToDate)
    assert desk.status() == [" M src/app.py"]


def test_an_old_version_that_somebody_took_out_of_history_on_purpose_stays(desk: Desk) -> None:
    move = desk.land({"README.md": "landed\n", "new.txt": "landed\n"})
    desk.update(move)
    git(desk.top, "restore", f"--source={move[0]}", "README.md")
    assert desk.update(move) == UpToDate(0)
    assert (desk.top / "README.md").read_text() == "hello\n"


def conflict(desk: Desk, *command: str) -> None:
    git(desk.top, "switch", "--quiet", "-c", "side")
    commit(desk.top, {"run.sh": "side\n"}, "side")
    git(desk.top, "switch", "--quiet", "main")
    commit(desk.top, {"run.sh": "main\n"}, "main")
    argv = ("git", "-C", str(desk.top), *command)
    assert subprocess.run(argv, check=False, capture_output=True, timeout=60).returncode


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (("merge", "side"), "merge"),
        (("cherry-pick", "side"), "cherry-pick"),
        (("revert", "HEAD~1"), "revert"),
        (("bisect", "start"), "bisect"),
    ],
)
def test_nothing_is_touched_while_an_operation_is_in_progress(desk: Desk, command: tuple[str, ...], word: str) -> None:
    if word == "bisect":
        git(desk.top, *command)
    else:
        if word == "revert":
            commit(desk.top, {"run.sh": "between\n"}, "between")
        conflict(desk, *command)
    before = desk.contents()
    assert desk.update(desk.land({"README.md": "landed\n"})) == LeftAlone(f"a {word} is in progress")
    assert desk.contents() == before


def test_a_rebase_of_main_takes_the_tree_off_main(desk: Desk) -> None:
    conflict(desk, "rebase", "side")
    assert trees_on(desk.repo, "main") == ()


def test_unmerged_paths_keep_everything_as_it_is(desk: Desk) -> None:
    write(desk.top, {"run.sh": "stashed\n"})
    git(desk.top, "stash", "--quiet")
    commit(desk.top, {"run.sh": "main\n"}, "main")
    subprocess.run(("git", "-C", str(desk.top), "stash", "pop"), check=False, capture_output=True, timeout=60)
    before = desk.contents()
    assert desk.update(desk.land({"README.md": "landed\n"})) == LeftAlone("its index has unmerged paths", ("run.sh",))
    assert desk.contents() == before


def test_a_lock_of_another_git_command_is_respected(desk: Desk) -> None:
    move = desk.land({"README.md": "landed\n"})
    lock = desk.top / ".git" / "index.lock"
    lock.touch()
    result = desk.update(move)
    assert isinstance(result, LeftAlone)
    assert "index.lock" in result.reason
    assert lock.exists()
    assert (desk.top / "README.md").read_text() == "hello\n"


def test_an_index_that_changes_while_we_prepare_is_left_alone(desk: Desk) -> None:
    move = desk.land({"README.md": "landed\n"})

    def stage_something(name: str) -> None:
        if name == "sync.prepared":
            write(desk.top, {"mine.txt": "mine\n"})
            git(desk.top, "add", "mine.txt")

    assert desk.update(move, stage_something) == LeftAlone("its index changed meanwhile")
    assert not (desk.top / ".git" / "index.lock").exists()
    assert isinstance(desk.update(move), UpToDate)
    assert desk.status() == ["A  mine.txt"]


@pytest.mark.parametrize("point", ["sync.prepared", "sync.locked", "sync.journalled"])
@pytest.mark.parametrize("name", ["README.md", "new.txt", "run.sh"])
def test_a_file_that_is_edited_during_the_update_is_kept_and_all_else_put_back(
    desk: Desk, point: str, name: str
) -> None:
    move = desk.land({"README.md": "landed\n", "new.txt": "landed\n", "run.sh": None, "src/app.py": "landed\n"})
    seen: list[dict[str, object]] = []

    def edit_now(passed: str) -> None:
        if passed == point and not seen:
            write(desk.top, {name: "mine, just now\n"})
            seen.append(desk.contents())

    assert desk.update(move, edit_now) == LeftAlone(IN_THE_WAY, (name,))
    assert desk.contents() == seen[0]


def test_a_file_that_is_made_where_one_was_taken_away_is_kept(desk: Desk) -> None:
    move = desk.land({"README.md": "landed\n", "src/app.py": "landed\n"})

    def write_now(passed: str) -> None:
        if passed == "sync.taken" and not (desk.top / "README.md").exists():
            write(desk.top, {"README.md": "saved by an editor\n"})

    assert desk.update(move, write_now) == LeftAlone(IN_THE_WAY, ("README.md",))
    assert desk.status()[0].strip().endswith("README.md")
    assert (desk.top / "README.md").read_text() == "saved by an editor\n"
    assert (desk.top / "src" / "app.py").read_text() == "print('hello')\n"


def test_a_program_that_holds_a_file_open_loses_nothing_it_writes(desk: Desk) -> None:
    move = desk.land({"README.md": "landed\n", "src/app.py": "landed\n"})
    with open(desk.top / "README.md", "a", encoding="utf-8") as held:

        def append_now(passed: str) -> None:
            if passed == "sync.put":
                held.write("one more line\n")
                held.flush()

        assert isinstance(desk.update(move, append_now), LeftAlone)
    assert (desk.top / "README.md").read_text().startswith("hello\none more line\n")
    assert (desk.top / "src" / "app.py").read_text() == "print('hello')\n"


def test_hooks_of_the_repository_do_not_run(desk: Desk, tmp_path: Path) -> None:
    move = desk.land({"README.md": "landed\n"})
    for name in ("post-checkout", "post-index-change", "post-merge", "reference-transaction"):
        hook = desk.top / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        hook.chmod(0o755)
    assert isinstance(desk.update(move), UpToDate)
    assert not (tmp_path / "ran").exists()
