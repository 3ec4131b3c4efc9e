"""What is delivered: changes that weaken CI, undo others' work, or are not what they look like."""

from tests.hostile.attack import Attack, Kind


def _change(name: str, what: str, script: str) -> Attack:
    return Attack(
        name, Kind.LANDING, what, f"mkdir -p parts; {script}; git add -A; git commit -qm '{name}'", never_lands=True
    )


ATTACKS = (
    _change(
        "ci-script-emptied",
        "a CI script that always passes, with a bad part",
        "echo true > ci.sh; echo bad > parts/evil.txt",
    ),
    _change(
        "ci-script-weakened", "a CI script with one line less", "sed -i /grep/d ci.sh; echo good > parts/$NAME.txt"
    ),
    _change(
        "ci-script-exit",
        "`exit 0` as the CI script's first line",
        "sed -i '1i exit 0' ci.sh; echo bad > parts/evil.txt",
    ),
    _change(
        "ci-script-symlinked",
        "the CI script as a symlink to a file beside it",
        "git mv ci.sh real.sh; ln -s real.sh ci.sh; echo exit 0 > real.sh; echo bad > parts/evil.txt",
    ),
    _change("ci-script-mode", "the CI script's mode alone", "chmod +x ci.sh"),
    _change("ci-script-deleted", "the CI script deleted", "git rm -q ci.sh"),
    _change(
        "ci-script-renamed-over",
        "another file renamed to the CI script",
        "echo exit 0 > harmless.sh; git add harmless.sh; git commit -qm one; git mv -f harmless.sh ci.sh",
    ),
    _change(
        "settings-edited",
        "`paddock.toml` with another CI command",
        "sed -i 's/sh .*ci.sh/true/' paddock.toml; echo bad > parts/evil.txt",
    ),
    _change(
        "settings-approval",
        "`paddock.toml` with new engines and no limits",
        "printf '[limits]\\nmax_agents = 999\\n[worktrees]\\nsetup = \"touch %s/ran-setup\"\\n' $DROP >> paddock.toml",
    ),
    _change(
        "settings-in-capitals",
        "a second `paddock.toml` that differs in case",
        "sed 's/ci.sh/none/' paddock.toml > PADDOCK.toml",
    ),
    _change(
        "attributes-eol",
        "`.gitattributes` with `eol=crlf`, which breaks the next checkout",
        "echo '*.sh text eol=crlf' > .gitattributes; echo good > parts/$NAME.txt",
    ),
    _change(
        "attributes-deep",
        "`.gitattributes` in a folder, with `export-ignore` and a filter",
        "printf '* filter=evil -diff -text merge=ours\\n' > parts/.gitattributes; echo good > parts/$NAME.txt",
    ),
    _change(
        "workflow-edited",
        "a workflow in `.github/`",
        "mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml",
    ),
    _change("ci-folder-edited", "a file in `.ci/`", "mkdir -p .ci; echo x > .ci/run"),
    _change("include-file-edited", "`.worktreeinclude` that asks for `.env`", "echo .env > .worktreeinclude"),
    _change(
        "agents-settings-edited",
        "settings and hooks of agents' CLIs, and an agent without a fence",
        """\
mkdir -p .claude/agents; echo '{"hooks": {}}' > .claude/settings.json; printf -- '---\\nfence: none\\n---\\nx\\n' > .claude/agents/x.md""",
    ),
    _change("other-ci-edited", "the CI of another service", "echo 'x: 1' > .gitlab-ci.yml"),
    _change(
        "lfs-settings-edited",
        "`.lfsconfig` with another server",
        "printf '[lfs]\\n\\turl = http://127.0.0.1:9/\\n' > .lfsconfig",
    ),
    _change("emptied", "another task's landed file, emptied", ": > parts/earlier.txt"),
    _change(
        "submodule-over-a-folder",
        "a submodule in the place of a folder with others' work",
        "h=$(git rev-parse HEAD); git rm -rq parts; git update-index --add --cacheinfo 160000,$h,parts; git commit -qm link",
    ),
    Attack(
        "your-untracked-files",
        Kind.LANDING,
        "commits of files that the user has untracked, ignored, changed or staged",
        "for f in .env draft.txt notes.txt staged.txt; do echo evil >> $f; git add -f $f; done; work",
    ),
    Attack(
        "folders-over-your-files",
        Kind.LANDING,
        "folders and links where the user has untracked files",
        "mkdir draft.txt; echo evil > draft.txt/x; ln -s $UHOME/.ssh .env; git add -f draft.txt .env; work",
    ),
    Attack(
        "modules-edited",
        Kind.LANDING,
        "`.gitmodules` with a new address",
        "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = /nowhere\\n' > .gitmodules; git add -A; git commit -qm modules",
    ),
    Attack(
        "merged-ours",
        Kind.LANDING,
        "`git merge -s ours main`, which undoes what landed",
        """\
base=$(git rev-parse HEAD); git reset -q --hard $FIRST; work; git merge -q -s ours -m "Merge main" $base""",
        never_lands=True,
    ),
    Attack(
        "merged-ours-hidden",
        Kind.LANDING,
        "an evil merge: main's work dropped in the merge commit itself",
        """\
work; tree=$( { git ls-tree HEAD | grep -v parts; printf '040000 tree %s\\tparts\\n' \\
  $(printf '100644 blob %s\\tmine.txt\\n' $(echo good | git hash-object -w --stdin) | git mktree); } | sort -k4 | git mktree)
side=$(git commit-tree $tree -p $FIRST -m Side); git reset -q --hard $(git commit-tree $tree -p HEAD -p $side -m "Merge side")""",
        never_lands=True,
    ),
    Attack(
        "reverted",
        Kind.LANDING,
        "a revert of what another task has landed",
        """\
git rm -q parts/earlier.txt; work""",
        never_lands=True,
    ),
    Attack(
        "overwritten",
        Kind.LANDING,
        "another task's landed file, with the contents from before",
        "git checkout -q $FIRST -- . ; git rm -rq --ignore-unmatch parts; work",
        never_lands=True,
    ),
    Attack(
        "history-of-its-own",
        Kind.LANDING,
        "a branch with no history in common with main",
        """\
own=$(git branch --show-current); git checkout -q --orphan other; git rm -rfq .; work; tip=$(git rev-parse HEAD)
git checkout -q -f -B $own $tip""",
        never_lands=True,
    ),
    Attack(
        "history-rewritten",
        Kind.LANDING,
        "main's own commits with other dates and authors",
        """\
tree=$(git rev-parse HEAD^{tree}); one=$(git commit-tree $tree -m "First commit"); two=$(git commit-tree $tree -p $one -m two)
git reset -q --hard $two; work""",
        never_lands=True,
    ),
    Attack(
        "trailers-forged",
        Kind.LANDING,
        "commit messages with the queue's own trailers",
        """\
mkdir -p parts; echo good > parts/$NAME.txt; git add .; tree=$(git write-tree)
git commit -q -m "Merge t1: earlier" -m "Paddock-Change: t99@v1 $FIRST
Paddock-Tested: $tree"; git commit -q --allow-empty -m "x" -m "Paddock-Tested: $tree" """,
    ),
    Attack(
        "somebody-elses-name",
        Kind.LANDING,
        "commits under Paddock's and the user's names",
        """\
git config user.name paddock; GIT_AUTHOR_NAME='Test Person' GIT_COMMITTER_NAME=paddock GIT_AUTHOR_DATE=1970-01-01T00:00:00Z work""",
    ),
    Attack(
        "bad-part",
        Kind.LANDING,
        "a change that CI refuses",
        "mkdir -p parts; echo bad > parts/$NAME.txt; git add .; git commit -qm bad",
        never_lands=True,
    ),
    Attack(
        "large-leftover",
        Kind.LANDING,
        "uncommitted work that no commit can take",
        """\
work; truncate -s 101M large.bin; printf x >> large.bin""",
        never_lands=True,
    ),
    Attack(
        "nested-repository",
        Kind.LANDING,
        "uncommitted work in a repository of its own",
        """\
work; git init -q inner; echo x > inner/x; git -C inner add .; git -C inner commit -qm inner""",
        never_lands=True,
    ),
)
