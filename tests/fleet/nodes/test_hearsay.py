"""What providers tell agents on nodes reaches the daemon once, in whole lines, however the file is cut or replaced."""

from pathlib import Path

from paddock.core.events import AttemptEnded
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.core.trace import RateLimited, TraceEntry, TroubleKind
from paddock.fleet.nodes import hearsay
from paddock.fleet.nodes.hearsay import Hearsay, Place, read_heard, repeat_heard

END = AttemptEnded(Outcome.THROTTLED, Step.RETRY, False)


class Ear:
    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def hear(self, account: str, entry: TraceEntry, *, is_first: bool) -> None:
        self.heard.append((account, type(entry).__name__))

    def hear_end(self, engine: str, task: str, started: float, end: AttemptEnded) -> None:
        self.heard.append((engine, end.outcome.value))


def test_what_was_heard_is_repeated_once_and_in_order(tmp_path: Path) -> None:
    file, ear = tmp_path / "heard.jsonl", Ear()
    told = Hearsay(file)
    told.hear("team", RateLimited(TroubleKind.PER_MINUTE), is_first=True)
    lines, place = read_heard(file, Place())
    repeat_heard(lines, ear)
    told.hear_end("claude", "t1", 1.0, END)
    with file.open("ab") as torn:
        torn.write(b'{"type": "end", "engine": "cod')
    lines, place = read_heard(file, place)
    repeat_heard(lines, ear)
    assert ear.heard == [("team", "RateLimited"), ("claude", "throttled")]
    assert read_heard(file, place) == (b"", place), "half a line waits for its end"


def test_a_file_that_has_grown_too_long_is_begun_anew_and_read_from_its_beginning(tmp_path: Path) -> None:
    file, ear = tmp_path / "heard.jsonl", Ear()
    told = Hearsay(file)
    told.hear_end("claude", "t1", 1.0, END)
    _, place = read_heard(file, Place())
    with file.open("ab") as filler:
        filler.write(b"x" * hearsay.MOST_BYTES + b"\n")
    told.hear_end("codex", "t2", 1.0, END)
    told.hear_end("aider", "t3", 1.0, END)
    lines, _ = read_heard(file, place)
    repeat_heard(lines, ear)
    assert ("aider", "throttled") in ear.heard
    assert file.stat().st_size < hearsay.MOST_BYTES


def test_lines_of_another_version_are_passed_over() -> None:
    ear = Ear()
    repeat_heard(b'{"type": "song"}\nnot json\n', ear)
    assert ear.heard == []
