"""When a turn wrote what."""

import os
from pathlib import Path

from paddock.sessions.moments import Moments, MomentsWriter, moments_path


def grow(output: Path, size: int, at: float) -> None:
    output.write_bytes(b"x" * size)
    os.utime(output, (at, at))


def test_a_byte_was_there_when_the_output_had_grown_beyond_it(tmp_path: Path) -> None:
    output = tmp_path / "turn-1.out"
    writer, moments = MomentsWriter(output), Moments(output)
    assert moments.at(0) is None
    for size, at in ((10, 1000.0), (30, 1005.0)):
        grow(output, size, at)
        writer.note()
    assert [moments.at(offset) for offset in (0, 9, 10, 29, 30)] == [1000.0, 1000.0, 1005.0, 1005.0, None]
    grow(output, 40, 1005.2)
    writer.note()
    assert moments.at(30) is None, "about once a second is enough"
    writer.note(is_last=True)
    assert moments.at(39) == 1005.2


def test_a_writer_that_takes_over_repeats_nothing_that_readers_would_mind(tmp_path: Path) -> None:
    output = tmp_path / "turn-1.out"
    grow(output, 10, 1000.0)
    MomentsWriter(output).note()
    grow(output, 20, 1010.0)
    MomentsWriter(output).note()
    moments = Moments(output)
    assert (moments.at(5), moments.at(15)) == (1000.0, 1010.0)


def test_a_torn_or_strange_file_costs_times_and_nothing_else(tmp_path: Path) -> None:
    output = tmp_path / "turn-1.out"
    moments_path(output).write_bytes(b"10 1000.0\nrubbish\n\xff 3\n5 999.0\n20 10")
    moments = Moments(output)
    assert (moments.at(3), moments.at(15)) == (1000.0, None)


def test_without_an_output_or_a_place_to_write_nothing_is_noted(tmp_path: Path) -> None:
    MomentsWriter(tmp_path / "none.out").note(is_last=True)
    output = tmp_path / "turn-1.out"
    grow(output, 1, 1.0)
    moments_path(output).mkdir()
    MomentsWriter(output).note(is_last=True)
    assert Moments(output).at(0) is None
