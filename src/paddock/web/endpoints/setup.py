"""How the fleet is set up: its settings, its engines, and what several agents would be worth."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from paddock.config.fields import fields_of
from paddock.config.load import unknown_setting
from paddock.config.schema import Config
from paddock.core.durations import LONGEST_SECONDS
from paddock.core.economics.fanout import Spawn
from paddock.core.errors import Misuse
from paddock.core.wording import split_list
from paddock.fleet.dispatch.fan_out import EqualPieces, fan_out_pieces, fan_out_tasks, worth_of_an_hour
from paddock.fleet.service.checkup import Health, NoticeWords, examine
from paddock.fleet.service.config_check import config_findings
from paddock.fleet.service.engine_check import CHECK_SECONDS, check_engine, probe_engines
from paddock.views.document import Document, view_of
from paddock.views.fleet.engines import EngineView, view_engine
from paddock.views.fleet.fanout import FanOutView, view_fan_out
from paddock.views.notices import checkout_notices, lock_notices
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit
from paddock.web.endpoints.answers import names_in

MOST_PIECES = 10_000


class SettingsQuery(Asked, frozen=True):
    """`key` is one key, or those below it."""

    key: Annotated[str, Meta(max_length=200)] | None = None


class SettingView(msgspec.Struct, frozen=True):
    """`source` is `default`, `paddock.toml`, the name of a variable, or a flag."""

    key: str
    value: Any
    source: str


class SettingsView(Document, frozen=True, kw_only=True):
    """`warnings` are of all of them."""

    file: str | None
    settings: list[SettingView]
    warnings: tuple[str, ...]


def read_settings(visit: Visit[SettingsQuery, NoBody]) -> SettingsView:
    """As the files are now; the server itself follows an edit within a second."""
    loaded, key = visit.workspace.load(), visit.query.key
    shown = [one for one in loaded.settings if key is None or one.key == key or one.key.startswith(f"{key}.")]
    if key is not None and not shown and key not in fields_of(Config):
        raise unknown_setting("settings", key)
    return SettingsView(
        file=str(loaded.path) if loaded.path else None,
        settings=[SettingView(one.key, one.value, one.source) for one in shown],
        warnings=(*loaded.warnings, *config_findings(loaded.config)),
    )


class EnginesView(Document, frozen=True, kw_only=True):
    engines: list[EngineView]


def read_engines(visit: Visit[NoQuery, NoBody]) -> EnginesView:
    return EnginesView(engines=[view_engine(probe) for probe in probe_engines(visit.workspace.config.engines)])


class CheckBody(Asked, frozen=True):
    """This spends a few tokens."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    timeout_seconds: Annotated[float, Meta(ge=1, le=80)] = CHECK_SECONDS


class CheckAnswer(Document, frozen=True, kw_only=True):
    """`problem` is empty when it answered; `worktree` is where it was asked."""

    engine: EngineView
    answer: str
    problem: str
    worktree: str


def check(visit: Visit[NoQuery, CheckBody]) -> CheckAnswer:
    body = visit.body
    done = check_engine(visit.workspace, body.name, body.timeout_seconds)
    return CheckAnswer(engine=view_engine(done.probe), answer=done.answer, problem=done.problem, worktree=done.where)


Seconds = Annotated[float, Meta(ge=0, le=LONGEST_SECONDS)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]


class FanOutQuery(Asked, frozen=True):
    """For `tasks` such as `t1,t2`, by default all that are ready; or for `n` equal pieces, of which each takes
    `each_seconds`, and one more agent `spawn_seconds`, `tokens` and `usd`. `hour_usd` and `hour_tokens` are what an
    hour is worth, by default as configured."""

    tasks: Annotated[str, Meta(max_length=4_000)] | None = None
    n: Annotated[int, Meta(ge=1, le=MOST_PIECES)] | None = None
    each_seconds: Seconds = 600.0
    spawn_seconds: Seconds = 60.0
    slots: Annotated[int, Meta(ge=1, le=MOST_PIECES)] | None = None
    tokens: Amount = 0.0
    usd: Amount = 0.0
    hour_usd: Amount | None = None
    hour_tokens: Amount | None = None


def read_fan_out(visit: Visit[FanOutQuery, NoBody]) -> FanOutView:
    workspace, query = visit.workspace, visit.query
    worth = worth_of_an_hour(workspace.config.limits, query.hour_usd, query.hour_tokens)
    if query.n is not None:
        if query.tasks is not None:
            raise Misuse("`n` and `tasks` cannot be used together", "use one or the other")
        pieces = EqualPieces(query.n, query.each_seconds, Spawn(query.spawn_seconds, query.tokens, query.usd))
        return view_fan_out(fan_out_pieces(pieces, query.slots, worth), worth)
    if query.tokens or query.usd:
        raise Misuse("`tokens` and `usd` need `n`", "the cost of tasks is learned from the log")
    names = names_in(split_list(query.tasks or ""))
    return view_fan_out(fan_out_tasks(workspace.site, workspace.board(), names, query.slots, worth), worth)


class SymptomView(msgspec.Struct, frozen=True):
    """`verdict` is ok, warning or problem."""

    what: str
    verdict: str
    detail: str
    fix: str
    output: tuple[str, ...]


class CheckupView(Document, frozen=True, kw_only=True):
    """`ok` is false if something must be fixed."""

    ok: bool
    findings: list[SymptomView]


def read_checkup(visit: Visit[NoQuery, NoBody]) -> CheckupView:
    found = list(examine(visit.workspace, NoticeWords(lock_notices, checkout_notices)))
    return CheckupView(
        ok=all(one.verdict is not Health.PROBLEM for one in found),
        findings=[view_of(SymptomView, one, verdict=one.verdict.value) for one in found],
    )
