"""The configuration's schema as data: which keys there are, and how to read one from text."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

import msgspec

from paddock.config.schema import Config, Section
from paddock.core.wording import split_list

OWN_KEYS = {"agents": "agent_rights", "alerts": "alert_settings"}
"""A table of named tables that has keys of its own beside them, and the field of Config that these are in."""


@dataclass(frozen=True, slots=True)
class Field:
    """`section` is the struct of a table, of each table of a list, or, with `is_table_of`, of each named table.

    `own` is the struct of the keys that a table of tables has itself."""

    name: str
    type: Any
    default: Any
    description: str
    section: type[Section] | None
    is_table_of: bool
    is_duration: bool
    own: type[Section] | None = None

    def own_key(self, name: str) -> "Field | None":
        return fields_of(self.own).get(name) if self.own is not None else None

    def entry(self) -> "Field":
        """A table of tables, seen as one of its entries."""
        return Field(self.name, self.section, None, "", self.section, is_table_of=False, is_duration=False)

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values, if there are only a few: of the key itself, or of each entry of its list."""
        return _literals(self.type)

    def from_text(self, text: str) -> Any:
        """A value as TOML would have given it; lists and tables also as JSON. Raises ValueError."""
        plain = _plain(self.type)
        kind = getattr(plain, "__origin__", None)
        if self.section is not None and kind is not tuple:
            raise ValueError(f"`{self.name}` is a section, not a value")
        if plain is bool:
            if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
                raise ValueError(f"`{text}` is neither true nor false")
            return text.lower() in ("true", "1", "yes")
        if self.is_duration or plain is str:
            return text
        if int in (plain, *map(_plain, get_args(plain))):
            try:
                return int(text)
            except ValueError:
                raise ValueError(f"`{text}` is not a whole number") from None
        if float in (plain, *map(_plain, get_args(plain))):
            try:
                return float(text)
            except ValueError:
                raise ValueError(f"`{text}` is not a number") from None
        if kind is tuple:
            is_json = self.section is not None or text.lstrip().startswith("[")
            return _from_json(text, list) if is_json else list(split_list(text))
        if kind is dict:
            return _from_json(text, dict) if text.lstrip().startswith("{") else _pairs(text)
        return text


def _from_json(text: str, kind: type) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise ValueError(f"`{text}` is not a JSON {'list' if kind is list else 'object'}: {error}") from None


def _pairs(text: str) -> dict[str, str]:
    parts = split_list(text)
    if odd := [part for part in parts if "=" not in part]:
        raise ValueError(f"`{odd[0]}` is not NAME=VALUE")
    return dict(part.split("=", 1) for part in parts)


@lru_cache(maxsize=32)
def fields_of(struct: type) -> dict[str, Field]:
    found = {info.name: _field(info) for info in msgspec.structs.fields(struct)}
    for table, keys in OWN_KEYS.items() if struct is Config else ():
        found[table] = replace(found[table], own=found.pop(keys).section)
    return found


@lru_cache(maxsize=1)
def known_keys() -> tuple[str, ...]:
    keys = []
    for name, field in fields_of(Config).items():
        if field.section is None:
            keys.append(name)
        else:
            middle = ".NAME" if field.is_table_of else ""
            keys += [f"{name}.{entry}" for entry in (fields_of(field.own) if field.own is not None else ())]
            for entry, inside in fields_of(field.section).items():
                is_table = isinstance(inside.default, Section)
                below = fields_of(inside.section) if inside.section is not None and is_table else {}
                keys += [f"{name}{middle}.{entry}.{key}" for key in below] or [f"{name}{middle}.{entry}"]
    return tuple(keys)


def _field(info: msgspec.structs.FieldInfo) -> Field:
    section, is_table_of = _section(info.type)
    default = info.default if info.default is not msgspec.NODEFAULT else None
    if info.default_factory is not msgspec.NODEFAULT:
        default = info.default_factory()
    return Field(info.name, info.type, default, _description(info.type), section, is_table_of, _is_duration(info.type))


def _plain(hint: Any) -> Any:
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    return hint


def _literals(hint: Any) -> tuple[str, ...]:
    plain = _plain(hint)
    if get_origin(plain) is Literal:
        return tuple(map(str, get_args(plain)))
    return next((found for one in get_args(plain) if (found := _literals(one))), ())


def _section(hint: Any) -> tuple[type[Section] | None, bool]:
    plain = _plain(hint)
    if isinstance(plain, type) and issubclass(plain, Section):
        return plain, False
    for argument in get_args(plain):
        if isinstance(argument, type) and issubclass(argument, Section):
            return argument, plain.__origin__ is dict
    return None, False


def _metas(hint: Any) -> list[msgspec.Meta]:
    found: list[msgspec.Meta] = []
    while hasattr(hint, "__metadata__"):
        found += [meta for meta in hint.__metadata__ if isinstance(meta, msgspec.Meta)]
        hint = hint.__origin__
    for argument in get_args(hint):
        found += _metas(argument) if hasattr(argument, "__metadata__") else []
    return found


def _description(hint: Any) -> str:
    return next((meta.description for meta in _metas(hint) if meta.description), "")


def _is_duration(hint: Any) -> bool:
    return any(meta.title == "duration" for meta in _metas(hint))
