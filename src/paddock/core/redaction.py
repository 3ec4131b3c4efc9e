"""Text without what looks like a secret, before it leaves the machine.

Agents and tools quote what they see. What is replaced here has a form of its own, follows a word such as `token`, or is
a value that whoever asks knows to be secret. A secret that looks like any other word cannot be told from one.
"""

import re
from collections.abc import Iterable

HIDDEN = "[…]"
SHORTEST = 6
"""A known value that is shorter is likely to be an ordinary word as well."""

# Each part ends where the next can begin: agents write this text, and a pattern that tries again would not end.
_FORMS = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"
    r"|\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|\bgh[opsur]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{30,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"
)
_NAMED = re.compile(
    r"(?P<name>(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)"
    r"[\"']?[ \t]{0,3}[=:][ \t]{0,3}[\"']?)(?P<value>[^\s\"',;]{4,})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(?P<name>\b(?:bearer|basic)[ \t]{1,3})(?P<value>[A-Za-z0-9._~+/=-]{12,})", re.IGNORECASE)
_LOGIN = re.compile(r"(?P<name>[a-z][a-z0-9+.-]{1,20}://)[^\s/@]{1,200}@", re.IGNORECASE)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`secrets` are values that must not appear, whatever they look like."""
    for value in sorted({value for value in secrets if len(value) >= SHORTEST}, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    text = _FORMS.sub(HIDDEN, text)
    text = _LOGIN.sub(rf"\g<name>{HIDDEN}@", text)
    for named in (_BEARER, _NAMED):
        text = named.sub(rf"\g<name>{HIDDEN}", text)
    return text
