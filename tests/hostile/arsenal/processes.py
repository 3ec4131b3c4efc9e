"""Processes that stay, that pretend, and that reach for others."""

from tests.hostile.attack import Attack, Kind, Promise, unfenced

_STAY = 'exec -a "stays-$YARD" sleep 300'

ATTACKS = (
    Attack(
        "daemonised",
        Kind.PROCESSES,
        "`env -i setsid` children",
        f"""\
env -i PATH=$PATH YARD=$YARD setsid bash -c '{_STAY}' </dev/null >/dev/null 2>&1 & work""",
        gaps=unfenced(Promise.PROCESSES),
    ),
    Attack(
        "forked-twice",
        Kind.PROCESSES,
        "a double fork with an emptied environment, in /",
        f"""\
work; (cd /; env -i setsid bash -c "YARD=$YARD; ({_STAY}) & exit" </dev/null >/dev/null 2>&1 &) """,
        gaps=unfenced(Promise.PROCESSES),
    ),
    Attack(
        "many-daemons",
        Kind.PROCESSES,
        "a chain of processes, each the child of one that has gone",
        """\
work; cat > /tmp/chain-$$.sh <<'EOF'
[ $1 -gt 0 ] || exec -a "stays-$2" sleep 300
env -i setsid bash "$0" $(($1 - 1)) $2 </dev/null >/dev/null 2>&1 &
EOF
env -i setsid bash /tmp/chain-$$.sh 20 $YARD </dev/null >/dev/null 2>&1 &
sleep 0.5; rm -f /tmp/chain-$$.sh""",
        gaps=unfenced(Promise.PROCESSES),
    ),
    Attack(
        "marked-children",
        Kind.PROCESSES,
        "`nohup setsid` children that keep their environment",
        f"nohup setsid bash -c '{_STAY}' >/dev/null 2>&1 & work",
    ),
    Attack(
        "deaf-to-term",
        Kind.PROCESSES,
        "a process that ignores TERM, at its deadline",
        """\
work; echo hangs; trap '' TERM INT HUP; bash -c "trap '' TERM; while :; do sleep 1; done" & while :; do sleep 1; done""",
        hangs=True,
        alone=True,
    ),
    Attack(
        "stops-itself",
        Kind.PROCESSES,
        "it stops itself with SIGSTOP",
        "work; echo hangs; kill -STOP $$",
        hangs=True,
        alone=True,
    ),
    Attack(
        "stops-its-shim",
        Kind.PROCESSES,
        "it stops the process that started it",
        "work; echo hangs; kill -STOP $PPID; sleep 300",
        hangs=True,
        alone=True,
    ),
    Attack(
        "kills-its-shim",
        Kind.PROCESSES,
        "it kills the process that started it, and works on",
        f"""\
work; kill -KILL $PPID; YARD=$YARD; {_STAY}""",
        alone=True,
    ),
    Attack("kills-its-group", Kind.PROCESSES, "it kills its own process group", "work; kill -KILL 0"),
    Attack(
        "kills-the-daemon",
        Kind.PROCESSES,
        "it kills whatever has the log open",
        """\
work; for p in /proc/[0-9]*; do ls -l $p/fd 2>/dev/null | grep -q "$LOG" && kill -KILL ${p#/proc/}; done; true""",
        gaps=unfenced(Promise.DAEMON),
        alone=True,
    ),
    Attack(
        "stops-the-daemon",
        Kind.PROCESSES,
        "it stops whatever has the log open, for a while",
        """\
work; for p in /proc/[0-9]*; do ls -l $p/fd 2>/dev/null | grep -q "$LOG" && { kill -STOP ${p#/proc/}; sleep 2; kill -CONT ${p#/proc/}; }; done; true""",
        alone=True,
    ),
    Attack(
        "kills-others",
        Kind.PROCESSES,
        "it kills the agents of others, by their worktrees",
        """\
work; for p in /proc/[0-9]*; do case $(readlink $p/cwd) in "$HERE"*) ;; "$ROOT"/*) kill -KILL ${p#/proc/};; esac; done; true""",
        alone=True,
    ),
    Attack(
        "traces-others",
        Kind.PROCESSES,
        "it attaches to another agent with ptrace and stays attached",
        """\
work; for p in /proc/[0-9]*; do case $(readlink $p/cwd) in "$HERE"*) ;; "$ROOT"/*)
timeout 3 strace -qq -o /dev/null -p ${p#/proc/} & ;; esac; done; wait""",
        alone=True,
    ),
    Attack(
        "takes-ports",
        Kind.PROCESSES,
        "it listens on the ports of others",
        """\
work; /usr/bin/python3 - <<'EOF'
import os, socket
base = int(os.environ.get("PADDOCK_PORT_BASE", os.environ.get("PADDOCK_PORT", "20000")))
kept = []
for port in range(base - 100, base + 200):
    try:
        s = socket.socket(); s.bind(("127.0.0.1", port)); s.listen(); kept.append(s)
    except OSError: pass
EOF""",
    ),
    Attack(
        "exit-forged",
        Kind.PROCESSES,
        "it writes the file that says how it ended",
        """\
echo 0 > "$MINE/turn-1.exit"; work; sleep 1; exit 7""",
        alone=True,
    ),
    Attack(
        "exit-is-a-folder",
        Kind.PROCESSES,
        "`mkdir turn-1.exit`",
        """\
mkdir "$MINE/turn-1.exit"; work""",
        alone=True,
    ),
    Attack(
        "exit-is-a-fifo",
        Kind.PROCESSES,
        "`mkfifo turn-1.exit turn-1.ending`",
        """\
mkfifo "$MINE/turn-1.exit" "$MINE/turn-1.ending"; work""",
        alone=True,
    ),
    Attack(
        "claim-forged",
        Kind.PROCESSES,
        "it writes the file that says who runs it",
        """\
work; for p in "$STATE"/attempts/*/*/*/turn-1.pid; do
[ "$p" -ef "$MINE/turn-1.pid" ] || { cat "$p" > "$MINE/turn-1.pid"; break; }; done""",
        alone=True,
    ),
    Attack(
        "claim-removed",
        Kind.PROCESSES,
        "it removes the file that says who runs it",
        """\
rm -f "$MINE"/turn-1.pid; work; sleep 1""",
        alone=True,
    ),
    Attack(
        "transcripts-truncated",
        Kind.PROCESSES,
        "it truncates its own output and makes it a fifo",
        """\
work; : > "$MINE/turn-1.out"; rm -f "$MINE/turn-1.err"; mkfifo "$MINE/turn-1.err" """,
        alone=True,
    ),
    Attack(
        "transcripts-removed",
        Kind.PROCESSES,
        "it removes the folder of its attempt",
        """\
work; rm -rf "$MINE"; true""",
        alone=True,
    ),
    Attack("ended-by-signal", Kind.PROCESSES, "it ends by SEGV with a stop between", "work; kill -SEGV $$"),
    Attack("reaped-late", Kind.PROCESSES, "200 zombies", "work; for n in $(seq 200); do (exit 0) & done; exec sleep 1"),
    Attack(
        "holds-the-output",
        Kind.PROCESSES,
        "a child that keeps its output open after it has ended",
        """\
work; (sleep 4; echo late; exec -a "stays-$YARD" sleep 300) & exit 0""",
    ),
)
