"""What `paddock traces import` has read, and what it could not read."""

from collections.abc import Mapping

import msgspec

from paddock.core.trace import clip
from paddock.insight.formats.import_tally import ODD_SHARE, ImportTally, Skipped
from paddock.views.document import Document

TOOLS_SHOWN = 5


class CountView(msgspec.Struct, frozen=True):
    name: str
    count: int


class SkippedView(msgspec.Struct, frozen=True):
    """`reason` is why something was skipped, or why and how it was cut. `places` are the first of them."""

    reason: str
    count: int
    places: tuple[str, ...]


class ImportView(Document, frozen=True, kw_only=True):
    """`dry_run`: nothing was written. `merged` counts records that told more of a run than others before them,
    `doubled` those that told nothing new. `formats` and `labels` count runs. `other_share` is the share of steps that
    no table of tools knows. `without_usage` counts runs that tell no tokens.
    `cut` is what was read, but is too long to be kept whole."""

    dry_run: bool
    files: int
    runs: int
    steps: int
    formats: tuple[CountView, ...]
    labels: tuple[CountView, ...]
    merged: int
    doubled: int
    renamed: int
    skipped: tuple[SkippedView, ...]
    cut: tuple[SkippedView, ...]
    other_share: float
    other_tools: tuple[CountView, ...]
    unpriced: tuple[CountView, ...]
    without_usage: int
    warnings: tuple[str, ...]


def view_import(tally: ImportTally, *, dry_run: bool) -> ImportView:
    return ImportView(
        dry_run=dry_run,
        files=tally.files,
        runs=tally.runs,
        steps=tally.steps,
        formats=_counts(tally.formats.most_common()),
        labels=_counts(sorted(tally.labels.items())),
        merged=tally.merged,
        doubled=tally.doubled,
        renamed=tally.renamed,
        skipped=_reasons(tally.skipped),
        cut=_reasons(tally.shortened),
        other_share=round(tally.odd_share, 4),
        other_tools=_counts(tally.odd_tools.most_common(TOOLS_SHOWN)),
        unpriced=_counts(tally.unpriced.most_common()),
        without_usage=tally.without_usage,
        warnings=tuple(_warnings(tally)),
    )


def _reasons(counted: Mapping[str, Skipped]) -> tuple[SkippedView, ...]:
    told = sorted(counted.items(), key=lambda one: -one[1].count)
    return tuple(SkippedView(clip(reason, 300), one.count, tuple(one.places)) for reason, one in told)


def _counts(counted: "list[tuple[str, int]]") -> tuple[CountView, ...]:
    return tuple(CountView(name, count) for name, count in counted)


def _warnings(tally: ImportTally) -> list[str]:
    found: list[str] = []
    if tally.odd_share > ODD_SHARE:
        tools = ", ".join(name or "(no name)" for name, _ in tally.odd_tools.most_common(TOOLS_SHOWN))
        found.append(f"{tally.odd_share:.0%} of the steps are of tools that Paddock does not know: {tools}")
    if tally.unpriced:
        models = ", ".join(name for name, _ in tally.unpriced.most_common(TOOLS_SHOWN))
        runs = sum(tally.unpriced.values())
        found.append(f"{runs} {'run has' if runs == 1 else 'runs have'} tokens but no price: {models}")
    if tally.without_usage and tally.runs:
        found.append(f"{tally.without_usage} of {tally.runs} runs tell nothing of the tokens they used")
    return found
