"""What people write where a cron time is asked for, and the cron time that they mean."""

import re

WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_STEPS = {"minute": "*/{n} * * * *", "hour": "0 */{n} * * *"}
_ROUNDS = {"minute": (60, "@hourly"), "hour": (24, "@daily"), "day": (1, "@daily")}
"""Steps begin again with each round: only those that divide it are a pace."""
_UNIT_LETTERS = {"m": "minute", "h": "hour", "d": "day"}
_EVERY = re.compile(r"@?(?:every )?(?P<n>[1-9][0-9]?) ?(?P<unit>minute|min|hour|day|m|h|d)s?")
_EACH = re.compile(
    r"@?(?:each |every )?(?P<word>minute|hour|hourly|day|daily|nightly|midnight|week|weekly|month|monthly)"
)
_EACH_CRON = {
    "minute": "* * * * *", "hour": "@hourly", "day": "@daily", "dai": "@daily", "nightly": "0 2 * * *",
    "midnight": "@midnight", "week": "@weekly", "month": "@monthly",
}  # fmt: skip
_AT = re.compile(
    r"(?:(?P<when>(?:every )?(?:day|weekday|weekend|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)s?"
    r"|daily|nightly) ?)?(?:at )?(?P<hour>[0-9]{1,2})(?:[:.h](?P<minute>[0-9]{2}))? ?(?P<half>am|pm)?"
)
_DAY_ALONE = re.compile(r"(?:every |on )?(?P<when>weekday|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?")


def meaning_of(text: str) -> str | None:
    """The cron time, or the word for it, that a phrase such as `every 15 minutes` or `weekdays at 9:30` means."""
    phrase = " ".join(text.lower().replace("@every", "every").split())
    if match := _EVERY.fullmatch(phrase):
        return _every(int(match["n"]), match["unit"])
    if match := _EACH.fullmatch(phrase):
        word = match["word"]
        return _EACH_CRON[word if word in ("nightly", "midnight") else word.removesuffix("ly")]
    if match := _DAY_ALONE.fullmatch(phrase):
        return f"0 0 * * {_weekdays(match['when'])}"
    match = _AT.fullmatch(phrase)
    return _at(match) if match is not None and (match["when"] or match["minute"] or match["half"]) else None


def _every(count: int, unit: str) -> str | None:
    unit = _UNIT_LETTERS.get(unit[0], unit)
    size, whole = _ROUNDS[unit]
    if count == size:
        return whole
    return _STEPS[unit].format(n=count).replace("*/1 ", "* ") if size % count == 0 else None


def _at(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), int(match["minute"] or 0)
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "pm" else 0)
    if hour > 23 or minute > 59:
        return None
    return f"{minute} {hour} * * {_weekdays(match['when'] or '')}"


def _weekdays(words: str) -> str:
    word = words.removeprefix("every ").strip()
    if word.startswith("weekday"):
        return "1-5"
    if word.startswith("weekend"):
        return "0,6"
    return str(_DAYS.get(word[:3], "*"))
