"""What of the machine a command needs to read so that it and what it calls can run: programs, and what they came with.

A fence shows the system anyway. Here are the places people install things in themselves: what PATH names, what a
program's links lead to, and the usual folders of version managers. Of folders that hold logins beside programs, only
the part with programs is shown.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from time import monotonic

KNOWN_SECONDS = 10.0
"""How long what was found is believed: a fleet starts many commands with the same tools; people install new ones."""
MOST_LINKS = 20
SHEBANG_BYTES = 512
_PROGRAM_FOLDERS = ("bin", "sbin", "shims", "Scripts")
_SHARED_PREFIXES = ("", ".local", ".cargo", "go", ".config", ".cache")
"""Below HOME: they hold a folder of programs, and much else."""
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", "/nix/", "/snap/", "/etc/")
_VARIABLES = ("JAVA_HOME", "GOROOT", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "PNPM_HOME", "VIRTUAL_ENV", "CONDA_PREFIX")
_FILES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_USUAL = (
    *(".nvm", ".fnm", ".volta", ".asdf", ".rbenv", ".pyenv", ".rustup", ".sdkman", ".bun", ".deno", ".ghcup"),
    *(".cargo/bin", ".cargo/env", ".cargo/registry", ".cargo/git", "go/bin", "go/pkg/mod", ".npm-global", "bin"),
    *(".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx", ".local/share/uv", ".local/share/mise"),
    *(".local/share/pnpm", ".local/share/fnm", ".gem", "miniconda3", "anaconda3", ".m2/repository"),
)


def find_toolchains(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
    """Folders and files outside the system that exist; `home` is the user's own, whatever HOME says in `env`."""
    named = tuple(value for name in (*_VARIABLES, *_FILES) if (value := env.get(name, "")).startswith("/"))
    return _find_toolchains(env.get("PATH", ""), named, home, monotonic() // KNOWN_SECONDS)


def find_program(program: str, home: Path) -> tuple[Path, ...]:
    """What a program given by its full path needs: where each link to it lies, what it came with, its interpreter."""
    return _find_program(program, home, monotonic() // KNOWN_SECONDS)


@lru_cache(maxsize=64)
def _find_toolchains(search_path: str, named: tuple[str, ...], home: Path, _when: float) -> tuple[Path, ...]:
    folders = [Path(part) for part in search_path.split(os.pathsep) if part.startswith("/")]
    places = [installation_of(folder / "program", home) for folder in folders]
    places += map(Path, named)
    places += [home / name for name in _USUAL]
    return with_real_paths(place for place in places if _is_worth_showing(place, home))


@lru_cache(maxsize=64)
def _find_program(program: str, home: Path, _when: float) -> tuple[Path, ...]:
    places = [place for link in _links(Path(program)) for place in (link, installation_of(link, home))]
    interpreter = _interpreter(program)
    if interpreter and interpreter != program:
        places += [place for link in _links(Path(interpreter)) for place in (link, installation_of(link, home))]
    return with_real_paths(place for place in places if _is_worth_showing(place, home))


def installation_of(program: Path, home: Path) -> Path:
    """The folder a program was installed into; its own folder where that is not told from anything else."""
    parts = program.parts
    if "node_modules" in parts:
        return Path(*parts[: parts.index("node_modules") + 1])
    folder, shared = program.parent, _shared_folders(home)
    if folder.name in _PROGRAM_FOLDERS and folder.parent not in shared:
        return folder.parent
    return program if folder in shared else folder


@cache
def _shared_folders(home: Path) -> frozenset[Path]:
    return frozenset((*(home / name for name in _SHARED_PREFIXES), *home.parents))


def _links(path: Path) -> Iterator[Path]:
    """The path, and each that a link on the way leads to."""
    for _ in range(MOST_LINKS):
        yield path
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / os.readlink(path)))
    real = Path(os.path.realpath(path))
    if real != path:
        yield real


def _interpreter(program: str) -> str:
    """The one its first line names by a full path."""
    try:
        with open(program, "rb") as file:
            first = file.read(SHEBANG_BYTES).partition(b"\n")[0]
    except OSError:
        return ""
    words = first.removeprefix(b"#!").split() if first.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words and words[0].startswith(b"/") else ""


def _is_worth_showing(place: Path, home: Path) -> bool:
    text = str(place)
    too_much = place == home or place in home.parents
    return not too_much and not f"{text}/".startswith(_SYSTEM) and os.path.exists(text)


def with_real_paths(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Each path and what it really is: programs ask for both."""
    when = monotonic() // KNOWN_SECONDS
    return tuple(dict.fromkeys(place for path in paths for place in (path, _real_path(path, when))))


def _real_path(path: Path, when: float) -> Path:
    folder, name = os.path.split(path)
    real = _real_folder(folder, when)
    if os.path.islink(path) or name in ("", "..", "."):
        return Path(os.path.realpath(path))
    return path if real == folder else Path(real, name)


@lru_cache(maxsize=1024)
def _real_folder(folder: str, _when: float) -> str:
    return os.path.realpath(folder)
