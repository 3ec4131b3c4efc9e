"""The fields of the neutral JSON lines, and what else they may be called. docs/reference/traces.md documents them.

A name is compared without its case; blanks and dashes in it are underscores, and so is where `camelCase` has a hump.
"""

from collections.abc import Mapping

from paddock.insight.formats.usage_words import USAGE_NAMES
from paddock.insight.formats.words import plain_key

RUN_FIELDS: Mapping[str, str] = {
    "run": "run_id runid attempt_id id uuid trial_id trial_name trial session_id session sessionid trace_id",
    "task": "task_id instance_id instance problem_id task_name task_key problem case_id test_case",
    "kind": "task_kind task_type category suite benchmark",
    "agent": "agent_name role",
    "engine": "harness scaffold cli agent_cli framework gen_ai.agent.name",
    "engine_version": "agent_version harness_version version",
    "model": "model_name model_id llm gen_ai.request.model",
    "label": "batch submission experiment cohort variant condition dataset",
    "host": "hostname machine node host_name host_id host.name",
    "account": "account_id account_name user_account org organization api_key_id",
    "started": "started_at start start_time start_ts t0 begin created created_at trial_started_at",
    "ended": "ended_at end end_time end_ts t1 finished finished_at completed_at stopped_at trial_ended_at",
    "outcome": "result resolved is_resolved success passed reward score verdict solved is_success succeeded is_correct"
    " correct task_success final_result",
    "end_state": "endstate exit_status failure_mode termination_reason stop_reason terminal_reason exit_reason"
    " end_reason finish_reason exit_state ended_as termination status state",
    "error": "error_text error_message exception failure_reason error_msg err harness_error errors error_log failure",
    "tail": "log_tail last_lines pane_tail tail_lines log output_tail stderr_tail stdout_tail stderr log_lines"
    " last_output context",
    "model_spoke": "saw_llm_call llm_called model_called llm_call_seen any_llm_call",
    "usage": "tokens token_usage usage_totals model_stats",
    "reasoning_tokens": "",
    "cost_source": "",
    "startup_tokens": "startup_ctx startup_context",
    "startup_cached": "",
    "waited_seconds": "waited backoff_seconds wait_seconds",
    "model_calls": "api_calls llm_calls n_calls num_calls n_llm_calls num_llm_calls llm_call_count model_call_count",
    "steps": "trajectory actions tool_calls events activities",
    "calls": "model_call_list llm_call_list requests",
    "facts": "outcome_facts",
    "tests": "test_results parser_results hidden_tests parser",
    "source": "source_path transcript",
    "attributes": "extra metadata attrs labels tags",
    "as_exported": "",
}
STEP_FIELDS: Mapping[str, str] = {
    "tool": "tool_name name action_type function function_name tool_call",
    "activity": "symbol phase",
    "target": "file file_path filepath path",
    "argument": "command cmd arguments args input parameters params kwargs action tool_input code keystrokes",
    "status": "state outcome result_status",
    "success": "ok succeeded passed",
    "is_error": "failed error_flag",
    "error": "error_text error_message stderr error_type exception",
    "output": "observation result stdout tool_output response",
    "exit": "exit_code returncode return_code rc exitcode exit_status",
    "at": "time ts timestamp started started_at start start_time t created_at",
    "seconds": "duration elapsed duration_s duration_seconds dur took",
    "milliseconds": "duration_ms dur_ms elapsed_ms ms latency_ms",
    "agent": "agent_id subagent sub_agent agent_name",
    "turn": "turn_id turn_number",
}
CALL_FIELDS: Mapping[str, str] = {
    "id": "message_id request_id response_id call_id",
    "model": "model_name response_model request_model",
    "usage": "tokens token_usage",
    "at": "time ts timestamp started started_at start start_time",
    "seconds": "duration elapsed duration_s duration_seconds",
    "status": "status_code http_status code error_status",
    "retry_after": "retry_after_s retry_after_seconds",
}
FACT_FIELDS: Mapping[str, str] = {
    "files": "files_touched files_edited files_changed edited_files changed_files",
    "insertions": "lines_added additions added_lines",
    "deletions": "lines_deleted lines_removed removed_lines",
    "tests_added": "",
    "tests_deleted": "tests_removed",
    "tests_skipped": "",
    "asserts_removed": "assertions_removed",
    "verified_last_edit": "verify_after_last_edit verified verified_after_last_edit",
    "tests_run": "test_runs n_tests_run",
    "no_verify": "",
    "force_push": "force_pushed",
    "new_dependency": "new_dependencies dependency_added",
    "outside": "files_outside out_of_scope",
    "ci": "ci_touched ci_files",
    "gate": "gate_result",
    "diff": "diff_sha patch_sha",
}


def _known(fields: Mapping[str, str]) -> dict[str, str]:
    return {alias: name for name, others in fields.items() for alias in (name, *others.split())}


RUN_NAMES = _known(RUN_FIELDS)
STEP_NAMES = _known(STEP_FIELDS)
CALL_NAMES = _known(CALL_FIELDS)
FACT_NAMES = _known(FACT_FIELDS)


def by_field(record: Mapping[str, object], names: Mapping[str, str]) -> tuple[dict[str, object], dict[str, object]]:
    """The values by our names, and what is left. Our own name wins over an alias, and else the first that there is."""
    found: dict[str, object] = {}
    others: dict[str, object] = {}
    told_by: dict[str, str] = {}
    for key, value in record.items():
        name = names.get(key) or names.get(plain_key(key))
        if name is None:
            others[key] = value
        elif value is None:
            continue
        elif name not in found:
            found[name], told_by[name] = value, key
        elif key == name:
            others[told_by[name]], found[name] = found[name], value
        else:
            others[key] = value
    return found, others


def is_usage_name(key: str) -> bool:
    return key in USAGE_NAMES
