from paddock.core.errors import PaddockError, words_of


def test_our_own_errors_are_told_without_their_python_name() -> None:
    assert words_of(PaddockError("no slot is free", "wait")) == "no slot is free (wait)"
    assert words_of(PaddockError("no slot is free")) == "no slot is free"
    assert words_of(KeyError("t1")) == "KeyError: 't1'"
