"""May it start? The admission controllers with their ears to the fleet, and a file that tells others how they stand.

What the controllers have learnt is a hint, not a fact: it is kept in a small file so that a restart does not
forget a quota window, and is rebuilt by itself if the file is lost.
"""

import asyncio
import contextlib
import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec.structs import replace

from paddock.config.schema import Config
from paddock.core.admission.admit import (
    Admission,
    Candidate,
    LimitedBy,
    Refusal,
    Snapshot,
    admit,
    binding_refusal,
    fleet_room,
)
from paddock.core.admission.clocks import backoff_seconds
from paddock.core.admission.controls import (
    Account,
    Controls,
    observe_call,
    observe_end,
    observe_streaks,
    observe_trouble,
    observe_windows,
    reset_account,
    reset_engine,
    tick,
)
from paddock.core.admission.host import Floor, HostPace, HostSample
from paddock.core.admission.pacing import Pace
from paddock.core.admission.quota import Quota
from paddock.core.board import Board
from paddock.core.events import AttemptEnded
from paddock.core.group.sight import GroupSight
from paddock.core.ids import attempt_id
from paddock.core.lead import Succeeded
from paddock.core.money.spending import day_of, expect, with_tasks
from paddock.core.tasks.task import Task
from paddock.core.tasks.vocabulary import NOT_THE_ENGINES, Outcome
from paddock.core.trace import RateLimited, TraceEntry, Usage, UsageScope, WindowsTold
from paddock.engines.registry import engine_names
from paddock.fleet.dispatch.failures import UNHEARD_SECONDS, measures_on, unheard_refusals
from paddock.fleet.dispatch.pricing import expected_cost
from paddock.fleet.dispatch.refusals import LIMITS_FILE, write_waiting
from paddock.fleet.group.membership import Membership
from paddock.fleet.site import Site
from paddock.sessions.hints import read_hint, write_hint

TICK_SECONDS = 5.0
SAVE_SECONDS = 0.25
QUIET_SAVE_SECONDS = 30.0
SETTLE_SECONDS = 20.0
"""Until the controllers have evaluated the last call of the last agent."""
NO_QUOTA = 1_000_000.0
DISK_BASE_SECONDS, DISK_CAP_SECONDS = 10.0, 300.0


SIGHT_SECONDS = 60.0
"""What was seen of a group so long ago says nothing of it now."""


class LimitsFile(msgspec.Struct):
    """What `paddock limits` and `paddock status` read. `waiting` maps a ready task to why it has not started."""

    at: float
    controls: Controls
    waiting: dict[str, str]
    host: HostSample | None = None
    group: GroupSight | None = None


