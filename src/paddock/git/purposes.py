"""What a git call of ours may use of a person's machine: its configuration and its environment follow from its command.

    objects     refs, objects, diffs and merges. Nothing that is configured anywhere counts or runs, and nobody is
                talked to: the answer follows from the objects alone, the same on every machine.
    settings    reading configuration. All of it is read, nothing runs.
    files       files are checked in or out. The person's filters (git-lfs), line endings and excludes count.
    remote      a remote is talked to: also the person's credentials, addresses and ssh.

Hooks, monitors, pagers, editors, signatures, external diffs, replace refs and grafts are off for all of them. Which git
directory a call names is up to its caller, and one that agents can write must never be named for files or a remote.
"""

import os
from collections.abc import Mapping
from enum import StrEnum
from functools import cache


class GitPurpose(StrEnum):
    OBJECTS = "objects"
    SETTINGS = "settings"
    FILES = "files"
    REMOTE = "remote"


_SETTINGS_WORDS = frozenset({"config", "init", "remote", "version"})
_FILES_WORDS = frozenset(
    {
        *("add", "checkout", "checkout-index", "clean", "diff-files", "diff-index", "ls-files", "merge"),
        *("read-tree", "reset", "restore", "stash", "status", "update-index"),
    }
)
_REMOTE_WORDS = frozenset({"fetch", "ls-remote", "push"})
_TAKES_A_VALUE = frozenset({"-c", "-C", "--git-dir", "--work-tree", "--namespace"})
_SHOWS_DIFFERENCES = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show"})
# Asking again is all it takes: they write nothing but objects. `status` takes no lock (GIT_OPTIONAL_LOCKS).
_REPEATABLE_WORDS = frozenset(
    {
        *("cat-file", "check-attr", "commit-tree", "config", "diff", "diff-files", "diff-index", "diff-tree"),
        *("for-each-ref", "hash-object", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "merge-file"),
        *("merge-tree", "mktree", "pack-objects", "remote", "rev-list", "rev-parse", "show", "status", "version"),
    }
)

# Agents without a fence can write to every file of the person who runs them, so what runs a program is switched off,
# and what changes an answer is fixed. Lock timeouts are raised because a fleet contends for refs.
_ALWAYS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=:",
    "core.alternateRefsCommand=:",  # an empty one would run its argument
    "core.useReplaceRefs=false",
    "core.filesRefLockTimeout=10000",
    "core.packedRefsTimeout=20000",
    "sequence.editor=:",
    "interactive.diffFilter=cat",
    "protocol.ext.allow=never",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "push.gpgSign=false",
    "merge.verifySignatures=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "status.submoduleSummary=false",
    "branch.autoSetupMerge=false",
    "rerere.enabled=false",
    "gc.auto=0",
    "maintenance.auto=false",
)
# A commit-graph is a cache that nothing signs: a forged one would change who is whose ancestor.
# The repository's owner was checked when it was found.
_OBJECTS_ONLY = (
    "safe.directory=*",
    "core.attributesFile=/dev/null",
    "core.commitGraph=false",
    "i18n.logOutputEncoding=UTF-8",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.relative=false",
    "merge.default=text",
)

