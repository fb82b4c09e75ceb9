"""Reading comparisons from wide tables, one column per pair of options.

A row is a respondent, or a pattern of answers with its count.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import count_pairs
from thali._inference.user_warnings import warn
from thali._labels import (
    check_labels,
    format_label,
    format_plural,
    index_labels,
    is_number,
    list_names,
    shorten,
)
from thali.errors import Argument, DataError, DataWarning

from ..column_readers import describe_columns, match_places, note_omission, read_counts
from ..column_roles import (
    COUNT,
    RESPONDENT,
    RESULT,
    TIE_WORDS,
    UNKNOWN_WORDS,
    WEIGHTS,
    column_names,
    find_named_columns,
    find_no_answers,
    map_plain_names,
    simplify_name,
)
from ..respondent_answers import read_respondents, treat_rows_as_respondents
from .comparison_rows import ComparisonRows
from .trial_rows import (
    FIRST,
    SECOND,
    TIE,
    TrialOutcomes,
    count_outcomes,
    decode_texts,
    map_coding,
    split_missing,
)

if TYPE_CHECKING:
    import pandas as pd


_SEPARATORS = (
    r"\s*>\s*",
    r"\s*:\s*",
    r"\s*/\s*",
    r"[\s_.]+vs\.?[\s_.]+",
    r"[\s_.]+versus[\s_.]+",
    r"[\s_.]+over[\s_.]+",
)
# separators that are also parts of other names: all pairs must be present
_WEAK_SEPARATORS = (r"\s+-\s+", r"\s*\|\s*", r"-", r"__", r"_", r"\.")
_TWO_DIGITS = re.compile(r"([^\W\d]*)[_.]?(\d)[_.,]?(\d)")
_TWO_NUMBERS = re.compile(r"([^\W\d]*)[_.]?(\d+)[_.,](\d+)")
_STEM_TWICE = re.compile(r"(([^\W\d]+)\d+)[_.]?(\2\d+)")  # i1i2 of Thurstonian models
_DESIGN = re.compile(r".*-\d+-\d+")  # columns of the Conjoint Survey Design Tool
# stems of numbered pairs
_PAIR_WORDS = ("pair", "paar", "comp", "match", "vergleich", "pc", "cmp", "vgl")
_NUMBERED = re.compile(r"([^\d]*?)[_. ]?(\d{1,9})")
# a column with this number of different cells contains no answers
MAX_DIFFERENT = 1_000
_TYPICAL = ({"1", "2"}, {"1", "0", "-1"}, {"0", "1", "2"})

Pair = tuple[str, str]


class WideColumns(NamedTuple):
    """The columns of a wide table, each with the pair of options that it compares."""

    pairs: dict[str, Pair]
    order: str  # source of the options: "named", "numbered" or "chosen"
    respondent: str | None
    count: str | None  # type: ignore[override]

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        return {*self.pairs, self.respondent, self.count}


def find_wide_columns(
    frame: "pd.DataFrame", named_columns: Mapping[str, str | None], coding: Mapping[Any, str] | None
) -> WideColumns | None:
    """Find the columns that each compare one pair, by names or cells.

    Cells that `coding` covers are ignored. Return None if there are none.
    """
    all_columns = column_names(frame)
    name_by_simplified = map_plain_names(all_columns)
    respondent_column, count_column = find_named_columns(
        name_by_simplified, named_columns, (RESPONDENT, COUNT)
    )
    # a column W/L contains the results of games
    role_columns = (respondent_column, count_column, RESULT.find_column(name_by_simplified))
    other_columns = [name for name in all_columns if name not in role_columns]
    coded_texts = {"", *map(format_label, coding or ())}
    texts_by_column = {
        name: {format_label(value) for value in frame[name].dropna().unique()[:MAX_DIFFERENT]}
        - coded_texts
        for name in other_columns
    }
    # the share of the columns that must contain answers
    for order_source, least_share, pairs_of_columns in (
        ("named", 0.5, match_pair_names(other_columns)),
        ("named", 0.5, _match_two_numbers(other_columns)),
        ("named", 0.5, _match_repeated_stems(other_columns)),
        ("numbered", 1.0, _match_running_numbers(other_columns)),
    ):
        can_be_answers = [
            _can_be_answers(texts_by_column[name], pair) for name, pair in pairs_of_columns.items()
        ]
        are_answers = sum(can_be_answers) >= least_share * len(can_be_answers)
        if are_answers and frame[[*pairs_of_columns]].notna().to_numpy().any():
            return WideColumns(pairs_of_columns, order_source, respondent_column, count_column)
    if pairs_by_column := _match_answers(other_columns, texts_by_column):
        return WideColumns(pairs_by_column, "chosen", respondent_column, count_column)
    return None


def find_numbered_answers(frame: "pd.DataFrame") -> list[str]:
    """Return columns V1, V2, ... if all cells are 1/2 or 1/0/-1; else []."""
    for numbered_columns in _group_numbered(column_names(frame)).values():
        texts_by_column = [
            {format_label(value) for value in frame[name].dropna().unique()}
            for name in numbered_columns
        ]
        if len(numbered_columns) > 2 and any(
            all(cells <= code_texts for cells in texts_by_column) for code_texts in _TYPICAL[:2]
        ):
            return numbered_columns
    return []


def list_prefmod_pairs(labels: Sequence[str]) -> list[Pair]:
    """Return all pairs in the order of R's prefmod: (1, 2), (1, 3), (2, 3), ...

    Examples
    --------
    >>> list_prefmod_pairs("abc")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return [(labels[i], labels[j]) for j in range(1, len(labels)) for i in range(j)]


