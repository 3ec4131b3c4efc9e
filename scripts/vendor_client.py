"""`make vendor`: fills src/paddock/web/static/vendor with the libraries of the page, from npm packages by name.

Each file is what its package ships, with its imports pointed at the files beside it and the note on its source map
dropped, since that is not served. Prism is a classic script for a whole page: it is wrapped into a module that sees
neither window nor document, so it colours nothing by itself. `manifest.json` says what came from where.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VENDOR = Path(__file__).parents[1] / "src" / "paddock" / "web" / "static" / "vendor"

VERSIONS = {
    "preact": "11.2.0",
    "htm": "3.1.1",
    "@preact/signals": "2.11.4",
    "@preact/signals-core": "1.14.5",
    "uplot": "1.6.32",
    "prismjs": "1.30.0",
    "diff": "9.0.0",
}
LANGUAGES = """
    python javascript typescript jsx tsx json yaml toml bash go rust c cpp java ruby php css markup sql markdown diff
    docker ini makefile
"""
IMPORTS = {
    "preact": "./preact.js",
    "preact/hooks": "./hooks.js",
    "@preact/signals-core": "./signals-core.js",
    "../util/string.js": "./diff-string.js",
    "./base.js": "./diff-base.js",
}
# Prism asks for these by name; as parameters without a value they do not exist for it.
PRISM_HEAD = "export default (function (window, document, self, global, module) {\n"
PRISM_FOOT = "\nreturn Prism;\n})({ Prism: { manual: true, disableWorkerMessageHandler: true } });\n"


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    licence: str
    folder: Path

    def text(self, path: str) -> str:
        return (self.folder / path).read_text()

    @property
    def licence_file(self) -> str:
        return f"licences/{self.name.removeprefix('@').replace('/', '-')}.txt"


def main() -> int:
    if shutil.which("npm") is None:
        print("error: `npm` is not installed: it fetches the packages\n\nhint: install Node.js", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        packages = {name: fetch(name, version, Path(scratch)) for name, version in VERSIONS.items()}
        shutil.rmtree(VENDOR, ignore_errors=True)
        (VENDOR / "licences").mkdir(parents=True)
        files = write_files(packages)
        for package in packages.values():
            (VENDOR / package.licence_file).write_text(package.text("LICENSE"))
    manifest = {"made_by": "scripts/vendor_client.py", "files": files}
    (VENDOR / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return 0


def fetch(name: str, version: str, scratch: Path) -> Package:
    command = ("npm", "pack", "--silent", f"{name}@{version}")
    archive = subprocess.run(command, cwd=scratch, check=True, capture_output=True, text=True).stdout.split()[-1]
    folder = scratch / archive.removesuffix(".tgz")
    with tarfile.open(scratch / archive) as packed:
        packed.extractall(folder, filter="data")
    facts = json.loads((folder / "package" / "package.json").read_text())
    return Package(name, facts["version"], facts["license"], folder / "package")


def write_files(packages: dict[str, Package]) -> list[dict[str, Any]]:
    def copy(file: str, name: str, path: str) -> dict[str, Any]:
        return write(file, packages[name], (path,), as_served(packages[name].text(path)))

    return [
        copy("preact.js", "preact", "dist/preact.mjs"),
        copy("hooks.js", "preact", "hooks/dist/hooks.mjs"),
        copy("htm.js", "htm", "dist/htm.mjs"),
        copy("signals-core.js", "@preact/signals-core", "dist/signals-core.mjs"),
        copy("signals.js", "@preact/signals", "dist/signals.mjs"),
        copy("uplot.js", "uplot", "dist/uPlot.esm.js"),
        copy("uplot.css", "uplot", "dist/uPlot.min.css"),
        copy("diff.js", "diff", "libesm/diff/word.js"),
        copy("diff-base.js", "diff", "libesm/diff/base.js"),
        copy("diff-string.js", "diff", "libesm/util/string.js"),
        write_prism(packages["prismjs"]),
    ]


def as_served(text: str) -> str:
    text = re.sub(r"^(//# sourceMappingURL=.*|/\*# sourceMappingURL=.*\*/)\n?", "", text, flags=re.MULTILINE)
    return re.sub(
        r"""(\bfrom\s*|^import\s*)(["'])([^"']+)\2""",
        lambda found: f'{found[1]}"{IMPORTS.get(found[3], found[3])}"',
        text,
        flags=re.MULTILINE,
    )


def write_prism(package: Package) -> dict[str, Any]:
    known = json.loads(package.text("components.json"))["languages"]
    paths = tuple(f"components/prism-{name}.js" for name in ("core", *in_order(LANGUAGES.split(), known)))
    return write("prism.js", package, paths, PRISM_HEAD + "\n".join(map(package.text, paths)) + PRISM_FOOT)


def in_order(wanted: list[str], known: dict[str, Any]) -> list[str]:
    """With all that they need, each after what it needs or changes."""
    placed: list[str] = []

    def place(name: str) -> None:
        if name not in placed:
            for key in ("require", "modify"):
                needs = known[name].get(key, [])
                for need in [needs] if isinstance(needs, str) else needs:
                    place(need)
            placed.append(name)

    for name in wanted:
        place(name)
    return placed


def write(file: str, package: Package, paths: tuple[str, ...], text: str) -> dict[str, Any]:
    (VENDOR / file).write_text(text)
    return {
        "file": file,
        "package": package.name,
        "version": package.version,
        "licence": package.licence,
        "licence_file": package.licence_file,
        "sha256": sha256(VENDOR / file),
        "upstream": [{"path": path, "sha256": sha256(package.folder / path)} for path in paths],
    }


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
