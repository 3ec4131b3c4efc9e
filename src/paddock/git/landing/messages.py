"""What the queue writes into the commits it lands, and reads back: messages and trailers."""

import re
from dataclasses import dataclass

from paddock.core.ids import is_task, printable
from paddock.core.merge.model import Member

CHANGE_TRAILER = "Paddock-Change"
TESTED_TRAILER = "Paddock-Tested"
APPROVED_TRAILER = "Paddock-Approved"
REVIEWED_TRAILER = "Paddock-Reviewed"

_CLAIM = re.compile(r"(?P<id>[A-Za-z0-9][A-Za-z0-9._/-]{0,63})@v(?P<version>[0-9]{1,9}) (?P<head>[0-9a-f]{40,64})")
_TRAILER_LINE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9-]*: ")
_OURS = re.compile(rb"^[ \t]*Paddock-(Change|Tested|Approved|Reviewed)[ \t]*:.*(\n|\Z)", re.IGNORECASE | re.MULTILINE)
_TITLE_LIMIT = 100
_NAME_LIMIT = 80
_NAMED_REVIEWERS = 20
_LISTED_SUBJECTS = 50
_KEPT_TRAILERS = 100
_BODY_LIMIT = 65_536


@dataclass(frozen=True, slots=True)
class NamedMember:
    """A member of a unit and the words people know it by. `approved_by` is the person who let it land, empty where
    policy did; `reviewed_by` are the agents that have passed this version."""

    member: Member
    title: str = ""
    approved_by: str = ""
    reviewed_by: tuple[str, ...] = ()

    @property
    def shown_title(self) -> str:
        return printable(self.title.strip().split("\n")[0], _TITLE_LIMIT)


def change_trailer(member: Member) -> str:
    return f"{CHANGE_TRAILER}: {member.id}@v{member.version} {member.head}"


def trailers_of(part: NamedMember) -> tuple[str, ...]:
    """Which change it is, and who let exactly this version land."""
    version = f"{part.member.id}@v{part.member.version}"
    approved = (f"{APPROVED_TRAILER}: {version} by {_name(part.approved_by)}",) if part.approved_by else ()
    names = ", ".join(map(_name, part.reviewed_by[:_NAMED_REVIEWERS]))
    reviewed = (f"{REVIEWED_TRAILER}: {version} by {names}",) if names else ()
    return (change_trailer(part.member), *reviewed, *approved)


def _name(who: str) -> str:
    """On one line, whatever it is."""
    return printable(" ".join(who.split()), _NAME_LIMIT)


def tested_trailer(tree: str) -> str:
    return f"{TESTED_TRAILER}: {tree}"


def parse_claim(value: str) -> Member | None:
    """The change a `Paddock-Change` trailer names, None when it is not one of ours."""
    match = _CLAIM.fullmatch(value.strip())
    return Member(match["id"], int(match["version"]), match["head"]) if match else None


def merge_message(part: NamedMember) -> str:
    return f"Merge {part.member.id}: {part.shown_title}" if part.shown_title else f"Merge {part.member.id}"


def train_message(parts: tuple[NamedMember, ...]) -> str:
    ids = [part.member.id for part in parts]
    shown = ", ".join(ids[:6]) + (f" and {len(ids) - 6} more" if len(ids) > 6 else "")
    lines = [f"* {part.member.id}: {part.shown_title}" for part in parts if part.shown_title]
    return "\n\n".join(filter(None, (f"Land {shown}", "\n".join(lines[:_LISTED_SUBJECTS]))))


@dataclass(frozen=True, slots=True)
class SquashText:
    """What several messages become: the text of one, and the trailers they ended with, each once."""

    text: str
    trailers: tuple[str, ...] = ()


def squash_message(part: NamedMember, messages: tuple[str, ...]) -> SquashText:
    """The message of a single commit as it is; of several all subjects and bodies, under the member's title."""
    suffix = f" ({part.member.id})" if is_task(part.member.id) else ""
    told = [text.strip() for text in messages if text.strip()]
    if len(messages) == 1 and told:
        subject, _, body = told[0].partition("\n")
        return SquashText(_joined(subject.rstrip() + suffix, body.strip("\n")))
    parts = [split_trailers(text) for text in told]
    subject = part.shown_title or next((printable(text.split("\n")[0], _TITLE_LIMIT) for text, _ in parts), "Change")
    kept = tuple(dict.fromkeys(line for _, lines in parts for line in lines))[:_KEPT_TRAILERS]
    return SquashText(_joined(subject + suffix, _told_in_turn([text for text, _ in parts])), kept)


def _told_in_turn(texts: list[str]) -> str:
    """`* subject` for each commit, with its body below where it has one."""
    shown = [f"* {text}" for text in texts[:_LISTED_SUBJECTS]]
    if len(texts) > _LISTED_SUBJECTS:
        shown.append(f"* and {len(texts) - _LISTED_SUBJECTS} more commits")
    if all("\n" not in text for text in shown):
        return "\n".join(shown)
    told = "\n\n".join(shown)
    return told if len(told) <= _BODY_LIMIT else f"{told[:_BODY_LIMIT]}\n…"


def _joined(*paragraphs: str) -> str:
    return "\n\n".join(filter(None, paragraphs))


def split_trailers(text: str) -> tuple[str, tuple[str, ...]]:
    """A message without its last paragraph, where that is nothing but trailers, and those."""
    rest, gap, last = text.rpartition("\n\n")
    lines = last.split("\n")
    if not gap or not all(_TRAILER_LINE.match(line.encode()) for line in lines):
        return text, ()
    return rest.rstrip(), tuple(line.rstrip() for line in lines)


def with_trailers(message: bytes, trailers: tuple[str, ...]) -> bytes:
    """`message` with `trailers` in its last paragraph, which is where git looks for them.

    Lines that claim to be ours are dropped first: a change must not speak for the queue.
    """
    text = without_claims(message).strip(b"\n \t") or b"(no message)"
    if not trailers:
        return text + b"\n"
    block = "\n".join(trailers).encode()
    last = text.rpartition(b"\n\n")[2] if b"\n\n" in text else b""
    joins = bool(last) and all(_TRAILER_LINE.match(line) for line in last.split(b"\n"))
    return text + (b"\n" if joins else b"\n\n") + block + b"\n"


def without_claims(message: bytes) -> bytes:
    """As it is written into a commit: a NUL, which no commit keeps, must not hide a line until then."""
    return _OURS.sub(b"", message.replace(b"\0", b""))
