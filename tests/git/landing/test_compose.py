import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from paddock.core.errors import PaddockError
from paddock.core.merge.model import Member, RefusalCause
from paddock.git.landing.audit import audit
from paddock.git.landing.compose import Policy, Unit, compose
from paddock.git.landing.history import read_landed
from paddock.git.landing.messages import NamedMember
from paddock.git.landing.workbench import open_workbench
from tests.git.conftest import MakeRepo, commit, git
from tests.git.landing.conftest import POEM
from tests.git.landing.lab import Lab, part

LINEAR = (Policy.SQUASH, Policy.REBASE)


def poem(number: int, text: str, base: str = POEM) -> str:
    return base.replace(f"line {number}\n", f"{text}\n")


class TestPolicies:
    def test_a_single_member_is_merged_with_its_head_as_second_parent(self, lab: Lab) -> None:
        one = lab.branch("t1", {"one.txt": "1\n"})
        built = lab.composed(one)
        assert lab.show("%P", built.commit) == f"{lab.main} {one.member.head}"
        assert lab.show("%s", built.commit) == "Merge t1: Title of t1"

    def test_a_train_has_the_base_and_the_chain_tip_as_parents(self, lab: Lab) -> None:
        parts = [lab.branch(f"t{n}", {f"{n}.txt": f"{n}\n"}) for n in (1, 2, 3)]
        built = lab.composed(*parts)
        base, last = lab.show("%P", built.commit).split()
        second, third = lab.show("%P", last).split()
        first, head = lab.show("%P", second).split()
        assert (base, third, head) == (lab.main, parts[2].member.head, parts[1].member.head)
        assert lab.show("%P", first) == f"{lab.main} {parts[0].member.head}"
        assert lab.show("%T", built.commit) == built.tree == lab.show("%T", last)
        assert {"1.txt", "2.txt", "3.txt"} <= set(lab.ls(built.commit))

    def test_every_policy_ends_in_the_same_tree(self, lab: Lab) -> None:
        parts = (lab.branch("t1", {"poem.txt": poem(3, "three")}), lab.branch("t2", {"poem.txt": poem(30, "thirty")}))
        lab.on_main({"poem.txt": poem(17, "seventeen")})
        trees = {lab.composed(*parts, policy=policy).tree for policy in Policy}
        assert len(trees) == 1

    def test_squash_makes_one_commit_per_member(self, lab: Lab) -> None:
        one = lab.grow(
            "t1",
            ("commit", "--allow-empty", "-qm", "nothing yet"),
            ("mv", "README.md", "READ.md"),
            ("commit", "-qam", "rename it"),
        )
        two = lab.branch("t2", {"two.txt": "2\n"})
        built = lab.composed(one, two, policy=Policy.SQUASH)
        assert git(lab.top, "rev-list", "--count", f"{lab.main}..{built.commit}") == "2"
        assert lab.show("%P", f"{built.commit}^") == lab.main
        assert lab.show("%B", f"{built.commit}^").startswith("Title of t1 (t1)\n\n* nothing yet\n* rename it\n")

    def test_rebase_keeps_each_commit_with_author_date_and_message(self, lab: Lab) -> None:
        author = ("-c", "user.name=Ann Über", "-c", "user.email=ann@example.invalid")
        date = "--date=1600000000 +0230"
        git(lab.top, "switch", "--quiet", "-c", "t1")
        env = {**os.environ, "GIT_AUTHOR_NAME": "Ann Über", "GIT_AUTHOR_EMAIL": "ann@example.invalid"}
        for number in (1, 2):
            (lab.top / f"{number}.txt").write_text("x\n")
            git(lab.top, "add", "--all")
            message = f"step {number}\n\nBecause.\n\nSigned-off-by: Ann <ann@example.invalid>"
            subprocess.run(
                ("git", "-C", str(lab.top), *author, "commit", "-q", date, "-m", message), check=True, env=env
            )
        one = part("t1", git(lab.top, "rev-parse", "HEAD"))
        lab.on_main({"main.txt": "m\n"})
        built = lab.composed(one, policy=Policy.REBASE)
        shas = git(lab.top, "rev-list", "--reverse", f"{lab.main}..{built.commit}").split()
        assert [lab.show("%an|%ae|%ad|%s", sha) for sha in shas] == [
            f"Ann Über|ann@example.invalid|Sun Sep 13 14:56:40 2020 +0230|step {n}" for n in (1, 2)
        ]
        trailers = lab.show("%(trailers:only)", shas[1]).splitlines()
        assert trailers[0] == "Signed-off-by: Ann <ann@example.invalid>"
        assert trailers[1:3] == [f"Paddock-Change: t1@v1 {one.member.head}", f"Paddock-Tested: {built.tree}"]
        assert "Paddock" not in lab.show("%B", shas[0])

    def test_squash_names_the_other_authors(self, lab: Lab) -> None:
        one = lab.grow(
            "t1",
            ("commit", "--allow-empty", "-qm", "by bob", "--author=Bob <bob@example.invalid>"),
            ("rm", "-q", "README.md"),
            ("commit", "-qam", "by ann", "--author=Ann <ann@example.invalid>"),
        )
        built = lab.composed(one, policy=Policy.SQUASH)
        assert lab.show("%an", built.commit) == "Ann"
        assert "Co-authored-by: Bob <bob@example.invalid>" in lab.show("%(trailers:only)", built.commit)

    def test_squash_keeps_a_single_commit_as_it_was_written(self, lab: Lab) -> None:
        text = "Teach the parser to wait\n\nBecause it must.\n\nReviewed-by: Bob <bob@example.invalid>"
        one = lab.branch("feature/wait", {"1.txt": "1\n"}, message=text)
        built = lab.composed(one, policy=Policy.SQUASH)
        told = lab.show("%B", built.commit)
        assert told.startswith(f"{text}\nPaddock-Change: feature/wait@v1 {one.member.head}\n")
        named = lab.show("%s", lab.composed(lab.branch("t1", {"2.txt": "2\n"}), policy=Policy.SQUASH).commit)
        assert named == "t1 work (t1)", "a task is named behind the title of its commit"

    def test_squash_keeps_every_message_body_and_trailer_once(self, lab: Lab) -> None:
        signed = "Signed-off-by: Ann <ann@example.invalid>"
        with_eve = "Co-authored-by: Eve <eve@example.invalid>"
        with_bob = "Co-authored-by: Bob <bob@example.invalid>"
        one = lab.grow(
            "feature/long",
            ("commit", "--allow-empty", "-qm", f"First step\n\nIt has\na reason.\n\n{signed}\n{with_eve}"),
            ("commit", "--allow-empty", "-qm", "Second step", "--author=Bob <bob@example.invalid>"),
            ("rm", "-q", "README.md"),
            ("commit", "-qam", f"Third step\n\n{signed}\n{with_bob}", "--author=Ann <ann@example.invalid>"),
        )
        built = lab.composed(one, policy=Policy.SQUASH)
        text, _, trailers = lab.show("%B", built.commit).strip().rpartition("\n\n")
        assert text == ("Title of feature/long\n\n* First step\n\nIt has\na reason.\n\n* Second step\n\n* Third step")
        assert trailers.splitlines()[:3] == [signed, with_eve, with_bob]
        assert trailers.count("Bob") == 1
        assert lab.show("%(trailers:key=Paddock-Change,valueonly)", built.commit).startswith("feature/long@v1")

    @pytest.mark.parametrize("policy", list(Policy))
    def test_the_same_unit_gives_the_same_commit(self, lab: Lab, policy: Policy) -> None:
        parts = (lab.branch("t1", {"1.txt": "1\n"}), lab.branch("t2", {"2.txt": "2\n"}))
        assert lab.composed(*parts, policy=policy) == lab.composed(*parts, policy=policy)

    @pytest.mark.parametrize("policy", list(Policy))
    def test_main_itself_tells_what_landed(self, lab: Lab, policy: Policy) -> None:
        parts = (lab.branch("t1", {"1.txt": "1\n"}), lab.branch("t2", {"2.txt": "2\n"}))
        built = lab.composed(*parts, policy=policy)
        tips = read_landed(lab.bench, built.commit, lab.main)
        assert [member for tip in tips for member in tip.members] == [part.member for part in parts]
        assert (tips[-1].commit, tips[-1].tested) == (built.commit, built.tree)

    @pytest.mark.parametrize("policy", list(Policy))
    def test_a_change_cannot_speak_for_the_queue(self, lab: Lab, policy: Policy) -> None:
        forged = f"work\n\nPaddock-Change: t9@v1 {'a' * 40}\npaddock-tested: {'b' * 40}\npaddock-Approved: t1@v1 by ana"
        one = lab.branch("t1", {"1.txt": "1\n"}, message=forged + "\nPaddock-Reviewed: t1@v1 by ana")
        built = lab.composed(one, policy=policy)
        assert "by ana" not in lab.show("%B", built.commit)
        (tip,) = read_landed(lab.bench, built.commit, lab.main)
        assert tip.members == (one.member,)
        assert tip.tested == built.tree

    @pytest.mark.parametrize("policy", list(Policy))
    def test_main_tells_who_let_which_version_land(self, lab: Lab, policy: Policy) -> None:
        one, two, three = (lab.branch(f"t{n}", {f"{n}.txt": "x\n"}) for n in (1, 2, 3))
        seen = replace(one, approved_by="ana@host", reviewed_by=("second", "third"))
        odd = replace(two, approved_by="bo\n\nPaddock-Change: x\x1b[8m " + "o" * 200)
        move = lab.move(seen, odd, three, policy=policy)
        told = [
            (key, line)
            for commit in git(lab.top, "rev-list", "--first-parent", "--reverse", f"{lab.main}..{move.new}").split()
            for key in ("Approved", "Reviewed")
            for line in lab.show(f"%(trailers:key=Paddock-{key},valueonly)", commit).split("\n")
            if line
        ]
        assert ("Approved", "t1@v1 by ana@host") in told
        assert ("Reviewed", "t1@v1 by second, third") in told
        assert len(told) == 3, "policy let t3 land, and nobody reviewed t2"
        assert audit(lab.bench, move) == ()


