"""Programs planted wherever git could find them: none of them runs in a git of ours, and secrets stay with us."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from paddock.git.filters import configured, filters_of, only_known_filters, unknown_filters
from paddock.git.landing.audit import Move
from paddock.git.landing.compose import Composed, Policy, Unit, compose
from paddock.git.landing.held import Held, hold_change
from paddock.git.landing.history import observe_main
from paddock.git.landing.land import Landed, land
from paddock.git.purposes import GitPurpose, git_environment
from paddock.git.repo import ABSENT, Repo, discover, run_git
from paddock.git.sandboxes.sandbox import PreparedSandbox, SandboxOrder, prepare_sandbox
from paddock.git.sandboxes.tree import Sandbox
from paddock.git.worktrees.delivery import glimpse, save_attempt
from paddock.git.worktrees.prepare import WorktreeOrder, prepare
from paddock.git.worktrees.slots import WorktreeRoot, default_root
from tests.git.conftest import commit, git, write
from tests.git.landing.lab import MAIN, Lab

SECRETS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "DATABASE_URL", "GITHUB_TOKEN", "SOME_PASSWORD")

PLANTED = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy", "core.askPass"),
    *("core.alternateRefsCommand", "sequence.editor", "diff.external", "interactive.diffFilter", "credential.helper"),
    *("diff.canary.command", "diff.canary.textconv", "merge.canary.driver", "uploadpack.packObjectsHook"),
    *("gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "remote.origin.uploadpack", "remote.gone.vcs"),
    *("remote.gone.uploadpack", "remote.gone.receivepack", "trailer.canary.command", "tar.canary.command"),
    *("pager.log", "pager.diff", "pager.status", "submodule.canary.update", "mergetool.canary.cmd"),
    *("difftool.canary.cmd", "alias.status", "alias.diff", "browser.canary.cmd", "web.browser"),
    *("hook.canary.command", "fetch.bundleURI"),
)
SWITCHES = {
    "core.hooksPath": "{hooks}",
    "commit.gpgSign": "true",
    "tag.gpgSign": "true",
    "log.showSignature": "true",
    "merge.default": "canary",
    "core.useReplaceRefs": "true",
    "hook.canary.event": "post-commit",
    "remote.gone.url": "/nowhere",
    "remote.gone.promisor": "true",
    "remote.gone.partialclonefilter": "blob:none",
    "protocol.ext.allow": "always",
    "include.path": "{more}",
    "core.attributesFile": "{attributes}",
}
HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit"),
    *(
        "post-index-change",
        "post-merge",
        "post-receive",
        "post-rewrite",
        "post-update",
        "pre-applypatch",
        "pre-auto-gc",
    ),
    *("pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "prepare-commit-msg", "push-to-checkout"),
    *("reference-transaction", "sendemail-validate", "update"),
)


class Canary:
    """A program that writes down its environment whenever it runs, whoever runs it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.cage = folder / "cage"
        self.cage.mkdir()
        self.program = folder / "canary"
        self.program.write_text(f'#!/bin/sh\n{{ echo "$0 $*"; env; }} > {self.cage}/$$\ncat\nexit 1\n')
        self.program.chmod(0o755)

    @property
    def songs(self) -> list[str]:
        return [path.read_text() for path in self.cage.iterdir()]


@pytest.fixture
def lab(repo: Repo, top: Path) -> Lab:
    return Lab(repo, top)


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Canary:
    for name in SECRETS:
        monkeypatch.setenv(name, "canary secret")
    return Canary(tmp_path / "canary")


def plant(repo: Repo, canary: Canary, folder: Path) -> None:
    """In the repository's own configuration, by hand: git would not write half of it."""
    hooks = folder / "hooks"
    hooks.mkdir()
    (repo.common_dir / "hooks").mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).symlink_to(canary.program)
        (repo.common_dir / "hooks" / name).unlink(missing_ok=True)
        (repo.common_dir / "hooks" / name).symlink_to(canary.program)
    attributes = folder / "attributes"
    attributes.write_text("* diff=canary merge=canary\n")
    more = folder / "more"
    more.write_text(f'[filter "more"]\n\tclean = {canary.program}\n')
    places = {"hooks": hooks, "attributes": attributes, "more": more}
    for key in PLANTED:
        git(repo.common_dir, "config", key, str(canary.program))
    for key, value in SWITCHES.items():
        git(repo.common_dir, "config", key, value.format(**places))
    (repo.common_dir / "info").mkdir(exist_ok=True)
    (repo.common_dir / "info" / "attributes").write_text("* diff=canary merge=canary\n")


def plant_in_the_environment(canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "PAGER", "EDITOR", "VISUAL"):
        monkeypatch.setenv(name, str(canary.program))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.pager'='{canary.program}'")


Operation = Callable[[], None]


def diff(lab: Lab) -> Operation:
    main, head = lab.main, lab.branch_elsewhere("diffed", {"diffed.txt": "a\n"}).member.head

    def run() -> None:
        for words in (("diff", main), ("diff-tree", "-p", main), ("log", "-p", "-1")):
            assert b"diffed.txt" in lab.repo.git(*words, head).stdout
        assert lab.repo.changed_paths(main, head) == ("diffed.txt",)

    return run


