"""Objects and histories that git itself would not make, and git directories that are not what they seem."""

from tests.hostile.attack import Attack, Kind, Promise, unfenced

_RAW = """\
import hashlib, os, subprocess, sys, zlib
def put(kind, body):
    raw = kind + b" %d\\0" % len(body) + body
    name = hashlib.sha1(raw).hexdigest()
    folder = os.path.join(subprocess.check_output(["git", "rev-parse", "--git-path", "objects"]).decode().strip(), name[:2])
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, name[2:]), "wb").write(zlib.compress(raw)) if not os.path.exists(folder + "/" + name[2:]) else None
    return name
def git(*words): return subprocess.check_output(("git", *words)).decode().strip()
def entries(*more):
    rows = subprocess.check_output(("git", "ls-tree", "-z", "HEAD")).split(b"\\0")[:-1]
    old = [(row.split(b"\\t")[1], row.split()[0], row.split()[2].decode()) for row in rows]
    return b"".join(mode.lstrip(b"0") + b" " + name + b"\\0" + bytes.fromhex(sha) for name, mode, sha in sorted(old + list(more)))
def commit(tree, extra=b""):
    who = b"A <a@b> 1700000000 +0000"
    body = b"tree %s\\nparent %s\\nauthor %s\\ncommitter %s\\n%s\\nWork\\n" % (
        tree.encode(), git("rev-parse", "HEAD").encode(), who, who, extra)
    name = put(b"commit", body)
    branch = git("symbolic-ref", "HEAD")
    path = git("rev-parse", "--git-path", branch)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(name + "\\n")
blob = put(b"blob", b"good\\n")
"""


def _raw(name: str, what: str, code: str, *, never_lands: bool = True) -> Attack:
    """Written past git's own checks, straight into the object folder."""
    script = f"cat > /tmp/raw-$$.py <<'EOF'\n{_RAW}{code}\nEOF\n/usr/bin/python3 /tmp/raw-$$.py; rm -f /tmp/raw-$$.py"
    return Attack(name, Kind.GIT, what, script, never_lands=never_lands)


def _entry(name: str, path: bytes, mode: str = "100644", what: str = "") -> Attack:
    code = f'commit(put(b"tree", entries(({path!r}, b"{mode}", blob))))'
    return _raw(name, what or f"a commit with a file named `{path.decode()}`", code)


_WAYS_IN = """\
common=$(git rev-parse --git-common-dir); own=$(git rev-parse --git-dir)
"""