class TestRefusals:
    def test_a_conflict_with_main_names_paths(self, lab: Lab) -> None:
        one = lab.branch("t1", {"poem.txt": poem(3, "mine")})
        lab.on_main({"poem.txt": poem(3, "theirs")})
        refused = lab.refused(one)
        assert (refused.cause, refused.paths, refused.against) == (RefusalCause.CONFLICT, ("poem.txt",), None)

    def test_a_conflict_between_members_names_the_earlier_one(self, lab: Lab) -> None:
        bystander = lab.branch("t1", {"1.txt": "1\n"})
        first = lab.branch("t2", {"poem.txt": poem(3, "mine")})
        second = lab.branch("t3", {"poem.txt": poem(3, "theirs")})
        refused = lab.refused(bystander, first, second)
        assert (refused.member, refused.cause) == (second.member, RefusalCause.CONFLICT)
        assert (refused.against, refused.paths) == ("t2", ("poem.txt",))

    @pytest.mark.parametrize("policy", list(Policy))
    def test_a_change_already_in_main_is_empty(self, lab: Lab, policy: Policy) -> None:
        one = lab.branch("t1", {"1.txt": "1\n"})
        git(lab.top, "merge", "--quiet", "--no-ff", "-m", "by hand", one.member.head)
        refused = lab.refused(one, policy=policy)
        assert (refused.cause, refused.against) == (RefusalCause.EMPTY, None)

    def test_the_same_edit_made_twice_is_empty_against_the_first(self, lab: Lab) -> None:
        one, two = (lab.branch(name, {"poem.txt": poem(3, "same")}) for name in ("t1", "t2"))
        refused = lab.refused(one, two)
        assert (refused.member.id, refused.cause, refused.against) == ("t2", RefusalCause.EMPTY, "t1")

    def test_only_empty_commits_are_empty(self, lab: Lab) -> None:
        one = lab.grow("t1", ("commit", "--allow-empty", "-qm", "nothing"))
        assert lab.refused(one).cause is RefusalCause.EMPTY

    def test_unrelated_history_is_refused(self, lab: Lab) -> None:
        one = lab.grow("t1", ("checkout", "-q", "--orphan", "alien"), ("commit", "-qm", "alien"))
        refused = lab.refused(one)
        assert (refused.cause, refused.paths) == (RefusalCause.CONFLICT, ())

    def test_a_head_that_is_gone_is_missing(self, lab: Lab) -> None:
        refused = lab.refused(part("t1", "d" * 40))
        assert refused.cause is RefusalCause.MISSING

    def test_a_head_whose_files_are_gone_is_an_error_and_no_conflict(self, lab: Lab) -> None:
        one = lab.branch("t1", {"poem.txt": poem(3, "gone")})
        lab.on_main({"poem.txt": poem(20, "kept")})
        blob = git(lab.top, "rev-parse", f"{one.member.head}:poem.txt")
        (lab.repo.common_dir / "objects" / blob[:2] / blob[2:]).unlink()
        with pytest.raises(PaddockError):
            lab.compose(one)

    def test_a_missing_base_is_an_error(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "1\n"})
        with pytest.raises(PaddockError, match="not in the repository"):
            lab.compose(one, base="d" * 40)


