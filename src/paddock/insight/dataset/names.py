"""Which run of the dataset a person means: `t3.1` of the fleet, `LABEL/RUN` of a batch, or a run's name alone."""

from paddock.core.errors import Misuse, NotFound
from paddock.core.ids import printable, some_names
from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET
from paddock.insight.trace import KeptTrace

NAME_CHARS = 500
LIST = "`paddock traces list` shows the latest runs, with --labels all batches"


def find_run(dataset: Dataset, name: str, label: str | None = None) -> KeptTrace:
    """Raises NotFound, and Misuse where several batches have a run of that name."""
    name = name.strip()
    if label is not None:
        found = dataset.find(name, label)
        if found is None:
            raise NotFound(f"batch `{printable(label, 80)}` has no run `{printable(name, 120)}`", LIST)
        return found
    if (own := dataset.find(name, FLEET)) is not None:
        return own
    batches = dataset.batches_of(name)
    if len(batches) > 1:
        told = some_names(tuple(f"{printable(batch, 80)}/{printable(name, 120)}" for batch in batches))
        raise Misuse(f"several batches have a run `{printable(name, 120)}`: {told}", "name one of these")
    found = dataset.find(name, batches[0]) if batches else _find_in_batch(dataset, name)
    if found is None:
        raise NotFound(f"there is no trace of `{printable(name, 120)}`", _hint(dataset, name))
    return found


def require_label(dataset: Dataset, label: str | None) -> None:
    """Raises NotFound for a batch that nobody has imported."""
    labels = [one.label for one in dataset.labels()] if label not in (None, FLEET) else []
    if label is None or label == FLEET or label in labels:
        return
    known = some_names(tuple(printable(one, 40) for one in labels))
    hint = f"there are: {known}" if labels else "`paddock traces import PATH --label NAME` makes one"
    raise NotFound(f"there is no batch `{printable(label, 60)}`", hint)


def name_of(kept: KeptTrace) -> str:
    """As `find_run` takes it."""
    trace = kept.trace
    return trace.run if trace.label == FLEET else f"{trace.label}/{trace.run}"


def _find_in_batch(dataset: Dataset, name: str) -> KeptTrace | None:
    """Labels and runs may have slashes themselves."""
    at = name.find("/")
    while 0 < at < NAME_CHARS:
        if (found := dataset.find(name[at + 1 :], name[:at])) is not None:
            return found
        at = name.find("/", at + 1)
    return None


def _hint(dataset: Dataset, name: str) -> str:
    attempts = dataset.names_like(f"{name}.", FLEET) if name else []
    return f"its attempts are {some_names(tuple(attempts))}" if attempts else LIST
