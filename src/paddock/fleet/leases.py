"""Leases for whoever asks: granted at once, or in line with others until the time to wait is over."""

import socket
from contextlib import closing
from dataclasses import replace

from paddock.core.board import Board
from paddock.core.events import Draft
from paddock.core.intent.leases import (
    Answer,
    LeaseRequest,
    leasable_name,
    refusal_of,
    request_lease,
    withdraw_request,
)
from paddock.core.leases import decisions
from paddock.core.leases.lease import Holder
from paddock.fleet.workspace import Workspace

PATIENCE_SECONDS = 30.0
"""How long a place in line lasts after its owner was last heard from."""


def holder_of(workspace: Workspace, attempt: str | None) -> Holder:
    """Whoever asks: an agent is known by its attempt, CI by its run, a person by name and host."""
    worker = workspace.worker
    own = attempt or (worker.owner if worker is not None else "")
    return Holder(name=own or workspace.person, host=socket.gethostname(), attempt=own)


def take_lease(workspace: Workspace, request: LeaseRequest, wait_seconds: float) -> decisions.Granted:
    """In line with others. Raises PaddockError naming the holder in the way; the place in line is then given up too."""
    clock = workspace.site.clock
    give_up_at = clock.boottime() + wait_seconds
    name = leasable_name(request.name)
    answer: Answer

    def decide(board: Board) -> list[Draft]:
        nonlocal answer
        answer, drafts = request_lease(board, replace(request, wait_seconds=min(left, PATIENCE_SECONDS)), clock.now())
        return drafts

    with closing(workspace.write()) as store:
        try:
            with store.listen() as listener:
                while True:
                    left = max(0.0, give_up_at - clock.boottime())
                    workspace.append(store, decide)
                    if isinstance(answer, decisions.Granted):
                        return answer
                    if isinstance(answer, decisions.LeaseRefused):
                        raise refusal_of(name, answer, clock.now())
                    free_in = min(blocker.expires_in_seconds for blocker in answer.blockers)
                    listener.wait(min(left, max(0.05, free_in), 2.0))
        except BaseException:
            store.append(lambda board: withdraw_request(board, request), workspace.author)
            raise
