"""Refs and the repository's own upkeep, asked of the git that an agent finds in its worktree."""

from tests.hostile.attack import Attack, Kind

# An untested commit, red and on top of what main is.
EVIL = """\
evil=$(printf 'bad\\n' | git hash-object -w --stdin)
parts=$( { git ls-tree main:parts; printf '100644 blob %s\\tevil.txt\\n' "$evil"; } | git mktree)
tree=$( { git ls-tree main | grep -v '\tparts$'; printf '040000 tree %s\\tparts\\n' "$parts"; } | git mktree)
bad=$(git commit-tree "$tree" -p main -m "Evil")
"""

ATTACKS = (
    Attack(
        "main-moved", Kind.GIT, "`git update-ref refs/heads/main`", EVIL + "git update-ref refs/heads/main $bad; work"
    ),
    Attack("main-deleted", Kind.GIT, "`git update-ref -d refs/heads/main`", "git update-ref -d refs/heads/main; work"),
    Attack(
        "main-forced",
        Kind.GIT,
        "`git branch -f main`, `git checkout -B main`, a push to `.`",
        EVIL
        + "git branch -f main $bad; git push -qf . $bad:refs/heads/main; git checkout -qB main $bad; git switch -q -",
    ),
    Attack(
        "main-fetched-over",
        Kind.GIT,
        "`git fetch . +evil:main --update-head-ok`",
        EVIL + "git update-ref refs/heads/evil $bad; git fetch -q . +evil:main --update-head-ok; work",
    ),
    Attack(
        "head-of-the-user",
        Kind.GIT,
        "HEAD of the user's checkout as `main-worktree/HEAD`",
        "git update-ref --no-deref main-worktree/HEAD $FIRST; git symbolic-ref main-worktree/HEAD refs/heads/mine; work",
    ),
    Attack(
        "branches-deleted",
        Kind.GIT,
        "`git branch -D` and `git tag -d` of everything",
        "git for-each-ref --format='delete %(refname)' | grep -v HEAD | git update-ref --stdin; work",
    ),
    Attack(
        "ref-by-ref-deleted",
        Kind.GIT,
        "each ref deleted on its own, Paddock's included",
        "for ref in $(git for-each-ref --format='%(refname)'); do git update-ref -d $ref; done; work",
    ),
    Attack(
        "paddock-refs-deleted",
        Kind.GIT,
        "the refs that hold queued and kept work",
        "git for-each-ref --format='delete %(refname)' refs/paddock | git update-ref --stdin; work",
    ),
    Attack(
        "paddock-refs-pointed-elsewhere",
        Kind.GIT,
        "the refs that hold queued work, at another commit",
        EVIL
        + "for ref in $(git for-each-ref --format='%(refname)' refs/paddock refs/heads/paddock); do "
        + 'git update-ref "$ref" $bad; done; work',
    ),
    Attack(
        "worktrees-pruned",
        Kind.GIT,
        "`git worktree prune` and `remove --force`",
        """\
for tree in $(git worktree list --porcelain | sed -n 's/^worktree //p'); do
  case $tree in "$HERE"|"$TOP") ;; "$YARD"/*) git worktree remove --force --force "$tree";; esac
done
git worktree prune --expire=now; work""",
    ),
    Attack(
        "worktree-of-main",
        Kind.GIT,
        "a worktree of its own that has main checked out",
        "git worktree add -qf ./mine main && cd mine && echo bad > evil && git add evil && git commit -qm Evil",
    ),
    Attack(
        "collected",
        Kind.GIT,
        "`git gc --prune=now` after the reflogs have expired",
        "git reflog expire --expire=now --all; git gc -q --prune=now; git repack -qad; git prune --expire=now; work",
    ),
    Attack(
        "stash-dropped",
        Kind.GIT,
        "stashes of the user, and a stash of its own",
        "echo x >> keep.txt; git stash -q; git stash clear; work",
    ),
    Attack(
        "replaced",
        Kind.GIT,
        "`git replace` of main's commit and of a file",
        EVIL + "git replace -f $(git rev-parse main) $bad; git replace -f $(git rev-parse main:keep.txt) $evil; work",
    ),
    Attack(
        "grafted",
        Kind.GIT,
        "info/grafts and a shallow file that cut history off",
        "common=$(git rev-parse --git-common-dir); mkdir -p $common/info; "
        "git rev-parse main > $common/info/grafts; git rev-parse HEAD > $common/shallow; work",
    ),
    Attack(
        "branch-in-the-way",
        Kind.GIT,
        "branches whose names leave no room for those of tasks",
        "for n in 1 2 3 4 5 6 7 8 9; do git branch paddock/t$n/x; git branch paddock/t$n-later/y; done; "
        "git update-ref refs/paddock/x HEAD; work",
    ),
    Attack(
        "branch-switched",
        Kind.GIT,
        "its own branch left, renamed and deleted",
        "own=$(git branch --show-current); work; git checkout -q --detach; git branch -m $own gone; git branch -D gone; true",
    ),
    Attack(
        "other-branch-taken",
        Kind.GIT,
        "the branch of another attempt, moved and checked out",
        "for b in $(git for-each-ref --format='%(refname:short)' refs/heads/paddock); do "
        "git checkout -q --ignore-other-worktrees $b && git commit -q --allow-empty -m taken; done; work",
    ),
    Attack(
        "symbolic-refs",
        Kind.GIT,
        "its branch as a symbolic ref to main, HEAD as main",
        "own=$(git symbolic-ref HEAD); git symbolic-ref $own refs/heads/main; work; git symbolic-ref HEAD refs/heads/main; "
        "echo bad > parts/evil; git add .; git commit -qm Evil",
    ),
    Attack(
        "many-refs",
        Kind.GIT,
        "20,000 refs",
        'seq 1 20000 | sed "s#.*#create refs/heads/x/& $(git rev-parse HEAD)#" | git update-ref --stdin; work',
    ),
    Attack(
        "remote-changed",
        Kind.GIT,
        "`git remote set-url`, a push to the real remote's main",
        'git remote set-url hub /nowhere; git push -q --force "$HUB" HEAD~0:refs/heads/evil 2>/dev/null; '
        "git remote remove hub; work",
        remote=True,
    ),
    Attack(
        "notes-and-bisect",
        Kind.GIT,
        "a rebase, a bisect and a merge left open",
        "git notes add -m x; git bisect start -q; git update-ref MERGE_HEAD HEAD; git update-ref refs/stash HEAD; "
        "mkdir -p $(git rev-parse --git-dir)/rebase-merge; echo x > parts; git add parts",
    ),
)
