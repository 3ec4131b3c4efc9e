"""What can be wrong with the agents of a repository, although their files can be read; and the files that cannot."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from paddock.config.agents import FOREIGN, BadAgentFile, scan_agent_files
from paddock.config.load import Loaded, load_config
from paddock.config.schema import Agent, Config
from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.core.leases.globs import globs_overlap, matches_file
from paddock.core.money.prices import find_price
from paddock.core.money.spending import day_of
from paddock.core.routing import REVIEWER, WORKER
from paddock.core.wording import check_labels, check_name, check_paths, nearest
from paddock.engines.protocol import Engine
from paddock.engines.registry import engine_names, load_engine
from paddock.fleet.clock import SYSTEM_CLOCK
from paddock.fleet.site import Site
from paddock.fleet.workspace import Workspace

BRIEF_BYTES = 2_000
_WILDCARDS = "*?[{\\"


@dataclass(frozen=True, slots=True)
class Remark:
    """`is_problem`: something will not work; otherwise it is only worth a look."""

    subject: str
    words: str
    is_problem: bool = False


def check_agents(workspace: Workspace) -> list[Remark]:
    """Problems first."""
    bad = [found for found in scan_agent_files(workspace.top) if isinstance(found, BadAgentFile)]
    remarks = [Remark(one.path, _told(one.problem), one.fatal) for one in bad]
    try:
        loaded = load_config(workspace.top, skip_bad_agents=True)
    except PaddockError as error:
        remarks.append(Remark("settings", _told(error), is_problem=True))
    else:
        remarks += _remarks(workspace, loaded)
    return sorted(remarks, key=lambda one: not one.is_problem)


def _told(error: PaddockError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message


def _remarks(workspace: Workspace, loaded: Loaded) -> Iterator[Remark]:
    config = loaded.config
    sources = {setting.key: setting.source for setting in loaded.settings}
    site = Site(workspace.repo, config, workspace.state_dir, "check")
    tree = workspace.repo.git("ls-tree", "-r", "-z", "--name-only", "HEAD", check=False)
    files = tuple(name for name in tree.records if name) if tree.ok else None
    for name, agent in config.agents.items():
        yield from _of_brief(name, agent, sources.get(f"agents.{name}.brief", ""))
        yield from _of_paths(name, agent, files)
        yield from _of_words(name, agent)
        yield from _of_engine(name, agent, site)
    yield from _of_all(config)


def _of_brief(name: str, agent: Agent, source: str) -> Iterator[Remark]:
    size = len(agent.brief.encode())
    if size > BRIEF_BYTES:
        yield Remark(
            name, f"its brief has {size:,} bytes, over {BRIEF_BYTES:,}: narrow is the point, cut it or split it"
        )
    if not agent.brief.strip():
        yield Remark(name, "it has no brief: it is told nothing but its task")
    if source.startswith(FOREIGN) and agent.role == WORKER and "review" in f"{name} {agent.description}".lower():
        yield Remark(name, f"it seems to review, but is a worker: add `role: reviewer` to {source} if it should")


def _of_paths(name: str, agent: Agent, files: tuple[str, ...] | None) -> Iterator[Remark]:
    for glob in agent.owns:
        try:
            check_paths((glob,))
        except PaddockError as error:
            yield Remark(name, f"owns: {_told(error)}", is_problem=True)
            continue
        if files is not None and not _is_matched(glob, files):
            yield Remark(name, f"it owns `{printable(glob, 80)}`, which matches no file")


def _is_matched(glob: str, files: tuple[str, ...]) -> bool:
    start = glob[: min((glob.find(mark) for mark in _WILDCARDS if mark in glob), default=len(glob))].lower()
    return any(matches_file(glob, name) for name in files if name.lower().startswith(start.rstrip("/")))


def _of_words(name: str, agent: Agent) -> Iterator[Remark]:
    try:
        for kind in agent.kinds:
            check_name("kind", kind)
        check_labels(agent.labels)
    except PaddockError as error:
        yield Remark(name, _told(error), is_problem=True)


def _of_engine(name: str, agent: Agent, site: Site) -> Iterator[Remark]:
    wanted = agent.engine or site.config.engine
    if not wanted:
        return
    known = engine_names(site.config.engines)
    if wanted not in known:
        near = nearest(wanted, known)
        meant = f"; did you mean `{near}`?" if near else f"; known: {', '.join(known)}"
        yield Remark(name, f"its engine `{printable(wanted, 80)}` is not an engine{meant}", is_problem=True)
        return
    try:
        engine = load_engine(wanted, site.config.engines)
    except PaddockError as error:
        yield Remark(name, _told(error), is_problem=True)
        return
    if (program := _missing_program(engine, site.config, wanted)) is not None:
        yield Remark(name, f"its engine `{wanted}` is not installed: there is no `{program}` on PATH")
    if agent.tools and not engine.capabilities.tools:
        yield Remark(name, f"`tools` has no effect: {wanted} cannot be told which tools it may use")
    can, model = engine.capabilities, agent.model
    if model and not can.cost and not can.free and find_price(site.prices, model, day_of(SYSTEM_CLOCK.now())) is None:
        yield Remark(name, f"there is no price for `{printable(model, 80)}`: set [prices.{printable(model, 80)}]")


def _missing_program(engine: Engine, config: Config, name: str) -> str | None:
    own = config.engines.get(name)
    program = own.command[0] if own is not None and own.command else getattr(engine, "program", "")
    return program if program and shutil.which(program) is None else None


def _of_all(config: Config) -> Iterator[Remark]:
    if lacking := [name for name, agent in config.agents.items() if not (agent.engine or config.engine)]:
        yield Remark("engine", f"none is set for {', '.join(lacking)}: set `engine` at the top of paddock.toml")
    workers = {name: agent for name, agent in config.agents.items() if agent.role == WORKER}
    yield from _shared_paths(workers)
    for (first, one), (second, other) in combinations(workers.items(), 2):
        for kind in one.kinds:
            if kind in other.kinds:
                yield Remark(first, f"it takes `{kind}`, and so does `{second}`: the one that did it better gets it")
    reviewers = [name for name, agent in config.agents.items() if agent.role == REVIEWER]
    if config.land.approval == "review" and not reviewers and not config.review.reviewers:
        words = '`[land] approval = "review"`, but no agent has the role reviewer: `paddock init --agents` writes one'
        yield Remark("review", words, is_problem=True)
    for name in config.review.reviewers:
        if name not in config.agents:
            yield Remark("review", f"`[review] reviewers` names `{name}`, which is not an agent", is_problem=True)


def _shared_paths(workers: Mapping[str, Agent]) -> Iterator[Remark]:
    for (first, one), (second, other) in combinations(workers.items(), 2):
        shared = next(((a, b) for a in one.owns for b in other.owns if globs_overlap(a, b)), None)
        if shared is not None:
            words = f"it owns `{shared[0]}`, and `{second}` owns `{shared[1]}`: where both match, the closer one counts"
            yield Remark(first, words)
