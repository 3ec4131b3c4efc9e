"""A process that takes one notification to one recipient: `python -m paddock.fleet.notify.courier`.

Its errand comes on standard input, because it holds secrets. It lives no longer than its errand allows, whatever the
service does, and needs no daemon: what came of it is in its receipt, which is a file, or its standard output.
"""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import msgspec

from paddock.core.ids import printable
from paddock.core.redaction import redact
from paddock.sessions.hints import write_hint

MODULE = "paddock.fleet.notify.courier"
SEND_SECONDS = 30.0
"""With the time it takes to start, less than `FLIGHT_SECONDS`."""
LONGEST_PROBLEM = 300
INSTALL = "pip install 'paddock[notify]'"
NO_APPRISE = f"Apprise is not installed: {INSTALL}"
NO_ANSWER = "no answer within {:.0f} s"
_GAPS = re.compile(r"[\s/:?&=@]+")


class Errand(msgspec.Struct, frozen=True):
    """Either `url`, for Apprise, or `argv`, of a program that is to be run. `receipt` is the file to write."""

    title: str
    body: str
    url: str = ""
    argv: tuple[str, ...] = ()
    number: int = 0
    wait_seconds: float = 0.0
    deadline_seconds: float = SEND_SECONDS
    receipt: str = ""


class Receipt(msgspec.Struct, frozen=True):
    """`problem` is empty where it arrived, as far as the service tells."""

    number: int
    problem: str = ""


def run_errand(errand: Errand) -> str:
    """Why it did not arrive; empty if it did."""
    return _run_program(errand) if errand.argv else _send(errand)


def _run_program(errand: Errand) -> str:
    try:
        done = subprocess.run(
            errand.argv,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=errand.deadline_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return NO_ANSWER.format(errand.deadline_seconds)
    except OSError as error:
        return f"`{errand.argv[0]}` cannot be started: {error.strerror or error}"
    said = " ".join(done.stderr.decode(errors="replace").split())
    return f"{os.path.basename(errand.argv[0])} exited with {done.returncode}: {said}" if done.returncode else ""


def _send(errand: Errand) -> str:
    try:
        import apprise
    except ImportError:
        return NO_APPRISE
    asset = apprise.AppriseAsset(app_id="Paddock", app_desc="Paddock", app_url="", secure_logging=True)
    sender = apprise.Apprise(asset=asset)
    if not sender.add(errand.url):
        return "Apprise does not accept this URL"
    told = sender.notify(
        body=errand.body,
        title=errand.title,
        body_format=apprise.NotifyFormat.TEXT,
        interpret_escapes=False,
        timeout=errand.deadline_seconds,
    )
    if told:
        return ""
    said = [printable(entry.message, 200) for entry in _entries(told)]
    return "; ".join(dict.fromkeys(said)) or f"the service did not accept it ({told.status.name.lower()})"


def _entries(told: Any) -> list[Any]:
    return [entry for entry in told.logs() if entry.message][:5]


def without_address(problem: str, url: str) -> str:
    """What a service says may quote its own address, and with it a token."""
    known = {url, *_GAPS.split(url), *_GAPS.split(unquote(url))} - {urlsplit(url).scheme, "localhost", "127.0.0.1", ""}
    return printable(redact(" ".join(problem.split()), known), LONGEST_PROBLEM)


def main() -> NoReturn:
    errand = msgspec.json.decode(sys.stdin.buffer.read(), type=Errand)
    sys.stdin.close()
    if errand.wait_seconds:
        time.sleep(errand.wait_seconds)  # noqa: TID251
    # Threads of a service that hangs would outlive a polite end; the margin lets Apprise give up by itself.
    signal.alarm(int(errand.deadline_seconds) + 5)
    noise = io.StringIO()
    with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
        try:
            problem = run_errand(errand)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
    receipt = Receipt(errand.number, without_address(problem, errand.url))
    if errand.receipt:
        with contextlib.suppress(OSError):
            write_hint(Path(errand.receipt), receipt)
    else:
        os.write(1, msgspec.json.encode(receipt))
    os._exit(0)


if __name__ == "__main__":
    main()
