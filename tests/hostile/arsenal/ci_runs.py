"""Code that comes with a change and is run by CI: the same attacks a second time, from there."""

from tests.hostile.attack import Attack, Kind, Promise, unfenced


def _in_ci(name: str, what: str, script: str, *promises: Promise, **more: object) -> Attack:
    """The test is written by the agent and run by CI, where it learns the yard's paths from the text."""
    head = "NAME=%s; YARD=%s; TOP=%s; GITDIR=$TOP/.git; STATE=$GITDIR/paddock; LOG=$STATE/log.db; ROOT=%s; UHOME=%s; DROP=%s\\n"
    told = '"$NAME" "$YARD" "$TOP" "$ROOT" "$UHOME" "$DROP"'
    body = f"mkdir -p tests parts; {{ printf '{head}' {told}; cat <<'EOF'\n[ \"$PADDOCK_CI\" ] || exit 0\n{script}\nEOF\n}} > tests/$NAME.sh; git add tests; work"
    return Attack(name, Kind.CI, what, body, gaps=unfenced(*promises), alone=True, **more)  # type: ignore[arg-type]


ATTACKS = (
    _in_ci(
        "ci-moves-main",
        "`git update-ref refs/heads/main` in a CI run",
        "git update-ref refs/heads/main HEAD~1; git branch -f main HEAD~1; exit 0",
    ),
    _in_ci(
        "ci-plants-config",
        "hooks and filters planted in CI's repository",
        """\
printf '#!/bin/sh\\nenv > %s/ran-ci\\ncat\\n' "$DROP" > "$TMPDIR/tool"; chmod +x "$TMPDIR/tool"; git config core.fsmonitor "$TMPDIR/tool"
git config filter.x.clean "$TMPDIR/tool"; git config filter.x.smudge "$TMPDIR/tool"; mkdir -p .git/info .git/hooks; echo '* filter=x' > .git/info/attributes
cp "$TMPDIR/tool" .git/hooks/post-checkout; exit 0""",
    ),
    _in_ci(
        "ci-poisons-its-sandbox",
        "a CI sandbox changed for the next run",
        "echo 'exit 0' > ci.sh; echo poisoned > keep.txt; git update-index --assume-unchanged ci.sh keep.txt; exit 0",
    ),
    _in_ci(
        "ci-daemonises",
        "`env -i setsid` children of a CI run",
        """env -i setsid sh -c "exec sleep 300 # stays-$YARD" </dev/null >/dev/null 2>&1 & exit 0""",
        Promise.PROCESSES,
    ),
    _in_ci(
        "ci-reads-secrets",
        "secrets read by a CI run",
        'cat "$UHOME/.ssh/id_ed25519" "$TOP/.env" "$ROOT"/*/private.key; strings "$LOG" 2>/dev/null | grep -a canary; env; exit 0',
        Promise.SECRETS,
    ),
    _in_ci(
        "ci-reads-environments",
        "environments of other processes read by a CI run",
        'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\\\0" "\\\\n" | grep -a canary > "$DROP/env-$NAME"; exit 0',
        Promise.SECRETS,
    ),
    _in_ci(
        "ci-writes-the-users",
        "the user's files written by a CI run",
        'echo evil >> "$TOP/notes.txt"; exit 0',
        Promise.TREE,
    ),
    _in_ci(
        "ci-hangs",
        "a CI run that ignores TERM and never ends",
        "trap '' TERM; while :; do sleep 1; done",
        never_lands=True,
        settings={"PADDOCK_LAND_TIMEOUT": "6s"},
    ),
    _in_ci(
        "ci-swaps-its-tree",
        "a CI run that replaces its sandbox by a symlink to the user's tree",
        'cd ..; here=$(ls -d */ | head -1); mv "${here%/}" gone && ln -s "$TOP" "${here%/}"; exit 0',
    ),
    _in_ci(
        "ci-kills",
        "a CI run that kills whatever has the log open",
        'for p in /proc/[0-9]*; do ls -l $p/fd 2>/dev/null | grep -q "$LOG" && kill -KILL ${p#/proc/}; done; exit 0',
        Promise.DAEMON,
    ),
    _in_ci(
        "ci-calls-paddock",
        "a CI run that calls paddock",
        '"' + "$(command -v paddock || echo true)" + '" -C "$TOP" queue freeze; exit 0',
    ),
    _in_ci(
        "ci-forges-its-verdict",
        "a CI run that fails and writes that it passed",
        'find "$STATE/runs" -type d | while read f; do echo 0 > "$f/turn-1.exit"; done; exit 1',
        never_lands=True,
    ),
    _in_ci(
        "ci-floods", "80 MB of output of a CI run", "yes $(printf '\\033[31mx%.0s' 1 2 3) | head -c 80000000; exit 0"
    ),
)
