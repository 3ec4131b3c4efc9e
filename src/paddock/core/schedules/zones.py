"""Time zones by name, as the machine's database knows them."""

import re
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.core.wording import nearest

SHOWN = 3
_OFFSET = re.compile(r"(?:utc|gmt|z)? ?[+-] ?[0-9]{1,2}(?::?[0-9]{2})?", re.IGNORECASE)


def find_zone(name: str) -> tzinfo:
    """Raises Misuse with the nearest names; another one where the machine has no database at all."""
    if name in ("UTC", "Etc/UTC"):
        return UTC
    known = available_timezones() if "/" not in name or name.startswith("/") else None
    try:
        if known is None or name in known:
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # not there, not a name, a folder
        known = available_timezones()
    known = known or available_timezones()
    shown = printable(name, 60)
    if not known:
        raise Misuse(
            f"time zone `{shown}` is not known: this machine has no time zone database",
            "install it (`apt install tzdata`, or `pip install tzdata`), or use `--tz UTC`",
        )
    raise Misuse(f"there is no time zone `{shown}`", _hint(name, known))


def _hint(name: str, known: set[str]) -> str:
    if _OFFSET.fullmatch(name.strip()):
        return "name a place, whose clocks may change twice a year: `Europe/Berlin`, `America/New_York`, or `UTC`"
    if len(name) < 5 and name.isupper():
        return "several zones share such letters: name a place, such as `Europe/Berlin` or `America/Los_Angeles`"
    if near := near_zones(name, known):
        return f"did you mean {' or '.join(f'`{one}`' for one in near)}?"
    return "names are those of the tz database: `Europe/Berlin`, `America/New_York`, `UTC`"


def near_zones(name: str, known: set[str]) -> list[str]:
    """The same name in other letters or its city alone, else the nearest."""
    word = "_".join(name.strip().lower().split())
    lower = {one.lower(): one for one in sorted(known)}
    if word in lower:
        return [lower[word]]
    cities = [one for low, one in lower.items() if low.rpartition("/")[2] == word.rpartition("/")[2]]
    if cities:
        return cities[:SHOWN]
    near = nearest(word, lower, 0.7)
    if near is not None:
        return [lower[near]]
    by_city = {low.rpartition("/")[2]: one for low, one in lower.items()}
    near = nearest(word.rpartition("/")[2], by_city, 0.75)
    return [] if near is None else [by_city[near]]
