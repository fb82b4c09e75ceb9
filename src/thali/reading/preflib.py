"""The files of PrefLib: complete and incomplete orders (.soc, .soi), and those with ties (.toc, .toi)."""

import re
from pathlib import Path

from thali.errors import DataError

from .cells import MAX_CELLS, Cells

SUFFIXES = (".soc", ".soi", ".toc", ".toi")
_NAME = re.compile(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.*)", re.IGNORECASE)


def is_preflib(name: str, content: bytes) -> bool:
    """Whether a file is one, by its name or its first words."""
    return Path(name).suffix.lower() in SUFFIXES or content.startswith(b"# FILE NAME")


def preflib_cells(content: bytes) -> Cells:
    """A table with a row an order: its count, and what stands at each rank."""
    lines = content.decode("utf-8-sig", "replace").splitlines()
    names = {found[1]: found[2].strip() for line in lines if (found := _NAME.match(line))}
    body = [(k, line.strip()) for k, line in enumerate(lines, start=1) if line.strip() and not line.startswith("#")]
    if not names:
        names, body = _old(body)
    rows, numbers = [], []
    for number, line in body:
        count, colon, order = line.partition(":")
        if not colon or not count.strip().isdigit():
            raise DataError(f"Line {number} is {line!r}, but an order of a PrefLib file is written as '3: 2,1,4'.")
        if "{" in order:
            raise DataError(
                f"Line {number} ranks several alternatives alike, {order.strip()!r}; rankings with ties are not read."
            )
        codes = [code.strip() for code in order.split(",") if code.strip()]
        if unknown := [code for code in codes if code not in names]:
            raise DataError(f"Line {number} names alternative {unknown[0]!r}, which the head of the file does not.")
        rows.append([count.strip(), *(names[code] for code in codes)])
        numbers.append(number)
    if not rows:
        raise DataError("The file holds no order below its head.")
    if (width := max(map(len, rows))) * len(rows) > MAX_CELLS:
        raise DataError(
            f"The longest of {len(rows):,} orders names {width - 1:,} alternatives; a table with a row for each order"
            " would not fit into memory, so leave out the last places."
        )
    header = ["count", *(f"rank{k}" for k in range(1, width))]
    columns = [[row[k] if k < len(row) else "" for row in rows] for k in range(width)]
    return Cells(header, columns, numbers, note="a PrefLib file")


def _old(body: list[tuple[int, str]]) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """The names and orders of a file as PrefLib had them before 2022: a number of names, these, a line of sums, "
    "orders."""
    try:
        many = int(body[0][1])
        named = [line.split(",", 1) for _, line in body[1 : many + 1]]
        names = {code.strip(): name.strip().strip('"') for code, name in named}
        orders = [(k, ": ".join(line.split(",", 1))) for k, line in body[many + 2 :]]
    except (ValueError, IndexError):
        raise DataError(
            "This is no PrefLib file: it has neither '# ALTERNATIVE NAME 1: ...' nor a number of names."
        ) from None
    return names, orders
