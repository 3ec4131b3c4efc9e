"""What an agent gets of the parent's environment: an allow-list, so secrets stay out unless an engine needs them."""

from collections.abc import Iterable, Mapping

from paddock.engines.letters import MAILBOX_VARIABLE
from paddock.engines.passage import Passage
from paddock.engines.protocol import LaunchFile, TurnRequest
from paddock.engines.settings import EngineSettings

# Linux refuses a single argument of 128 KiB or more; the rest is room for quoting done by some CLIs.
MAX_ARGUMENT_BYTES = 100_000

COMMON_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TERM", "TZ", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"),
    *("JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "PNPM_HOME"),
    *("UV_CACHE_DIR", "PIP_CACHE_DIR", "npm_config_cache"),
    *("PADDOCK_*",),
)
NOTHING_MORE = Passage()


def build_environment(
    request: TurnRequest,
    settings: EngineSettings,
    *,
    allow: Passage = NOTHING_MORE,
    values: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The complete environment of a turn.

    Later wins: allowed names of the parent, the adapter's `values`, the attempt's own, the user's `set`.
    """
    model = request.model or settings.model
    more = (*allow.names({**request.base_env, **settings.set}, model), *settings.env)
    passed = pass_on(request.base_env, more)
    # Of a turn in which this fleet itself was started.
    passed.pop(MAILBOX_VARIABLE, None)
    return {**passed, **(values or {}), **request.attempt_env, **settings.set}


def pass_on(environment: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """What programs get of it that agents have a hand in; `more` are names, or `PREFIX_*`."""
    patterns = (*COMMON_NAMES, *more)
    exact = {pattern for pattern in patterns if not pattern.endswith("*")}
    prefixes = tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))
    return {name: value for name, value in environment.items() if name in exact or name.startswith(prefixes)}


def argument_text(text: str) -> str:
    """`text` as one argument: no NUL, which exec refuses, and no leading dash, which reads as a flag."""
    clean = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    return f" {clean}" if clean.startswith("-") else clean


def prompt_argument(request: TurnRequest) -> tuple[str, tuple[LaunchFile, ...]]:
    """The prompt as an argument; one too long for that goes to a file which the argument names."""
    prompt = argument_text(request.prompt)
    if len(prompt.encode()) <= MAX_ARGUMENT_BYTES:
        return prompt, ()
    pointer = f"Your instructions are in the file {request.prompt_file}. Read all of it first, then do what it says."
    return pointer, (LaunchFile(request.prompt_file, prompt),)