ATTACKS = (
    _entry("dot-git-entry", b".git"),
    _entry("dot-git-in-capitals", b".GIT"),
    _entry("git-tilde-one", b"git~1"),
    _entry("dot-git-unseen", b".g\xe2\x80\x8cit", what="a commit with a `.git` that only some file systems see"),
    _entry("dot-dot-entry", b".."),
    _entry("slash-entry", b"../../evil"),
    _entry("absolute-entry", b"/tmp/evil-entry"),
    _entry("no-name", b"", what="a commit with a file without a name"),
    _raw(
        "dot-git-folder",
        "a commit with a `.git/hooks` folder deep in it",
        """
hook = put(b"tree", b"100755 post-checkout\\0" + bytes.fromhex(blob))
inner = put(b"tree", b"40000 hooks\\0" + bytes.fromhex(hook))
deep = put(b"tree", b"40000 .git\\0" + bytes.fromhex(inner))
commit(put(b"tree", entries((b"deep", b"40000", deep))))""",
    ),
    _raw(
        "hidden-in-history",
        "a `.git` entry in a commit that the next one removes",
        """
clean = git("rev-parse", "HEAD^{tree}")
commit(put(b"tree", entries((b".git", b"100644", blob))))
subprocess.check_call(["git", "update-ref", "HEAD", git("commit-tree", clean, "-p", "HEAD", "-m", "clean")])
open("x.txt", "w").write("x"); subprocess.call("git add x.txt; git commit -qm x", shell=True)""",
    ),
    _raw(
        "twice-the-same-name",
        "a tree with one name twice",
        """
commit(put(b"tree", entries((b"a.txt", b"100644", blob), (b"a.txt", b"100644", put(b"blob", b"bad\\n")))))""",
    ),
    _raw(
        "unsorted-tree",
        "a tree that is not sorted",
        """
commit(put(b"tree", b"100644 z\\0" + bytes.fromhex(blob) + b"100644 a\\0" + bytes.fromhex(blob)))""",
    ),
    _raw(
        "odd-modes",
        "files with modes that git does not know",
        """
commit(put(b"tree", entries((b"setuid", b"104755", blob), (b"wide", b"100666", blob))))""",
    ),
    _raw(
        "missing-blob",
        "a commit whose file is not there",
        """
commit(put(b"tree", entries((b"gone.txt", b"100644", "1234567890" * 4))))""",
    ),
    _raw("wrong-kind", "a commit whose tree is a blob", "commit(blob)"),
    _raw(
        "nul-in-message",
        "a commit with NUL bytes and broken headers",
        """
commit(git("rev-parse", "HEAD^{tree}"), b"gpgsig \\0\\0\\x1b[31m\\nauthor twice <x> y z\\n")""",
    ),
    _raw(
        "forged-object",
        "an object whose bytes are not those its name says",
        """
tree = git("rev-parse", "HEAD^{tree}")
folder = git("rev-parse", "--git-path", "objects")
keep = git("rev-parse", "HEAD:keep.txt")
path = os.path.join(folder, keep[:2], keep[2:])
os.makedirs(os.path.dirname(path), exist_ok=True)
try: os.unlink(path)
except OSError: pass
open(path, "wb").write(zlib.compress(b"blob 5\\0evil\\n"))
subprocess.call("mkdir -p parts; echo good > parts/forged.txt; git add parts; git commit -qm forged", shell=True)""",
        never_lands=False,
    ),
    Attack(
        "case-clash",
        Kind.GIT,
        "files that differ only in upper and lower case",
        """\
a=$(echo a | git hash-object -w --stdin)
git update-index --add --cacheinfo 100644,$a,Readme.md --cacheinfo 100644,$a,README.MD --cacheinfo 100644,$a,parts/A.txt \\
  --cacheinfo 100644,$a,parts/a.txt; git commit -qm clash""",
        never_lands=True,
    ),
    Attack(
        "submodule-trick",
        Kind.GIT,
        "a submodule whose address is a command and whose path is a symlink",
        """\
printf '[submodule "x/../../evil"]\\n\\tpath = x\\n\\turl = ext::sh -c touch%%20'$DROP'/ran-submodule\\n\\tupdate = !touch '$DROP'/ran-submodule\\n' > .gitmodules
printf '[submodule "-u./evil"]\\n\\tpath = y\\n\\turl = -u./evil\\n' >> .gitmodules
git update-index --add --cacheinfo 160000,$FIRST,x; git add .gitmodules; git commit -qm submodule""",
    ),
    Attack(
        "symlinks-out",
        Kind.GIT,
        "committed symlinks that lead out of the tree",
        """\
ln -s "$TOP/.env" secret; ln -s "$TOP" tree; ln -s ../../../../../../etc/passwd up; ln -s .git/config conf
ln -s tree/draft.txt parts-link; git add secret tree up conf parts-link; git commit -qm links""",
    ),
    Attack(
        "symlinked-parts",
        Kind.GIT,
        "a folder replaced by a symlink to the user's tree",
        """\
mkdir -p parts; echo good > parts/x.txt; git add parts; git commit -qm parts; git rm -rq parts; rm -rf parts
ln -s "$TOP" parts; git add parts; git commit -qm link""",
        never_lands=True,
    ),
    Attack(
        "alternates",
        Kind.GIT,
        "objects/info/alternates that name another place",
        _WAYS_IN
        + """\
mkdir -p other/objects; echo "$PWD/other/objects" >> $common/objects/info/alternates
mkdir -p $own/objects/info 2>/dev/null && echo "$PWD/other/objects" >> $own/objects/info/alternates
GIT_OBJECT_DIRECTORY=$PWD/other/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=$(git rev-parse --git-path objects) work
rm -rf other; git status > /dev/null; true""",
    ),
    Attack(
        "alternates-of-alternates",
        Kind.GIT,
        "alternates in a circle",
        _WAYS_IN
        + """\
mkdir -p $common/objects/info; echo "$common/objects" >> $common/objects/info/alternates
echo "/proc/self/root" >> $common/objects/info/alternates; work""",
    ),
    Attack(
        "commit-graph-forged",
        Kind.GIT,
        "a commit-graph and a pack index of noise",
        _WAYS_IN
        + """\
work; mkdir -p $common/objects/info $common/objects/pack; head -c 4096 /dev/urandom > $common/objects/info/commit-graph
head -c 4096 /dev/urandom > $common/objects/pack/pack-1234567890123456789012345678901234567890.idx
head -c 4096 /dev/urandom > $common/objects/pack/pack-1234567890123456789012345678901234567890.pack
head -c 4096 /dev/urandom > $common/objects/pack/multi-pack-index""",
    ),
    Attack(
        "objects-symlinked",
        Kind.GIT,
        "its objects as a symlink to a place that vanishes",
        _WAYS_IN
        + """\
work; objects=$(git rev-parse --git-path objects); case $objects in "$GITDIR"/*) exit 0;; esac
cp -r $objects ./moved; rm -rf $objects; ln -s $PWD/moved $objects; git status > /dev/null; rm -rf moved""",
    ),
    Attack(
        "index-of-noise",
        Kind.GIT,
        "an index that is noise, and one that is a fifo",
        _WAYS_IN
        + """\
work; echo left > left.txt; head -c 2000 /dev/urandom > $own/index; [ $RANDOM -gt 16000 ] || { rm $own/index; mkfifo $own/index; }; true""",
    ),
    Attack(
        "head-is-a-fifo",
        Kind.GIT,
        "HEAD as a fifo",
        _WAYS_IN + "work; echo left > left.txt; rm $own/HEAD; mkfifo $own/HEAD",
    ),
    Attack(
        "ref-is-a-fifo",
        Kind.GIT,
        "its branch's ref as a fifo and packed-refs as a folder",
        _WAYS_IN
        + """\
work; ref=$(git rev-parse --git-path $(git symbolic-ref HEAD)); rm -f $ref; mkfifo $ref
case $common in "$GITDIR") ;; *) rm -f $common/packed-refs; mkdir $common/packed-refs;; esac""",
    ),
    Attack(
        "head-of-noise",
        Kind.GIT,
        "HEAD that names /etc/passwd, noise, nothing",
        _WAYS_IN
        + """\
work; echo left > left.txt; rm -f $own/HEAD; ln -s /etc/passwd $own/HEAD""",
    ),
    Attack(
        "dot-git-is-a-folder",
        Kind.GIT,
        "`.git` replaced by a repository of its own, with a filter",
        """\
plant; work; rm -rf .git; git init -q .; git config filter.evil.clean $TOOL
git config core.fsmonitor $TOOL; mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes
echo bad > parts/evil.txt; git add -A; git -c core.fsmonitor=false commit -qm mine; true""",
    ),
    Attack(
        "dot-git-is-a-symlink",
        Kind.GIT,
        "`.git` as a symlink to the user's repository",
        """\
work; echo left > left.txt; rm -rf .git; ln -s "$GITDIR" .git; git add -A; git commit -qm onto-main; true""",
        gaps=unfenced(Promise.TREE, Promise.REFS, Promise.MAIN, Promise.OTHERS),
    ),
    Attack(
        "dot-git-names-another",
        Kind.GIT,
        "`.git` as a file that names the user's repository",
        """\
work; echo left > left.txt; rm -rf .git; echo "gitdir: $GITDIR" > .git; true""",
    ),
    Attack("dot-git-is-a-fifo", Kind.GIT, "`.git` as a fifo", "work; echo left > left.txt; rm -rf .git; mkfifo .git"),
    Attack(
        "dot-git-removed",
        Kind.GIT,
        "`.git` removed, with the folder it names",
        """\
work; echo left > left.txt; dir=$(git rev-parse --absolute-git-dir); rm -rf .git; case $dir in "$GITDIR") ;; *) rm -rf "$dir";; esac""",
    ),
    Attack(
        "gitdir-file-forged",
        Kind.GIT,
        "gitdir and commondir files that lead elsewhere",
        _WAYS_IN
        + """\
work; echo left > left.txt; echo "$PWD/fake" > $own/commondir; echo "$TOP/.git" > $own/gitdir; mkdir -p fake; echo x > fake/HEAD""",
    ),
    Attack(
        "reflog-forged",
        Kind.GIT,
        "a reflog full of ids of others' commits",
        _WAYS_IN
        + """\
work; mkdir -p $own/logs; for n in $(seq 2000); do echo "$FIRST $FIRST A <a@b> 1 +0000	forged"; done > $own/logs/HEAD""",
    ),
    Attack(
        "nested-monitor",
        Kind.GIT,
        "a submodule whose own configuration runs a monitor and filters",
        """\
plant; git init -q sub; cd sub; echo a > a; git add a; git commit -qm a; git config core.fsmonitor $TOOL; git config filter.e.clean $TOOL
echo '* filter=e' > .git/info/attributes; cd ..; git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub; git commit -qm link; echo b > sub/a""",
    ),
    Attack(
        "head-is-a-tag",
        Kind.GIT,
        "HEAD at a tag, and a branch at a tree",
        """\
work; git tag -a -m x t; o=$(git rev-parse --absolute-git-dir); git rev-parse HEAD^{tree} > $o/refs/heads/x; git rev-parse t > $o/HEAD""",
    ),
    Attack(
        "dates-without-end",
        Kind.GIT,
        "commits from before 1970, from 2100 and from no time at all",
        """\
GIT_COMMITTER_DATE='@4102444800 +0000' work; printf 'tree %s\\nparent %s\\nauthor A <a> -1 +9999\\ncommitter A <a> 18446744073709551615 -9999\\n\\nx\\n' \\
  $(git write-tree) $(git rev-parse HEAD) | git hash-object -t commit -w --stdin --literally | xargs git update-ref HEAD""",
    ),
    Attack(
        "delta-chain",
        Kind.GIT,
        "a pack with a chain of 3,000 deltas",
        """\
work; { for n in $(seq 3000); do printf 'blob\\nmark :%s\\ndata <<E\\n%s\\nE\\n' $n "$(seq 1 50) $n"; done; echo "commit $(git symbolic-ref HEAD)"
printf 'committer A <a@b> 1 +0000\\ndata 1\\nx\\n'; echo "from $(git rev-parse HEAD)"; for n in $(seq 3000); do echo "M 100644 :$n parts/c$n"; done; } |
  git fast-import --quiet --force --depth=4000; true""",
    ),
    Attack(
        "promised-objects",
        Kind.GIT,
        "packs that promise objects which are nowhere",
        """\
work; o=$(git rev-parse --absolute-git-dir); echo HEAD | git pack-objects --revs --filter=blob:none $o/objects/pack/pack > /dev/null
for p in $o/objects/pack/*.pack; do touch ${p%.pack}.promisor; done; b=$(git rev-parse HEAD:parts/$NAME.txt); rm -f $o/objects/${b:0:2}/${b:2}""",
    ),
)