def compute_n_options(pairs: int) -> int | None:
    """Return k with k (k - 1) / 2 = pairs; None if there is none."""
    n_options = round((1 + (1 + 8 * pairs) ** 0.5) / 2)
    if n_options < 3 or count_pairs(n_options) != pairs:
        return None
    return n_options


def match_pair_names(columns: list[str]) -> dict[str, Pair]:
    """Return the pair of each column named such as "tea > coffee" or "tea vs coffee"."""
    # "tea_coffee" counts if all pairs are present; "total_time" is no pair of their objects.
    for separator in (*_SEPARATORS, *_WEAK_SEPARATORS):
        pairs_by_column: dict[str, Pair] = {}
        for column in columns:
            sides = [side.strip() for side in re.split(separator, column, flags=re.IGNORECASE)]
            if len(sides) == 2 and all(sides) and sides[0] != sides[1]:
                pairs_by_column[column] = (sides[0], sides[1])
        if separator in _WEAK_SEPARATORS:
            n_columns = Counter(chain(*pairs_by_column.values()))
            pairs_by_column = {
                column: pair
                for column, pair in pairs_by_column.items()
                if min(n_columns[side] for side in pair) > 1
            }
        # counts of either side
        is_repeated = len({frozenset(pair) for pair in pairs_by_column.values()}) < len(
            pairs_by_column
        )
        if (
            pairs_by_column
            and not is_repeated
            and (separator in _SEPARATORS or _is_complete(pairs_by_column))
        ):
            return pairs_by_column
    return {}


def _match_two_numbers(columns: list[str]) -> dict[str, Pair]:
    """Return the pair of columns V12, V13, V23, if all pairs are present."""
    for pattern in (_TWO_DIGITS, _TWO_NUMBERS):
        pairs_by_stem: dict[str, dict[str, Pair]] = {}
        for column in columns:
            if (number_match := pattern.fullmatch(column)) and number_match[2] != number_match[3]:
                pairs_by_stem.setdefault(number_match[1], {})[column] = (
                    number_match[2],
                    number_match[3],
                )
        for pairs_by_column in pairs_by_stem.values():
            numbers = {str(k + 1) for k in range(compute_n_options(len(pairs_by_column)) or 0)}
            if _is_complete(pairs_by_column) and numbers == {
                label for pair in pairs_by_column.values() for label in pair
            }:
                return pairs_by_column
    return {}


def _match_repeated_stems(columns: list[str]) -> dict[str, Pair]:
    """Return the pair of each column named such as i1i2, if there are three or more."""
    matches = filter(None, map(_STEM_TWICE.fullmatch, columns))
    pair_by_column = {pair_match[0]: (pair_match[1], pair_match[3]) for pair_match in matches}
    if len(pair_by_column) < 3 or any(first == second for first, second in pair_by_column.values()):
        return {}
    return pair_by_column


def _group_numbered(columns: list[str]) -> dict[str, list[str]]:
    """Group columns V1, V2, ... by the text before the number."""
    columns_by_stem: dict[str, list[str]] = {}
    if any(map(_DESIGN.fullmatch, columns)):
        return {}
    for column in columns:
        if number_match := _NUMBERED.fullmatch(column):
            numbered_columns = columns_by_stem.setdefault(number_match[1], [])
            if int(number_match[2]) == len(numbered_columns) + 1:
                numbered_columns.append(column)
    return columns_by_stem


