"""Which paths may be in a tree, and which two are one file somewhere."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.core.merge.pathnames import clashes, folded, path_problem


@pytest.mark.parametrize(
    "path",
    [
        ".git/config", "a/.git/hooks/pre-commit", ".GIT", "sub/.Git/x", ".git./config", ".git /x", "git~1/config",
        "GIT~1", ".git::$INDEX_ALLOCATION/config", ".g\u200cit/config", "a/.gi\ufefft", "a\\.git\\config", ".git\\x",
        "../x", "a/../../x", "a//b", "/etc/passwd", "", ".", "a/.", "..\\x", "a\\..\\..\\x", "C:\\x", "c:x", "a:b/c",
        "\\x", ".gitmodules ", ".GITMODULES", "GITMOD~1", "gi7eba~1", ".gitattributes.", ".g\u200ditattributes",
        "n" * 256, f"a/{'ü' * 128}", "/".join("d" * 2001), f"{'d' * 200}/" * 20 + "f",
    ],
)  # fmt: skip
def test_a_way_into_git_or_out_of_the_tree_is_known(path: str) -> None:
    assert path_problem(path) is not None


@pytest.mark.parametrize(
    "path",
    [
        "a.py", "src/.gitignore", ".gitattributes", "sub/.gitmodules", ".github/workflows/ci.yml", ".gitlab-ci.yml",
        "git", "a/git/b", ".gitkeep", "x.git/y", "..a", "a..b/c", "with space.txt", "new\nline", "back\\slash",
        "ab:c/d", "ünïcode", "caf\udce9.txt", "-dash", "...", "git~2",
    ],
)  # fmt: skip
def test_an_ordinary_path_is_no_problem(path: str) -> None:
    assert path_problem(path) is None


NAMES = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=12)
BYTES = st.binary(min_size=1, max_size=12).map(lambda name: name.replace(b"\0", b"").decode("utf-8", "surrogateescape"))
"""What git gives is decoded this way, so other surrogates do not occur."""


@given(NAMES | BYTES)
def test_a_problem_of_a_part_is_a_problem_of_every_path_that_has_it(part: str) -> None:
    if path_problem(part) is not None:
        assert path_problem(f"folder/{part}/file") is not None or ":" in part or part.startswith(("\\", "/"))


@given(st.text(max_size=20))
def test_case_and_composition_make_no_difference_to_what_a_name_folds_to(name: str) -> None:
    assert folded(unicodedata.normalize("NFD", name)) == folded(unicodedata.normalize("NFC", name))
    assert folded(folded(name)) == folded(name)


def test_names_that_are_one_file_somewhere_clash() -> None:
    assert clashes(["README.md", "readme.md"], ["readme.md"]) == [("README.md", "readme.md")]
    assert clashes(["cafe\u0301", "caf\u00e9"], ["caf\u00e9"]) == [("cafe\u0301", "caf\u00e9")]
    assert clashes(["src/a", "Src/b"], ["Src/b"]) == [("src", "Src")]
    assert clashes(["lib", "Lib/x"], ["Lib/x"]) == [("lib", "Lib")]


def test_names_that_main_has_already_do_not_clash_again() -> None:
    assert clashes(["xt_TCP.h", "xt_tcp.h", "new"], ["new"]) == []
    assert clashes(["a/b", "a/c", "d"], ["a/c", "d"]) == []
    assert clashes(["strasse", "straße"], ["straße"]) == []


@given(st.lists(st.text("abAB/", min_size=1, max_size=6), unique=True))
def test_without_two_spellings_of_a_name_nothing_clashes(paths: list[str]) -> None:
    lower = [path.lower() for path in paths]
    assert clashes(lower, lower) == []
