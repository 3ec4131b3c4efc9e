"""What is remembered about checkouts, edits that are stashed on the way, and commits made from an older checkout."""

import os
import subprocess
from pathlib import Path

import pytest

from paddock.git.repo import Repo
from paddock.git.usertree.checkouts import READY, catch_up
from paddock.git.usertree.notes import CheckoutNotes, StaleTree, read_notes, write_notes
from paddock.git.usertree.stash import StashReport, catch_up_with_stash
from paddock.git.usertree.undone import find_losses, restore_commit
from paddock.git.usertree.update import IN_THE_WAY, LeftAlone, UpToDate
from tests.git.conftest import commit, git, write
from tests.git.usertree.desk import Desk, Files

LINES = "".join(f"{number}\n" for number in range(1, 21))


def lines(**replaced: str) -> str:
    """`_5="five"` replaces line 5."""
    return "".join(f"{replaced.get(f'_{number}', str(number))}\n" for number in range(1, 21))


def land_noted(desk: Desk, files: Files) -> tuple[str, str]:
    old, new = desk.land(files)
    known = read_notes(desk.repo)
    earlier = known.stale_at(desk.top)
    entry = StaleTree(os.fsencode(desk.top), earlier.at if earlier else old, new)
    write_notes(desk.repo, known.with_stale(entry))
    return old, new


def notes(repo: Repo) -> CheckoutNotes:
    return read_notes(repo)


class TestCatchingUp:
    def test_it_looks_without_touching_when_told_not_to_update(self, desk: Desk) -> None:
        land_noted(desk, {"README.md": "landed\n"})
        before = desk.contents()
        (report,) = catch_up(desk.repo, "main", update=False)
        assert report.result == LeftAlone(READY)
        assert desk.contents() == before
        (report,) = catch_up(desk.repo, "main")
        assert report.result == UpToDate(1)
        assert notes(desk.repo) == CheckoutNotes()

    def test_staged_work_that_looks_like_an_older_main_is_not_taken_for_one(self, desk: Desk) -> None:
        old = desk.main
        commit(desk.top, {"README.md": "newer\n"})
        git(desk.top, "checkout", "--quiet", old, "--", "README.md")
        before = desk.contents()
        (report,) = catch_up(desk.repo, "main")
        assert report.is_current
        assert desk.contents() == before

    def test_a_checkout_that_left_main_is_forgotten(self, desk: Desk) -> None:
        land_noted(desk, {"README.md": "landed\n"})
        git(desk.top, "switch", "--quiet", "--detach")
        assert catch_up(desk.repo, "main") == ()
        assert notes(desk.repo) == CheckoutNotes()

    def test_a_checkout_its_user_brought_up_to_date_is_forgotten(self, desk: Desk) -> None:
        land_noted(desk, {"README.md": "landed\n"})
        git(desk.top, "reset", "--quiet", "--hard")
        (report,) = catch_up(desk.repo, "main")
        assert report.result == UpToDate(0)
        assert notes(desk.repo) == CheckoutNotes()

    def test_notes_that_cannot_be_read_are_none(self, desk: Desk) -> None:
        folder = desk.repo.common_dir / "paddock"
        folder.mkdir(exist_ok=True)
        (folder / "checkouts").write_bytes(b"\xff damaged")
        assert read_notes(desk.repo) == CheckoutNotes()


