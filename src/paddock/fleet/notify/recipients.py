"""Who is told: the URLs of `[notify]`, or this desktop."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from paddock.config.schema import NotifySettings
from paddock.core.notify.notification import Notification
from paddock.core.notify.outbox import LEAST_SECONDS
from paddock.fleet.notify.courier import SEND_SECONDS, Errand
from paddock.fleet.notify.desktop import Desktop, find_desktop
from paddock.store.digest import blake2b

MOST_RECIPIENTS = 20
MOST_CHARACTERS = 4096
DESKTOP = "desktop"
_SCHEMA = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}):/")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Recipient:
    """`id` stays the same as long as the address does, and tells nothing of it; `name` is for people, without
    secrets. `problem` says why nothing can be sent."""

    id: str
    name: str
    url: str = ""
    desktop: Desktop | None = None
    problem: str = ""

    def errand(
        self, notification: Notification, *, number: int = 0, receipt: str = "", wait_seconds: float = 0.0
    ) -> Errand:
        title, body = notification.title, notification.body
        argv = self.desktop.argv(title, body) if self.desktop is not None else ()
        return Errand(title, body, self.url, argv, number, wait_seconds, SEND_SECONDS, receipt)


@dataclass(frozen=True, slots=True)
class Recipients:
    """`why_none` tells why there is nobody."""

    all: tuple[Recipient, ...] = ()
    why_none: str = ""


def find_recipients(settings: NotifySettings, environment: Mapping[str, str] | None = None) -> Recipients:
    environment = os.environ if environment is None else environment
    if settings.urls:
        named = enumerate(settings.urls[:MOST_RECIPIENTS], 1)
        return Recipients(tuple(_of_url(url, position, environment) for position, url in named))
    if settings.desktop == "never":
        return Recipients(why_none='`urls` is empty, and `desktop` is "never"')
    desktop = find_desktop(environment)
    if not desktop.program:
        return Recipients(why_none=f"`urls` is empty, and {desktop.why}")
    return Recipients((Recipient(DESKTOP, DESKTOP, desktop=desktop),))


def _of_url(written: str, position: int, environment: Mapping[str, str]) -> Recipient:
    name = f"url {position} ({schema_of(written) or 'no schema'})"
    missing = [variable for variable in _VARIABLE.findall(written) if not environment.get(variable)]
    url = _VARIABLE.sub(lambda found: environment.get(found[1], ""), written.strip())
    problem = f"the environment has no {missing[0]}" if missing else ""
    if len(url) > MOST_CHARACTERS:
        problem = f"it has {len(url):,} characters; the limit is {MOST_CHARACTERS:,}"
    return Recipient(blake2b(url.encode(), digest_size=8).hexdigest(), name, url, problem=problem)


def schema_of(url: str) -> str:
    """In lower case; empty where there is none."""
    found = _SCHEMA.match(url.strip())
    return found[1].lower() if found is not None else ""


def pause_of(settings: NotifySettings) -> float:
    """Seconds from one notification to the next."""
    return max(LEAST_SECONDS, settings.every)


def known_secrets(environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """Values of the environment that no text may contain which leaves the machine."""
    environment = os.environ if environment is None else environment
    return frozenset(value for name, value in environment.items() if _SECRET_NAME.search(name))
