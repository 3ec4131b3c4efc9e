"""One writer at a time: an flock beside the dataset."""

import fcntl
import os
import time
from pathlib import Path

from paddock.insight.dataset.trouble import locked

WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.05
_TRY = fcntl.LOCK_EX | fcntl.LOCK_NB


class DatasetLock:
    """Taken and released again and again by the one who opened it."""

    def __init__(self, dataset: Path, wait_seconds: float = WAIT_SECONDS) -> None:
        self._dataset = dataset
        self._wait_seconds = wait_seconds
        self._descriptor = os.open(dataset.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def take(self) -> None:
        """Raises DatasetUnusable when somebody else has held it for too long."""
        deadline = time.monotonic() + self._wait_seconds
        while True:
            try:
                fcntl.flock(self._descriptor, _TRY)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise locked(self._dataset) from None
                time.sleep(_POLL_SECONDS)
            else:
                return

    def release(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._descriptor)
