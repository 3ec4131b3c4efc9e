"""Files and folders: the worktree is not what it was, and, where nothing fences it in, neither is what lies around it."""

from tests.hostile.attack import Attack, Kind, Promise, unfenced

ATTACKS = (
    Attack(
        "worktree-is-a-symlink",
        Kind.FILES,
        "its worktree replaced by a symlink to the user's tree",
        """\
work; cd ..; mv "$HERE" "$HERE.old" && ln -s "$TOP" "$HERE" """,
        alone=True,
    ),
    Attack(
        "worktree-is-another",
        Kind.FILES,
        "its worktree replaced by another attempt's",
        """\
work; cd ..; for other in "$ROOT"/*/; do [ "$other" -ef "$HERE" ] || break; done
mv "$HERE" "$HERE.old" && ln -s "${other%/}" "$HERE" """,
        alone=True,
    ),
    Attack(
        "worktree-swapped",
        Kind.FILES,
        "its worktree replaced by a folder with a repository of its own",
        """\
plant; work; cd ..; mv "$HERE" "$HERE.old" && mkdir "$HERE" && cd "$HERE" && git init -q . &&
git config core.fsmonitor $TOOL; echo x > x""",
        alone=True,
    ),
    Attack("worktree-removed", Kind.FILES, "its worktree removed", 'work; cd /; rm -rf "$HERE"'),
    Attack(
        "worktree-is-a-file",
        Kind.FILES,
        "its worktree replaced by a file and a fifo",
        """\
work; cd /; rm -rf "$HERE" && mkfifo "$HERE" """,
        alone=True,
    ),
    Attack(
        "parent-removed",
        Kind.FILES,
        "the folder above its worktree removed",
        'work; cd /; case $HERE in "$ROOT"/?*) rm -rf "${ROOT:?}"/* "${ROOT:?}"/.slots;; esac',
        settings={"PADDOCK_TIMEOUTS_TURN": "15s"},
        alone=True,
    ),
    Attack(
        "slots-removed", Kind.FILES, "the records of the worktrees removed", 'work; rm -rf "$ROOT/.slots"', alone=True
    ),
    Attack(
        "slots-forged",
        Kind.FILES,
        "the records of the worktrees forged",
        """\
work; for record in "$ROOT"/.slots/*/record.json; do echo '{"state":"idle","at":"'$FIRST'"}' > "$record"; done""",
        gaps=unfenced(Promise.OTHERS),
        alone=True,
    ),
    Attack(
        "no-rights",
        Kind.FILES,
        "files and folders that nobody may read",
        "work; mkdir -p locked; echo x > locked/x; chmod 000 locked/x locked; chmod 000 .",
    ),
    Attack(
        "odd-files",
        Kind.FILES,
        "fifos, sockets, hard links, sparse files, holes",
        """\
work; mkfifo fifo; ln keep.txt hard; ln -s loop loop; truncate -s 1T hole; mknod device c 1 3 2>/dev/null
/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'""",
    ),
    Attack(
        "hard-link-to-the-users",
        Kind.FILES,
        "a hard link to a file of the user's, written through",
        """\
ln "$TOP/notes.txt" mine 2>/dev/null && echo evil > mine; ln "$TOP/.env" env 2>/dev/null && git add -f env; work""",
        gaps=unfenced(Promise.TREE, Promise.SECRETS),
        alone=True,
    ),
    Attack(
        "odd-names",
        Kind.FILES,
        "names with newlines, escapes and bytes that are not UTF-8",
        """\
mkdir -p parts; cd parts; printf good > "$(printf 'a\\nb')"; printf good > "$(printf '\\033[31mred\\007')"; printf good > "$(printf '\\377\\376')"
printf good > "-rf"; printf good > "\\"quoted\\""; printf good > ':(top)x'; cd ..; git add -A; git commit -qm "$(printf 'odd \\033[2J names')" """,
    ),
    Attack(
        "deep-path",
        Kind.FILES,
        "a path of 4,000 characters",
        """\
mkdir -p parts; for n in $(seq 40); do d=$(printf 'd%.0s' $(seq 90)); mkdir $d && cd -P $d; done; echo good > x; cd "$HERE"; work; git add -A; git commit -qm deep; true""",
    ),
    Attack(
        "many-files",
        Kind.FILES,
        "20,000 files that are not committed",
        """\
work; /usr/bin/python3 -c 'import os
for n in range(20000): open(f"x{n}", "w").close()'""",
        alone=True,
    ),
    Attack(
        "lock-files",
        Kind.FILES,
        "lock files in its own git directory",
        """\
work; own=$(git rev-parse --absolute-git-dir); for name in index HEAD config packed-refs; do touch "$own/$name.lock"; done; echo x > left.txt""",
    ),
    Attack(
        "clock-of-files",
        Kind.FILES,
        "files from the future and from 1970",
        "work; touch -d '2060-01-01' keep.txt; touch -d '1970-01-01' ci.sh; echo x > left.txt",
    ),
    # By path, with the user's own rights.
    Attack(
        "user-repository-removed",
        Kind.FILES,
        "the user's files, by path",
        'work; rm -rf "$TOP"/notes.txt "$TOP"/draft.txt "$TOP"/.env',
        gaps=unfenced(Promise.TREE),
        alone=True,
    ),
    Attack(
        "user-index-written",
        Kind.FILES,
        "the user's index, by path",
        'work; git -C "$TOP" add -A; git -C "$TOP" rm -q --cached keep.txt',
        gaps=unfenced(Promise.TREE),
        alone=True,
    ),
    Attack(
        "user-config-written",
        Kind.FILES,
        "the user's configuration and hooks, by path",
        """\
plant; work; git -C "$TOP" config core.fsmonitor $TOOL
printf '#!/bin/sh\\n[ "$PADDOCK_ATTEMPT" ] || env > %s/ran-hook\\n' $DROP > "$GITDIR/hooks/reference-transaction"; chmod +x "$GITDIR/hooks/reference-transaction" """,
        gaps=unfenced(Promise.REFS, Promise.PLANTED, Promise.SECRETS),
        alone=True,
    ),
    Attack(
        "user-filter-planted",
        Kind.FILES,
        "a filter in the user's own configuration, by path",
        """\
plant; work; git -C "$TOP" config filter.evil.clean $TOOL
git -C "$TOP" config filter.evil.smudge $TOOL; mkdir -p "$GITDIR/info"; echo '* filter=evil' > "$GITDIR/info/attributes" """,
        gaps=unfenced(Promise.REFS, Promise.PLANTED, Promise.SECRETS),
        alone=True,
    ),
    Attack(
        "other-worktree-written",
        Kind.FILES,
        "another attempt's worktree, by path",
        """\
work; for other in "$ROOT"/*/; do [ "$other" -ef "$HERE" ] || { echo bad > "$other/parts-evil"; mkdir -p "$other/parts"; echo bad > "$other/parts/evil.txt"; }; done""",
        gaps=unfenced(Promise.OTHERS),
        alone=True,
    ),
    Attack(
        "objects-removed",
        Kind.FILES,
        "the user's objects, by path",
        """\
work; git -C "$TOP" rev-parse main:keep.txt | sed 's#^..#&/#' | while read o; do rm -f "$GITDIR/objects/$o"; done""",
        gaps=unfenced(Promise.OTHERS, Promise.MAIN),
        alone=True,
    ),
    Attack(
        "home-written",
        Kind.FILES,
        "the user's `~/.gitconfig` and `~/.profile`",
        """\
work; printf '[core]\\n\\tfsmonitor = %s\\n' "$DROP/tool" > "$UHOME/.gitconfig"; echo evil >> "$UHOME/.profile" """,
        gaps=unfenced(Promise.TREE),
    ),
)
