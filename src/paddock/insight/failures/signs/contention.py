"""How a thing that only one may have says that another has it."""

from paddock.insight.failures.phrases import Sign, listed
from paddock.insight.failures.vocabulary import FailureCause

SIGNS = (
    Sign(
        "port-in-use",
        FailureCause.CONTENTION,
        3,
        "a port that another process has",
        listed(
            """
            address already in use; address in use; eaddrinuse; addrinuse; port is already allocated; port…already
            allocated; port…already in use; port…is in use; port…being used; port…is taken; port…is not available;
            port…occupied; ports are not available; only one usage of each socket address; failed to bind; could not
            bind; cannot bind; can t bind; unable to bind; bind failed; bindexception; bind…permission denied;
            socket…already in use; os error 98; errno 98; errno 48; something is already running on port; another
            process is…listening; address already bound; listen…already in use; socket…in use; could not create
            server tcp listening socket; failed listening on port; could not create any tcp ip sockets; port…already
            bound; wsaeaddrinuse; only one usage of; can t listen on; failed to start server…in use
            """
        ),
    ),
    Sign(
        "name-in-use",
        FailureCause.CONTENTION,
        3,
        "a name that another has",
        listed(
            """
            name…already in use; already in use by; network…already exists; volume…is in use; container…already
            exists; duplicate session; session…already exists; user data directory is already in use; profile
            appears to be in use; is already checked out; already checked out at; already used by worktree;
            worktree…already exists; a branch named…already exists; already attached to; instance…already exists;
            database…already exists; database…is being accessed by other users; role…already exists; http 409; 409
            conflict; status code 409; error code 409; alreadyexists; alreadyexistsexception; resource already
            exists; already exist for a cluster; already exists for a cluster; cluster…already exists;
            namespace…already exists; pool already exists; release…name…in use; cannot re use a name; volume…already
            exists; sandbox…already exists; there is already a container; device already exists; tun…busy;
            display…already active; server is already active for display; simulator…in use; emulator…already
            running; avd…already
            """
        ),
        unless=listed("assert"),
    ),
    Sign(
        "lock-held",
        FailureCause.CONTENTION,
        3,
        "a lock that another process holds",
        listed(
            """
            could not get lock; could not obtain lock; could not acquire lock; could not acquire…lock; couldn t
            acquire…lock; failed to acquire lock; failed to acquire…lock; unable to acquire…lock; cannot
            acquire…lock; error acquiring…lock; failed to get lock; failed to lock; unable to lock; could not lock;
            cannot lock; can t lock; acquiring the state lock; frontend lock; waiting for cache lock; waiting for
            file lock; waiting for…lock; waiting to lock; lock…held by; is locked by; locked by another; held by
            process; held by another; another process is holding; another process has locked; index lock…exists;
            lock file exists; lock…file exists; lock file…exists; lockfile…exists; lock exists; another git process;
            database is locked; table is locked; database is busy; sqlite busy; sqlite3 operationalerror…locked;
            deadlock detected; deadlock found; lock wait timeout; lock timeout; locktimeout; could not serialize
            access; used by another process; used by another program; another instance; another copy of; already
            running; pid file…exists; pidfile…exists; postmaster pid…exists; resource busy; ebusy; text file busy;
            etxtbsy; lease…held; already holds; already held; holds the lock; holds the lease; conflicting
            operation; concurrent update; concurrent modification; operation…in progress; could not lock config
            file; unable to create…lock; blocking waiting for file lock; timeout waiting to lock; timeout waiting
            for lock; timed out waiting for lock; timeout waiting to acquire; timed out acquiring; lock could not be
            acquired; locked by…pid; state…locked; error locking state; state lock; another apply; another upgrade;
            another release; another migration; upgrade in progress; install upgrade or rollback…in progress;
            dpkg…locked; rpm database…locked; the process cannot access the file; cannot delete…in use; device or
            resource busy; worktree…locked; fatal unable to create…exists; packed refs lock; cannot lock ref;
            writeconflict; could not obtain advisory lock; failed to get…lock; is another process using;
            another command…is running
            """
        ),
        unless=listed("cannot lock ref…unable to resolve; lockfile version; frozen lockfile"),
    ),
    Sign(
        "exists-already",
        FailureCause.CONTENTION,
        1,
        "something that exists already",
        listed(
            """
            already exists; file exists; eexist; errno 17; os error 17; fileexistserror; already in use
            """
        ),
        unless=listed("assert; directory already exists and is not an empty; skipping"),
    ),
)
