"""What runs fought over, as lines name it."""

import pytest

from paddock.insight.failures.resources import lack_of, resource_of

PORTS = {
    "exit 1: cannot go on: Error: listen EADDRINUSE: address already in use 127.0.0.1:35629": "port:35629",
    "sh: 1: listen EADDRINUSE: address already in use :::3000": "port:3000",
    "06:37:40 Error: bind: 0.0.0.0:8080: address already in use": "port:8080",
    "2026-11-19T06:37:40Z ERROR [::1]:5432 is in use": "port:5432",
    "OSError: [Errno 98] error while attempting to bind on address ('127.0.0.1', 8888): address in use": "port:8888",
    "10.0.0.12:3000 is in use": "port:3000",
    "port 8081 is already allocated": "port:8081",
    "exit 1: address already in use": "",
}


@pytest.mark.parametrize("line", PORTS)
def test_a_port_is_what_follows_a_host_or_the_word_and_no_other_number(line: str) -> None:
    assert resource_of(line, "port-in-use") == PORTS[line]


@pytest.mark.parametrize(
    ("line", "sign", "lack"),
    [
        ("ImportError: libssl.so.1.1: cannot open shared object file", "missing-module", "library:libssl.so.1.1"),
        ("ldd: libssl.so.1.1 => not found", "missing-library", "library:libssl.so.1.1"),
        ("ModuleNotFoundError: No module named 'yaml'", "missing-module", ""),
        ("go: go.mod requires go >= 1.25.3 (running go 1.22.5)", "wrong-version", "version:go"),
        ("gate: go.mod:4: invalid go version '1.25.3'", "wrong-version", "version:go"),
        ("error: rustc 1.79.0 is not supported by the following packages:", "wrong-version", "version:rustc"),
        ("exec format error", "wrong-version", ""),
        ("No space left on device", "disk-full", ""),
    ],
)
def test_what_is_lacked_has_one_name_however_it_is_worded(line: str, sign: str, lack: str) -> None:
    assert lack_of(line, sign) == lack
