"""Who may come in: decisions about a request's address, origin and token. Pure; the headers go in, a refusal comes out.

A page of another site, or of another server on this machine, may make a browser send requests here. It cannot choose
the browser's `Host`, `Origin` and `Sec-Fetch-Site`, so these are asked first: against a name that was pointed at this
machine (DNS rebinding), and against forms and scripts of others. Only then does the token count.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from paddock.web.addresses import split_address

SAFE: Final = ("GET", "HEAD")
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
JSON: Final = "application/json"
OPEN_PATHS: Final = ("/healthz", "/favicon.ico")
"""Answered without a token: they say nothing about the repository."""

TICKET_SECONDS: Final = 60

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True)
class ServerAccess:
    """Where the server listens and what opens it. `token` is empty where none is needed, which only a loopback
    address may do without; `names` are the names of this machine by which it may be called."""

    host: str
    port: int
    token: str = ""
    names: frozenset[str] = LOOPBACK

    @property
    def cookie(self) -> str:
        """Cookies do not tell ports apart: each server has its own name for it."""
        return f"paddock-{self.port}"

    @property
    def cookie_value(self) -> str:
        """Not the token itself: other servers of this machine are sent the cookie as well."""
        return hashlib.sha256(f"paddock cookie {self.token}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RequestHead:
    """A request as far as it matters here. Headers that are missing are None."""

    method: str
    path: str
    host: str | None
    origin: str | None = None
    site: str | None = None
    cookie: str | None = None
    authorization: str | None = None
    content_type: str | None = None

    @property
    def is_safe(self) -> bool:
        return self.method in SAFE

    @property
    def is_page(self) -> bool:
        """What a person may open by a link: neither data nor a request for something."""
        within = split_address(self.path)[1]
        return self.is_safe and not within.startswith("/api/") and within != "/metrics"


@dataclass(frozen=True, slots=True)
class Denial:
    """`code` is for programs."""

    status: int
    code: str
    message: str
    hint: str


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_everywhere(host: str) -> bool:
    """Whether this is no address but stands for every one of this machine."""
    return host in ("0.0.0.0", "::", "")


def denial_of(access: ServerAccess, head: RequestHead) -> Denial | None:
    """None lets it in."""
    return _wrong_host(access, head) or _wrong_site(head) or _wrong_token(access, head) or _wrong_content(head)


def opens_with(access: ServerAccess, head: RequestHead, token: str) -> bool:
    """Whether a token in the address of a page is the right one."""
    return head.is_page and _same(token, access.token)


def make_ticket(token: str, now: float) -> str:
    """Opens the page once, and soon not at all: for an address that others can see, as in the list of processes."""
    said = f"{int(now) + TICKET_SECONDS}-{secrets.token_hex(8)}"
    return f"{said}-{_sign(token, said)}"


def ticket_ends(access: ServerAccess, ticket: str) -> float:
    """Until when it opens the page; 0 if it was not made with the token."""
    said, _, sign = ticket.rpartition("-")
    return float(said.partition("-")[0]) if access.token and _same(sign, _sign(access.token, said)) else 0.0


def _sign(token: str, text: str) -> str:
    return hmac.new(token.encode(), b"paddock ticket " + text.encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def split_host(text: str) -> str | None:
    """The name or address of a Host header without its port; None if it is none."""
    name, port = text.lower(), ""
    if name.startswith("["):
        name, bracket, rest = name[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")) or ":" not in name:
            return None
        port = rest[1:]
    elif ":" in name:
        name, _, port = name.partition(":")
    if not name or not port.isascii() or (port and not port.isdecimal()):
        return None
    return name


def _wrong_host(access: ServerAccess, head: RequestHead) -> Denial | None:
    name = split_host(head.host) if head.host is not None else None
    if name is not None and (name in access.names or (is_everywhere(access.host) and _is_address(name))):
        return None
    known = ", ".join(sorted(access.names))
    return Denial(
        403, "host", "this server is not known by the name in your request's Host header", f"call it by: {known}"
    )


def _is_address(name: str) -> bool:
    """No name server decides where an address leads."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _wrong_site(head: RequestHead) -> Denial | None:
    if head.is_page:
        return None
    allowed = ("same-origin", "none") if head.is_safe else ("same-origin",)
    foreign = head.site is not None and head.site not in allowed
    if head.origin is not None:
        scheme, _, rest = head.origin.partition("://")
        foreign = foreign or scheme not in ("http", "https") or rest.lower() != (head.host or "").lower()
    elif not head.is_safe and head.site is None and head.cookie is not None and head.authorization is None:
        foreign = True  # every browser that keeps cookies says where a request comes from
    if not foreign:
        return None
    return Denial(
        403, "origin", "the request comes from a page of another site", "open the page that `paddock web` names"
    )


def shows_token(access: ServerAccess, head: RequestHead) -> bool:
    """Or needs none, because nobody does."""
    if not access.token:
        return True
    if head.authorization is None:
        return any(_same(one, access.cookie_value) for one in _cookies(head, access.cookie))
    scheme, _, credentials = head.authorization.partition(" ")
    return scheme.lower() == "bearer" and _same(credentials.strip(), access.token)


def _wrong_token(access: ServerAccess, head: RequestHead) -> Denial | None:
    if head.path in OPEN_PATHS or head.path.startswith("/static/") or shows_token(access, head):
        return None
    return Denial(
        401,
        "token",
        "the token is missing or wrong",
        "open the address that `paddock web` prints, or send `Authorization: Bearer TOKEN`",
    )


def _cookies(head: RequestHead, name: str) -> list[str]:
    """Another server of this machine may have set one of the same name: it must not shut anybody out."""
    pairs = (part.strip().partition("=") for part in (head.cookie or "").split(";"))
    return [value for key, _, value in pairs if key == name]


def _same(said: str, known: str) -> bool:
    return bool(known) and hmac.compare_digest(said.encode("utf-8", "surrogatepass"), known.encode())


def _wrong_content(head: RequestHead) -> Denial | None:
    """A form of another site can send text, but not JSON without being asked about it first."""
    kind = (head.content_type or "").partition(";")[0].strip().lower()
    if head.is_safe or kind == JSON:
        return None
    return Denial(415, "content-type", f"the body must be {JSON}", f"send `Content-Type: {JSON}`")
