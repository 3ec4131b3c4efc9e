import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.core.merge.model import Member
from paddock.git.landing.audit import Move, audit
from paddock.git.landing.compose import Policy
from paddock.git.landing.durable import FLUSHED_ONE_BY_ONE, flush_objects
from paddock.git.landing.held import (
    Held,
    NotHeld,
    change_ref,
    held_units,
    hold_change,
    hold_unit,
    missing_holds,
    release_changes,
    release_unit,
)
from paddock.git.landing.history import MainSeen, observe_main, read_landed
from paddock.git.landing.land import Landed, StaleMain, Stuck, Unsound, land
from paddock.git.landing.workbench import CommitDraft, paddock_at
from paddock.git.usertree.notes import read_notes
from tests.git.conftest import git
from tests.git.landing.auditor import audit_history
from tests.git.landing.lab import MAIN, Lab, part
from tests.git.landing.test_compose import poem

QUEUE = paddock_at(1_700_000_000)


def replace_id(member: Member, name: str) -> Member:
    return Member(name, member.version, member.head)


class TestHolding:
    def test_a_change_is_held_though_its_branch_is_deleted(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "1\n"})
        held = hold_change(lab.repo, one.member, lab.main)
        git(lab.top, "branch", "-D", "t1")
        git(lab.top, "reflog", "expire", "--expire=now", "--all")
        git(lab.top, "gc", "--quiet", "--prune=now")
        assert isinstance(held, Held)
        assert lab.repo.resolve("refs/paddock/changes/t1/v1") == one.member.head
        assert held.paths == ("1.txt",)
        assert isinstance(land(lab.repo, lab.move(one)), Landed)

    def test_holding_again_changes_nothing(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "1\n"})
        assert hold_change(lab.repo, one.member, lab.main) == hold_change(lab.repo, one.member, lab.main)

    def test_a_version_cannot_become_other_bytes(self, lab: Lab) -> None:
        one, other = lab.branch("t1", {"1.txt": "1\n"}), lab.branch("x", {"2.txt": "2\n"})
        lab.held(one)
        refused = hold_change(lab.repo, Member("t1", 1, other.member.head), lab.main)
        assert isinstance(refused, NotHeld)
        assert "already another commit" in refused.reason

    def test_a_rewritten_branch_is_another_version(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "1\n"})
        lab.held(one)
        again = part("t1", lab.branch("t1", {"1.txt": "better\n"}).member.head, version=2)
        lab.held(again)
        assert missing_holds(lab.repo, (one.member, again.member)) == ()

    def test_a_path_git_will_not_check_out_is_refused_before_any_run(self, lab: Lab) -> None:
        blob = git(lab.top, "rev-parse", "main:README.md")
        inner = lab.bench.git("mktree", input=f"100755 blob {blob}\tpost-checkout\n".encode()).text
        tree = lab.bench.git("mktree", input=f"040000 tree {inner}\t.GIT\n".encode()).text
        head = lab.bench.write_commit(CommitDraft(tree, (lab.main,), QUEUE, QUEUE, b"evil\n"))
        refused = hold_change(lab.repo, Member("t1", 1, head), lab.main)
        assert isinstance(refused, NotHeld)
        assert ".GIT/post-checkout" in refused.reason

    def test_a_change_with_missing_objects_is_refused(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "only here\n"})
        blob = git(lab.top, "rev-parse", f"{one.member.head}:1.txt")
        (lab.repo.common_dir / "objects" / blob[:2] / blob[2:]).unlink()
        refused = hold_change(lab.repo, one.member, lab.main)
        assert isinstance(refused, NotHeld)
        assert blob in refused.reason

    @pytest.mark.parametrize("name", ["../heads/main", "a b", "-x", "", "a.lock", "a..b"])
    def test_an_id_that_is_no_ref_name_is_refused(self, lab: Lab, name: str) -> None:
        assert isinstance(hold_change(lab.repo, Member(name, 1, lab.main), lab.main), NotHeld)

    def test_releasing_lets_go_only_of_the_head_it_names(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "1\n"})
        lab.held(one)
        assert not release_changes(lab.repo, lab.main, {change_ref(one.member): lab.main})
        assert release_changes(lab.repo, lab.main, {change_ref(one.member): one.member.head})
        assert missing_holds(lab.repo, (one.member,)) == (one.member,)

    def test_a_composed_commit_survives_gc_while_it_is_held(self, lab: Lab) -> None:
        built = lab.composed(lab.branch("t1", {"1.txt": "1\n"}), lab.branch("t2", {"2.txt": "2\n"}))
        hold_unit(lab.repo, built.commit)
        hold_unit(lab.repo, built.commit)
        git(lab.top, "gc", "--quiet", "--prune=now")
        assert lab.repo.resolve(built.commit) == built.commit
        assert held_units(lab.repo) == (built.commit,)
        assert release_unit(lab.repo, built.commit)

    def test_a_change_of_many_objects_is_flushed_as_one_pack(self, lab: Lab) -> None:
        one = lab.branch("t1", {f"many/{n}.txt": f"{n}\n" for n in range(FLUSHED_ONE_BY_ONE)})
        packs = lab.repo.common_dir / "objects" / "pack"
        before = set(packs.glob("*.pack"))
        assert flush_objects(lab.bench, one.member.head, lab.main) > FLUSHED_ONE_BY_ONE
        assert len(set(packs.glob("*.pack")) - before) == 1


