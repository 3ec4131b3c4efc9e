"""The `[engines.NAME]` tables of paddock.toml."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from paddock.core.errors import Misuse

OutputFormat = Literal["text", "claude-stream", "codex-jsonl"]


class EngineSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a user may say about an engine.

    For any engine: `program` (another name or path of the CLI), `args` (appended to every headless call),
    `env` (further names of the parent's environment to let through; `PREFIX_*` is allowed), `set` (values),
    `model`, `sandbox` (the CLI's own, where it has one), `like` (this table is a second account or set-up of
    a built-in engine), `account` (engines with the same one share a quota).
    For a CLI Paddock does not know: `command` and, when it can, `resume`, `interactive`, `session_id_regex`
    and `format`.
    """

    program: str = ""
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    set: dict[str, str] = {}
    model: str = ""
    sandbox: bool = False
    like: str = ""
    account: str = ""
    command: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    interactive: tuple[str, ...] = ()
    session_id_regex: str = ""
    format: OutputFormat = "text"


NO_SETTINGS = EngineSettings()


def parse_settings(name: str, table: Mapping[str, object]) -> EngineSettings:
    """Raises Misuse for an unknown key, naming the nearest known one, and for a value of the wrong type."""
    for key in table:
        if key not in EngineSettings.__struct_fields__:
            close = nearest(key, EngineSettings.__struct_fields__)
            raise Misuse(f"unknown key `{key}` in [engines.{name}]", f"did you mean `{close}`?" if close else None)
    try:
        return msgspec.convert(dict(table), EngineSettings)
    except msgspec.ValidationError as error:
        raise Misuse(f"bad value in [engines.{name}]: {error}", "see docs/engines.md for what each key takes") from None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when none is close."""
    import difflib

    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return found[0] if found else None
