"""People elsewhere are told what the fleet needs them for: by real couriers, to real servers on loopback."""

import asyncio
import json
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paddock.config.load import load_config
from paddock.core.events import DaemonTroubled
from paddock.core.notify.outbox import FLIGHT_SECONDS, GATHER_SECONDS, LEAST_SECONDS
from paddock.fleet.dispatch.gate import Gate
from paddock.fleet.ledger import take_lead
from paddock.fleet.notify.courier import Errand, Receipt, without_address
from paddock.fleet.notify.desktop import find_desktop
from paddock.fleet.notify.memory import UNKNOWN
from paddock.fleet.notify.recipients import find_recipients
from paddock.fleet.notify.teller import COURIER, Teller
from paddock.fleet.site import Site
from paddock.fleet.troubles import Troubles
from paddock.git.repo import discover
from paddock.sessions.host import this_process
from paddock.store.location import open_store
from tests.fleet.conftest import MakeYard
from tests.fleet.notice import Notice
from tests.fleet.test_ledger import Hands
from tests.fleet.test_workers import shell
from tests.fleet.yard import Yard, commit, write


class Service(ThreadingHTTPServer):
    """Keeps what is posted to it. It answers with `status`, as long as it is `open`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Counter)
        self.got: list[str] = []
        self.status = 200
        self.open = threading.Event()
        self.open.set()

    def url(self, schema: str = "json", path: str = "hook") -> str:
        return f"{schema}://127.0.0.1:{self.server_port}/{path}"

    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.got]


class _Counter(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.open.wait()
        if self.server.status == 200:
            self.server.got.append(body)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture
def make_service() -> Iterator[Callable[[], Service]]:
    made: list[Service] = []

    def make() -> Service:
        made.append(Service())
        threading.Thread(target=made[-1].serve_forever, daemon=True).start()
        return made[-1]

    yield make
    for service in made:
        service.open.set()
        service.shutdown()
        service.server_close()


@pytest.fixture
def service(make_service: Callable[[], Service]) -> Service:
    return make_service()


class Watch:
    """A teller that is led by hand, by a clock of the test's own; `restart` is another daemon's."""

    def __init__(self, yard: Yard, *urls: str) -> None:
        self.yard, self.hands = yard, Hands()
        self.hands.at = time.time()
        settings = {"PADDOCK_NOTIFY_URLS": json.dumps(urls)}
        site = Site(discover(yard.top), load_config(yard.top, settings).config, yard.log_path.parent, yard.marker)
        site.clock, site.log_identity = self.hands, yard.identity
        self.site, self.store = site, open_store(yard.log_path)
        self.ledger = take_lead(self.store, this_process("daemon"), Notice(), self.hands)
        self.tellers: list[Teller] = []
        self.restart()

    def restart(self) -> None:
        troubles = Troubles(self.ledger, self.site.state_dir, self.hands.now)
        self.tellers.append(Teller(self.site, self.ledger, Gate(self.site), troubles))

    @property
    def teller(self) -> Teller:
        return self.tellers[-1]

    def close(self) -> None:
        for courier in [courier for teller in self.tellers for courier in teller.couriers]:
            courier.kill()
            courier.wait()
        self.store.close()

    def step(self, seconds: float = 0.0) -> None:
        self.hands.at += seconds
        self.store.board()
        asyncio.run(self.teller.step())
        asyncio.run(self.teller.report())

    def await_receipt(self) -> None:
        folder = self.site.state_dir
        self.yard.await_that(lambda: next(folder.glob("notify-*-*.json"), None), "a receipt")

    def outbox(self, position: int = 0) -> Any:
        recipient = find_recipients(self.site.config.notify).all[position]
        return self.teller.memory.outboxes[recipient.id]


MakeWatch = Callable[..., Watch]


@pytest.fixture
def make_watch() -> Iterator[MakeWatch]:
    made: list[Watch] = []

    def make(yard: Yard, *urls: str) -> Watch:
        made.append(Watch(yard, *urls))
        return made[-1]

    yield make
    for watch in made:
        watch.close()


@pytest.fixture
def needy(make_yard: MakeYard) -> Yard:
    """A fleet with one task that waits for approval."""
    yard = make_yard()
    yard.add(write("a.txt"), commit())
    yard.run()
    return yard


def test_an_approval_and_a_question_arrive_as_one_notification(make_yard: MakeYard, service: Service) -> None:
    yard = make_yard(PADDOCK_NOTIFY_URLS=service.url())
    yard.add(write("a.txt"), commit())
    yard.add(shell("PADDOCK ask 'Which <b>entity</b>, @all?'"))
    yard.run()
    yard.await_that(lambda: service.got, "a notification")
    yard.await_that(lambda: not _status(yard)["under_way"], "its receipt")
    [message] = service.messages()
    assert message["title"] == "app: 1 approval, 1 answer"
    assert message["message"].splitlines()[1::2] == [
        "  run: paddock diff t1, then paddock land t1",
        '  run: paddock message t2 "…"',
    ]
    assert "t2 Task 1: asks: Which ‹b›entity‹/b›, @ all?" in message["message"]
    told = _status(yard)
    assert (told["told"], told["waiting"], told["problem"]) == (2, 0, "")
    assert told["address"] == f"json://127.0.0.1:{service.server_port}/…"
    yard.run()
    again = _status(yard)
    assert (again["waiting"], again["under_way"]) == (0, False)
    assert len(service.got) == 1


def _status(yard: Yard) -> dict[str, Any]:
    [recipient] = json.loads(yard.paddock("notify", "status", "--json"))["recipients"]
    assert isinstance(recipient, dict)
    return recipient


def test_what_a_killed_daemon_was_about_to_send_is_sent_by_the_next_one(
    make_yard: MakeYard, make_watch: MakeWatch, service: Service
) -> None:
    yard = make_yard(PADDOCK_NOTIFY_URLS=service.url())
    yard.add(write("a.txt"), commit())
    killed = yard.start("run", "--until-idle", env={"PADDOCK_TEST_CRASH_AT": "notify.taken"})
    assert killed.wait() == -9
    watch = make_watch(yard, service.url())
    watch.step()
    assert not service.got, "it may be under way"
    watch.step(FLIGHT_SECONDS)
    assert watch.outbox().problem == UNKNOWN
    watch.step(LEAST_SECONDS)
    watch.await_receipt()
    watch.step()
    assert [message["title"] for message in service.messages()] == ["app: t1 needs approval"]


def test_a_receipt_that_a_dead_daemon_did_not_read_counts(needy: Yard, make_watch: MakeWatch, service: Service) -> None:
    watch = make_watch(needy, service.url())
    watch.step()
    watch.step(GATHER_SECONDS)
    watch.await_receipt()
    watch.restart()
    watch.step(LEAST_SECONDS * 10)
    assert (watch.outbox().flights, list(watch.outbox().waiting), len(watch.outbox().told)) == ((), [], 1)
    assert len(service.got) == 1
    assert not list(watch.site.state_dir.glob("notify-*-*.json"))


def test_a_service_that_fails_is_a_trouble_told_once_and_tried_again(
    needy: Yard, make_watch: MakeWatch, service: Service
) -> None:
    service.status = 500
    watch = make_watch(needy, service.url(path="tok3n-of-mine"))
    watch.step()
    for seconds in (GATHER_SECONDS, 60.0, 120.0):
        watch.step(seconds)
        watch.await_receipt()
        watch.step()
    assert watch.outbox().failures == 3
    [trouble] = needy.records(DaemonTroubled)
    assert "500" in str(trouble.event)
    assert "tok3n" not in needy.paddock("status") + needy.paddock("log", "--json") + str(trouble.event)
    assert "telling people url 1 (json)" in needy.paddock("status")
    service.status = 200
    watch.step(240.0)
    watch.await_receipt()
    watch.step()
    assert (watch.outbox().problem, len(service.got)) == ("", 1)
    assert "telling people" not in needy.paddock("status")


def test_a_new_daemon_tries_a_service_that_failed_again_but_not_within_a_minute(
    needy: Yard, make_watch: MakeWatch, service: Service
) -> None:
    service.status = 500
    watch = make_watch(needy, service.url())
    watch.step()
    watch.step(GATHER_SECONDS)
    watch.await_receipt()
    watch.restart()
    watch.step()
    assert watch.outbox().failures == 1, "the receipt of the dead daemon's courier counts"
    watch.restart()
    service.status = 200
    watch.step(LEAST_SECONDS - 1.0)
    assert watch.outbox().flights == ()
    watch.step(1.0)
    watch.await_receipt()
    watch.step()
    assert (watch.outbox().problem, len(service.got), len(watch.outbox().told)) == ("", 1, 1)


def test_a_service_that_hangs_holds_up_neither_the_daemon_nor_others(
    needy: Yard, make_watch: MakeWatch, make_service: Callable[[], Service]
) -> None:
    hanging, well = make_service(), make_service()
    hanging.open.clear()
    watch = make_watch(needy, hanging.url(), well.url())
    watch.step()
    watch.step(GATHER_SECONDS)
    watch.await_receipt()
    watch.step()
    assert (len(watch.outbox(0).flights), len(watch.outbox(1).told)) == (1, 1)
    watch.step(FLIGHT_SECONDS)
    assert watch.outbox(0).problem == UNKNOWN


def run_courier(errand: Errand) -> str:
    done = subprocess.run(COURIER, input=msgspec.json.encode(errand), capture_output=True, timeout=60, check=True)
    assert not done.stderr
    return msgspec.json.decode(done.stdout, type=Receipt).problem


@pytest.mark.parametrize("schema", ["json", "xml", "form"])
def test_couriers_speak_to_services_in_their_own_way(service: Service, schema: str) -> None:
    assert run_courier(Errand("the title", "a & b\nthe second line", service.url(schema))) == ""
    assert "the" in service.got[0]
    assert "second" in service.got[0]


def test_a_courier_gives_up_by_itself(service: Service) -> None:
    service.open.clear()
    assert run_courier(Errand("title", "body", service.url(), deadline_seconds=1.0))
    assert run_courier(Errand("title", "body", "json://")) == "Apprise does not accept this URL"
    assert "cannot be started" in run_courier(Errand("title", "body", argv=("/no/such/program",)))


def test_what_a_service_says_is_told_without_its_address() -> None:
    said = "POST https://example.invalid/bot123:s3cr3tpart/send?chat=998877 failed for user hunter22"
    told = without_address(said, "json://hunter22:pa55word@example.invalid/bot123/s3cr3tpart?chat=998877")
    assert not [word for word in ("s3cr3tpart", "hunter22", "998877", "example.invalid") if word in told]


GRAPHICAL = {"WAYLAND_DISPLAY": "wayland-0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"}


def test_where_there_is_a_desktop_it_is_told_by_default(make_yard: MakeYard, tmp_path: Path) -> None:
    said, programs = tmp_path / "said", tmp_path / "bin"
    programs.mkdir()
    fake = programs / "notify-send"
    fake.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{said}'\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    yard = make_yard(**GRAPHICAL)
    yard.env["PATH"] = f"{programs}:{yard.env['PATH']}"
    assert "desktop" in yard.paddock("notify", "status")
    assert yard.paddock("notify", "test").startswith("sent   desktop")
    assert said.read_text().splitlines()[:3] == ["--app-name=Paddock", "--", "app: this is a test"]
    assert "nobody is told" in yard.paddock("notify", "status", env={"CI": "true"})
    assert "nobody is told" in yard.paddock("doctor", env={"PADDOCK_NOTIFY_DESKTOP": "never"})


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, "graphical"),
        ({"DISPLAY": ":0"}, "D-Bus"),
        ({**GRAPHICAL, "SSH_CONNECTION": "1 2 3 4"}, "remote"),
        ({**GRAPHICAL, "CI": "1"}, "CI"),
    ],
)
def test_there_is_no_desktop_where_nobody_sits(environment: dict[str, str], why: str) -> None:
    found = find_desktop(environment, which=lambda name: f"/usr/bin/{name}", platform="linux")
    assert (found.program, why in found.why) == ("", True)


def test_words_reach_a_mac_as_arguments_and_a_desktop_without_markup() -> None:
    mac = find_desktop({}, which=lambda name: f"/usr/bin/{name}", platform="darwin")
    assert mac.argv("title", 'say "hi" & <b>')[-2:] == ("title", 'say "hi" ＆ ‹b›')
    assert mac.argv("title", "body")[0] == "/usr/bin/osascript"


def test_the_check_names_urls_by_position_and_shows_none_of_them(make_yard: MakeYard) -> None:
    urls = json.dumps(["json://u:s3cr3t@localhost", "ntfi://s3cr3t", "json://${NO_SUCH_THING}", "s3cr3t"])
    yard = make_yard(PADDOCK_NOTIFY_URLS=urls, PADDOCK_NOTIFY_EVERY="5s")
    warnings = json.loads(yard.paddock("config", "check", "--json"))["warnings"]
    assert [words for words in warnings if "[notify]" in words] == [
        "[notify] every is 5s: at most one notification is sent in 1m",
        "[notify] urls: URL 2 cannot be used: Apprise knows no service `ntfi://`; did you mean `ntfy://`?",
        "[notify] urls: URL 3 cannot be used: the environment has no NO_SUCH_THING",
        "[notify] urls: URL 4 cannot be used: it does not begin with a service, such as `ntfy://`",
    ]
    shown = yard.paddock("config", "show") + yard.paddock("notify", "status") + yard.paddock("doctor")
    assert "s3cr3t" not in shown + yard.paddock("notify", "test", code=1)
    assert "nobody to tell" in yard.paddock("notify", "test", code=1, env={"PADDOCK_NOTIFY_URLS": ""})
