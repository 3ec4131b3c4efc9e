"""The stories of changes, CI runs and main, and what a CI run printed."""

from paddock.core.ids import is_run, parse_run
from paddock.core.intent.queue import change_named
from paddock.fleet.landing.ci_output import last_lines, steps_of
from paddock.fleet.landing.conflicts import both_sides
from paddock.sessions.protocol import Stream
from paddock.views.document import Document
from paddock.views.queue import history, stories
from paddock.views.queue.run_log import RunLogView, view_run_log
from paddock.web.endpoint import Asked, Count, NoBody, NoQuery, Visit


class WhyView(Document, frozen=True, kw_only=True):
    """The story of a change, of a CI run, or of main."""

    change: stories.ChangeStoryView | None = None
    run: stories.RunStoryView | None = None
    main: stories.MainStoryView | None = None


def read_why(visit: Visit[NoQuery, NoBody]) -> WhyView:
    workspace, board = visit.workspace, visit.board
    name = change_named(board, visit.path["change"])
    if name in ("main", workspace.config.landing_branch):
        return WhyView(main=_main_story(visit))
    if is_run(name):
        return WhyView(run=_run_story(visit, parse_run(name)))
    story = history.story_of_change(visit.store.records, name)
    conflict = history.open_conflict(story)
    sides = None if conflict is None else both_sides(workspace.site, conflict.head, conflict.base, conflict.paths)
    return WhyView(change=stories.view_change_story(name, story, conflict, sides))


def _main_story(visit: Visit[NoQuery, NoBody]) -> stories.MainStoryView:
    queue, site = visit.board.queue, visit.workspace.site
    story = history.story_of_main(visit.store.records)
    bad = [line.run for line in story if line.failed]
    red = queue.main is None or queue.main.verified_by is None or queue.halted is not None
    return stories.view_main_story(queue, story, last_lines(site, bad[-1]).splitlines() if bad and red else [])


def read_run(visit: Visit[NoQuery, NoBody]) -> stories.RunStoryView:
    return _run_story(visit, parse_run(visit.path["run"]))


def _run_story(visit: Visit[NoQuery, NoBody], run: str) -> stories.RunStoryView:
    story, site = history.story_of_run(visit.store.records, run), visit.workspace.site
    steps = [
        stories.StepView(step.turn.number, step.name, site.sessions.output(step.turn, Stream.STDOUT).size())
        for step in steps_of(site, run)
    ]
    return stories.view_run_story(story, str(site.run_folder(run)), steps, last_lines(site, run).splitlines())


class RunLogQuery(Asked, frozen=True):
    """`step` is a number of the run's steps, by default its last; `after` is the `end` of the part before. Without
    it, the end of the output is given."""

    step: Count | None = None
    after: Count | None = None


def read_run_log(visit: Visit[RunLogQuery, NoBody]) -> RunLogView:
    run, site = parse_run(visit.path["run"]), visit.workspace.site
    history.story_of_run(visit.store.records, run)  # or there is no such run
    is_live = run in visit.board.queue.running
    return view_run_log(site, run, visit.query.step, visit.query.after, is_live=is_live)
