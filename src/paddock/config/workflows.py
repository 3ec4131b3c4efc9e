"""Workflow files: `.paddock/workflows/NAME.yaml`, and those that Paddock ships. See docs/how-to/workflows.md."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from paddock.config.acceptance import read_acceptance
from paddock.config.lined_yaml import Lined, plain, read_lined, texts_in
from paddock.config.taskfile import read_role
from paddock.core.cycles import find_cycle
from paddock.core.errors import Misuse, NotFound
from paddock.core.events import Acceptance
from paddock.core.ids import printable
from paddock.core.wording import check_name, did_you_mean, nearest, split_list
from paddock.core.workflow import ITEM, Variable, Workflow, WorkflowStep, close_up, places_in

FOLDER = ".paddock/workflows"
SHIPPED = Path(__file__).parent / "shipped"
ENDINGS = (".yaml", ".yml")
SIZE_LIMIT = 256 * 1024
STEP_LIMIT = 200
_TOP = ("description", "title", "vars", "steps")
_VARIABLE = ("default", "required", "description", "commit")
_STEP = (
    *("name", "title", "brief", "needs", "for_each", "commit", "role", "agent", "engine", "kind"),
    *("paths", "labels", "accept", "priority", "attempts"),
)
_FORM = "see docs/how-to/workflows.md"


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """`shown` is how people are told of the file. `hides`: a shipped one of the same name is not in use. `problem`
    says why there is no text."""

    name: str
    shown: str
    text: str
    shipped: bool = False
    hides: bool = False
    problem: str = ""


def list_workflows(top: Path) -> list[WorkflowFile]:
    """By name; a file of the repository's wins over one that is shipped."""
    shipped = {one.name: one for one in _files(SHIPPED, shipped=True)}
    own = {one.name: replace(one, hides=one.name in shipped) for one in _files(top / FOLDER, shipped=False)}
    return [one for _, one in sorted({**shipped, **own}.items())]


def find_workflow(top: Path, name: str) -> WorkflowFile:
    """Raises NotFound with the nearest name."""
    known = {one.name: one for one in list_workflows(top)}
    if name not in known:
        listed = f"there are {', '.join(known)}" if known else f"put one in {FOLDER}"
        raise NotFound(f"there is no workflow `{printable(name, 80)}`", did_you_mean(name, known, listed))
    return known[name]


def read_workflow_file(path: Path) -> WorkflowFile:
    """One that lies anywhere. Raises Misuse."""
    return WorkflowFile(path.stem, str(path), _read(path, str(path)))


def parse_workflow(file: WorkflowFile) -> Workflow:
    """Raises Misuse with file and line for the first thing wrong with it."""
    if file.problem:
        raise Misuse(file.problem)
    return _Parser(file.shown).workflow(file)


def _files(folder: Path, *, shipped: bool) -> Iterator[WorkflowFile]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix in ENDINGS and path.is_file())
    except OSError:
        return
    for path in paths:
        shown = f"shipped/{path.name}" if shipped else f"{FOLDER}/{path.name}"
        try:
            yield WorkflowFile(path.stem, shown, _read(path, shown), shipped)
        except Misuse as refusal:
            yield WorkflowFile(path.stem, shown, "", shipped, problem=refusal.message)


def _read(path: Path, shown: str) -> str:
    try:
        if path.stat().st_size > SIZE_LIMIT:
            raise Misuse(f"{shown} is larger than {SIZE_LIMIT:,} bytes", "make several workflows of it")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Misuse(f"{shown}: byte {error.start + 1} is not UTF-8", "save it as UTF-8") from None
    except OSError as error:
        raise Misuse(f"`{printable(shown)}` cannot be read: {error.strerror}", "name a workflow or a file") from None


