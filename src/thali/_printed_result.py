"""Base class of the results of paired-comparison tests: a table with a printed form."""

import os
from dataclasses import dataclass, fields
from typing import IO, TYPE_CHECKING, Any, dataclass_transform

from ._object_descriptions import Description, PrintedObject

if TYPE_CHECKING:
    import pandas


@dataclass_transform(eq_default=False, frozen_default=True)
def printed_dataclass(cls: type[Any]) -> type[Any]:
    """Return the class as a frozen dataclass that prints itself and equals itself only."""
    return dataclass(frozen=True, repr=False, eq=False)(cls)


@printed_dataclass
class PrintedResult(PrintedObject):
    """A result with a data frame `.table`, printed with its title and a sentence."""

    title: str
    table: "pandas.DataFrame"
    note: str

    def __post_init__(self) -> None:
        from ._exportable_table import Table

        table = Table(self.table)
        table.attrs |= self.table.attrs
        object.__setattr__(self, "table", table)

    def to_latex(self, buf: str | os.PathLike[str] | IO[str] | None = None, **settings: Any) -> Any:
        """Return `.table` in LaTeX, or write it; see `Table.to_latex`."""
        return self.table.to_latex(buf, **settings)

    def to_markdown(
        self, buf: str | os.PathLike[str] | IO[str] | None = None, **settings: Any
    ) -> Any:
        """Return `.table` in Markdown, or write it; see `Table.to_markdown`."""
        return self.table.to_markdown(buf, **settings)

    def to_excel(
        self, excel_writer: "str | os.PathLike[str] | pandas.ExcelWriter", **settings: Any
    ) -> None:
        """Write `.table` as an Excel workbook; see `Table.to_excel`."""
        self.table.to_excel(excel_writer, **settings)

    def tables(self) -> "dict[str, pandas.DataFrame]":
        """Return all tables of the result by name, "table" first.

        Numbers are in the table "numbers", one row each.

        Returns
        -------
        dict of pandas.DataFrame
        """
        import pandas as pd

        from ._exportable_table import Table

        table_by_name: dict[str, pd.DataFrame] = {"table": self.table}
        number_by_name: dict[str, float] = {}
        for name in (field.name for field in fields(self)):
            field_value = getattr(self, name)
            if isinstance(field_value, pd.DataFrame) and name != "table":
                table_by_name[name] = Table(field_value)
            elif isinstance(field_value, int | float):
                number_by_name[name] = field_value
        if number_by_name:
            index = pd.Index(list(number_by_name), name="quantity")
            table_by_name["numbers"] = Table(
                {"value": pd.Series(list(number_by_name.values()), index, dtype=object)}
            )
        return table_by_name

    def _description(self) -> Description:
        return Description(self.title, table=self.table, note=self.note)
