"""What `bench.terminal` measures `paddock top` against: Textual's own table of as many rows, and a clock.

python -m bench.plain_app ROWS
"""

import sys
import time
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Static

CELLS = ("approval", "Parse ISO 8601 durations", "1 commit", "12m", "$1.25", "+14 −5")


class PlainApp(App[None]):
    CSS = "#clock { height: 1; } DataTable { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("j", "down")]

    def compose(self) -> ComposeResult:
        yield Static(id="clock")
        yield DataTable(cursor_type="row")

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns("id", *(f"column {number}" for number in range(len(CELLS))))
        for number in range(int(sys.argv[1])):
            table.add_row(f"t{number}", *CELLS)
        self.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        self.query_one("#clock", Static).update(f"ready {time.strftime('%H:%M:%S')}")

    def action_down(self) -> None:
        self.query_one(DataTable).action_cursor_down()


if __name__ == "__main__":
    PlainApp(ansi_color=True).run()
