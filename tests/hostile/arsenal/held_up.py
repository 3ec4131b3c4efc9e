"""What holds others up: pipes where git or Paddock reads, trees that no system takes, files in the place of ours."""

from tests.hostile.arsenal.records import LOST
from tests.hostile.attack import Attack, Kind, Promise, unfenced

# Commits a file so many folders deep. Git would take minutes to write them one by one.
_BURY = r"""
bury() { /usr/bin/python3 - $1 2>"$TOOL.tree" <<'EOF' | git index-pack --stdin > /dev/null
import hashlib, struct, sys, zlib
def name(kind, data): return hashlib.sha1(b"%s %d\0" % (kind, len(data)) + data).digest()
def packed(kind, data):
    high = len(data) >> 4
    return bytes([kind << 4 | len(data) & 15 | (128 if high else 0), *([high] if high else [])]) + zlib.compress(data, 1)
at, entry, out = name(b"blob", b"good\n"), b"100644 f\0", [packed(3, b"good\n")]
for _ in range(int(sys.argv[1])):
    data = entry + at; at = name(b"tree", data); out.append(packed(2, data)); entry = b"40000 d\0"
body = b"PACK" + struct.pack(">II", 2, len(out)) + b"".join(out)
sys.stdout.buffer.write(body + hashlib.sha1(body).digest()); sys.stderr.write(at.hex())
EOF
tree=$( { git ls-tree HEAD; printf '040000 tree %s\tzz\n' $(cat "$TOOL.tree"); } | git mktree)
git update-ref HEAD $(git commit-tree $tree -p HEAD -m deep); }
"""


def _files(name: str, what: str, script: str) -> Attack:
    return Attack(name, Kind.FILES, what, f"work; {script}")


def _on_state(name: str, what: str, script: str) -> Attack:
    return Attack(name, Kind.PADDOCK, what, f"{script}; work", alone=True)


def _on_log(name: str, what: str, script: str, *promises: Promise) -> Attack:
    return Attack(name, Kind.LOG, what, f"work; {script}", gaps=unfenced(*promises), alone=True)


ATTACKS = (
    _files("ignore-file-is-a-fifo", "`.gitignore` as a fifo", "rm -f .gitignore; mkfifo .gitignore"),
    _files("attributes-file-is-a-fifo", "`.gitattributes` as a fifo", "mkfifo .gitattributes"),
    _files("modules-file-is-a-fifo", "`.gitmodules` as a link to a fifo", "mkfifo pipe; ln -s pipe .gitmodules"),
    _files("ignore-file-without-end", "a `.gitignore` of 6 GB", "rm .gitignore; truncate -s 6G .gitignore"),
    _files(
        "nested-head-is-a-fifo",
        "a repository in its worktree whose HEAD is a fifo",
        "mkdir -p sub/.git/refs sub/.git/objects; mkfifo sub/.git/HEAD",
    ),
    _files(
        "encodings-that-fail",
        "attributes with encodings that no file has",
        "echo '* text working-tree-encoding=UTF-16LE-BOM eol=crlf ident' > .gitattributes; printf '\\377\\330x' > left.txt",
    ),
    _files(
        "links-left", "links to the user's keys and files, not committed", "ln -s $UHOME/.ssh keys; ln -s $TOP tops"
    ),
    Attack("deep-tree", Kind.GIT, "a file 5,000 folders deep", _BURY + "bury 5000"),
    Attack(
        "long-name",
        Kind.GIT,
        "a file with a name of 300 letters",
        """\
work; n=$(printf 'n%.0s' $(seq 300)); t=$( { git ls-tree HEAD; printf '100644 blob %s\\t%s\\n' $(git rev-parse HEAD:keep.txt) $n; } | git mktree)
git update-ref HEAD $(git commit-tree $t -p HEAD -m long)""",
    ),
    Attack(
        "ci-leaves-fifos",
        Kind.CI,
        "a CI run that leaves fifos where the next checkout reads",
        "mkdir -p tests; echo 'rm -f .gitignore; mkfifo .gitattributes .gitignore parts/.gitattributes; true' > tests/x.sh; git add .; work",
        alone=True,
    ),
    Attack(
        "ci-kills-its-parent",
        Kind.CI,
        "a test that kills the CI run it is part of",
        "mkdir -p tests; echo 'kill -9 $PPID' > tests/x.sh; git add .; work",
        never_lands=True,
        alone=True,
    ),
    _on_state("leader-ref-deleted", "the ref of who leads, deleted", "git -C $TOP update-ref -d refs/paddock/leader"),
    _on_state(
        "leader-ref-forged",
        "the ref of who leads, forged",
        "git -C $TOP update-ref refs/paddock/leader $(echo 'generation 99999 of log x' | git -C $TOP hash-object -w --stdin)",
    ),
    _on_state(
        "leader-ref-is-a-folder",
        "refs below the ref of who leads",
        "git -C $TOP update-ref -d refs/paddock/leader; git -C $TOP update-ref refs/paddock/leader/x HEAD",
    ),
    _on_state(
        "leader-file-is-a-folder", "the file of who leads, as a folder", "rm -f $STATE/leader; mkdir $STATE/leader"
    ),
    _on_state("leader-file-is-a-fifo", "the file of who leads, as a fifo", "rm -f $STATE/leader; mkfifo $STATE/leader"),
    Attack(
        "hints-are-fifos",
        Kind.PADDOCK,
        "pipes where Paddock and its page keep small files",
        """\
for f in glance limits waiting troubles fence settings; do rm -f $STATE/$f.json; mkfifo $STATE/$f.json $STATE/$f.new; done
rm -f $STATE/checkouts $STATE/samples.jsonl $STATE/web.token
mkfifo $STATE/checkouts $STATE/samples.jsonl $STATE/web.token $STATE/web-1.json; work""",
        alone=True,
        page=True,
    ),
    _on_log("log-is-a-fifo", "the log as a fifo", "rm -f $LOG $LOG-wal $LOG-shm; mkfifo $LOG", *LOST),
    _on_log(
        "log-trigger",
        "a trigger in the log that deletes records",
        "sqlite3 -cmd '.timeout 5000' $LOG 'create trigger evil after insert on events begin delete from events where seq = new.seq - 1; end'",
        *LOST,
    ),
    _on_log(
        "witness-is-a-fifo", "the log's witness as a fifo", 'rm -f "$STATE"-log.witness; mkfifo "$STATE"-log.witness'
    ),
)
