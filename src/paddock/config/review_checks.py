"""What can be wrong with `[[review.checks]]` although each of its values is fine."""

from paddock.config.schema import Config
from paddock.core.errors import Misuse
from paddock.core.ids import printable


def check_review_checks(config: Config, source: str) -> None:
    """Raises Misuse. What a check has said of a version is known by its name: two of one name would be one."""
    if not config.review.checks:
        return
    from paddock.core.review.checks import ACCEPT

    seen: set[str] = set()
    for check in config.review.checks:
        named = f"`{printable(check.name, 40)}`"
        if check.name in seen:
            raise Misuse(f"{source}: `review.checks`: two checks are named {named}", "give each its own name")
        if check.name == ACCEPT or not check.name.strip():
            why = ": that is what a task's acceptance is called" if check.name == ACCEPT else ""
            raise Misuse(
                f"{source}: `review.checks`: a check cannot be named {named}{why}",
                "name it after what it runs, such as `ruff`",
            )
        seen.add(check.name)