def land_what_both_changed(lab: Lab) -> Operation:
    """A merge with work for a driver, and the update of the checkout that follows."""
    lines = [f"line {number}\n" for number in range(20)]
    main = lab.on_main({"both.txt": "".join(lines)})
    one = lab.branch_elsewhere("first", {"both.txt": "".join(["FIRST\n", *lines[1:]])})
    two = lab.branch_elsewhere("second", {"both.txt": "".join([*lines[:-1], "SECOND\n"])})

    def run() -> None:
        for part in (one, two):
            assert isinstance(hold_change(lab.repo, part.member, main), Held)
        built = compose(lab.bench, Unit(main, (one, two), Policy.MERGE))
        assert isinstance(built, Composed)
        members = (one.member, two.member)
        assert land(lab.repo, Move("main", main, built.commit, built.tree, members, Policy.MERGE)) == Landed()
        assert (lab.top / "both.txt").read_text().startswith("FIRST")

    return run


def observe(lab: Lab) -> Operation:
    main = lab.main

    def run() -> None:
        assert observe_main(lab.repo, MAIN, main) is not None
        assert discover(lab.top / "src").resolve("main") == main
        assert lab.repo.default_branch() == "main"

    return run


def move_refs(lab: Lab) -> Operation:
    main = lab.main

    def run() -> None:
        assert lab.repo.update_ref("refs/paddock/canary", main, ABSENT)
        assert lab.repo.update_ref("refs/paddock/canary", ABSENT, main)

    return run


def miss_an_object(lab: Lab) -> Operation:
    return lambda: _assert(not lab.repo.git("cat-file", "-e", "1" * 40, check=False).ok)


def work_and_rescue(lab: Lab) -> Operation:
    main, root = lab.main, WorktreeRoot(lab.repo, default_root(lab.repo))

    def run() -> None:
        worktree = prepare(root, WorktreeOrder("t1.1", "paddock/t1-x", main)).worktree
        (worktree.path / "new.txt").write_text("new\n")
        seen, saved = glimpse(root, "t1.1"), save_attempt(root, "t1.1", "it ended")
        assert seen is not None
        assert seen.dirty.paths == ("new.txt",)
        assert saved is not None
        assert saved.files == 1

    return run


def make_a_sandbox(lab: Lab) -> Operation:
    order = SandboxOrder("r1", lab.main, "", (), ())
    sandbox = Sandbox(lab.repo, lab.top.parent / "sandboxes", "ci1")
    return lambda: _assert(isinstance(prepare_sandbox(sandbox, order), PreparedSandbox))


def fetch(lab: Lab) -> Operation:
    """From a path, which asks for no ssh and no password."""
    main, there = lab.main, lab.top.parent / "there.git"
    git(lab.top, "clone", "--quiet", "--bare", str(lab.top), str(there))
    git(lab.top, "remote", "add", "there", str(there))
    return lambda: _assert(lab.repo.fetch("there", "main").sha == main)


def _assert(truth: bool) -> None:
    assert truth


OPERATIONS = (diff, land_what_both_changed, observe, move_refs, miss_an_object, work_and_rescue, make_a_sandbox, fetch)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
def test_nothing_planted_runs(
    lab: Lab, canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: Callable[[Lab], Operation]
) -> None:
    run = operation(lab)
    plant(lab.repo, canary, tmp_path / "canary")
    with monkeypatch.context() as environment:
        plant_in_the_environment(canary, environment)
        run()
    assert canary.songs == []


def test_the_canaries_would_sing(repo: Repo, top: Path, canary: Canary, tmp_path: Path) -> None:
    plant(repo, canary, tmp_path / "canary")
    (top / "README.md").write_text("changed\n")
    subprocess.run(("git", "-C", str(top), "diff"), check=False, capture_output=True)
    subprocess.run(("git", "-C", str(top), "commit", "--all", "-m", "x"), check=False, capture_output=True)
    assert len(canary.songs) >= 2
    assert any("canary secret" in song for song in canary.songs)


