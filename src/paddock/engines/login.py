"""Whether a CLI has credentials, as far as that can be seen without asking its provider."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SECRETS = frozenset(
    ("accesstoken", "refreshtoken", "apikey", "openaiapikey", "token", "key", "access", "refresh", "loggedinusers")
)
_RENEWALS = frozenset(("refreshtoken", "refresh"))
_EXPIRIES = frozenset(("expiresat", "expirydate", "expires"))
_DEPTH = 5
_FILE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Login:
    """`known` is None if it cannot be told from outside; `words` say what was seen."""

    known: bool | None
    words: str


def find_login(environment: Mapping[str, str], keys: Sequence[str], files: Sequence[str]) -> Login:
    """`keys` are variables, `files` lie below HOME or are absolute; one that holds no login says nothing."""
    if not keys and not files:
        return Login(None, "login unknown")
    for key in keys:
        if environment.get(key):
            return Login(True, f"{key} is set")
    home = Path(environment.get("HOME") or Path.home())
    seen = [login for file in files if (login := _read(home / file)) is not None]
    for login in sorted(seen, key=lambda one: one.known is not True):
        return login
    # On macOS a login may lie in the keychain.
    return Login(None, "login unknown") if sys.platform == "darwin" else Login(False, "not logged in")


def _read(path: Path) -> Login | None:
    """What a file of credentials tells; None when there is no such file."""
    try:
        if path.stat().st_size > _FILE_BYTES:
            return Login(None, "login unknown")
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        return Login(None, "login unknown")
    found = dict(_members(value, _DEPTH))
    if not any(found.get(name) for name in _SECRETS):
        return Login(None, "login unknown")
    expiry = max((_seconds(found[name]) for name in _EXPIRIES if name in found), default=0.0)
    if 0 < expiry < time.time() and not any(found.get(name) for name in _RENEWALS):
        return Login(False, f"the login in {path} has expired")
    return Login(True, "logged in")


def _members(value: object, depth: int) -> Iterator[tuple[str, object]]:
    """Every member with its name in small letters and nothing between them, deep ones first."""
    if not depth:
        return
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _members(member, depth - 1)
            yield str(name).replace("_", "").replace("-", "").lower(), member
    elif isinstance(value, list):
        for member in value:
            yield from _members(member, depth - 1)


def _seconds(value: object) -> float:
    """Milliseconds or seconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return value / 1000 if value > 1e11 else float(value)
