"""What tasks and CI need of their machine, by their own word and their agent's, and why no machine has it."""

import platform
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from paddock.config.schema import Config
from paddock.core.nodes.labels import OS, labels_needed, need_of, needs_words, read_needs, unmet
from paddock.core.tasks.task import Phase, Task

if TYPE_CHECKING:
    from paddock.fleet.nodes.placing import NodeSeen

NODES_SHOWN = 6


def needs_of(config: Config, task: Task) -> dict[str, str]:
    """What it says itself wins over what its agent says. One under review is the reviewer's, who only reads it: `task`
    is as that agent has it, and what the work on it needs is not needed."""
    agent = config.agents.get(task.agent) if task.agent is not None else None
    own = () if task.phase is Phase.REVIEWING else task.needs
    return labels_needed(read_needs(agent.needs) if agent is not None else (), own)


def needs_of_ci(config: Config) -> dict[str, str]:
    return labels_needed(read_needs(config.land.needs))


def labels_here(config: Config) -> dict[str, str]:
    """Of the machine of the daemon, where agents run on it."""
    return {OS: platform.system().lower(), **labels_needed(read_needs(config.sessions.labels))}


def lacking_here(config: Config, task: Task) -> str:
    """Why it cannot run on this machine; empty if it can."""
    missing = unmet(needs_of(config, task), labels_here(config))
    if not missing:
        return ""
    return f"needs {needs_words(missing)}, and this machine has {needs_words(labels_here(config))} (`sessions.labels`)"


def selector(labels: Mapping[str, str], nodes: Sequence["NodeSeen"], systems: Mapping[str, str]) -> dict[str, str]:
    """The labels by which Ray is to choose.

    Where no node has a label for its system, and all run the one that is needed, that is left out; where they differ or
    are not known, only labels tell. `systems` are what nodes run, by name."""
    wanted = dict(labels)
    unlabelled = bool(nodes) and not any(OS in node.labels for node in nodes)
    if unlabelled and {systems.get(node.name, "") for node in nodes} == {wanted.get(OS)}:
        del wanted[OS]
    return wanted


def why_no_slot(
    labels: Mapping[str, str],
    near: str,
    nodes: Sequence["NodeSeen"],
    drained: Collection[str],
    systems: Mapping[str, str],
) -> str:
    """`labels` are those by which Ray has looked for one."""
    if near:
        return f"its conversation is on node {near}, which has no free slot at the moment"
    if not nodes:
        return "no node offers agent slots (`paddock nodes` says how)"
    fit = [node for node in nodes if not unmet(labels, node.labels)]
    if not fit:
        return f"needs {needs_words(labels)}: {_what_nodes_have(labels, nodes, systems)}"
    having = f" with {needs_words(labels)}" if labels else ""
    stands = [_standing(node, drained) for node in fit[:NODES_SHOWN]]
    more = f", and {len(fit) - NODES_SHOWN} more" if len(fit) > NODES_SHOWN else ""
    return f"no free slot{having}: {', '.join(stands)}{more}"


def _what_nodes_have(labels: Mapping[str, str], nodes: Sequence["NodeSeen"], systems: Mapping[str, str]) -> str:
    """Each need may be met by some node, but not all by one."""
    for key, value in labels.items():
        values = sorted({node.labels[key] for node in nodes if key in node.labels})
        if value not in values:
            what = f"{need_of(key, value)} is missing, " if len(labels) > 1 else ""
            if not values and key == OS:
                return f"{what}{_what_nodes_run(value, systems)}"
            return what + (
                f"nodes have {', '.join(need_of(key, one) for one in values)}" if values else "no node has it"
            )
    return "no node has all of that"


def _what_nodes_run(wanted: str, systems: Mapping[str, str]) -> str:
    found = sorted({system for system in systems.values() if system})
    if wanted in found:
        return f"nodes run {' and '.join(found)}, and none has a label that says which: `ray start --labels {OS}=…`"
    return f"nodes run {' and '.join(found)}" if found else "no node has told what it runs"


def _standing(node: "NodeSeen", drained: Collection[str]) -> str:
    if node.name in drained:
        return f"{node.name} is drained"
    return f"{node.name} has a problem" if node.problem else f"{node.name} has {node.used} of {node.slots} in use"
