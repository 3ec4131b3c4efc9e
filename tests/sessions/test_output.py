from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.sessions.detached import DetachedSessions
from paddock.sessions.identity import same_process
from paddock.sessions.output import LINE_BYTES, LineReader, bound_output
from paddock.sessions.protocol import Line, Turn
from tests.sessions.conftest import Workshop, returned

KB = 1024
LIMIT = 400 * KB


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as file:
        file.write(data)


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def stored_bytes(path: Path) -> int:
    return path.stat().st_blocks * 512


def test_a_file_that_does_not_exist_yet_has_no_lines(tmp_path: Path) -> None:
    reader = LineReader(tmp_path / "out")
    assert (reader.read(), reader.finish()) == ([], [])
    append(reader.path, b"late\n")
    assert reader.read() == [Line(0, "late")]


def test_a_line_is_handed_out_only_when_complete(tmp_path: Path) -> None:
    reader = LineReader(tmp_path / "out")
    append(reader.path, b"one\ntw")
    assert reader.read() == [Line(0, "one")]
    append(reader.path, b"o")
    assert reader.read() == []
    append(reader.path, b"\n\nlast")
    assert reader.read() == [Line(4, "two"), Line(8, "")]
    assert reader.finish() == [Line(9, "last")]
    assert reader.finish() == []


def test_a_character_torn_between_two_writes_stays_whole(tmp_path: Path) -> None:
    reader = LineReader(tmp_path / "out")
    append(reader.path, "€".encode()[:1])
    assert reader.read() == []
    append(reader.path, "€".encode()[1:] + b"\n\xff\n")
    assert texts(reader.read()) == ["€", "\N{REPLACEMENT CHARACTER}"]


def test_a_line_over_the_limit_is_cut_and_the_next_is_whole(tmp_path: Path) -> None:
    reader = LineReader(tmp_path / "out", line_bytes=10)
    append(reader.path, b"x" * 300_000)
    assert reader.read() == []
    append(reader.path, b"\n0123456789\n01234567890\n")
    assert reader.read() == [
        Line(0, "x" * 10),
        Line(300_001, "0123456789"),
        Line(300_012, "0123456789"),
    ]


def test_a_large_file_is_read_in_batches(tmp_path: Path) -> None:
    reader = LineReader(tmp_path / "out")
    append(reader.path, b"0123456789abcde\n" * 200_000)
    sizes = []
    while lines := reader.read():
        sizes.append(len(lines))
    assert sum(sizes) == 200_000
    assert max(sizes) < 100_000


pieces = st.lists(st.text(alphabet="aé\n", max_size=20).map(str.encode) | st.just(b"x" * 70_000), max_size=12)


