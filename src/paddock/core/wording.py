"""What people may write: briefs, titles, names, numbers and paths, each refused with the reason."""

from collections.abc import Collection, Iterable, Sequence

from paddock.core.errors import Misuse
from paddock.core.ids import printable

BRIEF_LIMIT = 256 * 1024
TITLE_LIMIT = 200
PRIORITY_LIMIT = 1000
ATTEMPTS_LIMIT = 100
LABELS_LIMIT = 50
NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def check_brief(text: str, what: str) -> None:
    if not text.strip():
        raise Misuse(f"{what} is empty", "say in a sentence or more what to do")
    if "\0" in text:
        raise Misuse(f"{what} contains a NUL byte at character {text.index(chr(0)) + 1}", "it has to be text")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise Misuse(f"{what} is not valid UTF-8 at character {error.start + 1}", "it has to be text") from None
    if size > BRIEF_LIMIT:
        raise Misuse(
            f"{what} has {size:,} bytes; the limit is {BRIEF_LIMIT:,}",
            "put long material in a file in the repository and name that file instead",
        )


def check_title(title: str) -> None:
    if not title.strip():
        raise Misuse("the title is empty", "omit --title to use the first line of the brief")
    if len(title) > TITLE_LIMIT:
        raise Misuse(f"the title has {len(title)} characters; the limit is {TITLE_LIMIT}", "say more in the brief")
    for position, character in enumerate(title, 1):
        if not character.isprintable():
            raise Misuse(
                f"the title contains the control character U+{ord(character):04X} at position {position}",
                "titles are one line of printable text",
            )


def check_name(what: str, name: str) -> None:
    if not name or len(name) > 80 or not NAME_CHARACTERS.issuperset(name) or name[0] in "-.":
        raise Misuse(
            f"`{printable(name, 80)}` is not {'an' if what[0] in 'aeiou' else 'a'} {what} name",
            "use 1 to 80 letters, digits, `-`, `_` and `.`, not starting with `-` or `.`",
        )


def derive_title(brief: str) -> str:
    """The first line of the brief with anything unprintable left out."""
    for line in brief.splitlines():
        words = "".join(c if c.isprintable() else " " for c in line).strip().lstrip("#").strip()
        if words:
            return printable(words, 80)
    return "untitled"


def check_numbers(*, attempts: int, priority: int = 0) -> None:
    if abs(priority) > PRIORITY_LIMIT:
        raise Misuse(
            f"priority {priority} is not between -{PRIORITY_LIMIT} and {PRIORITY_LIMIT}",
            "the default is 0; higher goes first",
        )
    if not 1 <= attempts <= ATTEMPTS_LIMIT:
        raise Misuse(f"{attempts} attempts is not between 1 and {ATTEMPTS_LIMIT}", "3 is usual")


def check_paths(paths: Sequence[str]) -> None:
    for path in paths:
        if not path or path.startswith("/") or ".." in path.split("/") or not path.isprintable():
            raise Misuse(
                f"`{printable(path)}` is not a path inside the repository",
                "paths are globs such as `src/api/**`",
            )


def check_labels(labels: Sequence[str]) -> None:
    if len(labels) > LABELS_LIMIT:
        raise Misuse(f"{len(labels)} labels are more than {LABELS_LIMIT}", "a few words that say what it is about do")
    for label in labels:
        if not label.strip() or len(label) > 80 or not label.isprintable() or "," in label or label != label.strip():
            raise Misuse(
                f"`{printable(label, 80)}` is not a label",
                "a label is 1 to 80 printable characters, without a comma: `area/parser`",
            )


def split_list(text: str) -> tuple[str, ...]:
    """The parts between commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def split_lists(texts: Iterable[str]) -> tuple[str, ...]:
    """The parts between commas of all of them, each once."""
    return tuple(dict.fromkeys(part for text in texts for part in split_list(text)))


def check_known(what: str, name: str, known: Collection[str]) -> None:
    if name in known:
        return
    message = f"there is no {what} `{printable(name, 80)}`"
    if not known:
        raise Misuse(message, "define it: `[agents.NAME]` in paddock.toml, or a file in .paddock/agents")
    near = nearest(name, known)
    hint = f"did you mean `{near}`? " if near else ""
    raise Misuse(message, f"{hint}known: {', '.join(sorted(known))}")


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word most like `word`; None when none is close."""
    from difflib import get_close_matches  # only mistakes need it

    return next(iter(get_close_matches(word, list(known), 1, cutoff)), None)


def did_you_mean(word: str, known: Iterable[str], otherwise: str, cutoff: float = 0.6) -> str:
    """A hint that names the nearest known word; `otherwise` when none is close."""
    near = nearest(word, known, cutoff)
    return f"did you mean `{near}`?" if near else otherwise
