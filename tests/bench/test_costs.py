"""What the capacity model multiplies can be measured again. Its numbers do not count here."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_costs_of_the_capacity_model_are_measured_again(tmp_path: Path) -> None:
    report = ROOT / "bench" / "out" / "costs-quick.json"
    report.unlink(missing_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        (sys.executable, "-m", "bench.grow.costs", "--quick"),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "to follow one event" in ended.stdout
    assert json.loads(report.read_text())
    assert not list(tmp_path.iterdir())
