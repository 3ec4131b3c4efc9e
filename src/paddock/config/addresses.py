"""Addresses of databases: filled in from the environment, and shown without what is secret in them."""

import os
import re
from collections.abc import Mapping

from paddock.core.errors import Misuse
from paddock.core.ids import printable

SCHEMES = ("postgresql://", "postgres://")
_NAMED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SHOWN_PARAMETERS = frozenset({"host", "port", "dbname", "user", "sslmode", "service", "target_session_attrs"})


def fill_url(url: str, environment: Mapping[str, str] | None = None) -> str:
    """With each `${NAME}` as the environment has it. Raises Misuse for one it has not, and for another scheme."""
    known = os.environ if environment is None else environment

    def value(found: re.Match[str]) -> str:
        if (text := known.get(found[1])) is None:
            raise Misuse(
                f"[store] url names `{found[0]}`, and there is no such variable in the environment",
                f"set it: `export {found[1]}=…`",
            )
        return text

    filled = _NAMED.sub(value, url)
    if not filled.startswith(SCHEMES):
        raise Misuse(
            f"[store] url: `{printable(filled.partition(':')[0], 30)}…` is not the address of a PostgreSQL database",
            "write it as `postgresql://USER@HOST/DATABASE`",
        )
    return filled


def is_unclear(url: str) -> bool:
    """Whether a password in it is not escaped, so that some of it would be taken for a host, and shown as one."""
    rest, _, parameters = url.partition("://")[2].partition("?")
    return _is_unclear(rest, parameters) or rest.count("@") > 1 or "@" in rest.partition("/")[2]


def login_of(url: str) -> tuple[str, str]:
    """The role and the database; empty where it does not name them, or they come from the environment."""
    from urllib.parse import unquote

    rest = url.partition("://")[2].partition("?")[0]
    authority, _, database = rest.partition("/")
    user = authority.rpartition("@")[0].partition(":")[0]
    known = ("" if "$" in name or "@" in name else unquote(name) for name in (user, database))
    return next(known), next(known)


def holds_password(url: str) -> bool:
    """Whether a password is written in it, rather than the name of a variable that has it."""
    return without_password(url) != url


def without_password(url: str) -> str:
    """The same address for those who keep the password elsewhere; one that is named only stays."""
    scheme, mark, rest = url.partition("://")
    rest, question, parameters = rest.partition("?")
    if _is_unclear(rest, parameters):
        return f"{scheme}{mark}…"
    login, at, place = rest.rpartition("@")
    user, colon, password = login.partition(":")
    if colon and not _NAMED.fullmatch(password):
        login = user
    words = [word for word in parameters.split("&") if not _tells_password(word)]
    return f"{scheme}{mark}{login}{at}{place}{question if words != [''] and words else ''}{'&'.join(words)}"


def _is_unclear(rest: str, parameters: str) -> bool:
    """Whether the password may go on behind the `?`, which its writer forgot to escape."""
    return "@" in parameters and "@" not in rest


def _tells_password(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return name in ("password", "sslpassword") and not _NAMED.fullmatch(value)


def shown_url(url: str) -> str:
    """User, hosts and database: no password, and of the parameters only those that cannot hold one."""
    if (named := _NAMED.fullmatch(url)) is not None:
        url = os.environ.get(named[1], "")
    if not url.startswith(SCHEMES):
        return "…"
    rest = url.partition("://")[2]
    rest, question, parameters = rest.partition("?")
    if _is_unclear(rest, parameters):
        return "postgresql://…"
    authority, slash, database = rest.partition("/")
    # A password may contain anything that its writer forgot to escape, so all before the last @ but the user is one.
    login, at, hosts = authority.rpartition("@")
    if "@" in database:
        login, at, hosts, slash, database = authority, "@", "…", "", ""
    user = login.partition(":")[0]
    shown = [word for word in parameters.split("&") if word.partition("=")[0] in _SHOWN_PARAMETERS]
    query = f"?{'&'.join(shown)}" if question and shown and "@" not in parameters else ""
    return printable(f"postgresql://{user}{at}{hosts}{slash}{database}{query}", 200)
