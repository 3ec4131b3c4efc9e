"""`make docs`: writes docs/reference/*.md from the code. A test fails while a page says anything else."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import api_commands
import click
import filter_reference
import msgspec
import plan_reference
import python_reference
import trace_reference
from msgspec import NODEFAULT, UNSET, Meta, UnsetType

from paddock.cli.registry import COMMANDS, paddock
from paddock.config.fields import Field, fields_of
from paddock.config.schema import Config
from paddock.core.durations import format_duration
from paddock.core.events import Event
from paddock.core.kinds import all_kinds
from paddock.web.endpoint import Endpoint, NoBody
from paddock.web.routes import ENDPOINTS
from paddock.web.stream import StreamQuery

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
MADE = "<!-- Written by scripts/make_reference.py from the code: `make docs` writes it again. -->"

CLI_INTRO = f"""\
# Commands

{MADE}

`paddock COMMAND --help` says the same in the terminal. Readers take `--json`; what they print then is described in
[contracts](../contracts.md)."""

CONFIG_INTRO = f"""\
# Configuration

{MADE}

`paddock.toml` lies in the top folder of the main working tree. Every key can be set from the environment as
`PADDOCK_SECTION_KEY`, which wins over the file, and for one call with `--set section.key=value`, which wins over
both: lists with commas between, tables as `key=value` with commas between. Durations are written `250ms`, `90s`,
`10m`, `1h30m` or `2d`; a bare number counts as seconds.

`paddock config show` prints each key with its value and where that came from; `paddock config check` checks them."""

EVENTS_INTRO = f"""\
# Events

{MADE}

Every record of the log holds one event. `paddock log --json` prints it as `body`; a field at its default may be
left out. The envelope (`seq`, `at`, `actor`, …) and the rules of versioning are in [contracts](../contracts.md)."""

API_INTRO = f"""\
# The API

{MADE}

