"""Which dependencies a patch adds to a project's manifest. Lock files do not count: they follow."""

import re
from pathlib import PurePosixPath

from paddock.insight.patches.reading import PatchPart

MATCHED_CHARS = 300
_SPEC = r"[\^~<>=!*v\d]|workspace:|file:|link:|git[+:@]|https?:|npm:|github:|latest|next\b"
_OWN_KEYS = frozenset(
    (
        *(
            "version",
            "name",
            "license",
            "private",
            "edition",
            "engines",
            "node",
            "npm",
            "yarn",
            "pnpm",
            "packagemanager",
        ),
        *("python", "python-version", "requires-python", "target-version", "rust-version", "line-length", "minversion"),
        *("min-version", "schemaversion"),
    )
)

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.\-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@]|$)")
_QUOTED_REQUIREMENT = re.compile(
    r"""["']([A-Za-z][\w.\-]*)\s*(?:\[[^\]"']*\])?\s*[<>=!~;@][^"']*["']\s*[,\])]*\s*(?:#.*)?$"""
)
_BARE_REQUIREMENT = re.compile(r"""["']([A-Za-z][\w.\-]*)(?:\[[^\]"']*\])?["']\s*[,\])]*\s*(?:#.*)?$""")
_LIST = re.compile(r"^\s*([\w.\-]+)\s*=\s*[\[(]")
_TOML_KEY = re.compile(rf"""^\s*["']?([A-Za-z0-9][\w.\-]*)["']?\s*=\s*(?:["'](?:{_SPEC})|\{{)""")
_JSON_KEY = re.compile(rf"""^\s*"(@?[\w./\-]+)"\s*:\s*"(?:{_SPEC})""")
_GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?([\w.\-]+\.[\w.\-/~]+)\s+v\d")
_GEM = re.compile(r"""^\s*(?:gem|\w+\.add_(?:development_|runtime_)?dependency)\s*\(?\s*["']([^"']+)""")
_XML = re.compile(r"<artifactId>([^<]{1,200})|<PackageReference\s+Include=\"([^\"]{1,200})")
_GRADLE = re.compile(
    r"""^\s*(?:api|implementation|compileOnly|runtimeOnly|\w*[iI]mplementation|kapt|ksp)\s*\(?\s*["']([^"':]+:[^"':]+)"""
)
_MIX = re.compile(r"^\s*\{:(\w+)\s*,")
_YAML = re.compile(r"^\s+(?:-\s+)?([A-Za-z][\w.\-]*)\s*(?::\s*[\^~<>=\d]|[<>=]=?\s*\d)")

_MANIFESTS: dict[str, tuple[re.Pattern[str], ...]] = {
    "package.json": (_JSON_KEY,),
    "composer.json": (_JSON_KEY,),
    "deno.json": (_JSON_KEY,),
    "pyproject.toml": (_QUOTED_REQUIREMENT, _TOML_KEY),
    "setup.py": (_QUOTED_REQUIREMENT,),
    "setup.cfg": (_REQUIREMENT,),
    "pipfile": (_TOML_KEY,),
    "cargo.toml": (_TOML_KEY,),
    "go.mod": (_GO_REQUIRE,),
    "gemfile": (_GEM,),
    "pom.xml": (_XML,),
    "build.gradle": (_GRADLE,),
    "build.gradle.kts": (_GRADLE,),
    "mix.exs": (_MIX,),
    "pubspec.yaml": (_YAML,),
    "environment.yml": (_YAML,),
    "environment.yaml": (_YAML,),
}
_REQUIREMENTS_FILE = re.compile(r"(?:^|[-_.])(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)$|^requirements$")


def patterns_of(path: str) -> tuple[re.Pattern[str], ...]:
    """What finds the names of dependencies in the lines of this file; nothing if it is no manifest."""
    pure = PurePosixPath(path.lower())
    if pure.suffix in (".csproj", ".fsproj", ".props"):
        return (_XML,)
    if pure.suffix == ".gemspec":
        return (_GEM,)
    if _REQUIREMENTS_FILE.search(pure.name) or (pure.parent.name == "requirements" and pure.suffix in (".txt", ".in")):
        return (_REQUIREMENT,)
    return _MANIFESTS.get(pure.name, ())


class DependencyTally:
    """Takes the parts of a patch. A dependency that only gets another version, or moves, is not new."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {"+": set(), "-": set()}

    def take(self, part: PatchPart) -> None:
        patterns = patterns_of(part.file.path)
        if not patterns:
            return
        is_list_of_them = False
        for sign, text in part.lines:
            seen = text[:MATCHED_CHARS]
            if (opened := _LIST.match(seen)) is not None:
                is_list_of_them = "depend" in opened[1] or "require" in opened[1]
            bare = (_BARE_REQUIREMENT,) if is_list_of_them and _QUOTED_REQUIREMENT in patterns else ()
            if sign != " " and (name := _name(seen, (*patterns, *bare))) is not None:
                self._names[sign].add(name)

    @property
    def is_there(self) -> bool:
        return bool(self._names["+"] - self._names["-"])


def _name(text: str, patterns: tuple[re.Pattern[str], ...]) -> str | None:
    if text.lstrip().startswith(("#", "//", "<!--")):
        return None
    for pattern in patterns:
        if (found := pattern.search(text)) is not None:
            name = _plain(next(group for group in found.groups() if group is not None))
            return name if name not in _OWN_KEYS else None
    return None


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