@given(pieces, st.data())
def test_lines_are_the_same_however_they_were_written_and_wherever_reading_resumed(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("output") / "out"
    reader = LineReader(path)
    lines: list[Line] = []
    for piece in pieces:
        append(path, piece)
        if data.draw(st.booleans(), label="resume"):
            reader = LineReader(path, reader.offset)
        lines.extend(reader.read())
    lines.extend(reader.finish())
    written = b"".join(pieces).decode()
    assert texts(lines) == (written.removesuffix("\n").split("\n") if written else [])


def numbered(count: int) -> bytes:
    return b"".join(b"%015d\n" % number for number in range(count))


def test_output_under_its_limit_is_left_alone(tmp_path: Path) -> None:
    append(tmp_path / "out", numbered(1000))
    before = stored_bytes(tmp_path / "out")
    assert bound_output(tmp_path / "out", LIMIT)
    assert stored_bytes(tmp_path / "out") == before
    assert (tmp_path / "out").read_bytes() == numbered(1000)
    assert bound_output(tmp_path / "missing", LIMIT)


def test_the_head_and_the_tail_of_bounded_output_stay_and_offsets_stay_true(tmp_path: Path) -> None:
    path = tmp_path / "out"
    append(path, numbered(100_000))
    before = stored_bytes(path)
    assert bound_output(path, LIMIT)
    assert before - stored_bytes(path) >= 1_000_000
    assert stored_bytes(path) <= LIMIT
    assert path.stat().st_size == 1_600_000
    append(path, b"after\n")
    reader = LineReader(path)
    lines = []
    while batch := reader.read():
        lines.extend(batch)
    kept = [int(line.text) for line in lines[:-1]]
    assert lines[-1] == Line(1_600_000, "after")
    assert kept[0] == 0
    assert kept[-1] == 99_999
    assert all(line.offset == 16 * number for line, number in zip(lines, kept, strict=False))
    assert len(kept) < 100_000
    assert len([number for number in kept if number < 50_000]) * 16 >= LIMIT // 4
    assert len([number for number in kept if number >= 50_000]) * 16 >= LIMIT // 2 - 16


def test_a_reader_that_fell_behind_goes_on_after_the_hole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    append(path, b"x" * 99 + b"\n")
    reader = LineReader(path)
    assert len(reader.read()) == 1
    append(path, (b"y" * 1_000_000 + b"\n") * 2 + b"end\n")
    bound_output(path, 40 * KB)
    assert texts(reader.read()) == ["end"]


def test_reading_resumed_inside_a_hole_starts_with_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "out"
    append(path, numbered(100_000))
    bound_output(path, LIMIT)
    first = LineReader(path, offset=800_000).read()[0]
    assert first.offset == 16 * int(first.text)


def test_reading_resumed_inside_a_line_starts_with_the_next(tmp_path: Path) -> None:
    append(tmp_path / "out", b"first\nsecond\n")
    reader = LineReader(tmp_path / "out", offset=3)
    assert reader.read() == [Line(6, "second")]


def test_a_flood_of_200_megabytes_stays_bounded_on_disk_while_it_runs(workshop: Workshop) -> None:
    limit = 4 << 20
    shim = workshop.start(
        workshop.shell("yes 'a line of some thirty characters' | head -c 200000000; echo; echo the end")
    )
    out = workshop.files().out
    while same_process(shim):
        size = out.stat().st_size
        assert bound_output(out, limit)
        stored = stored_bytes(out)
        written_meanwhile = out.stat().st_size - size
        assert stored <= limit + written_meanwhile
    assert returned(workshop.state()) == 0
    assert out.stat().st_size > 200_000_000
    bound_output(out, limit)
    assert stored_bytes(out) <= limit
    reader = LineReader(out)
    seen = 0
    last = ""
    while lines := reader.read():
        seen += len(lines)
        last = lines[-1].text
    assert last == "the end"
    assert limit // 2 <= seen * 33 <= limit


def test_a_line_without_an_end_does_not_hold_its_reader(tmp_path: Path) -> None:
    reader = LineReader(tmp_path / "out")
    append(reader.path, b"x" * 3_000_000)
    reads = 0
    while not reader.at_end:
        assert reader.read() == []
        reads += 1
    assert reads > 1
    append(reader.path, b"\nnext\n")
    first, second = reader.read()
    assert first == Line(0, "x" * LINE_BYTES)
    assert second == Line(3_000_001, "next")


def test_a_reader_sent_to_the_tail_goes_on_with_a_whole_line(tmp_path: Path) -> None:
    reader = LineReader(tmp_path / "out")
    append(reader.path, numbered(1000))
    reader.skip_to_tail(16_000)
    reader.skip_to_tail(1000)
    lines = reader.read()
    assert lines[0] == Line(16 * 938, f"{938:015d}")
    assert lines[-1].offset == 16 * 999


def test_a_log_named_by_a_pattern_is_found_once_it_is_there_and_the_last_of_several_is_read(tmp_path: Path) -> None:
    sessions, turn = DetachedSessions("marker", lambda owner: tmp_path / owner, lambda _: None), Turn("t1.1", 1)
    pattern = f"{tmp_path}/logs/*/rollout-*-abc.jsonl"
    assert sessions.find_log(turn, pattern) is None
    for day, name in (("15", "rollout-1-abc"), ("16", "rollout-2-abc"), ("17", "rollout-3-other")):
        (tmp_path / "logs" / day).mkdir(parents=True)
        (tmp_path / "logs" / day / f"{name}.jsonl").write_text(f"{name}\n")
    reader = sessions.find_log(turn, pattern)
    assert reader is not None
    assert [line.text for line in reader.read()] == ["rollout-2-abc"]
    sessions.close()
