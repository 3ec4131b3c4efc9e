"""The highest numbers given so far, so that none is given twice, not even by a log that has lost its end.

One number of each sort is enough: whatever counts on from the highest of all its sort meets nothing that was there.
"""

import msgspec


class Given(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """`attempts` is the highest of any task, `versions` of any change, `generations` of any lease."""

    tasks: int = 0
    attempts: int = 0
    runs: int = 0
    versions: int = 0
    generations: int = 0
    findings: int = 0

    def raised(self, other: "Given") -> "Given":
        """The higher of both, sort by sort."""
        return Given(
            max(self.tasks, other.tasks),
            max(self.attempts, other.attempts),
            max(self.runs, other.runs),
            max(self.versions, other.versions),
            max(self.generations, other.generations),
            max(self.findings, other.findings),
        )