class TestStacks:
    @pytest.mark.parametrize("policy", list(Policy))
    def test_a_change_stacked_on_one_in_the_same_train_merges(self, lab: Lab, policy: Policy) -> None:
        one = lab.branch("t1", {"poem.txt": poem(3, "first")})
        two = lab.branch("t2", {"poem.txt": poem(3, "second")}, start="t1")
        built = lab.composed(one, two, policy=policy)
        assert git(lab.top, "show", f"{built.commit}:poem.txt") + "\n" == poem(3, "second")
        if policy is Policy.REBASE:
            assert git(lab.top, "rev-list", "--count", f"{lab.main}..{built.commit}") == "2"

    @pytest.mark.parametrize("policy", LINEAR)
    def test_a_change_stacked_on_one_that_landed_in_another_shape_merges(self, lab: Lab, policy: Policy) -> None:
        one = lab.branch("t1", {"poem.txt": poem(3, "first")})
        two = lab.branch("t2", {"poem.txt": poem(3, "second")}, start="t1")
        lab.on_main({"poem.txt": poem(30, "thirty")})
        git(lab.top, "reset", "--quiet", "--hard", lab.composed(one, policy=policy).commit)
        built = lab.composed(two, policy=policy)
        expected = poem(3, "second", poem(30, "thirty"))
        assert git(lab.top, "show", f"{built.commit}:poem.txt") + "\n" == expected
        assert git(lab.top, "rev-list", "--count", f"{lab.main}..{built.commit}") == "1"

    @pytest.mark.parametrize("policy", LINEAR)
    def test_a_change_that_forked_before_the_end_of_one_that_landed_merges(self, lab: Lab, policy: Policy) -> None:
        """What they share is in main in another shape, though under a head the second change does not have."""
        lab.branch("early", {"poem.txt": poem(3, "shared")})
        one = lab.branch("t1", {"poem.txt": poem(3, "shared and more")}, start="early")
        two = lab.branch("t2", {"poem.txt": poem(30, "thirty", poem(3, "shared"))}, start="early")
        git(lab.top, "reset", "--quiet", "--hard", lab.composed(one, policy=policy).commit)
        built = lab.composed(two, policy=policy)
        expected = poem(30, "thirty", poem(3, "shared and more"))
        assert git(lab.top, "show", f"{built.commit}:poem.txt") + "\n" == expected
        assert git(lab.top, "rev-list", "--count", f"{lab.main}..{built.commit}") == "1"

    @pytest.mark.parametrize("policy", LINEAR)
    def test_a_change_that_landed_in_another_shape_is_empty_when_queued_again(self, lab: Lab, policy: Policy) -> None:
        one = lab.branch("t1", {"poem.txt": poem(3, "first")})
        git(lab.top, "reset", "--quiet", "--hard", lab.composed(one, policy=policy).commit)
        lab.on_main({"poem.txt": poem(3, "changed since")})
        assert lab.refused(one, policy=policy).cause is RefusalCause.EMPTY


