"""The nodes as text: one row for each, what is wrong with it below, and where their tools differ."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from paddock.cli.terminal.text import cut, paint, width
from paddock.core.durations import rough_duration
from paddock.core.nodes.labels import needs_words
from paddock.views.fleet.nodes import AWAY, DRAINED, DRAINING, PROBLEM, UP, NodesView, NodeView, ToolDrift, shown_labels

NAME = 32
MARKS = {
    UP: ("●", "green"),
    DRAINING: ("◐", "yellow"),
    DRAINED: ("○", "cyan"),
    PROBLEM: ("!", "red"),
    AWAY: ("✗", "red"),
}
HEAD = ("node", "state", "slots", "agents", "CI", "load", "memory free", "disk free", "worktrees")
_GIB = 2**30


def node_lines(view: NodesView, now: float, *, is_ours: bool) -> Iterator[str]:
    """`is_ours` tells whether what the daemon notes down is on this machine."""
    if view.runner == "local":
        yield from _local_lines(view)
        if view.ci == "local" and not view.nodes:
            return
        yield ""
    yield paint(view.words, bold=True) + _known_words(view, is_ours=is_ours)
    if not view.nodes:
        yield f"Ray at `{cut(view.address, 80)}` offers no agent slots; a node offers them when it joins:"
        yield "  ray start --address HOST:6379 --resources '{\"agent_slots\": 8}' --labels paddock-node=NAME"
        return
    yield ""
    rows = [HEAD, *(_cells(node) for node in view.nodes.values())]
    wide = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    yield paint(_row(HEAD, wide), dim=True)
    for node, row in zip(view.nodes.values(), rows[1:], strict=True):
        yield _row(row, wide, MARKS[node.state][1])
        for words in _notes(node, now):
            yield f"    {cut(words, max(20, width() - 4))}"
    yield from drift_lines(view.drift)
    if not view.drift and (same := _same_tools(view)):
        yield from ("", paint(cut(f"the same on all: {same}", width()), dim=True))


def drift_lines(drift: Sequence[ToolDrift]) -> Iterator[str]:
    if not drift:
        return
    yield from ("", paint("tools differ", bold=True))
    wide = max(len(one.tool) for one in drift)
    for one in drift:
        parts = [f"{cut(version, 60) or 'none'} on {', '.join(nodes)}" for version, nodes in one.versions.items()]
        yield cut(f"  {one.tool:<{wide}}  {'; '.join(parts)}", max(60, width()))


def _local_lines(view: NodesView) -> Iterator[str]:
    where = f"on {cut(view.machine, 60)}, the machine of the daemon" if view.machine else "on the machine of the daemon"
    yield f'agents run {where}: `[sessions] runner` is "local"'
    if view.ci == "local":
        yield "to run them on several machines, see docs/how-to/nodes.md"
    else:
        yield 'CI runs on nodes: `[land] runner` is "ray"'


def _known_words(view: NodesView, *, is_ours: bool) -> str:
    if view.is_current:
        return f"; Ray at `{cut(view.address, 60)}`"
    if is_ours or not view.machine:
        return "; no daemon looks at them (`paddock up` starts one): this is what was seen last"
    return f"; slots, labels and tools are known on {cut(view.machine, 60)}, where the daemon runs"


def _cells(node: NodeView) -> tuple[str, ...]:
    memory = f"{_gib(node.free_memory_bytes)} of {_gib(node.memory_bytes)} GiB" if node.memory_bytes else ""
    warm = node.worktrees.get("idle", 0)
    trees = f"{sum(node.worktrees.values())}{f', {warm} warm' if warm else ''}" if node.worktrees else ""
    return (
        cut(node.name, NAME),
        f"{MARKS[node.state][0]} {node.state}",
        f"{node.used} of {node.slots}" if node.slots is not None else "",
        str(len(node.agents)),
        str(len(node.runs)),
        f"{node.load:.1f} of {node.cores}" if node.load is not None else "",
        memory,
        f"{_gib(node.free_disk_bytes)} GiB" if node.free_disk_bytes is not None else "",
        trees,
    )


def _row(cells: Sequence[str], wide: Sequence[int], colour: str | None = None) -> str:
    """The state is painted after everything has its place."""
    padded = [f"{cell:<{columns}}" for cell, columns in zip(cells, wide, strict=True)]
    line = cut("  ".join(padded).rstrip(), width())
    return line.replace(cells[1], paint(cells[1], colour), 1) if colour is not None else line


def _notes(node: NodeView, now: float) -> Iterator[str]:
    if node.words:
        since = f", for {_age(node.away_since, now)} now" if node.away_since is not None else ""
        yield f"{node.words}{since}"
    if node.drain is not None:
        why = f": {node.drain.reason}" if node.drain.reason else ""
        yield f"drained {_age(node.drain.since, now)} ago by {node.drain.by}{why}"
    if at_work := (*node.agents, *node.runs):
        yield f"at work: {', '.join(at_work[:12])}{f' and {len(at_work) - 12} more' if len(at_work) > 12 else ''}"
    if labels := shown_labels(node.labels):
        yield f"labels: {needs_words(labels)}"


def _same_tools(view: NodesView) -> str:
    nodes = [node for node in view.nodes.values() if node.tools]
    if not nodes:
        return ""
    return ", ".join(f"{tool} {version}" for tool, version in {"paddock": nodes[0].version, **nodes[0].tools}.items())


def _age(moment: str, now: float) -> str:
    return rough_duration(now - datetime.fromisoformat(moment).timestamp())


def _gib(size: int | None) -> str:
    return f"{(size or 0) / _GIB:.0f}" if (size or 0) >= 10 * _GIB else f"{(size or 0) / _GIB:.1f}"
