"""The page about filters: its table of fields and its mistake are made by the code it tells of."""

from pathlib import Path

from paddock.core.filter.errors import FilterError
from paddock.core.filter.fields import FIELDS, TaskField, Values
from paddock.core.filter.parser import parse_filter

PAGE = Path(__file__).with_name("filter_page.md")
MISTAKE = "agent=fixer and phase=bloked"
MORE_EXAMPLES = {
    "id": ("id>=t100",),
    "title": ("title=fix*",),
    "outcome": ('outcome=""',),
    "need": ("need=*",),
    "convoy": ('convoy=""',),
    "held": ("held=ana",),
    "age": ("age<=1d12h",),
    "cost": ("cost>$2", 'cost=""'),
    "reason": ("reason=conflict",),
}


def lines(made: str) -> list[str]:
    rows = ["| field | holds | for example |", "|---|---|---|", *map(_row, FIELDS.values())]
    page = PAGE.read_text("utf-8").replace("{MADE}", made).replace("{MISTAKE}", _mistake())
    return page.replace("{FIELDS}", "\n".join(rows)).split("\n")


def _row(field: TaskField) -> str:
    examples = ", ".join(f"`{text}`" for text in (field.example, *MORE_EXAMPLES.get(field.name, ())))
    return f"| `{field.name}` | {field.about}{_values(field)} | {examples} |"


def _values(field: TaskField) -> str:
    if field.name == "outcome":
        return ", one of the [outcomes](../concepts.md#outcomes-of-an-attempt)"
    if field.choices:
        return f": {', '.join(f'`{choice}`' for choice in field.choices)}"
    return "; `=` finds words in it, and with `*` compares the whole of it" if field.values is Values.TEXT else ""


def _mistake() -> str:
    try:
        parse_filter(MISTAKE)
    except FilterError as error:
        return f"```text\nerror: {error.message}\n\nhint: {error.hint}\n```"
    raise AssertionError(f"`{MISTAKE}` is no mistake")
