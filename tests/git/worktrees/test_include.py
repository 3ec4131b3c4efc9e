import os
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.git.enclosure.enclosure import Enclosure
from paddock.git.repo import discover
from paddock.git.worktrees.include import copy_included, find_included, matches, parse_patterns
from paddock.git.worktrees.pool import fill
from paddock.git.worktrees.prepare import WorktreeOrder, prepare
from paddock.git.worktrees.slots import WorktreeRoot
from tests.git.conftest import commit, write

IGNORE = ".env*\nsecrets/\nnode_modules/\n*.pem\n"


@pytest.fixture
def main(top: Path) -> Path:
    commit(top, {".gitignore": IGNORE})
    return top


class TestWhatIsMeant:
    def test_ignored_files_that_match_and_nothing_else(self, main: Path) -> None:
        write(
            main,
            {".env": "1", "app/.env.local": "2", "untracked.env": "3", "key.pem": "4", ".worktreeinclude": ".env*\n"},
        )
        assert sorted(find_included(main)) == [".env", "app/.env.local"]

    def test_an_unanchored_pattern_does_not_search_ignored_folders(self, main: Path) -> None:
        write(main, {"node_modules/lib/.env": "1", ".env": "2", ".worktreeinclude": ".env\n"})
        assert find_included(main) == (".env",)

    def test_a_pattern_with_a_slash_reaches_into_an_ignored_folder(self, main: Path) -> None:
        write(main, {"secrets/a.json": "1", "secrets/b.txt": "2", "secrets/deep/c.json": "3"})
        write(main, {".worktreeinclude": "secrets/*.json\n"})
        assert find_included(main) == ("secrets/a.json",)
        write(main, {".worktreeinclude": "secrets/**/*.json\n"})
        assert sorted(find_included(main)) == ["secrets/a.json", "secrets/deep/c.json"]

    def test_a_whole_ignored_folder_can_be_named(self, main: Path) -> None:
        write(main, {"secrets/a": "1", "secrets/deep/b": "2", ".worktreeinclude": "secrets/\n"})
        assert sorted(find_included(main)) == ["secrets/a", "secrets/deep/b"]

    def test_comments_blank_lines_and_negation(self, main: Path) -> None:
        write(main, {".env": "1", ".env.prod": "2", ".worktreeinclude": "# mine\n\n.env*\n!.env.prod\n"})
        assert find_included(main) == (".env",)

    def test_a_pattern_that_is_none_leaves_the_others(self, main: Path) -> None:
        write(main, {".env": "1", ".worktreeinclude": "[z-a]\n.env\n"})
        assert find_included(main) == (".env",)

    def test_without_the_file_nothing_is_included(self, main: Path) -> None:
        write(main, {".env": "1"})
        assert find_included(main) == ()


ATOMS = st.sampled_from(["a", "b", "ab", "*", "?", "a*", "*b", "[ab]", "[!a]", "**"])
NAMES = st.sampled_from(["a", "b", "c", "ab", "aab"])


@st.composite
def pattern_lines(draw: st.DrawFn) -> str:
    body = "/".join(draw(st.lists(ATOMS, min_size=1, max_size=3)))
    negation, anchor, folder = (draw(st.sampled_from(choice)) for choice in (["", "", "!"], ["", "/"], ["", "/"]))
    return f"{negation}{anchor}{body}{folder}"


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("judge")
    subprocess.run(("git", "init", "-q", str(top)), check=True)
    return top


@settings(max_examples=120, deadline=None)
@given(
    st.lists(pattern_lines(), min_size=1, max_size=3),
    st.lists(st.lists(NAMES, min_size=1, max_size=3), min_size=1, max_size=6),
)
def test_patterns_mean_what_git_takes_them_to_mean(judge: Path, lines: list[str], names: list[list[str]]) -> None:
    (judge / ".gitignore").write_text("\n".join(lines) + "\n")
    paths = sorted({"/".join(parts) for parts in names})
    told = subprocess.run(
        ("git", "-C", str(judge), "check-ignore", "--no-index", "--stdin"),
        input="\n".join(paths) + "\n",
        check=False,
        capture_output=True,
        text=True,
    )
    patterns = parse_patterns("\n".join(lines))
    assert [path for path in paths if matches(patterns, path)] == told.stdout.splitlines()