@dataclass
class Gate:
    site: Site
    controls: Controls = field(default_factory=Controls)
    waiting: dict[str, str] = field(default_factory=dict)
    known_at: float = 0.0
    look_at: float | None = None
    """When to ask again for what was refused, unless the agents that run are all that may."""
    group: Membership | None = None
    """The repositories that draw on the same accounts; None where there are none."""
    bound: Refusal | None = None
    """What keeps most of those from starting that want to."""
    _learns_until: float = 0.0
    _ticked_at: float = 0.0
    _saved_at: float = 0.0
    _unsaved: bool = False
    _kept: tuple[Controls, dict[str, str], HostSample | None, GroupSight | None] | None = None
    _sight: GroupSight | None = None
    _host: HostSample | None = None
    _disk_trouble: str = ""
    _disk_until: float = 0.0
    _disk_strikes: int = 0
    _heeded: float = 0.0

    def __post_init__(self) -> None:
        kept = read_limits(self.site.state_dir)
        if kept is not None:
            self.controls, self.known_at = kept.controls, kept.at
        if self.group is not None:
            self.group.known_at = self.known_at

    def hear(self, account: str, entry: TraceEntry, *, is_first: bool) -> None:
        """A step of a running agent: a call that went through or was refused, or what is said of the account."""
        now = self.site.clock.now()
        if isinstance(entry, Usage) and entry.scope is UsageScope.DELTA:
            self.controls = observe_call(self.controls, account, entry.tokens, now, is_first=is_first)
        elif isinstance(entry, RateLimited):
            seed = crc32(f"{account}:{int(now)}".encode())
            self.controls = observe_trouble(self.controls, account, entry, now, seed)
            self._share(account)
        elif isinstance(entry, WindowsTold):
            self.controls = observe_windows(self.controls, account, entry, now)
            self._share(account)

    def _share(self, account: str, *, is_reset: bool = False) -> None:
        if self.group is not None:
            self.group.hear(account, is_reset=is_reset)
        self.save()

    def reset(self, name: str) -> None:
        """A person says the engine or account works again."""
        engines = [engine for engine in self.controls.breakers if self.site.account_of(engine) == name]
        for engine in {name, *engines}:
            self.controls = reset_engine(self.controls, engine)
        account = self.site.account_of(name)
        self.controls = reset_account(self.controls, account)
        self._share(account, is_reset=True)

    def hear_end(self, engine: str, task: str, started: float, end: AttemptEnded) -> None:
        outcome, reason = end.outcome, end.reason
        if outcome is Outcome.NO_SPACE:
            self._hear_full_disk(reason)
        never_ran = reason if outcome is Outcome.NEVER_RAN else None
        if never_ran is not None or outcome not in NOT_THE_ENGINES:
            self._disk_strikes = 0
            self.controls = observe_end(self.controls, engine, never_ran, task, started, self.site.clock.now())
            if never_ran is not None:
                self.save()

    def _hear_full_disk(self, reason: str) -> None:
        """A write failed, whatever the file system reports as free: nothing starts for a while."""
        self._disk_strikes += 1
        pause = backoff_seconds(self._disk_strikes, DISK_BASE_SECONDS, DISK_CAP_SECONDS, crc32(reason.encode()))
        self._disk_trouble, self._disk_until = reason, self.site.clock.now() + max(DISK_BASE_SECONDS, pause)
        self._ticked_at = 0.0

    def admit(
        self,
        board: Board,
        tasks: Sequence[Task],
        running: Mapping[str, int],
        cap: int,
        sight: GroupSight | None = None,
    ) -> Admission:
        """Who of these may start now, in this order of preference. `sight` is how the group stands."""
        now = self.site.clock.now()
        self._sight = sight
        if self.group is not None and sight is not None:
            self.controls = self.group.heed(self.controls, sight)
        self._take_stock(dict(running), now)
        self._heed(board, now)
        self._lift_quotas({self.site.engine_name(task) for task in tasks})
        fleet = self._fleet(board, running, cap, now)
        candidates = tuple(self._candidate(board, task, now) for task in tasks)
        admission = admit(
            dataclasses.replace(fleet, candidates=candidates, ledger=with_tasks(board.spending.ledger, tasks)), now
        )
        self.controls = admission.controls
        self.waiting = {refusal.attempt.partition(".")[0]: refusal.reason for refusal in admission.refusals}
        is_full = all(refusal.by is LimitedBy.CAP for refusal in admission.refusals)
        self.look_at = None if is_full else now + TICK_SECONDS
        self.bound = binding_refusal(admission.refusals)
        if self.group is not None:
            self.group.note_refusals(admission)
        return admission

    def _heed(self, board: Board, now: float) -> None:
        """What is known of failures: engines that never run, and providers that refused without our hearing it."""
        if board.cause_part.is_nothing:
            return
        self.controls = observe_streaks(self.controls, board.causes.streaks)
        heeded = max((cause.last for cause in board.causes.standing.values()), default=0.0)
        for account, trouble in unheard_refusals(board, max(self._heeded, now - UNHEARD_SECONDS), now):
            seed = crc32(f"{account}:{int(now)}".encode())
            self.controls = observe_trouble(self.controls, account, trouble, now, seed)
            self._share(account)
        self._heeded = max(self._heeded, heeded)

    def bears(self, board: Board, running: Mapping[str, int], cap: int) -> int:
        """How many agents could be running now; fewer than the cap where something else is short."""
        if self.bound is not None:
            return sum(running.values())
        room, _, _ = fleet_room(self._fleet(board, running, cap, self.site.clock.now()))
        return max(0, sum(running.values()) + room)

    def _fleet(self, board: Board, running: Mapping[str, int], cap: int, now: float) -> Snapshot:
        """What admission looks at, before anybody wants to start."""
        trouble = self._disk_trouble if now < self._disk_until else None
        known = LimitsFile(now, self.controls, {}, self._host, self._sight)
        return dataclasses.replace(take_snapshot(self.site, board, known, running, cap, now), disk_trouble=trouble)

    @property
    def host(self) -> HostSample | None:
        """The machine as it was last looked at, if that was not long ago."""
        now = self.site.clock.now()
        return self._host if self._host is not None and now - self._host.at < SETTLE_SECONDS else None

    def show_group(self, sight: GroupSight | None) -> None:
        """For readers, also while nothing wants to start."""
        if (
            sight is not None
            and sight is not self._sight
            and (self._sight is None or sight.own.at > self._sight.own.at)
        ):
            self._sight = sight
            self.save()

    def rest(self) -> None:
        """Nothing wants to start."""
        self.look_at = self.bound = None
        if self.group is not None:
            self.group.rest()
        if self.waiting:
            self.waiting = {}
            self.save()

    def learn(self, running: Mapping[str, int]) -> None:
        """Updates the controllers as long as running agents teach them, and a little longer."""
        now = self.site.clock.now()
        if running:
            self._learns_until = now + SETTLE_SECONDS
        if now - self._ticked_at >= TICK_SECONDS and (now < self._learns_until or self._kept is None):
            self._take_stock(dict(running), now)
            self.show() if running else self.save()

    @property
    def learns_at(self) -> float | None:
        """When to update them again, at the same moments whatever else there is to do; None if nobody teaches."""
        at = self._ticked_at + TICK_SECONDS
        return at if at < self._learns_until else None

    def show(self) -> None:
        """Saves what others would miss: a new reason at once, what was learned now and then."""
        shown = self._kept is not None and self._kept[1] == self.waiting
        if not shown or self.site.clock.now() - self._saved_at >= QUIET_SAVE_SECONDS:
            self.save()

    def _lift_quotas(self, engines: set[str]) -> None:
        """Engines without a provider have no quota to discover; their refusals still count on the clocks."""
        accounts = dict(self.controls.accounts)
        for engine in engines:
            if not self.site.capabilities_of(engine).quota:
                name = self.site.account_of(engine)
                accounts[name] = replace(accounts.get(name, Account()), quota=Quota(target=NO_QUOTA))
        self.controls = replace(self.controls, accounts=accounts)

    def _candidate(self, board: Board, task: Task, now: float) -> Candidate:
        engine = self.site.engine_name(task)
        learnt = expect(board.spending, task, engine)
        return Candidate(
            attempt=attempt_id(task.id, task.newest + 1),
            task=task.id,
            engine=engine,
            account=self.site.account_of(engine),
            cost=expected_cost(self.site, board, task, engine, now),
            convoy=task.convoy,
            prefix=f"{engine}/{task.agent or ''}",
            cold_tokens=learnt.spawn_tokens.median,
        )

    def _take_stock(self, running: dict[str, int], now: float) -> None:
        if now - self._ticked_at < TICK_SECONDS:
            return
        self._ticked_at = now
        self._host = self.site.machine.sample(now)
        if not self.controls.host.stepped_at:
            cap = float(self.site.config.limits.max_agents)
            self.controls = replace(self.controls, host=HostPace(slots=cap))
        sight, accounts = self._sight, self.controls.accounts
        elsewhere = {name: sight.elsewhere(name) for name in accounts} if sight is not None else {}
        self.controls = tick(self.controls, running, self._host, now, elsewhere)
        # Agents wait for a model most of the time: one per core is never too many, whoever else loads the machine.
        slots = max(self.controls.host.slots, float(self._host.cores))
        self.controls = replace(self.controls, host=replace(self.controls.host, slots=slots))

    def save(self) -> None:
        """For other processes to read: at once, or soon if a busy fleet has just done so."""
        if self.site.clock.now() - self._saved_at >= SAVE_SECONDS:
            self._write()
        elif not self._unsaved:
            self._unsaved = True
            asyncio.get_running_loop().call_later(SAVE_SECONDS, self.flush)

    def flush(self) -> None:
        if self._unsaved:
            with contextlib.suppress(Succeeded):
                self._write()

    def _write(self) -> None:
        """If it can be: the disk may be full, or the repository gone."""
        with contextlib.suppress(OSError):
            self._write_files()

    def _write_files(self) -> None:
        self._saved_at, self._unsaved = self.site.clock.now(), False
        kept = (self.controls, dict(self.waiting), self._host, self._sight)
        if kept == self._kept:
            return
        self.site.lead.require()
        write_hint(self.site.state_dir / LIMITS_FILE, LimitsFile(self._saved_at, *kept))
        if self._kept is None or self.waiting != self._kept[1]:
            write_waiting(self.site.state_dir, self.waiting)
        self._kept = kept


