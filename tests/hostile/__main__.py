"""`python -m tests.hostile [NAME…]`: plays attacks one by one and says which promises each breaks, at which level."""

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
from tests.hostile.attack import Attack, is_as_said
from tests.hostile.ground import build_ground
from tests.hostile.levels import available_levels
from tests.hostile.promises import broken_promises


def main() -> int:
    options = _options()
    siege.PATIENCE_SECONDS = options.patience
    wanted = [attack for attack in ALL if any(fnmatch.fnmatch(attack.name, name) for name in options.names)]
    part, parts = map(int, options.part.split("/"))
    unexpected = 0
    with tempfile.TemporaryDirectory(dir=options.place) as place:
        template = build_template(Path(place) / "template")
        for level in map(Level, options.level or available_levels()):
            for group in _groups([attack for attack in wanted if attack.plays_at(level)], level, options.together)[
                part - 1 :: parts
            ]:
                unexpected += not _play(template, Path(place), group, level, options.details)
    return int(unexpected > 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("names", nargs="*", default=["*"], help="names of attacks, or patterns of names")
    parser.add_argument("--level", action="append", choices=[level.value for level in Level])
    parser.add_argument("--part", default="1/1", help="every second one of two parts: 1/2")
    parser.add_argument("--together", type=int, default=1, help="how many share a yard, where that is possible")
    parser.add_argument("--details", type=Path, help="a file that gets one JSON object per yard")
    parser.add_argument("--patience", type=float, default=siege.PATIENCE_SECONDS, help="seconds to wait for anything")
    parser.add_argument("--place", default="/dev/shm" if Path("/dev/shm").is_dir() else None)
    return parser.parse_args()


def _groups(attacks: list[Attack], level: Level, together: int) -> list[list[Attack]]:
    shared = [attack for attack in attacks if together > 1 and attack.shares_a_yard(level)]
    groups = [shared[number : number + together] for number in range(0, len(shared), together)]
    return [*groups, *([attack] for attack in attacks if attack not in shared)]


def _play(template: Path, place: Path, group: list[Attack], level: Level, details: Path | None) -> bool:
    began = time.monotonic()
    folder = place / f"{group[0].name}-{level.value}"
    folder.mkdir()
    ground = build_ground(template, folder, level, group[0].remote)
    try:
        broken = broken_promises(siege.besiege(ground, group))
    finally:
        ground.close()
    expected = group[0].gaps_at(level)
    as_said = is_as_said(group[0], level, set(broken))
    names = " ".join(attack.name for attack in group)
    words = ", ".join(promise.name for promise in broken) or "nothing"
    said = "" if as_said else f"  (expected {', '.join(promise.name for promise in expected) or 'nothing'})"
    mark, seconds = "ok  " if as_said else "HOLE", time.monotonic() - began
    print(f"{mark} {level.value:14} {names:28} {seconds:5.1f}s {words}{said}", flush=True)
    if details is not None:
        told = {promise.name: complaints for promise, complaints in broken.items()}
        with details.open("a") as file:
            file.write(json.dumps({"attack": names, "level": level.value, "ok": as_said, "broken": told}) + "\n")
    return as_said


if __name__ == "__main__":
    sys.exit(main())
