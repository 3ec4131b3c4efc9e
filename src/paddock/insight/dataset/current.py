"""The dataset of a repository, as whoever asks for it gets it."""

from typing import TYPE_CHECKING

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.location import dataset_path
from paddock.insight.dataset.writer import DatasetWriter

if TYPE_CHECKING:
    from paddock.fleet.workspace import Workspace


def open_current(workspace: "Workspace") -> Dataset:
    """With everything that the fleet has done so far. Raises DatasetUnusable, and LogUnusable where there is no log."""
    workspace.board()
    path = dataset_path(workspace.state_dir)
    if not path.exists():
        DatasetWriter.open(path).close()
    return Dataset.open(path)
