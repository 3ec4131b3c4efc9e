"""What workers are told of findings: whole, and so that nothing in a finding can pass for another."""

from hypothesis import given
from hypothesis import strategies as st

from paddock.core.ids import harmless
from paddock.core.review.events import Claim, Severity
from paddock.core.review.wording import TITLE_CHARS, brief_for_owner, title_of, word_findings

LEAK = Claim("it leaks\nwhen it is slow", "src/x.py", 41, Severity.ERROR, "pytest -k leak", "close it")
texts = st.text().map(harmless)
claims = st.builds(Claim, texts, st.sampled_from(["", "a.py"]), st.integers(0, 9), evidence=texts, suggestion=texts)


def test_a_change_is_sent_back_with_all_that_is_held_against_it() -> None:
    told = word_findings([("f3", LEAK), ("f4", Claim("as a whole", severity=Severity.WARNING))], "a" * 40, 1, 3)
    assert told == (
        "2 findings stand against your change at aaaaaaaaaa (review 1 of 3):\n"
        "\n"
        "f3 `src/x.py:41` (error)\n"
        "   it leaks\n"
        "   when it is slow\n"
        "   How this is known:\n"
        "   pytest -k leak\n"
        "   Suggestion:\n"
        "   close it\n"
        "\n"
        "f4 (warning)\n"
        "   as a whole\n"
        "\n"
        "Fix each of them and commit. If one is wrong, do not change code for it; end with a line for each such:\n"
        "PADDOCK-REFUTE: <id> <why it is wrong>"
    )


def test_who_owns_the_path_is_told_where_it_comes_from() -> None:
    told = brief_for_owner("f3", LEAK, "t2", "Be quick")
    assert told.startswith("A review of t2 (Be quick) found something in your paths.\n\nf3 `src/x.py:41` (error)\n")
    assert title_of("f3", LEAK) == "Fix f3: it leaks"


@given(st.lists(claims, min_size=1, max_size=3))
def test_only_findings_stand_at_the_margin(found: list[Claim]) -> None:
    named = [(f"f{number}", claim) for number, claim in enumerate(found, 1)]
    first, *told, finish, refute = [
        line for line in word_findings(named, "a" * 40, 1, 3).split("\n") if line[:1].strip()
    ]
    assert [line.split()[0] for line in told] == [name for name, _ in named]
    assert ("against your change" in first, finish[:3], refute[:14]) == (True, "Fix", "PADDOCK-REFUTE")


@given(claims)
def test_a_title_is_one_line_that_fits(claim: Claim) -> None:
    title = title_of("f1", claim)
    assert title.isprintable()
    assert len(title) <= TITLE_CHARS
