"""One repository as the fleet sees it: where things are and how they are configured."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from errno import EACCES
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from paddock.config.schema import Agent, Config, Worktrees
from paddock.core.errors import PaddockError
from paddock.core.ids import RUN_OWNER, AttemptId, attempt_number, task_of
from paddock.core.lead import Lead
from paddock.core.money.prices import Price, PriceBook, Rates, price_book, read_table
from paddock.core.money.pricetable import TABLE
from paddock.core.tasks.deadlines import TurnLimits
from paddock.core.tasks.repetition import LoopLimits
from paddock.core.tasks.task import Attempt, Task
from paddock.engines.protocol import Capabilities, Engine
from paddock.engines.registry import load_engine
from paddock.engines.settings import NO_SETTINGS
from paddock.fleet.checkpoints import checkpoint
from paddock.fleet.clock import SYSTEM_CLOCK, WallClock
from paddock.fleet.desk.wire import SOCKET
from paddock.fleet.machine import Machine, ThisMachine
from paddock.fleet.seat import RepositorySeat
from paddock.git.disk import DiskFloor
from paddock.git.repo import Fetched, Repo
from paddock.git.worktrees.setup import shell_setup
from paddock.git.worktrees.slots import PortPlan, WorktreeRoot, default_root, own_ports
from paddock.sessions.opening import open_sessions
from paddock.sessions.protocol import Sessions
from paddock.store.digest import blake2b

if TYPE_CHECKING:
    from paddock.fleet.attempts.ground import Ground
    from paddock.git.worktrees.furnish import Worktree
    from paddock.git.worktrees.setup import SetupCommand

NO_AGENT = Agent()
CHECKOUT_STEPS = "sync."
PORT_AFTER_ALL = 65_536


def marker_of(common_dir: Path, first_hash: bytes) -> str:
    """One word for one log in one place: a copied repository has the same log and must not end the other's agents.

    A folder that is moved keeps its number, a copy gets another.
    """
    place = common_dir.stat()
    return blake2b(first_hash + f"{place.st_dev}:{place.st_ino}".encode(), digest_size=8).hexdigest()


@dataclass(eq=False)
class Site:
    """Every process of the fleet carries `marker`; see `marker_of`. `log_identity` and `label` are the log's own: what
    the fleet keeps in files is below the one, and branches and worktrees carry the other, so that no log ever takes
    what was another's for its own.

    Everyone shares one object: an edit to [land] or [limits] that applies at once replaces `config` in it.
    """

    repo: Repo
    config: Config
    state_dir: Path
    marker: str
    clock: WallClock = SYSTEM_CLOCK
    log_identity: str = ""
    label: str = ""
    has_work_of: Callable[[Task], bool] = lambda _task: True
    """Whether what the task's attempts have made is in the repository: from another machine it has to be fetched
    first. What is not here yet is left for the next round."""

    @property
    def seat(self) -> RepositorySeat:
        """Where it can be seen which daemon leads."""
        return RepositorySeat(self.repo, self.state_dir, self.marker)

    @property
    def lead(self) -> Lead:
        """What everybody here acts by."""
        return self.repo.lead

    def follow(self, lead: Lead) -> None:
        """From now on everything is done by this lead."""
        self.repo = self.repo.led_by(lead)
        self.__dict__.pop("root", None)
        self.sessions.lead = lead

    def checkpoint(self, name: str) -> None:
        """A named point between two effects, passed only by who still has the lead.

        The steps of a checkout's update are different: nobody else can take one while its lock is held, and half an
        update is worse for its user than a late one. There the lead is asked once, behind the lock.
        """
        checkpoint(name)
        if not name.startswith(CHECKOUT_STEPS):
            self.lead.require()

    @cached_property
    def sessions(self) -> Sessions:
        """What runs the turns of attempts and CI runs."""
        return open_sessions(self.marker, self.owner_folder, self.checkpoint)

    @cached_property
    def ground(self) -> "Ground":
        """Where attempts work."""
        from paddock.fleet.attempts.ground import GitGround

        return GitGround(self)

    @cached_property
    def machine(self) -> Machine:
        """What agents run on, and what it has left."""
        return ThisMachine((self.state_dir, self.root.path))

    @cached_property
    def root(self) -> WorktreeRoot:
        settings = self.config.worktrees
        top = self.repo.main or self.repo.common_dir
        path = (top / os.path.expanduser(settings.root)).resolve() if settings.root else default_root(self.repo)
        path /= self.label
        return WorktreeRoot(
            self.repo,
            path,
            most=settings.most or 2 * self.config.limits.max_agents,
            keep=settings.keep,
            setup=shell_setup(settings.setup) if settings.setup else (),
            dress_setup=self._dress_setup,
            setup_timeout_seconds=settings.setup_timeout,
            ports=_ports(path, settings),
            floor=DiskFloor(free_bytes=settings.disk_floor_mb * 1024 * 1024, free_inodes=10_000),
            largest_file_mb=settings.largest_file_mb,
        )

    def _dress_setup(self, argv: tuple[str, ...], worktree: "Worktree") -> "SetupCommand":
        from paddock.fleet.fences import fence_setup

        return fence_setup(self, argv, worktree)

    def require_root(self) -> None:
        """Raises PaddockError where the folder that `worktrees.root` names cannot be made."""
        if not self.config.worktrees.root:
            return
        path = self.root.path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            if os.access(path, os.W_OK | os.X_OK):
                return
            reason = os.strerror(EACCES)
        raise PaddockError(
            f"cannot create worktrees in `{path}`: {reason}", "set `[worktrees] root` to a folder you may write to"
        )

    def turn_limits(self, task: Task) -> TurnLimits:
        """The deadlines of a turn: those of the task's agent, or else of [timeouts]."""
        times, own = self.config.timeouts, self.agent_of(task).timeouts
        return TurnLimits(
            times.start if own.start is None else own.start,
            times.silence if own.silence is None else own.silence,
            times.turn if own.turn is None else own.turn,
            times.tool if own.tool is None else own.tool,
        )

    @cached_property
    def attempts_folder(self) -> Path:
        return self.state_dir / "attempts" / self.log_identity

    @cached_property
    def runs_folder(self) -> Path:
        return self.state_dir / "runs" / self.log_identity

    def attempt_folder(self, attempt: AttemptId) -> Path:
        return self.attempts_folder / f"{task_of(attempt)}/{attempt_number(attempt)}"

    @property
    def memories_folder(self) -> Path:
        """What conversations need to go on in another turn or attempt."""
        return self.state_dir / "memory" / self.log_identity

    def memory_of(self, attempt: Attempt) -> Path:
        """The same, of the attempt's own conversation: a fence shows no other."""
        return self.memories_folder / (attempt.memory or attempt.id)

    @cached_property
    def identity(self) -> dict[str, str]:
        """Who agents commit as, where their tools hide the user's own git configuration."""
        name = os.environ.get("GIT_AUTHOR_NAME") or self.repo.config("user.name") or "Paddock agent"
        email = os.environ.get("GIT_AUTHOR_EMAIL") or self.repo.config("user.email") or "agent@localhost"
        return {
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": email,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": email,
        }

    def run_folder(self, run: str) -> Path:
        return self.runs_folder / run

    @property
    def sandbox_root(self) -> Path:
        return self.root.path / ".ci"

    def owner_folder(self, owner: str) -> Path:
        """Where the record of an attempt's turns is, or of a CI run's."""
        run = owner.removeprefix(RUN_OWNER)
        return self.attempt_folder(AttemptId(owner)) if run == owner else self.run_folder(run)

    def desk_of(self, owner: str) -> Path:
        """The socket on which a worker asks. The folder around it exists for it alone: a fence shows that folder, and
        with it the sockets of daemons to come."""
        return self.owner_folder(owner) / "desk" / SOCKET

    def furnish_desk(self, owner: str) -> str:
        """Where the worker will find it. A fence shows only what is there when it begins."""
        place = self.desk_of(owner)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(place)

    def agent_of(self, task: Task) -> Agent:
        return self.config.agents.get(task.agent or "", NO_AGENT)

    def paths_of(self, task: Task) -> tuple[str, ...]:
        """The globs of what an attempt at the task may change, as its prompt says; none: everything."""
        return tuple(dict.fromkeys((*task.paths, *self.agent_of(task).owns)))

    def loop_limits(self, task: Task) -> LoopLimits:
        limits, agent = self.config.limits, self.agent_of(task)
        calls = limits.max_calls if agent.max_calls is None else agent.max_calls
        turns = limits.max_turns if agent.max_turns is None else agent.max_turns
        return LoopLimits(repeats=limits.repeats, calls=calls, answers=turns)

    def attempt_usd(self, task: Task) -> float:
        """What one attempt at the task may cost in dollars; 0 is no limit."""
        own = self.agent_of(task).attempt_usd
        return self.config.limits.attempt_usd if own is None else own

    def starts_afresh(self, task: Task) -> bool:
        """Whether a try after a failure begins from main, in a conversation of its own."""
        return self.config.limits.fresh or self.agent_of(task).fresh

    def engine_name(self, task: Task) -> str:
        """Raises PaddockError if no engine is set for the task."""
        name = task.engine or self.agent_of(task).engine or self.config.engine
        if not name:
            raise PaddockError(
                f"no engine is set for `{task.id}`",
                "set `engine` in paddock.toml, or run `paddock edit ID --engine NAME`",
            )
        return name

    def model_of(self, task: Task, engine: str) -> str:
        """The model set for the task: by its agent, or else by its engine's table."""
        settings = self.config.engines.get(engine)
        return self.agent_of(task).model or (settings.model if settings is not None else None) or ""

    def account_of(self, engine: str) -> str:
        """Whose quota an engine draws on."""
        settings = self.config.engines.get(engine)
        return settings.account if settings is not None and settings.account else engine

    @cached_property
    def prices(self) -> PriceBook:
        """The table shipped with Paddock, with the user's own prices instead where there are any."""
        own = (
            Price(model, "", Rates(one.input, one.output, one.cache_read, one.cache_write))
            for model, one in self.config.prices.items()
        )
        return price_book(read_table(TABLE), own)

    def engine(self, name: str) -> Engine:
        """As it is read, and run where nothing else is asked for; see `engine_for` and `engine_of`."""
        if name not in self._engines:
            self._engines[name] = load_engine(name, self.config.engines)
        return self._engines[name]

    def engine_for(self, task: Task) -> Engine:
        """The engine that a new attempt at the task would have. Raises PaddockError where nothing could run it."""
        return self._in_mode(self.engine_name(task), self.agent_of(task))

    def engine_of(self, attempt: Attempt) -> Engine:
        """The engine as it runs the attempt's turns. Raises PaddockError as `engine_for` does."""
        return self._in_mode(attempt.engine, self.config.agents.get(attempt.agent or "", NO_AGENT))

    def _in_mode(self, name: str, agent: Agent) -> Engine:
        from paddock.engines.in_tmux import in_mode

        settings = self.config.engines.get(name, NO_SETTINGS)
        return in_mode(self.engine(name), settings, agent.mode)

    def capabilities_of(self, name: str) -> Capabilities:
        """None of them where there is no such engine."""
        try:
            return self.engine(name).capabilities
        except PaddockError:
            return Capabilities()

    @cached_property
    def _engines(self) -> dict[str, Engine]:
        return {}

    def near_tip(self) -> str | None:
        """`main_tip` where a file tells it, without a process or a remote; None where only that would."""
        return None if self.config.land.remote else self.repo.loose_tip(self.config.landing_branch)

    def main_tip(self, tell: Callable[[str], None] = lambda _problem: None) -> str:
        """The commit agents start from, fetched first where main lives on a remote. `tell` hears why that failed."""
        branch, remote = self.config.landing_branch, self.config.land.remote
        local = self.repo.branch_tip(branch)
        told = self.repo.fetch(remote, branch) if remote else Fetched(None)
        tell(told.problem)
        fetched = told.sha
        if fetched is not None and (local is None or self.repo.is_ancestor(local, fetched)):
            return fetched
        if local is None:
            raise PaddockError(
                f"there is no branch `{branch}` to start from",
                f"create it with `git branch {branch}`, or set `main` in paddock.toml",
            )
        return local


def _ports(root: Path, settings: Worktrees) -> PortPlan:
    first, per_slot = settings.first_port, max(settings.ports, 1)
    if not first:
        return own_ports(root, per_slot)
    plan = PortPlan(first, per_slot)
    return plan if first < plan.after_last else PortPlan(first, per_slot, after_last=PORT_AFTER_ALL)
