"""A fleet of real CLIs on one account whose provider bears only so many requests at once; watched while it works."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paddock.core.events import AttemptEnded, AttemptStarted
from paddock.fleet.dispatch.gate import LimitsFile, read_limits
from tests.engines.real.fixtures import provider_of
from tests.fleet.yard import Yard
from tests.mockmodel import MockModel, play

ACCOUNT = "shared"
SAMPLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """`agents` are attempts under way, `target` what the account's controller thinks it bears, None before it does."""

    seconds: float
    agents: int
    in_flight: int
    rejected: int
    target: float | None


@dataclass
class Watch:
    """Samples a fleet from a thread of its own, between `with` and its end."""

    yard: Yard
    model: MockModel
    samples: list[Sample] = field(default_factory=list)

    def __enter__(self) -> "Watch":
        self._over = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            kept = read_limits(self.yard.log_path.parent)
            self.samples.append(
                Sample(
                    round(time.monotonic() - self._began, 1),
                    len(self.yard.board().live),
                    self.model.in_flight,
                    self.model.rejected,
                    target_of(kept),
                )
            )


def target_of(kept: LimitsFile | None) -> float | None:
    account = kept.controls.accounts.get(ACCOUNT) if kept is not None else None
    return None if account is None else round(account.quota.target, 2)


def prepare(yard: Yard, model: MockModel, programs: Mapping[str, Path], most: int) -> None:
    """Both CLIs talk to the mock with one account's quota."""
    for name in programs:
        yard.env.update(provider_of(name, model.base_url))
    engines = "".join(
        f'[engines.{name}]\nprogram = "{program}"\naccount = "{ACCOUNT}"\nmodel = "{_model(name)}"\n'
        for name, program in programs.items()
    )
    config = (
        f'engine = "claude"\n[limits]\nmax_agents = {most}\nagent_memory_mb = 50\n[land]\napproval = "human"\n{engines}'
    )
    (yard.top / "paddock.toml").write_text(config)


def _model(engine: str) -> str:
    return "mock" if engine == "codex" else "claude-opus-5"


def add_tasks(yard: Yard, count: int, calls: int, engines: tuple[str, ...]) -> None:
    """Each task makes some calls to a tool, then commits: that many requests and two more."""
    tasks = []
    for number in range(count):
        steps = [{"shell": f"echo {number} {call}"} for call in range(calls)]
        work = {"commit": {"path": f"f{number}.txt", "content": "x\n", "message": f"Add {number}"}}
        brief = f"Please do it. {play(*steps, work, {'text': 'done'})}"
        tasks.append(
            {"title": f"Task {number}", "brief": brief, "engine": engines[number % len(engines)], "attempts": 1}
        )
    file = yard.folder / "tasks.json"
    file.write_text(json.dumps(tasks))
    yard.paddock("add", "--file", str(file))


@dataclass(frozen=True, slots=True)
class Tally:
    """How a run went: outcomes of all attempts, and the requests turned away in each third of the run."""

    seconds: float
    outcomes: dict[str, int]
    counted: int
    answered: int
    rejected: int
    rejected_by_third: tuple[int, int, int]
    most_in_flight: int
    most_agents: int
    settled_agents: float
    settled_target: float | None


def tally(yard: Yard, model: MockModel, samples: list[Sample]) -> Tally:
    """`settled` figures are means over the middle third, between the start and the last stragglers."""
    ended = [record.event for record in yard.records(AttemptEnded)]
    verdicts = [event for event in ended if isinstance(event, AttemptEnded)]
    outcomes: dict[str, int] = {}
    for verdict in verdicts:
        outcomes[verdict.outcome] = outcomes.get(verdict.outcome, 0) + 1
    third = max(1, len(samples) // 3)
    cuts = [samples[min(third * part, len(samples)) - 1].rejected for part in (1, 2)]
    total = model.rejected
    middle = samples[third : 2 * third] or samples
    targets = [sample.target for sample in middle if sample.target is not None]
    return Tally(
        seconds=samples[-1].seconds,
        outcomes=outcomes,
        counted=sum(verdict.counted for verdict in verdicts),
        answered=sum(exchange.outcome == "answered" for exchange in model.exchanges),
        rejected=total,
        rejected_by_third=(cuts[0], cuts[1] - cuts[0], total - cuts[1]),
        most_in_flight=model.most_in_flight,
        most_agents=max(sample.agents for sample in samples),
        settled_agents=round(sum(sample.agents for sample in middle) / len(middle), 2),
        settled_target=round(sum(targets) / len(targets), 2) if targets else None,
    )


def starts_by_engine(yard: Yard) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in yard.records(AttemptStarted):
        if isinstance(record.event, AttemptStarted):
            counts[record.event.engine] = counts.get(record.event.engine, 0) + 1
    return counts
