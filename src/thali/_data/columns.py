"""Data frames, their columns, and columns in numbers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from thali._inference.warn import warn
from thali._labels import as_label, checked_labels, places_among, plural, shorten, suggest
from thali.errors import DataError, DataWarning

from .checks import check_counts
from .roles import column_names, no_answers
from .squares import SquareTableWords, describe_cell, read_square_table
from .suspicious import is_tie_label, find_percentages, refuse_ties, refuse_totals, explain_tie_label

if TYPE_CHECKING:
    import pandas as pd


def as_frame(frame: Any) -> "pd.DataFrame":
    """Return a data frame with the Arrow interface, or a lazy one that narwhals collects, as a
    pandas DataFrame."""
    if hasattr(frame, "columns") and hasattr(frame, "index"):
        return frame
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "collect"):
        raise DataError(
            "`frame` must be a DataFrame (pandas, polars or another with the Arrow interface); got"
            f" {type(frame).__name__}."
        )
    try:
        import narwhals as nw
    except ImportError:
        raise DataError(
            f"A {type(frame).__name__} of {type(frame).__module__.partition('.')[0]} requires"
            ' narwhals; run pip install "thali[frames]", or pass frame.to_pandas().'
        ) from None
    import pandas as pd

    table = nw.from_native(frame, pass_through=True)
    if hasattr(table, "collect"):
        table = table.collect()
    if table is frame:  # nothing that narwhals knows: its Arrow stream
        table = nw.from_arrow(frame, backend="pyarrow")
    return pd.DataFrame({name: table[name].to_numpy() for name in table.columns})


def with_text_names(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The same with text for names of columns."""
    return frame.set_axis(column_names(frame), axis=1)


def columns_in_words(count: str | None, respondent: str | None) -> str:
    """What a sentence says of the columns of counts and of who answered, if there are any."""
    said = "" if count is None else f", counts in {count!r}"
    return said if respondent is None else f"{said}, respondents in {respondent!r}"


# From what a user passes (arrays, data frames, columns) to option numbers and checked counts ------


Cells = tuple[np.ndarray, np.ndarray, np.ndarray]  # winners, losers, counts

# of a table that is being read
_CLAUSES: ContextVar[list[str] | None] = ContextVar("_CLAUSES", default=None)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]000")
_NOTED = "thali_thousands"  # among the attributes of a frame


COUNTS = SquareTableWords(
    "counts",
    "option",
    "Use PairedComparisons.from_frame for long tables and from_pairs for (winner, loser) tuples.",
)


def square_cells(
    counts: Any, labels: Iterable[Any] | None, weights: bool
) -> tuple[tuple[str, ...], Cells]:
    """Labels, and the cells above 0, of an array, DataFrame or sparse matrix with row over
    column."""
    names, counts = read_square_table(counts, labels, COUNTS)
    sparse = hasattr(counts, "tocoo")
    winner, loser, values = (
        _sparse(counts, names, weights) if sparse else _dense(counts, names, weights)
    )
    if (diagonal := np.flatnonzero(winner == loser)).size:
        k = int(diagonal[0])
        raise DataError(
            f"The diagonal is {values[k]:g} {describe_cell(names, int(winner[k]), int(loser[k]))}, but an"
            " option is never compared with itself; set the diagonal to 0."
        )
    return names, (winner, loser, values)


