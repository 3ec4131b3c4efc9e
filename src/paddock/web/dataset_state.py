"""What an answer from the dataset depends on, so that it is made again only when that is another."""

from collections.abc import Hashable

from paddock.insight.dataset.dataset import Dataset
from paddock.insight.dataset.headers import FLEET

SAME_SECONDS = 600.0
"""A stretch of time that ends now is taken to be the same as one that ended so much earlier, and so are batches that
have as many runs as then."""


def state_of(dataset: Dataset, now: float) -> Hashable:
    """Another one whenever a batch was imported, and when an attempt of the fleet has begun or ended."""
    batches = [(one.label, one.runs, one.failed, one.last, one.label != FLEET and one) for one in dataset.labels()]
    return str(dataset.path), dataset.behind, tuple(batches), now // SAME_SECONDS