def _match_running_numbers(columns: list[str]) -> dict[str, Pair]:
    """Return the pair of columns V1, V2, ... in prefmod's order, if complete."""
    for numbered_columns in _group_numbered(columns).values():
        if n_options := compute_n_options(len(numbered_columns)):
            pairs = list_prefmod_pairs([str(i + 1) for i in range(n_options)])
            return dict(zip(numbered_columns, pairs, strict=True))
    return {}


def _match_answers(columns: list[str], texts_by_column: dict[str, set[str]]) -> dict[str, Pair]:
    """Return the two labels that each column contains; {} for fewer than three pairs."""
    # Every label is in several columns, and columns contain different labels.
    labels_by_column: dict[str, Pair] = {}
    for column in columns:
        labels = sorted(
            text for text in texts_by_column[column] if simplify_name(text) not in _NO_LABELS
        )
        if len(labels) > 2:
            labels = sorted(set(labels) - find_no_answers(labels, ()))
        if len(labels) == 2 and not any(is_number(label) for label in labels):
            labels_by_column[column] = (labels[0], labels[1])
    pair_labels = [label for pair in set(labels_by_column.values()) for label in pair]
    labels_by_column = {
        column: pair
        for column, pair in labels_by_column.items()
        if all(pair_labels.count(label) > 1 for label in pair)
    }
    if len(set(labels_by_column.values())) < 3:
        return {}
    return labels_by_column


def _is_complete(pair_by_column: Mapping[str, Pair]) -> bool:
    """Return whether the columns compare every pair of three or more options once."""
    option_labels = sorted({label for pair in pair_by_column.values() for label in pair})
    present_pairs = sorted(tuple(sorted(pair)) for pair in pair_by_column.values())
    return len(option_labels) > 2 and present_pairs == sorted(combinations(option_labels, 2))


def are_all_pairs(columns: list[str]) -> bool:
    """Return whether columns are named for every pair of three or more options."""
    return _is_complete(match_pair_names(columns))


def _can_be_answers(texts: set[str], pair: Pair) -> bool:
    """Return whether all cells of a column can be answers about this pair."""
    texts = texts - find_no_answers(texts, pair)
    answer_labels = _select_labels(texts, pair)
    if any(texts <= codes for codes in _TYPICAL) or match_places(answer_labels, pair):
        return True
    return any(
        answer_labels <= words
        for words in ({*pair}, {">", "<"}, {"first", "second"}, {"left", "right"})
    )


def _select_labels(texts: Iterable[str], labels: Collection[str]) -> set[str]:
    """Return the texts that are no words for a tie or for no answer, unless they are labels."""
    return {text for text in texts if simplify_name(text) not in _NO_LABELS or text in labels}


_SIGNS = {
    ">": FIRST,
    "<": SECOND,
    "=": TIE,
    "first": FIRST,
    "second": SECOND,
    "left": FIRST,
    "right": SECOND,
}
_CODES: tuple[dict[str, float], ...] = (
    {"1": FIRST, "2": SECOND},
    {"1": FIRST, "-1": SECOND, "0": TIE},
    {"0": FIRST, "1": TIE, "2": SECOND},
)
_NO_LABELS = (*TIE_WORDS, *UNKNOWN_WORDS)
_NAMES = {FIRST: "the first", SECOND: "the second", TIE: "a tie"}


def refuse_unclear_codes(frame: "pd.DataFrame", columns: WideColumns) -> None:
    """Raise DataError for codes in CS1, CS2, ..., which may be answers to any questions.

    Three codes, or 1 and -1, are clear only in V1, V2, ..., as in R's prefmod.
    """
    names = list(columns.pairs)
    stem = simplify_name(names[0])
    if columns.order != "numbered" or columns.count is not None or stem.startswith(_PAIR_WORDS):
        return
    cells = {format_label(cell) for name in names for cell in frame[name].unique()} - {""}
    if cells in ({"1", "2"}, {"0", "1"}) or (stem != "v1" and all(map(is_number, cells))):
        codes: Any = sorted(map(int, cells))
        raise DataError(
            f"The columns from {names[0]!r} to {names[-1]!r} contain only"
            f" {shorten(codes)}, and no column names what was compared. If they"
            " are answers to the tasks of a choice experiment, add the table of the tasks with ",
            Argument("design"),
            f"; if they compare all pairs in the order of R's prefmod"
            f" ({_describe_order(columns.pairs)}), define the values with ",
            Argument("coding"),
            ".",
        )


