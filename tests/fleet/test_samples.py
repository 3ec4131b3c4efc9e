"""The series of samples on disk: bounded, readable after any crash, and honest about gaps."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.fleet import samples
from paddock.fleet.samples import EVERY_SECONDS, FILE, GAP_SECONDS, OLDER, Sample, SampleFile, read_samples

START = 1_700_000_000.0
DAY = 86_400.0


def fill(folder: Path, *kept: Sample) -> None:
    file = SampleFile(folder)
    for sample in kept:
        file.keep(sample)


def minutes(count: int, start: float = START) -> list[Sample]:
    return [Sample(start + 60 * n, running=n) for n in range(count)]


def running(folder: Path, since: float, until: float, points: int) -> list[int | None]:
    found = read_samples(folder, since, until, points).samples
    return [None if sample is None else sample.running for sample in found]


def test_a_sample_is_due_every_minute_and_when_another_limit_binds(tmp_path: Path) -> None:
    file = SampleFile(tmp_path)
    assert file.is_due(START, "")
    file.keep(Sample(START, limit="cap"))
    assert not file.is_due(START + 59, "cap")
    assert file.is_due(START + EVERY_SECONDS, "cap")
    assert file.is_due(START + 15, "memory")
    assert not file.is_due(START + 5, "memory"), "a limit that flickers does not fill the file"
    assert file.is_due(START - 1, "cap"), "somebody has set the clock back"


def test_what_was_kept_is_read_in_as_many_steps_as_asked_for(tmp_path: Path) -> None:
    fill(tmp_path, *minutes(6))
    assert running(tmp_path, START, START + 360, 6) == [0, 1, 2, 3, 4, 5]
    assert running(tmp_path, START, START + 360, 3) == [1, 3, 5], "the most that ran in each"
    assert running(tmp_path, START, START + 360, 12) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    series = read_samples(tmp_path, START, START + 360, 3)
    assert (series.since, series.step_seconds) == (START, 120.0)


def test_times_without_a_daemon_are_gaps(tmp_path: Path) -> None:
    fill(tmp_path, *minutes(2))
    fill(tmp_path, *minutes(2, START + 600))
    assert running(tmp_path, START, START + 720, 12) == [0, 1, 1, 1, *[None] * 6, 0, 1]
    assert running(tmp_path, START - DAY, START - DAY / 2, 4) == [None] * 4


def test_a_step_shows_the_extremes_of_what_was_seen_in_it(tmp_path: Path) -> None:
    fill(
        tmp_path,
        Sample(START, 4, 9, 25, 20, "load", 1.0, 0.5, 2**33, 2**40),
        Sample(START + 60, 2, 3, 25, 8, "memory", 2.0, 1.5, 2**30, 2**39),
        Sample(START + 80, 3, 1, 30, 9, "memory", 2.5),
    )
    [sample] = read_samples(tmp_path, START, START + 120, 1).samples
    assert sample == Sample(START + 80, 4, 9, 30, 8, "memory", 2.5, 1.5, 2**30, 2**39)


def test_a_torn_line_is_missing_and_spoils_no_other(tmp_path: Path) -> None:
    fill(tmp_path, *minutes(2))
    with (tmp_path / FILE).open("ab") as file:
        file.write(b"[1700000120,7,")
    fill(tmp_path, Sample(START + 180, running=9))
    assert running(tmp_path, START, START + 240, 4) == [0, 1, 1, 9]


@pytest.mark.parametrize("line", [b"[]", b"{}", b"[1e300]", b"[-1]", b'["x"]', b"\xff", b"[" * 50_000, b"[1,2,3"])
def test_a_foreign_line_is_missing(tmp_path: Path, line: bytes) -> None:
    (tmp_path / FILE).write_bytes(line + b"\n")
    fill(tmp_path, Sample(START, running=1))
    assert running(tmp_path, START, START + 60, 1) == [1]


def test_two_files_hold_a_week_and_never_more_than_two_megabytes(tmp_path: Path) -> None:
    wide = Sample(START, 123, 1234, 500, 250, "merge_queue", 1234.5678, 12.345, 2**38, 2**43)
    fill(tmp_path, wide)
    per_line = (tmp_path / FILE).stat().st_size
    assert samples.FULL_BYTES // per_line * EVERY_SECONDS > 7 * DAY
    assert 2 * (samples.FULL_BYTES + per_line) < 2_000_000


def test_the_older_file_is_dropped_when_the_newer_one_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "FULL_BYTES", 1000)
    fill(tmp_path, *minutes(200))
    assert sorted(os.listdir(tmp_path)) == [FILE, OLDER]
    assert sum((tmp_path / name).stat().st_size for name in (FILE, OLDER)) < 2200
    last = running(tmp_path, START + 60 * 190, START + 60 * 200, 10)
    assert last == list(range(190, 200))
    assert running(tmp_path, START, START + 60, 1) == [None]


def test_nothing_but_a_regular_file_is_written_or_read(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"")
    (tmp_path / FILE).symlink_to(elsewhere)
    with pytest.raises(OSError, match="no regular file"):
        fill(tmp_path, Sample(START))
    assert elsewhere.read_bytes() == b""
    (tmp_path / FILE).unlink()
    os.mkfifo(tmp_path / FILE)
    assert running(tmp_path, START, START + 60, 1) == [None]


times = st.floats(0, 10 * DAY).map(lambda seconds: START + seconds)


@given(st.lists(times, max_size=30), times, st.floats(0, 9 * DAY), st.integers(-3, 50))
def test_there_are_always_as_many_steps_as_asked_for_and_none_shows_what_was_not_seen(
    tmp_path_factory: pytest.TempPathFactory, kept: list[float], since: float, span: float, points: int
) -> None:
    folder = tmp_path_factory.mktemp("samples")
    fill(folder, *(Sample(round(at, 1), running=n) for n, at in enumerate(kept)))
    series = read_samples(folder, since, since + span, points)
    assert len(series.samples) == max(1, points)
    for number, sample in enumerate(series.samples):
        start = since + number * series.step_seconds
        if sample is not None:
            assert start - GAP_SECONDS <= sample.at <= start + series.step_seconds + 0.001
