"""Is a CLI installed, in which version, and logged in? And does a whole turn work?"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddock.core.summary import TurnSummary, observe
from paddock.engines.environment import pass_on
from paddock.engines.login import find_login
from paddock.engines.protocol import Engine, Launch, Probe, Source, TurnRequest
from paddock.engines.settings import EngineSettings

VERSION_TIMEOUT_SECONDS = 15.0
DRAIN_SECONDS = 2.0
ROUND_TRIP_PROMPT = "Reply with the single word: ready"

_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")
_OUTPUT_LIMIT = 4_000_000


@dataclass(frozen=True, slots=True)
class Installation:
    """How a CLI is found. `keys` are variables and `logins` files (below HOME, or absolute) that may hold a login;
    the files are in `folder`, or where the variable `moved_by` says. `install` and `login` tell how to get either."""

    program: str
    install: str
    login: str = ""
    keys: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    folder: str = ""
    moved_by: str = ""

    def login_files(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        folder = environment.get(self.moved_by) or self.folder
        return tuple(os.path.join(folder, file) for file in self.logins)


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """What one real turn showed. `exit_code` is None when the time ran out first."""

    summary: TurnSummary
    exit_code: int | None
    seconds: float
    stderr_tail: str


def probe_program(engine: str, cli: Installation, settings: EngineSettings, environment: Mapping[str, str]) -> Probe:
    program = settings.program or cli.program
    environment = {**environment, **settings.set}
    found = shutil.which(program, path=environment.get("PATH", os.defpath))
    if found is None:
        return Probe(engine, program, None, hints=(f"`{program}` is not on PATH; {cli.install}",))
    version = read_version((found, "--version"), {**pass_on(environment, settings.env), **settings.set})
    seen = find_login(environment, cli.keys, cli.login_files(environment))
    hints = [] if version else [f"`{program} --version` gave no answer within {VERSION_TIMEOUT_SECONDS:g} s"]
    if seen.known is False:
        hints.append(cli.login)
    return Probe(engine, program, Path(found), version, seen.known, seen.words, tuple(hints))


def read_version(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """The first thing that looks like a version in the output, or an empty string."""
    try:
        done = subprocess.run(
            argv,
            cwd="/",
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _VERSION.search((done.stdout + b"\n" + done.stderr)[:4096].decode("utf-8", "replace"))
    return found[0].rstrip(".+-") if found else ""


def run_round_trip(engine: Engine, request: TurnRequest, timeout_seconds: float) -> RoundTrip:
    """Run one turn to its end, in the foreground. For `engines check`; tasks run through the sessions layer."""
    launch = engine.launch(request)
    for file in launch.files:
        file.write()
    started = time.monotonic()
    out, err, code = _run(launch, timeout_seconds)
    parser, summary = engine.parser(), TurnSummary()
    streams = [(out, Source.STDOUT), (err, Source.STDERR)]
    streams += [(path.read_bytes(), Source.LOG) for path in launch.logs if path.exists()]
    for data, source in streams:
        for line in data[:_OUTPUT_LIMIT].splitlines():
            for entry in parser.feed(line, source):
                summary = observe(summary, entry)
    for entry in parser.close():
        summary = observe(summary, entry)
    tail = err[-2000:].decode("utf-8", "replace")
    return RoundTrip(summary, code, time.monotonic() - started, tail)


def _run(launch: Launch, timeout_seconds: float) -> tuple[bytes, bytes, int | None]:
    with subprocess.Popen(
        launch.argv,
        cwd=launch.cwd,
        env=dict(launch.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout_seconds)
            return out, err, process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return *_drain(process), None


def _drain(process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
    """What a killed process had said. A descendant in a session of its own may hold the pipes: it is not awaited."""
    try:
        return process.communicate(timeout=DRAIN_SECONDS)
    except subprocess.TimeoutExpired as said:
        return said.stdout or b"", said.stderr or b""
