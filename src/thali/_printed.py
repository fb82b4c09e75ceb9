"""Base of the results of paired-comparison tests: a table, and a printed form."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ._described import Described, Description, as_text

if TYPE_CHECKING:
    import pandas

    from ._tables import Table


@dataclass(frozen=True, repr=False, eq=False)
class Printed(Described):
    """An answer with a data frame `.table`; `print` shows it with its title and a sentence."""

    title: str
    table: "pandas.DataFrame"
    note: str

    def __post_init__(self) -> None:
        from ._tables import Table

        table = Table(self.table)
        table.attrs |= self.table.attrs
        object.__setattr__(self, "table", table)

    def to_latex(self, buf: Any = None, **settings: Any) -> Any:
        """`.table` in LaTeX, as `Table.to_latex` writes it."""
        return self._table().to_latex(buf, **settings)

    def to_markdown(self, buf: Any = None, **settings: Any) -> Any:
        """`.table` in Markdown, as `Table.to_markdown` writes it."""
        return self._table().to_markdown(buf, **settings)

    def to_excel(self, excel_writer: Any, **settings: Any) -> None:
        """Write `.table` as an Excel workbook, as `Table.to_excel` does."""
        self._table().to_excel(excel_writer, **settings)

    def tables(self) -> "dict[str, pandas.DataFrame]":
        """All tables of the answer by name, "table" first; its numbers are the table "numbers", a
        row each.

        Returns
        -------
        dict of pandas.DataFrame
        """
        import pandas as pd

        from ._tables import Table

        found: dict[str, pd.DataFrame] = {"table": self.table}
        numbers: dict[str, float] = {}
        for name, value in ((each.name, getattr(self, each.name)) for each in fields(self)):
            if isinstance(value, pd.DataFrame) and name != "table":
                found[name] = Table(value)
            elif isinstance(value, int | float):
                numbers[name] = value
        if numbers:
            index = pd.Index(list(numbers), name="quantity")
            found["numbers"] = Table(
                {"value": pd.Series(list(numbers.values()), index, dtype=object)}
            )
        return found

    def _table(self) -> "Table":
        from ._tables import Table

        return Table(self.table)

    def _description(self) -> Description:
        return Description(self.title, table=self.table, note=self.note)

    def __str__(self) -> str:
        return as_text(self._description())

    __repr__ = __str__
