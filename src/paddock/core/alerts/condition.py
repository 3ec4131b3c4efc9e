"""What rules have seen: conditions that hold now, whether or not anybody was told of them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from paddock.core.alerts.events import AlertSeverity

EVIDENCE_KEPT = 6


@dataclass(frozen=True, slots=True)
class Condition:
    """`key` names the cause, `rule:subject`; `title` is a sentence, `evidence` the lines it rests on, `run` what to do.
    `count` is how much of it there is. A `lasting` one has happened, and does not go away by itself."""

    key: str
    rule: str
    severity: AlertSeverity
    title: str
    subject: str = ""
    evidence: tuple[str, ...] = ()
    run: str = "paddock alerts"
    count: int = 1
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """One look of all rules. `judged` are those that could tell: what another has raised stays as it is. Those that are
    `off` were turned off by a person."""

    conditions: tuple[Condition, ...] = ()
    judged: frozenset[str] = frozenset()
    off: frozenset[str] = frozenset()


def one_per_cause(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Two rules that have seen the same cause are one condition: the graver one, with the evidence of both."""
    found: dict[str, Condition] = {}
    for one in conditions:
        known = found.get(one.key)
        found[one.key] = one if known is None else _joined(known, one)
    return tuple(found.values())


def _joined(first: Condition, second: Condition) -> Condition:
    graver, other = (first, second) if first.severity.rank <= second.severity.rank else (second, first)
    evidence = tuple(dict.fromkeys((*graver.evidence, *other.evidence)))[:EVIDENCE_KEPT]
    lasting = graver.lasting or other.lasting
    return replace(graver, evidence=evidence, count=max(first.count, second.count), lasting=lasting)


def gravest(conditions: Collection[Condition]) -> AlertSeverity:
    return min((one.severity for one in conditions), key=lambda severity: severity.rank)
