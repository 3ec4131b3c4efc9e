"""What a daemon would tell of the agents of a seeded fleet, which nobody runs."""

from pathlib import Path

from paddock.fleet.glance import AgentGlance, Glance
from paddock.store.sqlite import SqliteStore

_STEPS = (
    "ran `pytest tests/test_durations.py -q`", "edited harbor/core/durations.py", "read harbor/api/errors.py",
    "thinks about what an empty period means", "searched for `parse_`", "edited tests/test_invoices.py",
)  # fmt: skip


def glance_at(top: Path, now: float, turn: int = 0) -> Glance:
    """What the agents that are said to run do now; another `turn`, and every tenth has done a step since."""
    store = SqliteStore(top / ".git" / "paddock" / "log.db", read_only=True)
    try:
        live = [found for task in store.board().tasks.values() if (found := task.live_attempt) is not None]
    finally:
        store.close()
    agents: dict[str, AgentGlance] = {}
    for place, attempt in enumerate(live):
        steps = 9 + place % 30 + (turn + place) // 10
        agents[attempt.id] = AgentGlance(
            step=_STEPS[(place + steps) % len(_STEPS)],
            step_at=now - (turn + place) % 10 * 2.0,
            steps=steps,
            turn=attempt.turn,
            cost_usd=round((attempt.cost_usd or 0.0) + 0.01 * steps, 4),
            input_tokens=40_000 + 900 * steps,
            output_tokens=300 * steps,
            insertions=steps * 2,
            deletions=steps // 2,
            files=1 + place % 4,
        )
    return Glance(now, agents, len(agents), len(agents), 2 * len(agents), "cap", "the cap of agents is reached")
