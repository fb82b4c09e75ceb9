"""Warnings about rows labelled as practice, training, warm-up, catch trials or survey previews."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from thali._data.column_readers import NO, YES, find_filled_cells
from thali._data.column_roles import simplify_name
from thali._inference.user_warnings import warn
from thali._labels import format_label, format_plural
from thali.errors import DataWarning, Message, Setting

from .row_filter import Condition, RowFilter

if TYPE_CHECKING:
    from thali._data.base_classes import Frozen

    from .table_files import RawTable

# a number or one of _PARTS may follow
_WORDS = (
    "practice practise practicing pract prac training warmup warmingup catch attentioncheck demo"
    " demonstration tutorial familiarization familiarisation übung übungen uebung uebungen probe"
    " probedurchlauf vorübung eingewöhnung aufwärmen aufwaermen entraînement échauffement démo"
    " démonstration práctica entrenamiento ensayodepráctica calentamiento"
    " surveypreview surveytest spam possiblespam previewspam importedspam"  # Qualtrics' Status
)
_MAX_DISTINCT = 200  # columns with more distinct cells are not labels of practice
_PARTS = (
    "trials trial blocks block phase rounds round session run task loop durchgänge durchgang"
    " durchlauf essai essais ensayo bloque bloc"
)
_PLAIN_WORDS, _PLAIN_PARTS = (tuple(map(simplify_name, text.split())) for text in (_WORDS, _PARTS))


class _PracticeRows(NamedTuple):
    """Column, label and number of rows labelled as practice."""

    column: str
    words: tuple[str, ...]  # labels of practice
    rows: int

    def message(self) -> Message:
        """Return the warning, with the argument that excludes these rows."""
        row_filter = RowFilter(tuple(Condition(self.column, "!=", (word,)) for word in self.words))
        return Message(
            f"The data include {format_plural(self.rows, 'row')} in which {self.column!r} is"
            f" {' or '.join(map(repr, self.words))}; exclude such rows with ",
            Setting("where", str(row_filter)),
            ".",
        )


def is_practice_label(text: str) -> bool:
    """Return whether a cell is "practice", "training", "warm-up" or the like.

    Examples
    --------
    >>> [
    ...     is_practice_label(text)
    ...     for text in ("Practice", "training_2", "Übungsblock", "Survey Preview", "main", "2")
    ... ]
    [True, True, True, True, False, False]
    """
    plain_word = simplify_name(text).rstrip("0123456789")
    possible_words = {plain_word, *map(plain_word.removesuffix, _PLAIN_PARTS)}
    possible_words |= {word.removesuffix("s") for word in possible_words}
    return not possible_words.isdisjoint(_PLAIN_WORDS)


def _list_practice_labels(column: str, cell_texts: Iterable[str]) -> list[str]:
    """Return the cells that label practice: its words, or yes in a column such as is_catch."""
    texts = [*cell_texts]
    is_flag = _is_practice_flag(column) and {*map(str.casefold, texts)} <= {*YES, *NO, ""}
    return [
        text for text in texts if is_practice_label(text) or (is_flag and text.casefold() in YES)
    ]


def _is_practice_flag(column: str) -> bool:
    """Return whether a column's name, such as is_catch, says that yes means practice."""
    plain_name = simplify_name(column)
    is_named = plain_name.startswith(("is", "catch", "practice", "practise"))
    return is_named and is_practice_label(plain_name.removeprefix("is"))


def _find_practice_rows(table: "RawTable", data: "Frozen") -> list[_PracticeRows]:
    """Find the columns in which some rows are labelled as practice, by labels of no option."""
    practice_columns = []
    for name, cells in table.frame.items():
        column = str(name)
        is_flag = _is_practice_flag(column)
        if column in table.filter_columns or (cells.dtype.kind in "biufcmM" and not is_flag):
            continue
        try:
            distinct_cells = find_filled_cells(cells)
        except TypeError:  # cells are lists
            continue
        if len(distinct_cells) > _MAX_DISTINCT:
            continue
        cell_texts = list(map(format_label, distinct_cells))
        practice_words = tuple(dict.fromkeys(_list_practice_labels(column, cell_texts)))
        if practice_words and (is_flag or _list_data_names(data).isdisjoint(practice_words)):
            is_practice = [text in practice_words for text in cell_texts]
            n_rows = int(cells.isin(distinct_cells[is_practice]).sum())
            practice_columns.append(_PracticeRows(column, practice_words, n_rows))
    return practice_columns


def warn_about_practice(table: "RawTable", data: "Frozen") -> None:
    """Warn if some rows, but not all, are labelled as practice."""
    for practice_rows in _find_practice_rows(table, data):
        if practice_rows.rows < len(table.frame):
            warn(DataWarning(practice_rows.message()))


def _list_data_names(data: "Frozen") -> frozenset[str]:
    """Return all labels in the data; they do not denote practice rows."""
    data_labels: set[str] = set()
    for field in ("labels", "respondents", "alternative_labels"):
        data_labels |= set(map(format_label, getattr(data, field, ())))
    if (scheme := getattr(data, "scheme", None)) is not None:
        for attribute in scheme.attributes:
            data_labels |= set(map(format_label, attribute.levels))
    return frozenset(data_labels)
