"""The refs by which commits travel between the daemon's repository and the nodes' mirrors, over the git remote.

They are the log's own, so that fleets which share a remote never meet, and outside `refs/heads`, so that no forge
shows or tests them.
"""

from paddock.core.ids import AttemptId, printable

TOP = "refs/paddock/nodes"


def main_ref(identity: str) -> str:
    """Main as the daemon has it."""
    return f"{TOP}/{identity}/main"


def start_ref(identity: str, commit: str) -> str:
    """Any other commit that something on a node begins at."""
    return f"{TOP}/{identity}/starts/{commit}"


def work_ref(identity: str, attempt: AttemptId | str) -> str:
    """What an attempt on a node has made so far."""
    return f"{TOP}/{identity}/attempts/{attempt}"


def why_refused(said: str) -> str:
    """What git said of a fetch or push that failed, without its advice."""
    lines = [line.strip() for line in said.splitlines() if line.strip() and not line.startswith("hint:")]
    return printable(" ".join(lines), 400) or "git gave no reason"
