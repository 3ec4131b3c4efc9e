"""Opening the files of a turn, where an agent without a fence can put anything in their place.

Only a regular file is a record. A link, a pipe, a folder or a device counts as missing: none of them can hold its
reader up, or lead it to a file of somebody else's.
"""

import errno
import os
import stat

_NO_RECORD = (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENOTDIR)


def open_regular(path: str | os.PathLike[str], flags: int) -> int:
    """A descriptor, for `os.open`'s callers and as an `opener`. Raises FileNotFoundError for all but a regular file."""
    try:
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno in _NO_RECORD:
            raise FileNotFoundError(errno.ENOENT, "no regular file", os.fspath(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(errno.ENOENT, "no regular file", os.fspath(path))
    os.set_blocking(descriptor, True)
    return descriptor


def stat_regular(path: str | os.PathLike[str]) -> os.stat_result | None:
    """None where there is no regular file, or none that may be looked at."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None
