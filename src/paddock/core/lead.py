"""Who may act. A daemon's effects are bound to the generation of its lease: each is shown a `Lead` before it happens.

The log refuses what a daemon says after another has taken the lease. What it does to refs, worktrees, sandboxes and
processes no log refuses, so these ask for themselves. A daemon that was suspended past its lease and wakes in the
middle of an effect ends with `Succeeded` at the next one.
"""

from typing import Protocol

SAFE_SHARE = 0.9
"""Of a lease, in which its holder acts without asking the log again."""


class Succeeded(Exception):
    """Another daemon has the lease: whatever this one still wants to record or do is too late.

    Not a PaddockError: who handles trouble with one thing must not take this for it and go on to the next.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Lead(Protocol):
    """Proof that somebody may act, as long as `require` does not object.

    `generation` is that of the lease, 0 for who needs none. While this one leads, `refs/paddock/leader` names the
    object `leader` and the file at `post` says `sign`; all three are empty where nothing of the kind tells.
    """

    generation: int
    leader: str
    post: str
    sign: str

    def require(self) -> None:
        """Raises Succeeded where another leads, or where that cannot be ruled out. Cheap: ask before every effect."""

    def reassert(self) -> None:
        """For who found that the ref or the file says something else: asks the log, and has them say what it says.
        Raises Succeeded where that is another."""


class ByHand:
    """What people's commands act by. They act at once, under the locks of what they touch, beside any daemon: none of
    their effects is late, and they leave the generations that they find as they are."""

    generation = 0
    leader = ""
    post = ""
    sign = ""

    def require(self) -> None:
        """A person may."""

    def reassert(self) -> None:
        """Nobody disputes it."""


BY_HAND = ByHand()


def takes_over(recorded: int, lead: Lead) -> bool:
    """Whether `lead` has to put its generation on what was last touched by `recorded`. A person's command never does.

    Raises Succeeded for what a later daemon has touched, and where `lead` does not hold any more. The log has the last
    word: one that was restored from an older copy, or begun again, gives lower generations than what is on disk may
    tell of.
    """
    if 0 < lead.generation < recorded:
        lead.reassert()
    else:
        lead.require()
    return lead.generation not in (0, recorded)


def is_in_time(now: float, noted: float, lease_seconds: float) -> bool:
    """Whether a lease that was renewed at `noted` certainly has not run out, both by a clock that never stands still.

    The log counts it from a moment after `noted`, by another clock, which may run a little faster.
    """
    return noted <= now < noted + lease_seconds * SAFE_SHARE
