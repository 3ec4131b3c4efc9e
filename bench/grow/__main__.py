"""How Paddock grows: the log in PostgreSQL, agents and CI on Ray nodes, a thousand agents at once.

    python -m bench grow [--quick]

Runs every part after the other; each can be run alone, as `python -m bench.grow.nodes`. Prints tables and writes
bench/out/grow*.json. `--quick` takes a few of everything, on one small cluster, and says nothing about goals.
"""

import sys

from bench.grow import landing, log, nodes, thousand
from bench.grow.fleet import open_cluster, open_place


def main() -> int:
    log.main()
    if "--quick" in sys.argv[1:]:
        with open_place() as place, open_cluster(place, [2]) as cluster:
            parts = [part.measure(place, quick=True, given=cluster) for part in (nodes, thousand, landing)]
    else:
        with open_place() as place:
            parts = [part.measure(place, quick=False) for part in (nodes, thousand, landing)]
    return 0 if all(parts) else 1


if __name__ == "__main__":
    sys.exit(main())
