"""What runners, loggers and log drivers put around a line: time stamps, the names of programs, levels, JSON.

A level stays with its line where it says that nothing is wrong yet, as `warning:` or `info:`, and is dropped where it
says what the line does.
"""

import re

import msgspec

MOST_STAMPS = 4
STAMP = re.compile(
    r"(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z| ?[+-]\d\d:?\d\d)?"
    r"|\[?\d\d:\d\d:\d\d[\d.,]*\]?"
    r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d(?: \d{4})? (?:[\w.-]+ [\w./-]+(?:\[\d+\])?:)?"
    r"|[EFIW]\d{4} \d\d:\d\d:\d\d[\d.]* +\d+ [\w./-]+:\d+\]"
    r") *(?:std(?:out|err) [FP] +)?(?:##\[\w+\] *)?"
    r"|[\w.-]{2,30} +\| +|##\[\w+\] *"
)
_LEVEL = re.compile(
    r"[\[(<]?(trace|debug|info|notice|warn|warning|error|err|fatal|critical|crit|severe)[\])>]?:? +", re.IGNORECASE
)
_HARMLESS = {"trace": "debug: ", "debug": "debug: ", "info": "info: ", "notice": "info: "}
_WARNING = {"warn": "warning: ", "warning": "warning: "}
_MARKS = _HARMLESS | _WARNING
_PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[^\s"]+)')
_SAID = ("msg", "message", "error", "err", "stderr", "detail")
_LEVELS = ("level", "lvl", "severity", "levelname")


def plain_line(line: str) -> str:
    """As the program printed it, of a line without blanks around it."""
    rest = line
    for _ in range(MOST_STAMPS):
        stamp = STAMP.match(rest)
        if stamp is None or stamp.end() == len(rest):
            break
        rest = rest[stamp.end() :]
    level = _LEVEL.match(rest) if rest is not line else None
    if level is not None and level.end() < len(rest):
        rest = _MARKS.get(level[1].lower(), "") + rest[level.end() :]
    if rest.startswith("{") and rest.endswith("}"):
        return _told(_json_fields(rest)) or rest
    if "msg=" in rest and ("level=" in rest or "lvl=" in rest):
        return _told({key: value.strip('"') for key, value in _PAIR.findall(rest)}) or rest
    return rest


def is_harmless(line: str) -> bool:
    return line.startswith(("debug: ", "info: "))


def without_level(line: str) -> str:
    """What two lines are compared by: one logger warns of what another only mentions."""
    for mark in _MARKS.values():
        if line.startswith(mark):
            return line[len(mark) :]
    return line


def _json_fields(line: str) -> dict[str, object]:
    try:
        told = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _told(fields: dict[str, object] | dict[str, str]) -> str:
    """What a line of a structured log says."""
    words = [value for key in _SAID if isinstance(value := fields.get(key), str)]
    level = next((value for key in _LEVELS if isinstance(value := fields.get(key), str)), "")
    said = " ".join(" ".join(words).split())
    return _MARKS.get(level.lower(), "") + said if said else ""