class TestFilters:
    """A filter is a program that a person wants to run on their files: theirs does, with what it needs."""

    def use(self, repo: Repo, canary: Canary, name: str) -> None:
        git(repo.common_dir, "config", f"filter.{name}.clean", f"{canary.program} </dev/null >/dev/null; tr a-z A-Z")
        git(repo.common_dir, "config", f"filter.{name}.smudge", f"{canary.program} </dev/null >/dev/null; tr A-Z a-z")

    def test_the_persons_own_runs_in_sandboxes_too_without_our_secrets(self, lab: Lab, canary: Canary) -> None:
        lab.on_main({".gitattributes": "*.loud filter=own\n", "a.loud": "LOUD\n"})
        self.use(lab.repo, canary, "own")
        make_a_sandbox(lab)()
        assert (lab.top.parent / "sandboxes/ci1/tree/a.loud").read_text() == "loud\n"
        assert canary.songs
        for song in canary.songs:
            assert "canary secret" not in song
            assert f"HOME={os.environ['HOME']}" in song

    def test_one_that_is_added_later_does_not_run(self, lab: Lab, canary: Canary) -> None:
        main = lab.on_main({".gitattributes": "*.loud filter=late\n"})
        part = lab.branch_elsewhere("loud", {"a.loud": "LOUD\n"})
        filters_of(lab.repo.common_dir)
        self.use(lab.repo, canary, "late")
        assert unknown_filters(lab.repo.common_dir) == ("late",)
        assert only_known_filters(lab.repo.common_dir)
        hold_change(lab.repo, part.member, main)
        built = compose(lab.bench, Unit(main, (part,), Policy.MERGE))
        assert isinstance(built, Composed)
        land(lab.repo, Move("main", main, built.commit, built.tree, (part.member,), Policy.MERGE))
        assert (lab.top / "a.loud").read_text() == "LOUD\n"
        assert canary.songs == []

    @pytest.mark.parametrize("place", ["included", "config.worktree"])
    def test_one_that_is_added_to_another_file_than_the_configuration_is_seen(self, repo: Repo, place: str) -> None:
        git(repo.common_dir, "config", "include.path", "included")
        git(repo.common_dir, "config", "extensions.worktreeConfig", "true")
        assert filters_of(repo.common_dir) == {}
        write(repo.common_dir, {place: '[filter "late"]\n\tclean = cat\n\trequired\n'})
        assert unknown_filters(repo.common_dir) == ("late",)
        assert set(only_known_filters(repo.common_dir).values()) >= {"filter.late.clean", ""}

    def test_what_the_environment_configures_stays_beside_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        added = configured((("filter.a=b.clean", "x=y"), ("filter.c.clean", "")))
        assert added["GIT_CONFIG_COUNT"] == "3"
        assert (added["GIT_CONFIG_KEY_1"], added["GIT_CONFIG_VALUE_1"]) == ("filter.a=b.clean", "x=y")
        assert configured(()) == {}


class TestAnswersFollowFromObjects:
    """Whatever the repository says besides them."""

    def test_replaced_and_grafted_commits_are_as_they_were(self, repo: Repo, top: Path) -> None:
        first = git(top, "rev-parse", "HEAD")
        second = commit(top, {"a": "a"})
        git(top, "replace", "--graft", second)
        (repo.common_dir / "info").mkdir(exist_ok=True)
        (repo.common_dir / "info" / "grafts").write_text(f"{second}\n")
        assert not git(top, "rev-list", second).endswith(first)
        assert repo.is_ancestor(first, second)
        assert repo.git("rev-list", "--count", second).text == "2"
        assert run_git(top, "rev-list", "--count", second).text == "2"

    def test_a_forged_commit_graph_makes_nobody_an_ancestor(self, repo: Repo, top: Path) -> None:
        first = git(top, "rev-parse", "HEAD")
        second = commit(top, {"a": "a"})
        git(top, "replace", "--graft", second)
        git(top, "commit-graph", "write", "--reachable")
        graph = repo.common_dir / "objects" / "info" / "commit-graph"
        if graph.exists():
            graph.chmod(0o644)
            data = bytearray(graph.read_bytes())
            data[-60:-20] = b"\xff" * 40
            graph.write_bytes(data)
        assert repo.is_ancestor(first, second)


class TestEnvironment:
    @pytest.mark.parametrize("purpose", GitPurpose)
    def test_no_secret_passes_but_what_remotes_ask_for(self, canary: Canary, purpose: GitPurpose) -> None:
        passed = [name for name in SECRETS if name in git_environment(purpose)]
        assert passed == (["GITHUB_TOKEN"] if purpose is GitPurpose.REMOTE else [])

    def test_nobody_is_asked_and_nothing_configured_is_read_for_objects(self, repo: Repo) -> None:
        environment = git_environment(GitPurpose.OBJECTS)
        assert environment["GIT_CONFIG_GLOBAL"] == "/dev/null"
        assert environment["GIT_ALLOW_PROTOCOL"] == ""
        refused = run_git(repo.common_dir, "clone", str(repo.common_dir), "/nowhere/x", check=False)
        assert "not allowed" in refused.stderr

    def test_a_person_with_a_name_of_their_own_signs_the_rescue(
        self, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        main = lab.main
        own = tmp_path / "own.gitconfig"
        own.write_text("[user]\n\tname = Ada\n\temail = ada@example.invalid\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
        for role in ("AUTHOR", "COMMITTER"):
            monkeypatch.delenv(f"GIT_{role}_NAME")
            monkeypatch.delenv(f"GIT_{role}_EMAIL")
        root = WorktreeRoot(lab.repo, default_root(lab.repo))
        worktree = prepare(root, WorktreeOrder("t1.1", "paddock/t1-x", main)).worktree
        (worktree.path / "new.txt").write_text("new\n")
        saved = save_attempt(root, "t1.1", "it ended")
        assert saved is not None
        assert lab.show("%an <%ae> %cn", str(saved.commit)) == "Ada <ada@example.invalid> Ada"
