"""`paddock web` and its neighbours: ports, addresses, tokens, beside the fleet."""

import importlib.util
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.cli.page_process import require_extra
from paddock.core.errors import PaddockError
from paddock.sessions.host import is_gone
from tests.fleet.yard import Yard
from tests.web.api import PRINTED, serve_api


def _token_file(yard: Yard) -> Path:
    return yard.log_path.parent / "web.token"


def test_the_first_line_is_the_address_with_the_token_which_only_its_user_may_read(yard: Yard) -> None:
    served = serve_api(yard)
    assert served.command.words.splitlines()[0] == f"http://127.0.0.1:{served.port}/?token={served.token}"
    assert stat.S_IMODE(_token_file(yard).stat().st_mode) == 0o600
    assert served.ask("GET", "/api/v1/session").json["author"].count("@") == 1


def test_a_second_one_at_the_same_place_names_the_first(yard: Yard) -> None:
    served = serve_api(yard)
    again = json.loads(yard.paddock("web", "--port", str(served.port), "--json"))
    assert (again["pid"], again["url"]) == (served.command.pid, f"http://127.0.0.1:{served.port}/?token={served.token}")
    assert f"127.0.0.1:{served.port}/" in yard.paddock("doctor")


def test_a_port_that_is_taken_is_an_error_that_names_who_has_it(yard: Yard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        words = yard.paddock("web", "--port", str(port), code=1)
    assert f"port {port} is taken by" in words
    assert f"(pid {os.getpid()})" in words
    assert "--port 0" in words


def test_a_token_that_others_could_read_is_replaced_and_a_new_one_can_be_asked_for(yard: Yard) -> None:
    first = serve_api(yard)
    first.command.send(signal.SIGINT)
    assert first.command.wait() == 0
    _token_file(yard).chmod(0o644)
    second = serve_api(yard)
    assert second.token != first.token
    third = serve_api(yard, "--new-token")
    assert third.token not in (first.token, second.token)


def test_without_a_token_only_this_machine_is_served(yard: Yard) -> None:
    served = serve_api(yard, "--no-token")
    assert served.token == ""
    assert served.ask("GET", "/api/v1/session", Authorization=None).status == 200
    assert (
        served.ask("POST", "/api/v1/queue/freeze", b"{}", Authorization=None, Origin="http://x.example").status == 403
    )
    words = yard.paddock("web", "--host", "0.0.0.0", "--no-token", code=2)
    assert "would let everyone steer the fleet" in words


def test_another_address_needs_the_token_and_says_what_that_means(yard: Yard) -> None:
    served = serve_api(yard, "--host", "0.0.0.0")
    assert "not encrypted" in served.command.words
    assert "ssh -L" in served.command.words
    assert served.ask("GET", "/api/v1/session", Authorization=None).status == 401
    assert served.ask("GET", "/api/v1/session").status == 200
    assert "is no address of this machine" in yard.paddock("web", "--host", "203.0.113.7", "--port", "0", code=1)


def test_up_serves_the_page_until_down(yard: Yard) -> None:
    address = json.loads(yard.paddock("up", "--web", "--json"))["web"]
    found = PRINTED.match(f"{address} ")
    assert found is not None
    pages = json.loads(yard.paddock("up", "--web", "--json"))
    assert (pages["web"], pages["was_up"]) == (address, True)
    assert found[3] not in (yard.log_path.parent / "web.log").read_text()
    server = json.loads(yard.paddock("web", "--port", found[2], "--json"))["pid"]
    assert json.loads(yard.paddock("down", "--json"))["pages"] == [address.partition("?")[0]]
    assert is_gone(server), "its port may be another's by now"


def test_a_page_beside_run_ends_with_it_even_if_it_is_killed(yard: Yard) -> None:
    fleet = yard.start("run", "--web")
    fleet.await_words("token=")
    found = yard.await_that(lambda: PRINTED.search(fleet.words), "the address")
    socket.create_connection((found[1], int(found[2]))).close()
    fleet.kill()
    yard.await_that(lambda: not list(yard.log_path.parent.glob("web-*.json")), "the end of the page")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(PaddockError) as refused:
        require_extra()
    assert "pip install 'paddock[web]'" in str(refused.value.hint)


def test_no_command_loads_the_server_before_it_is_needed() -> None:
    code = (
        "import sys, click; import paddock.cli.main; from paddock.cli.registry import COMMANDS, paddock as group\n"
        "for name in COMMANDS: group.get_command(click.Context(group), name)\n"
        "print([n for n in sys.modules if n.startswith(('starlette', 'uvicorn', 'paddock.web'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_server_asks_for_as_many_open_files_as_it_lets_connections_in() -> None:
    code = (
        "import resource as r; from paddock.web.serve import allow_open_files\n"
        "hard = r.getrlimit(r.RLIMIT_NOFILE)[1]; r.setrlimit(r.RLIMIT_NOFILE, (200, hard))\n"
        "for wanted in (300, 100): allow_open_files(wanted); print(r.getrlimit(r.RLIMIT_NOFILE) == (300, hard))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["True", "True"]
