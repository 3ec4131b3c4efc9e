"""Options and arguments that several commands take."""

import click

from paddock.core.durations import parse_duration
from paddock.core.errors import Misuse

prints_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Duration(click.ParamType[float]):
    """`90s`, `10m`, `1h30m`, and `0`, which needs no unit; the command gets seconds."""

    name = "duration"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        try:
            return parse_duration("0s" if value.strip() == "0" else value)
        except ValueError as error:
            named = f"{max(param.opts, key=len)}: " if param is not None else ""
            raise Misuse(f"{named}{error}") from None


DURATION = Duration()
