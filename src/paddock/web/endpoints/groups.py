"""The repositories that share accounts with the one that is shown."""

from typing import Annotated

from msgspec import Meta

from paddock.core.errors import PaddockError
from paddock.fleet.group.place import group_of
from paddock.fleet.group.roll import forget_member, read_roll
from paddock.views.document import Document
from paddock.views.fleet.group import NO_GROUP, GroupView, view_group
from paddock.web.endpoint import Asked, NoBody, NoQuery, Visit


def read_group(visit: Visit[NoQuery, NoBody]) -> GroupView:
    """Without a group its name is empty."""
    place = group_of(visit.workspace.config)
    return NO_GROUP if place is None else view_group(read_roll(place, visit.now), visit.workspace.marker)


class ForgetBody(Asked, frozen=True):
    """By its name or its path."""

    repository: Annotated[str, Meta(min_length=1, max_length=1000)]


class ForgottenView(Document, frozen=True, kw_only=True):
    """`agents` may have been at work."""

    group: str
    forgotten: str
    agents: int


def forget_repository(visit: Visit[NoQuery, ForgetBody]) -> ForgottenView:
    place = group_of(visit.workspace.config)
    if place is None:
        raise PaddockError("this repository is in no group", "set `name` under [group] in paddock.toml")
    entry = forget_member(place, visit.body.repository, visit.now)
    return ForgottenView(group=place.name, forgotten=entry.place, agents=entry.running)
