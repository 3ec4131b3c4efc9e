"""What one command does, by its name and its first arguments."""

import re
from collections.abc import Sequence

from paddock.insight.command_words import (
    CLOSERS,
    COUNTED_WRAPPERS,
    INTERPRETERS,
    KEYWORDS,
    NAMED_RUNNERS,
    PHASE_OF_COMMAND,
    RUNNERS,
    SHELLS,
    WRAPPERS,
    names,
)
from paddock.insight.file_class import FileClass, class_of_file
from paddock.insight.git_commands import activity_of_git
from paddock.insight.package_commands import PACKAGE_TOOLS, activity_of_package_tool
from paddock.insight.phases import Activity, Phase, of_family, on_file

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_COMMAND_NAME = re.compile(r"[\w./~@+:%$-]{1,120}\Z")
_TESTING_WORD = re.compile(r"(?:^|[:_.-])(?:tests?|check|spec|e2e|coverage|nextest|verify)(?:$|[:_.-])", re.IGNORECASE)
_TEST_MODULES = frozenset(
    {"pytest", "unittest", "nose", "nose2", "tox", "nox", "doctest", "django", "trial", "testtools.run"}
)
_BUILD_MODULES = names(
    "pip build compileall py_compile mypy ruff flake8 pylint black isort venv virtualenv ensurepip sphinx pyflakes"
)
_TASK_TOOLS = names(
    "make gmake mvn mvnw gradle gradlew ninja bazel bazelisk buck2 pants plz just task rake meson ant sbt mix nx mise"
    " turbo moon lage lerna melos rush invoke inv doit poe earthly grunt gulp"
)
_TOLD_TO_TEST = names(
    "playwright ng ember react-scripts craco vue-cli-service web-test-runner wtr hardhat truffle anchor scarb aptos sui"
    " wasm-pack xcodebuild tuist fastlane detox terraform tofu helm brew pio platformio aegir cdk"
)
"""What tests if its first argument says so; other names, as `psql test`, may mean anything."""
_PROJECT_SCRIPTS = frozenset({"manage.py", "setup.py"})
_LANGUAGE_TOOLS = names("cargo go dotnet swift zig deno dart flutter stack cabal lein rails elm forge")
_VERSION = re.compile(r"(?<=[a-z])\d+(?:\.\d+)*\Z")
_READS_SCRIPT_FIRST = names("grep egrep fgrep rg ag ack sed awk gawk jq yq")


