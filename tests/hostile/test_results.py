"""Results as data: what a play adds to them, and which ones are not what the attacks say."""

from pathlib import Path

from paddock.core.fence import Level
from tests.hostile.attack import Attack, Kind, Promise, unfenced
from tests.hostile.results import contradictions, is_missing, read_results, with_result, write_results

OPEN = Attack("open", Kind.FILES, "something open", "", gaps=unfenced(Promise.TREE, Promise.REFS))
SHUT = Attack("shut", Kind.FILES, "something shut", "")
STOPPED: dict[Level, frozenset[Promise]] = dict.fromkeys(Level, frozenset())
BOTH = {"open": {**STOPPED, Level.NONE: frozenset({Promise.TREE})}, "shut": STOPPED}


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
    assert list(contradictions(BOTH, [OPEN, SHUT])) == []
    assert is_missing({"open": {}}, OPEN, Level.FILES)
    (missing,) = contradictions({**BOTH, "shut": {Level.NONE: frozenset(), Level.FILES: frozenset()}}, [OPEN, SHUT])
    assert "shut was never played at `files+network`" in missing
    (worse,) = contradictions(with_result(BOTH, SHUT, Level.FILES, {Promise.MAIN}), [OPEN, SHUT])
    assert "shut broke MAIN at `files`, and says nothing" in worse
    (better,) = contradictions(with_result(BOTH, OPEN, Level.NONE, ()), [OPEN, SHUT])
    assert "open broke nothing at `none`, and says REFS, TREE" in better
    (gone,) = contradictions(BOTH, [SHUT])
    assert "there is no attack open" in gone
