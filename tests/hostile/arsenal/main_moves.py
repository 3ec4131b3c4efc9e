"""Main moved, and locks left, by path in the user's repository: with the user's rights it can be done; it must be seen."""

from tests.hostile.attack import Attack, Kind, Promise, unfenced

_RED = """\
G="git -C $TOP"; evil=$(echo bad | $G hash-object -w --stdin)
parts=$( { $G ls-tree main:parts; printf '100644 blob %s\\tevil.txt\\n' $evil; } | $G mktree)
tree=$( { $G ls-tree main | grep -v '	parts$'; printf '040000 tree %s\\tparts\\n' $parts; } | $G mktree)
bad=$($G commit-tree $tree -p main -m Evil)
"""
_GREEN = """\
G="git -C $TOP"; bad=$($G commit-tree $($G rev-parse main^{tree}) -p main -m Foreign)
"""
_RESTORE = (("queue", "restore"),)


def _by_path(name: str, what: str, script: str, *promises: Promise, **more: object) -> Attack:
    return Attack(name, Kind.LANDING, what, script, gaps=unfenced(*promises), alone=True, **more)  # type: ignore[arg-type]


ATTACKS = (
    _by_path(
        "red-main-by-path",
        "main moved to a red commit in the user's repository",
        _RED + "$G update-ref refs/heads/main $bad; work",
        person=_RESTORE,
    ),
    _by_path(
        "green-main-by-path",
        "main moved to an untested commit that passes",
        _GREEN + "$G update-ref refs/heads/main $bad; work",
    ),
    _by_path(
        "main-rewound-by-path",
        "main moved back to an older commit",
        "git -C $TOP update-ref refs/heads/main $FIRST; work",
        Promise.OTHERS,
        person=_RESTORE,
    ),
    _by_path(
        "main-moved-and-back",
        "main moved to a red commit and back at once",
        _RED + "old=$($G rev-parse main); $G update-ref refs/heads/main $bad; $G update-ref refs/heads/main $old; work",
        Promise.MAIN,
    ),
    _by_path(
        "main-moved-again-and-again",
        "main moved each time the queue is about to land",
        _GREEN
        + """\
for n in 1 2 3 4 5; do bad=$($G commit-tree $($G rev-parse main^{tree}) -p main -m "Foreign $n"); $G update-ref refs/heads/main $bad; sleep 0.3; done; work""",
        Promise.MAIN,
    ),
    _by_path(
        "main-is-a-symbolic-ref",
        "main as a symbolic ref",
        "git -C $TOP symbolic-ref refs/heads/main refs/heads/mine; work",
        Promise.REFS,
        Promise.MAIN,
        Promise.OTHERS,
    ),
    _by_path("main-lock-left", "`main.lock` left behind", 'work; touch "$GITDIR/refs/heads/main.lock"', Promise.OTHERS),
    _by_path(
        "index-lock-left",
        "`index.lock` of the user's tree left behind",
        'work; touch "$GITDIR/index.lock"',
        Promise.REFS,
        Promise.TREE,
    ),
    _by_path(
        "packed-refs-lock-left",
        "`packed-refs.lock` and `config.lock` left behind",
        'work; touch "$GITDIR/packed-refs.lock" "$GITDIR/config.lock"',
        Promise.REFS,
        Promise.OTHERS,
        Promise.PROCESSES,
        Promise.SETTLED,
    ),
    _by_path(
        "head-lock-left",
        "`HEAD.lock` left behind",
        'work; touch "$GITDIR/HEAD.lock"',
        Promise.REFS,
        Promise.OTHERS,
    ),
    _by_path(
        "held-refs-lost",
        "the refs that hold queued work, by path",
        "work; git -C $TOP for-each-ref --format='delete %(refname)' refs/paddock | git -C $TOP update-ref --stdin",
    ),
    _by_path(
        "remote-pushed",
        "a red commit pushed to the remote's main",
        _RED + '$G push -qf "$HUB" $bad:refs/heads/main; work',
        Promise.MAIN,
        Promise.OTHERS,
        remote=True,
    ),
    _by_path(
        "remote-gone",
        "the remote moved away for a while",
        'mv "$HUB" "$HUB.old"; sleep 2; mv "$HUB.old" "$HUB"; work',
        remote=True,
    ),
    _by_path(
        "config-broken-by-path",
        "a broken `.git/config` of the user",
        'work; cp "$GITDIR/config" /tmp/config-$$; echo "[broken" >> "$GITDIR/config"; sleep 1; cat /tmp/config-$$ > "$GITDIR/config"; rm -f /tmp/config-$$',
    ),
)
