"""What a CI run printed, a part at a time, as JSON."""

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.core.plaintext import plain_line
from paddock.fleet.landing.ci_output import CiStep, output_of, steps_of
from paddock.fleet.raw_output import read_part
from paddock.fleet.site import Site
from paddock.views.document import Document
from paddock.views.queue.stories import StepView


class RunLogView(Document, frozen=True, kw_only=True):
    """One step of a run. Ask for what follows with `after` = `end`; without it, the end comes. `live`: more will."""

    run: str
    step: int
    name: str
    steps: list[StepView]
    text: str
    start: int
    end: int
    size: int
    live: bool


def view_run_log(site: Site, run: str, step: int | None, after: int | None, *, is_live: bool) -> RunLogView:
    """Without `step` the last that has begun. Raises PaddockError if there is none, or none with that number."""
    steps = steps_of(site, run)
    if not steps:
        why = "it has printed nothing yet" if is_live else "its output has been deleted, or it needed no tests"
        raise PaddockError(f"CI run `{printable(run, 20)}` has nothing to show: {why}", f"see `paddock show {run}`")
    found = next((one for one in steps if step in (None, one.turn.number)), None) if step is not None else steps[-1]
    if found is None:
        raise PaddockError(
            f"CI run `{run}` has no step {step}", f"it has {', '.join(str(s.turn.number) for s in steps)}"
        )
    ahead = is_live and found is steps[-1]
    part = read_part(lambda offset: output_of(site, found, offset), after, is_over=not ahead, clean=_clean)
    return RunLogView(
        run=run,
        step=found.turn.number,
        name=printable(found.name, 80),
        steps=[_view_step(site, one) for one in steps],
        text=part.text,
        start=part.start,
        end=part.end,
        size=part.size,
        live=ahead,
    )


def _view_step(site: Site, step: CiStep) -> StepView:
    return StepView(step.turn.number, printable(step.name, 80), output_of(site, step).size())


def _clean(text: str) -> str:
    """Without colours, which say nothing here."""
    return plain_line(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
