"""The server as tests hold it."""

from __future__ import annotations

import threading
from types import TracebackType

from tests.mockmodel.connection import Listener
from tests.mockmodel.ledger import Ledger, Settings


class MockModel(Ledger):
    """A model server on a loopback port of its own, alive inside its `with` block."""

    def __init__(self, settings: Settings | None = None, port: int = 0) -> None:
        super().__init__(settings or Settings())
        self._listener = Listener(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), name="mock-model")

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    def __enter__(self) -> MockModel:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()
