"""The dataset of a repository, as whoever asks for it gets it."""

from typing import TYPE_CHECKING

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.trouble import DatasetUnusable

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace
    from paddock.insight.dataset.renewal import Hear


def open_current(workspace: "Workspace", hear: "Hear | None" = None) -> Dataset:
    """With what the fleet has done so far, unless that cannot be taken in now: then it says `behind` why not.

    Raises DatasetUnusable where nothing can be read, and LogUnusable where there is no log.
    """
    from paddock.insight.dataset.renewal import bring_up_to_date

    path, behind = dataset_path(workspace.state_dir), ""
    try:
        bring_up_to_date(workspace, path, hear)
    except DatasetUnusable as error:
        behind = error.message
        try:
            dataset = Dataset.open(path)
        except DatasetUnusable:
            raise error from None
    else:
        dataset = Dataset.open(path)
    dataset.behind = behind
    return dataset