def read_limits(state_dir: Path) -> LimitsFile | None:
    """None when there is none, or one of another version."""
    return read_hint(state_dir / LIMITS_FILE, LimitsFile)


def take_snapshot(
    site: Site, board: Board, known: LimitsFile, running: Mapping[str, int], cap: int, now: float
) -> Snapshot:
    """What admission looks at, with nobody who wants to start. The gate decides by it, and others show it."""
    limits, floor = site.config.limits, site.root.floor
    return Snapshot(
        candidates=(),
        running=dict(running),
        controls=known.controls,
        ledger=board.spending.ledger,
        day=day_of(now),
        cap=cap,
        host=known.host if site.config.sessions.runner == "local" else None,
        adapts_to_load=limits.adapt_to_load,
        floor=Floor(disk_bytes=floor.free_bytes, inodes=floor.free_inodes),
        agent_memory_bytes=limits.agent_memory_mb * 1024 * 1024,
        merge_queue_depth=len(board.queue.entries),
        merge_queue_limit=limits.merge_queue,
        pace=Pace(limits.pace),
        most_used=limits.window_percent / 100,
        measures=measures_on(board, site.sessions.host.name, now),
        group=known.group if known.group is not None and now - known.group.own.at < SIGHT_SECONDS else None,
    )


def running_by_account(site: Site, board: Board) -> Counter[str]:
    """The agents at work as the log has them, by the account they draw on."""
    attempts = (board.tasks[name].live_attempt for name in board.live)
    return Counter(one.account or site.account_of(one.engine) for one in attempts if one is not None)


def known_accounts(config: Config, kept: LimitsFile | None) -> set[str]:
    """The engines and accounts there are, and those that something is remembered of."""
    engines = config.engines
    seen = {*kept.controls.accounts, *kept.controls.breakers} if kept is not None else set()
    return {*engine_names(), *engines, *(engine.account for engine in engines.values() if engine.account), *seen}
