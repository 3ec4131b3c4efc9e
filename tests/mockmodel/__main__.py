"""Run the server by hand: `python -m tests.mockmodel [--port N] [--max-concurrent N]`."""

from __future__ import annotations

import argparse
import signal

from tests.mockmodel.ledger import Settings
from tests.mockmodel.server import MockModel


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mockmodel", description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--max-concurrent", type=int, default=None)
    options = parser.parse_args()
    endings = {signal.SIGINT, signal.SIGTERM}
    # Blocked before the first thread starts, so that every thread inherits it and only sigwait takes them.
    signal.pthread_sigmask(signal.SIG_BLOCK, endings)
    with MockModel(Settings(max_concurrent=options.max_concurrent), options.port) as model:
        print(model.base_url, flush=True)
        signal.sigwait(endings)


if __name__ == "__main__":
    main()
