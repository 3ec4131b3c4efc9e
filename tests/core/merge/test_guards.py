"""Every claim holds, and switching off the guard behind it is noticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from paddock.core.errors import IllegalTransition
from paddock.core.merge.model import Ending, Queue
from tests.core.merge import claims

MERGE = "paddock.core.merge"


def yes(*_: object) -> bool:
    return True


def no(*_: object) -> bool:
    return False


def priority_only(entry: object, _: float) -> float:
    return -float(entry.priority)  # type: ignore[attr-defined]


def everyone(suspects: list[str]) -> list[str]:
    return suspects


def forget_one_pass(queue: Queue, key: str) -> Queue:
    return replace(queue, passes={k: run for k, run in queue.passes.items() if k != key})


SWITCHED_OFF: list[tuple[str, object, Callable[[], None]]] = [
    ("guards.tree_has_passed", yes, claims.a_tree_without_a_pass_never_lands),
    ("guards.person_has_seen", yes, claims.what_is_protected_is_not_queued_without_a_person),
    ("guards.person_has_seen", yes, claims.what_is_protected_does_not_land_without_a_person),
    ("guards.reversal_is_wanted", yes, claims.landed_work_is_not_taken_back_unasked),
    ("guards.reversal_is_wanted", yes, claims.a_reversal_that_nobody_wants_does_not_land),
    ("guards.acceptances_are_run", yes, claims.a_run_without_the_acceptance_of_a_member_is_no_fact),
    ("guards.acceptances_are_run", yes, claims.a_run_without_the_acceptance_of_a_member_does_not_land),
    ("guards.pass_covers", yes, claims.a_pass_without_the_acceptance_is_not_used_again),
    ("guards.base_is_main", yes, claims.a_train_waits_for_the_one_it_stands_on),
    ("guards.is_current", yes, claims.a_superseded_version_does_not_land),
    ("guards.main_is_verified", yes, claims.nothing_is_judged_on_an_unverified_main),
    ("guards.base_is_verified", yes, claims.a_failure_on_a_red_base_is_nobodys_blame),
    ("guards.FAILURES_TO_REJECT", 1, claims.one_failure_rejects_nobody),
    ("guards.blame_is_enough", yes, claims.a_rejection_needs_runs_that_prove_it),
    ("guards.slot_is_free", yes, claims.there_are_never_more_runs_than_slots),
    ("guards.machine_is_healthy", yes, claims.a_broken_machine_rejects_nobody),
    ("guards.ci_is_in_force", yes, claims.an_old_definition_of_ci_lands_nothing),
    ("screens.is_sound", yes, claims.a_lost_machine_starts_no_new_work),
    ("screens.may_be_pooled", yes, claims.a_change_to_the_definition_is_screened_alone),
    ("trains.rides_alone", no, claims.a_change_to_the_definition_rides_alone),
    ("trains.dependencies_met", yes, claims.a_dependent_lands_after_what_it_needs),
    ("guards.stands_on_its_base", yes, claims.a_failure_without_the_base_is_nobodys_blame),
    ("guards.stacks_are_whole", yes, claims.a_run_without_the_base_is_stopped),
    ("guards.stacks_are_whole", yes, claims.what_was_tested_without_its_base_is_not_landed),
    ("guards.stacks_are_whole", yes, claims.a_run_without_the_base_is_no_fact),
    ("plan.leave_with_base", lambda _: (), claims.dependents_fall_with_a_rejected_base),
    ("plan.leave_with_base", lambda _: (), claims.dependents_of_a_rewritten_base_leave),
    ("plan.leave_with_base", lambda _: (), claims.dependents_fall_while_the_queue_is_halted),
    ("changes.circle", lambda *_: (), claims.changes_that_would_wait_for_each_other_are_refused),
    ("changes.IN_MAIN", (Ending.LANDED,), claims.a_base_that_main_has_already_holds_nobody_up),
    ("view.bases_first", list, claims.a_base_goes_as_early_as_its_most_urgent_dependent),
    ("trains.may_join", yes, claims.conflicting_work_in_flight_is_waited_for),
    ("view.rank_of", priority_only, claims.age_beats_priority),
    ("groups.first_half", everyone, claims.a_suspected_half_is_smaller),
    ("plan.cancel_superseded", lambda *_: (), claims.a_train_without_its_base_is_stopped),
    ("branch.waits_for_main", no, claims.a_main_that_somebody_mends_is_gone_on_with),
    ("plan.start_repairs", lambda *_: (), claims.a_change_that_repairs_a_red_main_lands_on_it),
    ("health.REPAIR_TRIES", 10**6, claims.a_change_that_does_not_repair_a_red_main_leaves_the_queue_unblamed),
    ("guards.machine_is_healthy", yes, claims.a_ci_that_stops_working_rejects_nobody),
    ("runs.joins_incident", no, claims.runs_lost_at_once_are_one_incident),
    ("incidents.INFRA_RETRIES", 10**6, claims.a_change_whose_runs_alone_are_lost_is_not_tried_for_ever),
    ("plan.probe_main", lambda *_: (), claims.an_outage_that_is_over_is_gone_on_with),
    ("runs.ends_halt", no, claims.a_red_main_that_passes_again_is_gone_on_with),
    ("health.probe_is_due", yes, claims.a_red_main_that_passes_again_is_gone_on_with),
    ("health.probe_is_due", no, claims.a_new_daemon_asks_a_halted_main_at_once),
    ("branch.heals_itself", no, claims.a_fixed_command_is_tried_at_once),
    ("guards.lean_holds", yes, claims.checks_that_never_passed_are_not_left_out),
    ("guards.lean_holds", yes, claims.a_run_that_left_out_checks_of_a_doubted_main_says_nothing),
    ("runs.withdraw_pass", forget_one_pass, claims.what_left_out_checks_of_a_doubted_main_does_not_land),
    ("guards.extra_failures", lambda _: 0, claims.a_flaky_suite_takes_more_failures_to_reject),
    ("screens.waits_for_a_train", no, claims.what_conflicts_with_a_train_in_flight_is_not_screened),
    ("estimate.agents_differ", no, claims.a_careless_agent_is_screened_apart),
    ("estimate.agents_differ", yes, claims.agents_that_may_be_alike_share_pools),
    ("plan.LANDING_REFUSALS_BEFORE_HALT", 10**6, claims.a_landing_that_keeps_failing_halts),
]


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.__name__)
def test_the_planner_keeps_its_claim(claim: Callable[[], None]) -> None:
    claim()


@pytest.mark.parametrize(
    ("guard", "off", "claim"), SWITCHED_OFF, ids=[f"{name} {claim.__name__}" for name, _, claim in SWITCHED_OFF]
)
def test_a_guard_switched_off_is_noticed(
    guard: str, off: object, claim: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MERGE}.{guard}", off)
    with pytest.raises((AssertionError, IllegalTransition)):
        claim()
