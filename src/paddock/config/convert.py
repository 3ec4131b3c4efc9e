"""From the merged tree of texts, numbers and tables to the typed configuration."""

from collections.abc import Mapping
from typing import Any

import msgspec

from paddock.config.fields import OWN_KEYS, Field, fields_of
from paddock.config.schema import Config
from paddock.core.durations import LONGEST_SECONDS, parse_duration
from paddock.core.errors import Misuse

Tree = dict[str, Any]
_HINTS = {"agents.fresh": "for all agents set `[limits] fresh = true`, for one `[agents.NAME] fresh = true`"}
_CONFIG_SHOW = "`paddock config show` lists keys, values and defaults"


def convert(tree: Tree, sources: Mapping[str, str], otherwise: str) -> Config:
    """Raises Misuse with the key and the source of its value; `otherwise` is the source if there is no other."""
    plain = _with_seconds(tree, Config, (), sources, otherwise)
    try:
        return msgspec.convert(_with_own_keys(plain), Config)
    except msgspec.ValidationError as error:
        key, problem = _explain(plain, str(error))
        source = _source(key, sources, otherwise)
        hint = _HINTS.get(key) or _hint(key, problem)
        raise Misuse(f"{source}: `{key}`: {problem}", hint) from None


def _hint(key: str, problem: str) -> str:
    table, dot, rule = key.partition(".")
    if table == "alerts" and dot and "." not in rule and problem.startswith("Expected `object`"):
        return f"write `[{key}]`, and below it `on = false` to turn the rule off"
    return _CONFIG_SHOW


def _with_own_keys(tree: Tree) -> Tree:
    """The keys that a table of tables has itself go where Config has them."""
    tree = dict(tree)
    for table, keys in OWN_KEYS.items():
        field, entries = fields_of(Config)[table], tree.get(table)
        if isinstance(entries, dict):
            own = {name for name, value in entries.items() if field.own_key(name) and not isinstance(value, dict)}
            tree[keys] = {name: entries[name] for name in own}
            tree[table] = {name: value for name, value in entries.items() if name not in own}
    return tree


def _source(key: str, sources: Mapping[str, str], otherwise: str) -> str:
    """Where the key came from, or something below it, or the nearest of the tables around it."""
    key = key.partition("[")[0]
    if key not in sources and (below := [name for name in sources if name.startswith(f"{key}.")]):
        return sources[below[0]]
    while key and key not in sources:
        key = key.rpartition(".")[0]
    return sources.get(key, otherwise)


def _explain(tree: Tree, error: str) -> tuple[str, str]:
    """The key and what is wrong with it."""
    problem, _, place = error.partition(" - at `$.")
    for owner_table, keys in OWN_KEYS.items():
        place = f"{owner_table}{place.removeprefix(keys)}" if place.startswith(f"{keys}.") else place
    table, is_entry, rest = place.rstrip("`").partition("[...]")
    field = fields_of(Config).get(table)
    if is_entry and field is not None and field.section is not None:
        # msgspec does not say which entry it was.
        wrong = next((name for name, entry in tree[table].items() if _is_wrong(entry, field.section)), "NAME")
        table = f"{table}.{wrong}"
    key = f"{table}{rest if is_entry else ''}"
    owner = _field(key)
    if problem.startswith("Invalid enum value ") and owner is not None:
        value = problem.removeprefix("Invalid enum value ").strip("'")
        problem = f"`{value}` is not one of {', '.join(owner.choices)}"
    return key, problem


def _is_wrong(entry: object, section: type) -> bool:
    try:
        msgspec.convert(entry, section)
    except msgspec.ValidationError:
        return True
    return False


def _field(key: str) -> Field | None:
    top = fields_of(Config).get(key.partition(".")[0])
    if top is None or top.section is None:
        return top
    return fields_of(top.section).get(key.rpartition(".")[2].partition("[")[0])


def _with_seconds(
    tree: Mapping[str, Any], struct: type, prefix: tuple[str, ...], sources: Mapping[str, str], otherwise: str
) -> Tree:
    """The tree with durations turned into seconds."""

    def inside(entry: object, section: type, place: tuple[str, ...]) -> object:
        return _with_seconds(entry, section, place, sources, otherwise) if isinstance(entry, dict) else entry

    plain: Tree = {}
    for key, value in tree.items():
        field, place = fields_of(struct)[key], (*prefix, key)
        section = field.section
        if section is None:
            plain[key] = _seconds(value, ".".join(place), sources, otherwise) if field.is_duration else value
        elif field.is_table_of and isinstance(value, dict):
            own = {name: entry for name, entry in value.items() if field.own_key(name) and not isinstance(entry, dict)}
            plain[key] = {name: inside(entry, section, (*place, name)) for name, entry in value.items()}
            plain[key] |= _with_seconds(own, field.own, place, sources, otherwise) if field.own is not None else {}
        elif isinstance(value, list):
            plain[key] = [inside(entry, section, place) for entry in value]
        else:
            plain[key] = inside(value, section, place)
    return plain


def _seconds(value: Any, key: str, sources: Mapping[str, str], otherwise: str) -> Any:
    try:
        return seconds_of(value)
    except ValueError as error:
        raise Misuse(f"{sources.get(key, otherwise)}: `{key}`: {error}") from None


def seconds_of(value: Any) -> Any:
    """A bare number counts as seconds; what is neither text nor number is left to the conversion. Raises ValueError."""
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, int | float) and not 0 <= value <= LONGEST_SECONDS:
        raise ValueError(f"{value} seconds is not between 0 and a year")
    return value
