"""A verdict on drift in a terminal: first what it is, then every test, what differs, and whom to look at."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from textwrap import wrap

from paddock.cli.terminal.text import cut, paint, plural, width
from paddock.views.insight.drift import DriftTestView, DriftView, TypicalRunView

NARROWEST = 60
MOST_ALIGNED = 24
SHOWN_CASES = 20
SHOWN_QUEUE = 8
IMPROBABLE = 0.05
_NEXT = "what several attempts at one task quietly broke: `paddock traces crosscheck t3`, or with --label LABEL"
_COLOURS = {"drift": "red", "none": "green", "too little data": "yellow"}


def drift_lines(view: DriftView, *, show_all: bool = False) -> list[str]:
    verdict, _, _ = view.sentence.partition(":")
    first, *more = wrap(view.sentence, _room(), subsequent_indent="  ")
    lines = [paint(verdict, _COLOURS.get(view.verdict), bold=True) + first.removeprefix(verdict), *more]
    for words in view.warnings:
        lines += [paint(line, dim=True) for line in wrap(words, _room(), initial_indent="  ", subsequent_indent="    ")]
    if view.tests:
        lines += ["", *_test_lines(view)]
    if view.verdict == "drift" and view.explanation.edges:
        lines += [*_habit_lines(view), "", *_edge_lines(view), *_aligned_lines(view)]
    if view.hard_cases:
        lines += ["", *_case_lines(view, None if show_all else SHOWN_CASES)]
    if view.review_queue:
        lines += ["", *_queue_lines(view, None if show_all else SHOWN_QUEUE)]
    if view.tests:
        lines += ["", _self_test_line(view)]
    if view.verdict == "drift":
        lines += ["", paint(_NEXT, dim=True)]
    return lines


def _room() -> int:
    return max(NARROWEST, min(width(), 110))


def _test_lines(view: DriftView) -> Iterator[str]:
    wide = _room() - 50
    yield f"  {'what is compared':<{wide}}{'batch':>9}{'baseline':>10}{'difference':>18}{'q':>8}"
    for test in view.tests:
        mark = "!" if test.significant else " "
        line = (
            f"{mark} {cut(test.words, wide - 1):<{wide}}{_value(test, test.batch):>9}"
            f"{_value(test, test.baseline):>10}{cut(test.difference, 17):>18}{_q(test):>8}"
        )
        yield paint(line, bold=True) if test.significant else line if test.decides else paint(line, dim=True)
    if any(map(_needs_more, view.tests)):
        yield paint("  (few: no difference in so few runs could stand out among all that is compared)", dim=True)
    if any(not test.decides for test in view.tests):
        yield paint("  (without q: depends on hosts and providers, and decides nothing)", dim=True)


def _value(test: DriftTestView, value: float | None) -> str:
    if value is None:
        return ""
    if test.words.startswith("time"):
        return f"{value:,.0f}s"
    if value > 1 or test.name in ("steps", "tokens", "start-up context"):
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
    return f"{value:.0%}"


def _q(test: DriftTestView) -> str:
    if not test.decides:
        return ""
    if _needs_more(test):
        return "few"
    return "<.001" if test.q < 0.001 else f"{test.q:.3f}"


def _needs_more(test: DriftTestView) -> bool:
    """Whether it looks improbable, and no runs of this number could have been significant among so many tests."""
    return test.decides and test.q == 1.0 and test.p <= IMPROBABLE


def _habit_lines(view: DriftView) -> Iterator[str]:
    if not view.explanation.habits:
        return
    wide = _room() - 26
    yield ""
    yield f"  {'what is done more or less':<{wide}}{'batch':>9}{'baseline':>10}"
    for habit in view.explanation.habits:
        share = f"  % of {habit.of}"
        words = cut(habit.activity, wide - 1 - len(share)) + share
        yield f"  {words:<{wide}}{habit.batch:>9.1%}{habit.baseline:>10.1%}"


def _edge_lines(view: DriftView) -> Iterator[str]:
    wide = _room() - 26
    yield f"  {'where the order differs most':<{wide}}{'batch':>9}{'baseline':>10}"
    for edge in view.explanation.edges:
        yield f"  {cut(f'{edge.first} → {edge.then}', wide - 1):<{wide}}{edge.batch:>9.1%}{edge.baseline:>10.1%}"


def _aligned_lines(view: DriftView) -> Iterator[str]:
    """Two paths side by side; equal steps stand in one line."""
    medoid, outlier = view.explanation.medoid, view.explanation.outlier
    if medoid is None or outlier is None or medoid.run == outlier.run:
        return
    half = (_room() - 4) // 2
    yield ""
    yield f"  {_heading('most typical', medoid, half)}  {_heading('least like the baseline', outlier, half)}".rstrip()
    rows = list(_align(medoid.path, outlier.path))
    for left, right in rows[:MOST_ALIGNED]:
        line = f"  {cut(left, half):<{half}}  {cut(right, half)}".rstrip()
        yield line if left != right else paint(line, dim=True)
    if len(rows) > MOST_ALIGNED:
        yield paint(f"  … and {len(rows) - MOST_ALIGNED} more steps", dim=True)


def _heading(words: str, run: TypicalRunView, half: int) -> str:
    return f"{cut(f'{words}: {run.run}', half):<{half}}"


def _align(left: list[str], right: list[str]) -> Iterator[tuple[str, str]]:
    for tag, start, end, first, last in SequenceMatcher(a=left, b=right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(left[start:end], right[first:last], strict=True)
            continue
        for place in range(max(end - start, last - first)):
            yield (
                left[start + place] if start + place < end else "",
                right[first + place] if first + place < last else "",
            )


def _case_lines(view: DriftView, most: int | None) -> Iterator[str]:
    yield paint(f"{plural(view.hard_case_count, 'case')} to look at, whatever the statistics say", bold=True)
    shown = view.hard_cases if most is None else view.hard_cases[:most]
    for case in shown:
        yield cut(f"  {case.run}  {case.rule}: {case.evidence}", _room())
    if len(shown) < view.hard_case_count:
        yield paint(f"  … and {view.hard_case_count - len(shown)} more: --all or --json", dim=True)


def _queue_lines(view: DriftView, most: int | None) -> Iterator[str]:
    yield "runs in the order in which to look at them; a score is no alarm"
    for run in view.review_queue if most is None else view.review_queue[:most]:
        yield cut(f"  {run.score:>5.1f}  {run.run}  {', '.join(run.reasons)}".rstrip(), _room())


def _self_test_line(view: DriftView) -> str:
    told = view.self_test
    if told is None:
        return paint("self-test: the baseline has too few runs to be divided", dim=True)
    limits = f"a sound test: {told.low:.0%} to {told.high:.0%}"
    line = f"self-test: {told.alarms} of {told.splits} random halves of the baseline called drift ({limits})"
    return line if told.sound else paint(line, "yellow")
