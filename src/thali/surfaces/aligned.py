"""Tables as plain text."""

from thali._labels import display_width


def align(rows: list[tuple[str, ...]], left: set[int]) -> str:
    """Columns of text, two blanks apart; those numbered in `left` start at the left, others at the right.

    A cell is one line, and as wide as a terminal shows it.
    """
    rows = [tuple(" ".join(cell.splitlines()) for cell in row) for row in rows]
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    at_left = [number in left for number in range(len(widths))]
    return "\n".join("  ".join(map(_padded, row, widths, at_left)).rstrip() for row in rows)


def _padded(cell: str, width: int, at_left: bool) -> str:
    blanks = " " * (width - display_width(cell))
    return cell + blanks if at_left else blanks + cell
