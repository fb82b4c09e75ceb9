"""Rights of files that hold for the user who may do everything, too."""

import ctypes
import os
import sys

_DROP = 24  # of prctl: a capability that the process, and what it becomes, will never have again
_IGNORE_RIGHTS = (1, 2)  # those to write and to read what one may not

can_be_given_up = sys.platform == "linux" or (hasattr(os, "geteuid") and os.geteuid() != 0)


def given_up():
    """Called in a child process before it becomes a program: rights of files hold for that one."""
    if os.geteuid() == 0:
        for capability in _IGNORE_RIGHTS:
            if ctypes.CDLL(None).prctl(_DROP, capability, 0, 0, 0):
                os._exit(99)
