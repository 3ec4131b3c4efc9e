"""One turn of an agent in its CLI's own terminal: `python -m paddock.bridges.tmux ORDER.json`.

The terminal is a pane of a tmux server that nobody else uses. Words go in by bracketed paste; that they have arrived
is seen in the CLI's own file of the conversation. What that file tells is printed as the turn's output.
"""

import signal
import sys
from pathlib import Path
from types import FrameType

import msgspec

from paddock.bridges.terminal_turn import SaidStop, TerminalTurn
from paddock.core.errors import PaddockError
from paddock.core.trace import End, Error, TraceEntry
from paddock.engines.bridge_lines import bridge_line
from paddock.engines.tmux_order import TmuxOrder

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(words: list[str]) -> int:
    order = msgspec.json.decode(Path(words[0]).read_bytes(), type=TmuxOrder)
    for number in _ENDING:
        signal.signal(number, _stop)
    turn = TerminalTurn(order, say)
    try:
        return turn.run()
    except SaidStop as stop:
        close(turn)
        return 128 + stop.number
    except PaddockError as error:
        close(turn)
        sys.stderr.write(f"error: {error.message}\n")
        say(Error(error.message))
        say(End(success=False, reason=error.message))
        return 1
    finally:
        close(turn)


def close(turn: TerminalTurn) -> None:
    """Nobody is to end us before we have ended what we started."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    turn.close()


def say(entry: TraceEntry) -> None:
    sys.stdout.buffer.write(bridge_line(entry))
    sys.stdout.buffer.flush()


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SaidStop(number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
