"""Locks of the operating system on open files; they end with the process that holds them."""

import os
import sys

_FAR = 1 << 30  # the byte that Windows locks, where no file has one: it would keep others from reading it


def lock(descriptor: int) -> bool:
    """Lock an open file until it is closed, without waiting."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
