"""How languages write tests: which files hold them, what declares one, what skips one."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath


class Language(StrEnum):
    PYTHON = "python"
    SCRIPT = "script"
    GO = "go"
    RUST = "rust"
    JVM = "jvm"
    DOTNET = "dotnet"
    RUBY = "ruby"
    C = "c"
    PHP = "php"
    SWIFT = "swift"
    ELIXIR = "elixir"
    DART = "dart"
    SHELL = "shell"
    PERL = "perl"


_ENDINGS = {
    Language.PYTHON: "py pyi pyx",
    Language.SCRIPT: "js jsx ts tsx mjs cjs mts cts vue svelte",
    Language.GO: "go",
    Language.RUST: "rs",
    Language.JVM: "java kt kts scala groovy",
    Language.DOTNET: "cs fs vb",
    Language.RUBY: "rb",
    Language.C: "c cc cpp cxx h hh hpp hxx cu m mm",
    Language.PHP: "php",
    Language.SWIFT: "swift",
    Language.ELIXIR: "ex exs",
    Language.DART: "dart",
    Language.SHELL: "bats sh bash",
    Language.PERL: "t pl pm",
}
_BY_ENDING = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}
_TEST_FOLDERS = frozenset(("test", "tests", "testing", "spec", "specs", "__tests__", "e2e", "cypress"))
_DATA_FOLDERS = frozenset(("fixtures", "testdata", "__snapshots__", "data", "snapshots", "resources"))
_TEST_NAME = re.compile(
    r"(?:^|[._-])(?:tests?|specs?|unittests?)$|^tests?(?:[_-]|$)|[A-Za-z0-9](?:Tests?|Spec|TestCase)$|[a-z0-9]IT$|^Test[A-Z]"
)


def language_of(path: str) -> Language | None:
    return _BY_ENDING.get(PurePosixPath(path).suffix[1:].lower())


def names_tests(path: str) -> bool:
    """Whether the file's own name says that it holds tests."""
    pure = PurePosixPath(path)
    named = pure.suffix in (".bats", ".t") or _TEST_NAME.search(pure.stem) is not None
    return named and language_of(path) is not None


def is_test_file(path: str) -> bool:
    """Whether it holds tests or what they share, by its name and its folders. Their data does not count."""
    pure = PurePosixPath(path)
    if language_of(path) is None:
        return False
    if pure.stem == "conftest" or names_tests(path):
        return True
    folders = {part.lower() for part in pure.parts[:-1]}
    return bool(folders & _TEST_FOLDERS) and not folders & _DATA_FOLDERS


@dataclass(frozen=True, slots=True)
class Conventions:
    """`declares` has the name of a test as its last group that took part. `marks` makes a test of the next function,
    whose name `names` finds. `skips` keeps a test from running. `remark` begins a comment."""

    declares: re.Pattern[str] | None
    skips: re.Pattern[str]
    marks: re.Pattern[str] | None = None
    names: re.Pattern[str] | None = None
    remark: tuple[str, ...] = ("//", "/*", "*")


def _words(text: str) -> re.Pattern[str]:
    return re.compile(text)


_QUOTED = r"""\s*\(?\s*(?:'([^']{0,200})|"([^"]{0,200})|`([^`]{0,200}))"""

