"""What the server of a shared log says about itself: whether what it acknowledges is safe, and who is connected."""

from collections.abc import Iterator

import msgspec

from paddock.store.postgres import PostgresStore

_SERVER = """\
SELECT current_setting('server_version'), pg_is_in_recovery(), current_user::text, current_database()::text,
  coalesce((SELECT rolsuper FROM pg_roles WHERE rolname = current_user), false),
  current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
  current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
  coalesce(host(inet_server_addr()), ''), coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
  has_table_privilege(%s::regclass, 'UPDATE') OR has_table_privilege(%s::regclass, 'DELETE')
    OR has_table_privilege(%s::regclass, 'TRUNCATE'),
  has_table_privilege(%s::regclass, 'INSERT')"""
_STANDBYS = """\
SELECT coalesce(jsonb_agg(jsonb_build_object('name', application_name, 'state', coalesce(state, ''),
  'sync', coalesce(sync_state, '')) ORDER BY application_name), '[]') FROM pg_stat_replication"""
_SESSIONS = """\
SELECT coalesce(jsonb_agg(jsonb_build_object('pid', a.pid, 'role', coalesce(a.usename::text, ''),
  'program', a.application_name, 'host', coalesce(host(a.client_addr), ''), 'state', coalesce(a.state, ''),
  'seconds', coalesce(round(extract(epoch FROM clock_timestamp() - a.xact_start)::numeric, 1), 0),
  'writes', EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND l.relation = %s::regclass
    AND l.mode = 'RowShareLock' AND l.granted),
  'waits_for', pg_blocking_pids(a.pid)) ORDER BY a.pid), '[]')
FROM pg_stat_activity AS a
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'"""


class Standby(msgspec.Struct, frozen=True):
    """`sync` is `sync` or `quorum` where commits wait for it, `async` or `potential` where they do not; both words are
    empty where the role may not see them."""

    name: str
    state: str
    sync: str


class Session(msgspec.Struct, frozen=True):
    """A connection of anybody's to the database. `seconds` is the age of its transaction, 0 outside of one; `writes`
    says that it has the log's head locked; `waits_for` has the pids of those that it waits for."""

    pid: int
    role: str
    program: str
    host: str
    state: str
    seconds: float
    writes: bool
    waits_for: tuple[int, ...]


class ServerFacts(msgspec.Struct, frozen=True):
    """`durable` says that a commit is on disk once it is acknowledged; `may_rewrite` that the role could change or
    remove records, which Paddock never does; `may_write` that it can add any."""

    version: str
    standby: bool
    role: str
    database: str
    superuser: bool
    fsync: bool
    full_page_writes: bool
    synchronous_commit: str
    synchronous_standby_names: str
    address: str
    tls: bool
    may_rewrite: bool
    may_write: bool
    standbys: tuple[Standby, ...]
    sessions: tuple[Session, ...]

    @property
    def durable(self) -> bool:
        return self.fsync and self.full_page_writes and self.synchronous_commit not in ("off", "local")


def ask_facts(store: PostgresStore) -> ServerFacts:
    """Raises LogUnusable."""
    events, head = f'"{store.place.schema}".events', f'"{store.place.schema}".head'
    told = store.ask_server(_SERVER, (events,) * 4)
    standbys, sessions = store.ask_server(_STANDBYS)[0], store.ask_server(_SESSIONS, (head,))[0]
    return msgspec.convert(
        dict(zip(ServerFacts.__struct_fields__, (*told, standbys, sessions), strict=True)), ServerFacts
    )


def server_warnings(facts: ServerFacts) -> Iterator[str]:
    """What may cost records, or let others in."""
    if not facts.fsync:
        yield "fsync is off: a crash of the server's machine loses or damages records that were acknowledged"
    if not facts.full_page_writes:
        yield "full_page_writes is off: a crash of the server's machine may damage the log"
    if facts.synchronous_commit in ("off", "local"):
        yield f"synchronous_commit is {facts.synchronous_commit}: the newest records may be lost in a crash or failover"
    if facts.standby:
        yield "this server is a standby: it takes no records until it is promoted"
    elif facts.standbys and not facts.synchronous_standby_names:
        yield "commits wait for no standby (synchronous_standby_names is empty): a failover loses the newest records"
    elif facts.synchronous_standby_names and not facts.standbys:
        yield "commits wait for a standby, and none is connected: nothing is recorded until one is"
    if not facts.tls and facts.address and not _is_local(facts.address):
        yield "the connection is not encrypted: add `?sslmode=verify-full` to [store] url"
    if facts.superuser:
        yield f"`{facts.role}` is a superuser: `paddock store schema` prints the SQL for a role that may only add"
    for one in facts.sessions:
        if one.writes and one.state.startswith("idle in transaction") and one.seconds > _STUCK_SECONDS:
            yield f"pid {one.pid} ({one.program}) has held the log for {one.seconds:.0f} s and does nothing"


_STUCK_SECONDS = 5.0


def _is_local(address: str) -> bool:
    return address.startswith("127.") or address == "::1"
