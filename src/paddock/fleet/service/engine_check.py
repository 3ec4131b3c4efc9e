"""Which engines are here, and whether one answers: for `engines` and `engines check`, whoever asks."""

import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from paddock.core.errors import PaddockError
from paddock.core.intent.budget import reset_limits
from paddock.engines.protocol import Probe
from paddock.engines.registry import BUILT_IN, engine_names, load_engine
from paddock.engines.settings import EngineSettings
from paddock.fleet.service.tryout import try_engine
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace

CHECK_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class CheckedEngine:
    """`problem` is empty when it answered. `where` is the folder it was asked in."""

    probe: Probe
    answer: str
    problem: str
    where: str


def found_engines() -> list[str]:
    """Built-in engines whose program is on PATH. One without a model behind it does not count."""
    return [name for name in BUILT_IN if shutil.which(name) and not load_engine(name).capabilities.free]


def probe_engines(settings: Mapping[str, EngineSettings]) -> list[Probe]:
    """Each starts a program to ask for its version; together they take as long as the slowest."""
    names = engine_names(settings)
    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(lambda name: _probe(name, settings), names))


def _probe(name: str, settings: Mapping[str, EngineSettings]) -> Probe:
    """An engine that cannot be loaded says why and does not hide the others."""
    try:
        return load_engine(name, settings).probe(os.environ)
    except PaddockError as error:
        return Probe(name, name, None, hints=(error.message, *([error.hint] if error.hint else [])))


def check_engine(workspace: Workspace, name: str, timeout_seconds: float = CHECK_SECONDS) -> CheckedEngine:
    """One word, asked in a worktree. One that answers may be used again, whatever stopped it."""
    engine = load_engine(name, workspace.config.engines)
    site = Site(workspace.repo, workspace.config, workspace.state_dir, "check")
    with ThreadPoolExecutor(1) as pool:
        # At the same time: a cold CLI is slow enough to answer one of them.
        probing = pool.submit(engine.probe, os.environ)
        tried = try_engine(site, engine, timeout_seconds)
        probe = probing.result()
    problem = tried.problem if probe.installed else "it is not installed"
    if not problem and workspace.has_log:
        workspace.record(lambda _board: reset_limits(name, (name,)))
    return CheckedEngine(probe, tried.answer, problem, tried.where)
