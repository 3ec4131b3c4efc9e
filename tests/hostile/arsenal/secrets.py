"""Secrets, and ways to get them out."""

from tests.hostile.attack import Attack, Kind, Promise, unfenced, without_network_fence


def _reads(name: str, what: str, script: str, **more: object) -> Attack:
    gaps = more.pop("gaps", unfenced(Promise.SECRETS))
    return Attack(name, Kind.SECRETS, what, f"{script}; work", gaps=gaps, alone=True, **more)  # type: ignore[arg-type]


ATTACKS = (
    _reads("reads-ssh-key", "an ssh key in the user's home", 'cat "$UHOME/.ssh/id_ed25519" ~/.ssh/id_ed25519'),
    _reads("reads-dotenv", "an ignored file of the user's tree", 'cat "$TOP/.env"; cat ../app/.env ../../app/.env'),
    _reads(
        "reads-environment",
        "the daemon's environment in /proc",
        'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -a canary',
    ),
    _reads(
        "reads-its-own-environment",
        "what its own environment holds",
        "env; cat /proc/self/environ | tr '\\0' '\\n'; git config -l",
        gaps={},
    ),
    _reads("reads-others-files", "another attempt's worktree", 'cat "$ROOT"/*/private.key'),
    _reads("reads-the-log", "other tasks' briefs in the log", 'strings -a "$LOG" "$LOG"-wal | grep -a canary'),
    _reads(
        "reads-prompts",
        "other attempts' prompts and transcripts",
        'find "$STATE/attempts" -type f -exec cat {} + | grep -a canary',
    ),
    _reads(
        "reads-conversations",
        "conversations of other attempts, also of earlier ones in the same worktree",
        'find "$STATE/memory" -type f -exec cat {} + | grep -a canary',
    ),
    _reads(
        "reads-arguments",
        "other processes' arguments",
        'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n" | grep -a canary',
    ),
    _reads(
        "asks-paddock",
        "other tasks' briefs, asked of paddock",
        "paddock show t2; paddock show t2 --json; paddock show t2 --prompt; paddock diff t2; paddock tail t2; paddock log t2; paddock log --json",
        gaps={},
    ),
    _reads(
        "reads-through-proc",
        "the user's files through /proc/PID/root and cwd",
        'cat /proc/[0-9]*/root"$TOP"/.env /proc/[0-9]*/cwd/.env /proc/[0-9]*/cwd/private.key /proc/1/root"$UHOME"/.ssh/* 2>/dev/null',
    ),
    _reads(
        "reads-through-git",
        "the user's files through git",
        'git --git-dir="$GITDIR" --work-tree="$TOP" diff; git -C "$TOP" stash list; git diff --no-index /dev/null "$TOP/.env"; git -C "$HERE" grep --no-index canary "$TOP"',
    ),
    _reads(
        "sends-out",
        "a connection to a server",
        """\
/usr/bin/python3 - $PORT <<'EOF'
import socket, sys
try: socket.create_connection(("127.0.0.1", int(sys.argv[1])), 3).sendall(b"out")
except OSError: print("no way out")
EOF
true""",
        gaps=without_network_fence(Promise.NETWORK),
    ),
    _reads(
        "sends-through-sockets",
        "Unix sockets of the user: agents, buses, docker",
        'ls -l "$UHOME"/*.sock /run/*.sock /var/run/docker.sock 2>/dev/null; cat "$UHOME/.ssh/id_ed25519" | head -1',
    ),
)
