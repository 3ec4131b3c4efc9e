"""Results as data: what a play adds to them, and which ones are not what the attacks say."""

from pathlib import Path

from paddock.core.fence import Level
from tests.hostile.arsenal import ALL
from tests.hostile.attack import Attack, Kind, Promise, unfenced
from tests.hostile.results import contradictions, missing_results, read_results, with_result, write_results
from tests.hostile.table import write_table

OPEN = Attack("open", Kind.FILES, "something open", "", gaps=unfenced(Promise.TREE, Promise.REFS))
SHUT = Attack("shut", Kind.FILES, "something shut", "")
STOPPED: dict[Level, frozenset[Promise]] = dict.fromkeys(Level, frozenset())
BOTH = {"open": {**STOPPED, Level.NONE: frozenset({Promise.TREE})}, "shut": STOPPED}


def test_every_attack_has_a_result_at_every_level() -> None:
    assert list(missing_results(read_results(), ALL)) == []


def test_every_result_is_what_the_attack_says() -> None:
    assert list(contradictions(read_results(), ALL)) == []


def test_what_was_not_played_keeps_its_results(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    write_results(with_result(BOTH, SHUT, Level.FILES, {Promise.MAIN}), [OPEN, SHUT], file)
    assert read_results(file) == {**BOTH, "shut": {**STOPPED, Level.FILES: frozenset({Promise.MAIN})}}


def test_what_an_attack_breaks_only_at_times_stays_while_it_may_break_it() -> None:
    again = with_result(BOTH, OPEN, Level.NONE, {Promise.REFS})
    assert again["open"][Level.NONE] == {Promise.TREE, Promise.REFS}
    narrower = Attack("open", Kind.FILES, "something open", "", gaps=unfenced(Promise.REFS))
    assert with_result(BOTH, narrower, Level.NONE, {Promise.REFS})["open"][Level.NONE] == {Promise.REFS}


def test_an_attack_that_breaks_nothing_any_more_has_no_earlier_breaks() -> None:
    assert with_result(BOTH, OPEN, Level.NONE, ())["open"][Level.NONE] == set()


def test_results_that_are_missing_or_are_not_what_the_attack_says_are_named() -> None:
    assert [*contradictions(BOTH, [OPEN, SHUT]), *missing_results(BOTH, [OPEN, SHUT])] == []
    partly = {**BOTH, "shut": {Level.NONE: frozenset[Promise](), Level.FILES: frozenset[Promise]()}}
    (missing,) = missing_results(partly, [OPEN, SHUT])
    assert "shut was never played at `files+network`" in missing
    (worse,) = contradictions(with_result(BOTH, SHUT, Level.FILES, {Promise.MAIN}), [OPEN, SHUT])
    assert "shut broke MAIN at `files`, and says nothing" in worse
    (better,) = contradictions(with_result(BOTH, OPEN, Level.NONE, ()), [OPEN, SHUT])
    assert "open broke nothing at `none`, and says TREE, REFS" in better
    (gone,) = contradictions(BOTH, [SHUT])
    assert "there is no attack open" in gone


def test_the_table_counts_what_was_seen_and_not_what_was_said() -> None:
    seen = with_result(BOTH, SHUT, Level.FILES, {Promise.MAIN})
    table = write_table([OPEN, SHUT], seen)
    assert "| files | 2 | 1 | 1 | 2 |" in table
    assert "| something open | your files | stopped | stopped |" in table
    assert "| something shut | stopped | main | stopped |" in table
    assert "Stopped at every level, also with no fence:\n\n" in table + "\n"
