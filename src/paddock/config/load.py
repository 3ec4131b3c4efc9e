"""Reading the configuration: defaults, then `paddock.toml`, then the environment, then flags."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from paddock.config.agents import BadAgentFile, scan_agent_files
from paddock.config.alert_rules import check_alerts
from paddock.config.convert import convert
from paddock.config.fields import OWN_KEYS, Field, fields_of, known_keys
from paddock.config.gates import check_gates
from paddock.config.needs import check_needs
from paddock.config.review_checks import check_review_checks
from paddock.config.schema import Config
from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.core.wording import nearest

FILE_NAME = "paddock.toml"
PREFIX = "PADDOCK_"
_FOR_AGENTS = ("TASK", "ATTEMPT", "BRANCH", "WORKTREE", "PORT", "PORT_LAST", "PORT_COUNT", "MARKER", "DESK", "ANSWER")
_FOR_CI = ("CI", "COMMIT", "CHECK", "CHANGE", "OUTCOME", "LEASE", "LEASE_GENERATION", "SERVED")
NOT_SETTINGS = frozenset(PREFIX + name for name in (*_FOR_AGENTS, *_FOR_CI, "DEBUG"))
"""Variables of docs/contracts.md that set no key."""

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One effective value and where it came from: `default`, `paddock.toml`, a variable's name or a flag."""

    key: str
    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Loaded:
    config: Config
    settings: tuple[Setting, ...]
    path: Path | None
    warnings: tuple[str, ...] = ()


def load_config(
    top: Path | None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
    *,
    skip_bad_agents: bool = False,
) -> Loaded:
    """`flags` maps dotted keys to text. `skip_bad_agents` leaves out agent files that are wrong. Raises Misuse naming
    file, key and the nearest known key."""
    environment = os.environ if environment is None else environment
    path = top / FILE_NAME if top is not None and (top / FILE_NAME).is_file() else None
    tree = read_toml(path) if path is not None else {}
    sources: dict[str, str] = {}
    _check_keys(tree, Config, (), FILE_NAME)
    _note_sources(tree, (), FILE_NAME, sources)
    warnings = _add_agent_files(tree, top, sources, skip_bad=skip_bad_agents) if top is not None else []
    warnings += _apply_environment(tree, environment, sources)
    for key, text in (flags or {}).items():
        _set(tree, tuple(key.split(".")), text, "--set", sources)
    config = convert(tree, sources, FILE_NAME)
    check_gates(config, sources.get("land.gate", FILE_NAME))
    check_review_checks(config, sources.get("review.checks", FILE_NAME))
    check_needs(config, sources, FILE_NAME)
    check_alerts(config, sources, FILE_NAME)
    return Loaded(config, tuple(_settings(config, sources)), path, tuple(warnings))


def read_toml(path: Path) -> Tree:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Misuse(f"{path}: {error}", "fix the file, then run `paddock config check`") from None
    except UnicodeDecodeError as error:
        raise Misuse(f"{path}: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}") from None


def _check_keys(tree: Mapping[str, Any], struct: type, prefix: tuple[str, ...], where: str) -> None:
    known = fields_of(struct)
    for key, value in tree.items():
        dotted = ".".join((*prefix, key))
        if key not in known:
            raise _unknown_key(where, dotted, ".".join(prefix), key, known)
        field = known[key]
        if field.section is not None and isinstance(value, dict):
            if field.is_table_of:
                for name, entry in value.items():
                    if isinstance(entry, dict):
                        _check_keys(entry, field.section, (*prefix, key, name), where)
            else:
                _check_keys(value, field.section, (*prefix, key), where)
        elif field.section is not None and isinstance(value, list):
            for entry in value:
                if isinstance(entry, dict):
                    _check_keys(entry, field.section, (*prefix, key), where)


def _unknown_key(where: str, dotted: str, section: str, key: str, known: Mapping[str, Field]) -> Misuse:
    near = nearest(key, known, cutoff=0.5)
    elsewhere = [name for name in known_keys() if name.endswith(f".{key}") and ".NAME." not in name]
    if elsewhere and key not in fields_of(Config):
        near = elsewhere[0]
    place = f"in [{section}]" if section else "at the top"
    hint = f"did you mean `{near}`?" if near else f"known {place}: {', '.join(known)}"
    top = fields_of(Config).get(key)
    if section and top is not None and top.section is not None:
        hint = f"did you mean `{near}`?" if near else f"`[{key}]` is a section of its own"
    elif section and top is not None:
        hint = f"`{key}` belongs at the top of the file, above the first [section]"
    return Misuse(f"{where}: unknown key `{printable(dotted, 80)}`", hint)


def _note_sources(tree: Mapping[str, Any], prefix: tuple[str, ...], source: str, sources: dict[str, str]) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            _note_sources(value, (*prefix, key), source, sources)
        sources[".".join((*prefix, key))] = source