_PLAIN_NAMES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_*", "TERM", "TZ", "TMPDIR", "SUDO_UID"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
    *("DEVELOPER_DIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
    *("GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_TRACE*"),
    *("GIT_AUTHOR_*", "GIT_COMMITTER_*", "EMAIL"),
)
_CONFIG_NAMES = (
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"),
    # Containers set safe.directory through these.
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*"),
)
# Filters download too.
_NETWORK_NAMES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "NIX_SSL_CERT_FILE", "GIT_SSL_*", "GIT_HTTP_*", "GIT_CURL_*"),
    *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_PROXY_COMMAND"),
    *("GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL*", "GIT_LFS_*"),
    *("GNUPGHOME", "KRB5*", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"),
)
# What the usual credential helpers read: those of GitHub, GitLab, AWS, Google, and git's own.
_CREDENTIAL_NAMES = (
    *("GIT_ASKPASS", "SSH_ASKPASS", "GCM_*", "GH_*", "GITHUB_TOKEN", "GITLAB_*", "GLAB_*", "CI_JOB_TOKEN"),
    *("AWS_*", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_*"),
)
_NAMES = {
    GitPurpose.OBJECTS: _PLAIN_NAMES,
    GitPurpose.SETTINGS: (*_PLAIN_NAMES, *_CONFIG_NAMES),
    GitPurpose.FILES: (*_PLAIN_NAMES, *_CONFIG_NAMES, *_NETWORK_NAMES),
    GitPurpose.REMOTE: (*_PLAIN_NAMES, *_CONFIG_NAMES, *_NETWORK_NAMES, *_CREDENTIAL_NAMES),
}
_FIXED = {
    "LC_ALL": "C",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_EDITOR": ":",
    "GIT_SEQUENCE_EDITOR": ":",
    "GIT_PAGER": "cat",
    "SSH_ASKPASS_REQUIRE": "never",
}
# Without a protocol no missing object is fetched, whatever a repository says it is a partial clone of.
_OBJECTS_FIXED = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
}


def purpose_of(args: tuple[str, ...]) -> GitPurpose:
    word = command_word(args)
    if word in _REMOTE_WORDS:
        return GitPurpose.REMOTE
    if word in _FILES_WORDS:
        return GitPurpose.FILES
    return GitPurpose.SETTINGS if word in _SETTINGS_WORDS else GitPurpose.OBJECTS


def is_repeatable(args: tuple[str, ...]) -> bool:
    """Whether the command can simply be run again after it was killed anywhere: it leaves no lock and moves nothing."""
    word = command_word(args)
    return word in _REPEATABLE_WORDS or (word == "worktree" and "list" in args)


@cache
def git_options(purpose: GitPurpose) -> tuple[str, ...]:
    settings = (*_ALWAYS, *_OBJECTS_ONLY) if purpose is GitPurpose.OBJECTS else _ALWAYS
    return tuple(part for setting in settings for part in ("-c", setting))


def without_programs(args: tuple[str, ...]) -> tuple[str, ...]:
    """The same command, told to show differences itself: no setting switches off an external diff or a textconv."""
    at = _word_at(args)
    if at is None or args[at] not in _SHOWS_DIFFERENCES:
        return args
    return (*args[: at + 1], "--no-ext-diff", "--no-textconv", *args[at + 1 :])


def git_environment(purpose: GitPurpose, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git process: what is allowed of ours, what is fixed, and `extra`."""
    fixed = {**_FIXED, **_OBJECTS_FIXED} if purpose is GitPurpose.OBJECTS else _FIXED
    return {**_allowed(_NAMES[purpose]), **fixed, **(extra or {})}


def command_word(args: tuple[str, ...]) -> str:
    at = _word_at(args)
    return "" if at is None else args[at]


def _word_at(args: tuple[str, ...]) -> int | None:
    """Where the command is, after git's own options."""
    skip = False
    for at, word in enumerate(args):
        if skip:
            skip = False
        elif word in _TAKES_A_VALUE:
            skip = True
        elif not word.startswith("-"):
            return at
    return None


def _allowed(patterns: tuple[str, ...]) -> dict[str, str]:
    exact, prefixes = _told_apart(patterns)
    return {name: os.environ[name] for name in tuple(os.environ) if name in exact or name.startswith(prefixes)}


@cache
def _told_apart(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    exact = frozenset(pattern for pattern in patterns if not pattern.endswith("*"))
    return exact, tuple(pattern[:-1] for pattern in patterns if pattern.endswith("*"))


_NAMES_A_REPOSITORY = frozenset(
    {
        *("GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_ATTR_SOURCE", "GIT_COMMON_DIR", "GIT_CONFIG_PARAMETERS", "GIT_DIR"),
        *("GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"),
        *("GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE"),
    }
)


def names_a_repository(variable: str) -> bool:
    """Of an environment variable that would lead a git of somebody else's, such as a set-up command's, elsewhere."""
    return variable in _NAMES_A_REPOSITORY
