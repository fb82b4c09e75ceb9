"""Reading comparisons from wide tables, one column per pair of options.

A row is a respondent, or a pattern of answers with its count.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import count_pairs
from thali._inference.user_warnings import warn
from thali._labels import (
    check_labels,
    find_label_indices,
    format_label,
    format_plural,
    has_repeats,
    is_number,
    list_names,
    shorten,
)
from thali.errors import Argument, DataError, DataWarning, Setting

from ..column_readers import (
    describe_columns,
    iterate_distinct_cells,
    match_places,
    note_omission,
    read_counts,
)
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
    hide_numbers,
    map_plain_names,
    simplify_name,
)
from ..respondent_answers import read_respondents, treat_rows_as_respondents
from .comparison_rows import ComparisonRows
from .trial_rows import (
    FIRST,
    MEANINGS,
    SECOND,
    TIE,
    TrialOutcomes,
    count_outcomes,
    decode_texts,
    factorize_texts,
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
    roles = find_named_columns(name_by_simplified, named_columns, (RESPONDENT, COUNT))
    # a column W/L contains the results of games
    role_columns = (*roles, RESULT.find_column(name_by_simplified))
    other_columns = [name for name in all_columns if name not in role_columns]
    coded_texts = {*map(format_label, coding or ())}
    texts_by_column = {name: _list_answers(frame, name) - coded_texts for name in other_columns}
    # the share of the columns that must contain answers
    for order_source, least_share, match_columns in (
        ("named", 0.5, match_pair_names),
        ("named", 0.5, _match_two_numbers),
        ("named", 0.5, _match_repeated_stems),
        ("numbered", 1.0, _match_running_numbers),
    ):
        pairs = match_columns(other_columns)
        can_be_answers = [
            _can_be_answers(texts_by_column[name], pair) for name, pair in pairs.items()
        ]
        are_answers = sum(can_be_answers) >= least_share * len(pairs)
        if are_answers and frame[[*pairs]].notna().to_numpy().any():
            return WideColumns(pairs, order_source, *roles)
    if pairs := _match_answers(texts_by_column):
        return WideColumns(pairs, "chosen", *roles)
    return None


def _list_answers(frame: "pd.DataFrame", name: str) -> set[str]:
    """Return the different texts in a column, of which a column of answers has few."""
    for distinct_cells in iterate_distinct_cells(frame[name].dropna()):
        if len(distinct_cells) >= MAX_DIFFERENT:
            break
    return {*map(format_label, distinct_cells[:MAX_DIFFERENT])} - {""}


def find_numbered_answers(frame: "pd.DataFrame") -> list[str]:
    """Return columns V1, V2, ... if all cells are 1/2 or 1/0/-1; else []."""
    for numbered_columns in _group_numbered(column_names(frame)).values():
        texts = set().union(*(_list_answers(frame, name) for name in numbered_columns))
        if len(numbered_columns) > 2 and any(texts <= code.keys() for code in _CODES[:2]):
            return numbered_columns
    return []


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
            pairs_by_column = _select_repeated(pairs_by_column, pairs_by_column.values())
            if not _is_complete(pairs_by_column):
                continue
        # counts of either side
        is_repeated = has_repeats(list(map(frozenset, pairs_by_column.values())))
        if pairs_by_column and not is_repeated:
            return pairs_by_column
    return {}


def _select_repeated(pairs_by_column: dict[str, Pair], pairs: Collection[Pair]) -> dict[str, Pair]:
    """Return the columns whose two labels are each in several of the pairs."""
    n_pairs = Counter(chain(*pairs))
    return {
        column: pair
        for column, pair in pairs_by_column.items()
        if min(n_pairs[label] for label in pair) > 1
    }


def _match_two_numbers(columns: list[str]) -> dict[str, Pair]:
    """Return the pair of columns V12, V13, V23, if all pairs are present."""
    for pattern in (_TWO_DIGITS, _TWO_NUMBERS):
        pairs_by_stem: dict[str, dict[str, Pair]] = {}
        for name_match in filter(None, map(pattern.fullmatch, columns)):
            stem, first, second = name_match.groups()
            if first != second:
                pairs_by_stem.setdefault(stem, {})[name_match[0]] = (first, second)
        for pairs_by_column in pairs_by_stem.values():
            numbers = {*chain(*pairs_by_column.values())}
            if numbers == {str(k + 1) for k in range(len(numbers))} and _is_complete(
                pairs_by_column
            ):
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
    # (1, 2), (1, 3), (2, 3), (1, 4), ...
    for numbered_columns in _group_numbered(columns).values():
        n_pairs = len(numbered_columns)
        n_options = round((1 + (1 + 8 * n_pairs) ** 0.5) / 2)
        if n_options > 2 and count_pairs(n_options) == n_pairs:
            pairs = [(str(i + 1), str(j + 1)) for j in range(n_options) for i in range(j)]
            return dict(zip(numbered_columns, pairs, strict=True))
    return {}


def _match_answers(texts_by_column: dict[str, set[str]]) -> dict[str, Pair]:
    """Return the two labels that each column contains; {} for fewer than three pairs."""
    # Every label is in several columns, and columns contain different labels.
    labels_by_column: dict[str, Pair] = {}
    for column, texts in texts_by_column.items():
        labels = sorted(_select_labels(texts, ()))
        if len(labels) > 2:
            labels = sorted({*labels} - find_no_answers(labels, ()))
        if len(labels) == 2 and not any(map(is_number, labels)):
            labels_by_column[column] = (labels[0], labels[1])
    labels_by_column = _select_repeated(labels_by_column, {*labels_by_column.values()})
    if len({*labels_by_column.values()}) < 3:
        return {}
    return labels_by_column


def _is_complete(pair_by_column: Mapping[str, Pair]) -> bool:
    """Return whether the columns compare every pair of three or more options once."""
    option_labels = sorted({*chain(*pair_by_column.values())})
    present_pairs = sorted(tuple(sorted(pair)) for pair in pair_by_column.values())
    return len(option_labels) > 2 and present_pairs == sorted(combinations(option_labels, 2))


def are_all_pairs(columns: list[str]) -> bool:
    """Return whether columns are named for every pair of three or more options."""
    return _is_complete(match_pair_names(columns))


def _can_be_answers(texts: set[str], pair: Pair) -> bool:
    """Return whether all cells of a column can be answers about this pair."""
    texts = texts - find_no_answers(texts, pair)
    answer_labels = _select_labels(texts, pair)
    if any(texts <= code.keys() for code in _CODES) or match_places(answer_labels, pair):
        return True
    return any(
        answer_labels <= words
        for words in ({*pair}, {">", "<"}, {"first", "second"}, {"left", "right"})
    )


def _select_labels(texts: Iterable[str], labels: Collection[str]) -> set[str]:
    """Return the texts that are no words for a tie or for no answer, unless they are labels."""
    return {text for text in texts if simplify_name(text) not in _NO_LABELS or text in labels}


_SIGNS = {">": FIRST, "<": SECOND, "=": TIE, **MEANINGS}
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
    cells = set().union(*(_list_answers(frame, name) for name in names))
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


def refuse_unclear_pairs(frame: "pd.DataFrame", columns: WideColumns) -> None:
    """Raise DataError for columns numbered like those of chosen labels, whose pair is not clear.

    A column in which all respondents chose one label does not show the other.
    """
    if columns.order != "chosen":
        return
    option_labels = {*chain(*columns.pairs.values())}
    patterns = {*map(hide_numbers, columns.pairs)}.difference(columns.pairs)
    unclear_columns = []
    for name in column_names(frame):
        if name in columns.used or hide_numbers(name) not in patterns:
            continue
        labels = _select_labels(_list_answers(frame, name), ())
        if len(labels) <= 2 and not labels.isdisjoint(option_labels):
            unclear_columns.append(name)
    if unclear_columns:
        raise DataError(
            f"The pair compared in {shorten(unclear_columns)} is not clear; perhaps all respondents"
            " chose the same option. Rename all columns of answers to their pairs, such as 'tea >"
            " coffee', or drop the unclear ones with ",
            Setting("without", unclear_columns),
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
    column_labels = list(dict.fromkeys(chain(*pairs.values())))
    option_labels = _match_given_labels(column_labels, labels)
    outcomes, code_description = _decode_outcomes(frame, pairs, coding)
    row_index, column_index = np.nonzero(~np.isnan(outcomes))
    if not row_index.size:
        raise DataError(f"The columns {shorten(list(pairs))} contain no answers; check the table.")
    weights = weights or simplify_name(columns.count or "") in WEIGHTS
    row_counts = read_counts(frame, columns.count, weights)
    row_respondents = read_respondents(frame, columns.respondent, columns.used)
    if row_respondents is None and columns.count is None:
        names = tuple(str(k + 1) for k in range(len(frame)))
        row_respondents = treat_rows_as_respondents(frame, columns.used, names)
    if row_respondents is not None:
        row_respondents = row_respondents.select_rows(row_index)
    note_omission(np.isnan(outcomes).all(axis=1).sum())
    first, second = (
        find_label_indices(side_labels, column_labels)[column_index]
        for side_labels in zip(*pairs.values(), strict=True)
    )
    counts = count_outcomes(outcomes[row_index, column_index], row_counts[row_index])
    rows = ComparisonRows(first, second, counts, row_respondents)
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
    cells_by_column = {column: factorize_texts(frame, column) for column in pair_by_column}
    all_texts = {text for _, texts in cells_by_column.values() for text in texts} - {""}
    coding, missing_texts = split_missing(coding)
    outcome_by_code = map_coding(coding)
    labels = {*chain(*pair_by_column.values())}
    no_answers = find_no_answers(all_texts, {*outcome_by_code, *labels}) | missing_texts
    shared_code, description = _recognise_code(
        all_texts - no_answers, pair_by_column, outcome_by_code
    )
    outcomes = np.full((len(frame), len(pair_by_column)), np.nan)
    n_dropped = 0
    for k, (column, (codes, texts)) in enumerate(cells_by_column.items()):
        pair = pair_by_column[column]
        outcome_by_label = {pair[0]: FIRST, pair[1]: SECOND}
        answers = _select_labels({*texts} - no_answers, pair)
        label_by_text = match_places(answers, pair)  # such as Sample A
        outcome_by_label |= {text: outcome_by_label[name] for text, name in label_by_text.items()}
        outcome_by_text = {text: TIE for text in texts if simplify_name(text) in TIE_WORDS}
        if shared_code is None or (outcome_by_code and not any(map(is_number, pair))):
            outcome_by_text |= outcome_by_label
        outcome_by_text |= (shared_code or {}) | dict.fromkeys(no_answers, np.nan)
        n_dropped += np.isin(codes, [k for k, text in enumerate(texts) if text in no_answers]).sum()
        for text in texts:
            if text and text not in outcome_by_text:
                row_label = frame.index[(codes == texts.index(text)).argmax()]
                raise DataError(
                    f"Column {column!r} contains {text!r} in row {row_label}, which is not"
                    f" recognised. Expected one of the options ({shorten(pair)}), a code such"
                    " as 1 or 2, or a word for a tie. Correct it, or define it with ",
                    Argument("coding"),
                    " (as missing if it is not an answer).",
                )
        outcomes[:, k] = decode_texts(codes, texts, outcome_by_text)
    if n_dropped:
        description += (
            f"; {format_plural(n_dropped, 'answer')} ({shorten(sorted(no_answers))}) dropped"
        )
    return outcomes, description


def _recognise_code(
    texts_found: set[str], pair_by_column: dict[str, Pair], given_code: dict[str, float]
) -> tuple[dict[str, float] | None, str]:
    """Return the outcome of each text in all columns, and a description of the code."""
    # Return None for the code if cells contain labels.
    if given_code:
        if {FIRST, SECOND} & {*given_code.values()}:
            return given_code, "coded values"
        code, description = _recognise_code(texts_found - {*given_code}, pair_by_column, {})
        return given_code | (code or {}), f"{description}, or coded values"
    labels = {*chain(*pair_by_column.values())}
    answer_texts = _select_labels(texts_found, labels)
    if answer_texts and answer_texts <= labels and not answer_texts <= {"1", "2"}:
        return None, "the chosen label"
    if answer_texts <= _SIGNS.keys():
        return _SIGNS, "the chosen side"
    if answer_texts <= {"0", "1"}:
        if {*pair_by_column} == {*map("".join, pair_by_column.values())}:
            return {"1": FIRST, "0": SECOND}, "1 for the first and 0 for the second"
        raise DataError(
            f"The pair columns contain only {' and '.join(sorted(answer_texts)) or 'ties'}, so it"
            " is unclear which option was chosen; define the values with ",
            Argument("coding"),
            ".",
        )
    for code in _CODES:
        if answer_texts <= code.keys():
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
    return None, "the chosen label"


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
