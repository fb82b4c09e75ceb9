"""Compiled code: what it is made of, where it is kept, what processors it is for."""

# the processors for which the code was compiled that this process has loaded or compiled
USED: set[str] = set()
