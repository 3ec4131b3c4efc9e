"""What an attack is: a shell script that an agent runs, and which promises hold at each level of the fence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from paddock.core.fence import Level


class Kind(StrEnum):
    """What an attack reaches for."""

    GIT = "git"
    FILES = "files"
    PROCESSES = "processes"
    PADDOCK = "paddock"
    LOG = "log"
    LANDING = "landing"
    CI = "ci"
    OUTPUT = "output"
    RESOURCES = "resources"
    SECRETS = "secrets"
    TALK = "talk"


class Promise(StrEnum):
    """What must stay true, in the words of the table in docs/security.md."""

    MAIN = "main was only ever at commits that had passed"
    HELD = "what a person must see does not land by itself"
    TREE = "your files, your index and your uncommitted work are as they were"
    REFS = "your refs, configuration, hooks and attributes are as they were"
    LOG = "the log only grows"
    OTHERS = "the other tasks land what they made"
    SECRETS = "no secret gets out"
    NETWORK = "nothing is sent over the network"
    PLANTED = "nothing that was planted runs outside the attempt"
    PROCESSES = "no process of an attempt outlives it"
    DAEMON = "the daemon keeps running"
    RECORDS = "few records tell of it"
    SCREEN = "`paddock status` answers, and prints no escape sequence"
    NAMED = "a loss that no level prevents is named by the next command"
    SETTLED = "every attempt ends, and disk use stays bounded"


Gaps = Mapping[Level, frozenset[Promise]]


def unfenced(*promises: Promise) -> Gaps:
    """What an agent with the user's own rights can break wherever no fence is up."""
    return {Level.NONE: frozenset(promises)}


def without_network_fence(*promises: Promise) -> Gaps:
    return {Level.NONE: frozenset(promises), Level.FILES: frozenset(promises)}


@dataclass(frozen=True, slots=True)
class Attack:
    """`script` is run by bash in the attempt's worktree, after a prelude that names the paths of the yard.

    `gaps` are the promises that a level may not keep; an attack that breaks none of them no longer has a gap there.
    `never_lands`: what it delivers must wait for a person.
    `person` are commands that a person then runs, before the good tasks are looked at.
    One that `hangs` says so, and a person stops it. `settings` are environment of the daemon. With `page`, the person
    has the page open: `paddock web` is running. `fields` are more of its task: a role, what must pass.
    """

    name: str
    kind: Kind
    what: str
    script: str
    gaps: Gaps = field(default_factory=dict)
    never_lands: bool = False
    person: tuple[tuple[str, ...], ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, object] = field(default_factory=dict)
    remote: bool = False
    hangs: bool = False
    page: bool = False
    engine: str = "sh"
    alone: bool = False
    """Where no fence is up, what it does would be blamed on its neighbours in a shared yard."""

    def plays_at(self, level: Level) -> bool:
        """An engine with a model is not for a fence without a network."""
        return level is not Level.FILES_AND_NETWORK or self.engine != "json"

    def shares_a_yard(self, level: Level, *, crowded: bool = False) -> bool:
        """Whether it may be played beside others: it breaks nothing, so nobody has to ask whose fault it was.

        In a crowded yard somebody does ask, by playing each of them again.
        """
        apart = self.remote or self.hangs or self.settings or (self.alone and level is Level.NONE and not crowded)
        return self.plays_at(level) and not apart and not self.gaps_at(level)

    def gaps_at(self, level: Level) -> frozenset[Promise]:
        return self.gaps.get(level, frozenset())


def is_as_said(attack: Attack, level: Level, broken: set[Promise]) -> bool:
    """What breaks is among the gaps, and something does where there are any."""
    gaps = attack.gaps_at(level)
    return broken <= gaps and bool(broken) == bool(gaps)
