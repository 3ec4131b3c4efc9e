"""The API, a line for each thing that can be read or asked for. Routes and the OpenAPI document come from here."""

from typing import Any

from paddock.core.intent.comments import CommentsRequest
from paddock.views.alert_rules import AlertRulesView
from paddock.views.alerts import AlertsView
from paddock.views.board.page import BoardView
from paddock.views.cost_report import FullCostsView, LabelCostsView
from paddock.views.fleet.fanout import FanOutView
from paddock.views.fleet.group import GroupView
from paddock.views.fleet.leases import LeasesView
from paddock.views.fleet.nodes import NodesView
from paddock.views.fleet.page import FleetDocument
from paddock.views.insight.drift import DriftView
from paddock.views.insight.failures import FailuresView
from paddock.views.insight.overview import InsightView
from paddock.views.insight.report import ReportView
from paddock.views.insight.trace_difference import TraceDifferenceView
from paddock.views.insight.traces import LabelsView, TracesView, TraceView
from paddock.views.log.records import ToldRecord
from paddock.views.messages import MessagesView
from paddock.views.plan import PlanPreviewView
from paddock.views.queue.overview import QueueView
from paddock.views.queue.picture import Picture
from paddock.views.queue.run_log import RunLogView
from paddock.views.queue.stories import RunStoryView
from paddock.views.schedules import SchedulesView
from paddock.views.status import StatusView
from paddock.views.tasks.page import TaskPage
from paddock.views.tasks.patch import DiffView
from paddock.views.tasks.sheet import WaitingView
from paddock.views.tasks.transcript import PromptView, RawView, TranscriptView
from paddock.web.endpoint import Endpoint, NoBody, NoQuery, ask, ask_long, read, read_long
from paddock.web.endpoints import (
    agent_work,
    agents,
    alerts,
    answers,
    approvals,
    costs,
    drift,
    failure_requests,
    failures,
    findings,
    fleet_requests,
    groups,
    insight,
    lease_requests,
    live_views,
    log,
    messages,
    nodes,
    plans,
    queue_requests,
    recovery_requests,
    schedules,
    setup,
    stories,
    summaries,
    task_requests,
    traces,
    upkeep_requests,
    workflows,
)

PREFIX = "/api/v1"
STREAM_PATH = f"{PREFIX}/events"

