"""Code planted in configuration, hooks and attributes, to be run by somebody else's git."""

from tests.hostile.attack import Attack, Kind


def _configured(name: str, what: str, *settings: str, more: str = "", remote: bool = False) -> Attack:
    """Settings in the configuration that git finds, at every place where it can be written; `%` is the planted program."""
    lines = [f"git config{where} {setting.replace('%', '$TOOL')}" for setting in settings for where in _SCOPES]
    script = "plant\n" + "\n".join(lines)
    return Attack(name, Kind.GIT, what, f"{script}\n{more}\nwork; exit 0", remote=remote)


_SCOPES = ("", " --local", " --worktree")
_ATTRIBUTES = """\
for at in $(git rev-parse --git-common-dir) $(git rev-parse --git-dir); do
  mkdir -p $at/info; printf '* filter=evil diff=evil merge=evil\\n' > $at/info/attributes
done"""

ATTACKS = (
    _configured(
        "filter",
        "`filter.*` with attributes for every file",
        "filter.evil.clean %",
        "filter.evil.smudge %",
        more=_ATTRIBUTES,
    ),
    _configured(
        "filter-process",
        "a filter process that is required",
        "filter.evil.process %",
        "filter.evil.required true",
        more=_ATTRIBUTES,
    ),
    _configured(
        "lfs-filter",
        "git-lfs's own filter, replaced",
        "filter.lfs.clean %",
        "filter.lfs.smudge %",
        "filter.lfs.process %",
        more=_ATTRIBUTES.replace("=evil", "=lfs"),
    ),
    _configured(
        "textconv",
        "`diff.*.textconv` and external diff",
        "diff.evil.textconv %",
        "diff.evil.command %",
        "diff.external %",
        more=_ATTRIBUTES,
    ),
    _configured(
        "merge-driver",
        "a merge driver",
        "merge.evil.driver %",
        "merge.default evil",
        more=_ATTRIBUTES
        + """
echo theirs >> keep.txt; git commit -qam keep""",
    ),
    _configured("fsmonitor", "`core.fsmonitor` and `core.hooksPath`", "core.fsmonitor %", "core.hooksPath $DROP/hooks"),
    _configured(
        "pager-and-editor",
        "`core.pager`, `core.editor`, `core.askPass`, `sequence.editor`",
        "core.pager %",
        "core.editor %",
        "core.askPass %",
        "sequence.editor %",
        "pager.log %",
    ),
    _configured(
        "ssh-command",
        "`core.sshCommand`, `core.gitProxy`, `credential.helper`",
        "core.sshCommand %",
        "core.gitProxy %",
        "credential.helper %",
        remote=True,
    ),
    _configured(
        "upload-pack",
        "`uploadpack.packObjectsHook` and `remote.*.uploadpack`",
        "uploadpack.packObjectsHook %",
        "remote.hub.uploadpack %",
        "remote.hub.receivepack %",
        remote=True,
    ),
    _configured(
        "instead-of",
        "`url.*.insteadOf`: another repository for the remote",
        "url.$PWD/.insteadOf $YARD/hub.git",
        "url.ext::sh.pushInsteadOf $YARD",
        "protocol.ext.allow always",
        remote=True,
    ),
    _configured(
        "aliases",
        "aliases for what Paddock calls",
        'alias.status "!%"',
        'alias.rev-parse "!%"',
        'alias.merge-tree "!%"',
    ),
    _configured(
        "included",
        "`include.path` and `includeIf`",
        "include.path $PWD/evil.config",
        "includeIf.gitdir:/**.path $PWD/evil.config",
        more="printf '[core]\\n\\tfsmonitor = %s\\n[filter \"evil\"]\\n\\tclean = %s\\n' $TOOL "
        "$TOOL > evil.config\n" + _ATTRIBUTES,
    ),
    _configured(
        "signing",
        "`gpg.program` with `commit.gpgSign`",
        "gpg.program %",
        "gpg.ssh.program %",
        "commit.gpgSign true",
        "log.showSignature true",
        more="git config commit.gpgSign true",
    ),
    _configured(
        "submodule-update",
        "`submodule.*.update` with a command",
        'submodule.x.update "!%"',
        "submodule.x.url $PWD",
        "submodule.recurse true",
        more="""
git -c protocol.file.allow=always submodule add -q "$PWD" x 2>/dev/null""",
    ),
    _configured("moved-worktree", "`core.worktree` and `core.bare`", "core.worktree $TOP", "core.bare true"),
    _configured(
        "partial-clone",
        "a promisor remote with a command",
        'remote.evil.url "ext::$TOOL"',
        "remote.evil.promisor true",
        "extensions.partialClone evil",
        "core.repositoryFormatVersion 1",
        "protocol.ext.allow always",
    ),
    _configured(
        "unknown-extension",
        "a repository format that no git knows",
        "core.repositoryFormatVersion 1",
        "extensions.evil true",
    ),
    _configured(
        "line-endings",
        "`core.autocrlf`, `core.ignoreCase`, `core.fileMode`, `core.symlinks`",
        "core.autocrlf true",
        "core.eol crlf",
        "core.ignoreCase true",
        "core.fileMode false",
        "core.symlinks false",
        "core.precomposeUnicode true",
        "core.protectHFS false",
        "core.protectNTFS false",
    ),
    _configured(
        "tiny-limits",
        "settings that make git fail",
        "core.packedGitLimit 1",
        "core.bigFileThreshold 1",
        "pack.windowMemory 1",
        "receive.denyNonFastForwards true",
        "transfer.hideRefs refs",
        "gc.auto 1",
        "core.commentChar ab",
        "merge.renames nonsense",
        "core.abbrev nonsense",
    ),
    Attack(
        "broken-config",
        Kind.GIT,
        "a configuration that does not parse",
        """\
for at in $(git rev-parse --git-common-dir) $(git rev-parse --git-dir); do echo '[broken' >> $at/config; done
GIT_CONFIG=/dev/null work; true""",
    ),
    Attack(
        "hooks",
        Kind.GIT,
        "hooks for everything git does",
        """\
for at in $(git rev-parse --git-common-dir) $(git rev-parse --git-dir); do
  mkdir -p $at/hooks; for hook in reference-transaction post-checkout pre-commit post-index-change post-merge pre-push \\
    update pre-receive post-update push-to-checkout; do
    printf '#!/bin/sh\\n[ "$PADDOCK_ATTEMPT" ] || env > %s/ran-hook\\n' $DROP > $at/hooks/$hook; chmod +x $at/hooks/$hook
  done
done; work""",
    ),
    Attack(
        "attributes-file",
        Kind.GIT,
        "info/attributes that change what is checked out",
        """\
for at in $(git rev-parse --git-common-dir) $(git rev-parse --git-dir); do
  mkdir -p $at/info; printf '* text eol=crlf ident working-tree-encoding=UTF-16\\n' > $at/info/attributes
done; git -c core.attributesFile=/dev/null commit -q --allow-empty -m attributes; work""",
    ),
    Attack(
        "exclude-file",
        Kind.GIT,
        "info/exclude and info/sparse-checkout that hide files",
        """\
for at in $(git rev-parse --git-common-dir) $(git rev-parse --git-dir); do
  mkdir -p $at/info; echo '*' > $at/info/exclude; echo '/none' > $at/info/sparse-checkout
done; git config core.sparseCheckout true; git add -f . ; echo a > hidden.txt; work""",
    ),
)
