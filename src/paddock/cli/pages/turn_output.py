"""One turn of an attempt, printed as it is read: lines become trace entries, entries become words or JSON."""

import sys
import time
from dataclasses import dataclass

import click

from paddock.cli.pages.transcript import PartialText, render_entry, stamp
from paddock.cli.terminal.text import cut, paint, print_json_line
from paddock.core import summary, trace
from paddock.core.plaintext import defuse
from paddock.core.tasks.task import Attempt
from paddock.engines.bridge_lines import reading_parser
from paddock.engines.protocol import Source
from paddock.fleet.attempts.openings import Opening
from paddock.fleet.site import Site
from paddock.sessions.protocol import Line, OutputReader, Turn
from paddock.views.tasks.details import view_entry, view_opening

SHOWN_LINES = 12


@dataclass(frozen=True, slots=True)
class Manner:
    """How to show it. `live`: someone is watching it arrive. `unsafe`: raw, byte for byte."""

    raw: bool = False
    as_json: bool = False
    live: bool = False
    unsafe: bool = False


class TurnOutput:
    def __init__(self, site: Site, attempt: Attempt, turn: int, how: Manner) -> None:
        self._how = how
        self._parser = reading_parser(site.engine(attempt.engine))
        self._summary = summary.TurnSummary()
        self._partial = PartialText()
        self._is_over = False
        found = [(reader, Source(stream.value)) for stream, reader in site.sessions.outputs(Turn(attempt.id, turn))]
        self._readers = [(reader, source) for reader, source in found if source is not Source.LOG or not how.raw]

    def open(self, opening: Opening | None) -> None:
        """What started the turn."""
        if opening is None or self._how.raw:
            return
        if self._how.as_json:
            print_json_line(view_opening(opening))
        else:
            click.echo("\n".join(_opening_lines(opening)))

    def show_new(self) -> None:
        for reader, source in self._readers:
            while (lines := reader.read()) or not reader.at_end:
                for line in lines:
                    self._show(line, source, reader)
        sys.stdout.flush()

    def show_rest(self) -> None:
        """Prints all of a finished turn, once."""
        if self._is_over:
            return
        self._is_over = True
        self.show_new()
        for reader, source in self._readers:
            for line in reader.finish():
                self._show(line, source, reader)
        if self._how.raw:
            return
        for entry in self._parser.close():
            self._print(entry, None)
        self.show_unfinished()
        if not self._summary.usage_told and summary.uncounted_calls(self._summary) and not self._how.as_json:
            click.echo(paint("  tokens unknown: the engine has not reported them", dim=True))

    def show_unfinished(self) -> None:
        """The beginning of an answer that is not finished yet."""
        if not self._how.as_json and (text := self._partial.unfinished()):
            click.echo(paint(f"{text} …", dim=True))

    def _show(self, line: Line, source: Source, reader: OutputReader) -> None:
        if self._how.raw:
            write_raw(line.text.encode("utf-8", "surrogateescape") + b"\n", self._how)
            return
        at = reader.written_at(line.offset) if source is Source.STDOUT else None
        if at is None and self._how.live and source is Source.STDOUT:
            at = time.time()
        for entry in self._parser.feed(line.text.encode("utf-8", "surrogateescape"), source):
            self._print(entry, at)

    def _print(self, entry: trace.TraceEntry, at: float | None) -> None:
        self._summary = summary.observe(self._summary, entry)
        if self._how.as_json:
            print_entry(entry, at, as_json=True)
        elif isinstance(entry, trace.Partial):
            self._partial.add(entry.text)
            if self._how.live and (piece := self._partial.fresh()):
                sys.stdout.write(piece)
        elif isinstance(entry, trace.Text) and (rest := self._partial.settle(entry.text)) is not None:
            sys.stdout.write(f"{rest}\n")
        else:
            print_entry(entry, at, as_json=False)


def write_raw(line: bytes, how: Manner) -> None:
    sys.stdout.buffer.write(line if how.unsafe else defuse(line))


def print_entry(entry: trace.TraceEntry, at: float | None, *, as_json: bool) -> None:
    if as_json:
        print_json_line(view_entry(entry, at))
    elif words := render_entry(entry):
        click.echo(stamp(at, words))


def _opening_lines(opening: Opening) -> list[str]:
    clock = time.strftime("%H:%M:%S", time.localtime(opening.at))
    lines = [paint(f"── turn {opening.turn} at {clock}", bold=True)]
    for one in opening.said:
        lines.append(paint(f"{one.what} from {cut(one.by, 40)}:", dim=True))
        text = one.text.strip().splitlines()
        lines += [f"│ {cut(line, 200)}" for line in text[:SHOWN_LINES]]
        lines += [f"│ … {len(text) - SHOWN_LINES} more lines"] if len(text) > SHOWN_LINES else []
    return lines
