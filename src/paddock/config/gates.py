"""What can be wrong with a gate although each of its values is fine."""

from paddock.config.schema import Config
from paddock.core.errors import Misuse
from paddock.core.ids import printable
from paddock.core.wording import did_you_mean


def check_gates(config: Config, source: str) -> None:
    """Raises Misuse. A gate without a condition is no way to say `approval = "human"`: most likely a key is missing. An
    agent that does not exist would leave a gate open that somebody relies on."""
    for number, gate in enumerate(config.land.gate, 1):
        which = f"`{printable(gate.name, 40)}`" if gate.name else f"number {number}"
        if not (gate.paths or gate.kinds or gate.agents) and gate.files is None and gate.lines is None:
            raise Misuse(
                f"{source}: `land.gate`: gate {which} has no condition",
                'set `paths`, `kinds`, `agents`, `files` or `lines`; `approval = "human"` stops every change',
            )
        if unknown := [name for name in gate.agents if name not in config.agents]:
            named = printable(unknown[0], 40)
            known = f"agents: {', '.join(config.agents) or 'none'}"
            raise Misuse(
                f"{source}: `land.gate`: gate {which} names the agent `{named}`, which does not exist",
                did_you_mean(unknown[0], config.agents, known),
            )
