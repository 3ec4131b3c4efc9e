"""What CI printed: one file per step of a run, both streams in the order they were written."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paddock.core.plaintext import plain_lines
from paddock.fleet.site import Site
from paddock.sessions.local import TurnFiles

SET_UP = 0
SHOWN_LINES = 40
READ_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class CiStep:
    """The set-up (number 0) or a check of a run."""

    number: int
    name: str
    files: TurnFiles

    @property
    def outputs(self) -> tuple[Path, ...]:
        """Runs of older versions have kept the streams apart."""
        return tuple(path for path in (self.files.out, self.files.err) if path.exists())


def note_step(folder: Path, number: int, name: str) -> None:
    """Before its process is started: which check this is, for whoever reads its output later."""
    _name_file(folder, number).write_text(name, encoding="utf-8")


def steps_of(folder: Path) -> list[CiStep]:
    """Those that have begun, in order; none when the janitor has deleted what an old run wrote."""
    return sorted(_find_steps(folder), key=lambda step: step.number)


def _find_steps(folder: Path) -> Iterator[CiStep]:
    for path in folder.glob("turn-*.out"):
        number = path.stem.removeprefix("turn-")
        if number.isdecimal():
            yield CiStep(int(number), _read_name(folder, int(number)), TurnFiles.of(folder, int(number)))


def last_lines(site: Site, run: str, count: int = SHOWN_LINES) -> str:
    """The end of what the last step of a run printed, as plain text."""
    for step in reversed(steps_of(site.run_folder(run))):
        if words := last_lines_of(step.files, count):
            return words
    return ""


def last_lines_of(files: TurnFiles, count: int = SHOWN_LINES) -> str:
    lines = [line for path in (files.out, files.err) for line in _end_of(path)]
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines[-count:])


def _end_of(path: Path) -> list[str]:
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - READ_BYTES))
            lines = plain_lines(file.read().decode("utf-8", "replace"))
    except FileNotFoundError:
        return []
    return lines[1:] if size > READ_BYTES and len(lines) > 1 else lines


def _read_name(folder: Path, number: int) -> str:
    try:
        return _name_file(folder, number).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return "set-up" if number == SET_UP else f"check {number}"


def _name_file(folder: Path, number: int) -> Path:
    return folder / f"turn-{number}.step"