`paddock web` serves it below `/api/v1`; [how to ask](../how-to/web.md#from-a-script). Every answer is JSON with
`"schema": 1` and is only ever extended. A refusal is `{{"schema": 1, "error": {{"code", "message", "hint"}}}}`:

| status | code | why |
|---|---|---|
| 400 | `misuse` | the request itself is wrong |
| 401 | `token` | the token is missing or wrong |
| 403 | `host`, `origin`, `worker` | the server is called by a strange name, by a page of another site, or by an agent |
| 404 | `unknown` | there is no such task, attempt, convoy, change, run or address |
| 405 | `method` | this address is only read, or only asked |
| 408, 413, 415 | `too-slow`, `too-large`, `content-type` | the body took over 10 s, has over 1 MB, or is not JSON |
| 409 | `refused`, `outdated` | not as things are now; `outdated` has the versions `seen` and `now` |
| 503 | `log`, `busy`, `system` | the log cannot be read or written, or too much is asked for at once |
| 503 | `unfinished` | it is not done after 100 s; what has begun goes on by itself |

Requests for many tasks are answered with `done` and `refused`, which has an `id` and the fields of a refusal for each.
`/api/v1/openapi.json` describes all of it for programs. [By command](#by-command) tells which request does what a
command does."""

STREAM_TEXT = """\
## `GET /events`

What happens, as it happens: server-sent events, without end. A record of the log has its number as `id`, and the
data of `/log/{seq}`. `event: view` tells a live view: first `whole`, then what has changed, as `set` (fields) and
`rows` (of the `tables`; null for one that is gone), each with a `mark` to go on from. `event: pulse` comes at once and
then every 5 s; its `log` and `log_hint` tell why the log cannot be read, its `identity` which log it is. A client that
takes nothing for 20 s is cut off."""
_PLAIN_TYPES = {str: "text", int: "integer", float: "number", bool: "true or false", NoneType: "null"}


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


def pages() -> dict[str, str]:
    """File name to content, as it ought to be."""
    made = {"cli.md": cli_page(), "config.md": config_page(), "events.md": events_page(), "api.md": api_page()}
    made["plan.md"], made["plan.schema.json"] = list(plan_reference.lines(MADE)), plan_reference.schema_lines()
    made["filter.md"], made["traces.md"] = filter_reference.lines(MADE), trace_reference.lines(MADE)
    made["python.md"] = list(python_reference.lines(MADE))
    return {name: "\n".join(lines).rstrip() + "\n" for name, lines in made.items()}


def cli_page() -> list[str]:
    root = click.Context(paddock, info_name="paddock")
    lines = [*CLI_INTRO.splitlines(), "", "Before the name of any command:", "", *_option_rows(root)]
    lines += ["", "| command | what it does |", "|---|---|"]
    lines += [f"| [`{name}`](#paddock-{name}) | {text} |" for name, (_, text) in COMMANDS.items()]
    for name in COMMANDS:
        command = paddock.get_command(root, name)
        assert command is not None
        lines += _command_lines(click.Context(command, info_name=name, parent=root), level=2)
    return lines


def _command_lines(ctx: click.Context, level: int) -> list[str]:
    command = ctx.command
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    lines = ["", f"{'#' * level} `{ctx.command_path}`", "", "```text", usage, "```", ""]
    lines += _paragraphs(command.help or command.short_help or "")
    if rows := _option_rows(ctx):
        lines += ["", *rows]
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            below = command.get_command(ctx, name)
            assert below is not None
            lines += _command_lines(click.Context(below, info_name=name, parent=ctx), level + 1)
    return lines


def _option_rows(ctx: click.Context) -> list[str]:
    given = [parameter for parameter in ctx.command.params if isinstance(parameter, click.Option)]
    options = [found for option in given if (found := option.get_help_record(ctx)) is not None]
    rows = [f"| `{_cell(name)}` | {_cell(text)} |" for name, text in options]
    return ["| option | meaning |", "|---|---|", *rows] if rows else []


def _paragraphs(text: str) -> list[str]:
    """Help texts: a paragraph that opens with \\b keeps its lines."""
    lines: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        rows = [row.strip() for row in paragraph.splitlines()]
        if rows[0] == "\b":
            lines += ["```text", *rows[1:], "```", ""]
        else:
            lines += [*rows, ""]
    return lines[:-1]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def config_page() -> list[str]:
    lines = [*CONFIG_INTRO.splitlines(), "", "## Top level", ""]
    top = fields_of(Config)
    lines += _key_rows([field for field in top.values() if field.section is None], "")
    for name, field in top.items():
        if field.section is not None:
            lines += _section_lines(name, field)
    return lines


def _section_lines(name: str, field: Field) -> list[str]:
    assert field.section is not None
    title = f"[{name}.NAME]" if field.is_table_of else f"[{name}]"
    prefix = f"{name}.NAME." if field.is_table_of else f"{name}."
    inside = fields_of(field.section)
    lines = []
    if field.own is not None:
        lines += ["", f"## `[{name}]`", "", field.own.__doc__ or "", ""]
        lines += _key_rows(list(fields_of(field.own).values()), f"{name}.")
    lines += ["", f"## `{title}`", "", field.section.__doc__ or "", ""]
    lines += _key_rows([entry for entry in inside.values() if entry.section is None], prefix)
    for nested, entry in inside.items():
        if entry.section is not None:
            is_list = isinstance(entry.default, tuple)
            title = f"[[{name}.{nested}]]" if is_list else f"[{prefix}{nested}]"
            words = f"{_sentence(entry.description)} {'In the file only.' if is_list else ''}".rstrip()
            lines += ["", f"### `{title}`", "", words, ""]
            lines += _key_rows(list(fields_of(entry.section).values()), "" if is_list else f"{prefix}{nested}.")
    return lines


def _key_rows(fields: list[Field], prefix: str) -> list[str]:
    lines = ["| key | type | default | meaning |", "|---|---|---|---|"]
    for field in fields:
        words = _sentence(field.description)
        default = _default(field)
        lines.append(f"| `{prefix}{field.name}` | {_cell(_config_type(field))} | {default} | {_cell(words)} |")
    return lines


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + "." if words else ""


def _config_type(field: Field) -> str:
    if field.is_duration:
        return "duration"
    plain = _bare(field.type)
    choices = get_args(plain) if str(plain).startswith("typing.Literal") else ()
    if choices:
        return " or ".join(f'`"{choice}"`' for choice in choices)
    names = {str: "text", int: "whole number", bool: "true or false", float: "number"}
    if plain in names:
        return names[plain]
    return "list of texts" if get_origin(plain) is tuple else "table of texts"


def _unannotated(hint: Any) -> Any:
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    return hint


def _bare(hint: Any) -> Any:
    """Without annotations, and without the None of what may be left out."""
    hint = _unannotated(hint)
    if get_origin(hint) in (Union, UnionType):
        return _bare(next(part for part in get_args(hint) if part is not NoneType))
    return hint


def _may_be_left_out(field: Field) -> bool:
    return NoneType in get_args(_unannotated(field.type))


def _default(field: Field) -> str:
    value = field.default
    if field.is_duration and isinstance(value, float):
        return f'`"{format_duration(value)}"`'
    if value is None and not _may_be_left_out(field):
        return "required"
    if value in ("", (), {}, None):
        return "none"
    return f"`{msgspec.json.encode(value).decode()}`"


def events_page() -> list[str]:
    kinds = all_kinds()
    lines = EVENTS_INTRO.splitlines()
    for kind in sorted(kinds):
        lines += _struct_lines(kinds[kind], f"## `{kind}`")
    nested = _nested_structs(kinds)
    lines += ["", "## Records inside events"]
    for struct in nested:
        lines += _struct_lines(struct, f"### `{struct.__name__}`")
    return lines


def _struct_lines(struct: type[msgspec.Struct], heading: str) -> list[str]:
    lines = ["", heading, ""]
    if struct.__dict__.get("__doc__"):
        lines += [*(line.strip() for line in str(struct.__doc__).strip().splitlines()), ""]
    fields = msgspec.structs.fields(struct)
    if not fields:
        return [*lines, "No fields."]
    lines += ["| field | type | default |", "|---|---|---|"]
    for field in fields:
        lines.append(f"| `{field.encode_name}` | {_cell(_event_type(field.type))} | {_event_default(field)} |")
    return lines


def _event_default(field: msgspec.structs.FieldInfo) -> str:
    if field.default is UNSET:
        return "unchanged"
    if field.default is NODEFAULT and field.default_factory is NODEFAULT:
        return "required"
    value = field.default if field.default is not NODEFAULT else field.default_factory()
    return f"`{msgspec.json.encode(value).decode()}`"


def _event_type(hint: Any) -> str:
    if get_origin(hint) in (Union, UnionType):
        parts = [_event_type(part) for part in get_args(hint) if part is not UnsetType]
        return " or ".join(parts)
    if get_origin(hint) is tuple:
        return f"list of {_event_type(get_args(hint)[0])}"
    if hint is NoneType:
        return "null"
    names = {str: "text", int: "integer", float: "number", bool: "true or false"}
    plain = getattr(hint, "__supertype__", hint)
    if plain in names:
        return names[plain]
    if hasattr(plain, "__members__"):
        return ", ".join(f"`{member.value}`" for member in plain if member.value)
    return f"`{plain.__name__}`"


def _nested_structs(kinds: dict[str, type[Event]]) -> list[type[msgspec.Struct]]:
    """Structs that fields of events hold, in the order of their names."""
    found = {struct for event in kinds.values() for struct in _structs_below(event)}
    return sorted(found, key=lambda struct: struct.__name__)


def _structs_below(struct: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for field in msgspec.structs.fields(struct):
        for hint in (field.type, *get_args(field.type)):
            if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
                yield hint
                yield from _structs_below(hint)


def api_page() -> list[str]:
    lines = [*API_INTRO.splitlines(), "", "| request | what it gives or does |", "|---|---|"]
    lines += [f"| [`{one.method} {one.path}`](#{_anchor(one)}) | {one.summary} |" for one in ENDPOINTS]
    lines.append("| [`GET /events`](#get-events) | What happens, as it happens |")
    for one in ENDPOINTS:
        lines += ["", f"## `{one.method} {one.path}`", "", f"{one.summary}.", *_details(one)]
    lines += ["", *STREAM_TEXT.splitlines(), *_table("query", StreamQuery)]
    return [*lines, "", *api_commands.lines()]


def _anchor(one: Endpoint[Any, Any]) -> str:
    kept = "".join(letter for letter in f"{one.method} {one.path}".lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def _details(one: Endpoint[Any, Any]) -> Iterator[str]:
    yield from _table("query", one.query)
    if one.body is not NoBody:
        yield from _table("body", one.body)
        for kind in _body_structs(one.body):
            yield from _table(f"of `{kind.__name__}`", kind)
    yield from ("", f"Answer: {', '.join(f'`{field.encode_name}`' for field in msgspec.structs.fields(one.answer))}.")


def _table(title: str, kind: type[msgspec.Struct]) -> Iterator[str]:
    fields = msgspec.structs.fields(kind)
    if not fields:
        return
    if about := " ".join((kind.__dict__.get("__doc__") or "").split()):
        yield from ("", about)
    yield from ("", f"| {title} | type | default |", "|---|---|---|")
    for field in fields:
        default = "required" if field.required else _api_default(field)
        words = _api_type(field.type)
        yield f"| `{field.encode_name}` | {words.removesuffix(' or null') if title == 'query' else words} | {default} |"


def _api_default(field: msgspec.structs.FieldInfo) -> str:
    value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    if value is UNSET:
        return "unchanged"
    return "none" if value in ("", (), [], {}, None) else f"`{msgspec.json.encode(value).decode()}`"


def _body_structs(kind: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for field in msgspec.structs.fields(kind):
        for part in _parts(field.type):
            if isinstance(part, type) and issubclass(part, msgspec.Struct):
                yield part
                yield from _body_structs(part)


def _parts(hint: Any) -> Iterator[Any]:
    yield hint
    for part in get_args(hint):
        yield from _parts(part)


def _api_type(hint: Any) -> str:
    if hasattr(hint, "__metadata__"):
        return f"{_api_type(hint.__origin__)}{''.join(map(_bounds, hint.__metadata__))}"
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(_api_type(part) for part in parts if part is not UnsetType)
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if origin in (tuple, list):
        return f"list of {_api_type(parts[0])}"
    return _PLAIN_TYPES.get(hint) or f"`{hint.__name__}`"


def _bounds(meta: Meta) -> str:
    low, high = (meta.ge if meta.ge is not None else meta.gt), meta.le
    if low is not None and high is not None:
        return f", {low} to {high:,}" if high < 2**53 else f", from {low}"
    if meta.max_length is not None:
        return f", at most {meta.max_length}"
    return ""


if __name__ == "__main__":
    sys.exit(main())
