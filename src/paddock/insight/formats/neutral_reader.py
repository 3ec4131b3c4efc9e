"""Neutral lines of one file, named as their authors meant it.

What one calls `run` is to another the name of a batch, with the run under `id`. So the first lines are looked at
together before the first of them is read: a name is what differs from line to line.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from paddock.insight.formats.bounds import name_text
from paddock.insight.formats.neutral import looks_neutral, read_neutral
from paddock.insight.formats.neutral_fields import RUN_FIELDS, RUN_NAMES
from paddock.insight.formats.reader import NotARun, OfLine, Record
from paddock.insight.formats.words import plain_key
from paddock.insight.trace import Trace

LOOKED_AT = 200
LOOKED_AT_STEPS = 20_000
_SHARE = 0.9
_NAMES = ("run", *RUN_FIELDS["run"].split())
_REPEATS = ("trial", "attempt", "seed", "repeat", "rollout", "iteration", "run_index", "replica")


class NeutralReader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._held: list[tuple[Record, int]] = []
        self._held_steps = 0
        self._naming: _Naming | None = None

    def take(self, record: Record, number: int) -> Iterator[Trace | OfLine]:
        if not looks_neutral(record):
            raise NotARun("names no run, or says nothing of it")
        if self._naming is not None:
            yield self._naming.read(record, number)
            return
        self._held.append((record, number))
        steps = record.get("steps")
        self._held_steps += len(steps) if isinstance(steps, list) else 1
        if len(self._held) >= LOOKED_AT or self._held_steps >= LOOKED_AT_STEPS:
            yield from self.close()

    def close(self) -> Iterator[OfLine]:
        held, self._held = self._held, []
        self._naming = self._naming or _Naming([record for record, _ in held])
        for record, number in held:
            yield OfLine(self._naming.read(record, number), number)


class _Naming:
    """Which fields name a run: one that hardly ever repeats, or several that do not together. Where records of several
    authors are in one file, each is named by the field that it has."""

    def __init__(self, records: Sequence[Record]) -> None:
        named = [_by_plain_key(record) for record in records]
        present = [name for name in _NAMES if sum(name in one for one in named) >= _SHARE * len(named)]
        single = next(((name,) for name in present if _differs(named, (name,))), None)
        self._own = () if single else _own_names(named)
        together = [(*present[:1], "task"), (*present[:1], "task", *_repeats(named)), ("task", *_repeats(named))]
        several = next((names for names in together if _differs(named, names)), None)
        self._fields = single or several or (tuple(present[:1]) or ("task",))
        self._batch = "run" if "run" in present and "run" not in self._fields[-1:] and self._fields != ("run",) else ""
        self._is_plain = self._fields == ("run",)

    def read(self, record: Record, number: int) -> Trace:
        trace = read_neutral(record, number)
        if self._is_plain or record.get("as_exported") is True:
            return trace
        told = _by_plain_key(record)
        own = next((told[name] for name in self._own if name in told), "")
        name = own or "/".join(part for field in self._fields if (part := told.get(field, "")))
        label = trace.label or (told.get(self._batch, "") if self._batch else "")
        return replace(trace, run=name or trace.run, label=label)


def _own_names(named: Sequence[dict[str, str]]) -> tuple[str, ...]:
    """Fields that name those records that have them; none if too many have none."""
    own = tuple(name for name in _NAMES if _differs([one for one in named if name in one], (name,)))
    has_one = sum(any(name in one for name in own) for one in named)
    return own if has_one >= _SHARE * len(named) else ()


def _by_plain_key(record: Record) -> dict[str, str]:
    """What may name a run, by the key in lower case; its task by our own name."""
    found: dict[str, str] = {}
    for key, value in record.items():
        plain = plain_key(key)
        text = name_text(value) if isinstance(value, str | int | float) else ""
        if not text:
            continue
        if plain in _NAMES or plain in _REPEATS:
            found.setdefault(plain, text)
        elif RUN_NAMES.get(plain) == "task":
            found.setdefault("task", text)
    return found


def _repeats(named: Sequence[dict[str, str]]) -> tuple[str, ...]:
    return tuple(name for name in _REPEATS if any(name in one for one in named))


def _differs(named: Sequence[dict[str, str]], fields: tuple[str, ...]) -> bool:
    if not named:
        return False
    values = [tuple(one.get(field, "") for field in fields) for one in named]
    told = [value for value in values if any(value)]
    allowed = len(values) if len(values) < 5 else _SHARE * len(values)
    return len(told) >= _SHARE * len(values) and len(set(told)) >= allowed