class TestStashing:
    @pytest.fixture
    def desk(self, desk: Desk) -> Desk:
        commit(desk.top, {"lines.txt": LINES})
        return desk

    def sync(self, desk: Desk) -> StashReport:
        (report,) = catch_up(desk.repo, "main")
        return catch_up_with_stash(desk.repo, report)

    @pytest.mark.parametrize("reset", [False, True])
    def test_edits_of_other_lines_are_back_afterwards(self, desk: Desk, reset: bool) -> None:
        write(desk.top, {"lines.txt": lines(_18="mine"), "run.sh": "mine\n", "x.txt": "mine\n"})
        git(desk.top, "add", "run.sh")
        land_noted(desk, {"lines.txt": lines(_3="landed"), "README.md": "landed\n"})
        if reset:
            git(desk.top, "reset", "--quiet")
        told = self.sync(desk)
        assert told.applied
        assert (desk.top / "lines.txt").read_text() == lines(_3="landed", _18="mine")
        assert (desk.top / "README.md").read_text() == "landed\n"
        assert desk.status() == [" M lines.txt", " M run.sh" if reset else "M  run.sh", "?? x.txt"]
        assert git(desk.top, "stash", "list") == ""

    def test_what_was_staged_is_staged_again(self, desk: Desk) -> None:
        write(desk.top, {"lines.txt": lines(_18="staged")})
        git(desk.top, "add", "lines.txt")
        write(desk.top, {"lines.txt": lines(_18="staged", _12="not staged")})
        land_noted(desk, {"lines.txt": lines(_3="landed")})
        assert self.sync(desk).applied
        assert desk.status() == ["MM lines.txt"]
        assert git(desk.top, "show", ":lines.txt") + "\n" == lines(_3="landed", _18="staged")

    def test_edits_of_the_same_lines_stay_in_the_stash_and_can_be_popped(self, desk: Desk) -> None:
        write(desk.top, {"lines.txt": lines(_3="mine"), "new.txt": "mine, untracked\n"})
        land_noted(desk, {"lines.txt": lines(_3="landed"), "new.txt": "landed\n", "README.md": "landed\n"})
        told = self.sync(desk)
        assert not told.applied
        assert told.report.is_current
        assert desk.status() == [""]
        assert git(desk.top, "show", "stash@{0}:lines.txt") + "\n" == lines(_3="mine")
        assert git(desk.top, "show", "stash@{0}:new.txt") == "mine, untracked"
        popped = subprocess.run(
            ("git", "-C", str(desk.top), "stash", "pop"), check=False, capture_output=True, timeout=60
        )
        assert popped.returncode
        assert "mine" in (desk.top / "lines.txt").read_text()
        assert (desk.top / "README.md").read_text() == "landed\n"

    def test_an_older_stash_of_the_users_is_not_touched(self, desk: Desk) -> None:
        write(desk.top, {"run.sh": "stashed long ago\n"})
        git(desk.top, "stash", "--quiet")
        write(desk.top, {"lines.txt": lines(_18="mine")})
        land_noted(desk, {"lines.txt": lines(_3="landed")})
        assert self.sync(desk).applied
        assert git(desk.top, "show", "stash@{0}:run.sh") == "stashed long ago"

    def test_a_folder_in_the_way_is_named_and_nothing_is_stashed(self, desk: Desk) -> None:
        write(desk.top, {"new/mine.txt": "mine\n"})
        land_noted(desk, {"new": "landed\n"})
        before = desk.contents()
        result = self.sync(desk).report.result
        assert isinstance(result, LeftAlone)
        assert result.files == ("new/mine.txt",)
        assert "move them elsewhere" in result.reason
        assert desk.contents() == before
        assert git(desk.top, "stash", "list") == ""

    def test_a_file_the_user_deleted_stays_deleted_in_the_stash_only(self, desk: Desk) -> None:
        (desk.top / "lines.txt").unlink()
        land_noted(desk, {"lines.txt": lines(_3="landed")})
        told = self.sync(desk)
        assert told.report.is_current
        assert (desk.top / "lines.txt").read_text() == lines(_3="landed")
        assert told.commit is not None


