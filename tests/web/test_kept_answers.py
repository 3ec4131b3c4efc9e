"""What is asked of the dataset again is not computed again, unless it would be another answer."""

import json
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import pytest

from paddock.fleet.workspace import Workspace
from paddock.git.repo import discover
from paddock.web.endpoint import Asked, NoBody, Visit
from paddock.web.endpoints.drift import DriftQuery, read_drift
from paddock.web.endpoints.failures import FailuresQuery, read_failures
from paddock.web.remembered import Remembered
from tests.fleet.yard import Yard

T = TypeVar("T")


class CountedAnswers(Remembered):
    def __init__(self) -> None:
        super().__init__()
        self.made = 0

    def get(self, name: Hashable, state: Hashable, make: Callable[[], T]) -> T:
        def count() -> T:
            self.made += 1
            return make()

        return super().get(name, state, count)


def bring_in(yard: Yard, label: str, runs: int) -> None:
    file = yard.folder / f"{label}.jsonl"
    told = [{"run": f"r{n}", "task": f"i{n}", "outcome": n > 0, "steps": ["Read(a.py)", "TEST"]} for n in range(runs)]
    file.write_text("\n".join(map(json.dumps, told)))
    yard.paddock("traces", "import", str(file))


@pytest.mark.parametrize(
    ("read", "first", "second"),
    [
        (read_failures, FailuresQuery(label="a"), FailuresQuery(label="b")),
        (read_drift, DriftQuery(batch="a", baseline="b"), DriftQuery(batch="b", baseline="a")),
        (read_drift, DriftQuery(baseline="a"), DriftQuery(baseline="b")),
    ],
)
def test_each_question_is_answered_once_until_a_batch_comes_in(
    yard: Yard, read: Callable[[Visit[Any, NoBody]], object], first: Asked, second: Asked
) -> None:
    for label in ("a", "b"):
        bring_in(yard, label, 12)
    workspace, answers, now = Workspace(discover(yard.top)), CountedAnswers(), 1_800_000_000.0

    def ask(query: Asked) -> object:
        return read(Visit(workspace, {}, query, NoBody(), now, remembered=answers))

    told = [ask(query) for query in (first, second, first, first)]
    assert (told[0], told[0]) == (told[2], told[3])
    assert answers.made == 2
    bring_in(yard, "c", 3)
    ask(first)
    assert answers.made == 3
