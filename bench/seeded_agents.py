"""What a daemon would tell of the agents of a seeded fleet, which nobody runs: now, and over the hours before."""

import math
from pathlib import Path

from paddock.fleet.glance import AgentGlance, Glance
from paddock.fleet.samples import EVERY_SECONDS, Sample, SampleFile
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


def seed_samples(state_dir: Path, since: float, now: float, cap: int, spent_usd: float) -> None:
    """A sample a minute of a day with its ups and downs: a provider that was full for a while, a busy machine."""
    file = SampleFile(state_dir)
    count = int((now - since) / EVERY_SECONDS)
    for minute in range(count):
        share = minute / count
        limit = "window" if 0.45 < share < 0.58 else "load" if 0.2 < share < 0.27 else "cap" if share > 0.65 else ""
        most = {"window": 0.55, "load": 0.7}.get(limit, 1.0) * cap
        wanted = cap * (0.75 + 0.35 * math.sin(share * 9))
        running = round(max(1.0, min(most, wanted if not limit else most)))
        busy = 0.5 + 0.9 * running / cap + (0.8 if limit == "load" else 0.0)
        file.keep(
            Sample(
                at=now - (count - minute) * EVERY_SECONDS,
                running=running,
                ready=12 if limit else 0,
                cap=cap,
                most=round(most),
                limit=limit,
                spent_usd=round(spent_usd * share, 2),
                busy=round(busy, 2),
                free_memory_bytes=(24 - running // 2) * 2**30,
                free_disk_bytes=(64 - int(20 * share)) * 2**30,
            )
        )
