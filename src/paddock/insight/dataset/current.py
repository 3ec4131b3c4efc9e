"""The dataset of a repository, as whoever asks for it gets it."""

from pathlib import Path
from typing import TYPE_CHECKING

from paddock.core.errors import words_of
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.trouble import REBUILD, DatasetUnusable

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace
    from paddock.insight.dataset.renewal import Hear


def open_current(workspace: "Workspace", hear: "Hear | None" = None) -> Dataset:
    """With what the fleet has done so far, unless that cannot be taken in now: then it says `behind` why not. Its
    `lack` says what became of a damaged one, and how many imports are missing.

    Raises DatasetUnusable where nothing can be read, and LogUnusable where there is no log.
    """
    from paddock.insight.dataset.renewal import bring_up_to_date

    path, behind, aside = dataset_path(workspace.state_dir), "", None
    try:
        aside = bring_up_to_date(workspace, path, hear)
    except DatasetUnusable as error:
        behind = error.message
        try:
            dataset = Dataset.open(path)
        except DatasetUnusable:
            raise error from None
    else:
        dataset = Dataset.open(path)
    dataset.behind, dataset.lack = behind, _lack(dataset, aside)
    return dataset


def _lack(dataset: Dataset, aside: Path | None) -> str:
    """`aside` is where a damaged one was laid just now."""
    from paddock.insight.dataset.renewal import place_aside

    try:
        missing = sum(source.is_missing for source in dataset.sources())
    except DatasetUnusable as error:
        return words_of(error)
    imports = "1 import is" if missing == 1 else f"{missing:,} imports are"
    if aside is not None:
        rest = f"{imports} missing or incomplete: {REBUILD}" if missing else "attempts were taken in again"
        return f"the dataset could not be read, and lies at `{aside}`; {rest}"
    if not missing:
        return ""
    before = place_aside(dataset.path)
    why = f" since a damaged dataset was laid aside as `{before}`" if before.exists() else ""
    return f"{imports} missing or incomplete{why}: {REBUILD}"
