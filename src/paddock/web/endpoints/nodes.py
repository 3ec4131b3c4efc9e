"""What can be read and asked of nodes: how each is doing, that nothing new starts on some, that they are used again."""

from typing import Annotated

from msgspec import Meta

from paddock.core.intent.nodes import LONGEST_NAME, LONGEST_REASON, drain_nodes, reopen_nodes
from paddock.fleet.nodes.drains import at_work_on, seen_nodes
from paddock.fleet.nodes.register import read_register
from paddock.fleet.service.presence import look_for_daemon
from paddock.views.document import Document
from paddock.views.fleet.nodes import Census, NodesView, view_cluster
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit

MOST_NODES = 500
NodeName = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]
NodeNames = Annotated[tuple[NodeName, ...], Meta(min_length=1, max_length=MOST_NODES)]


class DrainBody(Asked, frozen=True):
    nodes: NodeNames
    reason: Annotated[str, Meta(max_length=LONGEST_REASON)] = ""


class ReopenBody(Asked, frozen=True):
    nodes: NodeNames


class DrainAnswer(Document, frozen=True, kw_only=True):
    """`at_work` are the attempts and CI runs that go on there; `seq` is None where nothing had to be recorded."""

    nodes: tuple[str, ...]
    drained: bool
    at_work: tuple[str, ...]
    seq: int | None


def read_nodes(visit: Visit[NoQuery, NoBody]) -> NodesView:
    workspace, board = visit.workspace, visit.board
    daemon = look_for_daemon(board, visit.now)
    return view_cluster(Census(board, read_register(workspace.state_dir), daemon, visit.now), workspace.config)


def drain(visit: Visit[NoQuery, DrainBody]) -> DrainAnswer:
    workspace, body = visit.workspace, visit.body
    seen = seen_nodes(workspace)
    records = workspace.record(lambda board: drain_nodes(board, body.nodes, seen, body.reason))
    seq = records[-1].seq if records else None
    left = at_work_on(workspace.board(), body.nodes)
    return DrainAnswer(nodes=body.nodes, drained=True, at_work=left, seq=seq)


def reopen(visit: Visit[NoQuery, ReopenBody]) -> DrainAnswer:
    workspace, nodes = visit.workspace, visit.body.nodes
    seen = seen_nodes(workspace)
    records = workspace.record(lambda board: reopen_nodes(board, nodes, seen))
    return DrainAnswer(nodes=nodes, drained=False, at_work=at_work_on(workspace.board(), nodes), seq=records[-1].seq)
