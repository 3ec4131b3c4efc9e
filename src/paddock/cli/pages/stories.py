"""`paddock queue why` and `paddock show r7`: the story of a change, of a CI run and of main, for people."""

import shlex
import time
from collections.abc import Iterator, Sequence

import click

from paddock.cli.terminal.text import age, clock, cut, paint, plural, print_json
from paddock.core.ids import TaskId
from paddock.core.merge.model import Queue
from paddock.core.tasks.landing import next_step
from paddock.fleet.landing.ci_output import last_lines, output_of, steps_of
from paddock.fleet.landing.conflicts import BothSides, both_sides
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace
from paddock.views.queue import history, stories
from paddock.views.queue.halts import cure_of

SHOWN_OUTPUT = 20


def line_text(line: history.StoryLine) -> str:
    return f"{clock(line.at)}  {cut(line.words, 200)}"


def end_of_run(site: Site, runs: Sequence[str], count: int = 5) -> list[str]:
    """The last lines of the last of `runs`, under a heading; nothing when it printed nothing or is gone."""
    words = last_lines(site, runs[-1], count) if runs else ""
    if not words:
        return []
    lines = [f"  {cut(line, 200)}" for line in words.splitlines()]
    return ["", f"the end of run {runs[-1]} (`paddock tail {runs[-1]}` shows all of it):", *lines]


def tell_change(workspace: Workspace, change: str, *, as_json: bool) -> None:
    story = history.story_of_change(workspace.records, change)
    conflict = history.open_conflict(story)
    sides = None if conflict is None else both_sides(workspace.site, conflict.head, conflict.base, conflict.paths)
    if as_json:
        print_json(stories.view_change_story(change, story, conflict, sides))
        return
    for line in story:
        click.echo(line_text(line))
    if conflict is not None and sides is not None:
        _show_both_sides(conflict, sides)
    _point_to_logs(workspace.site, [line.run for line in story if line.run and line.failed])
    board = workspace.board()
    task = board.tasks.get(TaskId(change))
    step = task.unblock if task is not None and "queue why" not in task.unblock else ""
    if task is None and change not in board.queue.entries:
        step = next((next_step(old) for old in reversed(board.queue.decided) if old.id == change), "")
    if step:
        click.echo(f"\nnext: {step}")


def _show_both_sides(conflict: history.OpenConflict, sides: BothSides) -> None:
    files = " ".join(shlex.quote(path) for path in sides.paths)
    for whose, tip, text in (
        ("what it changes there", sides.head, sides.ours),
        (f"what {conflict.against or 'main'} changed there", sides.base, sides.theirs),
    ):
        click.echo(f"\n{whose} (git diff {sides.fork[:10]} {tip[:10]} -- {files}):")
        for line in text.splitlines():
            click.echo(f"  {cut(line, 200)}")


def _point_to_logs(site: Site, runs: Sequence[str]) -> None:
    if not runs:
        return
    click.echo(
        f"\nthe end of run {runs[-1]} ({plural(len(set(runs)), 'failed run')}; logs in {site.run_folder(runs[-1])}):"
    )
    for line in last_lines(site, runs[-1], 20).splitlines():
        click.echo(f"  {cut(line, 200)}")


def tell_run(workspace: Workspace, run: str, *, as_json: bool) -> None:
    story, site = history.story_of_run(workspace.records, run), workspace.site
    if as_json:
        folder = site.run_folder(run)
        steps = [
            stories.StepView(step.turn.number, step.name, output_of(site, step).size()) for step in steps_of(site, run)
        ]
        print_json(stories.view_run_story(story, str(folder), steps, last_lines(site, run).splitlines()))
        return
    for line in _run_lines(story, site):
        click.echo(line)


def _run_lines(story: history.RunStory, site: Site) -> Iterator[str]:
    started, ended = story.started, story.ended
    took = age(story.began, story.over)
    yield f"{paint(started.run, bold=True)}  {started.purpose.value} of {cut(story.tested, 120)}"
    yield f"  {story.state} {'after' if story.over is not None else 'for'} {took}"
    rows = (
        ("because", ended.note if ended is not None else ""),
        ("known", f"from {ended.reused}, which passed the same tree" if ended is not None and ended.reused else ""),
        ("confirms", started.confirms or ""),
        ("base", started.base),
        ("commit", started.commit),
        ("tree", started.tree),
        ("log", str(site.run_folder(started.run))),
    )
    yield from (f"  {name:<9} {cut(value, 200)}" for name, value in rows if value)
    yield ""
    yield from map(line_text, story.events)
    output = end_of_run(site, (started.run,), SHOWN_OUTPUT)
    yield from output
    if not output and not (ended is not None and ended.reused):
        kept = steps_of(site, started.run)
        yield "\nit printed nothing" if kept or story.over is None else "\nits output has been deleted"


def tell_main(workspace: Workspace, *, as_json: bool) -> None:
    queue, site = workspace.board().queue, workspace.site
    story = history.story_of_main(workspace.records)
    bad = [line.run for line in story if line.failed]
    red = queue.main is None or queue.main.verified_by is None or queue.halted is not None
    shown = bad[-1:] if red else []
    if as_json:
        print_json(stories.view_main_story(queue, story, last_lines(site, shown[0]).splitlines() if shown else []))
        return
    click.echo(_where(workspace, queue))
    if queue.halted is not None:
        click.echo(paint(f"halted: {cut(queue.halted.reason, 300)}", "red"))
        for line in cure_of(queue.halted, time.time()):
            click.echo(line)
    if len(story) > stories.SHOWN_EVENTS:
        click.echo(f"\n… {len(story) - stories.SHOWN_EVENTS:,} earlier events; `paddock log --kind 'queue.*'` has them")
    for words in ("", *map(line_text, story[-stories.SHOWN_EVENTS :])):
        click.echo(words)
    for line in end_of_run(site, shown, SHOWN_OUTPUT):
        click.echo(line)


def _where(workspace: Workspace, queue: Queue) -> str:
    if queue.main is None:
        return f"{workspace.config.landing_branch} has not been checked yet: nothing has been queued"
    by = queue.main.verified_by
    words = f"verified by {by}" if by is not None else "not verified"
    return f"{workspace.config.landing_branch} is at {queue.main.commit[:10]}, {words}"
