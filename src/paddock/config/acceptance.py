"""The field `accept` of a task file: a command, a list of commands, or a table of commands and files."""

from collections.abc import Iterator
from typing import Any

from paddock.core.errors import Misuse
from paddock.core.events import Acceptance
from paddock.core.intent.acceptance import make_acceptance
from paddock.core.wording import check_known

_FIELDS = ("commands", "files")
_FORM = (
    "write `accept: [pytest -q tests/test_x.py]`, or a table with `commands` and `files`; see docs/how-to/acceptance.md"
)

Command = str | tuple[str, ...]


def read_acceptance(value: Any, where: str) -> Acceptance | None:
    """Raises Misuse."""
    commands: list[Command] = []
    files: dict[str, str] = {}
    try:
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                for name in part:
                    check_known("field", str(name), _FIELDS)
                commands += _commands(part.get("commands"))
                files |= _files(part.get("files"))
            else:
                commands += _commands([part] if isinstance(part, list) else part)
        return make_acceptance(commands, files)
    except Misuse as refusal:
        raise Misuse(f"{where}: `accept`: {refusal.message}", refusal.hint) from None


def _commands(value: Any) -> Iterator[Command]:
    for one in value if isinstance(value, list) else [] if value in (None, "") else [value]:
        if isinstance(one, str):
            yield one
        elif isinstance(one, list) and all(isinstance(word, str) for word in one):
            yield tuple(one)
        else:
            raise Misuse("a command is neither text nor a list of words", _FORM)


def _files(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(part, str) for pair in value.items() for part in pair):
        raise Misuse("`files` is not a table of texts by path", _FORM)
    return value
