"""Whether a plan can become tasks here: every sentence says where in the JSON, what is wrong, and what is allowed."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from paddock.core.cycles import find_cycle
from paddock.core.errors import Misuse
from paddock.core.events import Acceptance
from paddock.core.ids import is_task, printable, some_names
from paddock.core.intent.acceptance import check_acceptance
from paddock.core.leases.globs import matches_path
from paddock.core.plan.plan import MOST_TASKS, Plan, PlanLimits, PlannedTask, Size
from paddock.core.wording import check_brief, check_known, check_labels, check_name, check_title, nearest

PATH_CHARS = 200
ALL_PATHS_EFFORT = 25_000
"""Of the whole plan: each pair of paths is compared, which then takes two seconds at most."""
MOST_ALTERNATIVES, MOST_WILDCARDS = 8, 6

_COMMAND = 'a command is a list of words, such as ["pytest", "-q"]'
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_STARS = re.compile(r"[*?]+")
_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<place>[^`]*)`)?$", re.DOTALL)
_TYPES = {"str": "text", "array": "a list", "object": "an object", "int": "a number", "float": "a number"}
_TYPE = re.compile(r"`(str|array|object|int|float)(?P<null> \| null)?`")


def check_plan(raw: Mapping[str, Any], limits: PlanLimits) -> Plan | list[str]:
    """The plan, or everything that is wrong with it: never an empty list."""
    tasks = raw.get("tasks")
    most = min(limits.max_tasks, MOST_TASKS)
    if isinstance(tasks, list) and len(tasks) > most:
        return [f"tasks: there are {len(tasks):,}; at most {most} are allowed: plan larger pieces, or less"]
    if not isinstance(tasks, list) or not tasks:
        return ["tasks: this must be a list of at least one task", *_check_rest(raw)]
    problems = _check_rest(raw)
    found: dict[int, PlannedTask] = {}
    for index, entry in enumerate(tasks):
        place = f"tasks[{index}]"
        task = _convert(entry, place)
        if isinstance(task, PlannedTask):
            found[index] = task
            problems += _check_task(task, place, limits)
            problems += _unknown_in_acceptance(entry, place)
        else:
            problems.append(task)
    problems += _check_keys(found)
    whole = tuple(found.values())
    if len(whole) == len(tasks):
        problems += _check_order(whole, limits)
        problems += _check_extent(whole)
    return problems or msgspec.structs.replace(_rest_of(raw), tasks=whole)


def _rest_of(raw: Mapping[str, Any]) -> Plan:
    """Everything but its tasks, of which one is needed. Raises msgspec.ValidationError."""
    example = {"key": "k", "title": "t", "brief": "b"}
    return msgspec.convert({**raw, "tasks": [example]}, Plan)


def _check_rest(raw: Mapping[str, Any]) -> list[str]:
    try:
        plan = _rest_of(raw)
    except msgspec.ValidationError as error:
        return [_worded(error, "", Plan)]
    problems = list(_complaints("convoy", lambda: check_name("convoy", plan.convoy)))
    if plan.title:
        problems += _complaints("title", lambda: check_title(plan.title))
    problems += _check_text(plan.notes, "notes")
    for index, risk in enumerate(plan.risks):
        problems += _check_text(risk, f"risks[{index}]")
    return problems


def _convert(entry: object, place: str) -> PlannedTask | str:
    """The task, or what is wrong with its form."""
    try:
        return msgspec.convert(entry, PlannedTask)
    except msgspec.ValidationError as error:
        return _worded(error, place, PlannedTask)


def _worded(error: msgspec.ValidationError, place: str, kind: type[msgspec.Struct]) -> str:
    """What msgspec says, in the words and with the places of these sentences."""
    match = _PLACE.match(str(error))
    what, below = (match["what"], match["place"] or "") if match else (str(error), "")
    where = f"{place}{below}".lstrip(".")
    what = _TYPE.sub(lambda one: _TYPES[one[1]] + (" or null" if one["null"] else ""), what)
    what = what[:1].lower() + what[1:]
    if "unknown field" in what and not below:
        what += f"; allowed are {', '.join(kind.__struct_encode_fields__)}"
    elif below == ".size":
        what += f"; allowed are {', '.join(Size)}"
    elif below.startswith(".accept.commands"):
        what += f"; {_COMMAND}"
    return f"{where}: {printable(what, 300)}" if where else printable(what, 300)


def _check_task(task: PlannedTask, place: str, limits: PlanLimits) -> Iterator[str]:
    yield from _complaints(f"{place}.key", lambda: check_name("key", task.key))
    if is_task(task.key):
        yield f"{place}.key: `{task.key}` looks like the id of an existing task; use a word"
    yield from _complaints(f"{place}.title", lambda: check_title(task.title))
    yield from _complaints(f"{place}.brief", lambda: check_brief(task.brief, "the brief"))
    yield from _check_text(task.brief, f"{place}.brief")
    if (agent := task.agent) is not None:
        yield from _check_agent(agent, f"{place}.agent", limits.agents)
    if (kind := task.kind) is not None:
        yield from _complaints(f"{place}.kind", lambda: check_name("kind", kind))
        if limits.kinds:
            yield from _complaints(f"{place}.kind", lambda: check_known("kind", kind, limits.kinds))
    yield from _complaints(f"{place}.labels", lambda: check_labels(task.labels))
    yield from _check_paths(task.paths, f"{place}.paths", limits.fence)
    if (accept := task.accept) is not None:
        yield from _complaints(f"{place}.accept", lambda: check_acceptance(accept))
        if not accept.commands:
            yield f"{place}.accept.commands: name at least one; {_COMMAND}"


def _check_agent(agent: str, place: str, known: Collection[str]) -> Iterator[str]:
    if not known:
        yield f"{place}: there are no agents here; omit it"
    else:
        yield from _complaints(place, lambda: check_known("agent", agent, known))


def _check_text(text: str, place: str) -> Iterator[str]:
    if (match := _CONTROLS.search(text)) is not None:
        yield f"{place}: there is a control character U+{ord(match[0]):04X} at character {match.start() + 1}; omit it"


def _check_paths(paths: Sequence[str], place: str, fence: Sequence[str]) -> Iterator[str]:
    for index, path in enumerate(paths):
        where = f"{place}[{index}]"
        problem = _wrong_with(path)
        if problem:
            yield f"{where}: `{printable(path, 80)}` {problem}"
        elif fence and not is_inside(path, fence):
            yield f"{where}: `{printable(path, 80)}` is outside of what may be planned: {some_names(tuple(fence))}"
    if fence and not paths:
        yield f"{place}: name at least one path inside of {some_names(tuple(fence))}"


def _wrong_with(path: str) -> str:
    """Empty if it is a glob of paths inside the repository."""
    parts = [part.lower() for part in path.split("/")]
    if not path.strip() or not path.isprintable() or len(path) > PATH_CHARS:
        return f"is not a path of 1 to {PATH_CHARS} printable characters"
    if path.startswith(("/", "~")) or (path[1:2] == ":" and path[:1].isalpha()):
        return "is absolute; paths are relative to the top of the repository"
    if ".." in parts:
        return "has `..` in it; paths stay inside the repository"
    if ".git" in parts:
        return "is inside of git's own directory, which no task may change"
    if path.count("{") > 1 or path.count(",") >= MOST_ALTERNATIVES:
        return "has too many alternatives; write them as several paths"
    if len(_STARS.findall(path)) + path.count("[") > MOST_WILDCARDS:
        return f"has more than {MOST_WILDCARDS} wildcards; use a simpler glob"
    return ""


def is_inside(path: str, fence: Sequence[str]) -> bool:
    """Whether what the glob `path` matches is certainly inside of one of the globs of `fence`.

    Decided by examples of what it matches, at several depths; alternatives and classes count as letters.
    """
    return any(all(matches_path(glob, example) for example in _examples(path)) for glob in fence)


def _examples(path: str) -> list[str]:
    shallow = path.replace("**", "*").replace("*", "qz").replace("?", "q")
    deep = path.replace("**", "qz/qz/qz").replace("*", "qz").replace("?", "q")
    return [shallow, deep] if path.rsplit("/", 1)[-1] != "**" else [shallow, deep, f"{deep}/qz"]


def _unknown_in_acceptance(entry: object, place: str) -> Iterator[str]:
    """The struct is of the log, which overlooks what it does not know; a plan does not."""
    accept = entry.get("accept") if isinstance(entry, dict) else None
    if not isinstance(accept, dict):
        return
    known = Acceptance.__struct_encode_fields__
    if strange := [name for name in accept if name not in known]:
        yield f"{place}.accept: it has no field `{printable(str(strange[0]), 40)}`; allowed are {', '.join(known)}"


def _check_keys(tasks: Mapping[int, PlannedTask]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for index, task in tasks.items():
        first = seen.setdefault(task.key, index)
        if first != index:
            yield f"tasks[{index}].key: `{printable(task.key, 40)}` is the key of tasks[{first}] too; give each its own"


def _check_order(tasks: Sequence[PlannedTask], limits: PlanLimits) -> Iterator[str]:
    keys = {task.key for task in tasks}
    for index, task in enumerate(tasks):
        for name in task.after:
            if name not in keys and name not in limits.tasks:
                near = nearest(name, keys)
                hint = f"did you mean `{near}`?" if near else "`after` names keys of this plan or tasks that exist"
                yield f"tasks[{index}].after: there is no task `{printable(name, 80)}`; {hint}"
    if cycle := find_cycle({task.key: tuple(name for name in task.after if name in keys) for task in tasks}):
        yield f"tasks: they wait for each other: {' → '.join(printable(key, 40) for key in cycle)}; remove one `after`"


def _check_extent(tasks: Sequence[PlannedTask]) -> Iterator[str]:
    """To compare a path takes as long as it has characters, times its wildcards and alternatives."""
    paths = [path for task in tasks for path in task.paths]
    if sum(len(path) * (1 + path.count(",") + len(_STARS.findall(path))) for path in paths) > ALL_PATHS_EFFORT:
        yield f"tasks: their {len(paths)} paths are too many or too long to compare; name folders, as in `src/api/**`"


def _complaints(place: str, check: Callable[[], None]) -> Iterator[str]:
    try:
        check()
    except Misuse as refusal:
        yield f"{place}: {refusal.message}" + (f"; {refusal.hint}" if refusal.hint else "")
