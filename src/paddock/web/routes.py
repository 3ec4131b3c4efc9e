"""The API, a line for each thing that can be read or asked for. Routes and the OpenAPI document come from here."""

from typing import Any

from paddock.core.intent.comments import CommentsRequest
from paddock.views.board.page import BoardView
from paddock.views.costs import CostsView
from paddock.views.fleet.leases import LeasesView
from paddock.views.fleet.page import FleetDocument
from paddock.views.insight import InsightView
from paddock.views.queue.overview import QueueView
from paddock.views.queue.picture import Picture
from paddock.views.queue.run_log import RunLogView
from paddock.views.queue.stories import RunStoryView
from paddock.views.status import StatusView
from paddock.views.tasks.page import TaskPage
from paddock.views.tasks.patch import DiffView
from paddock.views.tasks.transcript import PromptView, RawView, TranscriptView
from paddock.web import asking, evidence, reading, steering
from paddock.web.exchange import Endpoint, NoBody, NoQuery, ask, read
from paddock.web.live import ToldRecord

PREFIX = "/api/v1"
STREAM_PATH = f"{PREFIX}/events"

ENDPOINTS: tuple[Endpoint[Any, Any], ...] = (
    read("/session", "Whose repository this is", reading.SessionView, reading.read_session, NoQuery),
    read("/status", "As `paddock status --json`", StatusView, reading.read_status, reading.StatusQuery),
    read("/board", "The board, as the page shows it", BoardView, evidence.read_board, NoQuery),
    read(
        "/search",
        "Tasks of the board by words and fields",
        evidence.FoundView,
        evidence.search_tasks,
        evidence.SearchQuery,
    ),
    read("/tasks", "Tasks, the newest first", reading.TasksView, reading.read_tasks, reading.TasksQuery),
    read(
        "/tasks/{id}/transcript",
        "What an agent said and did in a turn",
        TranscriptView,
        evidence.read_transcript,
        evidence.TranscriptQuery,
    ),
    read("/tasks/{id}/prompt", "What a first turn at a task is told", PromptView, evidence.read_prompt, NoQuery),
    read("/tasks/{id}/raw", "An agent's output as it is", RawView, evidence.read_raw_output, evidence.RawQuery),
    read("/tasks/{id}/diff", "What would land with a task", DiffView, evidence.read_diff, evidence.DiffQuery),
    read("/tasks/{id}", "A task with all that is known about it", TaskPage, evidence.read_task, NoQuery),
    read("/queue/picture", "The merge queue as a picture", Picture, evidence.read_picture, evidence.PictureQuery),
    read("/queue", "As `paddock queue --json`", QueueView, reading.read_queue, NoQuery),
    read(
        "/queue/why/{change}", "The story of a change, a CI run or main", evidence.WhyView, evidence.read_why, NoQuery
    ),
    read("/fleet", "Limits, accounts, spending and machines", FleetDocument, evidence.read_fleet, evidence.FleetQuery),
    read("/runs/{run}", "A CI run", RunStoryView, evidence.read_run, NoQuery),
    read("/runs/{run}/log", "What a CI run printed", RunLogView, evidence.read_run_log, evidence.RunLogQuery),
    read("/log", "Records of the log", evidence.LogPage, evidence.read_log, evidence.LogQuery),
    read("/log/{seq}", "One record", ToldRecord, evidence.read_record, NoQuery),
    read("/costs", "As `paddock costs --json`", CostsView, reading.read_costs, reading.CostsQuery),
    read("/insight", "What work has cost, and how it ended", InsightView, reading.read_insight, NoQuery),
    read("/budgets", "As `paddock budget show --json`", reading.BudgetsView, reading.read_budgets, NoQuery),
    read("/convoys", "As `paddock convoy list --json`", reading.ConvoysView, reading.read_convoys, NoQuery),
    read("/convoys/{name}", "As `paddock convoy show --json`", reading.ConvoyPage, reading.read_convoy, NoQuery),
    read("/leases", "As `paddock lease list --json`", LeasesView, reading.read_leases, NoQuery),
    read("/limits", "As `paddock limits --json`", reading.LimitsView, reading.read_limits_view, NoQuery),
    read("/config", "What a form for new tasks offers", reading.ChoicesView, reading.read_config, NoQuery),
    ask("/tasks", "As `paddock add`", asking.AddedView, asking.add, asking.AddBody),
    ask("/tasks/approve", "As `paddock approve`", asking.ApprovalAnswer, asking.approve_tasks, asking.ApproveBody),
    ask("/tasks/reject", "As `paddock reject`", asking.BulkAnswer, asking.reject_tasks, asking.RejectBody),
    ask("/tasks/retry", "As `paddock retry`", asking.BulkAnswer, asking.retry, asking.RetryBody),
    ask("/tasks/stop", "As `paddock stop`", asking.BulkAnswer, asking.stop, asking.TasksBody),
    ask("/tasks/cancel", "As `paddock cancel`", asking.BulkAnswer, asking.cancel, asking.TasksBody),
    ask("/tasks/message", "As `paddock message`", asking.BulkAnswer, asking.message, asking.MessageBody),
    ask("/tasks/{id}/edit", "As `paddock edit`", asking.BulkAnswer, asking.edit, asking.EditBody),
    ask(
        "/tasks/{id}/comments",
        "Tell an agent comments on lines of its change, as one message",
        asking.BulkAnswer,
        asking.comment,
        CommentsRequest,
    ),
    ask("/queue/branches", "As `paddock land --branch`", asking.ApprovalAnswer, asking.land_branches, asking.LandBody),
    ask("/queue/freeze", "As `paddock queue freeze`", steering.SwitchedView, steering.freeze, steering.ReasonBody),
    ask(
        "/queue/unfreeze", "As `paddock queue unfreeze`", steering.SwitchedView, steering.unfreeze, steering.ReasonBody
    ),
    ask("/queue/pause", "As `paddock queue pause`", steering.SwitchedView, steering.pause, steering.ReasonBody),
    ask("/queue/resume", "As `paddock queue resume`", steering.SwitchedView, steering.resume, steering.ReasonBody),
    ask("/queue/drain", "As `paddock queue drain`", steering.SwitchedView, steering.drain, steering.ReasonBody),
    ask("/queue/changes/{id}/move", "As `paddock queue move`", steering.ChangeAnswer, steering.move, steering.MoveBody),
    ask(
        "/queue/changes/{id}/cancel",
        "As `paddock queue cancel`",
        steering.ChangeAnswer,
        steering.cancel,
        steering.ReasonBody,
    ),
    ask("/queue/changes/{id}/retry", "Test a change again", steering.ChangeAnswer, steering.retry, steering.ReasonBody),
    ask("/budget", "As `paddock budget set`", steering.BudgetAnswer, steering.limit_spending, steering.BudgetBody),
    ask("/limits/reset", "As `paddock limits --reset`", steering.NameAnswer, steering.reset_limit, steering.NameBody),
    ask("/leases/release", "As `paddock lease release`", steering.NameAnswer, steering.release, steering.ReleaseBody),
    ask("/fleet/up", "As `paddock up`", steering.DaemonAnswer, steering.start_daemon, steering.UpBody),
    ask("/fleet/down", "As `paddock down`", steering.DaemonAnswer, steering.stop_daemon, NoBody),
)
