"""Base of the results of paired-comparison tests: a table, and a printed form."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._described import Described, Description, as_text

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False, eq=False)
class Printed(Described):
    """An answer with a data frame `.table`; `print` shows it with its title and a sentence."""

    title: str
    table: "pandas.DataFrame"
    note: str

    def _description(self) -> Description:
        return Description(self.title, table=self.table, note=self.note)

    def __str__(self) -> str:
        return as_text(self._description())

    __repr__ = __str__
