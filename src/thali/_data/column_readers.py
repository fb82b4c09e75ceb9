"""Reading of data frame columns: counts, labels, flags, missing answers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._inference.user_warnings import warn
from thali._labels import (
    check_labels,
    find_label_indices,
    format_label,
    format_plural,
    shorten,
    simplify_number,
    suggest,
)
from thali.errors import DataError, DataWarning, Message, Setting

from .column_roles import WEIGHTS, column_names, find_no_answers, is_data_frame, simplify_name
from .number_checks import check_counts
from .square_reader import SquareTableWords, describe_cell, read_square_table
from .suspicious_data import (
    explain_tie_label,
    find_percentages,
    is_tie_label,
    refuse_ties,
    refuse_totals,
)

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array


def convert_frame(frame: Any) -> "pd.DataFrame":
    """Convert a data frame of any library (polars, pyarrow, ...) to pandas.

    The frame has the Arrow interface, or is a lazy frame that narwhals collects.
    """
    if is_data_frame(frame):
        return frame
    is_arrow = hasattr(frame, "__arrow_c_stream__")
    if not is_arrow and not hasattr(frame, "collect"):
        raise _build_frame_error(frame)
    try:
        import narwhals as nw
    except ImportError:
        raise DataError(
            f"Reading a {type(frame).__module__.partition('.')[0]} {type(frame).__name__} requires"
            ' narwhals; run pip install "thali[frames]", or pass frame.to_pandas().'
        ) from None
    import pandas as pd

    narwhals_frame: Any = nw.from_native(frame, pass_through=True)
    if not isinstance(narwhals_frame, nw.DataFrame | nw.LazyFrame):  # unknown to narwhals
        if not is_arrow:
            raise _build_frame_error(frame)
        try:
            narwhals_frame = nw.from_arrow(frame, backend="pyarrow")
        except ValueError:  # a single column
            raise _build_frame_error(frame) from None
    if isinstance(narwhals_frame, nw.LazyFrame):
        narwhals_frame = narwhals_frame.collect()
    return pd.DataFrame({name: narwhals_frame[name].to_numpy() for name in narwhals_frame.columns})


def _build_frame_error(frame: Any) -> DataError:
    """Build the error for an argument that is no frame, or one without the Arrow interface."""
    package = type(frame).__module__.partition(".")[0]
    found = type(frame).__name__
    if package != "builtins":
        found = f"{package} {found}"
    advice = ""
    if method := next((name for name in _CONVERSIONS if hasattr(frame, name)), ""):
        advice = f"; pass frame.{method}()"
    return DataError(
        "`frame` must be a DataFrame (pandas, polars or another with the Arrow interface); got"
        f" {found}{advice}."
    )


_CONVERSIONS = ("to_pandas", "toPandas", "compute")  # methods that return a pandas frame


def rename_as_text(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the table with column names converted to text."""
    return frame.set_axis(column_names(frame), axis=1)


def describe_columns(count: str | None, respondent: str | None) -> str:
    """Return a phrase such as ", counts in 'n', respondents in 'id'"; "" without them."""
    description = ""
    if count is not None:
        description += f", counts in {count!r}"
    if respondent is not None:
        description += f", respondents in {respondent!r}"
    return description


# From arrays, data frames and columns to option numbers and checked counts ------------------------


Cells = tuple[np.ndarray, np.ndarray, np.ndarray]  # winners, losers, counts

# notes about the table that is being read
_NOTES: ContextVar[list[Message] | None] = ContextVar("_NOTES", default=None)
# a place, such as 2, B, alt.1, Profile A or candA
_PLACE = re.compile(
    r"(?!-\d)(|\D*[\s._:#-]|\D*[^\W\d_])(?:(\d{1,2})|(?<![^\W_])([A-Za-z])|(?<=[a-z])([A-Z]))"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]000")
_THOUSANDS_KEY = "thali_thousands"  # among the attributes of a frame


COUNTS = SquareTableWords(
    "counts",
    "option",
    "Use PairedComparisons.from_frame for long tables and from_pairs for (winner, loser) tuples.",
)