def read_wide_outcomes(
    frame: "pd.DataFrame",
    columns: WideColumns,
    coding: Mapping[Any, str] | None,
    labels: Iterable[Any] | None,
    weights: bool,
) -> TrialOutcomes:
    """Decode the answers in the pair columns; empty cells are skipped."""
    pairs = columns.pairs
    column_labels = list(dict.fromkeys(label for pair in pairs.values() for label in pair))
    option_labels = _match_given_labels(column_labels, labels)
    label_indices = index_labels(column_labels)
    outcomes, code_description = _decode_outcomes(frame, pairs, coding)
    row_index, column_index = np.nonzero(~np.isnan(outcomes))
    if not row_index.size:
        raise DataError(f"The columns {shorten(list(pairs))} contain no answers; check the table.")
    option_indices = np.array(
        [[label_indices[label] for label in pair] for pair in pairs.values()], np.int64
    )
    cell_outcomes = outcomes[row_index, column_index]
    row_counts = np.ones(len(frame))
    row_respondents = None
    if columns.count is not None:
        row_counts = read_counts(
            frame, columns.count, weights or simplify_name(columns.count) in WEIGHTS
        )
    if columns.respondent is not None:
        row_respondents = read_respondents(frame, columns.respondent, columns.used)
    elif columns.count is None:
        names = tuple(str(k + 1) for k in range(len(frame)))
        row_respondents = treat_rows_as_respondents(frame, columns.used, names)
    if row_respondents is not None:
        row_respondents = row_respondents.select_rows(row_index)
    note_omission(np.isnan(outcomes).all(axis=1).sum())
    rows = ComparisonRows(
        option_indices[column_index, 0],
        option_indices[column_index, 1],
        count_outcomes(cell_outcomes, row_counts[row_index]),
        row_respondents,
    )
    description = _describe_wide_columns(columns, code_description)
    return TrialOutcomes(option_labels, rows, False, description)


def _match_given_labels(column_labels: list[str], labels: Iterable[Any] | None) -> tuple[str, ...]:
    """Return the option labels; given labels replace numbers in column names."""
    if labels is None:
        return tuple(column_labels)
    given_labels = check_labels(labels)
    if len(given_labels) != len(column_labels):
        raise DataError(
            f"`labels` must name the {len(column_labels)} options of the columns; got"
            f" {format_plural(len(given_labels), 'label')}."
        )
    if set(given_labels) == set(column_labels):
        return tuple(column_labels)
    sorted_labels = sorted(column_labels, key=lambda text: (len(text), text))
    return tuple(given_labels[sorted_labels.index(label)] for label in column_labels)


def _decode_outcomes(
    frame: "pd.DataFrame", pair_by_column: dict[str, Pair], coding: Mapping[Any, str] | None
) -> tuple[np.ndarray, str]:
    """Decode each cell as FIRST, SECOND, TIE or NaN; also describe the code."""
    import pandas as pd

    factorized_columns = [pd.factorize(frame[column]) for column in pair_by_column]
    texts_by_column = [
        [format_label(value) for value in values] for _, values in factorized_columns
    ]
    coding, missing_texts = split_missing(coding)
    known_words = {
        *map_coding(coding or {}),
        *(label for pair in pair_by_column.values() for label in pair),
    }
    no_answer_texts = (
        find_no_answers(
            (text for cell_texts in texts_by_column for text in cell_texts), known_words
        )
        | missing_texts
    )
    all_texts = {
        text for cell_texts in texts_by_column for text in cell_texts if text
    } - no_answer_texts
    shared_code, description = _recognise_code(all_texts, pair_by_column, coding)
    outcomes = np.full((len(frame), len(pair_by_column)), np.nan)
    n_dropped = 0
    for k, ((column, pair), (codes, _), column_texts) in enumerate(
        zip(pair_by_column.items(), factorized_columns, texts_by_column, strict=True)
    ):
        outcome_by_label = {pair[0]: FIRST, pair[1]: SECOND}
        answers = _select_labels({*column_texts} - no_answer_texts, pair)
        label_by_text = match_places(answers, pair)  # such as Sample A
        outcome_by_label |= {text: outcome_by_label[name] for text, name in label_by_text.items()}
        outcome_by_text = dict.fromkeys(filter(_is_tie_word, column_texts), TIE)
        if shared_code is None or (coding is not None and not any(map(is_number, pair))):
            outcome_by_text |= outcome_by_label
        outcome_by_text |= (shared_code or {}) | dict.fromkeys(no_answer_texts, np.nan)
        is_unknown = np.array([*(text in no_answer_texts for text in column_texts), False])[codes]
        n_dropped += int(is_unknown.sum())
        for text in column_texts:
            if text and text not in outcome_by_text:
                row_label = frame.index[(codes == column_texts.index(text)).argmax()]
                raise DataError(
                    f"Column {column!r} contains {text!r} in row {row_label}, which is not"
                    f" recognised. Expected one of the options ({shorten(pair)}), a code such"
                    " as 1 or 2, or a word for a tie. Correct it, or define it with ",
                    Argument("coding"),
                    " (as missing if it is not an answer).",
                )
        outcomes[:, k] = decode_texts(codes, column_texts, outcome_by_text)
    if n_dropped:
        description += (
            f"; {format_plural(n_dropped, 'answer')} ({shorten(sorted(no_answer_texts))}) dropped"
        )
    return outcomes, description


