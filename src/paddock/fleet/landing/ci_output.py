"""What CI printed: one output per step of a run, both streams in the order they were written."""

from dataclasses import dataclass

from paddock.core.ids import RUN_OWNER
from paddock.core.plaintext import plain_lines
from paddock.fleet.site import Site
from paddock.sessions.protocol import OutputReader, Stream, Turn

SHOWN_LINES = 40
READ_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class CiStep:
    """The set-up (number 0) or a check of a run."""

    turn: Turn
    name: str


def step_turn(run: str, number: int) -> Turn:
    return Turn(f"{RUN_OWNER}{run}", number)


def note_step(site: Site, run: str, number: int, name: str) -> None:
    """Before its process is started: which check this is, for whoever reads its output later."""
    (site.run_folder(run) / f"turn-{number}.step").write_text(name, encoding="utf-8")


def steps_of(site: Site, run: str) -> list[CiStep]:
    """Those that have begun, in order; none when the janitor has deleted what an old run wrote."""
    noted = [(path.stem.removeprefix("turn-"), path) for path in site.run_folder(run).glob("turn-*.step")]
    found = [(int(number), path) for number, path in noted if number.isdecimal()]
    return [
        CiStep(step_turn(run, number), path.read_text(encoding="utf-8", errors="replace"))
        for number, path in sorted(found)
    ]


def output_of(site: Site, step: CiStep, offset: int = 0) -> OutputReader:
    return site.sessions.output(step.turn, Stream.STDOUT, offset)


def last_lines(site: Site, run: str, count: int = SHOWN_LINES) -> str:
    """The end of what the last step of a run printed, as plain text."""
    for step in reversed(steps_of(site, run)):
        if words := last_lines_of(site, step.turn, count):
            return words
    return ""


def last_lines_of(site: Site, turn: Turn, count: int = SHOWN_LINES, stream: Stream = Stream.STDOUT) -> str:
    text = site.sessions.tail(turn, stream, READ_BYTES)
    lines = plain_lines(text)
    if len(text.encode()) >= READ_BYTES and len(lines) > 1:
        del lines[0]
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines[-count:])
