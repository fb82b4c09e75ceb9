"""Compilation of samplers by numba, and storage of compiled code on disk."""

# target processors of the code that this process has loaded or compiled
USED: set[str] = set()
