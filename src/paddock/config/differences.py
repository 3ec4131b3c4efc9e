"""Two configurations compared: a digest that tells them apart, and in words what is different."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from paddock.config.fields import OWN_KEYS
from paddock.config.schema import Config
from paddock.core.ids import printable

DIGEST_BYTES = 8
SHOWN_CHANGES = 20
_VALUE_CHARACTERS = 80
_SECRET = ("land.env", "land.notify", "notify.urls", "store.url")
"""Values that may hold secrets, and so are never shown; of engines, what is set for them."""
_SECRET_OF_ENGINES = ("set", "args", "command", "resume", "interactive")


def digest_of(config: Config) -> str:
    return _digest(config)


def remembered(config: Config) -> dict[str, str]:
    """Every key with its value as it may be shown; where that may be a secret, with its digest."""
    found: dict[str, str] = {}
    tables = {keys: table for table, keys in OWN_KEYS.items()}

    def walk(value: Any, path: tuple[str, ...]) -> None:
        key = ".".join(path)
        if isinstance(value, msgspec.Struct):
            for name in value.__struct_fields__:
                walk(getattr(value, name), (*path, name) if path else (tables.get(name, name),))
        elif isinstance(value, dict) and len(path) == 1:
            for name, entry in value.items():
                walk(entry, (*path, name))
        else:
            found[key] = _digest(value) if _is_secret(path) else _shown(value)

    walk(config, ())
    return found


def describe_changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """In words, bounded; both as `remembered` gives them."""
    changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    words = [_describe(key, before.get(key), after.get(key)) for key in changed[:SHOWN_CHANGES]]
    return (*words, f"{len(changed) - SHOWN_CHANGES} more keys") if len(changed) > SHOWN_CHANGES else tuple(words)


def _describe(key: str, before: str | None, after: str | None) -> str:
    if _is_secret(tuple(key.split("."))):
        return f"{printable(key, 80)} was changed"
    if after is None:
        return f"{printable(key, 80)} was removed, it was {before}"
    return f"{printable(key, 80)} is {after}" + (f", it was {before}" if before is not None else "")


def _is_secret(path: tuple[str, ...]) -> bool:
    return ".".join(path[:2]) in _SECRET or (path[0] == "engines" and path[-1] in _SECRET_OF_ENGINES)


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode() if not isinstance(value, str) else value
    return f"`{printable(text, _VALUE_CHARACTERS)}`"


def _digest(value: Any) -> str:
    return blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=DIGEST_BYTES).hexdigest()
