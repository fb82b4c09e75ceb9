"""Numbers and tables as plain text."""

import math


def number(column: str, value: float) -> str:
    """A number with the digits that its column deserves; "-" where there is none."""
    if math.isnan(value):
        return "-"
    if column.startswith("ess"):
        return f"{value:,.0f}"
    return f"{value:.4f}" if column.startswith("mcse") else f"{value:.3f}"


def align(rows: list[tuple[str, ...]], left: set[int]) -> str:
    """Columns of text, two blanks apart; those numbered in `left` start at the left, others at the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number in left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
