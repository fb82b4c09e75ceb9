"""Compiled code: its sources, its storage on disk and its processors."""

# target processors of the code that this process has loaded or compiled
USED: set[str] = set()