def _dense(counts: np.ndarray, names: tuple[str, ...], weights: bool) -> Cells:
    n = len(names)
    for k in range(n):  # an empty diagonal says the same as 0
        if not as_label(counts[k, k]):
            counts[k, k] = 0

    def where(k: int) -> str:
        return describe_cell(names, k // n, k % n)

    try:
        values = check_counts(counts, where, weights).reshape(n, n)
    except DataError as error:
        hint = None if weights else _percentages(counts, where)
        raise DataError(error, f" {hint}" if hint else "") from None
    refuse_totals(names, values)
    winner, loser = np.nonzero(values)
    return winner, loser, values[winner, loser]


def _percentages(counts: np.ndarray, where: Callable[[int], str]) -> str | None:
    """A hint for numbers that are no counts, if they are percentages or proportions."""
    try:
        values = check_counts(counts, where, weights=True).reshape(counts.shape)
    except DataError:
        return None
    i, j = np.triu_indices(len(values), k=1)
    compared = values[i, j] + values[j, i] > 0.0
    return find_percentages(values[i, j][compared], values[j, i][compared])


def _sparse(counts: Any, names: tuple[str, ...], weights: bool) -> Cells:
    entries = counts.tocoo()
    winner, loser = entries.row.astype(np.int64), entries.col.astype(np.int64)
    values = check_counts(
        entries.data, lambda k: describe_cell(names, int(winner[k]), int(loser[k])), weights
    )
    stored = values > 0
    return winner[stored], loser[stored], values[stored]


def column(frame: "pd.DataFrame", name: str) -> "pd.Series":
    """The column of that name, or an error that lists those there are."""
    if name not in frame.columns:
        names = column_names(frame)
        raise DataError(
            f"There is no column {name!r}; the columns are"
            f" {shorten(names, 12) or 'none'}.{suggest(str(name), names)}"
        )
    if list(frame.columns).count(name) > 1:
        raise DataError(f"There are several columns {name!r}; rename all but one.")
    values = cast("pd.Series", frame[name])
    refuse_nested(values)
    return values


def refuse_nested(values: "pd.Series") -> None:
    """Raise if a cell of a column holds a list, a dictionary or another thing that is no single
    value."""
    import pandas as pd

    if values.dtype != object or pd.api.types.infer_dtype(values) != "mixed":
        return
    for row, value in values.items():
        if not pd.api.types.is_scalar(value):
            raise DataError(
                f"Column {values.name!r} contains a value of type {type(value).__name__} in row"
                f" {row}; put each element into a separate column or row, or remove the column."
            )


def note_thousands(frame: "pd.DataFrame", cells: Mapping[str, Sequence[str]]) -> None:
    """Note which columns of a file hold what may be a thousand, or a whole number with three
    decimals."""
    found = {
        name: min(filter(_THOUSANDS.fullmatch, set(texts)), default="")
        for name, texts in cells.items()
    }
    frame.attrs[_NOTED] = {name: text for name, text in found.items() if text}


def refuse_thousands(frame: "pd.DataFrame", *names: str) -> None:
    """Raise if a column of counts holds such a number: nothing tells which of the two it is."""
    noted = frame.attrs.get(_NOTED, {})
    for name in names:
        if name in noted:
            whole = noted[name][:-4]
            raise DataError(
                f"Column {name!r} contains {noted[name]!r}, which may mean {whole}000 or {whole};"
                " write counts as integers without separators."
            )


def count_column(frame: "pd.DataFrame", name: str | None, weights: bool) -> np.ndarray:
    """The column as counts, one for each row; 1 without a column."""
    if name is None:
        return np.ones(len(frame))
    found = column(frame, name)
    if not weights:
        refuse_thousands(frame, name)
    # a nullable column spells a missing number as <NA>, which no array of floats holds
    values = found.to_numpy(dtype=object) if found.hasnans else found.to_numpy()
    return check_counts(values, lambda k: f"in row {found.index[k]}, column {name!r}", weights)


def numbers_rows(values: "pd.Series") -> bool:
    """Return whether a column is 0, 1, 2, ... or 1, 2, 3, ..., of three rows or more, or of rows
    left of a file."""
    if len(values) < 3 or values.dtype.kind not in "iuf":
        return False
    # numbers of rows in a file, of which some were left out
    rows, starts = values.index.to_numpy(), (-2, -1, 0, 1)
    if rows.dtype.kind not in "iu" or (rows[0] <= 2 and np.ptp(rows) < len(rows)):
        rows, starts = np.arange(len(values)), (0, 1)
    steps = values.to_numpy(float) - rows
    return steps[0] in starts and np.ptp(steps) == 0


def stood_for(rows: "pd.DataFrame", count: str | None) -> float:
    """How many comparisons the rows stand for by a column, of which only the numbers count, or one
    each."""
    import pandas as pd

    if count is None:
        return len(rows)
    numbers: Any = pd.to_numeric(rows[count], errors="coerce")
    return float(np.nansum(np.asarray(numbers, float)))


def answered_rows(
    frame: "pd.DataFrame",
    answers: Iterable[str | None],
    options: Sequence[str] = (),
    labels: Iterable[str] = (),
    by: Iterable[str | None] = (),
    is_noted: bool = True,
) -> "pd.DataFrame":
    """Return the rows, or the tasks named `by` columns, with an answer, and note the others; all if
    none has one."""
    import pandas as pd

    known = {
        *labels,
        *(as_label(value) for name in options for value in column(frame, name).unique()),
    }
    lacking = np.zeros(len(frame), bool)
    for name in filter(None, answers):
        texts = list(map(as_label, column(frame, name)))
        lacking |= np.isin(texts, ["", *no_answers(texts, known)])
        words = no_answers(texts, ())
        if words and any(frame[each].dtype.kind == "f" and frame[each].hasnans for each in options):
            raise DataError(
                f"{min(words)!r} in column {name!r} may be an option, because all options are"
                " numbers or empty; rename it, or leave cells without an answer empty."
            )
    if tasks := [frame[name].to_numpy() for name in by if name is not None]:
        lacking = pd.Series(lacking).groupby(tasks, dropna=False).transform("all").to_numpy()
    if lacking.all():
        return frame
    if is_noted:
        note_omission(lacking.sum())
    return frame.loc[~lacking]


@contextmanager
def listed_omissions() -> Iterator[list[str]]:
    """List the clauses about rows that are left out within the block, instead of warning of
    them."""
    token = _CLAUSES.set(clauses := [])
    try:
        yield clauses
    finally:
        _CLAUSES.reset(token)


def note_omission(number: float, words: Iterable[str] = (), what: str = "row") -> None:
    """List how many rows have no answer, or warn of them where no sentence reports how a table was
    read."""
    said = f" ({shorten(sorted(words))})" if words else ""
    if number:
        note(f"{plural(number, what)} without an answer{said} dropped")


def note(clause: str) -> None:
    """List what was left out or how a column counts, or warn of it where no sentence reports how a
    table was read."""
    if (clauses := _CLAUSES.get()) is not None:
        clauses.append(f"; {clause}")
    else:
        warn(DataWarning(f"{clause}."))


def encode(
    winners: "pd.Series",
    losers: "pd.Series",
    counts: np.ndarray,
    labels: Iterable[Any] | None,
    where: Callable[[int, bool], str],
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Labels, and both columns as positions among them; `where(row, is_winner)` names a place."""
    import pandas as pd

    rows = len(winners)
    if not rows:
        raise DataError("The table has no rows, so it contains no comparisons.")
    codes_won, values_won = pd.factorize(winners)
    codes_lost, values_lost = pd.factorize(losers)
    codes = np.concatenate([codes_won, np.where(codes_lost < 0, -1, codes_lost + len(values_won))])
    # 1, 1.0, "1" and " 1" are one label: from here on a value is its text
    texts = [as_label(value) for values in (values_won, values_lost) for value in values]
    categories = [
        as_label(value)
        for side in (winners, losers)
        if isinstance(side.dtype, pd.CategoricalDtype)
        for value in side.cat.categories
    ]
    if labels is not None:
        names = checked_labels(labels)
    else:  # without categories the texts alone
        names = tuple(dict.fromkeys((*categories, *_in_order(codes, texts))))
    numbers = label_positions(codes, texts, names, lambda k: where(k % rows, k < rows))
    winner, loser = numbers[:rows], numbers[rows:]
    if (itself := np.flatnonzero((winner == loser) & (counts > 0))).size:
        k = int(itself[0])
        label = names[winner[k]]
        if is_tie_label(label):
            raise DataError(
                f"{explain_tie_label(label)} {label!r} is in both columns"
                f" {where(k, True).split(',')[0]}."
            )
        raise DataError(
            f"{label!r} is compared with itself {where(k, True)}; correct or remove the row."
        )
    if labels is None:
        refuse_ties(names, winner, loser, counts)
    return names, winner, loser


def label_positions(
    codes: np.ndarray,
    texts: list[str],
    names: Sequence[str],
    where: Callable[[int], str],
    what: str = "A label",
) -> np.ndarray:
    """Return the positions of the labels `texts[codes]` among names.

    An error tells `where` the first label is that is missing or unknown.
    """
    empty = (codes < 0) | np.isin(codes, [k for k, text in enumerate(texts) if not text])
    if empty.any():
        raise DataError(
            f"{what} is missing {where(int(empty.argmax()))}; fill it in or remove the row."
        )
    numbers = places_among(texts, names)[codes]
    if (numbers < 0).any():
        k = int((numbers < 0).argmax())
        text = texts[codes[k]]
        raise DataError(f"{text!r} {where(k)} is not in `labels`.{suggest(text, names)}")
    return numbers


def _in_order(codes: np.ndarray, texts: list[str]) -> tuple[str, ...]:
    """The distinct texts: numbers by size, names as they first appear when the table is read row by
    row."""
    rows = len(codes) // 2
    appears = np.full(len(texts), len(codes))
    np.minimum.at(appears, codes, np.concatenate([np.arange(rows) * 2, np.arange(rows) * 2 + 1]))
    return in_order(list(dict.fromkeys(texts[k] for k in np.argsort(appears, kind="stable"))))


def pair_keys(n: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A number for each pair of n options or objects."""
    return np.minimum(a, b).astype(np.int64) * n + np.maximum(a, b)


def added_up(
    n: int, winner: np.ndarray, loser: np.ndarray, counts: np.ndarray, tied: np.ndarray
) -> tuple[np.ndarray, ...]:
    """First, second, wins, losses and ties of every pair with any of them, row by row of the n x n
    table."""
    compared = counts + tied > 0
    winner, loser, counts, tied = (
        winner[compared],
        loser[compared],
        counts[compared],
        tied[compared],
    )
    pairs, place = np.unique(pair_keys(n, winner, loser), return_inverse=True)
    won = winner < loser
    wins = np.bincount(place[won], weights=counts[won], minlength=len(pairs))
    losses = np.bincount(place[~won], weights=counts[~won], minlength=len(pairs))
    return (
        pairs // n,
        pairs % n,
        wins,
        losses,
        np.bincount(place, weights=tied, minlength=len(pairs)),
    )


# Columns of a table in numbers: labels as positions among what they stand for, and marks of yes and
# no


YES = {"1", "true", "t", "yes", "y"}
NO = {"0", "false", "f", "no", "n"}


def coded(
    frame: "pd.DataFrame", name: str, labels: Iterable[Any] | None = None
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """A column as numbers, and what they stand for: `labels`, the categories, or the values in
    their order."""
    import pandas as pd

    values = column(frame, name)
    codes, distinct = pd.factorize(values)
    texts = [as_label(value) for value in distinct]
    if labels is not None:
        names = checked_labels(labels)
    elif isinstance(values.dtype, pd.CategoricalDtype):
        names = tuple(dict.fromkeys(as_label(value) for value in values.cat.categories))
    else:
        names = in_order(list(dict.fromkeys(texts)))
    return label_positions(
        codes, texts, names, lambda row: f"in row {frame.index[row]}, column {name!r}"
    ), names


def in_order(texts: list[str]) -> tuple[str, ...]:
    """Numbers by size, names as they first appear."""
    try:
        return tuple(sorted(texts, key=lambda text: (float(text), text)))
    except ValueError:
        return tuple(texts)


def flags(frame: "pd.DataFrame", name: str) -> np.ndarray:
    """A column of yes and no."""
    values = column(frame, name)
    yes, wrong = yes_no(values)
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"Column {name!r} must contain 1 (yes) or 0 (no); row {frame.index[row]} contains"
            f" {as_label(values.iloc[row])!r}."
        )
    return yes


def yes_no(values: "pd.Series") -> tuple[np.ndarray, np.ndarray]:
    """Whether each cell is a yes, and whether it is neither yes nor no."""
    import pandas as pd

    codes, distinct = pd.factorize(values)
    texts = [as_label(value).casefold() for value in distinct]
    yes = np.array([*(text in YES for text in texts), False])
    known = np.array([*(text in YES or text in NO for text in texts), False])
    return yes[codes], ~known[codes]
