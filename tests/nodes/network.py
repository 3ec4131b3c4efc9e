"""Network namespaces on this machine, each behind a cable that can be pulled."""

import os
import subprocess
from collections.abc import Iterator


class Network:
    """A bridge of this machine. What is in no namespace has its `ADDRESS`."""

    ADDRESS = "10.77.0.1"

    def __init__(self) -> None:
        self.name = f"pd{os.getpid() % 10000}"
        self._run("link", "add", self.name, "type", "bridge")
        self._run("addr", "add", f"{self.ADDRESS}/24", "dev", self.name)
        self._run("link", "set", self.name, "up")
        self._spaces: list[str] = []

    def places(self) -> Iterator[tuple[str, str]]:
        """Addresses, each with its namespace: first the machine's own, then others as they are asked for."""
        yield self.ADDRESS, ""
        while True:
            yield self._add()

    def _add(self) -> tuple[str, str]:
        number = len(self._spaces) + 1
        space, address = f"{self.name}-{number}", f"10.77.0.{number + 1}"
        self._run("netns", "add", space)
        self._spaces.append(space)
        self._run("link", "add", self._cable(number), "type", "veth", "peer", "name", "eth0", "netns", space)
        self._run("link", "set", self._cable(number), "master", self.name, "up")
        self._run("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        for device in ("lo", "eth0"):
            self._run("-n", space, "link", "set", device, "up")
        return address, space

    def pull(self, number: int) -> None:
        """Of the place that was given as this one, from 1."""
        self._run("link", "set", self._cable(number), "down")

    def plug(self, number: int) -> None:
        self._run("link", "set", self._cable(number), "up")

    def close(self) -> None:
        for space in self._spaces:
            self._run("netns", "del", space)
        self._run("link", "del", self.name)

    def _cable(self, number: int) -> str:
        return f"{self.name}c{number}"

    def _run(self, *words: str) -> None:
        subprocess.run(("ip", *words), check=True, timeout=30, capture_output=True)
