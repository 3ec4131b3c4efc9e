"""An interpreter that sees Paddock and its runtime dependencies and nothing else.

Development tools bring packages that others import when they find them, which makes every command
slower than it is for a user. The packages are linked from the interpreter that runs the benchmark, so
no network is needed.
"""

import re
import sys
import venv
from importlib.metadata import Distribution, distribution, requires
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def make_runtime(folder: Path) -> Path:
    """The `paddock` command of a fresh environment in `folder`; its Python lies beside it."""
    venv.create(folder, symlinks=True, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in _closure("paddock") - {"paddock"}:
        _link(distribution(name), site)
    (site / "paddock.pth").write_text(f"{SOURCE}\n")
    command = folder / "bin" / "paddock"
    command.write_text(
        f"#!{folder / 'bin' / 'python'}\nimport sys\nfrom paddock.cli.main import main\nsys.exit(main())\n"
    )
    command.chmod(0o755)
    return command


def _closure(name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        package = waiting.pop()
        if package in found:
            continue
        found.add(package)
        for requirement in requires(package) or ():
            text, _, marker = requirement.partition(";")
            word = _NAME.match(text)
            if word and not marker.strip():
                waiting.append(word[0])
    return found


def _link(package: Distribution, site: Path) -> None:
    root = Path(str(package.locate_file("")))
    for name in {file.parts[0] for file in package.files or () if file.parts[0] != ".."}:
        target = site / name
        if not target.exists() and name != "__pycache__":
            target.symlink_to(root / name)


if __name__ == "__main__":
    print(make_runtime(Path(sys.argv[1])))
