"""docs/reference/python.md: the methods of `paddock.Fleet` and what they return, from the code."""

import inspect
import re
from collections.abc import Iterator

import msgspec

from paddock.api import results
from paddock.api.fleet import Fleet
from paddock.api.planning import Planning
from paddock.core.tasks.awaited import Until

RESULTS = (results.Queued, results.LoggedEvent)
INTRO = """\
`paddock.Fleet` is the fleet of one repository, for Python programs. Each method does what the command of the same name
does, through the same requests; it prints nothing, and raises `paddock.PaddockError`, which has a `message` and often a
`hint`. Inside an attempt it has the rights of that attempt's agent
([what that is](../how-to/agents-and-engines.md#what-an-agent-may-ask-of-paddock)). Methods, parameters and fields are
only ever added.

```python
from paddock import Fleet, PaddockError

with Fleet("~/src/app") as fleet:
    task = fleet.add("Fix the parser", paths=["src/parse/**"])
    fleet.up()
    [done] = fleet.wait(task)
    if done.phase == "approval":
        print(fleet.diff(task))
        fleet.land(task, head=done.head)
        fleet.wait(task, until="finished")
    elif done.reason.startswith("asks: "):
        fleet.message(task, "The second one.")
```"""


def lines(made: str) -> Iterator[str]:
    yield from ("# Python", "", made, "", INTRO, "", "## `paddock.Fleet`", "")
    yield from (_words(Fleet), "")
    yield from (f"```python\n{_signature('Fleet', Fleet.__init__)}\n```", "")
    for name, method in _methods():
        yield from (f"### `{name}`", "", f"```python\n{_signature(name, method)}\n```", "")
        words = _words(method)
        yield from (words, "") if words else ()
    yield from ("## What to wait for", "", _words(Until), "")
    yield from ("## What they return", "")
    yield "Views such as `TaskView` and `FindingView` have the fields that the command prints with `--json`"
    yield "([contracts](../contracts.md#json)), as attributes. The others:"
    for kind in RESULTS:
        yield from ("", f"### `{kind.__name__}`", "", _words(kind), "", "| field | type |", "|---|---|")
        for field in msgspec.structs.fields(kind):
            yield f"| `{field.name}` | `{_type(kind.__annotations__[field.name])}` |".replace(" | None", " \\| None")


def _methods() -> Iterator[tuple[str, object]]:
    for name, method in {**vars(Fleet), **vars(Planning)}.items():
        if not name.startswith("_") and inspect.isfunction(method):
            yield name, method


def _signature(name: str, method: object) -> str:
    assert callable(method)
    shown = inspect.signature(method)
    kept = [one for key, one in shown.parameters.items() if key != "self"]
    text = str(shown.replace(parameters=kept))
    return f"{name}{_type(text).removesuffix(' -> None') if name == 'Fleet' else _type(text)}"


def _type(hint: object) -> str:
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    return re.sub(r"\b(?:[a-z_]+\.)+([A-Z]\w*)", r"\1", text)


def _words(thing: object) -> str:
    """Without the lines that are only for who reads the code."""
    return " ".join((inspect.getdoc(thing) or "").split())
