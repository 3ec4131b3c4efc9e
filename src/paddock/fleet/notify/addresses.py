"""What is wrong with the URLs of `[notify]`, and how they may be shown.

Apprise is imported here only where there is a URL: the daemon never does.
"""

import logging
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from paddock.config.schema import NotifySettings
from paddock.core.durations import format_duration
from paddock.core.ids import printable
from paddock.core.notify.outbox import LEAST_SECONDS
from paddock.core.wording import nearest
from paddock.fleet.notify.courier import INSTALL, NO_APPRISE
from paddock.fleet.notify.recipients import MOST_RECIPIENTS, Recipient, find_recipients, schema_of


def has_apprise() -> bool:
    return find_spec("apprise") is not None


def address_findings(settings: NotifySettings) -> Iterator[str]:
    """In words for `paddock config check`; no URL is in them."""
    if settings.every < LEAST_SECONDS:
        least = format_duration(LEAST_SECONDS)
        yield f"[notify] every is {format_duration(settings.every)}: at most one notification is sent in {least}"
    if not settings.urls:
        return
    if len(settings.urls) > MOST_RECIPIENTS:
        yield f"[notify] urls has {len(settings.urls)} URLs: only the first {MOST_RECIPIENTS} are told"
    if not has_apprise():
        yield f"[notify] urls needs Apprise, which is not installed: {INSTALL}"
        return
    for position, recipient in enumerate(find_recipients(settings).all, 1):
        if problem := unusable(recipient):
            yield f"[notify] urls: URL {position} cannot be used: {problem}"


def what_is_wrong(url: str) -> str:
    """Empty if Apprise accepts it, which says nothing about whether the service does."""
    schema, known = schema_of(url), _schemas()
    if not schema:
        return "it does not begin with a service, such as `ntfy://`"
    if schema not in known:
        near = nearest(schema, known)
        meant = f"; did you mean `{near}://`?" if near else ""
        return f"Apprise knows no service `{printable(schema, 40)}://`{meant}"
    return "" if _load(url) is not None else f"a part of it is missing or wrong for `{schema}://`"


def shown_address(recipient: Recipient) -> str:
    """Its URL up to the host, without secrets, if Apprise is there to tell which these are; else its name."""
    if not recipient.url or recipient.problem or not has_apprise():
        return recipient.name
    loaded = _load(recipient.url)
    if loaded is None:
        return recipient.name
    schema, _, rest = str(loaded.url(privacy=True)).partition("?")[0].partition("://")
    host, _, path = rest.partition("/")
    return printable(f"{schema}://{host}{'/…' if path else ''}", 120)


def unusable(recipient: Recipient) -> str:
    """Why nothing can be sent there, as far as can be told without trying; empty if nothing is known to be wrong."""
    if recipient.problem or not recipient.url:
        return recipient.problem
    return what_is_wrong(recipient.url) if has_apprise() else NO_APPRISE


def _schemas() -> Sequence[str]:
    from apprise.manager_plugins import NotificationManager

    manager: Any = NotificationManager
    return sorted(manager().schemas())


def _load(url: str) -> Any:
    """None where Apprise does not accept it."""
    import apprise

    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    return apprise.Apprise.instantiate(url)
