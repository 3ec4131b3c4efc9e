"""What `paddock traces import` prints."""

from collections.abc import Iterator, Sequence

from paddock.cli.terminal.text import cut, paint, plural, width
from paddock.views.insight.imports import ImportView, SkippedView

LABELS_SHOWN = 8
REASONS_SHOWN = 8


def import_lines(view: ImportView) -> Iterator[str]:
    verb = "would import" if view.dry_run else "imported"
    formats = ", ".join(f"{one.count:,} as {one.name}" for one in view.formats)
    files = plural(view.files, "file")
    if view.runs:
        yield f"{verb} {plural(view.runs, 'run')} with {plural(view.steps, 'step')} from {files}"
    else:
        yield f"found no run in {files}" if not view.doubled else f"found nothing new in {files}"
    if formats:
        yield f"  taken as  {formats}"
    yield from _labels(view)
    if view.merged:
        yield f"  merged    {plural(view.merged, 'record')} with others of the same run"
    if view.doubled:
        tell = "tells" if view.doubled == 1 else "tell"
        yield f"  left out  {plural(view.doubled, 'record')} that {tell} nothing new of a run"
    if view.renamed:
        yield f"  renamed   {plural(view.renamed, 'run')} whose name another run has"
    yield from _reasons("skipped", view.skipped)
    yield from _reasons("cut", view.cut)
    for warning in view.warnings:
        yield paint("warning: ", "yellow") + cut(warning, max(200, width() - 10))
    if view.runs and not view.dry_run:
        label = view.labels[0].name
        yield f"`paddock traces list --label {_quoted(label)}` lists them"


def _labels(view: ImportView) -> Iterator[str]:
    for number, one in enumerate(view.labels[:LABELS_SHOWN]):
        yield f"  {'label' if not number else '':<9} {cut(one.name, 60)}  {plural(one.count, 'run')}"
    if len(view.labels) > LABELS_SHOWN:
        yield f"  {'':<9} and {plural(len(view.labels) - LABELS_SHOWN, 'more label')}"


def _reasons(title: str, told: Sequence[SkippedView]) -> Iterator[str]:
    for number, one in enumerate(told[:REASONS_SHOWN]):
        reason = cut(one.reason, max(30, width() - 60))
        places = ", ".join(cut(place.rpartition("/")[2], 40) for place in one.places)
        more = " …" if one.count > len(one.places) else ""
        yield f"  {title if not number else '':<9} {one.count:,} × {reason}: {paint(places + more, dim=True)}"
    if rest := told[REASONS_SHOWN:]:
        yield f"  {'':<9} {sum(one.count for one in rest):,} × for {plural(len(rest), 'other reason')}"


def _quoted(label: str) -> str:
    import shlex

    return shlex.quote(label)
