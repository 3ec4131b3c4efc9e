"""Which changes need a person whatever the policy says."""

import pytest

from paddock.core.merge.protection import protection_reasons


def reasons(*files: str, links: tuple[str, ...] = (), ci: tuple[str, ...] = (), globs: tuple[str, ...] = ()) -> str:
    return "; ".join(protection_reasons(files, links, ci_files=ci, globs=globs))


@pytest.mark.parametrize(
    "path",
    [
        "paddock.toml", "Paddock.TOML", ".gitattributes", "src/deep/.gitattributes", ".github/workflows/ci.yml",
        ".github", ".paddock/agents/x.toml", ".ci/run", ".gitmodules", ".worktreeinclude",
        ".lfsconfig", ".husky/pre-commit",
        ".gitlab-ci.yml", "Jenkinsfile", ".claude/agents/x.md", ".claude/settings.json", ".mcp.json",
        "AGENTS.md", "CLAUDE.md", "src/api/Agents.md", "docs/GEMINI.md", ".paddock/workflows/release.yaml",
    ],
)  # fmt: skip
def test_what_decides_about_tests_and_checkouts_is_always_protected(path: str) -> None:
    assert path in reasons("src/a.py", path)


@pytest.mark.parametrize("path", ["src/paddock.toml", "docs/.github/x", "github/x", "README.md", ".gitignore"])
def test_other_paths_need_nobody(path: str) -> None:
    assert reasons(path) == ""


def test_the_reason_names_what_kind_of_path_it_is() -> None:
    assert reasons("Makefile", "a", ci=("Makefile",)) == "touches what CI runs: Makefile"
    assert reasons("keys/a.pem", globs=("keys/**",)) == "touches what `[land] protected` names: keys/a.pem"


def test_a_file_is_not_taken_for_a_folder_and_a_link_may_lead_to_one() -> None:
    assert reasons("README.md", globs=("**/*.py",)) == ""
    assert reasons(links=("vendor",), globs=("vendor/*.py",)) == "touches what `[land] protected` names: vendor"