def _add_agent_files(tree: Tree, top: Path, sources: dict[str, str], *, skip_bad: bool) -> list[str]:
    """An agent of `paddock.toml` wins over a file of the same name. Warns about files that make no agent."""
    agents = tree.setdefault("agents", {})
    warnings: list[str] = []
    if not isinstance(agents, dict):
        return warnings
    for found in scan_agent_files(top):
        if isinstance(found, BadAgentFile):
            if found.fatal and not skip_bad:
                raise found.problem
            warnings.append(f"{found.problem.message}: it is no agent")
        elif found.name not in agents:
            agents[found.name] = found.settings
            _note_sources({found.name: found.settings}, ("agents",), found.path, sources)
    return warnings


def _apply_environment(tree: Tree, environment: Mapping[str, str], sources: dict[str, str]) -> list[str]:
    warnings = []
    sections = [key for key, field in fields_of(Config).items() if field.section is not None]
    for variable in sorted(environment):
        if not variable.startswith(PREFIX):
            continue
        words = variable.removeprefix(PREFIX).lower()
        key = _key_of(words, tree)
        if key is not None:
            _set(tree, key, environment[variable], variable, sources)
        elif variable not in NOT_SETTINGS and not words.startswith("test_"):
            near = nearest(words, [k.replace(".", "_") for k in known_keys()], cutoff=0.75)
            if near or words.partition("_")[0] in sections:
                meant = f"; did you mean {PREFIX}{near.upper()}?" if near else ""
                warnings.append(f"{variable} matches no setting{meant}")
    return warnings


def _key_of(words: str, tree: Mapping[str, Any]) -> tuple[str, ...] | None:
    """`timeouts_turn` is ("timeouts", "turn"); agents and engines are matched by their configured names."""
    for name, field in fields_of(Config).items():
        if field.section is None:
            if words == name:
                return (name,)
            continue
        if not words.startswith(name + "_"):
            continue
        rest = words.removeprefix(name + "_")
        if not field.is_table_of:
            return (name, rest) if rest in fields_of(field.section) else None
        if field.own_key(rest) is not None:
            return (name, rest)
        for entry in fields_of(field.section):
            if rest.endswith("_" + entry):
                table = tree.get(name, {})
                wanted = rest.removesuffix("_" + entry)
                names = table if isinstance(table, dict) else {}
                given = [known for known in names if known.lower().replace("-", "_") == wanted]
                return (name, given[0] if given else wanted, entry)
    return None


def _set(tree: Tree, key: tuple[str, ...], text: str, source: str, sources: dict[str, str]) -> None:
    struct: type = Config
    field: Field | None = None
    for part in key:
        if field is None or not field.is_table_of:
            field = fields_of(struct).get(part)
        else:
            field = (field.own_key(part) if part == key[-1] else None) or field.entry()
        if field is None:
            raise unknown_setting(source, ".".join(key))
        struct = field.section or struct
    assert field is not None
    try:
        value = field.from_text(text)
    except ValueError as error:
        named = f"`{'.'.join(key)}`: " if source == "--set" else ""  # a variable names its key itself
        raise Misuse(f"{source}: {named}{error}", "`paddock config show` lists keys and values") from None
    if field.section is not None and isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                _check_keys(entry, field.section, key, source)
    table = tree
    for part in key[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            return  # the file has no table there, which is reported when it is converted
    table[key[-1]] = value
    sources[".".join(key)] = source


def unknown_setting(source: str, key: str) -> Misuse:
    near = nearest(key, known_keys())
    meant = f"did you mean `{near}`? " if near else ""
    return Misuse(f"{source}: unknown key `{printable(key, 80)}`", f"{meant}`paddock config show` lists the keys")


def _settings(config: Config, sources: Mapping[str, str]) -> list[Setting]:
    found: list[Setting] = []
    tables = {keys: table for table, keys in OWN_KEYS.items()}

    def walk(value: object, prefix: tuple[str, ...]) -> None:
        if isinstance(value, msgspec.Struct):
            for name in value.__struct_fields__:
                walk(getattr(value, name), (*prefix, name))
        elif isinstance(value, dict) and prefix in (("agents",), ("engines",), ("prices",), ("alerts",)):
            for name, entry in value.items():
                walk(entry, (*prefix, name))
        else:
            key = ".".join((tables.get(prefix[0], prefix[0]), *prefix[1:]))
            found.append(Setting(key, _without_secrets(key, value), sources.get(key, "default")))

    walk(config, ())
    return found


def _without_secrets(key: str, value: Any) -> Any:
    """Addresses hold tokens and passwords, and settings are shown in terminals and pages."""
    if key == "store.url" and value:
        from paddock.config.addresses import shown_url

        return shown_url(value)
    return tuple(map(_without_address, value)) if key == "notify.urls" else value


def _without_address(url: str) -> str:
    schema, colon, _ = url.partition("://")
    return f"{schema}://…" if colon and schema.isalnum() else "…"