def inner_command(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """The command without what is put before it, or the script that a shell is given to run."""
    rest = list(words)
    while rest:
        name = rest[0].rpartition("/")[2]
        if _ASSIGNMENT.match(rest[0]) or name in KEYWORDS:
            rest = rest[1:]
        elif name in CLOSERS:
            return (), ""
        elif tuple(rest[:2]) in RUNNERS:
            rest = _after_options(rest[2:], RUNNERS[rest[0], rest[1]], more=(rest[0], rest[1]) in NAMED_RUNNERS)
        elif name in WRAPPERS and len(rest) > 1:
            rest = _after_options(rest[1:], WRAPPERS[name], more=name in COUNTED_WRAPPERS)
        elif name in SHELLS:
            return _of_shell(rest)
        elif name == "eval":
            return (), " ".join(rest[1:])
        else:
            return rest, ""
    return (), ""


def _after_options(words: list[str], valued: str, *, more: bool) -> list[str]:
    takes_value = valued.split()
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in takes_value else words[1:]
    return words[1:] if more else words


def _of_shell(words: list[str]) -> tuple[Sequence[str], str]:
    for place, word in enumerate(words[1:], 1):
        if not word.startswith(("-", "+")):
            return words, ""
        if "c" in word and not word.startswith("--"):
            return (), " ".join(words[place + 1 : place + 2])
    return words, ""


def family_of(words: Sequence[str], document: str | None) -> Activity:
    if not words:
        return of_family(Phase.RUN)
    given = words[0].strip()
    name = _plain_name(given)
    if name == "git":
        return activity_of_git(words[1:])
    if name in SHELLS:
        return _of_program(name, words[1:], document)
    if name in PACKAGE_TOOLS:
        return activity_of_package_tool(name, words[1:])
    if name in _TASK_TOOLS or name in _LANGUAGE_TOOLS:
        return _of_task_tool(name, words[1:])
    if name in INTERPRETERS or _VERSION.sub("", name) in INTERPRETERS:
        return _of_program(name, words[1:], document)
    if name in _PROJECT_SCRIPTS or given.endswith("bin/test"):
        return _of_script(name, given, words[1:])
    phase = PHASE_OF_COMMAND.get(name)
    if name in _TOLD_TO_TEST and _arguments(words[1:])[:1] == ["test"]:
        return of_family(Phase.TEST, name, "test")
    if phase is None:
        return _of_stranger(given, name)
    return _of_known(phase, name, words[1:])


def _plain_name(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").lower()


def _of_known(phase: Phase, name: str, rest: Sequence[str]) -> Activity:
    if name in ("sed", "perl") and _edits_in_place(rest):
        return on_file(Phase.EDIT, _last_file(rest))
    if phase is Phase.READ:
        files = _arguments(rest)[1:] if name in _READS_SCRIPT_FIRST and not _has(rest, "-f", "-e") else _arguments(rest)
        path = next((word for word in files if not word.lstrip("+").isdigit()), "")
        return on_file(Phase.READ, path) if path else of_family(Phase.READ, name)
    if phase in (Phase.EDIT, Phase.CREATE):
        path = next((word for word in _arguments(rest) if _looks_like_file(word)), "")
        return on_file(phase, path)
    return of_family(phase, name)


def _of_program(name: str, rest: Sequence[str], document: str | None) -> Activity:
    """An interpreter: of a test file or a module that tests, or of any program."""
    del document
    name = _VERSION.sub("", name)
    for place, word in enumerate(rest):
        if word == "-m":
            return _of_module(name, rest[place + 1 :])
        if name in ("perl", "ruby") and word.startswith(("-pi", "-i", "-ni", "-p0i")):
            return on_file(Phase.EDIT, _last_file(rest))
        if word in ("-c", "-e", "-p", "--eval", "-r", "-"):
            return of_family(Phase.RUN, name, word)
        if name == "node" and word == "--test":
            return of_family(Phase.TEST, "node --test")
        if not word.startswith("-"):
            return _of_script(name, word, rest[place + 1 :])
    return of_family(Phase.RUN, name)


def _of_module(name: str, rest: Sequence[str]) -> Activity:
    module = rest[0] if rest else ""
    top = module.partition(".")[0]
    if module == "pip":
        return activity_of_package_tool("pip", rest[1:])
    if module in _TEST_MODULES or top in ("pytest", "unittest", "nose"):
        tests = module != "django" or "test" in rest[1:2]
        return of_family(Phase.TEST if tests else Phase.RUN, module)
    if top == "coverage" and _has(rest, "-m", "pytest", "unittest"):
        return of_family(Phase.TEST, "coverage")
    return of_family(Phase.BUILD if top in _BUILD_MODULES else Phase.RUN, name, "-m", top)


def _of_script(name: str, path: str, rest: Sequence[str]) -> Activity:
    script = _plain_name(path)
    first = rest[0] if rest else ""
    if PHASE_OF_COMMAND.get(script) is Phase.TEST or path.endswith("bin/test"):
        return of_family(Phase.TEST, script)
    if script == "manage.py":
        return of_family(Phase.TEST if first == "test" else Phase.RUN, "manage.py", first)
    if script == "setup.py":
        return of_family(Phase.TEST if first == "test" else Phase.BUILD, "setup.py", first)
    if class_of_file(path) is FileClass.TEST:
        return of_family(Phase.TEST, name, script)
    return of_family(Phase.RUN, name)


def _of_task_tool(name: str, rest: Sequence[str]) -> Activity:
    tasks = _arguments(rest)
    task = next((word for word in tasks if _TESTING_WORD.search(word) and "=" not in word), "")
    if task and not (name == "cargo" and task == "check"):
        return of_family(Phase.TEST, name, task)
    first = tasks[0] if tasks else ""
    if name in _LANGUAGE_TOOLS:
        return activity_of_package_tool(name, rest)
    return of_family(Phase.BUILD, name, first if name not in ("ninja", "cmake") else "")


def _of_stranger(given: str, name: str) -> Activity:
    if not _COMMAND_NAME.match(given) or not any(letter.isalnum() for letter in given):
        return of_family(Phase.OTHER)
    if class_of_file(given) is FileClass.TEST and "/" in given:
        return of_family(Phase.TEST, name)
    return of_family(Phase.RUN, name)


def _arguments(words: Sequence[str]) -> list[str]:
    return [word for word in words if word and not word.startswith("-")]


def _has(words: Sequence[str], *options: str) -> bool:
    return any(word in options for word in words)


def _edits_in_place(words: Sequence[str]) -> bool:
    return any(
        word.startswith("--in-place") or (word.startswith("-") and not word.startswith("--") and "i" in word[:4])
        for word in words
    )


def _last_file(words: Sequence[str]) -> str:
    arguments = _arguments(words)
    return arguments[-1] if arguments and _looks_like_file(arguments[-1]) else ""


def _looks_like_file(word: str) -> bool:
    return bool(word) and len(word) < 400 and "\n" not in word and not re.match(r"\d+(?::\d+)?\Z|[|&;<>]", word)
