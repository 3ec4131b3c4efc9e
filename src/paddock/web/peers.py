"""Agents and CI may not steer the fleet through the page, whatever token they have found: their process tells."""

from collections.abc import Sequence

from starlette.types import Scope

from paddock.core.errors import PaddockError
from paddock.core.intent.workers import NotForWorkers, Worker
from paddock.fleet.workspace import Workspace
from paddock.sessions.peers import Address, find_peer
from paddock.web.addresses import split_address
from paddock.web.problems import Complaint, Problem, problem_of
from paddock.web.served_fleet import ServedFleet


async def refuse_worker(fleet: ServedFleet, scope: Scope, others: Sequence[ServedFleet] = ()) -> Problem | None:
    """None if whoever asks is a person, or of another machine and has the token. `others` are fleets that the same
    server shows: their workers may steer this one no more than its own. Raises PaddockError: LogUnusable where the log
    does not tell what its workers are marked with."""
    client, server, path = scope.get("client"), scope.get("server"), str(scope["path"])
    if client is None or server is None:
        return Problem(403, Complaint("worker", "it cannot be told who asks", "ask by TCP"))
    ends = (client[0], client[1]), (server[0], server[1])
    workspaces = [fleet.workspace, *(other.workspace for other in others)]
    return await fleet.threads.judge(lambda: _judge(workspaces, ends, path))


def _judge(workspaces: Sequence[Workspace], ends: tuple[Address, Address], path: str) -> Problem | None:
    """The first of the workspaces is the one that is asked."""
    peer = find_peer(*ends)
    if not peer.local:
        return None
    if peer.is_gone:
        words = "no process holds the connection any more: it cannot be told whether it was an agent's"
        return Problem(403, Complaint("worker", words, "keep the connection open until the answer is there"))
    for number, workspace in enumerate(workspaces):
        try:
            owner = peer.owner(workspace.marker)
        except (PaddockError, OSError):
            if number == 0:
                raise
            continue  # whose log was never read by this server has no agent that was told of it
        if owner:
            return _refuse(workspace, Worker(owner), path)
    return None


def _refuse(workspace: Workspace, worker: Worker, path: str) -> Problem:
    words = f"the page is not for {worker.kind}: you run inside {worker.place}"
    asked = split_address(path)[1].removeprefix("/api/v1/")[:60]
    refusal = NotForWorkers(f"web {asked}", words, "what agents may ask for, they ask with `paddock`")
    workspace.seen_by(worker).refuse(refusal)
    return problem_of(refusal)
