"""The value of `--aspects` or `--features`: a word, a number, or a table that says which option has which aspect."""

from pathlib import Path
from typing import TYPE_CHECKING

from thali.errors import ArgumentError, DataError
from thali.model.names import aspects_meant

if TYPE_CHECKING:
    import pandas


def parse_aspects(
    value: str, labels: tuple[str, ...], option: str = "--aspects", words: tuple[str, ...] = ("ibp", "unique")
) -> "str | int | dict[str, list[str]]":
    """What a model's argument for aspects or features takes, from what was typed.

    Examples
    --------
    >>> parse_aspects("3", ("a", "b"))
    3
    """
    if aspects_meant(value) in words and not Path(value).exists():
        return aspects_meant(value)
    try:
        return int(value)
    except ValueError:
        pass
    if not Path(value).exists():
        raise ArgumentError(
            f"{option} must be {', '.join(words)}, a whole number or the path of a table; there is no file {value!r}."
        )

    from thali.reading.table import read_table

    table = read_table(value)
    if table.shape[1] < 2:
        raise DataError(
            f"{value}: aspects need a column of option labels and at least one column beside it; found"
            f" {table.shape[1]} in all."
        )
    entries = table.iloc[:, 1:].astype(object)
    is_binary = entries.isin([0, 1, "0", "1"]).to_numpy()
    if is_binary.all():
        return _from_columns(value, table.iloc[:, 0], entries.astype(float), labels)
    if table.shape[1] == 2:
        return _from_list(value, table, labels)
    row, column = (int(axis[0]) for axis in (~is_binary).nonzero())
    raise DataError(
        f"{value}: columns of aspects must hold 0 and 1 alone; row {row + 1} below the header"
        f" ({table.iloc[row, 0]}), column {entries.columns[column]!r}, holds {entries.iloc[row, column]!r}."
    )


def _from_columns(
    path: str, options: "pandas.Series", entries: "pandas.DataFrame", labels: tuple[str, ...]
) -> dict[str, list[str]]:
    from thali._labels import checked_labels

    names = checked_labels(entries.columns, f"{path}: the names of the aspects")
    rows = checked_labels(options, f"{path}: the options in the first column")
    for label in labels:
        if label not in rows:
            raise DataError(f"{path}: there is no row for the option {label!r}; one of zeros means no aspect.")
    return {
        label: [name for name, owned in zip(names, row, strict=True) if owned]
        for label, row in zip(rows, entries.to_numpy(), strict=True)
    }


def _from_list(path: str, table: "pandas.DataFrame", labels: tuple[str, ...]) -> dict[str, list[str]]:
    from thali._labels import as_label

    owned: dict[str, list[str]] = {label: [] for label in labels}
    for row, (option, aspect) in enumerate(table.itertuples(index=False), start=1):
        if not as_label(option) or not as_label(aspect):
            raise DataError(
                f"{path}: row {row} below the header must name an option and an aspect; got {option!r} and {aspect!r}."
            )
        owned.setdefault(as_label(option), []).append(as_label(aspect))  # the model refuses unknown options
    return owned