class TestUndone:
    @pytest.fixture
    def desk(self, desk: Desk) -> Desk:
        commit(desk.top, {"lines.txt": LINES})
        return desk

    def test_a_commit_from_an_older_checkout_is_noticed_with_its_files_only(self, desk: Desk) -> None:
        write(desk.top, {"lines.txt": lines(_18="mine"), "run.sh": "mine\n"})
        old, new = land_noted(desk, {"lines.txt": lines(_3="landed"), "README.md": "landed\n", "new.txt": "landed\n"})
        git(desk.top, "commit", "--quiet", "-am", "from an older checkout")
        catch_up(desk.repo, "main")
        (undone,) = notes(desk.repo).undone
        assert (undone.commit, undone.base, undone.landed) == (desk.main, old, new)
        assert undone.files == ("README.md", "lines.txt", "new.txt")
        assert notes(desk.repo).stale == ()

    def test_it_is_restored_with_the_users_own_edits(self, desk: Desk) -> None:
        write(desk.top, {"lines.txt": lines(_18="mine"), "run.sh": "mine\n"})
        land_noted(desk, {"lines.txt": lines(_3="landed"), "README.md": "landed\n", "new.txt": "landed\n"})
        git(desk.top, "commit", "--quiet", "-am", "from an older checkout")
        catch_up(desk.repo, "main")
        (undone,) = notes(desk.repo).undone
        made = restore_commit(desk.repo, undone, "back", desk.main)
        assert made == git(desk.top, "rev-parse", "back")
        assert git(desk.top, "show", "back:lines.txt") + "\n" == lines(_3="landed", _18="mine")
        assert git(desk.top, "show", "back:new.txt") == "landed"
        assert git(desk.top, "show", "back:run.sh") == "mine"
        git(desk.top, "merge", "--quiet", "--ff-only", "back")
        catch_up(desk.repo, "main")
        assert notes(desk.repo) == CheckoutNotes()

    @pytest.mark.parametrize("message", ["on purpose", "This reverts it"])
    def test_a_commit_from_a_checkout_that_shows_main_is_never_suspected(self, desk: Desk, message: str) -> None:
        land_noted(desk, {"lines.txt": lines(_3="landed"), "new.txt": "landed\n"})
        catch_up(desk.repo, "main")
        write(desk.top, {"lines.txt": LINES})
        (desk.top / "new.txt").unlink()
        git(desk.top, "commit", "--quiet", "-am", message)
        catch_up(desk.repo, "main")
        assert notes(desk.repo) == CheckoutNotes()

    def test_a_commit_that_leaves_what_landed_alone_is_not_suspected(self, desk: Desk) -> None:
        write(desk.top, {"lines.txt": lines(_18="mine")})
        land_noted(desk, {"lines.txt": lines(_3="landed")})
        desk.land({"other.txt": "somebody else's, on top\n"})
        catch_up(desk.repo, "main")
        assert notes(desk.repo).undone == ()

    def test_lines_that_both_changed_count_as_the_later_ones(self, desk: Desk) -> None:
        old, new = desk.land({"lines.txt": lines(_3="landed", _12="landed")})
        _, later = desk.land({"lines.txt": lines(_3="changed on purpose", _12="landed")})
        (loss,) = find_losses(desk.repo, old, new, later)
        assert (loss.contested, loss.can_be_restored) == (True, False)
        kept = lines(_3="landed\nand more", _12="landed")
        assert find_losses(desk.repo, old, new, desk.land({"lines.txt": kept})[1]) == ()
        _, lacking = desk.land({"lines.txt": lines(_3="changed on purpose")})
        (loss,) = find_losses(desk.repo, old, new, lacking)
        assert loss.content == lines(_3="changed on purpose", _12="landed").encode()

    def test_a_file_of_the_same_name_that_both_made_is_contested(self, desk: Desk) -> None:
        old, new = desk.land({"made.txt": "landed\n"})
        _, later = desk.land({"made.txt": "mine\n"})
        (loss,) = find_losses(desk.repo, old, new, later)
        assert (loss.path, loss.contested, loss.can_be_restored) == ("made.txt", True, False)

    def test_binary_files_links_and_removals_are_compared_whole(self, desk: Desk) -> None:
        def first(place: Path) -> None:
            (place / "data.bin").write_bytes(b"\0one")
            (place / "link").symlink_to("run.sh")

        old, _ = desk.land(act=first)
        old = desk.main

        def second(place: Path) -> None:
            (place / "data.bin").write_bytes(b"\0two")
            (place / "link").unlink()
            (place / "link").symlink_to("README.md")
            (place / "README.md").unlink()

        _, new = desk.land(act=second)

        def third(place: Path) -> None:
            (place / "data.bin").write_bytes(b"\0one")
            (place / "link").unlink()
            (place / "link").symlink_to("run.sh")
            (place / "README.md").write_text("hello\n")

        _, later = desk.land(act=third)
        losses = find_losses(desk.repo, old, new, later)
        assert [loss.path for loss in losses] == ["README.md", "data.bin", "link"]
        assert losses[0].version is None


def test_reasons_are_told_apart(desk: Desk) -> None:
    write(desk.top, {"README.md": "mine\n"})
    land_noted(desk, {"README.md": "landed\n"})
    (report,) = catch_up(desk.repo, "main")
    assert report.result == LeftAlone(IN_THE_WAY, ("README.md",))
    (stale,) = notes(desk.repo).stale
    assert (stale.reason, stale.files) == (IN_THE_WAY, ("README.md",))
