"""What the client works out by itself: documents from differences, the board's order, graph and figures."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.web.client import Client, client_in


@pytest.fixture(scope="module")
def client(launch: Callable[[], Browser]) -> Iterator[Client]:
    with client_in(launch()) as found:
        yield found


def test_a_row_that_changed_redraws_that_row_alone(client: Client) -> None:
    seen = client.run(
        "lib/state.js",
        """
        const {effect} = await import("/lib/ui.js");
        const document = new m.LiveDocument("board");
        document.take({mark: "a", whole: {seq: 1, tasks: {t1: {title: "one"}, t2: {title: "two"}}}, tables: ["tasks"]});
        const drawn = {page: 0, t1: 0, t2: 0};
        effect(() => { document.value; drawn.page += 1; });
        for (const id of ["t1", "t2"]) effect(() => { document.peek().tasks.get(id).value; drawn[id] += 1; });
        document.take({mark: "b", set: {}, rows: {tasks: {t2: {title: "other"}}}});
        const whole = {seq: 1, tasks: {t1: {title: "one"}, t2: {title: "other"}}};
        document.take({mark: "c", whole, tables: ["tasks"]});
        return {drawn, title: document.peek().tasks.get("t2").peek().title, mark: document.mark};
        """,
    )
    assert seen == {"drawn": {"page": 2, "t1": 1, "t2": 2}, "title": "other", "mark": "c"}


def test_rows_come_and_go_and_small_fields_are_replaced(client: Client) -> None:
    seen = client.run(
        "lib/state.js",
        """
        const document = new m.LiveDocument("board");
        document.take({mark: "a", set: {seq: 9}, rows: {}});
        const early = document.value;
        document.take({mark: "a", whole: {seq: 1, counts: {}, tasks: {t1: {}, t2: {}}}, tables: ["tasks"]});
        document.take({mark: "b", set: {seq: 2, counts: {ready: 1}}, rows: {tasks: {t1: null, t3: {}}}});
        const {seq, counts, tasks} = document.value;
        return {early, seq, counts, ids: [...tasks.keys()], same: document.field("counts").value === counts};
        """,
    )
    assert seen == {"early": None, "seq": 2, "counts": {"ready": 1}, "ids": ["t2", "t3"], "same": True}


def test_a_record_that_comes_twice_is_taken_once_and_in_order(client: Client) -> None:
    seen = client.run(
        "lib/state.js",
        """
        const batches = [];
        const stop = m.onRecords((found) => batches.push(found.map((record) => record.seq)));
        m.takeRecords([{seq: 2}, {seq: 1}, {seq: 2}]);
        m.takeRecords([{seq: 1}, {seq: 2}, {seq: 3}]);
        m.takeRecords([{seq: 3}]);
        stop();
        return {batches, kept: m.records.value.map((record) => record.seq), last: m.lastRecord()};
        """,
    )
    assert seen == {"batches": [[1, 2], [3]], "kept": [1, 2, 3], "last": 3}


ARRANGED = """
const arrangement = new m.Arrangement();
const of = (sections) => new Map(Object.entries(sections));
const step = (sections, held, now) => arrangement.step(of(sections), {held, now});
const told = ({ids, leaving}) => ids.map((id) => id + (leaving.has(id) ? "~" : "")).join(" ");
const drawn = ({sections}) => [...sections].filter(([, one]) => one.ids.length);
const shown = (step) => Object.fromEntries(drawn(step).map(([name, one]) => [name, told(one)]));
const first = {running: ["t1", "t2", "t3"], queued: ["t4"]};
const second = {running: ["t1", "t3"], queued: ["t4", "t2"]};
"""


def test_a_task_that_changes_phase_stays_dimmed_before_it_moves(client: Client) -> None:
    seen = client.run(
        "lib/sections.js",
        ARRANGED
        + """
        const steps = [step(first, null, 0), step(second, null, 100), step(second, null, 500), step(second, null, 701)];
        return {shown: steps.map(shown), again: steps.map((one) => one.again)};
        """,
    )
    before, during = {"running": "t1 t2 t3", "queued": "t4"}, {"running": "t1 t2~ t3", "queued": "t4"}
    assert seen["shown"] == [before, during, during, {"running": "t1 t3", "queued": "t4 t2"}]
    assert seen["again"] == [None, 600, 200, None]


def test_nothing_moves_in_or_above_the_section_a_reader_is_busy_in(client: Client) -> None:
    seen = client.run(
        "lib/sections.js",
        ARRANGED
        + """
        step(first, null, 0);
        const held = step({...second, running: ["t5", "t1", "t3"]}, "running", 100);
        const later = step({...second, running: ["t5", "t1", "t3"]}, "running", 9000);
        const free = step({...second, running: ["t5", "t1", "t3"]}, null, 9100);
        return {held: shown(held), later: shown(later), moved: later.sections.get("running").moved, free: shown(free)};
        """,
    )
    assert seen["held"] == seen["later"] == {"running": "t1 t2~ t3", "queued": "t4"}
    assert seen["moved"] == 2
    assert seen["free"] == {"running": "t5 t1 t3", "queued": "t4 t2"}


def row(name: str, phase: str, **fields: Any) -> dict[str, Any]:
    usual = {"id": name, "title": name, "phase": phase, "since": "2026-01-01", "priority": 0, "stuck": "", "after": []}
    return {**usual, **fields}


def test_who_needs_a_person_stands_first_and_what_looks_stuck_leads_the_running(client: Client) -> None:
    rows = [
        row("t1", "running", started="10:00"),
        row("t2", "running", started="10:05", stuck="quiet for 6m"),
        row("t3", "approval"),
        row("t4", "landed", since="2026-01-02"),
        row("t5", "landed", since="2026-01-03"),
        row("t10", "ready"),
        row("t9", "ready"),
        row("t11", "ready", priority=5),
    ]
    ordered = client.run(
        "lib/sections.js",
        "return Object.fromEntries([...m.sectionsOf(given, ['t3'], null)].filter(([, ids]) => ids.length))",
        rows,
    )
    assert ordered == {
        "needs": ["t3"],
        "running": ["t2", "t1"],
        "landed": ["t5", "t4"],
        "ready": ["t11", "t9", "t10"],
    }


def test_a_convoy_is_drawn_in_layers_and_never_larger_than_its_box(client: Client) -> None:
    place = """
        const {placed, edges, hidden} = m.placeNodes(given.nodes, given.bounds);
        const at = Object.fromEntries(placed.map((one) => [one.node.id, [one.column, one.row]]));
        return {at, edges, hidden: hidden.length};
    """
    nodes = [row("t1", "landed"), row("t2", "ready", after=["t1"]), row("t3", "waiting", after=["t1", "t2", "t99"])]
    drawn = client.run("lib/layers.js", place, {"nodes": nodes, "bounds": {"columns": 4, "rows": 4}})
    assert drawn["at"] == {"t1": [0, 0], "t2": [1, 0], "t3": [2, 0]}
    assert drawn["edges"] == [["t1", "t2"], ["t1", "t3"], ["t2", "t3"]]
    wide = [row(f"t{n}", "waiting" if n > 20 else "landed", after=[f"t{n - 1}"] if n % 3 else []) for n in range(1, 60)]
    bounds = {"columns": 4, "rows": 4, "longest": ["t58", "t59"]}
    many = client.run("lib/layers.js", place, {"nodes": wide, "bounds": bounds})
    assert len(many["at"]) <= 16
    assert many["hidden"] == 59 - len(many["at"])
    assert "t58" in many["at"]
    loose = [*nodes, *(row(f"t{n}", "landed" if n % 2 else "ready") for n in range(4, 20))]
    below = client.run("lib/layers.js", place, {"nodes": loose, "bounds": {"columns": 4, "rows": 4}})
    assert (below["at"]["t3"], below["at"]["t4"], below["at"]["t12"]) == ([2, 0], [0, 1], [0, 2])
    assert (len(below["at"]), below["hidden"]) == (3 + 8, 8)
    circle = [row("t1", "waiting", after=["t2"]), row("t2", "waiting", after=["t1"])]
    assert len(client.run("lib/layers.js", place, {"nodes": circle, "bounds": {"columns": 4, "rows": 4}})["at"]) == 2


def test_figures_read_as_people_write_them(client: Client) -> None:
    said = client.run(
        "lib/format.js",
        """
        return [
          ...[50, 360, 3900, 360000].map(m.duration), m.countdown(100), m.roughly(10800),
          ...[null, 0, 0.001, 41.2, 12345.6].map(m.money), m.budget(80), m.bytes(1536), m.plural(1, "file"),
          m.plural(48213, "event"), m.someOf(["t1", "t2", "t3"], 2),
        ]
        """,
    )
    assert said == [
        *("50s", "6m", "1h 05m", "4d 4h", "1m 40s", "3h"),
        *("", "$0.00", "<$0.01", "$41.20", "$12\u202f346", "$80", "1.5 KiB", "1 file"),
        *("48\u202f213 events", "t1, t2 and 1 more"),
    ]


def test_a_draft_becomes_a_request_with_only_what_was_given(client: Client) -> None:
    request, places = client.run(
        "lib/task-draft.js",
        """
        const filled = {brief: " Do it. ", agent: "fixer", after: "t3, t5", paths: "src/**", priority: "2"};
        const one = {...m.emptyTask(), ...filled};
        const two = {...m.emptyTask(), brief: "Then this.", waits: [0]};
        return [m.requestOf({convoy: "pg16", title: "", tasks: [one, two]}),
          [m.placeOf("Expected `int` - at `$.tasks[1].priority`"), m.placeOf("there is no agent `x`")]];
        """,
    )
    assert request == {
        "convoy": "pg16",
        "tasks": [
            {
                "brief": "Do it.",
                "agent": "fixer",
                "key": "task-1",
                "after": ["t3", "t5"],
                "paths": ["src/**"],
                "priority": 2,
            },
            {"brief": "Then this.", "key": "task-2", "after": ["task-1"], "paths": []},
        ],
    }
    assert places == [{"index": 1, "field": "priority"}, None]


def test_the_log_keeps_order_over_pieces_that_overlap(client: Client) -> None:
    body = """
        const of = (seqs) => seqs.map((seq) => ({seq}));
        return m.merge(of([3, 4, 5]), of(given)).map((one) => one.seq);
    """
    assert client.run("lib/history.js", body, [6, 7]) == [3, 4, 5, 6, 7]
    assert client.run("lib/history.js", body, [1, 2, 3]) == [1, 2, 3, 4, 5]
    assert client.run("lib/history.js", body, [4, 6]) == [3, 4, 5, 6]


def test_what_repeats_in_the_log_without_a_word_to_say_is_one_row(client: Client) -> None:
    body = "return m.withoutRepeats(given).map(({record, count}) => [record.seq, count]);"
    kinds = ["lease.renewed", "attempt.extended", "lease.renewed", "task.added", "task.added", "janitor.swept"]
    told = [{"seq": n, "kind": kind, "words": "added" * (kind == "task.added")} for n, kind in enumerate(kinds, 1)]
    assert client.run("lib/history.js", body, told) == [[3, 3], [4, 1], [5, 1], [6, 1]]
