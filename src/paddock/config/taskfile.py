"""A whole convoy in one file: YAML, JSON or Markdown. See docs/how-to/convoys.md for the format."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddock.config.acceptance import read_acceptance
from paddock.config.needs import needs_in
from paddock.config.yaml_extent import check_extent
from paddock.core.errors import Misuse
from paddock.core.ids import branch_slug, printable
from paddock.core.intent.tasks import Batch, TaskSpec
from paddock.core.tasks.vocabulary import Role
from paddock.core.wording import check_known, did_you_mean, split_list

SIZE_LIMIT = 16 * 1024 * 1024
TASK_LIMIT = 10_000
MOST_VALUES = 1_000_000
_FORM = "a task file contains a list called `tasks:`; see docs/how-to/convoys.md"
_SPLIT = "split it into several files"

_TASK_FIELDS = (
    "key",
    "title",
    "brief",
    "agent",
    "engine",
    "after",
    "priority",
    "paths",
    "attempts",
    "kind",
    "role",
    "inputs",
    "accept",
    "labels",
    "needs",
)
_FILE_FIELDS = ("convoy", "title", "defaults", "tasks")
_DEFAULT_FIELDS = ("agent", "engine", "priority", "paths", "attempts", "kind", "role", "accept", "labels", "needs")
_HEADING = re.compile(r"^##\s+(?P<title>.+?)\s*(?:\{#(?P<key>[\w.-]+)\})?\s*$")
_FIELD_LINE = re.compile(r"^(?P<name>[a-z]+):\s*(?P<value>.*)$")


def parse_task_file(text: str, name: str, *, attempts: int = 3) -> Batch:
    """`name` is shown in errors; its ending, or else the text, tells the format. Raises Misuse.

    `attempts` applies to tasks that do not set their own.
    """
    if len(text) > SIZE_LIMIT:
        raise Misuse(f"{name} has {len(text):,} characters; the limit is {SIZE_LIMIT:,}", _SPLIT)
    match _format_of(name, text):
        case "json":
            return _batch(_read_json(text, name), name, attempts)
        case "markdown":
            return _read_markdown(text, name, attempts)
        case _:
            return _batch(_read_yaml(text, name), name, attempts)


def _format_of(name: str, text: str) -> str:
    match Path(name).suffix.lower():
        case ".json":
            return "json"
        case ".md" | ".markdown":
            return "markdown"
        case ".yaml" | ".yml":
            return "yaml"
    if text.lstrip()[:1] in ("{", "["):
        return "json"
    return "markdown" if re.search(r"^## ", text, re.MULTILINE) else "yaml"


def _read_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Misuse(
            f"{name}:{error.lineno}:{error.colno}: {error.msg}", "is there an extra comma or a missing quote?"
        ) from None
    except RecursionError:
        raise Misuse(f"{name}: nested too deeply", _FORM) from None


def _begins_with_tab(text: str, line: int) -> bool:
    lines = text.split("\n")
    return line < len(lines) and "\t" in lines[line][: len(lines[line]) - len(lines[line].lstrip())]


def _read_yaml(text: str, name: str) -> Any:
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        node = loader.get_single_node()
        check_extent(node, MOST_VALUES, name)
        return loader.construct_document(node) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        if mark is not None and _begins_with_tab(text, mark.line):
            raise Misuse(f"{place}: the line is indented with a tab", "YAML requires spaces there") from None
        raise Misuse(
            f"{place}: {error.problem or error.context}", "is a string with `:` or `#` in it unquoted?"
        ) from None
    except yaml.reader.ReaderError as error:
        raise Misuse(f"{name}: character {error.position + 1}: {error.reason}", "task files are text") from None
    except ValueError as error:
        # A value that looks like a date or a number but is not one: `2026-13-40`.
        raise Misuse(f"{name}: {error}", "put text that looks like a date or a number in quotes") from None
    except RecursionError:
        raise Misuse(f"{name}: nested too deeply", _FORM) from None


def _batch(tree: Any, name: str, attempts: int) -> Batch:
    if isinstance(tree, list):
        tree = {"tasks": tree}
    if not isinstance(tree, dict):
        raise Misuse(f"{name}: there are no tasks in it", _FORM)
    _check_fields(tree, _FILE_FIELDS, name)
    defaults = tree.get("defaults") or {}
    if not isinstance(defaults, dict):
        raise Misuse(f"{name}: `defaults` is not a table of fields", _FORM)
    _check_fields(defaults, _DEFAULT_FIELDS, f"{name}: defaults")
    defaults = {"attempts": attempts, **defaults}
    tasks = tree.get("tasks")
    if not isinstance(tasks, list) or not tasks:
        raise Misuse(f"{name}: `tasks` is not a list of tasks", _FORM)
    if len(tasks) > TASK_LIMIT:
        raise Misuse(f"{name} has {len(tasks):,} tasks; the limit is {TASK_LIMIT:,}", _SPLIT)
    specs = tuple(_spec(entry, defaults, f"{name}: task {number}") for number, entry in enumerate(tasks, 1))
    return Batch(specs, _text(tree, "convoy", name), _text(tree, "title", name) or "")


def _spec(entry: Any, defaults: Mapping[str, Any], where: str) -> TaskSpec:
    if isinstance(entry, str):
        entry = {"brief": entry}
    if not isinstance(entry, dict):
        raise Misuse(f"{where}: it is neither text nor a table of fields", _FORM)
    _check_fields(entry, _TASK_FIELDS, where)
    merged = {**defaults, **entry}
    title, brief = _text(merged, "title", where), _text(merged, "brief", where)
    where = f"{where} (`{printable(title or brief or '', 40)}`)"
    role = read_role(_text(merged, "role", where), where)
    if role.only_reads and "accept" not in entry:
        merged.pop("accept", None)
    return TaskSpec(
        brief=brief or title or "",
        title=title,
        key=_text(merged, "key", where),
        agent=_text(merged, "agent", where),
        engine=_text(merged, "engine", where),
        after=_list(merged, "after", where),
        priority=_number(merged, "priority", where, 0),
        paths=_list(merged, "paths", where),
        attempts=_number(merged, "attempts", where, 3),
        where=where,
        kind=_text(merged, "kind", where),
        accept=read_acceptance(merged.get("accept"), where),
        role=role,
        inputs=_list(merged, "inputs", where),
        labels=_list(merged, "labels", where),
        needs=_needs(merged, where),
    )


def read_role(name: str | None, where: str) -> Role:
    """Raises Misuse."""
    try:
        return Role(name or Role.WORK)
    except ValueError:
        hint = did_you_mean(name or "", [role.value for role in Role], f"a role is one of {', '.join(Role)}")
        raise Misuse(f"{where}: there is no role `{printable(name or '', 40)}`", hint) from None


def _check_fields(entry: Mapping[Any, Any], known: tuple[str, ...], where: str) -> None:
    for field in entry:
        try:
            check_known("field", str(field), known)
        except Misuse as refusal:
            raise Misuse(f"{where}: {refusal.message}", refusal.hint) from None


def _text(entry: Mapping[str, Any], field: str, where: str) -> str | None:
    value = entry.get(field)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and field == "key":
        return str(value)
    raise Misuse(f"{where}: `{field}` is not text", "put it in quotes")


def _list(entry: Mapping[str, Any], field: str, where: str) -> tuple[str, ...]:
    value = entry.get(field)
    if value is None:
        return ()
    if isinstance(value, str):
        return split_list(value)
    if isinstance(value, list) and all(isinstance(item, str | int) for item in value):
        return tuple(str(item) for item in value)
    raise Misuse(f"{where}: `{field}` is not a list of strings", f"write it as `{field}: [a, b]`")


def _needs(entry: Mapping[str, Any], where: str) -> tuple[str, ...]:
    try:
        return tuple(needs_in(entry.get("needs")))
    except ValueError as error:
        raise Misuse(f"{where}: `needs`: {error}", "write it as `needs: [gpu, os=linux]`") from None


def _number(entry: Mapping[str, Any], field: str, where: str, default: int) -> int:
    value = entry.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Misuse(f"{where}: `{field}` is not a whole number", f"write it as `{field}: 2`")
    return value


def _read_markdown(text: str, name: str, attempts: int) -> Batch:
    """A level-2 heading starts a task; `field: value` lines right below it are its fields, the rest its brief."""
    head: dict[str, Any] = {}
    body = text.replace("\r\n", "\n")
    if body.startswith("---\n") and "\n---\n" in body[4:]:
        front, _, body = body[4:].partition("\n---\n")
        read = _read_yaml(front, name)
        head = read if isinstance(read, dict) else {}
        _check_fields(head, ("convoy", "title", "defaults"), name)
    sections: list[tuple[str, str | None, list[str]]] = []
    title = str(head.get("title") or "")
    for line in body.split("\n"):
        if match := _HEADING.match(line):
            sections.append((match["title"], match["key"], []))
        elif sections:
            sections[-1][2].append(line)
        elif line.startswith("# ") and not title:
            title = line[2:].strip()
    if not sections:
        raise Misuse(f"{name}: there are no tasks in it", "each task is a heading `## Title` with its brief below")
    tasks = [_section(*section) for section in sections]
    return _batch({**head, "title": title, "tasks": tasks}, name, attempts)


def _section(title: str, key: str | None, lines: list[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"title": title, "key": key or branch_slug(title) or None}
    index = 0
    while index < len(lines) and (match := _FIELD_LINE.match(lines[index])) and match["name"] in _TASK_FIELDS:
        value: Any = match["value"].strip()
        is_number = match["name"] in ("priority", "attempts") and re.fullmatch(r"-?\d{1,9}", value)
        entry[match["name"]] = int(value) if is_number else value
        index += 1
    entry["brief"] = "\n".join(lines[index:]).strip() or title
    return entry
