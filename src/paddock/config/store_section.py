"""[store] of paddock.toml, written where the rest of the file is left as it is."""

import json
import os
import re
import tomllib
from contextlib import suppress
from pathlib import Path

from paddock.core.errors import PaddockError

_HEADER = re.compile(r"\s*\[\s*store\s*\]\s*(#.*)?")
_ANY_HEADER = re.compile(r"\s*\[")
_KEY = re.compile(r"\s*(url|schema)\s*=")


def with_store(text: str, url: str, schema: str) -> str:
    """`text` with these keys in [store]; an empty one is left out, and so is a section with nothing in it.

    Raises PaddockError where the section is written in a way that cannot be changed line by line."""
    new = [f"{key} = {json.dumps(value)}" for key, value in (("url", url), ("schema", schema)) if value]
    before, section, after = _split(text.splitlines())
    kept = [line for line in section[1:] if not _KEY.match(line)]
    if section and (new or any(line.strip() for line in kept)):
        lines = [*before, section[0], *new, *kept, *after]
    elif new:
        lines = [*before, *([""] if before and before[-1].strip() else []), "[store]", *new]
    else:
        lines = [*before, *after]
    changed = "\n".join(lines).rstrip("\n") + "\n"
    _require(changed, {key: value for key, value in (("url", url), ("schema", schema)) if value})
    return changed


def write_store(path: Path, url: str, schema: str) -> None:
    """All of it or nothing. Raises PaddockError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        draft.write_text(with_store(text, url, schema), encoding="utf-8")
        if path.exists():
            draft.chmod(path.stat().st_mode & 0o7777)
        os.replace(draft, path)
    except (OSError, UnicodeDecodeError) as error:
        raise PaddockError(f"`{path}` cannot be written: {error}", "put [store] url into it yourself") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _split(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    start = next((at for at, line in enumerate(lines) if _HEADER.fullmatch(line)), len(lines))
    end = next((at for at in range(start + 1, len(lines)) if _ANY_HEADER.match(lines[at])), len(lines))
    return lines[:start], lines[start:end], lines[end:]


def _require(text: str, wanted: dict[str, str]) -> None:
    try:
        found = tomllib.loads(text).get("store", {})
    except tomllib.TOMLDecodeError as error:
        raise PaddockError(f"paddock.toml cannot be changed line by line: {error}", "change [store] yourself") from None
    if {key: found[key] for key in ("url", "schema") if key in found} != wanted:
        raise PaddockError("[store] is written in another way in paddock.toml", "change it yourself")
