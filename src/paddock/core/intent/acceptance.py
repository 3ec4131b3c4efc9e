"""What a person, a planner or another agent wants to see pass before a change is accepted, checked and bounded.

Commands are run as they are, without a shell: what only a shell understands is refused instead of passed on as text.
"""

import shlex
from collections.abc import Iterable, Mapping

from paddock.core.errors import Misuse
from paddock.core.events import Acceptance, AcceptFile
from paddock.core.ids import printable
from paddock.core.merge.pathnames import path_problem, with_folders
from paddock.core.tasks.vocabulary import Role

MOST_COMMANDS = 20
MOST_WORDS = 200
COMMAND_LIMIT = 8 * 1024
MOST_FILES = 50
FILES_LIMIT = 512 * 1024
_OPERATORS = frozenset("|&;<>()`\n")
_AFTER_DOLLAR = frozenset("({_@*#?!$-") | frozenset(map(chr, (*range(48, 58), *range(65, 91), *range(97, 123))))
_SHELL_HINT = "put it into a script and run that, or quote it for a shell of its own: `sh -c 'A | B'`"


def make_acceptance(commands: Iterable[str | tuple[str, ...]], files: Mapping[str, str]) -> Acceptance | None:
    """`commands` as a person types them, or already as words; `files` are texts by path. None where there is nothing
    in either. Raises Misuse."""
    argvs = tuple(read_command(one) if isinstance(one, str) else one for one in commands)
    if not argvs and not files:
        return None
    wanted = Acceptance(argvs, tuple(AcceptFile(path, text) for path, text in files.items()))
    check_acceptance(wanted)
    return wanted


def read_command(text: str) -> tuple[str, ...]:
    """The words of one command. Raises Misuse for what a shell would have to read."""
    shown = printable(text, 60)
    if (operator := _shell_operator(text)) is not None:
        raise Misuse(f"`{shown}`: commands run without a shell, so `{printable(operator)}` has no effect", _SHELL_HINT)
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise Misuse(f"`{shown}` is not a command: {str(error).lower()}", "quote it as you would in a shell") from None
    name, is_assignment, _ = words[0].partition("=") if words else ("", "", "")
    if is_assignment and name.isidentifier():
        raise Misuse(
            f"`{shown}`: commands run without a shell, so `{printable(name)}=…` sets nothing",
            f"write `env {printable(words[0], 40)} COMMAND`",
        )
    return words


def check_acceptance(wanted: Acceptance, role: Role = Role.WORK) -> None:
    """Raises Misuse with what is wrong with it, for a task of this role."""
    if role.only_reads:
        raise Misuse(
            f"a task of role `{role}` changes nothing: there is no change to accept",
            "leave out the acceptance, or the role",
        )
    _check_commands(wanted.commands)
    _check_files(wanted.files)
    if wanted.files and not wanted.commands:
        path = printable(wanted.files[0].path, 80)
        raise Misuse(
            f"nothing would run `{path}`: the acceptance has files, but no command",
            f"name one that does, such as `pytest -q {path}`",
        )


def _shell_operator(text: str) -> str | None:
    """The first piece that a shell would act on, None if there is none. Read as `shlex` does: quotes hide it."""
    quote = ""
    at = 0
    while at < len(text):
        letter, following = text[at], text[at + 1 : at + 2]
        if quote == "'":
            quote = "" if letter == "'" else quote
        elif letter == "\\":
            at += 1
        elif letter == '"' or (letter == "'" and not quote):
            quote = "" if quote else letter
        elif letter == "$" and following in _AFTER_DOLLAR:
            return "$(" if following == "(" else f"${following}…"
        elif letter == "`" or (letter in _OPERATORS and not quote):
            return "a new line" if letter == "\n" else letter * 2 if following == letter else letter
        at += 1
    return None


def _check_commands(commands: tuple[tuple[str, ...], ...]) -> None:
    if len(commands) > MOST_COMMANDS:
        raise Misuse(
            f"the acceptance has {len(commands)} commands; the limit is {MOST_COMMANDS}", "put them into a script"
        )
    for words in commands:
        shown = printable(" ".join(words), 60)
        if not words or not words[0]:
            raise Misuse("a command of the acceptance is empty", 'say what must pass: `--accept "pytest -q"`')
        if "\0" in "".join(words):
            raise Misuse(f"`{shown}` contains a NUL byte", "commands are text")
        if len(words) > MOST_WORDS or sum(map(len, words)) > COMMAND_LIMIT:
            raise Misuse(
                f"`{shown}` has {len(words)} words and {sum(map(len, words)):,} characters; "
                f"the limits are {MOST_WORDS} and {COMMAND_LIMIT:,}",
                "put it into a script",
            )
        _check_text(" ".join(words), f"`{shown}`")


def _check_files(files: tuple[AcceptFile, ...]) -> None:
    if len(files) > MOST_FILES:
        raise Misuse(f"the acceptance has {len(files)} files; the limit is {MOST_FILES}", "put several tests in one")
    for file in files:
        shown = printable(file.path, 80)
        _check_text(file.path, f"`{shown}`")
        problem = path_problem(file.path) or ("" if file.path.isprintable() else "has control characters in it")
        if problem:
            raise Misuse(
                f"the acceptance cannot have a file `{shown}`: its path {problem}",
                "name its path in the repository, such as `tests/test_x.py`",
            )
        _check_text(file.text, f"`{shown}`")
        if "\0" in file.text:
            raise Misuse(f"`{shown}` contains a NUL byte", "files of an acceptance are text")
    size = sum(len(file.text.encode()) for file in files)
    if size > FILES_LIMIT:
        raise Misuse(
            f"the files of the acceptance have {size:,} bytes; the limit is {FILES_LIMIT:,}",
            "commit large material, and let a small test use it",
        )
    paths = {file.path for file in files}
    if len(paths) < len(files):
        raise Misuse("the acceptance names a file twice", "give each path once")
    for path in sorted(paths):
        if (
            folder := next((above for above in with_folders(path) if above != path and above in paths), None)
        ) is not None:
            raise Misuse(f"`{printable(folder, 80)}` is both a file and a folder of the acceptance", "rename one")


def _check_text(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Misuse(f"{what} is not valid UTF-8 at character {error.start + 1}", "save it as UTF-8") from None
