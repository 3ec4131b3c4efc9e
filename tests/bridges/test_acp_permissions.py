"""What an ACP agent offers to be allowed, and which of it a person's answer means."""

from paddock.bridges.acp_permissions import Option, read_answer, read_options
from paddock.engines.jsonline import Node
from paddock.fleet.attempts.correspondence import MOST_OPTION


def options_named(*names: str) -> tuple[Option, ...]:
    listed = [{"optionId": f"o{n}", "name": name, "kind": "allow_once"} for n, name in enumerate(names, 1)]
    return read_options(Node({"options": listed}))


def test_an_answer_from_the_log_is_the_name_of_an_option_before_it_is_its_number() -> None:
    """Otherwise an agent that calls its options by each other's numbers gets the opposite of what was chosen."""
    options = options_named("2", "1")
    assert [read_answer(options, name) for name in ("2", "1")] == [*options]


def test_options_whose_names_differ_in_case_only_are_told_apart() -> None:
    options = options_named("Allow", "allow")
    assert [read_answer(options, name) for name in ("Allow", "allow", "ALLOW", "2")] == [*options, None, options[1]]


def test_options_of_one_name_are_told_apart_in_words_that_the_log_keeps_whole() -> None:
    options = options_named("x" * 5000, "x" * 5000)
    assert len({option.name for option in options}) == 2
    assert all(len(option.name) <= MOST_OPTION for option in options)
