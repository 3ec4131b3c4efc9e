"""`paddock tail r7`: what a CI run printed, both streams in order, each check under its name."""

import sys
from contextlib import closing

import click

from paddock.cli.pages.turn_output import Manner, write_raw
from paddock.cli.terminal.text import cut, paint, print_json_line
from paddock.core.errors import PaddockError
from paddock.core.plaintext import plain_line
from paddock.fleet.landing.ci_output import CiStep, steps_of
from paddock.fleet.workspace import Workspace
from paddock.sessions.protocol import OutputReader, Sessions, Stream, Turn
from paddock.views.document import document
from paddock.views.queue.history import story_of_run

POLL_SECONDS = 0.5


def tail_run(workspace: Workspace, run: str, how: Manner) -> None:
    story = story_of_run(workspace.records, run)
    site = workspace.site
    if story.ended is not None and not steps_of(site, run):
        known = story.ended.reused
        why = f"`{known}` already passed the same tree" if known else "its output has been deleted"
        raise PaddockError(f"CI run `{run}` has nothing to show: {why}", f"`paddock show {known or run}`")
    showing = _Showing(site.sessions, run, how)
    showing.show(steps_of(site, run), to_the_end=story.ended is not None)
    if not how.live:
        return
    with closing(workspace.read()) as store, store.listen() as listener:
        while run in store.board().queue.running:
            listener.wait(POLL_SECONDS)
            showing.show(steps_of(site, run), to_the_end=False)
    showing.show(steps_of(site, run), to_the_end=True)
    ended = story_of_run(workspace.records, run)
    note = f": {cut(ended.ended.note, 140)}" if ended.ended is not None and ended.ended.note else ""
    click.echo(paint(f"── {run} {ended.state}{note}", bold=True), err=True)


class _Showing:
    """Prints the lines of a run's steps, each once, as they come."""

    def __init__(self, sessions: Sessions, run: str, how: Manner) -> None:
        self._sessions, self._run, self._how = sessions, run, how
        self._readers: dict[Turn, OutputReader] = {}

    def show(self, steps: list[CiStep], *, to_the_end: bool) -> None:
        for step in steps:
            if step.turn not in self._readers:
                self._readers[step.turn] = self._sessions.output(step.turn, Stream.STDOUT)
                if not self._how.raw and not self._how.as_json:
                    click.echo(paint(f"── {cut(step.name, 60)}", dim=True))
            reader = self._readers[step.turn]
            while (lines := reader.read()) or not reader.at_end:
                for line in lines:
                    self._print(step, line.text)
            for line in reader.finish() if to_the_end else ():
                self._print(step, line.text)
        sys.stdout.flush()

    def _print(self, step: CiStep, text: str) -> None:
        if self._how.raw:
            write_raw(text.encode("utf-8", "surrogateescape") + b"\n", self._how)
        elif self._how.as_json:
            plain = plain_line(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            print_json_line(document(run=self._run, check=step.name, text=plain))
        else:
            click.echo(cut(plain_line(text).expandtabs(), 2000))
