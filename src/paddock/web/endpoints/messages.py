"""Messages to agents: what was sent, delivered and answered."""

from contextlib import closing
from typing import Annotated

from msgspec import Meta

from paddock.core.ids import parse_task_range
from paddock.core.wording import split_list
from paddock.fleet.message_log import read_answers, read_messages
from paddock.views.messages import MessagesView, view_messages
from paddock.web.endpoint import Asked, NoBody, Visit


class MessagesQuery(Asked, frozen=True):
    """Of `tasks`, such as `t3,t5-t7`, or of all; the newest `last`."""

    tasks: Annotated[str, Meta(max_length=4000)] = ""
    last: Annotated[int, Meta(ge=1, le=1000)] = 30


def list_messages(visit: Visit[MessagesQuery, NoBody]) -> MessagesView:
    names = [name for part in split_list(visit.query.tasks) for name in parse_task_range(part)]
    with closing(visit.workspace.read()) as store:
        board = store.board()
        for name in names:
            board.task(name)
        found = read_messages(store, board, names, visit.query.last)
        return view_messages(found, read_answers(visit.workspace.site, board, found))
