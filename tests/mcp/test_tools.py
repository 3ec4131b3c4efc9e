"""`paddock mcp` with the official client: what people may, what agents may, and how they are told apart."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from paddock.core.events import AttemptStarted, Draft
from paddock.core.ids import AttemptId, TaskId
from paddock.fleet.worker_token import token_for
from paddock.mcp.tools import TOOLS, input_schema
from paddock.web.token import token_of
from tests.cli.conftest import Cli
from tests.cli.test_desk import OpenDesk
from tests.cli.test_lease import begin_attempt, write
from tests.cli.test_workers import as_person, findings, marker
from tests.mcp.conftest import HttpServer, by_stdio, refusal, result

NAMES = [
    *("add_task", "list_tasks", "show_task", "status", "send_message", "lease_acquire", "lease_renew", "lease_release"),
    *("report_finding", "declare_noop", "ask_human", "convoy_results"),
]


def worker(cli: Cli) -> dict[str, str]:
    return {"PADDOCK_ATTEMPT": "t1.1", "PADDOCK_MARKER": f"{marker(cli)}:t1.1"}


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_needs_no_reference_and_no_null(name: str) -> None:
    schema = input_schema(TOOLS[name])
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert not {"$ref", "anyOf", "null"} & set(json.dumps(schema).replace('"', " ").split())


def test_a_person_uses_every_tool_that_is_for_people(cli: Cli) -> None:
    async def use() -> None:
        async with by_stdio(cli) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
            first = await result(client, "add_task", brief="Fix it", title="Fix", convoy="c", paths=["src/**"])
            assert first["id"] == "t1"
            assert (await result(client, "add_task", brief="Then that", after=["t1"]))["id"] == "t2"
            listed = await result(client, "list_tasks", limit=1)
            assert (listed["total"], [task["id"] for task in listed["tasks"]]) == (2, ["t2"])
            listed = await result(client, "list_tasks", where="convoy=c and not phase=landed")
            assert [task["id"] for task in listed["tasks"]] == ["t1"]
            assert "^^^" in await refusal(client, "list_tasks", where="phase=nay")
            shown = await result(client, "show_task", task="t1")
            assert (shown["task"]["paths"], shown["brief"]) == (["src/**"], "Fix it")
            assert (await result(client, "status"))["counts"]["ready"] == 1
            assert (await result(client, "lease_acquire", name="port:1"))["generation"] == 1
            assert (await result(client, "lease_renew", name="port:1", ttl_seconds=60))["ttl_seconds"] == 60
            await result(client, "lease_release", name="port:1")
            [row] = (await result(client, "convoy_results", convoy="c"))["tasks"]
            assert (row["id"], row["phase"], row["text"]) == ("t1", "ready", "")
            assert "has no agent yet" in await refusal(client, "send_message", tasks=["t1"], text="hi")
            assert "is for agents" in await refusal(client, "ask_human", question="Which?")
            assert "there is no change to report" in await refusal(client, "report_finding", claim="x", task="t1")
            assert "about a task" in await refusal(client, "report_finding", claim="x")
            assert "hint: `paddock status --all`" in await refusal(client, "show_task", task="t9")
            assert "unknown field `foo`" in await refusal(client, "status", foo=1)
            assert "there is no tool `nope`" in await refusal(client, "nope")

    asyncio.run(use())
    [added, *_] = cli.good("log", "--kind", "task.added", "--json").lines
    assert added["actor"].endswith(" via mcp")


def test_an_agent_asks_declares_and_leases_as_itself_and_nothing_more(cli: Cli) -> None:
    begin_attempt(cli)
    cli.good("add", "Other work")

    async def use() -> None:
        async with by_stdio(cli, **worker(cli)) as client:
            assert (await result(client, "lease_acquire", name="port:1"))["name"] == "port:1"
            assert (await result(client, "declare_noop", reason="it is there"))["task"] == "t1"
            asked = await result(client, "ask_human", question="Which?")
            assert (asked["answer"], asked["then"]) == (None, "end your turn: the answer comes as your next message")
            assert "is not for agents" in await refusal(client, "add_task", brief="More")
            assert "may only see your own" in await refusal(client, "show_task", task="t2")
            assert "is not for agents" in await refusal(client, "report_finding", claim="x", task="t2")
            for tool in ("approve", "land_task", "approve_task"):
                assert "is not for agents" in await refusal(client, tool, task="t1")

    asyncio.run(use())
    assert findings(cli) == [
        "add",
        "show of others",
        "report_finding",
        "approve through MCP",
        "land through MCP",
    ]
    [held] = cli.good("lease", "list", "--json").json()["held"]
    assert held["holder"] == "t1.1"
    assert "asks: Which?" in cli.good("status").out


def test_inside_a_fence_the_server_asks_at_the_desk(cli: Cli, tmp_path: Path) -> None:
    begin_attempt(cli)
    outside = tmp_path / "outside"
    outside.mkdir()
    desk = OpenDesk(cli, tmp_path / "desk" / "socket", outside)
    answer = tmp_path / "answer.json"

    async def use() -> None:
        variables = {"PADDOCK_DESK": str(desk.socket), "PADDOCK_ANSWER": str(answer)}
        async with by_stdio(cli, str(outside), **variables) as client:
            assert (await result(client, "show_task", task="t1"))["task"]["id"] == "t1"
            waiting = asyncio.create_task(result(client, "ask_human", question="Which?", wait_seconds=600))
            while not cli.good("status", "--json").json()["needs_you"]["tasks"]:
                await asyncio.sleep(0.05)
            cli.good("message", "t1", "the second")
            assert (await waiting)["answer"] == "the second"
            words = await refusal(client, "add_task", brief="More")
            assert words.startswith("`paddock add` is not for agents: you run inside attempt t1.1\n\nhint: ")
            noted = await result(client, "report_finding", claim="It leaks", path="a.py", line=3, severity="error")
            assert noted["noted"]
            assert "unknown field" in await refusal(client, "report_finding", claim="x", paths="a")

    try:
        asyncio.run(use())
    finally:
        desk.end()
    assert findings(cli) == ["add"]
    [line] = Path(f"{answer}.findings").read_text().splitlines()
    assert json.loads(line) == {
        "path": "a.py",
        "line": 3,
        "severity": "error",
        "claim": "It leaks",
        "evidence": "",
        "suggestion": "",
    }


def test_over_http_a_token_says_who_asks_and_nobody_comes_in_without(cli: Cli, http_server: HttpServer) -> None:
    begin_attempt(cli)
    state = cli.log.parent
    mine = token_for(state, AttemptId("t1.1"))

    async def use() -> None:
        async with http_server.connect(token_of(state)) as client:
            assert (await result(client, "add_task", brief="More"))["id"] == "t2"
        async with http_server.connect(mine) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
            assert (await result(client, "ask_human", question="Which?"))["task"] == "t1"
            assert "is not for agents" in await refusal(client, "add_task", brief="More")
            assert "is not for agents" in await refusal(client, "land", tasks=["t1"])
            assert "may only see your own" in await refusal(client, "show_task", task="t2")

    asyncio.run(use())
    assert findings(cli) == ["add", "land through MCP", "show of others"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    good = {"Authorization": f"Bearer {mine}", "Accept": "application/json, text/event-stream"}
    other = token_for(state, AttemptId("t1.2"))
    for headers, status in (
        (good, 200),
        ({**good, "Authorization": ""}, 401),
        ({**good, "Authorization": "Bearer " + mine[:-1] + ("0" if mine[-1] != "0" else "1")}, 401),
        ({**good, "Authorization": f"Bearer {other}"}, 401),
        ({**good, "Origin": "http://evil.example"}, 403),
        ({**good, "Origin": "http://localhost:1"}, 403),
        ({**good, "Host": "evil.example"}, 403),
        ({**good, "Content-Type": "text/plain"}, 415),
    ):
        said = httpx2.post(http_server.url, json=body, headers=headers, timeout=60)
        assert said.status_code == status, (headers, said.text)
        assert (status == 200) or said.json()["error"]


def test_a_process_of_an_attempt_is_its_agent_whatever_token_it_shows(cli: Cli, http_server: HttpServer) -> None:
    begin_attempt(cli)
    state = cli.log.parent
    program = (
        "import json, sys, urllib.request as u\n"
        "body = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': 'add_task',"
        " 'arguments': {'brief': 'More'}}}\n"
        "head = {'Authorization': 'Bearer ' + sys.argv[2], 'Content-Type': 'application/json',"
        " 'Accept': 'application/json, text/event-stream'}\n"
        "try: print(u.urlopen(u.Request(sys.argv[1], json.dumps(body).encode(), head)).read().decode())\n"
        "except u.HTTPError as error: print(error.code, error.read().decode())\n"
    )
    environment = {**worker(cli), "PATH": "/usr/bin:/bin"}

    def ask(token: str) -> str:
        argv = (sys.executable, "-c", program, http_server.url, token)
        return subprocess.run(argv, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout

    assert "`paddock add` is not for agents: you run inside attempt t1.1" in ask(token_of(state))
    cli.good("add", "Other work")
    write(cli, Draft(AttemptStarted("scripted", "b" * 40, "x"), TaskId("t2"), AttemptId("t2.1")))
    assert ask(token_for(state, AttemptId("t2.1"))).startswith("403 ")
    assert findings(cli) == ["add", "mcp for others"]


def test_only_this_machine_is_served_and_only_by_people(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not an address of this machine alone" in cli("mcp", "--http", "0.0.0.0:0").err
    assert "is not HOST:PORT" in cli("mcp", "--http", "here").err
    begin_attempt(cli)
    for name, value in worker(cli).items():
        monkeypatch.setenv(name, value)
    assert "`paddock mcp --http` is not for agents" in cli("mcp", "--http", "127.0.0.1:0").err
    assert as_person(cli, "status").code == 0
