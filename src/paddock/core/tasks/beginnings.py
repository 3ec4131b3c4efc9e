"""Where an attempt begins: its branch, and the commit that the branch starts at."""

from paddock.core.tasks.task import Attempt, Task


def branch_of(attempt: Attempt) -> str:
    """The branch in its worktree. What only reads has one that is nobody else's, and never leaves the worktree."""
    return f"paddock/reading-{attempt.id}" if attempt.role.only_reads else attempt.branch


def start_commit(task: Task, attempt: Attempt) -> str:
    """Where the attempt's branch begins: at its base, or where the attempts it continues had come to. What only reads
    has come nowhere."""
    if attempt.role.only_reads:
        return attempt.base
    continues = attempt.continues
    for earlier in reversed(task.attempts):
        if earlier.id == continues:
            if earlier.head is not None:
                return earlier.head
            continues = earlier.continues
    return attempt.base
