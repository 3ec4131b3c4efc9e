"""Transcripts as tests write them, and what is read of them."""

import json
from collections.abc import Iterable
from pathlib import Path

from paddock.insight.formats.detection import AUTO
from paddock.insight.formats.sources import Found, FoundRun, read_bytes, read_file
from paddock.insight.formats.unreadable import Shortened, Unreadable
from paddock.insight.trace import Trace

RECORDED = Path(__file__).parents[2] / "engines" / "unit" / "recorded"
SESSIONS = RECORDED.parent / "session_files"


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(data: bytes, format: str = AUTO, name: str = "file.jsonl") -> tuple[list[FoundRun], list[Unreadable]]:
    return _sorted(read_bytes(iter([data]), name, name, format))


def read_path(path: Path, format: str = AUTO) -> tuple[list[FoundRun], list[Unreadable]]:
    return _sorted(read_file(path, format))


def one_of(*records: object, format: str = AUTO) -> Trace:
    """The only run of these records, in which everything can be read."""
    found, problems = read(lines(*records), format)
    assert problems == []
    assert len(found) == 1
    return found[0].trace


def recorded(name: str) -> Trace:
    found, problems = read_path(RECORDED / f"{name}.jsonl")
    assert problems == []
    (run,) = found
    assert run.format == name.partition("-")[0]
    return run.trace


def reasons(problems: Iterable[Unreadable]) -> list[str]:
    return [problem.reason for problem in problems]


def _sorted(found: Iterable[Found]) -> tuple[list[FoundRun], list[Unreadable]]:
    runs: list[FoundRun] = []
    problems: list[Unreadable] = []
    for one in found:
        match one:
            case FoundRun():
                runs.append(one)
            case Unreadable():
                problems.append(one)
            case Shortened():
                pass
    return runs, problems
