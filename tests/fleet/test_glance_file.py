"""The file in which the daemon tells of its agents, whatever has become of it."""

import os
from pathlib import Path

import msgspec
import pytest

from paddock.fleet import glance
from paddock.fleet.glance import FILE, NOTHING, OLD_SECONDS, AgentGlance, Glance, read_glance, remove_glance
from paddock.sessions import hints

NOW = 1_700_000_000.0
SEEN = Glance(NOW, {"t1.1": AgentGlance("Bash make", NOW - 3, cost_usd=0.25)}, 1, 4, 4, "cap", "agent cap reached")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    glance.write_glance(tmp_path, SEEN)
    assert read_glance(tmp_path, NOW) == SEEN
    remove_glance(tmp_path)
    remove_glance(tmp_path)
    assert read_glance(tmp_path, NOW) is NOTHING
    assert os.listdir(tmp_path) == []


def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    glance.write_glance(tmp_path, SEEN)
    first = read_glance(tmp_path, NOW)
    assert read_glance(tmp_path, NOW + 1) is first
    glance.write_glance(tmp_path, msgspec.structs.replace(SEEN, limit=""))
    assert read_glance(tmp_path, NOW).limit == ""


@pytest.mark.parametrize("seconds", [OLD_SECONDS + 1, -OLD_SECONDS - 1])
def test_what_a_daemon_told_that_is_gone_counts_no_more(tmp_path: Path, seconds: float) -> None:
    glance.write_glance(tmp_path, SEEN)
    assert read_glance(tmp_path, NOW + seconds) is NOTHING
    assert read_glance(tmp_path, NOW) == SEEN


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        msgspec.json.encode(SEEN)[:-9],
        b'{"at": 1e300}',
        b'{"at": NaN}',
        b'{"at": -1}',
        b'{"agents": {"t1.1": {"step_at": 1e200}}}',
        b'{"agents": {"t1.1": {"steps": -1}}}',
        b'{"agents": {"t1.1": {"cost_usd": "x"}}}',
        b'{"limit": "' + b"x" * 5000 + b'"}',
        b"[" * 100_000,
    ],
)
def test_a_torn_or_hostile_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert read_glance(tmp_path, NOW) is NOTHING


def test_a_file_of_another_version_is_read_as_far_as_it_is_known(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'{"at": 1700000000, "mood": "good", "agents": {"t1.1": {"step": "x", "hat": 1}}}')
    assert read_glance(tmp_path, NOW).agents == {"t1.1": AgentGlance("x")}


def test_nothing_but_a_regular_file_is_opened(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / FILE, tmp_path / "elsewhere"
    elsewhere.write_bytes(msgspec.json.encode(SEEN))
    path.symlink_to(elsewhere)
    assert read_glance(tmp_path, NOW) is NOTHING
    path.unlink()
    os.mkfifo(path)
    assert read_glance(tmp_path, NOW) is NOTHING
    path.unlink()
    path.mkdir()
    assert read_glance(tmp_path, NOW) is NOTHING


def test_nothing_is_written_through_a_link_or_into_a_pipe(tmp_path: Path) -> None:
    draft, elsewhere = (tmp_path / FILE).with_suffix(".new"), tmp_path / "elsewhere"
    elsewhere.write_bytes(b"mine")
    draft.symlink_to(elsewhere)
    glance.write_glance(tmp_path, SEEN)
    assert elsewhere.read_bytes() == b"mine"
    assert read_glance(tmp_path, NOW) == SEEN
    (tmp_path / FILE).unlink()
    os.mkfifo(draft)
    glance.write_glance(tmp_path, SEEN)
    assert read_glance(tmp_path, NOW) == SEEN


def test_a_file_beyond_all_bounds_is_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "MOST_BYTES", 10)
    glance.write_glance(tmp_path, SEEN)
    assert read_glance(tmp_path, NOW) is NOTHING
