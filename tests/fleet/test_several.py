"""One command for the daemons of several repositories."""

import json

from tests.fleet.conftest import MakeYard
from tests.fleet.yard import Yard
from tests.warm import RunningCommand


def asked(command: str, *yards: Yard) -> tuple[int, str]:
    words = [command, "--json"]
    for yard in yards:
        words += ["--repo", str(yard.top)]
    running = RunningCommand(words, yards[0].folder, yards[0].env, apart=True)
    return running.wait(), running.words


def test_up_starts_each_daemon_and_down_ends_each(make_yard: MakeYard) -> None:
    api, web = make_yard("api"), make_yard("web")
    code, words = asked("up", api, web)
    assert code == 0
    started = json.loads(words)["repositories"]
    assert [row["repository"] for row in started] == [str(api.top), str(web.top)]
    assert len({row["pid"] for row in started}) == 2
    for yard in (api, web):
        yard.add({"think": 0})
        yard.await_board(lambda board: not board.ready and not board.live, "the work of each")
    code, words = asked("down", web, api)
    assert code == 0
    assert [row["was_up"] for row in json.loads(words)["repositories"]] == [True, True]
