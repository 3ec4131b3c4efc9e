"""An agent without a fence can write to its own record; what it plants there holds no reader up and leads none away."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.sessions.detached import DetachedSessions
from paddock.sessions.protocol import Exited, NeverStarted, Stream, Turn, Vanished
from tests.sessions.conftest import Workshop, no_checkpoint

SECRET = "the word of somebody else"


def plant_pipe(path: Path) -> None:
    os.mkfifo(path)


def plant_folder(path: Path) -> None:
    path.mkdir()


def plant_link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.write_text(f"{SECRET}\n")
    path.symlink_to(elsewhere)


def plant_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.fixture(params=[plant_pipe, plant_folder, plant_link, plant_device])
def plant(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    def planted(path: Path) -> None:
        path.unlink(missing_ok=True)
        request.param(path)

    return planted


def sessions_of(workshop: Workshop) -> DetachedSessions:
    return DetachedSessions(workshop.marker, lambda _owner: workshop.folder, no_checkpoint)


@pytest.mark.parametrize("ending", ["out", "err", "logs", "times"])
def test_what_is_planted_for_output_reads_as_nothing(
    workshop: Workshop, plant: Callable[[Path], None], ending: str
) -> None:
    workshop.run(workshop.shell("echo words; echo words >&2"))
    plant(workshop.folder / f"turn-1.{ending}")
    sessions, turn = sessions_of(workshop), Turn("t1.1", 1)
    assert isinstance(sessions.observe(turn), Exited)
    for stream in (Stream.STDOUT, Stream.STDERR):
        assert sessions.tail(turn, stream, 1000) in ("", "words\n")
        reader = sessions.output(turn, stream)
        assert [line.text for line in reader.read()] in ([], ["words"])
        assert reader.at_end
        assert reader.size() in (0, len("words\n"))
        assert reader.written_at(0) is None
    assert [stream for stream, _ in sessions.outputs(turn)] == [Stream.STDOUT, Stream.STDERR]
    assert sessions.bound(turn, 10)


@pytest.mark.parametrize(("ending", "expected"), [("exit", Vanished), ("pid", NeverStarted)])
def test_what_is_planted_for_the_record_is_no_record(
    workshop: Workshop, plant: Callable[[Path], None], ending: str, expected: type
) -> None:
    workshop.run(workshop.shell("true"))
    plant(workshop.folder / f"turn-1.{ending}")
    assert isinstance(workshop.state(), expected)


def test_a_turn_does_not_start_into_what_an_earlier_one_planted(
    workshop: Workshop, plant: Callable[[Path], None]
) -> None:
    plant(workshop.folder / "turn-2.out")
    with pytest.raises(PaddockError, match=r"turn-2\.out` is not a regular file"):
        workshop.start(workshop.shell("echo overwritten", turn=2))
    elsewhere = workshop.root / "elsewhere"
    assert not elsewhere.exists() or elsewhere.read_text() == f"{SECRET}\n"
