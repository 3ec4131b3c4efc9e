"""What people say about causes of failures, through the API."""

from contextlib import closing
from urllib.error import HTTPError

import pytest

from paddock.core.causes.decide import Diagnosis, record_diagnosis
from paddock.core.causes.vocabulary import FailureCause
from paddock.core.events import AttemptEnded, AttemptStarted, Draft
from paddock.core.ids import AttemptId
from paddock.core.tasks.vocabulary import Outcome, Step
from paddock.store.location import open_store
from paddock.store.protocol import Author
from tests.fleet.yard import Yard
from tests.web.conftest import SeedYard, Serve


def plant(yard: Yard) -> None:
    """An attempt that failed for what is missing."""
    task = yard.add()
    name = AttemptId(f"{task}.1")
    events = (
        AttemptStarted("scripted", "b" * 40, f"paddock/{task}", reserved_usd=0.01, reserved_tokens=1.0),
        AttemptEnded(Outcome.CRASHED, Step.RETRY, counted=True),
    )
    diagnosis = Diagnosis("fabc", FailureCause.DEPENDENCY, [name], "jq: command not found")
    with closing(open_store(yard.log_path)) as store:
        for event in events:
            store.append(lambda _board, event=event: [Draft(event, task, name)], Author("daemon"))  # type: ignore[misc]
        store.append(lambda board: record_diagnosis(board, diagnosis), Author("daemon"))


def test_causes_are_settled_probed_and_cleared_as_on_the_command_line(seed_yard: SeedYard, serve_yard: Serve) -> None:
    yard = seed_yard()
    plant(yard)
    [cause] = yard.board().causes.standing.values()
    [blocked] = [name for name in yard.board().needy if yard.board().tasks[name].cause == cause.id]
    site = serve_yard(yard)
    probed = site.post("/api/v1/failures/probe", {"name": cause.id})
    assert (list(probed["tasks"]), probed["attempt"]) == (["unchanged"], f"{blocked}.1")
    settled = site.post("/api/v1/failures/settle", {"name": cause.id, "cause": "dependency", "reason": "no jq"})
    assert (settled["id"], settled["cause"]) == (cause.id, "dependency")
    cleared = site.post("/api/v1/failures/clear", {"names": [cause.id], "reason": "installed"})
    assert (cleared["ids"], cleared["tasks"]) == ([cause.id], [blocked])
    assert yard.task(blocked).phase.value == "ready"
    for path, body in (
        ("clear", {"names": []}),
        ("clear", {"names": [cause.id]}),
        ("settle", {"name": cause.id, "cause": "bad luck"}),
        ("probe", {"name": "c99"}),
    ):
        with pytest.raises(HTTPError):
            site.post(f"/api/v1/failures/{path}", body)
