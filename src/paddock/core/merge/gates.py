"""Gates: changes that wait for a person although the approval policy would let them land.

A gate names conditions, and a change meets it when all that are set hold. What makes a change large is counted in git,
so a change that nobody's attempt was judged for is measured like any other.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from paddock.core.ids import printable, some_names
from paddock.core.leases.globs import matches_file, matches_path

NAME_CHARS = 60


class Conditions(Protocol):
    """As `[[land.gate]]` has them; what is empty or None is not set."""

    @property
    def name(self) -> str: ...
    @property
    def paths(self) -> Sequence[str]: ...
    @property
    def kinds(self) -> Sequence[str]: ...
    @property
    def agents(self) -> Sequence[str]: ...
    @property
    def files(self) -> int | None: ...
    @property
    def lines(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class ChangeSize:
    """What a change touches and how much. `links` may lead to what is below their names. A branch that a person
    queued by name has no `kind`, and no `agents` made it."""

    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    lines: int = 0
    kind: str | None = None
    agents: frozenset[str] = frozenset()


def gate_reasons(gates: Iterable[Conditions], change: ChangeSize) -> tuple[str, ...]:
    """Why the change waits for a person, in words, one reason for each gate that it meets."""
    reasons = []
    for gate in gates:
        if met := _all_met(gate, change):
            which = f"the gate `{printable(gate.name, NAME_CHARS)}`" if gate.name else "a gate"
            reasons.append(f"meets {which}: {', '.join(met)}")
    return tuple(reasons)


def outside_reasons(outside: Collection[str], touched: Collection[str], globs: Sequence[str]) -> tuple[str, ...]:
    """`outside` are the files that its judge found beyond the task's paths. Those the change no longer touches, and
    those that a person has added to the task's paths since (`globs`), do not count."""
    left = tuple(path for path in outside if path in touched and not any(matches_file(one, path) for one in globs))
    return (f"changes files outside its paths: {some_names(left)}",) if left else ()


def _all_met(gate: Conditions, change: ChangeSize) -> list[str]:
    """In words, what makes the change meet the gate; empty if a condition does not hold, or none is set."""
    found: list[str] = []
    touched = _touched(gate.paths, change)
    made = sorted(change.agents.intersection(gate.agents))
    count = len(change.files) + len(change.links)
    for is_set, words in (
        (bool(gate.paths), f"touches {some_names(touched)}" if touched else ""),
        (bool(gate.kinds), f"is of kind {change.kind}" if change.kind in gate.kinds else ""),
        (bool(gate.agents), f"made by {', '.join(made)}" if made else ""),
        (gate.files is not None, _more(count, gate.files, "files")),
        (gate.lines is not None, _more(change.lines, gate.lines, "lines")),
    ):
        if is_set and not words:
            return []
        found += [words] if is_set else []
    return found


def _touched(globs: Sequence[str], change: ChangeSize) -> tuple[str, ...]:
    files = [path for path in change.files if any(matches_file(glob, path) for glob in globs)]
    links = [path for path in change.links if any(matches_path(glob, path) for glob in globs)]
    return (*files, *links)


def _more(count: int, limit: int | None, unit: str) -> str:
    return f"changes {count:,} {unit}, more than {limit:,}" if limit is not None and count > limit else ""
