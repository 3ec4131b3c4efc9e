"""The token in an attempt's environment: by it a server that cannot see the process knows which agent asks.

It names its attempt and is signed with a secret beside the log, which no fence shows. It gives the rights of that
agent, no others, and only as long as the attempt lasts.
"""

import hmac
from pathlib import Path

from paddock.core.board import Board
from paddock.core.ids import AttemptId, is_task, task_of
from paddock.fleet.kept_secret import kept_secret

TOKEN_VARIABLE = "PADDOCK_TOKEN"
FILE = "worker.secret"


def token_for(state_dir: Path, attempt: AttemptId) -> str:
    return f"{attempt}-{_sign(kept_secret(state_dir / FILE), attempt)}"


def attempt_of(state_dir: Path, board: Board, token: str) -> AttemptId | None:
    """None for a token that was not made here, and for one whose attempt has ended."""
    name, dash, sign = token.partition("-")
    task = task_of(AttemptId(name))
    if not dash or not is_task(task) or task not in board.tasks:
        return None
    known = _sign(kept_secret(state_dir / FILE), name)
    live = board.tasks[task].live_attempt
    if not hmac.compare_digest(sign.encode("utf-8", "surrogatepass"), known.encode()):
        return None
    return live.id if live is not None and live.id == name else None


def _sign(secret: str, attempt: str) -> str:
    return hmac.new(secret.encode(), b"paddock attempt " + attempt.encode("utf-8", "replace"), "sha256").hexdigest()
