"""What is recorded of causes while nothing ends."""

from pathlib import Path

from paddock.core.causes.events import CauseFound, CauseLeftOpen, CauseProbed
from paddock.core.causes.probing import PROBE
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.events import TaskAdded, TaskCancelled
from paddock.core.ids import AttemptId, TaskId, task_of
from paddock.core.tasks.vocabulary import Outcome
from tests.insight.alerts.world import World


def test_a_probe_that_is_cancelled_before_it_starts_is_over_although_nothing_has_ended(tmp_path: Path) -> None:
    world = World(tmp_path)
    name = AttemptId(world.run(Outcome.CRASHED, "it stops"))
    world.write(CauseFound("c1", "f1:unknown", FailureCause.UNKNOWN), task_of(name), name)
    probe = TaskId("t2")
    world.write(TaskAdded("Probe c1", "do it", labels=(PROBE,)), probe)
    world.write(CauseProbed("c1", (probe,)))
    world.look()
    world.write(TaskCancelled("no"), probe)
    assert world.look() == [CauseLeftOpen("c1")]
    world.close()
