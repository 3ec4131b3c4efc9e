"""From a name to an engine: built in, configured as a command, or installed by a package."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

from paddock.core.errors import Misuse, PaddockError
from paddock.core.wording import did_you_mean
from paddock.engines.protocol import Engine
from paddock.engines.settings import NO_SETTINGS, EngineSettings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINT_GROUP = "paddock.engines"

# An engine is made by calling this with its name and settings; third parties register the same thing.
EngineFactory = Callable[[str, EngineSettings], Engine]

BUILT_IN: Mapping[str, str] = {
    "claude": "paddock.engines.claude:ClaudeEngine",
    "codex": "paddock.engines.codex:CodexEngine",
    "aider": "paddock.engines.aider:AiderEngine",
    "opencode": "paddock.engines.opencode:OpencodeEngine",
    "gemini": "paddock.engines.gemini:GeminiEngine",
    "qwen": "paddock.engines.qwen:QwenEngine",
    "copilot": "paddock.engines.copilot:CopilotEngine",
    "cn": "paddock.engines.cn:CnEngine",
    "scripted": "paddock.engines.scripted_engine:ScriptedEngine",
}

_COMMAND = "paddock.engines.command:CommandEngine"
_ACP = "paddock.engines.acp:AcpEngine"


def load_engine(name: str, settings: Mapping[str, EngineSettings] | None = None) -> Engine:
    """The engine of that name. Raises PaddockError, naming the nearest, when there is none."""
    settings = settings or {}
    own = settings.get(name, NO_SETTINGS)
    if own.acp:
        return _import_factory(_ACP)(name, own)
    if own.command or (own.interactive and not own.like and name not in BUILT_IN):
        return _import_factory(_COMMAND)(name, own)
    kind = own.like or name
    if kind in BUILT_IN:
        return _import_factory(BUILT_IN[kind])(name, own)
    factory = _installed_factory(kind)
    if factory is not None:
        return factory(name, own)
    if name in settings and not own.like:
        raise Misuse(
            f"[engines.{name}] sets none of `command`, `acp`, `interactive` and `like`",
            f'add `command = ["{name}", "{{prompt}}"]`, or `like = "claude"` for a second configuration of that engine',
        )
    raise _unknown(kind, engine_names(settings))


def engine_names(settings: Mapping[str, EngineSettings] | None = None) -> tuple[str, ...]:
    """Every name `load_engine` knows, in the order a person would look for them."""
    installed = sorted(point.name for point in _entry_points())
    return tuple(dict.fromkeys((*BUILT_IN, *(settings or {}), *installed)))


def _entry_points() -> "EntryPoints":
    # Imported here because it costs more than all the rest, and built-in engines never need it.
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINT_GROUP)


def _import_factory(where: str) -> EngineFactory:
    module, _, attribute = where.partition(":")
    return cast(EngineFactory, getattr(import_module(module), attribute))


def _installed_factory(name: str) -> EngineFactory | None:
    for point in (point for point in _entry_points() if point.name == name):
        try:
            return cast(EngineFactory, point.load())
        except (ImportError, AttributeError) as error:
            raise PaddockError(
                f"engine `{name}` is installed but cannot be loaded from `{point.value}`: {error}",
                "reinstall the package that provides it, or use another engine",
            ) from error
    return None


def _unknown(name: str, known: tuple[str, ...]) -> PaddockError:
    hint = did_you_mean(name, known, f"known engines: {', '.join(known)}", cutoff=0.5)
    return Misuse(f"unknown engine `{name}`", hint)
