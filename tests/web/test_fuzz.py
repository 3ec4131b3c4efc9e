"""The API is asked what its description allows, and what it does not: it answers as described, and never fails."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode, checks

from paddock.web.openapi import describe_api
from paddock.web.routes import ENDPOINTS
from tests.web.api import Served, serve_api
from tests.web.conftest import SeedYard

CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]
KNOWN = {"id": [f"t{number}" for number in range(1, 30)], "run": ["r1", "r2", "r5"], "seq": ["1", "40", "9999"]}
NOT_ASKED = {"post_fleet_up", "post_fleet_down", "get_engines", "post_engines_check", "get_events"}
"""These start and end processes, or have no end."""


def _operations() -> Iterator[Any]:
    schema = schemathesis.openapi.from_dict(describe_api(ENDPOINTS))
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        if operation.definition.raw["operationId"] not in NOT_ASKED:
            yield operation


def _fuzz(served: Served, examples: int) -> int:
    asked = 0
    with requests.Session() as session:
        for operation, mode in product(_operations(), GenerationMode):

            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                derandomize=True,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode), known=st.randoms(use_true_random=False))
            def ask(case: Any, known: Any) -> None:
                nonlocal asked
                for name in case.path_parameters or {}:
                    if name in KNOWN and known.random() < 0.7:
                        case.path_parameters[name] = known.choice(KNOWN[name])
                if isinstance(case.body, dict) and isinstance(case.body.get("wait_seconds"), int | float):
                    case.body["wait_seconds"] = min(case.body["wait_seconds"], 0.1)  # nobody gives the lease back
                headers = {"Authorization": f"Bearer {served.token}"}
                answer = case.call(base_url=f"http://{served.name}", session=session, headers=headers, timeout=60)
                case.validate_response(answer, checks=CHECKS)
                asked += 1

            ask()
    return asked


def test_whatever_is_asked_is_answered_as_described(seed_yard: SeedYard) -> None:
    served = serve_api(seed_yard())
    assert _fuzz(served, 2) > 150
    assert served.ask("GET", "/healthz").status == 200
    assert "Traceback" not in served.command.words


@pytest.mark.slow
def test_whatever_is_asked_for_long_is_answered_as_described(seed_yard: SeedYard) -> None:
    served = serve_api(seed_yard())
    assert _fuzz(served, 200) > 10_000
    assert "Traceback" not in served.command.words
