"""The log in git: batches of records as blobs, held by `refs/paddock/log`.

A clone with nothing else can answer what happened, and a lost log comes back from it. Batches are
written whole and never changed; only the last, partial one is replaced as it grows. Records are kept
byte for byte, so the hash chain holds across the journey.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from paddock.core.errors import PaddockError
from paddock.core.ids import printable
from paddock.git.repo import ABSENT, Repo
from paddock.store.codec import Row
from paddock.store.protocol import Store

REF = "refs/paddock/log"
BATCH = 1000
_BATCH_NAME = re.compile(r"[0-9]{12}\.jsonl")
_TIMEOUT_SECONDS = 120.0
_IDENTITY = {
    "GIT_AUTHOR_NAME": "Paddock",
    "GIT_AUTHOR_EMAIL": "paddock@localhost",
    "GIT_COMMITTER_NAME": "Paddock",
    "GIT_COMMITTER_EMAIL": "paddock@localhost",
}


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(
    tuple[int, int, str, int, str, str | None, str | None, msgspec.Raw, str]  # a Row; its hash in hex
).decode


@dataclass(frozen=True, slots=True)
class MirrorPushed:
    """`seq` is the newest record the mirror holds now; `remote` is None when it stayed in this repository."""

    seq: int
    new: int
    remote: str | None


def write_mirror(store: Store, repo: Repo) -> tuple[int, int]:
    """Brings the local ref up to the log. Returns the newest sequence number and how many records were new."""
    old = repo.refs(REF).get(REF)
    batches = _batches(repo, old) if old else {}
    held = _last_seq(repo, batches)
    first = _batch_of(held)
    if held > store.head():
        raise PaddockError(
            f"the mirror holds {held:,} records, this log only {store.head():,}",
            "fetch the missing records with `paddock log fetch`",
        )
    rows = list(store.rows(first))
    if held and (not rows or _hash_at(rows, held) != _hash_at(_rows(repo, batches, first), held)):
        raise _diverged(held)
    new = len(rows) - (held - first)
    if not new:
        return held, 0
    for start in range(0, len(rows), BATCH):
        part = rows[start : start + BATCH]
        text = b"".join(_encode((*row[:7], msgspec.Raw(row[7]), row[8].hex())) + b"\n" for row in part)
        batches[f"{first + start:012d}.jsonl"] = repo.git("hash-object", "-w", "--stdin", input=text).text
    last = rows[-1][0]
    listing = "".join(f"100644 blob {sha}\t{name}\n" for name, sha in sorted(batches.items()))
    tree = repo.git("mktree", input=listing).text
    parents = ["-p", old] if old else []
    commit = repo.git("commit-tree", tree, *parents, "-m", f"log up to record {last}", env=_IDENTITY).text
    if not repo.update_ref(REF, commit, old or ABSENT, "paddock log push"):
        raise PaddockError(f"`{REF}` was moved by someone else in the meantime", "run `paddock log push` again")
    return last, new


def mirror_head(repo: Repo) -> int:
    """The newest record that the mirror in this repository holds; 0 without one."""
    commit = repo.refs(REF).get(REF)
    return _last_seq(repo, _batches(repo, commit)) if commit is not None else 0


def push_mirror(store: Store, repo: Repo, remote: str | None) -> MirrorPushed:
    seq, new = write_mirror(store, repo)
    if remote is not None:
        pushed = repo.talk("push", "--quiet", remote, f"{REF}:{REF}", timeout=_TIMEOUT_SECONDS)
        if not pushed.ok:
            raise PaddockError(
                f"the mirror could not be pushed to `{remote}`: {_first_line(pushed.stderr)}",
                f"if someone else pushed first, run `paddock log fetch {remote}`",
            )
    return MirrorPushed(seq, new, remote)


def remote_has_log(repo: Repo, remote: str, timeout_seconds: float) -> bool:
    """Whether the remote holds a log. One that does not answer in time, or wants a password, has none for us."""
    answer = repo.talk("ls-remote", "--end-of-options", remote, REF, timeout=timeout_seconds)
    return answer.ok and any(line.endswith(f"\t{REF}") for line in answer.lines)


def fetch_commit(repo: Repo, remote: str | None) -> str:
    """The mirror's newest commit, fetched from `remote` or found in this repository."""
    ref = REF
    if remote is not None:
        ref = "refs/paddock/fetched/log"
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", remote, f"+{REF}:{ref}")
        fetched = repo.talk(*words, timeout=_TIMEOUT_SECONDS)
        if not fetched.ok:
            raise PaddockError(
                f"there is no log to fetch from `{remote}`: {_first_line(fetched.stderr)}",
                "has `paddock log push` been run there?",
            )
    commit = repo.refs(ref).get(ref)
    if commit is None:
        raise PaddockError(f"there is no mirror in this repository: no ref `{ref}`", "name a remote to fetch from")
    return commit


def restore_mirror(store: Store, repo: Repo, commit: str) -> int:
    """Appends what the mirror has beyond the log; how many records that was. Refuses another history."""
    batches = _batches(repo, commit)
    held = _last_seq(repo, batches)
    head = store.head()
    common = min(held, head)
    rows = {row[0]: row for row in _rows(repo, batches, _batch_of(common))}
    if common and (common not in rows or rows[common][-1] != next(store.rows(common - 1))[-1]):
        raise _diverged(common)
    new = store.restore(row for seq, row in sorted(rows.items()) if seq > head)
    _continue_from(repo, commit)
    return new


def _continue_from(repo: Repo, commit: str) -> None:
    """The next push must follow what was fetched; all that a mirror of our own held is in the log."""
    own = repo.refs(REF).get(REF)
    if own is None or (own != commit and not repo.is_ancestor(commit, own)):
        repo.update_ref(REF, commit, own or ABSENT, "paddock log fetch")


def _batch_of(seq: int) -> int:
    """The number before the first record of the batch that holds `seq`."""
    return (max(seq, 1) - 1) // BATCH * BATCH


def _batches(repo: Repo, commit: str) -> dict[str, str]:
    listed = repo.git("ls-tree", commit).lines
    batches = {line.split("\t")[1]: line.split()[2] for line in listed}
    if odd := [name for name in batches if not _BATCH_NAME.fullmatch(name)]:
        raise PaddockError(f"the mirror contains `{printable(odd[0], 60)}`, which is not a batch of records")
    return batches


def _rows(repo: Repo, batches: dict[str, str], first: int) -> Iterator[Row]:
    for name in sorted(batches):
        if int(name.split(".")[0]) < first:
            continue
        for text in repo.git("cat-file", "blob", batches[name]).stdout.splitlines():
            try:
                line = _decode(text)
                yield (*line[:7], bytes(line[7]), bytes.fromhex(line[8]))
            except (msgspec.DecodeError, ValueError) as error:
                raise PaddockError(f"the mirror's batch {name} is damaged: {error}") from None


def _last_seq(repo: Repo, batches: dict[str, str]) -> int:
    if not batches:
        return 0
    last = max(batches)
    return max((row[0] for row in _rows(repo, {last: batches[last]}, 0)), default=0)


def _hash_at(rows: Iterable[Row], seq: int) -> bytes:
    return next((row[-1] for row in rows if row[0] == seq), b"")


def _diverged(seq: int) -> PaddockError:
    return PaddockError(
        f"the mirror and this log tell different histories up to record {seq}",
        "one of them belongs to another log; keep both and compare them with `paddock log --json`",
    )


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "git gave no reason"
