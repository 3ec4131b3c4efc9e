"""What a person sits in front of: the engine's own terminal in the attempt's conversation, or a program of theirs."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace

from paddock.core.errors import PaddockError
from paddock.core.events import TurnStarted
from paddock.core.fence import Level
from paddock.core.tasks.attempts import open_turn
from paddock.core.tasks.task import Attempt, Task
from paddock.engines.environment import pass_on
from paddock.engines.protocol import Engine, Launch, LaunchFile, TurnRequest
from paddock.fleet.attempts.folders import why_new_conversation
from paddock.fleet.attempts.openings import last_words
from paddock.fleet.attempts.prompts import TurnContext, TurnPlan, plan_turn
from paddock.fleet.attempts.turn import attempt_environment, fence_turn, new_session_id, turn_request
from paddock.fleet.fences import agents_level
from paddock.fleet.site import Site
from paddock.git.worktrees.furnish import Worktree
from paddock.sessions.protocol import MakeFence, Turn, TurnOrder, no_fence
from paddock.store.protocol import Store

SO_FAR = "so-far.md"
"""In the attempt's folder for temporary files: what an agent should know that remembers nothing."""
_OF_TERMINALS = ("COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION")


@dataclass(frozen=True, slots=True)
class Company:
    """`program` is a person's own, instead of the engine's terminal; `fenced` as its agent is, or as they are."""

    program: tuple[str, ...] = ()
    fenced: bool = True


@dataclass(frozen=True, slots=True)
class Planned:
    """A turn that can begin. `session` is the conversation, as far as its name is known; `note` is for the person."""

    attempt: Attempt
    launch: Launch
    order: TurnOrder
    session: str
    note: str = ""


def require_company(site: Site, task: Task, attempt: Attempt, company: Company) -> None:
    """Raises PaddockError for what could not be opened, before anybody is interrupted for it."""
    if company.program:
        _require_program(company.program[0], os.environ, "it is what you asked for")
        return
    engine, folder = site.engine(attempt.engine), site.attempt_folder(attempt.id)
    launch = _interactive(engine, task, TurnRequest("", site.state_dir, folder, base_env=os.environ))
    hint = f"`paddock engines check {engine.name}` tells more; {_offer_shell(task)}"
    _require_program(launch.argv[0], launch.env, hint)


def _interactive(engine: Engine, task: Task, request: TurnRequest) -> Launch:
    launch = engine.interactive(request) if engine.capabilities.interactive else None
    if launch is None:
        raise PaddockError(f"engine `{engine.name}` has no terminal of its own to sit in front of", _offer_shell(task))
    return launch


def _offer_shell(task: Task) -> str:
    return f"`paddock connect {task.id} --shell` opens a shell there"


def _require_program(name: str, env: Mapping[str, str], hint: str) -> None:
    found = os.access(name, os.X_OK) if os.sep in name else shutil.which(name, path=env.get("PATH", os.defpath))
    if not found and not (os.sep in name and not os.path.isabs(name)):
        raise PaddockError(f"`{name}` is not there, or cannot be run", hint)


def fence_of(site: Site, task: Task, attempt: Attempt, company: Company) -> Level:
    """Raises PaddockError where the one that is asked for cannot be had."""
    if not company.fenced:
        return Level.NONE
    capabilities = site.capabilities_of(attempt.engine)
    return agents_level(site.config, site.agent_of(task), attempt.engine, capabilities).level


def why_another_conversation(
    site: Site, task: Task, attempt: Attempt, worktree: Worktree, fence: Level, company: Company
) -> str:
    """Why the engine cannot go on with the one there was; empty if it can, or nobody asks it to."""
    if company.program:
        return ""
    return why_new_conversation(site, site.engine(attempt.engine), task, attempt, str(worktree.path), fence)


async def plan_terminal(
    site: Site, store: Store, task: Task, attempt: Attempt, worktree: Worktree, begun: TurnStarted, company: Company
) -> Planned:
    """The turn that `begun` would begin. Raises PaddockError."""
    opened = open_turn(attempt, begun)
    if company.program:
        launch, session, note = _program_launch(site, opened, worktree, company), opened.session or "", ""
    else:
        engine = site.engine(attempt.engine)
        plan = await _plan(site, store, task, opened, worktree)
        launch = _interactive(engine, task, turn_request(site, engine, task, opened, worktree, plan))
        session = _session_of(site, engine, opened)
        note = _tell_so_far(worktree, plan) if opened.session is None else ""
    kept = {name: os.environ[name] for name in _OF_TERMINALS if name in os.environ}
    launch = replace(launch, env={**launch.env, **kept})
    fence: MakeFence = no_fence
    if company.fenced:
        launch, fence = fence_turn(site, opened, worktree, Level(begun.fence), launch)
    order = TurnOrder(Turn(opened.id, opened.turn), launch.argv, launch.env, launch.cwd, fence=fence)
    return Planned(opened, launch, order, session, note)


async def _plan(site: Site, store: Store, task: Task, attempt: Attempt, worktree: Worktree) -> TurnPlan:
    if attempt.session is not None or attempt.role.only_reads:
        return TurnPlan("", "", attempt.session)
    words = await last_words(site, task, attempt)
    return plan_turn(site, store, task, attempt, worktree, TurnContext(last_words=words))


def _program_launch(site: Site, attempt: Attempt, worktree: Worktree, company: Company) -> Launch:
    base = pass_on(os.environ) if company.fenced else dict(os.environ)
    return Launch(company.program, {**base, **attempt_environment(site, attempt, worktree)}, worktree.path)


def _session_of(site: Site, engine: Engine, attempt: Attempt) -> str:
    """The conversation that the terminal is in, a copy's own where it is one; empty where only the engine knows."""
    if attempt.session is not None and not attempt.fork:
        return attempt.session
    chooses = engine.capabilities.resume and engine.capabilities.chooses_session_id
    return new_session_id(attempt.id, site.marker, attempt.turn) if chooses else ""


def _tell_so_far(worktree: Worktree, plan: TurnPlan) -> str:
    """Where the engine can read what was done before; empty where there is nothing to tell."""
    if not plan.prompt:
        return ""
    file = LaunchFile(worktree.tmp / SO_FAR, plan.prompt)
    file.write()
    return f"the task and what was done so far are in {file.path}: tell it to read that first"