CONVENTIONS = {
    Language.PYTHON: Conventions(
        _words(r"^\s*(?:async\s+)?def\s+(test\w*)"),
        _words(
            r"@?\bpytest\.(?:mark\.)?(?:skip|skipif|xfail)\b|\bunittest\.(?:skip|expectedFailure)|\.skipTest\(|\bSkipTest\b"
            r"|^\s*@(?:skip|expectedFailure|xfail)|^\s*collect_ignore|\b__test__\s*=\s*False"
        ),
        remark=("#",),
    ),
    Language.SCRIPT: Conventions(
        _words(rf"^\s*(?:[xf]?it|[xf]?test|specify)(?:\.\w+)*(?:\([^()]{{0,200}}\))?{_QUOTED}"),
        _words(
            r"\b(?:it|test|describe|context|suite)(?:\.\w+)?\.(?:skip|skipIf|only|todo|fixme|failing|fails)\b"
            r"|^\s*(?:x(?:it|test|describe|context)|f(?:it|describe|context))\s*\(|\bthis\.skip\(\)|\bt\.skip\("
        ),
    ),
    Language.GO: Conventions(
        _words(r"^func\s+(?:\([^()]{0,80}\)\s*)?((?:Test|Fuzz|Example)\w*)"),
        _words(r"\b[tb]\.Skip(?:f|Now)?\(|^//go:build\s+(?:ignore|!)|^//\s*\+build\s+ignore"),
    ),
    Language.RUST: Conventions(
        None,
        _words(r"#\[ignore\b|#\[cfg\(any\(\)\)\]|#\[cfg_attr\([^\]]{0,80}\bignore\b"),
        _words(r"#\[(?:\w+::)*(?:test|rstest|test_case|bench|quickcheck)\b"),
        _words(r"\bfn\s+(\w+)"),
    ),
    Language.JVM: Conventions(
        _words(rf"^\s*(?:fun\s+`([^`]{{1,200}})|(?:test|it|should){_QUOTED}|(?:public\s+)?void\s+(test\w+))"),
        _words(r"@(?:Disabled|Ignore)\b|\bassume(?:True|False|That|Not)\w*\(|\bignore\s*\("),
        _words(r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b"),
        _words(r"\b(?:fun\s+|void\s+|\w[\w<>\[\], ]{0,80}\s)`?(\w+)`?\s*\("),
    ),
    Language.DOTNET: Conventions(
        None,
        _words(r"\[(?:Ignore|Explicit)\b|\bSkip\s*=|\bAssert\.(?:Ignore|Inconclusive)\("),
        _words(r"\[(?:Test|TestCase|TestMethod|Fact|Theory)\b|<(?:Test|Fact|TestMethod)\b"),
        _words(r"\b(?:void|Task|let|Sub)\s+(\w+)\s*\("),
    ),
    Language.RUBY: Conventions(
        _words(rf"^\s*(?:def\s+(test_\w+[?!]?)|(?:[xf]?it|specify|scenario|xscenario|example|test)\b{_QUOTED})"),
        _words(
            r"^\s*(?:skip|pending|xit|xdescribe|xcontext|xspecify|xscenario|fit|fdescribe)\b|,\s*:?(?:skip|focus)\b"
        ),
        remark=("#",),
    ),
    Language.C: Conventions(
        _words(
            r"^\s*(?:TEST(?:_[A-Z_]+)?|SCENARIO|BOOST_\w*TEST_CASE\w*|Test)\s*\(\s*(?:\w+\s*,\s*)?\"?([^\",)]{1,200})"
            r"|^\s*(?:static\s+)?(?:void|int)\s+(test_\w+)\s*\("
        ),
        _words(r"\bGTEST_SKIP\b|\bDISABLED_\w|\bSKIP\(|\bTEST_IGNORE|\[!(?:mayfail|shouldfail)\]|\bXCTSkip"),
    ),
    Language.PHP: Conventions(
        _words(r"\bfunction\s+(test\w+)|^\s*(?:it|test)\s*\(\s*['\"]([^'\"]{0,200})"),
        _words(r"\bmarkTest(?:Skipped|Incomplete)\b|->skip\(|->only\("),
        _words(r"@test\b|#\[Test\b"),
        _words(r"\bfunction\s+(\w+)"),
        remark=("//",),
    ),
    Language.SWIFT: Conventions(
        _words(r"\bfunc\s+(test\w*)"),
        _words(r"\bXCTSkip\w*|\.disabled\("),
        _words(r"@Test\b"),
        _words(r"\bfunc\s+(\w+)"),
    ),
    Language.ELIXIR: Conventions(
        _words(r"^\s*(?:test|property)\s+\"([^\"]{0,200})"), _words(r"@(?:module)?tag\s+:?skip\b"), remark=("#",)
    ),
    Language.DART: Conventions(_words(rf"^\s*(?:test|testWidgets){_QUOTED}"), _words(r"\bskip\s*:|@Skip\(")),
    Language.SHELL: Conventions(
        _words(r"^\s*(?:@test\s+[\"']([^\"']{0,200})|(?:function\s+)?(test_\w+)\s*\(\))"),
        _words(r"^\s*skip\b"),
        remark=("#",),
    ),
    Language.PERL: Conventions(
        _words(r"^\s*(?:subtest\s+['\"]([^'\"]{0,200})|sub\s+(test_\w+))"),
        _words(r"\bskip_all\b|^\s*skip\b"),
        remark=("#",),
    ),
}


def is_remark(text: str, conventions: Conventions) -> bool:
    return text.lstrip().startswith(conventions.remark)
