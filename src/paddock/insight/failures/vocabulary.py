"""The classes of causes are core's: what follows from them is decided there, and they stand in the log."""

from paddock.core.causes.vocabulary import PASSING, FailureCause

__all__ = ["PASSING", "FailureCause"]
