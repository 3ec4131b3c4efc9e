"""What every test relies on, whoever starts them and however busy the machine is."""

import gc
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Every process a test starts inherits which signals are ignored, and some tests send these: under `nohup` SIGHUP is
# ignored, in the background of a script SIGINT and SIGQUIT.
for signum, default in (
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(signum) is signal.SIG_IGN:
        signal.signal(signum, default)

# Thousands of small repositories are made and deleted, which costs a disk more than the tests themselves.
_MEMORY, _ENOUGH_BYTES = Path("/dev/shm"), 4 * 2**30
if "TMPDIR" not in os.environ and _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH_BYTES:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)

# A timing never fails a test. All else is as Hypothesis has it here: in CI, for one, the same examples every time.
settings.register_profile("paddock", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paddock")

_STARTS_A_PROCESS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"})


def pytest_collection_finish() -> None:
    """What was collected stays: looking through it for garbage again and again finds none."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-processes", action="store_true", help="skip a test the moment it starts a process")


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    """A level deeper: a log keeps its witness beside its folder, and pytest gives the folder's name to another test."""
    inner = tmp_path / "here"
    inner.mkdir()
    return inner


@pytest.fixture(autouse=True, scope="session")
def _without_processes(request: pytest.FixtureRequest) -> None:
    """From the first test on: what imports the tests may ask the system what it is."""
    if request.config.getoption("--no-processes"):
        sys.addaudithook(_skip_what_starts_a_process)


def _skip_what_starts_a_process(event: str, _details: object) -> None:
    if event in _STARTS_A_PROCESS:
        pytest.skip("it starts a process")
