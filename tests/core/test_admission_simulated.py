"""Admission in the simulated world of bench/admission, short and with one seed; the bench has the full figures."""

import pytest
from bench.admission.measure import run_policy, settle_index
from bench.admission.policies import Fixed, Paddock
from bench.admission.world import TICK_SECONDS, Regime

SHORT = 0.5


@pytest.mark.parametrize(
    "regime",
    [
        Regime("requests", requests=100, hours=SHORT),
        Regime("tokens", input=5e5, hours=SHORT),
        Regime("charged", requests=100, charges_rejects=True, hours=SHORT),
    ],
    ids=lambda regime: regime.name,
)
def test_a_shown_limit_is_used_up_without_refusals(regime: Regime) -> None:
    outcome = run_policy(regime, Paddock(None), seed=5)
    fixed = max(run_policy(regime, Fixed(agents), seed=5).work for agents in (26, 32))
    assert outcome.rejected_share <= 0.02
    assert outcome.work >= 0.88 * fixed
    settled = settle_index(outcome.running)
    assert settled is not None
    assert settled * TICK_SECONDS <= 180


def test_a_busy_machine_holds_the_number_of_agents() -> None:
    regime = Regime("host", requests=5000, cores=8, hours=SHORT)
    fixed = max(run_policy(regime, Fixed(agents), seed=5).work for agents in (28, 35, 42))
    outcome = run_policy(regime, Paddock(regime.cores), seed=5)
    assert outcome.work >= 0.85 * fixed
    assert max(outcome.running) <= 70
