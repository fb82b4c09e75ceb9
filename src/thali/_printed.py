"""Base of the results of paired-comparison tests: a table, and a printed form."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class Printed:
    """An answer with a data frame `.table`; `print` shows it with its title and a sentence."""

    title: str
    table: "pandas.DataFrame"
    note: str

    def __str__(self) -> str:
        text = self.table.to_string(float_format=_number, max_rows=60, index=not _numbered(self.table))
        text = "\n".join(line.rstrip() for line in text.splitlines())
        return "\n\n".join(part for part in (self.title, text, self.note) if part)

    __repr__ = __str__


def _numbered(table: "pandas.DataFrame") -> bool:
    return table.index.equals(table.index.__class__(range(len(table)))) and table.index.name is None


def _number(value: float) -> str:
    if value == 0.0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:.6g}"
    return f"{value:.3g}"
