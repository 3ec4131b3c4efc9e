"""The real claude and codex on one account that bears four requests at once: does the controller find the limit?

    python -m bench.admission_real [--quick]

Needs the pinned CLIs (`make engines`). The provider is the tests' mock model: it answers after a second and a half
and turns away every request beyond the fourth. Nothing tells the fleet about the limit but those refusals. Prints a
table and writes bench/out/admission-real.json, and beside it what was sampled every half second.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.engines.real.install import find
from tests.fleet.control.throttled import Tally, Watch, add_tasks, prepare, tally
from tests.fleet.yard import Yard, build_template, build_yard
from tests.mockmodel import MockModel, Settings

from bench.measure import OUT, Line, print_table, write_json

LIMIT = 4
PATIENCE_SECONDS = 1500.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="2 tasks of 2 calls instead of 24 of 6: shows that it runs"
    )
    quick = parser.parse_args().quick
    programs = {name: program for name in ("claude", "codex") if (program := find(name)) is not None}
    if len(programs) < 2:
        print("skipped: claude and codex are not installed for tests; run `make engines`", file=sys.stderr)
        return 0
    tasks, calls = (2, 2) if quick else (24, 6)
    suffix = "-quick" if quick else ""
    settings = Settings(max_concurrent=LIMIT, latency_seconds=0.1 if quick else 1.5)
    place = tempfile.TemporaryDirectory(prefix="paddock-bench-", ignore_cleanup_errors=True)
    with place as scratch, MockModel(settings) as model:
        yard = build_yard(build_template(Path(scratch) / "template"), Path(scratch))
        try:
            prepare(yard, model, programs, most=12)
            add_tasks(yard, tasks, calls=calls, engines=tuple(programs))
            with Watch(yard, model) as watch:
                fleet = yard.start("run", "--until-idle")
                code = fleet.wait(PATIENCE_SECONDS)
            found = tally(yard, model, watch.samples)
            lines = _lines(found, yard, tasks)
        finally:
            yard.close()
    print_table("One account that bears four requests at once", lines)
    print(f"\nexit {code}; {found}")
    write_json(f"admission-real{suffix}", lines)
    series = {"tally": asdict(found), "samples": [asdict(one) for one in watch.samples]}
    (OUT / f"admission-real{suffix}-samples.json").write_text(json.dumps(series) + "\n")
    return int(code != 0 if quick else any(line.met is False for line in lines))


def _lines(found: Tally, yard: Yard, tasks: int) -> list[Line]:
    board = yard.board()
    delivered = sum(board.tasks[name].phase.value == "approval" for name in board.tasks)
    first, _, last = found.rejected_by_third
    return [
        Line("tasks delivered", delivered, "tasks", "all of them", tasks, goal=1.0, at_least=True),
        Line("attempts used up by the provider", found.counted, "attempts", goal=0.0),
        Line("most requests at once", found.most_in_flight, "requests", "the limit", LIMIT, goal=1.0),
        Line("agents once settled", found.settled_agents, "agents", "the limit", LIMIT),
        Line("requests turned away", found.rejected, "requests", "those answered", found.answered),
        Line("turned away in the last third", last, "requests", "in the first", first or None),
        Line("whole run", found.seconds, "s"),
    ]


if __name__ == "__main__":
    sys.exit(main())
