"""A secret is made once, whoever asks at the same time, and nothing else is left beside it."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from paddock.fleet.kept_secret import kept_secret


def test_all_that_ask_at_once_get_the_one_that_is_kept(tmp_path: Path) -> None:
    together = Barrier(8)

    def ask(_number: int) -> str:
        together.wait()
        return kept_secret(tmp_path / "secret")

    for _ in range(20):
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(ask, range(8)))
        assert found == {(tmp_path / "secret").read_text()}
        assert os.listdir(tmp_path) == ["secret"]
        (tmp_path / "secret").unlink()


def test_the_draft_of_one_that_died_is_no_secret_and_does_not_stay(tmp_path: Path) -> None:
    (tmp_path / "secret.new").write_text("half")
    secret = kept_secret(tmp_path / "secret")
    assert (len(secret), kept_secret(tmp_path / "secret")) == (32, secret)
    assert kept_secret(tmp_path / "secret", new=True) != secret
    assert os.listdir(tmp_path) == ["secret"]
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


def test_one_that_others_could_have_read_is_replaced(tmp_path: Path) -> None:
    secret = kept_secret(tmp_path / "secret")
    (tmp_path / "secret").chmod(0o644)
    assert kept_secret(tmp_path / "secret") != secret
