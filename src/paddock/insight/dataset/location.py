"""Where a repository's dataset is."""

from pathlib import Path


def dataset_folder(state_dir: Path) -> Path:
    """Beside the log: the dataset, and what imported runs are made again from."""
    return state_dir / "insight"


def dataset_path(state_dir: Path) -> Path:
    return dataset_folder(state_dir) / "traces.db"
