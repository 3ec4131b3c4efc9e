"""What sort of file a path names, judged by the path alone."""

import re
from enum import StrEnum
from functools import lru_cache


class FileClass(StrEnum):
    SRC = "src"
    TEST = "test"
    CONFIG = "config"
    DOC = "doc"


_TEST_FOLDERS = frozenset(
    {"test", "tests", "testing", "__tests__", "__mocks__", "spec", "specs", "e2e", "testdata", "androidtest"}
)
_TEST_NAME = re.compile(r"(?:^tests?[_.-])|(?:[_.-](?:tests?|spec)\.[a-z0-9]+$)|^(?:conftest|tests?)\.[a-z]+$")
_TEST_CLASS = re.compile(r"[a-z0-9](?:Tests?|TestCase|Spec|IT)\.(?:java|kt|scala|groovy|cs|php|swift|m)$")
_DOC_FOLDERS = frozenset({"doc", "docs", "documentation", "man"})
_DOC_ENDINGS = frozenset({"md", "mdx", "rst", "txt", "adoc", "asciidoc", "org", "tex", "pdf"})
_DOC_NAMES = frozenset(
    {"readme", "changelog", "changes", "history", "license", "licence", "copying", "authors", "notice", "contributing"}
)
_CONFIG_ENDINGS = frozenset(
    {"json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf", "config", "properties", "env", "lock"}
    | {"plist", "mod", "sum", "gradle", "cmake", "tf", "tfvars", "editorconfig", "service"}
)
_CONFIG_NAMES = frozenset(
    {"dockerfile", "containerfile", "makefile", "gnumakefile", "justfile", "rakefile", "gemfile", "procfile", "pipfile"}
    | {"jenkinsfile", "vagrantfile", "cmakelists.txt", "setup.py", "pom.xml", "brewfile", "codeowners", "robots.txt"}
)
_CONFIG_STEM = re.compile(r"^(?:requirements|constraints)[\w.-]*\.(?:txt|in)$|\.config\.[cm]?[jt]s$|rc\.[cm]?[jt]s$")
_CI = re.compile(
    r"(?:^|/)(?:\.(?:github|forgejo|gitea)/(?:workflows|actions)/|\.circleci/|\.buildkite/|\.woodpecker(?:/|\.ya?ml$)"
    r"|\.gitlab-ci[\w.-]*\.ya?ml$|\.gitlab/ci/|\.travis\.ya?ml$|\.drone\.(?:ya?ml|star|jsonnet)$|jenkinsfile$"
    r"|azure-pipelines[\w.-]*\.ya?ml$|bitbucket-pipelines\.ya?ml$|appveyor\.ya?ml$|\.cirrus\.(?:ya?ml|star)$"
    r"|cloudbuild\.ya?ml$|\.semaphore/|\.teamcity/|\.pre-commit-config\.ya?ml$)",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def class_of_file(path: str) -> FileClass:
    """A test, if its name or a folder says so; then a configuration or a document; anything else is source."""
    *folders, name = re.split(r"[/\\]+", path[-400:])
    low, lows = name.lower(), {folder.lower() for folder in folders}
    if lows & _TEST_FOLDERS or _TEST_NAME.search(low) or _TEST_CLASS.search(name):
        return FileClass.TEST
    stem, dot, ending = low.rpartition(".")
    hidden = dot and not stem
    if low in _CONFIG_NAMES or hidden or ending in _CONFIG_ENDINGS or _CONFIG_STEM.search(low) or names_ci(path):
        return FileClass.CONFIG
    if ending in _DOC_ENDINGS or (stem or low) in _DOC_NAMES or lows & _DOC_FOLDERS:
        return FileClass.DOC
    return FileClass.SRC


def names_ci(path: str) -> bool:
    return _CI.search(path[-400:]) is not None
