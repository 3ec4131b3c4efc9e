"""Agents and CI may not steer the fleet through the page, whatever token they have found: their process tells."""

from starlette.types import Scope

from paddock.core.intent.workers import NotForWorkers, Worker
from paddock.fleet.workspace import Workspace
from paddock.sessions.peers import find_peer
from paddock.web.problems import Complaint, Problem, problem_of
from paddock.web.served_fleet import ServedFleet


async def refuse_worker(fleet: ServedFleet, scope: Scope) -> Problem | None:
    """None if whoever asks is a person, or of another machine and has the token. Raises PaddockError: LogUnusable where
    the log does not tell what its workers are marked with."""
    client, server, path = scope.get("client"), scope.get("server"), str(scope["path"])
    if client is None or server is None:
        return Problem(403, Complaint("worker", "it cannot be told who asks", "ask by TCP"))
    workspace = fleet.workspace
    return await fleet.threads.judge(lambda: _judge(workspace, (client[0], client[1]), (server[0], server[1]), path))


def _judge(workspace: Workspace, client: tuple[str, int], server: tuple[str, int], path: str) -> Problem | None:
    peer = find_peer(client, server)
    if not peer.local:
        return None
    if peer.is_gone:
        words = "no process holds the connection any more: it cannot be told whether it was an agent's"
        return Problem(403, Complaint("worker", words, "keep the connection open until the answer is there"))
    owner = peer.owner(workspace.marker)
    return _refuse(workspace, Worker(owner), path) if owner else None


def _refuse(workspace: Workspace, worker: Worker, path: str) -> Problem:
    words = f"the page is not for {worker.kind}: you run inside {worker.place}"
    refusal = NotForWorkers(
        f"web {path.removeprefix('/api/v1/')[:60]}", words, "what agents may ask for, they ask with `paddock`"
    )
    workspace.seen_by(worker).refuse(refusal)
    return problem_of(refusal)
