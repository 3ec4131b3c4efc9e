"""A planner's answer: its plan, or what to tell it when it is asked again."""

from paddock.core.answers import ANSWER_CHARS, Unusable
from paddock.core.embedded_json import NoJson, find_object
from paddock.core.plan.checks import check_plan
from paddock.core.plan.plan import Plan, PlanLimits

MOST_PROBLEMS = 20


def read_plan(text: str, limits: PlanLimits) -> Plan | Unusable:
    """Whatever surrounds the JSON does not count, everything in it does. Raises nothing."""
    if not text.strip():
        return Unusable("it is empty; it must be one JSON object")
    if len(text) > ANSWER_CHARS:
        return Unusable(f"it has {len(text):,} characters; at most {ANSWER_CHARS:,} are allowed")
    try:
        found = check_plan(find_object(text, "tasks"), limits)
    except NoJson as problem:
        return Unusable(listed([str(problem)]))
    return found if isinstance(found, Plan) else Unusable(listed(found))


def listed(problems: list[str]) -> str:
    """In one line, and not more than somebody would read."""
    if len(problems) == 1:
        return problems[0]
    told = [f"({number}) {problem}" for number, problem in enumerate(problems[:MOST_PROBLEMS], 1)]
    if len(problems) > MOST_PROBLEMS:
        told.append(f"and {len(problems) - MOST_PROBLEMS:,} more problems")
    return " ".join(told)