ENDPOINTS: tuple[Endpoint[Any, Any], ...] = (
    read("/session", "Whose repository this is", summaries.SessionView, summaries.read_session, NoQuery),
    read("/status", "As `paddock status --json`", StatusView, summaries.read_status, summaries.StatusQuery),
    read("/board", "The board, as the page shows it", BoardView, live_views.read_board, NoQuery),
    read(
        "/search",
        "Tasks of the board by words and fields",
        live_views.FoundView,
        live_views.search_tasks,
        live_views.SearchQuery,
    ),
    read("/tasks", "Tasks, the newest first", summaries.TasksView, summaries.read_tasks, summaries.TasksQuery),
    read(
        "/tasks/{id}/transcript",
        "What an agent said and did in a turn",
        TranscriptView,
        agent_work.read_transcript,
        agent_work.TranscriptQuery,
    ),
    read("/tasks/{id}/prompt", "What a first turn at a task is told", PromptView, agent_work.read_prompt, NoQuery),
    read("/tasks/{id}/raw", "An agent's output as it is", RawView, agent_work.read_raw_output, agent_work.RawQuery),
    read("/tasks/{id}/plan", "The plan that a task has made", PlanPreviewView, plans.show, NoQuery),
    read("/tasks/{id}/diff", "What would land with a task", DiffView, agent_work.read_diff, agent_work.DiffQuery),
    read_long(
        "/tasks/{id}/result", "As `paddock results --json`", workflows.ResultsView, workflows.read_result, NoQuery
    ),
    read("/tasks/{id}", "A task with all that is known about it", TaskPage, live_views.read_task, NoQuery),
    read_long("/review", "As `paddock review --json`", WaitingView, approvals.read_waiting, approvals.ReviewQuery),
    read("/messages", "As `paddock messages --json`", MessagesView, messages.list_messages, messages.MessagesQuery),
    read(
        "/findings",
        "As `paddock findings list --json`",
        findings.FindingsView,
        findings.read_findings,
        findings.FindingsQuery,
    ),
    read(
        "/findings/sarif",
        "As `paddock findings list --format sarif`",
        findings.SarifView,
        findings.read_sarif,
        findings.SarifQuery,
    ),
    read("/queue/picture", "The merge queue as a picture", Picture, live_views.read_picture, live_views.PictureQuery),
    read("/queue", "As `paddock queue --json`", QueueView, summaries.read_queue, NoQuery),
    read("/queue/why/{change}", "The story of a change, a CI run or main", stories.WhyView, stories.read_why, NoQuery),
    read(
        "/fleet", "Limits, accounts, spending and machines", FleetDocument, live_views.read_fleet, live_views.FleetQuery
    ),
    read("/runs/{run}", "A CI run", RunStoryView, stories.read_run, NoQuery),
    read("/runs/{run}/log", "What a CI run printed", RunLogView, stories.read_run_log, stories.RunLogQuery),
    read("/log", "Records of the log", log.LogPage, log.read_log, log.LogQuery),
    read_long("/log/verify", "As `paddock log verify --json`", log.VerifiedView, log.read_verification, NoQuery),
    read("/log/{seq}", "One record", ToldRecord, log.read_record, NoQuery),
    read("/alerts", "As `paddock alerts list --json`", AlertsView, alerts.read_alerts, alerts.AlertsQuery),
    read("/alerts/rules", "As `paddock alerts rules --json`", AlertRulesView, alerts.read_rules, NoQuery),
    read_long("/costs", "As `paddock costs --json`", FullCostsView, costs.read_costs, costs.CostsQuery),
    read_long(
        "/costs/imported",
        "As `paddock costs --label --json`",
        LabelCostsView,
        costs.read_label_costs,
        costs.LabelQuery,
    ),
    read_long("/drift", "As `paddock drift --json`", DriftView, drift.read_drift, drift.DriftQuery),
    read_long(
        "/failures", "As `paddock failures --json`", FailuresView, failures.read_failures, failures.FailuresQuery
    ),
    read_long("/traces", "As `paddock traces list --json`", TracesView, traces.read_traces, traces.TracesQuery),
    read_long("/traces/labels", "As `paddock traces list --labels --json`", LabelsView, traces.read_labels, NoQuery),
    read_long(
        "/traces/diff",
        "As `paddock traces diff --json`",
        TraceDifferenceView,
        traces.read_difference,
        traces.DifferenceQuery,
    ),
    read_long("/traces/{run}", "As `paddock traces show --json`", TraceView, traces.read_trace, traces.TraceQuery),
    read_long("/insight", "What work has cost, and how it ended", InsightView, insight.read_insight, NoQuery),
    read_long(
        "/insight/ways",
        "The ways that work takes, as a picture",
        insight.WaysView,
        insight.read_ways,
        insight.SpanQuery,
    ),
    read_long(
        "/insight/paths",
        "What runs do at first, in between and at last, as a picture",
        insight.PathsView,
        insight.read_paths,
        insight.BatchQuery,
    ),
    read_long(
        "/insight/work",
        "What landed, where time went, the slowest checks, and by what most was thrown away",
        insight.WorkPage,
        insight.read_work_page,
        insight.SpanQuery,
    ),
    read_long(
        "/insight/failures",
        "What failures have in common",
        insight.FailuresPage,
        insight.read_failures_page,
        insight.BatchQuery,
    ),
    read_long(
        "/insight/drift",
        "Whether the fleet's last batches of attempts behaved differently",
        insight.DriftPage,
        insight.read_drift_page,
        insight.SpanQuery,
    ),
    read_long(
        "/insight/costs",
        "What a landed change costs, week by week",
        insight.MoneyPage,
        insight.read_money_page,
        insight.SpanQuery,
    ),
    read_long("/report", "As `paddock report --json`", ReportView, insight.read_report_view, insight.ReportQuery),
    read("/budgets", "As `paddock budget show --json`", summaries.BudgetsView, summaries.read_budgets, NoQuery),
    read("/convoys", "As `paddock convoy list --json`", summaries.ConvoysView, summaries.read_convoys, NoQuery),
    read("/convoys/{name}", "As `paddock convoy show --json`", summaries.ConvoyPage, summaries.read_convoy, NoQuery),
    read_long(
        "/convoys/{name}/results",
        "As `paddock results --json` of a convoy",
        workflows.ResultsView,
        workflows.read_convoy_results,
        NoQuery,
    ),
    read("/workflows", "As `paddock workflow list --json`", workflows.WorkflowsView, workflows.read_workflows, NoQuery),
    read(
        "/workflows/{name}",
        "As `paddock workflow show --json`",
        workflows.WorkflowPage,
        workflows.read_workflow,
        NoQuery,
    ),
    ask(
        "/workflows/{name}/run",
        "As `paddock workflow run`",
        task_requests.AddedView,
        workflows.run,
        workflows.RunBody,
    ),
    read_long(
        "/schedules",
        "As `paddock schedule list --json`; with `days` as `paddock schedule forecast --json`",
        SchedulesView,
        schedules.read_schedules,
        schedules.ForecastQuery,
    ),
    read_long(
        "/schedules/{name}",
        "As `paddock schedule show --json`",
        schedules.SchedulePage,
        schedules.read_schedule,
        schedules.ForecastQuery,
    ),
    ask_long(
        "/schedules",
        "As `paddock schedule add`: refused where its forecast is above a budget",
        schedules.AddedSchedule,
        schedules.add,
        schedules.ScheduleBody,
    ),
    ask_long("/schedules/{name}/run", "As `paddock schedule run`", task_requests.AddedView, schedules.run, NoBody),
    ask(
        "/schedules/{name}/pause",
        "As `paddock schedule pause`",
        schedules.ScheduleAnswer,
        schedules.pause,
        schedules.ReasonBody,
    ),
    ask("/schedules/{name}/resume", "As `paddock schedule resume`", schedules.ScheduleAnswer, schedules.resume, NoBody),
    ask(
        "/schedules/{name}/remove",
        "As `paddock schedule remove`",
        schedules.ScheduleAnswer,
        schedules.remove,
        schedules.ReasonBody,
    ),
    read("/leases", "As `paddock lease list --json`", LeasesView, summaries.read_leases, NoQuery),
    read("/nodes", "As `paddock nodes --json`", NodesView, nodes.read_nodes, NoQuery),
    ask("/nodes/drain", "As `paddock drain`", nodes.DrainAnswer, nodes.drain, nodes.DrainBody),
    ask("/nodes/reopen", "As `paddock drain --undo`", nodes.DrainAnswer, nodes.reopen, nodes.ReopenBody),
    read("/limits", "As `paddock limits --json`", summaries.LimitsView, summaries.read_limits_view, NoQuery),
    read_long("/group", "As `paddock group show --json`", GroupView, groups.read_group, NoQuery),
    read("/config", "What a form for new tasks offers", summaries.ChoicesView, summaries.read_config, NoQuery),
    read("/settings", "As `paddock config show --json`", setup.SettingsView, setup.read_settings, setup.SettingsQuery),
    read_long("/doctor", "As `paddock doctor --json`", setup.CheckupView, setup.read_checkup, NoQuery),
    read("/agents", "As `paddock agents --json`", agents.ConfiguredAgents, agents.read_agents, NoQuery),
    read("/agents/{name}", "As `paddock agents show --json`", agents.AgentPage, agents.read_agent, NoQuery),
    read("/route", "As `paddock route --json`", agents.RouteAnswer, agents.read_route, agents.RouteQuery),
    read_long("/engines", "As `paddock engines --json`", setup.EnginesView, setup.read_engines, NoQuery),
    read_long("/fanout", "As `paddock fanout --json`", FanOutView, setup.read_fan_out, setup.FanOutQuery),
    ask("/tasks", "As `paddock add`", task_requests.AddedView, task_requests.add, task_requests.AddBody),
    ask(
        "/tasks/file",
        "As `paddock add --file`",
        task_requests.AddedView,
        task_requests.add_file,
        task_requests.FileBody,
    ),
    ask(
        "/tasks/approve",
        "As `paddock approve` and `paddock land`",
        approvals.ApprovalAnswer,
        approvals.approve_tasks,
        approvals.ApproveBody,
    ),
    ask("/tasks/reject", "As `paddock reject`", answers.BulkAnswer, approvals.reject_tasks, approvals.RejectBody),
    ask("/tasks/retry", "As `paddock retry`", answers.BulkAnswer, task_requests.retry, task_requests.RetryBody),
    ask("/tasks/stop", "As `paddock stop`", answers.BulkAnswer, task_requests.stop, task_requests.TasksBody),
    ask("/tasks/cancel", "As `paddock cancel`", answers.BulkAnswer, task_requests.cancel, task_requests.TasksBody),
    ask("/tasks/message", "As `paddock message`", answers.BulkAnswer, task_requests.message, task_requests.MessageBody),
    ask("/plans", "As `paddock plan`: adds the task that plans", task_requests.AddedView, plans.make, plans.PlanBody),
    ask("/tasks/{id}/plan/accept", "As `plan --accept`", task_requests.AddedView, plans.accept, plans.AcceptPlanBody),
    ask("/tasks/{id}/plan/drop", "As `plan --drop`", answers.BulkAnswer, plans.drop, plans.DropPlanBody),
    ask("/tasks/{id}/fork", "As `paddock fork`", task_requests.AddedView, task_requests.fork, task_requests.ForkBody),
    ask("/tasks/{id}/edit", "As `paddock edit`", answers.BulkAnswer, task_requests.edit, task_requests.EditBody),
    ask(
        "/tasks/{id}/comments",
        "Tell an agent comments on lines of its change, as one message",
        answers.BulkAnswer,
        task_requests.comment,
        CommentsRequest,
    ),
    ask(
        "/findings/waive",
        "As `paddock findings waive`",
        findings.DecidedFindings,
        findings.waive,
        findings.DecideBody,
    ),
    ask(
        "/findings/confirm",
        "As `paddock findings confirm`",
        findings.DecidedFindings,
        findings.confirm,
        findings.DecideBody,
    ),
    ask(
        "/findings/file",
        "As `paddock findings file`",
        task_requests.AddedView,
        findings.file,
        findings.FindingsToFile,
    ),
    ask("/alerts/ack", "As `paddock alerts ack`", alerts.AcknowledgedView, alerts.acknowledge, alerts.AcknowledgeBody),
    ask("/audit", "As `paddock audit`", task_requests.AddedView, findings.audit, findings.AuditBody),
    ask(
        "/queue/branches",
        "As `paddock land --branch`",
        approvals.ApprovalAnswer,
        approvals.land_branches,
        approvals.LandBody,
    ),
    ask(
        "/queue/freeze",
        "As `paddock queue freeze`",
        queue_requests.SwitchedView,
        queue_requests.freeze,
        queue_requests.ReasonBody,
    ),
    ask(
        "/queue/unfreeze",
        "As `paddock queue unfreeze`",
        queue_requests.SwitchedView,
        queue_requests.unfreeze,
        queue_requests.ReasonBody,
    ),
    ask(
        "/queue/pause",
        "As `paddock queue pause`",
        queue_requests.SwitchedView,
        queue_requests.pause,
        queue_requests.ReasonBody,
    ),
    ask(
        "/queue/resume",
        "As `paddock queue resume`",
        queue_requests.SwitchedView,
        queue_requests.resume,
        queue_requests.ReasonBody,
    ),
    ask(
        "/queue/drain",
        "As `paddock queue drain`",
        queue_requests.SwitchedView,
        queue_requests.drain,
        queue_requests.ReasonBody,
    ),
    ask(
        "/queue/changes/{id}/move",
        "As `paddock queue move`",
        queue_requests.ChangeAnswer,
        queue_requests.move,
        queue_requests.MoveBody,
    ),
    ask(
        "/queue/changes/{id}/cancel",
        "As `paddock queue cancel`",
        queue_requests.ChangeAnswer,
        queue_requests.cancel,
        queue_requests.ReasonBody,
    ),
    ask(
        "/queue/changes/{id}/retry",
        "Test a change again",
        queue_requests.ChangeAnswer,
        queue_requests.retry,
        queue_requests.ReasonBody,
    ),
    ask_long(
        "/queue/changes/{id}/resolve",
        "As `paddock resolve`",
        recovery_requests.ResolveAnswer,
        recovery_requests.resolve,
        NoBody,
    ),
    ask_long(
        "/queue/changes/{id}/revert",
        "As `paddock revert`",
        recovery_requests.RevertAnswer,
        recovery_requests.revert_change,
        recovery_requests.RevertBody,
    ),
    ask_long(
        "/queue/restore",
        "As `paddock queue restore`",
        recovery_requests.RestoreAnswer,
        recovery_requests.restore,
        recovery_requests.RestoreBody,
    ),
    ask(
        "/budget",
        "As `paddock budget set`",
        fleet_requests.BudgetAnswer,
        fleet_requests.limit_spending,
        fleet_requests.BudgetBody,
    ),
    ask(
        "/failures/clear",
        "As `paddock failures clear`",
        failure_requests.ClearAnswer,
        failure_requests.clear,
        failure_requests.ClearBody,
    ),
    ask(
        "/failures/settle",
        "As `paddock failures settle`",
        failure_requests.SettleAnswer,
        failure_requests.settle,
        failure_requests.SettleBody,
    ),
    ask(
        "/failures/probe",
        "As `paddock failures probe`",
        failure_requests.ProbeAnswer,
        failure_requests.probe,
        failure_requests.ProbeBody,
    ),
    ask(
        "/limits/reset",
        "As `paddock limits --reset`",
        fleet_requests.NameAnswer,
        fleet_requests.reset_limit,
        fleet_requests.NameBody,
    ),
    ask_long(
        "/group/forget",
        "As `paddock group forget`",
        groups.ForgottenView,
        groups.forget_repository,
        groups.ForgetBody,
    ),
    ask_long(
        "/leases/acquire",
        "As `paddock lease acquire`",
        lease_requests.LeaseAnswer,
        lease_requests.acquire,
        lease_requests.AcquireBody,
    ),
    ask(
        "/leases/renew",
        "As `paddock lease renew`",
        lease_requests.LeaseAnswer,
        lease_requests.renew,
        lease_requests.RenewBody,
    ),
    ask(
        "/leases/release",
        "As `paddock lease release`",
        fleet_requests.NameAnswer,
        lease_requests.release,
        lease_requests.ReleaseBody,
    ),
    ask_long(
        "/fleet/up", "As `paddock up`", fleet_requests.UpAnswer, fleet_requests.start_fleet, fleet_requests.UpBody
    ),
    ask_long(
        "/fleet/down",
        "As `paddock down`",
        fleet_requests.DownAnswer,
        fleet_requests.stop_fleet,
        fleet_requests.DownBody,
    ),
    ask_long("/engines/check", "As `paddock engines check`", setup.CheckAnswer, setup.check, setup.CheckBody),
    ask_long("/log/push", "As `paddock log push`", log.PushAnswer, log.push, log.PushBody),
    ask_long("/sync", "As `paddock sync`", upkeep_requests.SyncAnswer, upkeep_requests.sync, upkeep_requests.SyncBody),
    ask_long(
        "/gc",
        "As `paddock gc`",
        upkeep_requests.CollectAnswer,
        upkeep_requests.collect_garbage,
        upkeep_requests.CollectBody,
    ),
    ask_long(
        "/janitor",
        "As `paddock janitor`",
        upkeep_requests.SweepAnswer,
        upkeep_requests.sweep,
        upkeep_requests.SweepBody,
    ),
)
