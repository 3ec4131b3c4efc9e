"""What each attack broke at each level when it was last played: `results.json`, which `--record` writes."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from paddock.core.fence import Level
from tests.hostile.attack import Attack, Promise, is_as_said
from tests.hostile.holes import hole_of

FILE = Path(__file__).with_name("results.json")
Results = Mapping[str, Mapping[Level, frozenset[Promise]]]
"""By name; a level at which an attack was never played is not there."""


def read_results(file: Path = FILE) -> Results:
    found = json.loads(file.read_text()) if file.exists() else {}
    return {
        name: {Level(level): frozenset(Promise[promise] for promise in broken) for level, broken in levels.items()}
        for name, levels in found.items()
    }


def write_results(results: Results, attacks: Sequence[Attack], file: Path = FILE) -> None:
    """One line per attack, in their order; those of attacks that are gone are dropped."""
    lines = [f"{json.dumps(a.name)}: {json.dumps(_named(results[a.name]))}" for a in attacks if a.name in results]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _named(levels: Mapping[Level, frozenset[Promise]]) -> dict[str, list[str]]:
    return {
        level.value: [promise.name for promise in Promise if promise in levels[level]]
        for level in Level
        if level in levels
    }


def with_result(results: Results, attack: Attack, level: Level, broken: Collection[Promise]) -> Results:
    """A race may decide what is lost: what it broke in earlier plays stays, while it breaks anything and may."""
    levels = results.get(attack.name, {})
    earlier = levels.get(level, frozenset()) & attack.gaps_at(level) if broken else frozenset()
    return {**results, attack.name: {**levels, level: earlier | frozenset(broken)}}


def is_missing(results: Results, attack: Attack, level: Level) -> bool:
    return attack.plays_at(level) and level not in results.get(attack.name, {})


def missing_results(results: Results, attacks: Sequence[Attack]) -> Iterator[str]:
    for attack in attacks:
        for level in Level:
            if is_missing(results, attack, level):
                yield f"{attack.name} was never played at `{level}`{_again(attack, level)}"


def contradictions(results: Results, attacks: Sequence[Attack]) -> Iterator[str]:
    """Where the results are not what the attacks and the list of holes say, with what to run."""
    for attack in attacks:
        for level, broken in results.get(attack.name, {}).items():
            hole = hole_of(attack, level)
            if is_as_said(attack, level, set(broken)) == bool(hole):
                expected = f"{_words(attack.gaps_at(level))}{f', with a hole ({hole})' if hole else ''}"
                yield f"{attack.name} broke {_words(broken)} at `{level}`, and says {expected}{_again(attack, level)}"
    for name in sorted(results.keys() - {attack.name for attack in attacks}):
        yield f"there is no attack {name}; drop it from {FILE.name}"


def _words(promises: Collection[Promise]) -> str:
    return ", ".join(promise.name for promise in Promise if promise in promises) or "nothing"


def _again(attack: Attack, level: Level) -> str:
    return f"; run `python -m tests.hostile {attack.name} --level {level} --record`, then `make security-table`"
