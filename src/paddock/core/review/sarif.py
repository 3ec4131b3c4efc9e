"""SARIF 2.1.0, the language in which tools tell findings: read from any of them, written for any of them.

What a tool wrote is data of unknown origin: whatever is not as the standard has it is left out, and nothing raises.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from paddock.core.ids import harmless, printable
from paddock.core.merge.pathnames import path_problem
from paddock.core.review.events import Claim, Severity

VERSION = "2.1.0"
TEXT_LIMIT = 32 * 1024 * 1024
MOST_CLAIMS = 500
MOST_RESULTS = 200_000
MOST_READ = 5_000
"""Of one severity: of more, only their number is told."""
MOST_BASES = 10
MOST_LEVELS = 8
CLAIM_LIMIT = 1_000
EVIDENCE_LIMIT = 4_000
NAME_LIMIT = 200
PATH_LIMIT = 1_000
FIELD_LIMIT = 8_000
"""Of any text: one may stand for thousands of results, and each of them would be as long."""
LAST_LINE = 2**31
_NOT_FINDINGS = ("pass", "notApplicable", "informational")
_UNDECIDED = ("open", "review")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{1,3})\}")
_LINK = re.compile(r"(?<!\\)\[((?:\\.|[^\\\[\]])*)\]\((\d{1,9})\)")
_DRIVE = re.compile(r"/[A-Za-z]:")

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SarifReport:
    """`problem` says why there are no claims, or why some may be missing; `left_out` is how many were too many."""

    claims: tuple[Claim, ...] = ()
    problem: str = ""
    left_out: int = 0


def read_sarif(text: str, *roots: str) -> SarifReport:
    """What a tool holds against files below one of `roots`, which are absolute; the gravest first.

    A finding outside of them is one about the change as a whole, and its evidence says where.
    """
    if len(text) > TEXT_LIMIT:
        return SarifReport(problem=f"it has {len(text):,} characters; the limit is {TEXT_LIMIT:,}")
    if not text.strip():
        return SarifReport(problem="it is empty")
    try:
        log = msgspec.json.decode(text.removeprefix("\ufeff"))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return SarifReport(problem=f"it is not JSON: {printable(str(error))}")
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        return SarifReport(problem="it is JSON, but not SARIF: it has no list `runs`")
    version = log.get("version", VERSION)
    if version != VERSION:
        return SarifReport(problem=f"it is SARIF of version {printable(str(version), 40)}; {VERSION} is understood")
    runs = [_Run(run, roots) for run in log["runs"] if isinstance(run, dict)]
    if (count := sum(len(run.results) for run in runs)) > MOST_RESULTS:
        return SarifReport(problem=f"it has {count:,} results; the limit is {MOST_RESULTS:,}")
    found: dict[Severity, list[tuple[_Run, _Result]]] = {severity: [] for severity in Severity}
    for run in runs:
        for result in run.findings():
            found[result.severity].append((run, result))
    unread = sum(max(0, len(alike) - MOST_READ) for alike in found.values())
    claims = list(dict.fromkeys(run.claim(one) for alike in found.values() for run, one in alike[:MOST_READ]))
    problem = next((words for run in runs if (words := run.problem())), "")
    return SarifReport(tuple(claims[:MOST_CLAIMS]), problem, unread + max(0, len(claims) - MOST_CLAIMS))


@dataclass(frozen=True, slots=True)
class _Result:
    table: Table
    rule: Table
    severity: Severity


class _Run:
    """What results refer to is looked up once: a tool may tell as many of each as fit into a file."""

    def __init__(self, run: Table, roots: Sequence[str]) -> None:
        tool = _table(run.get("tool"))
        self._run, self._roots = run, roots
        self._driver, extensions = _table(tool.get("driver")), _tables(tool.get("extensions"))
        self._own_rules = _tables(self._driver.get("rules"))
        self._extension_rules = [_tables(one.get("rules")) for one in extensions]
        self._rules: dict[str, Table] = {}
        for rule in (rule for rules in (self._own_rules, *self._extension_rules) for rule in rules):
            self._rules.setdefault(_text(rule, "id"), rule)
        self._artifacts = _tables(run.get("artifacts"))
        self.results = _tables(run.get("results"))

    def findings(self) -> Iterator[_Result]:
        for result in self.results:
            rule = self._rule(result)
            severity = _severity(result, rule)
            if severity is not None and not _is_suppressed(result):
                yield _Result(result, rule, severity)

    def problem(self) -> str:
        """What the tool says it could not do."""
        for invocation in _tables(self._run.get("invocations")):
            if invocation.get("executionSuccessful") is not False:
                continue
            notes = _tables(invocation.get("toolExecutionNotifications"))
            words = next((text for note in notes if (text := _text(_table(note.get("message")), "text"))), "")
            why = words or _text(invocation, "exitCodeDescription") or _text(invocation, "exitSignalName")
            return f"the tool says that it did not succeed{f': {printable(why)}' if why else ''}"
        return ""

    def claim(self, found: _Result) -> Claim:
        result, rule = found.table, found.rule
        name = _text(result, "ruleId") or _text(_table(result.get("rule")), "id") or _text(rule, "id")
        location = _table(_first(_tables(result.get("locations"))).get("physicalLocation"))
        region = _table(location.get("region"))
        uri, base = self._uri(_table(location.get("artifactLocation")))
        path = self._path(uri, base)
        words = self._message(result, rule) or _described(rule) or name or "the tool does not say what"
        snippet = _text(_table(region.get("snippet")), "text")
        evidence = snippet if path or not uri else f"{uri}\n{snippet}".rstrip()
        fix = _table(_first(_tables(result.get("fixes"))).get("description"))
        return Claim(
            claim=printable(" ".join(words.split()), CLAIM_LIMIT),
            path=path,
            line=_line(region) if path else 0,
            severity=found.severity,
            evidence=harmless(evidence)[:EVIDENCE_LIMIT],
            suggestion=harmless(_text(fix, "text"))[:EVIDENCE_LIMIT],
            rule=printable(name, NAME_LIMIT),
        )

    def _rule(self, result: Table) -> Table:
        """By its place in the list of whoever brought it, else by its name or the beginning of its name."""
        reference = _table(result.get("rule"))
        index = _whole(reference.get("index"), _whole(result.get("ruleIndex"), -1))
        at = _whole(_table(reference.get("toolComponent")).get("index"), -1)
        rules = self._own_rules if at < 0 else self._extension_rules[at] if at < len(self._extension_rules) else ()
        if found := _at(rules, index):
            return found
        name = _text(result, "ruleId") or _text(reference, "id")
        for _ in range(MOST_LEVELS):
            if not name or name in self._rules:
                break
            name = name.rpartition("/")[0]
        return self._rules.get(name, {}) if name else {}

    def _message(self, result: Table, rule: Table) -> str:
        message = _table(result.get("message"))
        text = _text(message, "text") or _text(message, "markdown")
        if not text and (key := _text(message, "id")):
            shared = _table(self._driver.get("globalMessageStrings"))
            found = _table(_table(rule.get("messageStrings")).get(key)) or _table(shared.get(key))
            text = _text(found, "text") or _text(found, "markdown")
        given = message.get("arguments")
        text = _fill(text, given) if isinstance(given, list) and given else text
        places = {_whole(place.get("id"), -1) for place in _tables(result.get("relatedLocations"))}
        return _LINK.sub(lambda link: link[1] if int(link[2]) in places else link[0], text)

    def _uri(self, artifact: Table) -> tuple[str, str]:
        """The address of a file, and the name of what it is relative to."""
        uri = _text(artifact, "uri")
        if not uri and (index := _whole(artifact.get("index"), -1)) >= 0:
            artifact = _table(_at(self._artifacts, index).get("location"))
            uri = _text(artifact, "uri")
        return uri, _text(artifact, "uriBaseId")

    def _path(self, uri: str, base: str) -> str:
        """Relative to one of the roots; empty where the address leads elsewhere."""
        bases = _table(self._run.get("originalUriBaseIds"))
        for _ in range(MOST_BASES):
            if not base or _is_absolute(uri) or len(uri) >= FIELD_LIMIT:
                break
            known = _table(bases.get(base))
            above, base = _text(known, "uri"), _text(known, "uriBaseId")
            uri = f"{above.rstrip('/')}/{uri}" if above else uri
        return _below(_local(uri), self._roots) if len(uri) < FIELD_LIMIT else ""


def _severity(result: Table, rule: Table) -> Severity | None:
    """None for what is no finding."""
    kind = result.get("kind", "fail")
    if kind in _NOT_FINDINGS or result.get("baselineState") == "absent":
        return None
    level = result.get("level")
    if level is None and kind in _UNDECIDED:
        level = Severity.NOTE.value
    if level is None:
        level = _table(rule.get("defaultConfiguration")).get("level", Severity.WARNING.value)
    if level == "none":
        return None
    return next((severity for severity in Severity if severity.value == level), Severity.WARNING)


def _is_suppressed(result: Table) -> bool:
    given = _tables(result.get("suppressions"))
    return bool(given) and all(one.get("status", "accepted") == "accepted" for one in given)


def _fill(text: str, given: Sequence[object]) -> str:
    """As much of it as is shown: a few letters may stand for a long argument, again and again."""
    parts, size, at = [], 0, 0
    for found in _PLACEHOLDER.finditer(text):
        parts += [text[at : found.start()], _argument(found, given)]
        size, at = size + len(parts[-2]) + len(parts[-1]), found.end()
        if size > CLAIM_LIMIT:
            return "".join(parts)
    return "".join((*parts, text[at:]))


def _argument(found: re.Match[str], given: Sequence[object]) -> str:
    if found[1] is None:
        return found[0][0]
    number = int(found[1])
    value = given[number] if number < len(given) else None
    return value[: CLAIM_LIMIT + 1] if isinstance(value, str) else found[0]


def _described(rule: Table) -> str:
    names = ("shortDescription", "fullDescription")
    return next((text for name in names if (text := _text(_table(rule.get(name)), "text"))), "") or _text(rule, "name")


def _is_absolute(uri: str) -> bool:
    return uri.startswith("/") or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", uri) is not None


def _local(uri: str) -> str:
    """The path that an address means on this machine; empty for one elsewhere."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme and len(parts.scheme) > 1 and parts.scheme != "file":
        return ""
    if parts.scheme == "file" and parts.netloc not in ("", "localhost"):
        return ""
    path = parts.path if parts.scheme == "file" else uri.partition("#")[0].partition("?")[0]
    path = unquote(path, errors="replace")
    return path[1:] if _DRIVE.match(path) else path


