"""The words for an agent that only reads: what to look at, and how to answer. Nothing else, as in `prompt.py`."""

from dataclasses import dataclass

from paddock.core.plan.prompt import BUILT_IN_BRIEF
from paddock.core.review.events import Severity

REVIEWER = """\
You review one change, as a careful colleague who has to live with it. Report what is wrong, and only what you can \
show: a bug, a broken promise of the task, lost data, a security hole, a missing or weakened test. Say for each what \
happens and how you know. Matters of taste are notes at most. Finding nothing is a good answer."""
INTERRUPTED = "Your last turn was interrupted. Go on where you left off."
REPORTER = "You look into one question and answer it. You change nothing."

FINDINGS = """\
{{"head": "{head}",
 "summary": "<one or two sentences>",
 "findings": [{{"path": "src/x.py", "line": 41, "severity": "{severities}", "claim": "<what is wrong>",
   "evidence": "<how you know: code, a run, a case that fails>", "suggestion": "<what to do>"}}]{earlier}}}"""
EARLIER = """,
 "earlier": [{"id": "f1", "now": "fixed|refuted|open", "why": "<how you know>"}]"""


@dataclass(frozen=True, slots=True)
class OpenFinding:
    """One that the reviewer must rule on; `dispute` is why the worker does not agree."""

    id: str
    place: str
    severity: str
    claim: str
    evidence: str = ""
    suggestion: str = ""
    dispute: str = ""


@dataclass(frozen=True, slots=True)
class ReviewedChange:
    """The change between `base` and `head`, as a patch or the beginning of one. `since` is the version that was
    reviewed before: then the patch is what has changed since. `brief` is what the change is to do."""

    task: str
    brief: str
    base: str
    head: str
    patch: str
    since: str = ""
    is_cut: bool = False
    findings: tuple[OpenFinding, ...] = ()


def review_prompt(agent_brief: str, change: ReviewedChange, answer_file: str) -> str:
    diff = f"git diff {change.since or change.base} {change.head}"
    cut = f"\n(cut here: `{diff}` shows the rest)" if change.is_cut else ""
    what = (
        f"It was reviewed at {change.since[:10]}; this is what has changed since, now at {change.head[:10]}:"
        if change.since and change.since != change.head
        else f"It has not changed since it was reviewed at {change.head[:10]}; `git diff {change.base} {change.head}`."
        if change.since
        else f"`{diff}`, at {change.head[:10]}:"
    )
    sections = [
        agent_brief.strip() or REVIEWER,
        f"# The task {change.task} that the change is for\n{change.brief.strip()}",
        f"# The change\n{what}\n\n{_quoted(change.patch)}{cut}",
    ]
    if change.findings:
        told = "\n".join(map(_told, change.findings))
        sections.append(
            "# Open findings\nSay of each whether it is fixed, refuted (it was wrong), or still open. A worker's words "
            f"are a claim, not a proof.\n{told}"
        )
    return "\n\n".join((*sections, _answer_section(change.head, answer_file, rules=bool(change.findings))))


def audit_prompt(
    agent_brief: str, task: str, brief: str, head: str, paths: tuple[str, ...], results: str, answer_file: str
) -> str:
    """For a reviewer of what exists rather than of a change."""
    sections = [agent_brief.strip() or REVIEWER, f"# Task {task}\n{brief.strip()}"]
    if paths:
        sections.append("# Paths\nLook at these only:\n" + "\n".join(f"- {path}" for path in paths))
    if results:
        sections.append(results)
    return "\n\n".join((*sections, _answer_section(head, answer_file, rules=False)))


def report_prompt(agent_brief: str, task: str, brief: str, results: str, answer_file: str) -> str:
    sections = [agent_brief.strip() or REPORTER, f"# Task {task}\n{brief.strip()}", results]
    finish = f"# How to finish\n{_PLACE}\n{_hand_over('answer, as Markdown,', answer_file)}."
    return "\n\n".join(part for part in (*sections, finish) if part)


def plan_prompt(agent_brief: str, task: str, goal: str, planning: str, answer_file: str) -> str:
    """`planning` is what a plan is, who there is, and what is under way."""
    finish = f"# How to finish\n{_PLACE}\n{_hand_over('plan', answer_file)}: the JSON and nothing else."
    return "\n\n".join(
        (agent_brief.strip() or BUILT_IN_BRIEF, f"# The goal ({task})\n{goal.strip()}", planning, finish)
    )


def next_reading_prompt(message: str, answer_file: str) -> str:
    """For an engine that resumes its own conversation: what is new, and where the answer of this turn belongs."""
    return f"{message.strip() or INTERRUPTED}\n\n{_hand_over('answer', answer_file)}, in the form you were told."


def asked_again(problem: str) -> str:
    return f"Your answer cannot be used: {problem}. Answer again."


def not_accepted(reason: str) -> str:
    """For an agent whose last attempt gave no usable answer, however often it was asked."""
    return f"Your last attempt was not accepted: {reason}. Answer again."


_PLACE = "You are in a read-only checkout. Change nothing and commit nothing; run what you like."


def _answer_section(head: str, answer_file: str, *, rules: bool) -> str:
    severities = "|".join(one.value for one in Severity)
    form = FINDINGS.format(head=head, severities=severities, earlier=EARLIER if rules else "")
    return (
        f"# How to finish\n{_PLACE}\n{_hand_over('answer', answer_file)}: this JSON and nothing else. "
        f"`error` is for what must not land, `findings` may be empty.\n{form}"
    )


def _hand_over(what: str, answer_file: str) -> str:
    return f"Write your {what} to the file `{answer_file}` (also in $PADDOCK_ANSWER), or give it as your last message"


def _told(finding: OpenFinding) -> str:
    lines = [f"- {finding.id} {finding.severity} {finding.place}: {finding.claim}".replace("  ", " ")]
    for name, text in (("evidence", finding.evidence), ("the worker disagrees", finding.dispute)):
        if text:
            lines.append(f"  {name}: {' '.join(text.split())}")
    return "\n".join(lines)


def _quoted(patch: str) -> str:
    """Indented, so that nothing in it can pass for a section of ours."""
    return "\n".join(f"    {line}" for line in patch.split("\n"))
