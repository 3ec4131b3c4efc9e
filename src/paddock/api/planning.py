"""What `paddock.Fleet` does before there are tasks, and about them: plans, workflows, agents, findings, comments."""

from collections.abc import Iterable, Mapping
from contextlib import closing

from paddock.api.access import Access
from paddock.core.ids import parse_task
from paddock.core.intent.tasks import added_in
from paddock.views.findings import FindingView
from paddock.views.fleet.agents import ConfiguredAgent, RouteView
from paddock.views.plan import PlanPreviewView


class Planning:
    """The part of `Fleet` that plans and judges."""

    _access: Access

    def plan(
        self,
        goal: str,
        *,
        paths: Iterable[str] = (),
        agent: str | None = None,
        engine: str | None = None,
        max_tasks: int = 0,
    ) -> str:
        """Adds a task that makes a plan of the goal; returns its id. Wait for it, look at its `proposed_plan`, then
        `accept_plan` or `drop_plan`; `message` asks for another one."""
        from paddock.core.intent.plan import PlanRequest, request_plan

        workspace = self._access.open("plan")
        request, known = PlanRequest(goal, tuple(paths), agent, engine, max_tasks), workspace.known
        [record] = workspace.record(lambda board: request_plan(board, request, known))
        return str(record.task)

    def proposed_plan(self, task: str) -> PlanPreviewView:
        """The newest plan of a task that plans, with who would do what and what it may take and cost."""
        from paddock.fleet.plan_preview import open_plan
        from paddock.views.plan import view_preview

        opened = open_plan(self._access.open("plan"), parse_task(task))
        return view_preview(opened.proposed, opened.preview)

    def accept_plan(self, task: str, *, convoy: str | None = None) -> list[str]:
        """Adds the tasks of the newest plan; returns their ids."""
        from paddock.fleet.plan_preview import open_plan, record_acceptance

        workspace = self._access.open("plan")
        return added_in(record_acceptance(workspace, open_plan(workspace, parse_task(task), convoy)))

    def drop_plan(self, task: str, reason: str = "") -> None:
        from paddock.core.intent.plan import drop_plan

        name = parse_task(task)
        self._access.open("plan").record(lambda board: drop_plan(board, name, reason=reason))

    def workflows(self) -> list[str]:
        """The names of the workflows of this repository and those that Paddock ships."""
        from paddock.config.workflows import list_workflows

        return [file.name for file in list_workflows(self._access.open("workflow list").top)]

    def run_workflow(
        self,
        name: str,
        variables: Mapping[str, str] | None = None,
        *,
        convoy: str | None = None,
        engine: str | None = None,
    ) -> list[str]:
        """Adds the tasks of a workflow as a convoy; returns their ids."""
        from paddock.config.workflows import find_workflow, parse_workflow
        from paddock.fleet.workflows import RunOrder, run_workflow

        workspace = self._access.open("workflow run")
        workflow = parse_workflow(find_workflow(workspace.top, name))
        records = run_workflow(workspace, RunOrder(workflow, variables or {}, convoy, engine))
        return added_in(records)

    def agents(self) -> list[ConfiguredAgent]:
        """Who there is to do the work, and what reviewers are worth."""
        from paddock.views.fleet.agents import view_agents

        workspace = self._access.open("agents")
        return view_agents(workspace.load(), workspace.board().reviews.reviewers)

    def route(self, *, paths: Iterable[str] = (), kind: str | None = None, labels: Iterable[str] = ()) -> RouteView:
        """Which agent such a task would get, and why."""
        from paddock.core.intent.tasks import choose_agent_for
        from paddock.core.routing import Work
        from paddock.views.fleet.agents import view_route

        workspace = self._access.open("route")
        work = Work(tuple(paths), kind, tuple(labels))
        return view_route(choose_agent_for(workspace.board(), work, workspace.known), workspace.config.agents)

    def findings(self, task: str | None = None) -> list[FindingView]:
        """What reviewers and checks hold against changes, of one task or of all, with those that are settled."""
        from paddock.fleet.review.findings import find_findings
        from paddock.views.findings import view_finding

        with closing(self._access.open("findings").read()) as store:
            named = [parse_task(task)] if task is not None else []
            return [view_finding(*row) for row in find_findings(store, named, show_all=True)]

    def waive(self, findings: Iterable[str], why: str = "") -> None:
        """The findings (`f3`) no longer keep a change from landing."""
        from paddock.core.intent.findings import waive_findings

        workspace, names = self._access.open("findings waive"), list(findings)
        workspace.record(lambda board: waive_findings(board, names, workspace.author.name, why))

    def confirm(self, findings: Iterable[str], why: str = "") -> None:
        """The findings are true, whatever became of them: that counts for whoever found them."""
        from paddock.core.intent.findings import confirm_findings

        names = list(findings)
        self._access.open("findings confirm").record(lambda board: confirm_findings(board, names, why))

    def file(self, findings: Iterable[str]) -> list[str]:
        """Makes a task of each finding, for the agent that owns its path; returns their ids."""
        from paddock.fleet.review.findings import file_as_tasks

        return file_as_tasks(self._access.open("findings file"), list(findings))[0]

    def audit(
        self,
        *,
        paths: Iterable[str] = (),
        kinds: Iterable[str] = (),
        agents: Iterable[str] = (),
        engine: str | None = None,
        branch: str | None = None,
        files: str = "warning",
    ) -> list[str]:
        """Lets reviewers look at main, or at what a branch changes; returns the ids of their tasks. What they find is
        in `findings`, and becomes a task if it is at least as severe as `files` says; empty: nothing does."""
        from paddock.core.intent.audits import AuditRequest, request_audit
        from paddock.fleet.review.audited import find_audited

        workspace = self._access.open("audit")
        audited, known = find_audited(workspace.site, branch), workspace.known
        request = AuditRequest(audited, tuple(paths), tuple(kinds), tuple(agents), engine, files)
        records = workspace.record(lambda board: request_audit(board, request, known))
        return added_in(records)

    def comment(self, task: str, place: str, text: str) -> None:
        """Notes a comment on a line, such as `src/x.py:41`; `send_comments` sends all of them together."""
        from paddock.core.intent.drafted_comments import draft_comment
        from paddock.fleet.line_comments import comment_at

        workspace, name = self._access.open("comment"), parse_task(task)
        comment = comment_at(workspace.site, workspace.board().task(name), place, text)
        workspace.record(lambda board: draft_comment(board, name, comment))

    def send_comments(self, task: str, message: str = "", *, reject: bool = False) -> None:
        """As one message to the task's agent; with `reject`, the change is rejected with them."""
        from paddock.core.intent.drafted_comments import send_comments
        from paddock.fleet.line_comments import drafted_on

        workspace, name = self._access.open("comment"), parse_task(task)
        drafted = drafted_on(workspace, name)
        workspace.record(lambda board: send_comments(board, name, drafted, message=message, rejects=reject))
