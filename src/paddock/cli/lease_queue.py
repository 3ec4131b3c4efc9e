"""Taking a lease, in line with others who want it."""

import time
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
from paddock.fleet.workspace import Workspace, author

PATIENCE_SECONDS = 30.0
"""How long a place in the queue lasts after its owner was last heard from."""


def acquire(workspace: Workspace, request: LeaseRequest, wait_seconds: float) -> decisions.Granted:
    """Raises PaddockError naming the holder in the way; the place in the queue is then given up too."""
    give_up_at = time.monotonic() + wait_seconds
    name = leasable_name(request.name)
    answer: Answer

    def decide(board: Board) -> list[Draft]:
        nonlocal answer
        answer, drafts = request_lease(board, replace(request, wait_seconds=min(left, PATIENCE_SECONDS)), time.time())
        return drafts

    store = workspace.write()
    try:
        with store.listen() as listener:
            while True:
                left = max(0.0, give_up_at - time.monotonic())
                store.append(decide, author())
                if isinstance(answer, decisions.Granted):
                    return answer
                if isinstance(answer, decisions.LeaseRefused):
                    raise refusal_of(name, answer, time.time())
                free_in = min(blocker.expires_in_seconds for blocker in answer.blockers)
                listener.wait(min(left, max(0.05, free_in), 2.0))
    except BaseException:
        store.append(lambda board: withdraw_request(board, request), author())
        raise
    finally:
        store.close()
