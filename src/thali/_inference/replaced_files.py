"""Refusal of output files that would replace an input, or a file of another program."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from thali.errors import DataError, InPython

_PAGE_MARK = b'<meta name="generator" content="thali">'  # in the head of each page
_HEAD_SIZE = 4000  # bytes in which the mark is
STANDARD_INPUT = "-"


def is_page(path: Path) -> bool:
    """Return whether a file is a report that thali wrote."""
    with open(path, "rb") as file:
        return _PAGE_MARK in file.read(_HEAD_SIZE)


def begins_like(content: bytes | memoryview) -> Callable[[Path], bool]:
    """Return a function: whether a file has the first line of this table."""

    def read_heading(head: bytes) -> bytes:
        """Return the first line of CSV, or JSON up to the first key."""
        return head.partition(b":" if head[:1] == b"[" else b"\n")[0]

    def is_same_table(path: Path) -> bool:
        """Return whether the file has the same heading."""
        with open(path, "rb") as file:
            heading = read_heading(file.read(_HEAD_SIZE))
        return heading == read_heading(bytes(content[:_HEAD_SIZE]))

    return is_same_table


def check_replaced(
    path: Path,
    inputs: Iterable[Any] = (),
    is_own: Callable[[Path], bool] = is_page,
    overwrite: bool = False,
) -> None:
    """Raise DataError if writing this file would destroy something.

    `inputs`: the files that are read. `is_own`: whether thali wrote an existing file.
    """
    for input_file in inputs:
        if _is_same_file(path, input_file):
            raise DataError(
                f"Cannot write '{path}': it is a file that is read, which would be lost; choose"
                " another name."
            )
    if overwrite or not path.is_file():
        return
    try:
        if is_own(path):
            return
    except OSError:  # it cannot be read
        pass
    raise DataError(
        f"Cannot write '{path}': it exists, and was not written by thali; choose another name, ",
        InPython("or delete it first", "or add --overwrite"),
        ".",
    )


def _is_same_file(path: Path, input_file: str | os.PathLike[str]) -> bool:
    """Return whether both are the same file, also by links or other letters of a name."""
    try:
        if input_file == STANDARD_INPUT:
            return os.path.samestat(os.stat(path), os.fstat(0))
        return os.path.samefile(path, input_file)
    except (OSError, TypeError, ValueError):  # one is not a file
        return False