class TestLanding:
    @pytest.mark.parametrize("policy", list(Policy))
    def test_trains_land_one_after_the_other_and_the_auditor_agrees(
        self, lab: Lab, tmp_path: Path, policy: Policy
    ) -> None:
        start = lab.main
        parts = [
            lab.branch(f"t{n}", {f"{n}.txt": f"{n}\n", "poem.txt": poem(n * 5, f"verse {n}")}) for n in range(1, 6)
        ]
        git(lab.top, "switch", "--quiet", "--detach", "main")
        for members in (parts[:1], parts[1:4], parts[4:]):
            assert land(lab.repo, lab.move(*members, policy=policy)) == Landed()
        report = audit_history(lab.top, start, lab.main, policy.value, ("grep", "-q", "verse 1", "poem.txt"), tmp_path)
        assert report.complaints == ()
        assert report.tips == 3
        assert report.changes == tuple(f"t{n}@v1 {parts[n - 1].member.head}" for n in range(1, 6))

    def test_main_that_moved_is_left_alone(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        foreign = lab.on_main({"human.txt": "h\n"})
        assert land(lab.repo, move) == StaleMain(foreign)
        assert lab.main == foreign

    def test_a_rewound_main_is_left_alone(self, lab: Lab) -> None:
        first = lab.main
        lab.on_main({"2.txt": "2\n"})
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        git(lab.top, "reset", "--quiet", "--hard", first)
        assert land(lab.repo, move) == StaleMain(first)

    def test_main_that_is_gone_is_not_made_again(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        git(lab.top, "switch", "--quiet", "--detach")
        git(lab.top, "branch", "-D", "main")
        assert land(lab.repo, move) == StaleMain(None)

    def test_a_race_lost_between_audit_and_swap_changes_nothing(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        won: list[str] = []

        def somebody_else(name: str) -> None:
            if name == "land.flushed":
                won.append(lab.on_main({"human.txt": "h\n"}))

        assert land(lab.repo, move, checkpoint=somebody_else) == StaleMain(*won)

    def test_landing_again_says_it_is_landed(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        land(lab.repo, move)
        assert land(lab.repo, move) == Landed()
        git(lab.top, "reset", "--quiet", "--hard")
        lab.on_main({"later.txt": "l\n"})
        assert land(lab.repo, move) == Landed()

    def test_a_change_whose_hold_is_gone_does_not_land(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "1\n"})
        move = lab.move(one)
        release_changes(lab.repo, lab.main, {change_ref(one.member): one.member.head})
        result = land(lab.repo, move)
        assert isinstance(result, Unsound)
        assert lab.main == move.old

    def test_main_does_not_move_when_the_audit_objects(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        forged = TestAudit.forged(lab, move, TestAudit.tree_with(lab, move.tree, "stowaway.txt", "README.md"))
        result = land(lab.repo, forged)
        assert isinstance(result, Unsound)
        assert lab.main == move.old

    def test_a_main_that_comes_to_name_another_commit_is_noticed_after_the_move(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))

        def rewind(name: str) -> None:
            if name == "land.moved":
                git(lab.top, "update-ref", MAIN, move.old)

        result = land(lab.repo, move, checkpoint=rewind)
        assert isinstance(result, Unsound)
        assert f"main was moved to `{move.new}`" in result.problems[0]

    def test_a_lock_left_behind_is_reported_and_not_broken(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        lock = lab.repo.common_dir / "refs" / "heads" / "main.lock"
        lock.touch()
        result = land(lab.repo, move)
        assert isinstance(result, Stuck)
        assert "main.lock" in result.reason
        assert lock.exists()

    def test_objects_and_refs_are_flushed_as_they_are_written(
        self, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, two = lab.branch("t1", {"poem.txt": poem(3, "3")}), lab.branch("t2", {"poem.txt": poem(30, "30")})
        trace = tmp_path / "trace"
        monkeypatch.setenv("GIT_TRACE2_EVENT", str(trace))
        assert land(lab.repo, lab.move(one, two)) == Landed()
        flushed: dict[str, int] = {}
        names: dict[str, str] = {}
        for line in trace.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "cmd_name":
                names[event["sid"]] = event["name"]
            if event["event"] == "data" and event["key"] == "fsync/hardware-flush":
                name = names[event["sid"]]
                flushed[name] = flushed.get(name, 0) + int(event["value"])
        assert flushed["merge-tree"] >= 2
        assert flushed["hash-object"] >= 3
        assert flushed["update-ref"] >= 3

    def test_hooks_of_the_repository_do_not_run(self, lab: Lab, tmp_path: Path) -> None:
        hook = lab.repo.common_dir / "hooks" / "reference-transaction"
        hook.parent.mkdir(exist_ok=True)
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        hook.chmod(0o755)
        assert land(lab.repo, move) == Landed()
        assert not (tmp_path / "ran").exists()


class TestAudit:
    """Each guard is fed the thing it is there to stop."""

    def test_a_foreign_path_is_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        tree = self.tree_with(lab, move.tree, "stowaway.txt", "README.md")
        assert any("no member touches" in problem for problem in audit(lab.bench, self.forged(lab, move, tree)))

    def test_other_bytes_than_the_approved_are_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        tree = self.tree_with(lab, move.tree, "1.txt", "README.md")
        assert any("differ from the approved" in problem for problem in audit(lab.bench, self.forged(lab, move, tree)))

    def test_a_change_left_out_is_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        tree = git(lab.top, "rev-parse", f"{move.old}^{{tree}}")
        assert any("differ from the approved" in problem for problem in audit(lab.bench, self.forged(lab, move, tree)))

    def test_an_untested_tree_is_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        untested = replace(move, tree=git(lab.top, "rev-parse", f"{move.old}^{{tree}}"))
        assert any("tested was" in problem for problem in audit(lab.bench, untested))

    def test_a_commit_beside_main_is_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        later = lab.on_main({"human.txt": "h\n"})
        assert any("does not descend" in problem for problem in audit(lab.bench, replace(move, old=later)))

    @pytest.mark.parametrize("policy", list(Policy))
    def test_a_member_nobody_approved_is_found(self, lab: Lab, policy: Policy) -> None:
        parts = (lab.branch("t1", {"1.txt": "1\n"}), lab.branch("t2", {"2.txt": "2\n"}))
        move = lab.move(*parts, policy=policy)
        assert audit(lab.bench, move) == ()
        assert audit(lab.bench, replace(move, members=move.members[:1]))

    def test_trailers_that_name_another_change_are_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        renamed = replace(move, members=(replace_id(move.members[0], "t7"),))
        assert audit(lab.bench, renamed) == ("the trailers claim t1@v1",)

    def test_a_merge_of_something_else_is_found(self, lab: Lab) -> None:
        """Same tree, right trailers, but the head is not in the history."""
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        message = lab.bench.read_commits((move.new,))[0]
        assert message is not None
        draft = CommitDraft(move.tree, (move.old,), QUEUE, QUEUE, message.message)
        forged = replace(move, new=lab.bench.write_commit(draft))
        assert any("not reachable" in problem for problem in audit(lab.bench, forged))

    def test_a_stowaway_commit_in_the_history_is_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        other = lab.branch("t2", {"2.txt": "2\n"})
        new = lab.bench.read_commits((move.new,))[0]
        assert new is not None
        draft = CommitDraft(move.tree, (*new.parents, other.member.head), QUEUE, QUEUE, new.message)
        forged = replace(move, new=lab.bench.write_commit(draft))
        assert any("belong to no member" in problem for problem in audit(lab.bench, forged))

    def test_a_merge_commit_under_a_linear_policy_is_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        assert "history is not linear" in audit(lab.bench, replace(move, policy=Policy.SQUASH))

    def test_missing_objects_are_found(self, lab: Lab) -> None:
        move = lab.move(lab.branch("t1", {"1.txt": "1\n"}))
        blob = git(lab.top, "rev-parse", f"{move.new}:1.txt")
        (lab.repo.common_dir / "objects" / blob[:2] / blob[2:]).unlink()
        assert any("missing" in problem for problem in audit(lab.bench, move))

    def test_an_edit_that_follows_a_rename_in_main_is_no_foreign_path(self, lab: Lab) -> None:
        one = lab.branch("t1", {"poem.txt": poem(3, "three")})
        git(lab.top, "mv", "poem.txt", "verse.txt")
        git(lab.top, "commit", "-qm", "rename")
        move = lab.move(one)
        assert set(lab.repo.changed_paths(move.old, move.new)) == {"verse.txt"}
        assert audit(lab.bench, move) == ()

    def test_a_rename_that_carries_an_edit_of_main_is_no_foreign_bytes(self, lab: Lab) -> None:
        one = lab.grow("t1", ("mv", "poem.txt", "verse.txt"), ("commit", "-qm", "rename"))
        lab.on_main({"poem.txt": poem(3, "three")})
        assert audit(lab.bench, lab.move(one)) == ()

    def test_a_rename_that_carries_an_edit_of_another_member_is_no_foreign_bytes(self, lab: Lab) -> None:
        one = lab.grow("t1", ("mv", "poem.txt", "verse.txt"), ("commit", "-qm", "rename"))
        two = lab.branch("t2", {"poem.txt": poem(3, "three")})
        assert audit(lab.bench, lab.move(one, two)) == ()
        assert audit(lab.bench, lab.move(two, one)) == ()

    @staticmethod
    def tree_with(lab: Lab, tree: str, path: str, source: str) -> str:
        """`tree` with `path` holding the bytes of `source`."""
        rows = dict(row.split("\t")[::-1] for row in git(lab.top, "ls-tree", tree).splitlines())
        rows[path] = rows[source]
        return lab.bench.git("mktree", input="".join(f"{v}\t{k}\n" for k, v in rows.items()).encode()).text

    @staticmethod
    def forged(lab: Lab, move: Move, tree: str) -> Move:
        """The move with another tree, trailers and all in order."""
        new = lab.bench.read_commits((move.new,))[0]
        assert new is not None
        message = new.message.replace(move.tree.encode(), tree.encode())
        draft = CommitDraft(tree, new.parents, QUEUE, QUEUE, message)
        return replace(move, new=lab.bench.write_commit(draft), tree=tree)


class TestObserving:
    def test_where_main_stands_is_told_from_the_last_value_known(self, lab: Lab) -> None:
        first = lab.main
        assert observe_main(lab.repo, MAIN, None) == MainSeen(first, lab.repo.tree_of(first), descends=True)
        assert observe_main(lab.repo, MAIN, first) == observe_main(lab.repo, MAIN, None)
        second = lab.on_main({"2.txt": "2\n"})
        assert observe_main(lab.repo, MAIN, first) == MainSeen(second, lab.repo.tree_of(second), descends=True)
        git(lab.top, "reset", "--quiet", "--hard", first)
        for gone in (second, "d" * 40):
            assert observe_main(lab.repo, MAIN, gone) == MainSeen(first, lab.repo.tree_of(first), descends=False)
        assert observe_main(lab.repo, "refs/heads/none", first) is None

    def test_a_force_pushed_main_does_not_descend(self, lab: Lab) -> None:
        known = lab.on_main({"2.txt": "2\n"})
        git(lab.top, "commit", "--quiet", "--amend", "-m", "rewritten")
        assert observe_main(lab.repo, MAIN, known) == MainSeen(lab.main, lab.repo.tree_of(lab.main), descends=False)

    def test_reading_main_back_ignores_what_changes_say_themselves(self, lab: Lab) -> None:
        start = lab.main
        forged = f"work\n\nPaddock-Change: t9@v1 {'a' * 40}"
        land(lab.repo, lab.move(lab.branch("t1", {"1.txt": "1\n"}, message=forged)))
        assert [member.id for tip in read_landed(lab.bench, lab.main, start) for member in tip.members] == ["t1"]


class TestCheckedOutMain:
    def test_a_checkout_follows_main_with_the_users_edits_in_place(self, lab: Lab) -> None:
        git(lab.top, "switch", "--quiet", "main")
        (lab.top / "README.md").write_text("being edited\n")
        for name in ("t1", "t2"):
            assert land(lab.repo, lab.move(lab.branch_elsewhere(name, {f"{name}.txt": "x\n"}))) == Landed()
        assert (lab.top / "t1.txt").read_text() == (lab.top / "t2.txt").read_text() == "x\n"
        assert git(lab.top, "status", "--porcelain") == " M README.md"
        assert read_notes(lab.repo).stale == ()

    def test_a_checkout_with_work_in_the_way_is_left_alone_and_remembered(self, lab: Lab) -> None:
        old = lab.main
        (lab.top / "README.md").write_text("being edited\n")
        assert (
            land(lab.repo, lab.move(lab.branch_elsewhere("t1", {"README.md": "landed\n", "1.txt": "1\n"}))) == Landed()
        )
        assert (lab.top / "README.md").read_text() == "being edited\n"
        assert not (lab.top / "1.txt").exists()
        (stale,) = read_notes(lab.repo).stale
        assert (stale.folder, stale.at, stale.main, stale.files) == (lab.top, old, lab.main, ("README.md",))

    def test_a_checkout_that_was_left_alone_follows_later_from_the_main_it_shows(self, lab: Lab) -> None:
        (lab.top / "README.md").write_text("being edited\n")
        land(lab.repo, lab.move(lab.branch_elsewhere("t1", {"README.md": "landed\n", "1.txt": "1\n"})))
        (lab.top / "README.md").write_text("hello\n")
        land(lab.repo, lab.move(lab.branch_elsewhere("t2", {"2.txt": "2\n"})))
        assert git(lab.top, "status", "--porcelain") == ""
        assert (lab.top / "README.md").read_text() == "landed\n"

    def test_switched_off_nothing_is_written_and_it_is_remembered(self, lab: Lab) -> None:
        old = lab.main
        move = lab.move(lab.branch_elsewhere("t1", {"1.txt": "1\n"}))
        assert land(lab.repo, move, update_checkouts=False) == Landed()
        assert not (lab.top / "1.txt").exists()
        (stale,) = read_notes(lab.repo).stale
        assert (stale.at, stale.main) == (old, move.new)

    def test_a_landing_that_loses_the_race_touches_no_checkout(self, lab: Lab) -> None:
        move = lab.move(lab.branch_elsewhere("t1", {"1.txt": "1\n"}))
        other = lab.branch_elsewhere("x", {"x.txt": "x\n"}).member.head

        def somebody_else(name: str) -> None:
            if name == "sync.held":
                git(lab.top, "update-ref", MAIN, other)

        assert land(lab.repo, move, checkpoint=somebody_else) == StaleMain(other)
        assert not (lab.top / "1.txt").exists()
        assert not (lab.repo.common_dir / "index.lock").exists()
        assert read_notes(lab.repo).stale == ()

    def test_a_commit_in_the_very_moment_main_moves_is_refused_by_git(self, lab: Lab) -> None:
        move = lab.move(lab.branch_elsewhere("t1", {"1.txt": "1\n"}))
        (lab.top / "README.md").write_text("mine\n")
        said: list[str] = []

        def commit_now(name: str) -> None:
            if name == "land.swapped":
                argv = ("git", "-C", str(lab.top), "commit", "-qam", "mine")
                said.append(subprocess.run(argv, check=False, capture_output=True, text=True, timeout=60).stderr)

        assert land(lab.repo, move, checkpoint=commit_now) == Landed()
        assert "index.lock" in said[0]
        assert lab.main == move.new
        git(lab.top, "commit", "-qam", "mine")
        assert set(lab.ls("main")) >= {"1.txt", "README.md"}

    def test_a_linked_worktree_follows_too(self, lab: Lab, tmp_path: Path) -> None:
        git(lab.top, "switch", "--quiet", "--detach")
        linked = tmp_path / "a linked one"
        git(lab.top, "worktree", "add", "--quiet", str(linked), "main")
        land(lab.repo, lab.move(lab.branch_elsewhere("t1", {"1.txt": "1\n"})))
        assert (linked / "1.txt").exists()
        assert git(linked, "status", "--porcelain") == ""
        assert not (lab.top / "1.txt").exists()
