"""The entry point of `paddock`. A plain `status`, which people run all day, is answered without importing click."""

import gc
import io
import os
import sys
from contextlib import suppress

from paddock.cli.terminal.complaint import complain
from paddock.core.errors import PaddockError


def main() -> None:
    """The entry point: expected failures become `error:` and `hint:` lines and exit 1 or 2."""
    # Commands are short and make few cycles: the collector would mostly walk the board over and over.
    gc.set_threshold(50_000, 20, 20)
    _open_missing_streams()
    _forgive_characters()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 1
    # Taking the interpreter apart would cost as much as folding the log; everything is closed by now.
    os._exit(code)


def run(arguments: list[str]) -> int:
    try:
        return _answer(arguments)
    except PaddockError as refusal:
        complain(refusal.message, refusal.hint)
        return refusal.exit_code
    except KeyboardInterrupt:
        if "_PADDOCK_COMPLETE" not in os.environ:  # tab completion must not print errors
            complain("interrupted", None)
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it; Python would complain once more while closing its end.
        _discard_output()
        return 1
    except OSError as error:
        what = f" access to `{error.filename}`" if error.filename else ""
        complain(
            f"the system refused{what}: {error.strerror or error}",
            "`paddock doctor` checks disk and permissions",
        )
        _discard_output()
        return 1
    except Exception as error:
        if os.environ.get("PADDOCK_DEBUG"):
            raise
        complain(
            f"internal error: {type(error).__name__}: {error}",
            "this is a bug in Paddock: run the command again with PADDOCK_DEBUG=1 and report what it prints",
        )
        return 1


def _open_missing_streams() -> None:
    """Our parent may have closed some; their numbers would go to the next files that are opened."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def _forgive_characters() -> None:
    """What a terminal of another encoding cannot show becomes a question mark instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _answer(arguments: list[str]) -> int:
    if "PADDOCK_DESK" in os.environ:
        from paddock.cli.desk import AtDesk, find_desk

        desk = find_desk(arguments)
        if desk is not None and arguments[0] not in ("with-lease", "mcp"):
            return AtDesk(desk).pass_through(arguments)
    flags = set(arguments[1:])
    if arguments[:1] == ["status"] and flags <= {"--all", "--json"}:
        from paddock.cli.pages.overview import show_status
        from paddock.cli.workspace import workspace_at

        show_status(workspace_at(None), as_json="--json" in flags, show_all="--all" in flags)
        return 0
    from paddock.cli.registry import run_command

    return run_command(arguments)