def _below(path: str, roots: Sequence[str]) -> str:
    plain = posixpath.normpath(path) if path else ""
    if plain.startswith("/"):
        plain = f"/{plain.lstrip('/')}"
        above = [f"{root.rstrip('/')}/" for root in roots]
        plain = next((plain.removeprefix(root) for root in above if plain.startswith(root)), "")
    outside = plain in ("", ".", "..") or plain.startswith("../") or plain[1:2] == ":"
    return "" if outside or not plain.isprintable() or len(plain) > PATH_LIMIT or path_problem(plain) else plain


def _line(region: Table) -> int:
    line = _whole(region.get("startLine"), 0)
    return line if 0 < line < LAST_LINE else 0


def _table(value: object) -> Table:
    return value if isinstance(value, dict) else {}


def _tables(value: object) -> list[Table]:
    """What is no table stays as an empty one: others count from the beginning."""
    return [_table(one) for one in value] if isinstance(value, list) else []


def _first(tables: Sequence[Table]) -> Table:
    return tables[0] if tables else {}


def _at(tables: Sequence[Table], index: int) -> Table:
    return tables[index] if 0 <= index < len(tables) else {}


def _text(table: Table, name: str) -> str:
    value = table.get(name)
    return value[:FIELD_LIMIT] if isinstance(value, str) else ""


def _whole(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
