"""What can be wrong with a configuration although every key and value is known."""

from collections.abc import Iterator

from paddock.config.schema import Config
from paddock.core.errors import PaddockError
from paddock.core.wording import nearest
from paddock.engines.in_tmux import in_mode
from paddock.engines.registry import engine_names, load_engine
from paddock.engines.settings import NO_SETTINGS
from paddock.fleet.notify.addresses import address_findings
from paddock.fleet.review.policy import BUILT_IN


def config_findings(config: Config) -> Iterator[str]:
    """What is wrong with settings that can be read."""
    known = engine_names(config.engines)
    if config.engine and config.engine not in known:
        yield f"`engine` names `{config.engine}`, which is not an engine{_meant(config.engine, known)}"
    for name, agent in config.agents.items():
        if agent.engine and agent.engine not in known:
            meant = _meant(agent.engine, known)
            yield f"[agents.{name}] names the engine `{agent.engine}`, which is not an engine{meant}"
    for name in config.engines:
        try:
            load_engine(name, config.engines)
        except PaddockError as error:
            yield f"{error.message}{f': {error.hint}' if error.hint else ''}"
    yield from _modes(config)
    for name in config.review.reviewers:
        if name not in config.agents and name != BUILT_IN:
            meant = _meant(name, tuple(config.agents))
            yield f"[review] reviewers names `{name}`, which is not an agent{meant}"
    yield from _kinds_taken_twice(config)
    yield from address_findings(config.notify)
    if not config.land.ci and not config.land.checks:
        yield "[land] ci is empty: nothing can land"


def _modes(config: Config) -> Iterator[str]:
    """Agents whose engine cannot run in the way they ask for."""
    for name, agent in config.agents.items():
        engine = agent.engine or config.engine
        try:
            settings = config.engines.get(engine, NO_SETTINGS)
            in_mode(load_engine(engine, config.engines), settings, agent.mode)
        except PaddockError as error:
            if agent.mode == "tmux" or settings.interactive:
                yield f"[agents.{name}]: {error.message}{f': {error.hint}' if error.hint else ''}"


def _meant(name: str, known: tuple[str, ...]) -> str:
    near = nearest(name, known)
    return f"; did you mean `{near}`?" if near else ""


def _kinds_taken_twice(config: Config) -> Iterator[str]:
    takers: dict[str, str] = {}
    for name, agent in config.agents.items():
        for kind in agent.kinds:
            if (first := takers.setdefault(kind, name)) != name:
                yield f"agents `{first}` and `{name}` both take `{kind}`: until one does it better, the first gets it"
