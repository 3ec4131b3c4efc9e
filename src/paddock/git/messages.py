"""What the queue writes into the commits it lands, and reads back: messages and trailers."""

import re
from dataclasses import dataclass

from paddock.core.ids import printable
from paddock.core.merge.model import Member

CHANGE_TRAILER = "Paddock-Change"
TESTED_TRAILER = "Paddock-Tested"

_CLAIM = re.compile(r"(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,63})@v(?P<version>[0-9]{1,9}) (?P<head>[0-9a-f]{40,64})")
_TRAILER_LINE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9-]*: ")
_OURS = re.compile(rb"^[ \t]*Paddock-(Change|Tested)[ \t]*:.*(\n|\Z)", re.IGNORECASE | re.MULTILINE)
_TITLE_LIMIT = 100
_LISTED_SUBJECTS = 50


@dataclass(frozen=True, slots=True)
class Part:
    """A member of a unit and the words people know it by."""

    member: Member
    title: str = ""

    @property
    def shown_title(self) -> str:
        return printable(self.title.strip().split("\n")[0], _TITLE_LIMIT)


def change_trailer(member: Member) -> str:
    return f"{CHANGE_TRAILER}: {member.id}@v{member.version} {member.head}"


def tested_trailer(tree: str) -> str:
    return f"{TESTED_TRAILER}: {tree}"


def parse_claim(value: str) -> Member | None:
    """The change a `Paddock-Change` trailer names, None when it is not one of ours."""
    match = _CLAIM.fullmatch(value.strip())
    return Member(match["id"], int(match["version"]), match["head"]) if match else None


def merge_message(part: Part) -> str:
    return f"Merge {part.member.id}: {part.shown_title}" if part.shown_title else f"Merge {part.member.id}"


def train_message(parts: tuple[Part, ...]) -> str:
    ids = [part.member.id for part in parts]
    shown = ", ".join(ids[:6]) + (f" and {len(ids) - 6} more" if len(ids) > 6 else "")
    lines = [f"* {part.member.id}: {part.shown_title}" for part in parts if part.shown_title]
    return "\n\n".join(filter(None, (f"Land {shown}", "\n".join(lines[:_LISTED_SUBJECTS]))))


def squash_message(part: Part, messages: tuple[str, ...]) -> str:
    """One commit's message for the whole member: its own if it has one commit, else their subjects."""
    subjects = [printable(text.strip().split("\n")[0], _TITLE_LIMIT) for text in messages if text.strip()]
    if len(messages) == 1 and subjects:
        subject, _, body = messages[0].strip().partition("\n")
    else:
        subject, body = "", "\n".join(f"* {text}" for text in subjects[:_LISTED_SUBJECTS])
    subject = part.shown_title or printable(subject, _TITLE_LIMIT) or next(iter(subjects), "Change")
    return "\n\n".join(filter(None, (f"{subject} ({part.member.id})", body.strip("\n"))))


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
    return _OURS.sub(b"", message)
