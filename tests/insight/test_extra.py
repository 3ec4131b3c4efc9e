"""What insight computes with: missing or broken, it is said."""

import os
import subprocess
import sys
from pathlib import Path

ASK = """
from paddock.core.errors import PaddockError
from paddock.insight.extra import require_numpy
try:
    require_numpy("a verdict")
except PaddockError as problem:
    print(problem.message, problem.hint, sep="; ")
"""


def test_a_numpy_that_cannot_be_loaded_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('libopenblas.so.0 is missing\\nplease read this')")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {"PYTHONPATH": path}
    told = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=False)
    assert told.stdout == (
        "a verdict needs numpy, which is installed and cannot be loaded: libopenblas.so.0 is missing; "
        "install it again with `pip install --force-reinstall numpy`\n"
    ), told.stderr
