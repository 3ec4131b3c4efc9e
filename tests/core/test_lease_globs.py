"""Overlap of path globs, held against a matcher of another make over every short path."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.core.leases.globs import globs_overlap, matches_file, matches_path

NAMES = ["a", "b", "c", "ab", "ba", "ac", "aab", "abc"]
PATHS = ["/".join(parts) for length in (1, 2, 3, 4) for parts in itertools.product(NAMES[:6], repeat=length)]

segment = st.one_of(
    st.sampled_from(["a", "b", "ab", "*", "**", "a*", "*b", "?", "a?", "?b", "[ab]", "[!a]", "[a-b]*", "*a*b"]),
    st.text(alphabet="ab*?", min_size=1, max_size=3).filter(lambda text: "**" not in text),
)
glob = st.lists(segment, min_size=1, max_size=3).map("/".join)


def as_regex(pattern: str) -> re.Pattern[str]:
    """The pattern over paths written with a `/` in front of every segment."""
    parts = pattern.split("/")
    regex = ""
    for part in parts:
        if part == "**":
            regex += "(?:/[^/]+)*"
            continue
        regex += "/"
        for token in re.findall(r"\[[^]]+\]|.", part):
            match token:
                case "*":
                    regex += "[^/]*"
                case "?":
                    regex += "[^/]"
                case _ if token.startswith("["):
                    regex += token.replace("[!", "[^")
                case _:
                    regex += re.escape(token)
    if not re.search(r"[*?[]", parts[-1]):
        regex += "(?:/.*)?"
    return re.compile(regex)


def matching(pattern: str) -> set[str]:
    regex = as_regex(pattern)
    return {path for path in PATHS if regex.fullmatch("/" + path)}


@settings(max_examples=400, deadline=None)
@given(first=glob, second=glob)
def test_globs_that_share_a_path_are_never_called_disjoint(first: str, second: str) -> None:
    if matching(first) & matching(second):
        assert globs_overlap(first, second)


@settings(max_examples=400, deadline=None)
@given(first=glob, second=glob)
def test_overlap_is_symmetric_and_reflexive(first: str, second: str) -> None:
    assert globs_overlap(first, second) == globs_overlap(second, first)
    assert globs_overlap(first, first)


@settings(max_examples=200, deadline=None)
@given(pattern=glob)
def test_a_path_that_a_glob_matches_is_never_missed(pattern: str) -> None:
    assert all(matches_path(pattern, path) for path in matching(pattern))


@settings(max_examples=200, deadline=None)
@given(pattern=glob)
def test_a_file_that_a_glob_matches_is_never_missed(pattern: str) -> None:
    """Where a wildcard ends the pattern; a plain name at its end stands for all that is below it as well."""
    assert all(matches_file(pattern, path) for path in matching(pattern))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/*.py", "README.md", False),
        ("**/*.py", "src/a.py", True),
        ("*.py", "a.py", True),
        ("docs", "docs/a.md", True),
        ("docs", "docs", True),
        ("docs/**", "docs", True),
        ("ci/*.sh", "ci", False),
        ("Makefile", "makefile", True),
        ("a[1]", "a[1]", True),
        ("**", "x", True),
    ],
)
def test_a_file_is_not_taken_for_a_folder(pattern: str, path: str, matches: bool) -> None:
    assert matches_file(pattern, path) is matches


@pytest.mark.parametrize("path", ["a*b", "src/[id]/page.ts", "a{b,c}", "x?y", "back\\slash", "!a", "ü/é"])
def test_a_path_is_taken_literally(path: str) -> None:
    assert matches_path("**", path)
    assert matches_path(path.split("/")[0] + "/**", path) or "/" not in path
    assert not matches_path("docs/**", path)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("web/**", "web/src/a.ts", True),
        ("web/**", "webapp/a.ts", False),
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", False),
        ("**/*.py", "src/a.py", True),
        ("web", "web/a.ts", True),
        ("src/{api,db}/**", "src/db/x", True),
        ("src/{api,db}/**", "src/ui/x", False),
    ],
)
def test_globs_of_paths_mean_what_they_say(pattern: str, path: str, matches: bool) -> None:
    assert matches_path(pattern, path) is matches


WORDS = ["".join(letters) for length in range(1, 8) for letters in itertools.product("abc", repeat=length)]
word_glob = st.text(alphabet="ab*?", min_size=1, max_size=4).filter(lambda text: "**" not in text)


@settings(max_examples=60, deadline=None)
@given(first=word_glob, second=word_glob)
def test_within_a_segment_the_answer_is_exact(first: str, second: str) -> None:
    one, two = as_regex(first), as_regex(second)
    shared = any(one.fullmatch("/" + word) and two.fullmatch("/" + word) for word in WORDS)
    assert globs_overlap(first, second) == shared


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("src/api/**", "src/web/**"),
        ("src/*.py", "src/*.js"),
        ("src/*.py", "src/api/x.py"),
        ("src/*", "src/a/b.py"),
        ("src/[a-m]*", "src/[n-z]*"),
        ("docs/*.md", "docs/?.txt"),
        ("src/{api,web}/**", "src/{cli,mcp}/**"),
        ("src/**/*_test.py", "src/**/*.md"),
        ("a/**/b/*.c", "a/**/b/*.d"),
        ("a?c", "ac"),
        ("src/api", "src/apiary/x"),
    ],
)
def test_globs_without_a_common_path_are_called_disjoint(first: str, second: str) -> None:
    assert not globs_overlap(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("src/**", "src/api/x.py"),
        ("**", "anything/at/all"),
        ("**/*.py", "src/**"),
        ("a/**/z", "a/z"),
        ("a/**/b/**/c", "a/x/**/c"),
        ("src/api", "src/api/x.py"),
        ("src/api/", "src/api/x.py"),
        ("./src//a.py", "src/a.py"),
        ("/src/a.py", "src/a.py"),
        ("src/../lib/x", "lib/x"),
        ("*/../lib/x", "lib/x"),
        ("../elsewhere", "src/a"),
        ("SRC/Api.py", "src/api.py"),
        ("src/[A-F]x", "src/bx"),
        ("app/[id]/page.tsx", "app/\\[id\\]/page.tsx"),
        ("app/[id]/page.tsx", "app/d/page.tsx"),
        ("src/{api,web}/x", "src/web/*"),
        ("src/{a,b{c,d}}x", "src/bdx"),
        ("odd/{a,b}", "odd/\\{a,b\\}"),
        ("[!a]x", "bx"),
        ("[]a]", "]"),
        ("caf\u00e9", "cafe\u0301"),
        ("{1,2,3,4,5}{1,2,3,4,5}{1,2,3,4,5}", "534"),
    ],
)
def test_different_spellings_of_a_common_path_are_seen(first: str, second: str) -> None:
    assert globs_overlap(first, second)


def test_a_pattern_built_to_explode_is_answered_at_once() -> None:
    assert globs_overlap("**/" * 30 + "*a*a*a*a*a*b", "**/" * 30 + "a" * 60 + "b")
    assert globs_overlap("{a,b}" * 60, "anything")
    assert not globs_overlap("*a" * 80, "b" * 200)


@pytest.mark.parametrize(
    ("pattern", "path", "as_written", "in_both_cases"),
    [
        ("src/**", "src/a.py", True, True),
        ("src/**", "SRC/a.py", False, True),
        ("src/[a-z].py", "src/A.py", False, True),
        ("src/[!a-z].py", "src/A.py", True, True),
        ("src/*.py", "src/A.py", True, True),
        ("docs", "docs/x/y.md", True, True),
        ("straße/*", "STRAßE/x", False, True),
    ],
)
def test_letters_may_count_as_they_are_written(pattern: str, path: str, as_written: bool, in_both_cases: bool) -> None:
    assert matches_file(pattern, path, cased=True) is as_written
    assert matches_file(pattern, path) is in_both_cases
