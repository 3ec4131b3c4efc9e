"""How Paddock says no: what, which, why, and what to run."""


class PaddockError(Exception):
    """An expected refusal or failure, ready to be shown to a person.

    `exit_code` is 1 for what was refused or failed and 2 for misuse of the command line.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def words_of(error: Exception) -> str:
    """The error for a person to read: our own with their hint, others with their type."""
    if not isinstance(error, PaddockError):
        return f"{type(error).__name__}: {error}"
    return f"{error.message} ({error.hint})" if error.hint else error.message


def read_complaint(text: str) -> PaddockError:
    """What a command wrote on standard error, as it was raised."""
    problem, _, hint = text.strip().removeprefix("error: ").partition("\n\nhint: ")
    return PaddockError(problem or "it did not say why it refused", hint or None)


class Misuse(PaddockError):
    """The call itself is wrong: a bad flag, a malformed file, an unknown id."""

    exit_code = 2


class NotFound(PaddockError):
    """There is no such task, attempt, convoy, change or CI run."""


class IllegalTransition(PaddockError):
    """The event does not fit the state it would change, so it is not a fact and must not be recorded."""
