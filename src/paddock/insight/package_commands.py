"""Package managers and the tools of a language: what they install, build, test and run."""

from collections.abc import Sequence

from paddock.insight.command_words import names
from paddock.insight.phases import Activity, Phase, of_family

PACKAGE_TOOLS = names(
    "npm pnpm yarn bun pip pip3 uv poetry pdm pipenv rye hatch conda mamba gem bundle composer deno"
    " docker podman docker-compose kubectl apt apt-get cargo-add pixi"
)
_TESTS = names("test tests t tst nextest vitest jest e2e spec coverage")
_RUNS = names("run start serve exec repl shell x ps logs attach dev")
_ADDS = {
    "pip": frozenset({"install"}),
    "npm": frozenset({"install", "i", "add"}),
    "pnpm": frozenset({"add", "install", "i"}),
    "yarn": frozenset({"add"}),
    "bun": frozenset({"add", "install", "i"}),
    "uv": frozenset({"add"}),
    "poetry": frozenset({"add"}),
    "pdm": frozenset({"add"}),
    "rye": frozenset({"add"}),
    "pixi": frozenset({"add"}),
    "pipenv": frozenset({"install"}),
    "conda": frozenset({"install"}),
    "mamba": frozenset({"install"}),
    "gem": frozenset({"install"}),
    "bundle": frozenset({"add"}),
    "composer": frozenset({"require"}),
    "cargo": frozenset({"add"}),
    "go": frozenset({"get"}),
    "dotnet": frozenset({"add"}),
    "deno": frozenset({"add"}),
    "dart": frozenset({"add"}),
    "flutter": frozenset({"add"}),
}
_ADDS["pip3"] = _ADDS["pip"]
_VALUED = names("--filter -C --prefix -w --workspace --cwd --dir -f --file -n --name -p --manifest-path")
ADDED = "<package>"
"""Ends the target of a command that adds a dependency which it names."""


def activity_of_package_tool(name: str, words: Sequence[str]) -> Activity:
    arguments = _arguments(words)
    if name == "uv" and arguments[:1] == ["pip"]:
        return activity_of_package_tool("pip", words[1:])
    first, *more = arguments or [""]
    if first in ("run", "run-script") and more and name not in ("docker", "podman", "go", "cargo", "dotnet", "swift"):
        return _of_script(name, more[0])
    if first in _TESTS or (name in ("docker", "podman") and _runs_tests(more)):
        return of_family(Phase.TEST, name, first)
    if first in _ADDS.get(name, ()) and more and not _from_here(words):
        return of_family(Phase.BUILD, name, first, ADDED)
    if first in _RUNS:
        return of_family(Phase.RUN, name, first)
    return of_family(Phase.BUILD, name, first)


def _of_script(name: str, script: str) -> Activity:
    parts = script.replace("-", ":").replace("_", ":").replace(".", ":").lower().split(":")
    if _TESTS.intersection(parts):
        return of_family(Phase.TEST, name, "run", script)
    serves = {"start", "dev", "serve", "preview", "watch"}.intersection(parts)
    return of_family(Phase.RUN if serves else Phase.BUILD, name, "run", script)


def _runs_tests(words: Sequence[str]) -> bool:
    return any(word in ("pytest", "test", "tox") for word in words[1:])


def _arguments(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    skip = False
    for word in words:
        if not skip and word and not word.startswith("-"):
            found.append(word)
        skip = word in _VALUED
    return found


def _from_here(words: Sequence[str]) -> bool:
    """Whether it installs what the project itself says, or the project."""
    return any(
        word in ("-r", "--requirement", "-e", "--editable", ".") or word.startswith((".[", "./")) for word in words
    )
