"""The fleet as Prometheus reads it: text in exposition format 0.0.4, every name documented where it is made.

Counters are what the log adds up to, so they grow across restarts of everything. No label holds what agents or people
may write freely; engines are the only names from a configuration, and their number has a bound.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from paddock import __version__
from paddock.core.admission.admit import LimitedBy
from paddock.core.admission.host import HostSample
from paddock.core.board import Board
from paddock.core.merge.model import Ending, Purpose, Result
from paddock.core.merge.switches import switches_of
from paddock.core.money.spending import day_of
from paddock.core.tasks.needs import Need, need_of
from paddock.core.tasks.task import Phase
from paddock.core.tasks.vocabulary import Outcome
from paddock.fleet.service.presence import Presence
from paddock.views.log.tally import BUCKETS, LogTally
from paddock.views.sight import Sight

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
QUEUE_STATES = ("open", "halted", "frozen", "paused", "draining")
_DECIDED = tuple(ending for ending in Ending if ending is not Ending.SUPERSEDED)
Labels = Mapping[str, str]
Samples = Iterable[tuple[Labels, float]]
_NONE: Labels = {}


@dataclass
class LiveMetrics:
    """Reads the log once; from then on each look costs what is new."""

    _tally: LogTally = field(default_factory=LogTally)
    _identity: tuple[str, int] = ("", 0)

    def look(self, sight: Sight, host: HostSample | None = None) -> str:
        """`host` is what the machine has left, if anybody asked it."""
        board = sight.board
        if self._identity[0] != board.identity or board.seq < self._identity[1]:
            self._tally = LogTally()
        self._identity = board.identity, board.seq
        self._tally.catch_up(sight.ask, board.seq)
        parts = (_fleet(sight), _work(self._tally), _queue(board, self._tally, sight), _machine(host))
        return "".join(family for part in parts for family in part)


def _fleet(sight: Sight) -> Iterator[str]:
    board, glance = sight.board, sight.glance
    yield _gauge("build_info", "Always 1; the version is in the label.", [({"version": __version__}, 1)])
    yield _gauge("daemon_up", "Whether a daemon holds its lease and renews it.", _one(_is_up(sight)))
    yield _counter("log_events_total", "Records in the log.", _one(board.seq))
    phases = [({"phase": phase.value}, board.counts.get(phase, 0)) for phase in Phase]
    yield _gauge("tasks", "Tasks by phase.", phases)
    needs = [need_of(board.tasks[name]) for name in board.needy]
    yield _gauge("tasks_waiting_for_person", "Tasks that need a person, by what for.",
                 [({"need": need.value}, needs.count(need)) for need in Need])  # fmt: skip
    yield _gauge("agents_running", "Attempts at work.", _one(len(board.live)))
    yield _gauge("agents_cap", "How many attempts may work at the same time.",
                 _one(glance.cap or sight.workspace.config.limits.max_agents))  # fmt: skip
    yield _gauge("agents_limited", "1 for the limit that keeps ready tasks from starting.",
                 [({"limit": limit.value}, glance.limit == limit) for limit in LimitedBy])  # fmt: skip
    yield _gauge("leases_held", "Leases that somebody holds, the daemon's own included.", _one(len(board.leases.held)))
    cost = board.cost_of_day(day_of(sight.now))
    yield _gauge("spend_today_usd", "Dollars spent on this day in UTC, as far as turns have ended.",
                 _one(cost.known if cost is not None else 0.0))  # fmt: skip


def _is_up(sight: Sight) -> bool:
    return sight.outlook.daemon.presence is Presence.RUNNING


def _work(tally: LogTally) -> Iterator[str]:
    yield _counter("attempts_total", "Attempts that ended, by what they really did.",
                   [({"outcome": outcome.value}, tally.attempts[outcome]) for outcome in Outcome])  # fmt: skip
    engines = sorted(tally.engines.items())
    yield _counter("turns_total", "Turns that ended.", [({"engine": name}, one.turns) for name, one in engines])
    yield _counter("unpriced_turns_total", "Turns that ended and have no price.",
                   [({"engine": name}, one.unpriced_turns) for name, one in engines])  # fmt: skip
    kinds = ("input", "cache_write", "cache_read", "output")
    yield _counter("tokens_total", "Tokens used by turns that ended; input is without what a cache saved.",
                   [({"engine": name, "kind": kind}, getattr(one, f"{kind}_tokens"))
                    for name, one in engines for kind in kinds])  # fmt: skip
    yield _counter("cost_usd_total", "Dollars of turns that ended, where a price is known.",
                   [({"engine": name}, round(one.cost_usd, 6)) for name, one in engines])  # fmt: skip


def _queue(board: Board, tally: LogTally, sight: Sight) -> Iterator[str]:
    queue, state = board.queue, switches_of(board.queue).state
    yield _gauge("queue_depth", "Changes in the merge queue.", _one(len(queue.entries)))
    yield _gauge("queue_state", "1 for the state of the merge queue.",
                 [({"state": name}, name == state) for name in QUEUE_STATES])  # fmt: skip
    yield _gauge("main_verified", "Whether main as it is has passed its tests.",
                 _one(queue.main is not None and queue.main.verified_by is not None))  # fmt: skip
    yield _gauge("ci_runs_running", "CI runs under way.", _one(len(queue.running)))
    yield _gauge("ci_slots", "How many CI runs may be under way.", _one(sight.workspace.config.land.runs_at_once))
    yield _counter("ci_runs_total", "CI runs that ended.",
                   [({"purpose": purpose.value, "result": result.value}, tally.runs[purpose, result])
                    for purpose in Purpose for result in Result])  # fmt: skip
    yield _counter("changes_total", "Changes that left the merge queue, by their end.",
                   [({"outcome": ending.value}, tally.changes[ending]) for ending in _DECIDED])  # fmt: skip
    yield _histogram("landing_seconds", "From the merge queue to main.", tally.waits, tally.wait_seconds)


def _machine(host: HostSample | None) -> Iterator[str]:
    if host is None:
        return
    yield _gauge("host_load", "Load average of one minute for each core.", _one(round(host.busy, 4)))
    yield _gauge("host_memory_available_bytes", "Memory that may still be used.", _one(host.free_memory_bytes))
    yield _gauge("host_disk_free_bytes", "Room on the fullest disk that Paddock writes to.", _one(host.free_disk_bytes))


def _one(value: float) -> Samples:
    return [(_NONE, value)]


def _gauge(name: str, about: str, samples: Samples) -> str:
    return _family(name, "gauge", about, (("", labels, value) for labels, value in samples))


def _counter(name: str, about: str, samples: Samples) -> str:
    return _family(name, "counter", about, (("", labels, value) for labels, value in samples))


def _histogram(name: str, about: str, counts: list[int], total: float) -> str:
    """`counts` by bucket, the last for all that took longer."""
    bounds = [*map(_number, BUCKETS), "+Inf"]
    sums = list(accumulate(counts))
    lines = [("_bucket", {"le": bound}, float(upto)) for bound, upto in zip(bounds, sums, strict=True)]
    more: list[tuple[str, Labels, float]] = [("_sum", _NONE, round(total, 3)), ("_count", _NONE, sums[-1])]
    return _family(name, "histogram", about, (*lines, *more))


def _family(name: str, kind: str, about: str, samples: Iterable[tuple[str, Labels, float]]) -> str:
    full = f"paddock_{name}"
    lines = [f"# HELP {full} {_escaped(about)}", f"# TYPE {full} {kind}"]
    for suffix, labels, value in samples:
        told = ",".join(f'{key}="{_quoted(text)}"' for key, text in labels.items())
        lines.append(f"{full}{suffix}{f'{{{told}}}' if told else ''} {_number(value)}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
