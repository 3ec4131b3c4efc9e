"""When a turn wrote what: most engines print no times, and a file keeps only that of its last byte.

Whoever follows a turn notes now and then how long its output is and when that was written, one line each, in
`turn-N.times`. It is a hint for readers: lost or torn, it costs them some times and nothing else.
"""

from bisect import bisect_left
from pathlib import Path

from paddock.sessions.regular import open_regular, stat_regular

INTERVAL_SECONDS = 1.0
SLOWER_PER_NOTE = 0.001  # the file of the longest turn stays small: after n notes the next is n ms later
MOMENTS_BYTES = 4 * 1024 * 1024


def moments_path(output: Path) -> Path:
    return output.with_suffix(".times")


class MomentsWriter:
    """Notes how `output` grows, at most about once a second. After a restart it goes on at the file's end."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._noted_bytes = 0
        self._noted_at = 0.0
        self._notes = 0

    def note(self, *, is_last: bool = False) -> None:
        now = stat_regular(self._output)
        if now is None:
            return
        pause = INTERVAL_SECONDS + self._notes * SLOWER_PER_NOTE
        if now.st_size <= self._noted_bytes or (not is_last and now.st_mtime < self._noted_at + pause):
            return
        try:
            with open(moments_path(self._output), "a", encoding="ascii", opener=open_regular) as file:
                file.write(f"{now.st_size} {now.st_mtime:.1f}\n")
        except OSError:
            return
        self._noted_bytes, self._noted_at, self._notes = now.st_size, now.st_mtime, self._notes + 1


class Moments:
    """When the parts of `output` were written, as far as it was noted."""

    def __init__(self, output: Path) -> None:
        self._path = moments_path(output)
        self._bytes: list[int] = []
        self._times: list[float] = []
        self._read_bytes = 0

    def at(self, offset: int) -> float | None:
        """When the byte at `offset` was there; None when nobody has noted that far."""
        if not self._bytes or self._bytes[-1] <= offset:
            self._read_on()
        found = bisect_left(self._bytes, offset + 1)
        return self._times[found] if found < len(self._times) else None

    def _read_on(self) -> None:
        try:
            with open(self._path, "rb", opener=open_regular) as file:
                file.seek(self._read_bytes)
                data = file.read(MOMENTS_BYTES)
        except OSError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            size, _, at = line.partition(b" ")
            try:
                noted = int(size), float(at)
            except ValueError:
                continue
            if not self._bytes or noted[0] > self._bytes[-1]:
                self._bytes.append(noted[0])
                self._times.append(noted[1])