class TestCopying:
    def place(self, tmp_path: Path) -> tuple[Path, Path]:
        worktree, scratch = tmp_path / "worktree", tmp_path / "scratch"
        subprocess.run(("git", "init", "-q", str(worktree)), check=True)
        scratch.mkdir()
        return worktree, scratch

    def enclosed(self, worktree: Path) -> Enclosure:
        return Enclosure(discover(worktree), worktree, worktree / ".git", worktree / ".git")

    def test_content_and_mode_are_copied(self, main: Path, tmp_path: Path) -> None:
        worktree, scratch = self.place(tmp_path)
        write(main, {"app/.env": "KEY=1\n", ".worktreeinclude": ".env\n"})
        (main / "app/.env").chmod(0o600)
        assert copy_included(main, self.enclosed(worktree), scratch, ()).copied == ("app/.env",)
        assert (worktree / "app/.env").read_text() == "KEY=1\n"
        assert stat.S_IMODE((worktree / "app/.env").stat().st_mode) == 0o600
        assert os.listdir(scratch) == []

    def test_existing_files_are_not_overwritten_unless_we_brought_them(self, main: Path, tmp_path: Path) -> None:
        worktree, scratch = self.place(tmp_path)
        write(main, {".env": "new", ".worktreeinclude": ".env\n"})
        write(worktree, {".env": "theirs"})
        assert "exists" in copy_included(main, self.enclosed(worktree), scratch, ()).skipped[0]
        assert (worktree / ".env").read_text() == "theirs"
        copy_included(main, self.enclosed(worktree), scratch, (".env",))
        assert (worktree / ".env").read_text() == "new"

    def test_a_tracked_file_is_not_overwritten_even_if_we_brought_it_once(self, main: Path, tmp_path: Path) -> None:
        worktree, scratch = self.place(tmp_path)
        write(main, {".env": "new", ".worktreeinclude": ".env\n"})
        commit(worktree, {".env": "tracked"})
        assert copy_included(main, self.enclosed(worktree), scratch, (".env",)).copied == ()
        assert (worktree / ".env").read_text() == "tracked"

    def test_what_is_no_longer_included_goes(self, main: Path, tmp_path: Path) -> None:
        worktree, scratch = self.place(tmp_path)
        write(worktree, {".env": "old secret"})
        copy_included(main, self.enclosed(worktree), scratch, (".env",))
        assert not (worktree / ".env").exists()

    def test_symbolic_links_out_of_the_tree_are_not_followed(self, main: Path, tmp_path: Path) -> None:
        worktree, scratch = self.place(tmp_path)
        outside = tmp_path / "outside"
        write(outside, {"secret": "x", "dir/.env": "y"})
        (main / ".env").symlink_to(outside / "secret")
        (main / ".env.up").symlink_to("../outside/secret")
        (main / "secrets").symlink_to(outside / "dir")
        write(main, {".env.real": "1", ".worktreeinclude": ".env*\nsecrets\nsecrets/*\n"})
        (main / ".env.inner").symlink_to(".env.real")
        inclusion = copy_included(main, self.enclosed(worktree), scratch, ())
        assert sorted(inclusion.copied) == [".env.inner", ".env.real"]
        assert os.readlink(worktree / ".env.inner") == ".env.real"
        assert not (worktree / "secrets").exists()

    def test_a_linked_folder_in_the_worktree_does_not_lead_the_copy_out(self, main: Path, tmp_path: Path) -> None:
        worktree, scratch = self.place(tmp_path)
        outside = tmp_path / "outside"
        outside.mkdir()
        (worktree / "app").symlink_to(outside)
        write(main, {"app/.env": "1", ".worktreeinclude": ".env\n"})
        assert copy_included(main, self.enclosed(worktree), scratch, ()).copied == ()
        assert os.listdir(outside) == []

    def test_a_fifo_does_not_hang_the_copy(self, main: Path, tmp_path: Path) -> None:
        worktree, scratch = self.place(tmp_path)
        os.mkfifo(main / ".env")
        write(main, {"secrets/x": "1", ".worktreeinclude": ".env\nsecrets/\n"})
        os.mkfifo(main / "secrets/pipe")
        inclusion = copy_included(main, self.enclosed(worktree), scratch, ())
        assert inclusion.copied == ("secrets/x",)
        assert any("not a regular file" in line for line in inclusion.skipped)


def test_a_warm_worktree_gets_the_files_as_they_are_at_the_claim(root: WorktreeRoot, main: Path) -> None:
    tip = root.repo.resolve("main") or ""
    write(main, {".env": "old", ".worktreeinclude": ".env\n"})
    fill(root, tip, 1)
    assert (root.path / "w1/.env").read_text() == "old"
    write(main, {".env": "new"})
    prepared = prepare(root, WorktreeOrder("t1.1", "paddock/t1", tip))
    assert prepared.warm
    assert prepared.skipped == ()
    assert (prepared.worktree.path / ".env").read_text() == "new"
