"""More than its share: bounded here for the sake of the machine that runs the tests."""

from tests.hostile.attack import Attack, Kind

ATTACKS = (
    Attack(
        "big-blob",
        Kind.RESOURCES,
        "a committed file of 120 MB",
        "mkdir -p parts; head -c 120000000 /dev/urandom > parts/big.bin; git add parts; git commit -qm big",
        alone=True,
        never_lands=True,
    ),
    Attack(
        "compressed-bomb",
        Kind.RESOURCES,
        "a 1 GB file that takes a megabyte once compressed",
        """\
head -c 1000000000 /dev/zero | git hash-object -w --stdin > /tmp/bomb-$$; git update-index --add --cacheinfo 100644,$(cat /tmp/bomb-$$),bomb; rm -f /tmp/bomb-$$; git commit -qm bomb""",
        alone=True,
        never_lands=True,
    ),
    Attack(
        "tree-bomb",
        Kind.RESOURCES,
        "a tree that is a billion files once checked out",
        """\
t=$(printf '100644 blob %s\\tf\\n' $(echo good | git hash-object -w --stdin) | git mktree)
for n in $(seq 9); do t=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\td%s\\n' $t $i; done | git mktree); done
tree=$( { git ls-tree HEAD; printf '040000 tree %s\\tzz\\n' $t; } | git mktree); git update-ref HEAD $(git commit-tree $tree -p HEAD -m bomb)""",
        alone=True,
        never_lands=True,
    ),
    Attack(
        "many-commits",
        Kind.RESOURCES,
        "20,000 commits",
        """\
ref=$(git symbolic-ref HEAD); { for n in $(seq 20000); do printf 'commit %s\\ncommitter A <a@b> %s +0000\\ndata 1\\nx\\n' $ref $n; [ $n -gt 1 ] || echo "from $(git rev-parse HEAD)"; done; } | git fast-import --quiet --force; work""",
        alone=True,
    ),
    Attack(
        "disk-filled",
        Kind.RESOURCES,
        "150 MB of files that nobody asked for",
        "work; for n in 1 2 3; do head -c 50000000 /dev/zero > fill-$n.bin; done",
        alone=True,
    ),
    Attack(
        "many-processes",
        Kind.RESOURCES,
        "300 processes at once",
        "work; for n in $(seq 300); do sleep 300 & done; true",
        alone=True,
    ),
    Attack(
        "memory",
        Kind.RESOURCES,
        "400 MB of memory, held",
        "work; /usr/bin/python3 -c 'b = bytearray(400 << 20); b[::4096] = b\"x\" * len(b[::4096])'",
        alone=True,
    ),
    Attack(
        "open-files",
        Kind.RESOURCES,
        "as many open files as it gets",
        """\
work; /usr/bin/python3 -c 'k = []
try:
    while len(k) < 5000: k.append(open("/dev/null"))
except OSError: pass'""",
    ),
    Attack(
        "many-branches-of-work",
        Kind.RESOURCES,
        "500 loose commits in its reflog",
        """\
for n in $(seq 500); do git update-ref HEAD $(git commit-tree HEAD^{tree} -p $FIRST -m $n); done; git reset -q --hard main; work""",
        alone=True,
    ),
)
