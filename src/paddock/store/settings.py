"""[store] as it is set for a repository, read without the rest of the configuration.

Every command begins here, most of them in repositories whose log is a file: those pay for one look into `paddock.toml`.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from paddock.core.errors import Misuse
from paddock.core.ids import printable

DEFAULT_SCHEMA = "paddock"
_MENTIONS = re.compile(rb"""^\s*(\[\s*)?["']?store["']?\s*[].=]""", re.MULTILINE)
_SCHEMA = re.compile("[a-z_][a-z0-9_]{0,62}")
_KEYS = ("url", "schema")


class StoreKeys:
    """`url` as it is written, `${NAME}` and all; empty where the log is a file."""

    __slots__ = ("schema", "url")

    def __init__(self, url: str, schema: str) -> None:
        self.url = url
        self.schema = schema


def read_store_keys(top: Path, settings: Sequence[str] = (), environment: Mapping[str, str] = os.environ) -> StoreKeys:
    """`settings` are `key=value` words, which win over the environment, as that does over the file. Raises Misuse."""
    found = _in_file(top / "paddock.toml")
    for key in _KEYS:
        if (value := environment.get(f"PADDOCK_STORE_{key.upper()}")) is not None:
            found[key] = value
    for word in settings:
        name, _, value = word.partition("=")
        section, _, key = name.strip().partition(".")
        if section == "store" and key in _KEYS:
            found[key] = value
    url, schema = found.get("url", ""), found.get("schema", DEFAULT_SCHEMA)
    if not isinstance(url, str) or not isinstance(schema, str) or not _SCHEMA.fullmatch(schema):
        raise Misuse(
            f"[store] url must be text, and schema small letters, digits and _: not `{printable(str(schema), 80)}`",
            "fix it in paddock.toml, then run `paddock config check`",
        )
    return StoreKeys(url, schema)


def _in_file(path: Path) -> dict[str, object]:
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    if not _MENTIONS.search(content):
        return {}
    import tomllib

    try:
        section = tomllib.loads(content.decode()).get("store", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misuse(
            f"{path}: {error}, so it cannot be told where the log is", "fix the file, then run `paddock config check`"
        ) from None
    return dict(section) if isinstance(section, dict) else {}
