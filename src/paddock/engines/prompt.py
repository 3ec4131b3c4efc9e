"""The words an agent gets: its brief, the task, the paths it owns, how to finish. Nothing else.

Every token here is paid for on each call of the model, and every sentence pulls attention from the task.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.core.summary import NOOP_WORD
from paddock.core.trace import clip

_LAST_WORDS_LIMIT = 2_000
_LISTED_COMMITS = 20
_LISTED_FILES = 40

NOTHING_COMMITTED = """\
You said that you were done, but nothing was committed on branch `{branch}`. Do the work and commit it there. If \
nothing needs to change, end with this line:
{noop} <reason>"""
STRAYED = """\
Your change was not accepted, because it touches files outside your paths:
{files}
Put each of them back as it was (`git checkout {base} -- FILE`; remove a file that is not there) and commit that. \
Change nothing outside your paths."""
BEGUN_BEFORE = "Earlier work on this task was interrupted. Look at what is there and go on from it."
CONTINUE = "Your last turn was interrupted. Look at the state of your worktree and go on where you left off."


@dataclass(frozen=True, slots=True)
class Assignment:
    """`brief` is the agent's own (its narrow role), `paths` the globs it owns; none means the whole tree. `results` is
    the section on the tasks that it builds on."""

    task: str
    text: str
    branch: str
    brief: str = ""
    title: str = ""
    paths: tuple[str, ...] = ()
    results: str = ""


@dataclass(frozen=True, slots=True)
class EarlierWork:
    """What earlier turns left behind, for an engine that remembers nothing."""

    commits: tuple[str, ...] = ()
    changed_files: tuple[str, ...] = ()
    last_words: str = ""


def first_prompt(assignment: Assignment) -> str:
    """The prompt of an attempt's first turn."""
    return "\n\n".join((*_assignment_sections(assignment), _finish_section(assignment)))


def next_prompt(assignment: Assignment, message: str, so_far: EarlierWork | None) -> str:
    """The prompt of a later turn.

    `so_far` is None where the engine resumes its own conversation: then the message alone is enough.
    """
    message = message.strip() or (CONTINUE if so_far is None else BEGUN_BEFORE)
    if so_far is None:
        return message
    sections = (*_assignment_sections(assignment), _progress_section(so_far), f"# Now\n{message}")
    return "\n\n".join((*sections, _finish_section(assignment)))


def nothing_committed(assignment: Assignment) -> str:
    """For an agent whose last attempt left nothing."""
    return NOTHING_COMMITTED.format(branch=assignment.branch, noop=NOOP_WORD)


def strayed_outside(files: Sequence[str], base: str) -> str:
    """For an agent whose last attempt changed what it must not; `base` is the commit to put it back to."""
    return STRAYED.format(files="\n".join(_listed("", files, _LISTED_FILES)[1:]), base=base[:12])


def _assignment_sections(assignment: Assignment) -> list[str]:
    text = assignment.text.strip()
    begins_with_title = text.lstrip("# ").startswith(assignment.title.rstrip("…"))
    named = bool(assignment.title) and not begins_with_title
    heading = f"# Task {assignment.task}: {assignment.title}" if named else f"# Task {assignment.task}"
    sections = [f"{heading}\n{text}"]
    if assignment.brief.strip():
        sections.insert(0, assignment.brief.strip())
    if assignment.paths:
        owned = "\n".join(f"- {path}" for path in assignment.paths)
        sections.append(f"# Your paths\nChange nothing outside:\n{owned}")
    if assignment.results:
        sections.append(assignment.results)
    return sections


def _finish_section(assignment: Assignment) -> str:
    return (
        f"# How to finish\n"
        f"You are alone in this git worktree, on branch `{assignment.branch}`. Commit your work here: what is not "
        f"committed does not count. Do not push, and do not switch, merge or rebase branches.\n"
        f'If only a person can decide something, run `paddock ask "..."` and end your turn: the answer is your next '
        f"message.\n"
        f"If nothing needs to change, commit nothing and end with this line:\n"
        f"{NOOP_WORD} <reason>"
    )


def _progress_section(so_far: EarlierWork) -> str:
    lines = ["# Done so far, in earlier turns"]
    lines += _listed("Commits on this branch:", so_far.commits, _LISTED_COMMITS)
    lines += _listed("Changed and not committed:", so_far.changed_files, _LISTED_FILES)
    if so_far.last_words.strip():
        lines.append(f"The last turn ended with these words:\n{clip(so_far.last_words.strip(), _LAST_WORDS_LIMIT)}")
    return "\n".join(lines) if len(lines) > 1 else f"{lines[0]}\nNothing."


def _listed(title: str, items: Sequence[str], limit: int) -> list[str]:
    if not items:
        return []
    more = [f"- and {len(items) - limit} more"] if len(items) > limit else []
    return [title, *(f"- {item}" for item in items[:limit]), *more]