def read_square_cells(
    counts: Any, labels: Iterable[Any] | None, weights: bool
) -> tuple[tuple[str, ...], Cells]:
    """Return labels and positive cells of a square table of counts.

    The table is an array, DataFrame or sparse matrix; the row was chosen over the column.
    """
    label_texts, counts = read_square_table(counts, labels, COUNTS)
    read_cells = _read_dense_cells
    if hasattr(counts, "tocoo"):
        read_cells = _read_sparse_cells
    winner, loser, cell_counts = read_cells(counts, label_texts, weights)
    if (k := find_first(winner == loser)) is not None:
        raise DataError(
            f"The diagonal is {cell_counts[k]:g}"
            f" {describe_cell(label_texts, int(winner[k]), int(loser[k]))},"
            " but an option is never compared with itself; set the diagonal to 0."
        )
    return label_texts, (winner, loser, cell_counts)


def _read_dense_cells(counts: np.ndarray, option_labels: tuple[str, ...], weights: bool) -> Cells:
    """Return (row, column, count) of the positive cells of an array."""
    n = len(option_labels)
    for k in range(n):  # an empty diagonal means 0
        if not format_label(counts[k, k]):
            counts[k, k] = 0

    def describe_position(k: int) -> str:
        """Describe cell k by its row and column labels, for an error message."""
        return describe_cell(option_labels, k // n, k % n)

    try:
        count_table = check_counts(counts, describe_position, weights).reshape(n, n)
    except DataError as error:
        if not weights and (hint := _suggest_counts(counts, describe_position)):
            raise DataError(error, f" {hint}") from None
        raise
    refuse_totals(option_labels, count_table)
    winner, loser = np.nonzero(count_table)
    return winner, loser, count_table[winner, loser]


def _suggest_counts(counts: np.ndarray, describe_position: Callable[[int], str]) -> str:
    """Return advice to give counts if cells look like percentages; else ""."""
    try:
        count_table = check_counts(counts, describe_position, weights=True).reshape(counts.shape)
    except DataError:
        return ""
    i, j = np.triu_indices(len(count_table), k=1)
    is_compared = count_table[i, j] + count_table[j, i] > 0.0
    return find_percentages(count_table[i, j][is_compared], count_table[j, i][is_compared])


def _read_sparse_cells(counts: "csr_array", option_labels: tuple[str, ...], weights: bool) -> Cells:
    """Return (row, column, count) of the positive cells of a scipy sparse matrix."""
    nonzero_entries = counts.tocoo()
    winner = nonzero_entries.row.astype(np.int64)
    loser = nonzero_entries.col.astype(np.int64)
    cell_counts = check_counts(
        nonzero_entries.data,
        lambda k: describe_cell(option_labels, int(winner[k]), int(loser[k])),
        weights,
    )
    is_positive = cell_counts > 0
    return winner[is_positive], loser[is_positive], cell_counts[is_positive]


def get_column(frame: "pd.DataFrame", name: str) -> "pd.Series":
    """Return the column with this name; raise DataError if missing or repeated."""
    if name not in frame.columns:
        all_columns = column_names(frame)
        raise DataError(
            f"There is no column {name!r}; the columns are"
            f" {shorten(all_columns, 12) or 'none'}.{suggest(str(name), all_columns)}"
        )
    column = cast("pd.Series", frame[name])
    if column.ndim > 1:
        raise DataError(f"There are several columns {name!r}; rename all but one.")
    refuse_nested(column)
    return column


def check_columns(frame: "pd.DataFrame", names: Iterable[str | None]) -> None:
    """Raise DataError if a named column is missing or repeated; None is skipped."""
    for name in names:
        if name is not None:
            get_column(frame, name)


def refuse_nested(series: "pd.Series") -> None:
    """Raise DataError if a cell contains a list, dict or other container."""
    import pandas as pd

    if series.dtype != object or pd.api.types.infer_dtype(series) != "mixed":
        return
    for row, cell_value in series.items():
        if not pd.api.types.is_scalar(cell_value):
            raise DataError(
                f"Column {series.name!r} contains a value of type {type(cell_value).__name__} in"
                f" row {row}; put each element into a separate column or row, or remove the column."
            )


def encode_texts(series: "pd.Series") -> tuple[np.ndarray, list[str]]:
    """Return each row's text code, and the distinct texts; "" is an empty cell."""
    import pandas as pd

    codes, distinct_cells = pd.factorize(series)
    cell_texts = [*map(format_label, distinct_cells), ""]  # the last text belongs to code -1
    distinct_texts = list(dict.fromkeys(cell_texts))
    return find_label_indices(cell_texts, distinct_texts)[codes], distinct_texts


def read_row_texts(series: "pd.Series") -> np.ndarray:
    """Return each row's text, as an object array; "" is an empty cell."""
    codes, texts = encode_texts(series)
    return np.array(texts, object)[codes]


def find_filled_cells(column: "pd.Series") -> Any:
    """Return the distinct cells of a column that are not missing, in their order."""
    import pandas as pd

    distinct_cells = column.unique()
    return distinct_cells[~pd.isna(distinct_cells)]


def list_labels(frame: "pd.DataFrame", names: Iterable[str]) -> set[str]:
    """Return all labels in these columns."""
    return {
        format_label(value)
        for name in names
        for value in find_filled_cells(get_column(frame, name))
    }


def iterate_distinct_cells(column: "pd.Series") -> Iterator[Any]:
    """Yield the distinct cells of the first rows, which refute most guesses, then of all rows."""
    if len(column) > FIRST_ROWS:
        yield column.iloc[:FIRST_ROWS].unique()
    yield column.unique()


FIRST_ROWS = 1_000  # which refute most guesses about a column


def list_texts(frame: "pd.DataFrame", name: str) -> list[str]:
    """Return each row's text in the column `name`; "" is an empty cell."""
    import pandas as pd

    column = get_column(frame, name)
    # cells of other objects may be equal and have different texts, such as True and 1
    if column.dtype == object and pd.api.types.infer_dtype(column) != "string":
        return list(map(format_label, column))
    return read_row_texts(column).tolist()


def parse_position(text: str, max_position: int) -> int:
    """Return the index of a position from "1" to the maximum; -1 for other texts."""
    is_number = text.isdecimal() and len(text) < 18  # Python converts at most 4,300 digits
    if is_number and 1 <= int(text) <= max_position:
        return int(text) - 1
    return -1


def count_from_one(texts: list[str], columns: Sequence[str]) -> list[str]:
    """Return positions 0, 1, ... as 1, 2, ...; other texts, and columns from 0, unchanged."""
    if columns[0].endswith("0") or {"", *texts} != {"", *map(str, range(len(columns)))}:
        return texts
    return [text and str(int(text) + 1) for text in texts]


def describe_cells(rows: "pd.Index", columns: Sequence[str]) -> Callable[[int], str]:
    """Return a function that describes cell k of these columns, row by row, for errors."""
    n_columns = len(columns)
    return lambda k: f"in row {rows[k // n_columns]}, column {columns[k % n_columns]!r}"


def describe_content(text: str) -> str:
    """Return "contains 'tea'", or "is empty", for an error message on a cell."""
    if not text:
        return "is empty"
    return f"contains {text!r}"


def note_thousands(frame: "pd.DataFrame", cells: Mapping[str, Sequence[str]]) -> None:
    """Remember in `frame.attrs` which columns contain numbers such as "1.000".

    They may be thousands, or integers with three decimals.
    """
    example_by_column = {
        name: min(filter(_THOUSANDS.fullmatch, set(texts)), default="")
        for name, texts in cells.items()
    }
    frame.attrs[_THOUSANDS_KEY] = {name: text for name, text in example_by_column.items() if text}


def refuse_thousands(frame: "pd.DataFrame", *names: str) -> None:
    """Raise DataError if one of these columns contains ambiguous numbers such as "1.000"."""
    example_by_column = frame.attrs.get(_THOUSANDS_KEY, {})
    for name in names:
        if name in example_by_column:
            integer_part = example_by_column[name][:-4]
            raise DataError(
                f"Column {name!r} contains {example_by_column[name]!r}, which may mean"
                f" {integer_part}000 or"
                f" {integer_part}; write counts as integers without separators."
            )


def read_counts(frame: "pd.DataFrame", name: str | None, weights: bool) -> np.ndarray:
    """Read the column of counts; 1 per row if `name` is None."""
    if name is None:
        return np.ones(len(frame))
    count_column = get_column(frame, name)
    if not weights:
        refuse_thousands(frame, name)
    if count_column.dtype.kind not in "iuf":
        is_yes, is_wrong = classify_yes_no(count_column)
        if not is_wrong.any():
            return is_yes.astype(float)
    elif not weights and simplify_name(name) in WEIGHTS:
        fractions = count_column.loc[count_column % 1 > 0]
        if len(fractions):
            raise DataError(
                f"Column {name!r} contains weights such as {fractions.iloc[0]:g}, but weights are"
                " not supported for this kind of data; drop the column with ",
                Setting("without", [name]),
                ".",
            )
    return check_counts(list_cells(count_column), describe_cells(frame.index, [name]), weights)


def list_cells(series: "pd.Series") -> np.ndarray:
    """Return the cells of a column as an array; object dtype if some are empty."""
    if series.hasnans:  # an array of numbers cannot contain <NA>
        return series.to_numpy(object)
    return series.to_numpy()


def is_row_number(series: "pd.Series") -> bool:
    """Return whether the column just numbers the rows from 0 or 1.

    The column has three rows or more; some rows of a file may be missing.
    """
    if len(series) < 3 or series.dtype.kind not in "iuf":
        return False
    # numbers of rows in a file, without dropped rows
    row_numbers = series.index.to_numpy()
    possible_offsets = (-2, -1, 0, 1)
    if row_numbers.dtype.kind not in "iu" or (
        row_numbers[0] <= 2 and np.ptp(row_numbers) < len(row_numbers)
    ):
        row_numbers = np.arange(len(series))
        possible_offsets = (0, 1)
    offsets = series.to_numpy(float) - row_numbers
    return offsets[0] in possible_offsets and np.ptp(offsets) == 0


def name_rows(count: str | None) -> str:
    """Return "comparison" if a column counts comparisons, else "row"."""
    if count is None:
        return "row"
    return "comparison"


def count_comparisons(rows: "pd.DataFrame", count: str | None) -> float:
    """Sum the column `count` over the rows; without it count rows.

    Cells that are not numbers are treated as 0.
    """
    import pandas as pd

    if count is None:
        return len(rows)
    comparison_counts: Any = pd.to_numeric(rows[count], errors="coerce")
    return float(np.nansum(np.asarray(comparison_counts, float)))


def select_answered_rows(
    frame: "pd.DataFrame",
    answer_columns: Iterable[str | None],
    options: Sequence[str] = (),
    labels: Iterable[str] = (),
    task_columns: Iterable[str | None] = (),
    is_reported: bool = True,
) -> "pd.DataFrame":
    """Return the rows with an answer; if `is_reported`, note how many were dropped.

    All rows are returned if none has an answer. `task_columns` identify tasks, which are dropped as
    a whole. `options` are the columns of offered options, `labels` known labels.
    """
    import pandas as pd

    known_labels = {*labels, *list_labels(frame, options)}
    is_unanswered = np.zeros(len(frame), bool)
    for name in filter(None, answer_columns):
        if get_column(frame, name).dtype.kind in "iu":  # a column of integers has no gaps
            continue
        answer_texts = list_texts(frame, name)
        is_unanswered |= np.isin(answer_texts, ["", *find_no_answers(answer_texts, known_labels)])
        no_answer_words = find_no_answers(answer_texts, ())
        if no_answer_words and any(
            frame[option].dtype.kind == "f" and frame[option].hasnans for option in options
        ):
            raise DataError(
                f"{min(no_answer_words)!r} in column {name!r} could be the label of an option or a"
                " missing answer. Rename it if it is an option; leave the cell empty if there is"
                " no answer."
            )
    if task_cells := [frame[name].to_numpy() for name in task_columns if name is not None]:
        is_unanswered = (
            pd.Series(is_unanswered).groupby(task_cells, dropna=False).transform("all").to_numpy()
        )
    if is_unanswered.all():
        return frame
    if is_reported:
        note_omission(is_unanswered.sum())
    return frame.loc[~is_unanswered]


@contextmanager
def collect_notes() -> Iterator[list[Message]]:
    """Collect notes on dropped rows within this block, instead of warning."""
    context_token = _NOTES.set(clauses := [])
    try:
        yield clauses
    finally:
        _NOTES.reset(context_token)


def note_omission(n_omitted: float, words: Iterable[str] = (), noun: str = "row") -> None:
    """Note, or warn, that rows without an answer were dropped."""
    quoted_words = ""
    if words:
        quoted_words = f" ({shorten(sorted(words))})"
    if n_omitted:
        add_note(f"{format_plural(n_omitted, noun)} without an answer{quoted_words} dropped")


def add_note(clause: str | Message) -> None:
    """Append a clause to the collected notes; warn if none are collected."""
    if (clauses := _NOTES.get()) is not None:
        note = Message("; ", clause)
        if str(note) not in map(str, clauses):  # of a table that is read twice
            clauses.append(note)
    else:
        warn(DataWarning(clause, "."))


def match_places(texts: Iterable[str], labels: Sequence[str]) -> dict[str, str]:
    """Map texts to the labels with the same last letter or number; {} unless all match.

    Letters count as numbers: A is 1.

    Examples
    --------
    >>> match_places(["A", "B"], ["candA", "candB"])
    {'A': 'candA', 'B': 'candB'}
    >>> match_places(["Candidate B", "Candidate A"], ["1", "2"])
    {'Candidate B': '2', 'Candidate A': '1'}
    >>> match_places(["bus", "car"], ["1", "2"])
    {}
    """
    label_places = _number_places(labels)
    text_places = _number_places([text for text in texts if text])
    label_by_place = {place: label for label, place in label_places.items()}
    if not {*text_places.values()} <= {*label_by_place}:
        return {}
    return {text: label_by_place[place] for text, place in text_places.items()}


def _number_places(labels: Sequence[str]) -> dict[str, int]:
    """Return the place at the end of each label; {} unless labels differ by it alone."""
    place_by_label: dict[str, int] = {}
    words = set()
    for label in labels:
        place_match = _PLACE.fullmatch(label)
        if place_match is None:
            return {}
        word, number, *letters = place_match.groups()
        words.add(word.casefold())
        if number is not None:
            place_by_label[label] = int(number)
        else:
            letter = next(filter(None, letters))
            place_by_label[label] = ord(letter.casefold()) - ord("a") + 1
    if len(words) != 1 or len({*place_by_label.values()}) < len(labels):
        return {}
    return place_by_label


def drop_self_comparisons(
    frame: "pd.DataFrame", first_column: str, second_column: str, count: str | None = None
) -> "pd.DataFrame":
    """Drop rows that compare an option with itself; note their number."""
    first_codes, first_texts = encode_texts(get_column(frame, first_column))
    second_codes, second_texts = encode_texts(get_column(frame, second_column))
    options = [text for text in first_texts if text and not is_tie_label(text)]
    first_options = find_label_indices(first_texts, options)[first_codes]
    second_options = find_label_indices(second_texts, options)[second_codes]
    is_self = (first_options == second_options) & (first_options >= 0)
    if not is_self.any() or is_self.all():
        return frame
    n_omitted = simplify_number(count_comparisons(frame.loc[is_self], count))
    add_note(f"{format_plural(n_omitted, name_rows(count))} of an option with itself dropped")
    return frame.loc[~is_self]


def refuse_empty(rows: Sized, noun: str) -> None:
    """Raise DataError if a table has no rows; `noun` names what its rows contain."""
    if not len(rows):
        raise DataError(f"The table has no rows, so it contains no {noun}.")


def encode_labels(
    winners: "pd.Series",
    losers: "pd.Series",
    counts: np.ndarray,
    labels: Iterable[Any] | None,
    describe_position: Callable[[int, bool], str] | None = None,
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Encode winner and loser columns as indices into shared labels.

    Return the labels, and the indices of winners and losers. `describe_position(row, is_winner)`
    describes a position in errors; None: by row and column.
    """
    import pandas as pd

    def describe_side(row: int, is_winner: bool) -> str:
        """Describe a winner or loser cell for an error message."""
        side_column = losers
        if is_winner:
            side_column = winners
        return f"in row {side_column.index[row]}, column {side_column.name!r}"

    describe_position = describe_position or describe_side
    refuse_empty(winners, "comparisons")
    n_rows = len(winners)
    # 1, 1.0, "1" and " 1" are the same label, so compare texts
    winner_codes, winner_texts = encode_texts(winners)
    loser_codes, loser_texts = encode_texts(losers)
    codes = np.concatenate([winner_codes, loser_codes + len(winner_texts)])
    distinct_texts = [*winner_texts, *loser_texts]
    if labels is not None:
        all_labels = check_labels(labels)
    else:
        row_codes = codes.reshape(2, -1).T.ravel()
        texts_in_order = dict.fromkeys(distinct_texts[k] for k in pd.unique(row_codes))
        category_labels = [*list_categories(winners), *list_categories(losers)]
        all_labels = tuple(dict.fromkeys((*category_labels, *sort_texts([*texts_in_order]))))
    label_indices = find_label_positions(
        codes, distinct_texts, all_labels, lambda k: describe_position(k % n_rows, k < n_rows)
    )
    winner = label_indices[:n_rows]
    loser = label_indices[n_rows:]
    if (k := find_first((winner == loser) & (counts > 0))) is not None:
        self_label = all_labels[winner[k]]
        if is_tie_label(self_label):
            raise DataError(
                f"{explain_tie_label(self_label)} {self_label!r} is in both columns"
                f" {describe_position(k, True).split(',')[0]}."
            )
        raise DataError(
            f"{self_label!r} is compared with itself {describe_position(k, True)}; correct or"
            " remove the row."
        )
    if labels is None:
        refuse_ties(all_labels, winner, loser, counts)
    return all_labels, winner, loser


def find_label_positions(
    codes: np.ndarray,
    texts: list[str],
    names: Sequence[str],
    describe_position: Callable[[int], str],
    subject: str = "A label",
) -> np.ndarray:
    """Return the index among `names` of each row's label; raise if unknown.

    `describe_position` describes where the first missing or unknown label is, for the error.
    """
    is_missing = (codes < 0) | np.isin(codes, [k for k, text in enumerate(texts) if not text])
    if (k := find_first(is_missing)) is not None:
        raise DataError(
            f"{subject} is missing {describe_position(k)}; fill it in or remove the row."
        )
    label_indices = find_label_indices(texts, names)[codes]
    if (k := find_first(label_indices < 0)) is not None:
        unknown_label = texts[codes[k]]
        raise DataError(
            f"{unknown_label!r} {describe_position(k)} is not in"
            f" `labels`.{suggest(unknown_label, names)}"
        )
    return label_indices


def list_categories(series: "pd.Series") -> tuple[str, ...]:
    """Return the labels of a categorical column; () for other columns."""
    import pandas as pd

    if not isinstance(series.dtype, pd.CategoricalDtype):
        return ()
    return tuple(dict.fromkeys(map(format_label, series.cat.categories)))


def number_pairs(n: int, first_indices: np.ndarray, second_indices: np.ndarray) -> np.ndarray:
    """Return a unique integer for each unordered pair of n options."""
    return np.minimum(first_indices, second_indices).astype(np.int64) * n + np.maximum(
        first_indices, second_indices
    )


def number_distinct_rows(
    columns: Sequence[np.ndarray] | np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct rows of these columns in sorted order; return numbers and one row of each."""
    row_code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        _, codes = np.unique(column, return_inverse=True)
        n_codes = int(codes.max(initial=0)) + 1
        _, row_code = np.unique(row_code * n_codes + codes, return_inverse=True)
    _, first_rows = np.unique(row_code, return_index=True)
    return row_code, first_rows


# Columns of a table as integers: labels as indices, and marks of yes and no


YES = {*"1 true t yes y ja oui si sí sì sim chosen selected".split()}
NO = {*"0 false f no n nein non nee nej não unchosen".split(), "not chosen", "not selected"}


def encode_column(
    frame: "pd.DataFrame", name: str, labels: Iterable[Any] | None = None
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Encode a column as integers; return the codes and their labels.

    The labels are `labels`, the categories, or the values in order.
    """
    column = get_column(frame, name)
    codes, cell_texts = encode_texts(column)
    code_labels = list_categories(column)
    if labels is not None or not code_labels:
        code_labels = choose_labels(labels, filter(None, cell_texts))
    label_indices = find_label_positions(
        codes, cell_texts, code_labels, describe_cells(frame.index, [name])
    )
    return label_indices, code_labels


def number_labelled_sets(
    frame: "pd.DataFrame", key_columns: Iterable[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Number the sets of rows with equal labels in the key columns, in the order of the labels.

    Return the first row of each set, and the set of each row. Raise DataError for a missing label.
    """
    set_keys = np.zeros(len(frame), np.int64)
    for name in key_columns:
        codes, labels = encode_column(frame, name)
        set_keys = set_keys * len(labels) + codes
    _, first_rows, set_index = np.unique(set_keys, return_index=True, return_inverse=True)
    return first_rows, set_index


def choose_labels(labels: Iterable[Any] | None, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the given labels, checked, or the sorted distinct texts."""
    if labels is not None:
        return check_labels(labels)
    return sort_texts(list(dict.fromkeys(texts)))


def sort_texts(texts: list[str]) -> tuple[str, ...]:
    """Sort texts by size if all are numbers; else keep their order."""
    try:
        return tuple(sorted(texts, key=lambda text: (float(text), text)))
    except ValueError:
        return tuple(texts)


def read_flags(frame: "pd.DataFrame", name: str) -> np.ndarray:
    """Read a yes/no column as bool array (rows,); raise for other cells."""
    column = get_column(frame, name)
    is_yes, is_wrong = classify_yes_no(column)
    if (wrong_row := find_first(is_wrong)) is not None:
        raise DataError(
            f"Column {name!r} must contain 1 (yes) or 0 (no); row {frame.index[wrong_row]} contains"
            f" {format_label(column.iloc[wrong_row])!r}."
        )
    return is_yes


def classify_yes_no(series: "pd.Series") -> tuple[np.ndarray, np.ndarray]:
    """Return which cells mean yes, and which mean neither yes nor no.

    Where all filled cells have one mark, such as x, an empty cell means no.
    """
    import pandas as pd

    codes, distinct_cells = pd.factorize(series)
    cell_texts = [format_label(value).casefold() for value in distinct_cells]
    if len(cell_texts) == 1 and cell_texts[0] in {*YES, *_MARKS} and (codes < 0).any():
        return codes == 0, np.zeros(len(codes), bool)
    is_yes = np.array([*(text in YES for text in cell_texts), False])
    is_known = np.array([*(text in YES or text in NO for text in cell_texts), False])
    return is_yes[codes], ~is_known[codes]


_MARKS = {"x", "✓", "✔", "*"}


LIST_SEPARATORS = (";", "|", ",")  # of the labels in a cell


def split_lists(cells: "pd.Series", keys: "pd.Series") -> "pd.Series | None":
    """Return the labels of cells that list them, "tea; milk", a label per row; else None.

    In lists no label is twice under one key, and there are no more labels than different cells. The
    index of a label is that of its cell.
    """
    import pandas as pd

    texts = cells.map(format_label)
    for separator in LIST_SEPARATORS:
        lists = texts.str.strip(f"{separator} ").str.split(separator)
        labels = lists.explode().str.strip()
        if len(labels) == len(cells) or labels.nunique() > cells.nunique():
            continue
        if not pd.DataFrame({"key": keys[labels.index], "label": labels}).duplicated().any():
            return labels
    return None
