"""Making the dataset again: the fleet's attempts from the log and their output, imports from where they came from."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.insight.dataset.dataset import Dataset, Source
from paddock.insight.dataset.fleet import FleetFollower, LogMark, Looked
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.renewal import lay_aside, mark_of, take_all
from paddock.insight.dataset.writer import DatasetWriter

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace
    from paddock.insight.formats.reimport import Reimported

WAIT_SECONDS = 60.0
Hear = Callable[[str, int, int], None]
"""What is being done, and how much of how much is done; 0 of 0 where nobody knows."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """`unchanged` attempts keep the trace they had, because their output is gone. `aside` is where a dataset lies that
    could not be read, None if it could."""

    attempts: int
    unchanged: int
    imports: Sequence["Reimported"]
    aside: Path | None


def rebuild(workspace: "Workspace", hear: Hear, *, imports: bool = True) -> Rebuilt:
    """Killed anywhere, what is missing is taken in by whoever looks next. Raises DatasetUnusable, and LogUnusable where
    there is no log."""
    path = dataset_path(workspace.state_dir)
    with closing(workspace.read()) as store:
        aside = lay_aside(path, WAIT_SECONDS) if path.exists() else None
        with DatasetWriter.open(path, wait_seconds=WAIT_SECONDS) as writer:
            mark, clock = mark_of(store), workspace.site.clock
            follower = FleetFollower(workspace.site, writer, stays=False)
            unchanged = follower.start_over(store.records, mark, clock.now())

            def tell(looked: Looked, mark: LogMark) -> None:
                hear("attempts of the fleet", looked.position, mark.head)

            attempts = take_all(follower, store, mark, clock, tell)
            made = _import_again(writer, hear) if imports else []
    return Rebuilt(max(0, attempts - unchanged), unchanged, made, aside)


def _import_again(writer: DatasetWriter, hear: Hear) -> list["Reimported"]:
    from paddock.insight.formats.reimport import reimport_source

    made = []
    batches = [source.told.batch for source in _sources(writer.path)]
    for number, batch in enumerate(batches):
        # From here on nobody can forget what is about to be read.
        writer.enter()
        for source in _sources(writer.path):
            if source.told.batch == batch:
                hear(f"imports from {source.told.path}", number, len(batches))
                made.append(reimport_source(writer, source))
        writer.commit()
    return made


def _sources(path: Path) -> list[Source]:
    with Dataset.open(path) as dataset:
        return dataset.sources()