class TestHistoryInsideABranch:
    def branch_that_merged_main(self, lab: Lab) -> NamedMember:
        """The branch resolved a conflict with main by hand, in a merge commit."""
        lab.branch("t1", {"poem.txt": poem(3, "mine")})
        lab.on_main({"poem.txt": poem(3, "theirs")})
        git(lab.top, "switch", "--quiet", "t1")
        subprocess.run(("git", "-C", str(lab.top), "merge", "-q", "main"), check=False, capture_output=True)
        head = commit(lab.top, {"poem.txt": poem(3, "both")}, "resolve")
        git(lab.top, "switch", "--quiet", "main")
        lab.on_main({"other.txt": "o\n"})
        return part("t1", head)

    @pytest.mark.parametrize("policy", list(Policy))
    def test_a_resolved_merge_inside_the_branch_is_kept(self, lab: Lab, policy: Policy) -> None:
        one = self.branch_that_merged_main(lab)
        built = lab.composed(one, policy=policy)
        assert git(lab.top, "show", f"{built.commit}:poem.txt") + "\n" == poem(3, "both")

    def test_rebase_lands_as_one_commit_what_does_not_replay(self, lab: Lab) -> None:
        one = self.branch_that_merged_main(lab)
        built = lab.composed(one, policy=Policy.REBASE)
        assert lab.show("%P", built.commit) == lab.main

    def test_work_hidden_in_a_merge_commit_lands_under_every_policy(self, lab: Lab) -> None:
        lab.branch("side", {"side.txt": "s\n"})
        git(lab.top, "switch", "--quiet", "-c", "t1")
        commit(lab.top, {"own.txt": "o\n"}, "own")
        git(lab.top, "merge", "--quiet", "--no-ff", "--no-commit", "side")
        head = commit(lab.top, {"hidden.txt": "h\n"}, "merge with more")
        git(lab.top, "switch", "--quiet", "main")
        for policy in Policy:
            built = lab.composed(part("t1", head), policy=policy)
            assert {"side.txt", "own.txt", "hidden.txt"} <= set(lab.ls(built.commit))
        assert lab.show("%P", built.commit) == lab.main, "as one commit: it does not replay"

    def test_rebase_replays_both_sides_of_a_harmless_merge(self, lab: Lab) -> None:
        lab.branch("side", {"side.txt": "s\n"}, message="side work")
        one = lab.grow(
            "t1", ("commit", "--allow-empty", "-qm", "own"), ("merge", "-q", "--no-ff", "-m", "join", "side")
        )
        lab.on_main({"other.txt": "o\n"})
        built = lab.composed(one, policy=Policy.REBASE)
        subjects = git(lab.top, "log", "--reverse", "--format=%s", f"{lab.main}..{built.commit}").splitlines()
        assert sorted(subjects) == ["own", "side work"]

    def test_rebase_drops_a_commit_main_already_has(self, lab: Lab) -> None:
        git(lab.top, "switch", "--quiet", "-c", "t1")
        fix = commit(lab.top, {"poem.txt": poem(3, "fix")}, "the fix")
        head = commit(lab.top, {"more.txt": "m\n"}, "more")
        git(lab.top, "switch", "--quiet", "main")
        git(lab.top, "cherry-pick", fix)
        built = lab.composed(part("t1", head), policy=Policy.REBASE)
        assert git(lab.top, "log", "--format=%s", f"{lab.main}..{built.commit}").splitlines() == ["more"]

    @pytest.mark.parametrize("policy", list(Policy))
    def test_odd_authors_and_encodings_do_not_stop_a_landing(self, lab: Lab, policy: Policy) -> None:
        tree = git(lab.top, "rev-parse", lab.branch("seed", {"1.txt": "1\n"}).member.head + "^{tree}")
        raw = (
            f"tree {tree}\nparent {lab.main}\nauthor Jos\xe9 <j@example.invalid> 1600000000 +0100\n"
            "committer x <x@example.invalid> 1600000000 +0100\nencoding ISO-8859-1\n\nd\xe9j\xe0 vu\n"
        ).encode("latin-1")
        for body in (raw, raw.replace(b"author Jos\xe9 <j@example.invalid>", b"author broken")):
            head = subprocess.run(
                ("git", "-C", str(lab.top), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"),
                input=body,
                check=True,
                capture_output=True,
            ).stdout.decode()
            built = lab.composed(NamedMember(Member("t1", 1, head.strip())), policy=policy)
            if policy is Policy.REBASE:
                assert lab.show("%s", built.commit) == "déjà vu"
            author = "José" if body is raw else "Paddock"
            assert lab.show("%an", built.commit) == ("Paddock" if policy is Policy.MERGE else author)

    @pytest.mark.parametrize("policy", LINEAR)
    def test_neither_a_nul_nor_an_encoding_hides_a_claim_to_have_landed_another_change(
        self, lab: Lab, policy: Policy
    ) -> None:
        """Nor does an encoding stop a landing that only one of git and Python knows, or that never ends."""
        tree = git(lab.top, "rev-parse", lab.branch("seed", {"1.txt": "1\n"}).member.head + "^{tree}")
        who = "x <x@example.invalid> 1600000000 +0100"
        claim = f"x\n\nPaddock-Change: t9@v1 {'1' * 40}\n"
        messages = {
            "": claim.replace("dock", "\0dock").encode(),
            "encoding UTF-7\n": claim.replace("-", "+AC0-").encode(),
            "encoding IBM037\n": claim.encode("cp037").replace("\n".encode("cp037"), b"\n"),
            "encoding ISO-2022-JP\n": claim.replace("dock", "\x1b(Bdock").encode(),
            "encoding unicode_escape\n": claim.replace("dock", "\\x00dock").encode(),
            "encoding idna\n": claim.encode() + b"\xff" * 100,
            "encoding punycode\n": b"a" * 200_000 + b"-" + b"a" * 200_000,
        }
        for header, message in messages.items():
            raw = f"tree {tree}\nparent {lab.main}\nauthor {who}\ncommitter {who}\n{header}\n".encode() + message
            written = subprocess.run(
                ("git", "-C", str(lab.top), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"),
                input=raw,
                check=True,
                capture_output=True,
            )
            first = written.stdout.decode().strip()
            for head in (first, git(lab.top, "commit-tree", tree, "-p", first, "-m", "y")):
                built = lab.composed(NamedMember(Member("t1", 1, head)), policy=policy)
                landed = read_landed(open_workbench(lab.repo), built.commit, lab.main)
                assert [member.id for tip in landed for member in tip.members] == ["t1"], header


class TestIsolation:
    def test_nothing_but_objects_is_touched(self, lab: Lab) -> None:
        one = lab.branch("t1", {"poem.txt": poem(3, "three")})
        lab.on_main({"poem.txt": poem(30, "thirty")})
        (lab.top / "scratch.txt").write_text("mine\n")
        index = lab.top / ".git" / "index"
        before = (lab.repo.refs("refs"), git(lab.top, "status", "--porcelain"), index.stat().st_mtime_ns)
        lab.composed(one)
        touched = index.stat().st_mtime_ns
        assert (lab.repo.refs("refs"), git(lab.top, "status", "--porcelain"), touched) == before

    def test_a_merge_driver_planted_in_the_repository_never_runs(self, lab: Lab, tmp_path: Path) -> None:
        git(lab.top, "config", "merge.evil.driver", f"touch {tmp_path}/ran")
        (lab.repo.common_dir / "info" / "attributes").write_text("* merge=evil\n")
        one = lab.branch("t1", {"poem.txt": poem(3, "three")})
        lab.on_main({"poem.txt": poem(30, "thirty")})
        lab.composed(one)
        assert not (tmp_path / "ran").exists()

    def test_a_replace_ref_does_not_swap_the_approved_bytes(self, lab: Lab) -> None:
        one = lab.branch("t1", {"1.txt": "good\n"})
        other = lab.branch("t2", {"1.txt": "evil\n"})
        git(lab.top, "replace", one.member.head, other.member.head)
        planted = lab.bench.git_dir / "refs" / "replace" / one.member.head
        planted.parent.mkdir()
        planted.write_text(f"{other.member.head}\n")
        built = lab.composed(one)
        assert git(lab.top, "show", f"{built.commit}:1.txt") == "good"

    def test_a_workbench_somebody_changed_is_put_right(self, lab: Lab) -> None:
        config = lab.bench.git_dir / "config"
        good = config.read_text()
        config.write_text("[merge]\n\tdefault = evil\n")
        assert lab.bench.git_dir.joinpath("config").read_text() == good

    def test_a_sha256_repository_works(self, tmp_path: Path, make_repo: MakeRepo) -> None:
        top = tmp_path / "long"
        git(tmp_path, "init", "--quiet", "--object-format=sha256", "-b", "main", str(top))
        from paddock.git.repo import discover

        lab = Lab(discover(top), top)
        commit(top, {"a.txt": "a\n"}, "first")
        built = lab.composed(lab.branch("t1", {"1.txt": "1\n"}))
        assert len(built.commit) == 64

    def test_a_unit_without_members_is_refused(self, lab: Lab) -> None:
        with pytest.raises(PaddockError):
            compose(lab.bench, Unit(lab.main, ()))
