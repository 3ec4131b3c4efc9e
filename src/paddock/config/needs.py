"""Needs and labels of machines, as files have them: `gpu, os=linux`, a list, or a table such as `{gpu: true}`."""

from collections.abc import Mapping, Sequence
from typing import Any

from paddock.config.schema import Config
from paddock.core.errors import Misuse
from paddock.core.nodes.labels import read_needs
from paddock.core.wording import split_list


def needs_in(value: Any) -> list[str]:
    """One word for each. Raises ValueError for what is none of these forms."""
    match value:
        case None:
            return []
        case str():
            return list(split_list(value))
        case Mapping():
            return [f"{key}={_plain(one)}" for key, one in value.items()]
        case Sequence():
            return [word for one in value for word in ([one] if isinstance(one, str) else needs_in(_table(one)))]
        case _:
            raise ValueError(f"`{value}` is neither a label nor a list of labels")


def check_needs(config: Config, sources: Mapping[str, str], otherwise: str) -> None:
    """Raises Misuse with the key and the source of the first that no node can have."""
    told = {"sessions.labels": config.sessions.labels, "land.needs": config.land.needs}
    told |= {f"agents.{name}.needs": agent.needs for name, agent in config.agents.items()}
    for key, words in told.items():
        try:
            read_needs(words)
        except Misuse as refusal:
            raise Misuse(f"{sources.get(key, otherwise)}: `{key}`: {refusal.message}", refusal.hint) from None


def _table(value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"`{value}` is not a label")
    return value


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise ValueError(f"`{value}` is not the value of a label")
