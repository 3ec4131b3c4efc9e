"""How a machine says that it has no more of something."""

from paddock.insight.failures.phrases import Sign, listed
from paddock.insight.failures.vocabulary import FailureCause

SIGNS = (
    Sign(
        "disk-full",
        FailureCause.SATURATION,
        3,
        "disk full",
        listed(
            """
            no space left; enospc; errno 28; os error 28; disk quota exceeded; edquot; disk full; disk is full; not
            enough space; not enough disk; not enough free disk; not enough free space; enough free space in;
            insufficient disk; insufficient space; insufficient free space; out of disk; out of space; low disk
            space; no free inodes; out of inodes; disk space…exhausted; storage…is full; filesystem…full; file
            system…full; write error…space; ephemeral local storage usage exceeds; ephemeral storage; exceeds
            its…emptydir; emptydir…exceeds; database or disk is full; could not extend file; could not write…no
            space; write failed…enospc; no usable space; storage quota; volume is full; thin pool…full; thin
            pool…free data blocks; reached low water mark; out of data space; disk pressure; diskpressure; not
            enough room; insufficient storage
            """
        ),
        unless=listed("file watchers"),
    ),
    Sign(
        "out-of-memory",
        FailureCause.SATURATION,
        3,
        "out of memory",
        listed(
            """
            out of memory; outofmemory; outofmemoryerror; outofmemoryexception; oomkilled; oom killed; oom killer;
            oom kill; invoked oom; killed by oom; memory limit exceeded; memory limit reached; exceeded memory
            limit; exceeded…memory limit; memory cgroup; cannot allocate memory; can t allocate memory; could not
            allocate memory; unable to allocate; failed to allocate; memory allocation…failed; allocation failed;
            enomem; errno 12; os error 12; memoryerror; java heap space; heap limit; gc overhead limit; bad alloc;
            insufficient memory; not enough memory; memory exhausted; low on memory; container killed…memory;
            reaped…memory; exit code 137 oom; oomkill; memorypressure; mark compact…near heap limit; reached heap
            limit; hip out of memory; out of swap; worker terminated…memory; worker was sent sigkill; compressed
            class space; std bad_alloc; memory usage…exceeds; exceeded its memory; ran out of memory; not enough
            memory resources; could not reserve enough space
            """
        ),
        unless=listed("cuda driver"),
    ),
    Sign(
        "killed",
        FailureCause.SATURATION,
        2,
        "killed from outside",
        listed(
            """
            exit code is 137; exited with 137; exited 137; exitcode 137; exit 137; code 137; status 137; returned
            137; error 137; signal 9; signal killed; sigkill; killed program; process was killed; was killed by;
            exit code 247; code 143…memory; line…killed; daemon disappeared unexpectedly; may have been killed;
            build daemon…killed
            """
        ),
        unless=listed("kill 9"),
    ),
    Sign(
        "killed-alone",
        FailureCause.SATURATION,
        1,
        "killed from outside",
        listed(
            """
            killed
            """
        ),
        unless=listed("timed out; timeout"),
    ),
    Sign(
        "handles-exhausted",
        FailureCause.SATURATION,
        3,
        "no more files, threads or processes",
        listed(
            """
            too many open files; emfile; enfile; errno 24; os error 24; file table overflow; system limit for number
            of file watchers; inotify…limit; inotify watch; no space left on device…watch; can t start new thread;
            cannot start new thread; unable to create…thread; unable to create native thread; failed to create
            thread; failed to create new os thread; pthread create…failed; pthread create…resource; cannot fork; can
            t fork; could not fork; unable to fork; fork failed; fork…retry; fork…cannot allocate; spawn…eagain;
            resource temporarily unavailable; blockingioerror; too many processes; maximum number of processes; pids
            limit; max user processes; no more processes; out of pty; out of ptys; openpty…failed; inotify
            instances; inotify add watch; fs inotify; nproc; pids cgroup; fork rejected by pids; cannot create
            thread; thread creation failed; unable to start new; no file descriptors; out of file descriptors; could
            not create…thread; uv thread create; fork…resource
            """
        ),
    ),
    Sign(
        "pool-exhausted",
        FailureCause.SATURATION,
        3,
        "a pool that is used up",
        listed(
            """
            address pool; address pools; fully subnetted; no available network; no available ip; no free ip; no ip
            addresses available; ip addresses…exhausted; subnet…exhausted; pool exhausted; pool is exhausted;
            pool…exhausted; exhausted…pool; pool is full; pool timeout; queuepool limit; pool size…reached; pool
            limit…reached; too many connections; too many clients; remaining connection slots; max
            connections…reached; no available workers; no free workers; no workers available; no slots available; no
            available slots; cannot assign requested address; eaddrnotavail; ephemeral ports; no available devices;
            max virtual; no more addresses; non overlapping ipv4; could not find an available; nf conntrack;
            conntrack table full; table full dropping; no addresses available; no ip addresses; failed to allocate
            for range; failed to assign an ip address; insufficient ips; ip address…not available in; sorry too many
            clients; too many database connections; loop device…no; no available loop
            """
        ),
        unless=listed("http connection pool"),
    ),
    Sign(
        "docker-unresponsive",
        FailureCause.SATURATION,
        3,
        "the container daemon does not answer",
        listed(
            """
            unixhttpconnectionpool…timed out; unixhttpconnectionpool…timeout; http docker…timed out; docker…read
            timed out; docker daemon…timed out; docker daemon…not respond; docker daemon…unresponsive; docker
            daemon…overload; response from daemon…deadline exceeded; response from daemon…timed out; response from
            daemon…timeout; containerd…deadline exceeded; containerd…timeout; containerd…timed out; docker
            sock…timeout; docker sock…deadline; timed out…docker sock; connection aborted…docker sock; docker
            compose…timed out; docker…compose…timed out; timeout waiting for container; timed out waiting for
            container; timed out waiting for the container; container…did not start in time; container…failed to
            start in time; timed out waiting for sandbox; timeout waiting for sandbox; failed to create sandbox;
            failed to create pod sandbox; timed out waiting for the vm; environment…start timed out; environment
            start timeout; timed out starting; timed out while starting; failed to start…environment…time;
            containerstart…timeout; an http request took too long to complete; docker endpoint…timeout; failed to
            create containerd task; runc…timed out; error during connect…docker; dockerd…not responding; pleg is not
            healthy; container runtime is down; nodenotready; kubelet stopped posting; rpc error…deadlineexceeded;
            waiting for container…timed out; failed to create shim; runtime did not start; sandbox did not start;
            machine did not start
            """
        ),
        unless=listed("docker io; registry; proxyconnect; lookup; dial tcp; auth docker"),
    ),
    Sign(
        "docker-absent",
        FailureCause.SATURATION,
        2,
        "no container daemon",
        listed(
            """
            cannot connect to the docker daemon; is the docker daemon running; docker daemon is not running;
            error while fetching server api version; failed to connect to the docker api; unable to connect to
            docker; docker desktop is…not running; dockerexception
            """
        ),
    ),
    Sign(
        "machine-full",
        FailureCause.SATURATION,
        3,
        "no room on the machine",
        listed(
            """
            insufficient cpu; insufficient resources; insufficient system resources; not enough cpu; not enough
            resources; out of resources; out of resource; low on resource; unschedulable; failedscheduling; nodes
            are available…insufficient; was evicted; pod…evicted; the node was low; load average…too high; load is
            too high; system overload; machine is overloaded; host is overloaded; worker…lost…heartbeat; spot
            instance…reclaimed; 0 nodes are available; too many pods; exceeded quota…pods; maximum number of
            containers; node had condition; outofcpu; outofpods; scheduler…no capacity; reason evicted; status
            evicted; pod was evicted; reason preempted; node was preempted; instance…preempted
            """
        ),
    ),
    Sign(
        "bad-disk",
        FailureCause.SATURATION,
        2,
        "the file system fails",
        listed(
            """
            input output error; i o error; errno 5; os error 5; read only file system; erofs; errno 30; stale
            file handle; estale; transport endpoint is not connected; structure needs cleaning
            """
        ),
        unless=listed("sandbox policy; bubblewrap"),
    ),
)
