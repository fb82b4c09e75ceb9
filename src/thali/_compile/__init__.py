"""Compiled code: what it is made of, where it is kept, what processors it is for."""

USED: set[str] = set()  # the processors for which the code was compiled that this process has loaded or compiled
