"""How a bridge ends when its turn cannot go on."""

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit statuses of a bridge, from sysexits(3) where it has a word for it. FAILED: the turn ended, but not well."""

    DONE = 0
    FAILED = 1
    GONE = 69
    PROTOCOL = 76
    CONFIG = 78
    STOPPED = 143


class BridgeFailed(Exception):
    """The words are for people, and go to standard error."""

    def __init__(self, words: str, status: ExitStatus) -> None:
        super().__init__(words)
        self.status = status
