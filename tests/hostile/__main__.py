"""`python -m tests.hostile [NAME…]`: plays attacks and says which promises each breaks, at which level.

With `--record` what was seen replaces what `results.json` says of the attacks that were played.
Where some that share a yard break anything, each is played again in a yard of its own.
"""

import argparse
import fnmatch
import json
import sys
import tempfile
import time
from pathlib import Path

from paddock.core.fence import Level
from tests.fleet.yard import build_template
from tests.hostile import siege
from tests.hostile.arsenal import ALL
from tests.hostile.attack import Attack, Kind, Promise, is_as_said
from tests.hostile.ground import build_ground
from tests.hostile.holes import hole_of
from tests.hostile.levels import available_levels
from tests.hostile.promises import broken_promises
from tests.hostile.results import is_missing, read_results, with_result, write_results

Broken = dict[Promise, list[str]]


def main() -> int:
    options = _options()
    siege.PATIENCE_SECONDS = options.patience
    unexpected = 0
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        template = build_template(Path(place) / "template")
        for level in map(Level, options.level or available_levels()):
            part, parts = map(int, options.part.split("/"))
            for group in _groups(_wanted(options, level), level, options)[part - 1 :: parts]:
                unexpected += not _play(template, Path(place), group, level, options)
    return int(unexpected > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("names", nargs="*", default=["*"], help="names of attacks, or patterns of names")
    parser.add_argument("--kind", action="append", choices=[kind.value for kind in Kind])
    parser.add_argument("--level", action="append", choices=[level.value for level in Level])
    parser.add_argument("--missing", action="store_true", help="only those without a result at the level")
    parser.add_argument("--part", default="1/1", help="every second one of two parts: 1/2")
    parser.add_argument("--together", type=int, default=1, help="how many share a yard, where that is possible")
    parser.add_argument("--crowded", action="store_true", help="also those whose neighbours would be blamed")
    parser.add_argument("--record", action="store_true", help="keep what was seen, for the table of docs/security.md")
    parser.add_argument("--details", type=Path, help="a file that gets one JSON object per yard")
    parser.add_argument("--patience", type=float, default=siege.PATIENCE_SECONDS, help="seconds to wait for anything")
    parser.add_argument("--place", default="/dev/shm" if Path("/dev/shm").is_dir() else None)
    return parser.parse_args()


def _wanted(options: argparse.Namespace, level: Level) -> list[Attack]:
    results = read_results()
    return [
        attack
        for attack in ALL
        if any(fnmatch.fnmatch(attack.name, name) for name in options.names)
        and (not options.kind or attack.kind in options.kind)
        and (is_missing(results, attack, level) if options.missing else attack.plays_at(level))
    ]


def _groups(attacks: list[Attack], level: Level, options: argparse.Namespace) -> list[list[Attack]]:
    together = options.together
    quiet = [a for a in attacks if a.shares_a_yard(level, crowded=options.crowded) and not hole_of(a, level)]
    shared = quiet if together > 1 else []
    groups = [shared[number : number + together] for number in range(0, len(shared), together)]
    return [*groups, *([attack] for attack in attacks if attack not in shared)]


def _play(template: Path, place: Path, group: list[Attack], level: Level, options: argparse.Namespace) -> bool:
    began = time.monotonic()
    broken = _play_in_a_yard(template, place, group, level)
    as_said = is_as_said(group[0], level, set(broken))
    _tell(group, level, broken, time.monotonic() - began)
    if options.details is not None:
        names = " ".join(attack.name for attack in group)
        told = {promise.name: complaints for promise, complaints in broken.items()}
        with options.details.open("a") as file:
            file.write(json.dumps({"attack": names, "level": level.value, "ok": as_said, "broken": told}) + "\n")
    if options.record and broken and len(group) > 1:
        return not sum(not _play(template, place, [attack], level, options) for attack in group)
    if options.record:
        results = read_results()
        for attack in group:
            results = with_result(results, attack, level, broken)
        write_results(results, ALL)
    return as_said


def _play_in_a_yard(template: Path, place: Path, group: list[Attack], level: Level) -> Broken:
    with tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as folder:
        ground = build_ground(template, Path(folder), level, group[0].remote)
        try:
            return broken_promises(siege.besiege(ground, group))
        finally:
            ground.close()


def _tell(group: list[Attack], level: Level, broken: Broken, seconds: float) -> None:
    as_said = is_as_said(group[0], level, set(broken))
    names = " ".join(attack.name for attack in group)
    words = ", ".join(promise.name for promise in broken) or "nothing"
    expected = ", ".join(promise.name for promise in group[0].gaps_at(level)) or "nothing"
    said = "" if as_said else f"  (expected {expected})"
    print(f"{'ok  ' if as_said else 'HOLE'} {level.value:14} {names:28} {seconds:5.1f}s {words}{said}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
