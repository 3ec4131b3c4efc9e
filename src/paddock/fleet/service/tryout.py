"""One word from an engine, asked where an attempt would run and with what it would have: for `engines check`."""

import contextlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paddock.core.errors import PaddockError
from paddock.core.summary import Final
from paddock.engines.probe import ROUND_TRIP_PROMPT, RoundTrip, run_round_trip
from paddock.engines.protocol import Engine, TurnRequest
from paddock.fleet.site import Site
from paddock.git.command import run_git
from paddock.git.enclosure.enclosure import Enclosure, make_control, switch
from paddock.git.enclosure.residence import Residence, settle, shown_refs
from paddock.git.settings import read_settings

CHECKS = ".check"
STALE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Tryout:
    """`problem` is empty when the engine answered. `where` is the folder it was asked in."""

    answer: str
    problem: str
    where: str


def try_engine(site: Site, engine: Engine, timeout_seconds: float) -> Tryout:
    """Ends in time whatever the engine does; one that is killed leaves only its own session behind."""
    deadline = site.clock.now() + timeout_seconds
    with _place(site) as (worktree, side):
        left = deadline - site.clock.now()
        where = str(worktree)
        if left <= 0:
            return Tryout("", f"preparing a worktree used up all {timeout_seconds:g} s", where)
        try:
            trip = run_round_trip(engine, _request(site, worktree, side), left)
        except (OSError, PaddockError) as error:
            return Tryout("", str(error), where)
    return _judge(trip, timeout_seconds, where)


def _judge(trip: RoundTrip, timeout_seconds: float, where: str) -> Tryout:
    summary = trip.summary
    said = summary.last_error or summary.final_reason or trip.stderr_tail.strip()[-300:]
    if trip.exit_code is None:
        heard = f"; it had said: {said or summary.last_step}" if said or summary.last_step else "; it had said nothing"
        return Tryout("", f"no answer within {timeout_seconds:g} s: its turn was still running{heard}", where)
    if trip.exit_code == 0 and summary.trouble is None and summary.final is not Final.ERROR:
        return Tryout(summary.last_step or "(nothing)", "", where)
    return Tryout("", f"exit {trip.exit_code}: {said}", where)


def _request(site: Site, worktree: Path, side: Path) -> TurnRequest:
    attempt_env = {**site.identity, "PADDOCK_WORKTREE": str(worktree), "TMPDIR": str(side / "tmp")}
    if site.config.worktrees.isolate_home:
        attempt_env["HOME"] = str(side / "home")
    for name in ("tmp", "home"):
        (side / name).mkdir()
    return TurnRequest(
        prompt=ROUND_TRIP_PROMPT,
        task_text="echo ready",
        worktree=worktree,
        folder=side,
        new_session_id=str(uuid.uuid4()),
        git_dir=_beside(worktree) / "repo",
        base_env=os.environ,
        attempt_env=attempt_env,
    )


def _beside(worktree: Path) -> Path:
    """Where its git directories are."""
    return worktree.with_name(f".{worktree.name}")


@contextlib.contextmanager
def _place(site: Site) -> Iterator[tuple[Path, Path]]:
    """A worktree of the repository beside those of attempts, and a folder for side files. An empty repository where
    there is no commit to check out yet."""
    with tempfile.TemporaryDirectory(prefix="paddock-check-", ignore_cleanup_errors=True) as scratch:
        side = Path(scratch) / "side"
        side.mkdir()
        tip = site.repo.branch_tip(site.config.landing_branch)
        folder = Path(scratch) if tip is None else site.root.path / CHECKS
        _remove_stale(site, folder)
        worktree = folder / f"{os.getpid()}-{uuid.uuid4().hex[:6]}"
        worktree.mkdir(parents=True)
        try:
            _check_out(site, worktree, tip)
            yield worktree, side
        finally:
            _remove(worktree)


def _check_out(site: Site, worktree: Path, tip: str | None) -> None:
    """As an attempt has it: a git directory of its own."""
    if tip is None:
        run_git(worktree, "init", "--quiet", f"--separate-git-dir={_beside(worktree) / 'repo'}")
        return
    enclosure = Enclosure(site.repo, worktree, _beside(worktree) / "repo", _beside(worktree) / "control")
    settings = read_settings(site.repo.common_dir)
    make_control(enclosure, settings.render())
    switch(enclosure, tip, ())
    settle(enclosure, Residence(tip, "", settings.render_for_others(), shown_refs(site.repo)))


def _remove_stale(site: Site, folder: Path) -> None:
    """What a killed check has left."""
    if not folder.is_dir():
        return
    for left in folder.iterdir():
        with contextlib.suppress(OSError):
            if site.clock.now() - left.stat().st_mtime > STALE_SECONDS:
                _remove(left)


def _remove(worktree: Path) -> None:
    for folder in (worktree, _beside(worktree)):
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        worktree.parent.rmdir()
