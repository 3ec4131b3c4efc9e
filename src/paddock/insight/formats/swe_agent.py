"""SWE-agent and mini-SWE-agent: trajectories as they write them, and collections of such."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from paddock.core.trace import clip
from paddock.engines.jsonline import Node
from paddock.insight.formats.assembly import RunAssembly
from paddock.insight.formats.failed_output import says_failed
from paddock.insight.formats.reader import NotARun, Record
from paddock.insight.formats.usage_words import read_usage
from paddock.insight.formats.words import read_end_state, read_result, read_time
from paddock.insight.trace import CostSource, Result, StepStatus, Trace

ENGINE = "swe-agent"
MINI = "mini-swe-agent"
_TEXT_CHARS = 16_000
_STEPS = ("trajectory", "steps", "history")
_FENCED = re.compile(r"```(?:bash|sh|mswea_bash_command)?\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"<returncode>\s*(-?\d{1,9})\s*</returncode>")
_SUFFIXES = (".gz", ".json", ".jsonl", ".traj")


def looks_like_swe_agent(record: Record) -> bool:
    if looks_mini(record) or _broke_off(record):
        return True
    return any(_is_step(first) for name in _STEPS if (first := _first(record.get(name))) is not None)


def _broke_off(record: Record) -> bool:
    """Before its first step."""
    return record.get("trajectory") == [] and isinstance(record.get("info"), dict)


def looks_mini(record: Record) -> bool:
    if str(record.get("trajectory_format", "")).startswith("mini-swe-agent"):
        return True
    info = record.get("info")
    return isinstance(info, dict) and "mini_version" in info and isinstance(record.get("messages"), list)


def _first(value: object) -> Mapping[str, object] | None:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], dict) else None


def _is_step(step: Mapping[str, object]) -> bool:
    return isinstance(step.get("action"), str) and ("observation" in step or "thought" in step)


class SweAgentReader:
    """A trajectory a record. The task is named by the record, or else by its file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def take(self, record: Record, number: int) -> Iterator[Trace]:
        yield read_trajectory(record, self._name)

    def close(self) -> Iterator[Trace]:
        return iter(())


def read_trajectory(record: Record, name: str) -> Trace:
    node = Node(record)
    info = node.at("info") if isinstance(record.get("info"), dict) else node
    is_mini = looks_mini(record)
    named = _without_suffixes(name)
    task = node.word("instance_id") or info.word("instance_id") or node.word("task_id") or named
    group, own = node.word("run"), node.word("id") or node.word("run_id")
    run = RunAssembly(
        engine=MINI if is_mini else ENGINE,
        run=own or (f"{group}/{task}" if group else task),
        task=task,
        model=_model(node, info),
    )
    run.engine_version = info.word("mini_version") or info.word("swe_agent_version")
    if is_mini:
        _take_messages(run, node)
    else:
        _take_steps(run, record)
    _take_info(run, info)
    run.outcome = read_result(_told(node, info, ("resolved", "is_resolved", "success"))) or Result.UNKNOWN
    run.attributes.update({key: value for key in ("environment",) if (value := node.word(key))})
    told = run.told_usage is not None or run.outcome is not Result.UNKNOWN or run.end_state is not None
    is_told = any(isinstance(record.get(name), list) for name in (*_STEPS, "messages"))
    if not told and not _broke_off(record) and (run.is_empty or not is_told):
        raise NotARun("has no steps")
    return _labelled(run.finish(), group, run)


def _labelled(trace: Trace, group: str, run: RunAssembly) -> Trace:
    from msgspec.structs import replace

    calls = run.attributes.get("api_calls")
    count = calls if isinstance(calls, int) else trace.model_calls
    spoke = trace.model_spoke or bool(count) or (trace.usage is not None and trace.usage.output > 0)
    source = CostSource.TOLD if trace.usage is not None and trace.usage.cost_usd is not None else CostSource.UNKNOWN
    return replace(trace, label=group, model_calls=count, model_spoke=spoke, cost_source=source)


def _without_suffixes(name: str) -> str:
    path = PurePath(name)
    while path.suffix in _SUFFIXES:
        path = path.with_suffix("")
    return path.name


def _told(node: Node, info: Node, names: tuple[str, ...]) -> object:
    return next((value for at in (node, info) for name in names if (value := at.at(name).value) is not None), None)


def _model(node: Node, info: Node) -> str:
    places = (node.at("replay_config", "agent", "model", "name"), info.at("config", "model", "model_name"))
    named = next((place.value for place in places if isinstance(place.value, str)), "")
    return named or node.word("model") or node.word("model_name") or info.word("model")


def _take_info(run: RunAssembly, info: Node) -> None:
    stats = info.at("model_stats").value
    if isinstance(stats, dict):
        told = read_usage({name: value for name, value in stats.items() if name != "total_cost"})
        if told.tokens is not None:
            run.told_usage = told.tokens
        run.told_cost = told.cost_usd
        if calls := Node(stats).count("api_calls"):
            run.attributes["api_calls"] = calls
    status = info.text("exit_status", limit=200)
    run.end_state = read_end_state(status)
    if status:
        run.attributes["exit_status"] = status
    for name in ("exception", "error", "traceback"):
        run.error = run.error or info.text(name, limit=_TEXT_CHARS)


def _take_steps(run: RunAssembly, record: Record) -> None:
    steps = next((value for name in _STEPS if isinstance(value := record.get(name), list)), [])
    for number, step in enumerate(steps):
        if isinstance(step, dict):
            _take_step(run, Node(step), str(number))


def _take_step(run: RunAssembly, step: Node, call: str) -> None:
    action = step.text("action", limit=_TEXT_CHARS)
    at = read_time(step.at("timestamp").value)
    run.hear(at)
    if not action.strip():
        run.say(step.text("thought", limit=_TEXT_CHARS) or step.text("response", limit=_TEXT_CHARS))
        return
    run.call_tool(call, "bash", action, at)
    output = step.text("observation", limit=_TEXT_CHARS)
    code = step.whole("returncode") if step.has("returncode") else step.whole("exit_code")
    _end_step(run, call, output, code, step.number("execution_time"))


def _end_step(run: RunAssembly, call: str, output: str, code: int | None, seconds: float | None) -> None:
    failed = code != 0 if code is not None else says_failed(output)
    status = StepStatus.ERROR if failed else StepStatus.OK
    run.end_tool(call, status, output, exit_code=code, seconds=seconds)


def _take_messages(run: RunAssembly, node: Node) -> None:
    """Of mini-SWE-agent: an answer has one command in it, what follows has its output."""
    call = 0
    for message in node.items("messages"):
        text = message.text("content", limit=_TEXT_CHARS * 4)
        at = read_time(message.at("timestamp").value or message.at("extra", "timestamp").value)
        run.hear(at)
        if message.text("role") == "assistant":
            usage = message.at("extra", "response", "usage").value
            tokens = read_usage(usage).tokens if isinstance(usage, dict) else None
            run.answer(message.word("extra", "response", "id"), tokens, model=run.model, at=at)
            commands = [one.text("command", limit=_TEXT_CHARS) for one in message.items("extra", "actions")]
            commands = [one for one in commands if one] or _FENCED.findall(text)[:1]
            for command in commands:
                call += 1
                run.call_tool(str(call), "bash", clip(command, _TEXT_CHARS), at)
            if not commands:
                run.say(text)
        elif call and (code := _RETURN_CODE.search(text[:2000])) is not None:
            _end_step(run, str(call), text, int(code[1]), None)
