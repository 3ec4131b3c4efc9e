"""The named points at which the crash tests kill a process, in the order they are passed."""

HOLD_CHECKPOINTS = ("hold.checked", "hold.flushed", "hold.held")
RELEASE_CHECKPOINTS = ("release.main_kept", "release.main_held", "release.released")
COMPOSE_CHECKPOINTS = ("compose.read", "compose.merged", "compose.committed")
LAND_CHECKPOINTS = ("land.held", "land.audited", "land.flushed", "land.swapped", "land.moved", "land.verified")
REMOTE_LAND_CHECKPOINTS = ("land.held", "land.audited", "land.flushed", "land.pushed", "land.moved", "land.verified")
FOLLOW_CHECKPOINTS = ("sync.claimed", "sync.held", "sync.followed")
UPDATE_CHECKPOINTS = (
    "sync.prepared",
    "sync.locked",
    "sync.journalled",
    "sync.taken",
    "sync.put",
    "sync.placed",
    "sync.refreshed",
    "sync.indexed",
)
SANDBOX_CHECKPOINTS = (
    "sandbox.claimed",
    "sandbox.discarded",
    "sandbox.built",
    "sandbox.switched",
    "sandbox.furnished",
    "sandbox.recorded",
)