class _Parser:
    def __init__(self, shown: str) -> None:
        self._shown = shown

    def workflow(self, file: WorkflowFile) -> Workflow:
        self._checked(1, lambda: check_name("workflow", file.name))
        tree = read_lined(file.text, self._shown)
        top = self._table(tree, _TOP, "a workflow")
        variables = self._variables(top.get("vars"))
        names = frozenset(one.name for one in variables)
        commits = frozenset(one.name for one in variables if one.is_commit)
        steps = self._steps(top.get("steps") or Lined(None, tree.line), names, commits)
        self._check_order(steps)
        return Workflow(
            name=file.name,
            source="shipped with Paddock" if file.shipped else file.shown,
            steps=tuple(step for step, _ in steps),
            description=self._text(top, "description") or "",
            title=self._text(top, "title", names) or "",
            variables=variables,
            shipped=file.shipped,
        )

    # -- variables ------------------------------------------------------------------------------------------------

    def _variables(self, given: Lined | None) -> tuple[Variable, ...]:
        if given is None or given.value is None:
            return ()
        if not isinstance(given.value, dict):
            self._refuse(given.line, "`vars` is not a table of names", "write `vars: {goal: {required: true}}`")
        return tuple(self._variable(name, value) for name, value in given.value.items())

    def _variable(self, name: str, value: Lined) -> Variable:
        self._checked(value.line, lambda: check_name("variable", name))
        if name == ITEM:
            self._refuse(value.line, f"`{ITEM}` is the name of what `for_each` is at", "choose another name")
        if isinstance(value.value, list):
            items = [one.value for one in value.value if isinstance(one.value, str)]
            return Variable(name, ",".join(items))
        if not isinstance(value.value, dict):
            return Variable(name, value.value or "")
        table = self._table(value, _VARIABLE, f"variable `{name}`")
        default, required = self._text(table, "default"), self._truth(table, "required")
        if required and default is not None:
            self._refuse(value.line, f"`{name}` is required and has a default", "omit one of the two")
        return Variable(
            name,
            None if required or ("default" not in table and "required" not in table) else default or "",
            self._text(table, "description") or "",
            is_commit=self._truth(table, "commit"),
        )

    # -- steps ----------------------------------------------------------------------------------------------------

    def _steps(self, given: Lined, names: frozenset[str], commits: frozenset[str]) -> list[tuple[WorkflowStep, Lined]]:
        if not isinstance(given.value, list) or not given.value:
            self._refuse(given.line, "`steps` is not a list of steps", _FORM)
        if len(given.value) > STEP_LIMIT:
            self._refuse(given.line, f"there are {len(given.value):,} steps; the limit is {STEP_LIMIT}")
        return [(self._step(one, names, commits), one) for one in given.value]

    def _step(self, given: Lined, names: frozenset[str], commits: frozenset[str]) -> WorkflowStep:
        table = self._table(given, _STEP, "a step")
        name = self._text(table, "name")
        if not name:
            self._refuse(given.line, "a step has no `name`", "other steps name it in their `needs`")
        self._checked(table["name"].line, lambda: check_name("step", name))
        for_each = self._for_each(table.get("for_each"), names)
        within = names | ({ITEM} if for_each is not None else set())
        brief = self._text(table, "brief", within)
        if not brief or not brief.strip():
            self._refuse(given.line, f"step `{name}` has no `brief`", "say in a sentence or more what to do")
        where = f"{self._shown}:{given.line}"
        role = read_role(self._text(table, "role"), f"{self._shown}:{self._line(table, 'role', given)}")
        return WorkflowStep(
            name=name,
            brief=brief,
            title=self._text(table, "title", within),
            needs=self._list(table, "needs"),
            for_each=for_each,
            commit=self._commit(table.get("commit"), commits),
            agent=self._text(table, "agent"),
            engine=self._text(table, "engine"),
            kind=self._text(table, "kind"),
            role=role,
            paths=self._list(table, "paths", within),
            labels=self._list(table, "labels"),
            accept=self._accept(table.get("accept"), within),
            priority=self._number(table, "priority") or 0,
            attempts=self._number(table, "attempts"),
            where=where,
        )

    def _for_each(self, given: Lined | None, names: frozenset[str]) -> tuple[str, ...] | str | None:
        match given.value if given is not None else None:
            case None:
                return None
            case str(text):
                assert given is not None
                inside = places_in(text)
                name = inside[0] if inside and text.strip().startswith("{{") else text.strip()
                self._check_names(given, [name], names)
                return name
            case list(items) if items and given is not None:
                return self._list({"for_each": given}, "for_each", names)
            case _:
                assert given is not None
                self._refuse(given.line, "`for_each` is neither a list nor a variable", "write `for_each: [a, b]`")

    def _accept(self, given: Lined | None, names: frozenset[str]) -> Acceptance | None:
        if given is None:
            return None
        for text in texts_in(given):
            self._check_text(text, "accept", names)
        return read_acceptance(plain(given, close_up), f"{self._shown}:{given.line}")

    def _commit(self, given: Lined | None, commits: frozenset[str]) -> str | None:
        if given is None or given.value is None:
            return None
        if given.value not in commits:
            known = (
                f"there is {', '.join(sorted(commits))}" if commits else "declare it with `commit: true` under `vars:`"
            )
            self._refuse(given.line, "`commit` does not name a variable for a commit", known)
        return str(given.value)

    def _check_order(self, steps: Sequence[tuple[WorkflowStep, Lined]]) -> None:
        """Every name once, every need there, and no step that waits for itself."""
        known: dict[str, tuple[WorkflowStep, Lined]] = {}
        for step, given in steps:
            if step.name in known:
                self._refuse(given.line, f"there are two steps `{step.name}`", "give each step its own name")
            known[step.name] = (step, given)
        for step, given in steps:
            for need in step.needs:
                if need not in known:
                    line = self._line(given.value if isinstance(given.value, dict) else {}, "needs", given)
                    hint = did_you_mean(need, known, f"the steps are {', '.join(known)}")
                    self._refuse(line, f"step `{step.name}` needs `{printable(need, 60)}`, which is no step", hint)
        if cycle := find_cycle({step.name: step.needs for step, _ in steps}):
            line = known[cycle[0]][1].line
            self._refuse(line, f"steps wait for each other: {' → '.join(cycle)}", "remove one of these needs")

    # -- values ---------------------------------------------------------------------------------------------------

    def _table(self, given: Lined, known: tuple[str, ...], what: str) -> Mapping[str, Lined]:
        if not isinstance(given.value, dict):
            self._refuse(given.line, f"{what} is not a table of {', '.join(known)}", _FORM)
        for name, value in given.value.items():
            if name not in known:
                near = nearest(name, known, 0.5)
                hint = f"did you mean `{near}`?" if near else f"{what} has {', '.join(known)}"
                self._refuse(value.line, f"unknown key `{printable(name, 60)}`", hint)
        return given.value

    def _text(self, table: Mapping[str, Lined], key: str, names: frozenset[str] | None = None) -> str | None:
        """With `names`, the variables that may stand in it; without, none may."""
        given = table.get(key)
        if given is None or given.value is None:
            return None
        if not isinstance(given.value, str):
            self._refuse(given.line, f"`{key}` is not text", "put it in quotes")
        self._check_text(given, key, names)
        return given.value

    def _list(self, table: Mapping[str, Lined], key: str, names: frozenset[str] | None = None) -> tuple[str, ...]:
        given = table.get(key)
        if given is None or given.value is None:
            return ()
        if isinstance(given.value, str):
            self._check_text(given, key, names)
            return split_list(given.value)
        if isinstance(given.value, list) and all(isinstance(one.value, str) for one in given.value):
            for one in given.value:
                self._check_text(one, key, names)
            return tuple(dict.fromkeys(str(one.value) for one in given.value))
        self._refuse(given.line, f"`{key}` is not a list of strings", f"write it as `{key}: [a, b]`")

    def _check_text(self, given: Lined, key: str, names: frozenset[str] | None) -> None:
        found = places_in(given.value) if isinstance(given.value, str) else []
        if found and names is None:
            self._refuse(given.line, f"`{key}` cannot have a variable in it", _FORM)
        self._check_names(given, found, names or frozenset())

    def _check_names(self, given: Lined, found: Sequence[str], names: frozenset[str]) -> None:
        text = given.value if isinstance(given.value, str) else ""
        for name in found:
            if name not in names:
                at = text.find(name)
                line = given.text_line + text.count("\n", 0, at) if given.text_line and at >= 0 else given.line
                known = f"it has {', '.join(sorted(names))}" if names else "declare it under `vars:`"
                hint = did_you_mean(name, names, known)
                self._refuse(line, f"there is no variable `{printable(name, 60)}`", hint)

    def _number(self, table: Mapping[str, Lined], key: str) -> int | None:
        given = table.get(key)
        if given is None or given.value is None:
            return None
        text = given.value
        if not isinstance(text, str) or not text.removeprefix("-").isdecimal() or len(text) > 9:
            self._refuse(given.line, f"`{key}` is not a whole number", f"write it as `{key}: 2`")
        return int(text)

    def _truth(self, table: Mapping[str, Lined], key: str) -> bool:
        given = table.get(key)
        if given is None or given.value is None:
            return False
        if given.value not in ("true", "false"):
            self._refuse(given.line, f"`{key}` is neither true nor false")
        return given.value == "true"

    def _line(self, table: Mapping[str, Lined], key: str, otherwise: Lined) -> int:
        return table[key].line if key in table else otherwise.line

    def _checked(self, line: int, check: Callable[[], None]) -> None:
        try:
            check()
        except Misuse as refusal:
            raise Misuse(f"{self._shown}:{line}: {refusal.message}", refusal.hint) from None

    def _refuse(self, line: int, problem: str, hint: str | None = None) -> NoReturn:
        raise Misuse(f"{self._shown}:{line}: {problem}", hint)
