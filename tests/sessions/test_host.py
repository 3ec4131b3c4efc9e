"""A machine is itself under any name; a container is its name; nobody is certain about another place."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from paddock.core.leases.lease import Holder
from paddock.sessions import host
from paddock.sessions.host import (
    Host,
    is_certainly_gone,
    is_here,
    is_in_sight,
    is_this_host,
    this_host,
    this_process,
)
from paddock.sessions.identity import ProcessIdentity, current_boot, current_space, identify, same_process


@pytest.fixture(autouse=True)
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(host.HOST_VARIABLE, raising=False)


def rename(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    now = os.uname()
    renamed = os.uname_result((now.sysname, name, now.release, now.version, now.machine))
    monkeypatch.setattr(os, "uname", lambda: renamed)


def on_a_machine(monkeypatch: pytest.MonkeyPatch, text: str = "0123456789abcdef0123456789abcdef") -> None:
    monkeypatch.setattr(host, "_machine_id", lambda: text)


def in_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_machine_id", lambda: "")


def ended() -> Holder:
    """A process that has been here and is gone."""
    code = (
        "import msgspec, sys\n"
        "from paddock.sessions.host import this_process\n"
        "sys.stdout.buffer.write(msgspec.json.encode(this_process('daemon')))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    return replace(msgspec.json.decode(said, type=Holder), host_id=this_host().id)


def test_a_machine_that_is_renamed_still_reaches_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch)
    rename(monkeypatch, "at-home")
    before, holder = this_host(), this_process("daemon")
    rename(monkeypatch, "in-the-cafe")
    assert this_host().name == "in-the-cafe"
    assert is_this_host(before)
    assert is_here(holder)


def test_another_machine_of_the_same_name_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch)
    assert not is_this_host(Host(this_host().name, "another id"))
    assert is_this_host(Host(this_host().name)), "without an id the name is all there is"
    assert is_this_host(Host("")), "what was recorded without a host was recorded here"


def test_a_container_is_known_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_container(monkeypatch)
    rename(monkeypatch, "3f2c1a")
    first = this_host()
    assert is_this_host(first)
    rename(monkeypatch, "9b0d4e")
    assert not is_this_host(first)


def test_a_place_that_is_named_is_that_place_and_takes_over_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(host.HOST_VARIABLE, "laptop")
    assert this_host() == Host("laptop", "laptop")
    assert is_this_host(Host("laptop", "the id it had"))
    assert not is_this_host(Host("desk", "another id"))


def test_the_id_is_the_same_each_time_and_not_the_machine_id_itself() -> None:
    known = Path("/etc/machine-id")
    assert this_host().id == this_host().id
    assert not known.exists() or known.read_text().strip() not in this_host().id


def test_a_process_that_ended_is_certainly_gone_also_under_a_new_name(monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_machine(monkeypatch)
    gone = ended()
    assert is_certainly_gone(gone)
    assert not is_certainly_gone(this_process("daemon"))
    rename(monkeypatch, "in-the-cafe")
    assert is_certainly_gone(gone)


def test_after_a_restart_under_a_new_name_nobody_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a clone of the machine, which has its id."""
    on_a_machine(monkeypatch)
    before = replace(this_process("daemon"), boot_id="an earlier boot")
    assert is_certainly_gone(before)
    rename(monkeypatch, "in-the-cafe")
    assert not is_certainly_gone(before)


def test_of_another_host_and_of_a_place_that_is_only_named_nobody_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = ended()
    assert not is_certainly_gone(replace(gone, host="elsewhere", host_id="another id"))
    monkeypatch.setenv(host.HOST_VARIABLE, gone.host)
    assert not is_certainly_gone(gone)


def test_of_a_process_in_another_pid_namespace_nobody_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container of this host may have its name, its id and its boot, and counts other processes by the same pids."""
    on_a_machine(monkeypatch)
    gone = replace(ended(), host_id=this_host().id)
    assert is_certainly_gone(gone)
    elsewhere = replace(gone, pid_space="1")
    assert is_here(elsewhere)
    assert not is_in_sight(elsewhere)
    assert not is_certainly_gone(elsewhere)
    assert not is_certainly_gone(replace(elsewhere, boot_id="an earlier boot"))
    assert not is_certainly_gone(replace(gone, pid_space="")), "it may have been in any"


def test_after_a_restart_nobody_is_certain_in_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the same name may run on another machine, whose boot is another."""
    in_a_container(monkeypatch)
    before = replace(this_process("daemon"), boot_id="another boot")
    assert not is_certainly_gone(before)


@pytest.mark.skipif(sys.platform != "linux", reason="pid namespaces are Linux's")
def test_a_process_really_in_another_pid_namespace_is_not_taken_for_ours() -> None:
    code = (
        "import msgspec, sys\n"
        "from paddock.sessions.host import this_process\n"
        "sys.stdout.buffer.write(msgspec.json.encode(this_process('daemon')))"
    )
    words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    ran = subprocess.run(words, capture_output=True, check=False)
    if ran.returncode != 0:
        pytest.skip("this system makes no pid namespaces for us")
    holder = msgspec.json.decode(ran.stdout, type=Holder)
    assert holder.pid_space not in ("", current_space())
    assert holder.boot_id == current_boot()
    assert not is_certainly_gone(replace(holder, host_id=this_host().id))


def test_an_identity_keeps_its_pid_namespace_on_disk_and_is_read_without_one() -> None:
    me = identify(os.getpid())
    assert me is not None
    assert ProcessIdentity.from_text(f"{me.as_text()} 3 claim") == me
    unknown = ProcessIdentity.from_text(f"{me.pid} {me.started} {me.boot} claim")
    assert unknown == replace(me, space="")
    assert unknown is not None
    assert same_process(me)
    assert same_process(unknown)
    assert not same_process(replace(me, space="1"))
