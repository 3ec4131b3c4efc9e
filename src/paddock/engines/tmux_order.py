"""What the bridge to a CLI in tmux is told, as a file beside the turn's others."""

from pathlib import Path

import msgspec

from paddock.engines.protocol import TurnRequest
from paddock.engines.settings import EngineSettings

COLUMNS, ROWS = 160, 48


class TmuxOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """`session` is the conversation's id, where it is known before it begins; `resumed` says that its file is there
    already. `messages` are those that the prompt tells. `settings` are those of `engine`, without its variables."""

    engine: str
    settings: EngineSettings
    argv: tuple[str, ...]
    cwd: str
    socket: str
    prompt: str
    session_log: str = ""
    session: str = ""
    resumed: bool = False
    mailbox: str = ""
    messages: tuple[int, ...] = ()
    columns: int = COLUMNS
    rows: int = ROWS


def terminal_folder(attempt_folder: Path) -> Path:
    """The folder of an attempt that its agents may write to for the sake of a terminal."""
    return attempt_folder / "terminal"


def tmux_socket(attempt_folder: Path, turn: int) -> Path:
    """Of the tmux server of a turn that runs in one; see `watching_argv`."""
    return terminal_folder(attempt_folder) / f"turn-{turn}.tmux"


def socket_argv(socket: Path) -> tuple[str, ...]:
    """To be run in the socket's folder: the path of a socket may have no more than 107 bytes."""
    return ("tmux", "-u", "-S", socket.name, "-f", "/dev/null")


def watching_argv(socket: Path) -> tuple[str, ...]:
    """Attaches a terminal that can only watch. To be run in the socket's folder."""
    return (*socket_argv(socket), "attach-session", "-r", "-f", "read-only,ignore-size")


def order_file(request: TurnRequest) -> Path:
    return request.folder / f"turn-{request.turn}.tmux.json"