def _is_tie_word(text: str) -> bool:
    """Return whether a text is a word or sign for a tie."""
    return simplify_name(text) in TIE_WORDS


def _recognise_code(
    texts_found: set[str], pair_by_column: dict[str, Pair], coding: Mapping[Any, str] | None
) -> tuple[dict[str, float] | None, str]:
    """Return the outcome of each text in all columns, and a description of the code."""
    # Return None for the code if cells contain labels.
    if coding is not None:
        given_code = map_coding(coding)
        if {FIRST, SECOND} & {*given_code.values()}:
            return given_code, "coded values"
        code, description = _recognise_code(texts_found - {*given_code}, pair_by_column, None)
        return given_code | (code or {}), f"{description}, or coded values"
    labels = {label for pair in pair_by_column.values() for label in pair}
    answer_texts = _select_labels(texts_found, labels)
    if answer_texts and answer_texts <= labels and not answer_texts <= {"1", "2"}:
        return None, "the chosen label"
    if answer_texts <= set(_SIGNS):
        return _SIGNS, "the chosen side"
    for code in _CODES:
        if answer_texts <= set(code) and not answer_texts <= {"0", "1"}:
            if code is _CODES[-1]:
                warn(
                    DataWarning(
                        "The pair columns contain 0, 1 and 2, which were read as in R's prefmod: 0"
                        " for the first, 1 for a tie, 2 for the second. If this is wrong, define"
                        " the codes with ",
                        Argument("coding"),
                        ".",
                    )
                )
            return code, list_names(
                f"{text} for {_NAMES[value]}" for text, value in code.items() if text in texts_found
            )
    if {*pair_by_column} == {*map("".join, pair_by_column.values())} and answer_texts <= {"0", "1"}:
        return {"1": FIRST, "0": SECOND}, "1 for the first and 0 for the second"
    if answer_texts <= {"0", "1"}:
        raise _build_unclear_error(answer_texts)
    return None, "the chosen label"


def _build_unclear_error(texts: Collection[str]) -> DataError:
    """Build the error for codes that do not show which option was chosen."""
    return DataError(
        f"The pair columns contain only {' and '.join(sorted(texts)) or 'ties'}, so it"
        " is unclear which option was chosen; define the values with ",
        Argument("coding"),
        ".",
    )


def _describe_wide_columns(columns: WideColumns, code_description: str) -> str:
    """Return a sentence on the pair columns and how cells were decoded."""
    pairs = columns.pairs
    column_list = list(pairs)
    description = (
        f"{format_plural(len(column_list), 'pair column')} ({shorten(column_list, 3)}) with"
        f" {code_description}"
    )
    if columns.order == "numbered":
        description += f", in the order of R's prefmod ({_describe_order(pairs)})"
    return description + describe_columns(columns.count, columns.respondent)


def _describe_order(pairs: Mapping[str, Pair]) -> str:
    """Return which pairs the first three columns compare."""
    return ", ".join(f"{name!r} for {' and '.join(pair)}" for name, pair in [*pairs.items()][:3])
