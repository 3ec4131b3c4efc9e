"""Attacks that break more today than their level promises, and which defence is missing."""

from tests.hostile.arsenal import objects, planted, refs
from tests.hostile.attack import Attack, Level

_STOPPED_ALREADY = (
    *("paddock-refs-pointed-elsewhere", "worktree-of-main", "stash-dropped", "branch-switched", "paddock-refs-deleted"),
    *("worktrees-pruned", "other-branch-taken", "dot-git-in-capitals", "dot-git-unseen", "slash-entry", "no-name"),
    *("unsorted-tree", "missing-blob", "nul-in-message", "case-clash", "symlinks-out", "index-of-noise"),
)
HOLES: dict[str, tuple[str, ...]] = {
    "a worktree shares refs, configuration and objects with your repository": (
        *(
            attack.name
            for module in (refs, planted, objects)
            for attack in module.ATTACKS
            if attack.name not in _STOPPED_ALREADY
        ),
        *("somebody-elses-name", "history-of-its-own", "queues-a-branch", "worktree-is-another"),
    ),
    "a change of what decides about changes needs no person": (
        *("ci-script-emptied", "ci-script-exit", "ci-script-weakened", "ci-script-symlinked", "ci-script-renamed-over"),
        *("ci-script-mode", "settings-approval", "workflow-edited", "ci-folder-edited", "attributes-eol"),
        *("attributes-deep", "approves-itself"),
    ),
    "a change may undo what others have landed": ("merged-ours", "merged-ours-hidden", "reverted", "overwritten"),
    "work that no commit can take is left behind and called delivered": ("large-leftover", "nested-repository"),
    "a main that was moved cannot be put back": ("red-main-by-path", "main-rewound-by-path"),
    "the daemon waits for a fifo": ("transcripts-truncated",),
    "records that are lost are not missed": ("wal-removed", "log-noise"),
    "output is printed as it is": ("escapes", "escapes-in-a-diff", "nul-bytes", "wide-characters"),
}
"""Each defence that is missing, and the names of the attacks that get through without it (also `NAME@LEVEL`)."""


def hole_of(attack: Attack, level: Level) -> str:
    """Why it gets through at this level, empty where it does not."""
    names = {name: reason for reason, attacks in HOLES.items() for name in attacks}
    return names.get(f"{attack.name}@{level}", names.get(attack.name, ""))
