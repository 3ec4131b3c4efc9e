"""What people and agents are told of findings."""

from collections.abc import Sequence

from paddock.core.ids import printable
from paddock.core.review.events import Claim
from paddock.core.summary import REFUTE_WORD

TITLE_CHARS = 100
_INDENT = "   "


def word_findings(findings: Sequence[tuple[str, Claim]], head: str, round_: int, rounds: int) -> str:
    """The message that sends a change back to its worker. Each finding begins with its id at the margin; its words are
    indented, so that nothing in them can pass for another."""
    count = "One finding stands" if len(findings) == 1 else f"{len(findings)} findings stand"
    told = [_tell(name, claim) for name, claim in findings]
    finish = (
        "Fix each of them and commit. If one is wrong, do not change code for it; end with a line for each such:\n"
        f"{REFUTE_WORD} <id> <why it is wrong>"
    )
    return "\n\n".join((f"{count} against your change at {head[:10]} (review {round_} of {rounds}):", *told, finish))


def brief_for_owner(name: str, claim: Claim, task: str, title: str) -> str:
    """The brief of a task for the agent that owns the finding's path."""
    return "\n\n".join((f"A review of {task} ({title}) found something in your paths.", _tell(name, claim)))


def title_of(name: str, claim: Claim) -> str:
    """The title of a task about a finding."""
    return printable(f"Fix {name}: {claim.claim.splitlines()[0] if claim.claim.strip() else claim.path}", TITLE_CHARS)


def _tell(name: str, claim: Claim) -> str:
    place = f" `{claim.place}`" if claim.place else ""
    lines = [f"{name}{place} ({claim.severity.value})", *_indented(claim.claim)]
    for heading, text in (("How this is known:", claim.evidence), ("Suggestion:", claim.suggestion)):
        if text:
            lines += [f"{_INDENT}{heading}", *_indented(text)]
    return "\n".join(lines)


def _indented(text: str) -> Sequence[str]:
    return [f"{_INDENT}{line}".rstrip() for line in text.strip().split("\n")]
