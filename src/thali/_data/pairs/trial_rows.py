"""Reading comparisons from trials or games: rows with two options and an outcome."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import (
    format_label,
    format_plural,
    index_labels,
    is_number,
    list_names,
    shorten,
    simplify_number,
    suggest,
)
from thali.errors import Argument, ArgumentError, Clause, DataError, Setting

from ..choice_marks import are_often_equal, mentions_choice
from ..column_guesses import Lack, SideColumns, find_side_columns, has_both_signs
from ..column_readers import (
    add_note,
    check_columns,
    count_comparisons,
    describe_columns,
    drop_self_comparisons,
    encode_labels,
    find_filled_cells,
    get_column,
    list_labels,
    list_texts,
    name_rows,
    note_omission,
    read_counts,
    read_row_texts,
)
from ..column_roles import (
    AWAY,
    BEST,
    CHOSEN_OF_TWO,
    COUNT,
    GAMES,
    GOALS,
    HOME,
    LOCAL_SIDES,
    MORE_SIDES,
    ODD,
    PLACES,
    RESPONDENT,
    RESULT,
    SHORT_GOALS,
    SIDES,
    STEMS,
    TIE_WORDS,
    WEIGHTS,
    WINS_LOSSES,
    WORST,
    column_names,
    find_column_pairs,
    find_no_answers,
    has_numbers,
    list_name_words,
    map_plain_names,
    mentions_rejection,
    simplify_name,
)
from ..number_checks import check_numbers
from .comparison_rows import ComparisonRows, read_row_details
from .dates import NOUNS

if TYPE_CHECKING:
    import pandas as pd


FIRST = 1.0
SECOND = -1.0
TIE = 0.0
MEANINGS = {"first": FIRST, "second": SECOND, "tie": TIE, "left": FIRST, "right": SECOND}
MISSING = "missing"  # the word in a coding for values that are not answers
_GAME = {
    "h": FIRST,
    "home": FIRST,
    "w": FIRST,
    "win": FIRST,
    "heim": FIRST,
    "a": SECOND,
    "away": SECOND,
    "l": SECOND,
    "loss": SECOND,
    "won": FIRST,
    "lost": SECOND,
}
_ALL_SIDES = (*SIDES, *MORE_SIDES)
_TIED_GAME = ("d", "x")
_TIED_VERDICT = "[[C]]"  # beside [[A]] and [[B]], as MT-Bench writes them
_COMPARISON = re.compile(r"([^<>=]+)([<>=])\2*([^<>=]+)")  # such as a>>b
_MARGIN = re.compile(r"([A-Za-z])\+\w.*")  # such as B+2.5 and W+R of Go
_NAME_PART = re.compile(r"[^\W\d_]+|\d+")
_SIDE_PATTERNS = (
    *(f"{stem}{{}}" for stem in sorted(STEMS)),
    "arrow{}",
    "{}arrow",
    "assistant{}",
    "response{}",
    "alt{}",
    "profile{}",
    "{}wins",
    "player{}wins",
    "w{}",
    "win{}",
    "{}vote",
    "{}isbetter",
)


class TrialVerdicts(NamedTuple):
    """Outcome of each row: first, second, tie or missing."""

    outcome: np.ndarray  # (rows,) FIRST, SECOND or TIE; NaN where there is no answer
    how: str  # description of the code
    ties: tuple[str, ...]  # the words for a tie
    unknown: tuple[str, ...] = ()  # the words for no answer


def decode_column(
    frame: "pd.DataFrame",
    option_columns: tuple[str, str],
    chosen: str,
    coding: Mapping[Any, str] | None,
    game: bool,
    count: str | None = None,
    code_name: str = "coded outcome",
    choice: str = "chosen",
) -> TrialVerdicts:
    """Decode the outcome column `chosen` as first, second or tie, for each row.

    The coding is used where given; other cells are recognised. A cell contains the label of an
    option, a side (left, right, first, second, the name of the column, ...), a number, or a word
    for a tie. With `game`, the first side plays at home, so that H, D, A and 1, X, 2 are results.
    `count` is the column of the number of comparisons per row, if there is one. `code_name` and
    `choice` describe cells with a code, and cells with an option or a side.
    """
    codes, cell_texts = factorize_texts(frame, chosen)
    option_labels = list_labels(frame, option_columns)
    coding, missing_texts = split_missing(coding)
    outcome_by_code = map_coding(coding)
    no_answer_texts = find_no_answers(
        cell_texts, {*option_labels, *outcome_by_code, *option_columns}
    ) | missing_texts.intersection(cell_texts)
    cell_texts = ["" if text in no_answer_texts else text for text in cell_texts]
    uncoded_texts = ["" if text in outcome_by_code else text for text in cell_texts]
    outcomes = decode_texts(codes, cell_texts, outcome_by_code)
    ties = _find_ties(cell_texts, outcome_by_code)
    how = code_name
    if not outcome_by_code or any(uncoded_texts):
        recognised_outcomes, noun, recognised_ties = _recognise_outcomes(
            frame,
            option_columns,
            chosen,
            codes,
            uncoded_texts,
            option_labels,
            outcome_by_code,
            game,
            count,
        )
        how = f"{choice} {noun}"
        if outcome_by_code:
            how += f" or {code_name}"
        outcomes = np.where(np.isnan(outcomes), recognised_outcomes, outcomes)
        ties |= recognised_ties
    return TrialVerdicts(outcomes, how, tuple(sorted(ties)), tuple(sorted(no_answer_texts)))


def factorize_texts(frame: "pd.DataFrame", name: str) -> tuple[np.ndarray, list[str]]:
    """Return each row's code, -1 for an empty cell, and the text of each code."""
    import pandas as pd

    codes, distinct_cells = pd.factorize(frame[name])
    return codes, list(map(format_label, distinct_cells))


def _recognise_outcomes(
    frame: "pd.DataFrame",
    option_columns: tuple[str, str],
    chosen_column: str,
    codes: np.ndarray,
    texts: list[str],
    option_labels: set[str],
    outcome_by_code: dict[str, float],
    is_game: bool,
    count_column: str | None,
) -> tuple[np.ndarray, str, set[str]]:
    """Recognise outcomes; also return what cells contain, and the words for a tie."""
    tie_words = TIE_WORDS
    if is_game or simplify_name(chosen_column) in RESULT.sure:
        tie_words = (*TIE_WORDS, *_TIED_GAME)
    tie_texts = {text for text in texts if _is_tie(text, tie_words)} - option_labels
    # With a code for a side, other numbers and single letters are not sides.
    has_unclear_texts = {FIRST, SECOND} & {*outcome_by_code.values()} and any(
        is_number(text) or len(text) == 1 for text in {*texts} - tie_texts
    )
    sides_by_text = _map_flags(texts, chosen_column, option_columns)
    if sides_by_text is None and not has_unclear_texts:
        sides_by_text = _map_sides(texts, tie_texts, option_columns, is_game)
    outcome_by_tie = dict.fromkeys(tie_texts, TIE)
    label_outcomes = decode_texts(codes, texts, outcome_by_tie)
    if not option_labels.isdisjoint(texts):
        option_cells = [factorize_texts(frame, name) for name in option_columns]
        _decode_labels(label_outcomes, codes, texts, option_cells)
    is_answered = np.array([*map(bool, texts), False])[codes]
    is_unread = is_answered & np.isnan(label_outcomes)
    has_labels = is_answered.any() and not is_unread.any()
    if sides_by_text is not None:
        sides_by_text |= outcome_by_tie
        side_outcomes = decode_texts(codes, texts, sides_by_text)
        if not has_labels:
            noun = "side"
            if sides_by_text.get("-1") == SECOND:
                noun += f" (1 for {option_columns[0]!r}, -1 for {option_columns[1]!r})"
            return side_outcomes, noun, _find_ties(texts, sides_by_text)
        if not np.array_equal(side_outcomes, label_outcomes, equal_nan=True):
            raise DataError(
                f"Column {chosen_column!r} could contain labels of options or sides (1, 2, left,"
                " right), and the two readings differ; rename the options, or define the values"
                " with ",
                Argument("coding"),
                ".",
            )
    if has_labels:
        return label_outcomes, "label", tie_texts
    if outcome_by_code:
        wrong_row = is_unread.argmax()
        raise DataError(
            f"Column {chosen_column!r} contains"
            f" {format_label(frame[chosen_column].iloc[wrong_row])!r} in row"
            f" {frame.index[wrong_row]}, which is neither an option of that row nor a word for a"
            " side or a tie, and is not defined by ",
            Argument("coding"),
            "; correct it, or define it.",
        )
    raise _build_unreadable_error(
        frame, option_columns, chosen_column, is_unread, set(texts), is_game, count_column
    )


def _simplify_answer(text: str) -> str:
    """Return an answer as `simplify_name` does, without symbols before or behind its words."""
    return simplify_name(_SYMBOLS.sub("", text))


_BOTH = re.compile(r"\W*both\b", re.I)  # such as: both equally good
_SYMBOLS = re.compile(r"^[^\w\s<>=]+\s+|\s+[^\w\s<>=]+$")


def _is_tie(text: str, tie_words: Collection[str] = TIE_WORDS) -> bool:
    """Return whether an answer is one of these words for a tie, or begins with both."""
    is_both = _BOTH.match(text) is not None
    return is_both or _simplify_answer(text) in tie_words or text == _TIED_VERDICT


def split_missing(coding: Mapping[Any, str] | None) -> tuple[dict[Any, str], set[str]]:
    """Split a coding into answers and texts that mean "missing"."""
    full_coding = coding or {}
    if not isinstance(full_coding, Mapping):
        raise ArgumentError(
            Argument("coding"),
            f" must be a mapping such as {{'A': 'first', 'B': 'second'}}; got {coding!r}.",
        )
    answers = {value: word for value, word in full_coding.items() if word != MISSING}
    return answers, {format_label(value) for value in full_coding if value not in answers}


def map_coding(coding: Mapping[Any, str]) -> dict[str, float]:
    """Return the outcome (FIRST, SECOND, TIE) of each text in a coding."""
    outcome_by_text = {}
    for coded_value, word in coding.items():
        if word not in MEANINGS:
            raise DataError(
                Argument("coding"),
                " must map each value to 'first' or 'left', 'second' or 'right', 'tie' or"
                f" 'missing'; got {word!r}.",
            )
        outcome_by_text[format_label(coded_value)] = MEANINGS[word]
    return outcome_by_text


def _decode_labels(
    outcomes: np.ndarray,
    codes: np.ndarray,
    texts: list[str],
    option_cells: list[tuple[np.ndarray, list[str]]],
) -> None:
    """Set the outcomes of rows whose answer is the label of one of their options."""
    # numbers are faster to compare than texts
    number_by_text = index_labels(chain(texts, *(labels for _, labels in option_cells)))
    answers, first, second = (
        decode_texts(*cells, number_by_text) for cells in ((codes, texts), *option_cells)
    )
    outcomes[answers == second] = SECOND
    outcomes[answers == first] = FIRST


def _map_sides(
    texts: list[str], tie_texts: set[str], option_columns: tuple[str, str], is_game: bool
) -> dict[str, float] | None:
    """Return the outcome of each answer but ties if all are sides or numbers; else None."""
    answer_texts = {*texts} - tie_texts - {""}
    if not answer_texts:
        return None
    # -1 may be the left
    if "-1" in texts and not (is_game or _list_own_words(option_columns)[0].isdisjoint(PLACES)):
        return None
    outcome_by_word = _map_name_words(option_columns)
    winners = list(filter(None, map(_MARGIN.fullmatch, answer_texts)))
    if len(winners) == len(answer_texts):
        outcome_by_initial = {word[0]: outcome for word, outcome in outcome_by_word.items()}
        outcomes = {m[0]: outcome_by_initial.get(m[1].casefold(), TIE) for m in winners}
        if {*outcomes.values()} == {FIRST, SECOND}:
            return outcomes
    if not outcome_by_word.keys() >= {*map(_simplify_answer, answer_texts)}:
        if outcome_by_number := _map_numbers(answer_texts, is_game, bool(tie_texts)):
            return outcome_by_number
        outcome_by_word = _map_side_words(option_columns, is_game)
    outcomes = {text: _read_side(_simplify_answer(text), outcome_by_word) for text in answer_texts}
    if None in outcomes.values() or len({*outcomes.values()}) < min(len(outcomes), 2):
        return None
    return outcomes


def _map_flags(
    texts: Iterable[str], chosen_column: str, option_columns: tuple[str, str]
) -> dict[str, float] | None:
    """Return the outcome of yes and no in a column such as left_chosen; None for others."""
    answer_texts = {*texts} - {""}
    if not {*map(str.casefold, answer_texts)} <= {*_FLAGS}:
        return None
    outcome_by_word = _map_name_words(option_columns)
    first_words, second_words = _list_own_words(option_columns)
    for first, second in _ALL_SIDES:
        if first[0] in first_words and second[0] in second_words:  # foodL, foodR and chose_left
            outcome_by_word |= {first: FIRST, second: SECOND}
    name_words = list_name_words(chosen_column)
    sides = {outcome_by_word[word] for word in name_words if word in outcome_by_word}
    if len(sides) != 1:
        return None
    (side,) = sides
    return {text: side * _FLAGS[text.casefold()] for text in answer_texts}


_FLAGS = {"1": 1.0, "true": 1.0, "yes": 1.0, "0": -1.0, "false": -1.0, "no": -1.0}


def _read_side(word: str, outcome_by_word: Mapping[str, float]) -> Any:
    """Return the outcome of a word for a side, or of a text such as "a>>b"; None for others."""
    comparison = _COMPARISON.fullmatch(word)
    if comparison is None:
        return outcome_by_word.get(word)
    first, sign, second = comparison.groups()
    outcome = outcome_by_word.get(first)
    if outcome is None or outcome != -outcome_by_word.get(second, np.nan):
        return None
    return {">": outcome, "=": TIE, "<": -outcome}[sign]


def _map_name_words(option_columns: tuple[str, str]) -> dict[str, float]:
    """Return the outcome of words in one column name only, such as "a" of "model_a"."""
    first_words, second_words = _list_own_words(option_columns, _list_name_parts)
    return dict.fromkeys(first_words, FIRST) | dict.fromkeys(second_words, SECOND)


def _list_name_parts(name: str) -> set[str]:
    """Return each word or number of a column name, and all that begins or ends with it."""
    parts = _NAME_PART.findall(name)
    return {
        simplify_name("".join(words))
        for k in range(len(parts))
        for words in (parts[k:], parts[: k + 1], parts[k : k + 1])
    }


def _map_side_words(option_columns: tuple[str, str], is_game: bool) -> dict[str, float]:
    """Return the outcome (FIRST, SECOND) of words such as "left" or column names."""
    outcome_by_word: dict[str, float] = {}
    first_words, second_words = _list_own_words(option_columns)
    for marks in (*MORE_SIDES, *SIDES):
        first, second = marks
        for mark, other_mark in (marks, (first[0], second[0])):
            if mark in second_words and other_mark in first_words:
                second, first = marks  # columns such as blue and red
        for pattern in _SIDE_PATTERNS:
            outcome_by_word |= {pattern.format(first): FIRST, pattern.format(second): SECOND}
    if is_game:
        outcome_by_word |= _GAME
    return outcome_by_word | _map_name_words(option_columns)


def _map_numbers(texts: set[str], is_game: bool, has_ties: bool) -> dict[str, float] | None:
    """Return the outcome of the numbers 1/2, 1/0/-1 or 1/0; None for other texts."""
    if texts <= {"1", "2", "1.5", "X", "x"} and texts & {"1", "2"}:
        return {"1": FIRST, "2": SECOND, "1.5": TIE, "X": TIE, "x": TIE}
    if texts <= {"1", "0", "-1"} and "-1" in texts:
        return {"1": FIRST, "0": TIE, "-1": SECOND}
    if texts <= {"1", "0"} and (is_game or has_ties):
        return {"1": FIRST, "0": SECOND}
    return None


def decode_texts(codes: np.ndarray, texts: list[str], meaning: Mapping[str, float]) -> np.ndarray:
    """Return the outcome of each row's text, NaN if it is unknown."""
    return np.array([*(meaning.get(text, np.nan) for text in texts), np.nan])[codes]


def _find_ties(texts: list[str], outcome_by_text: Mapping[str, float]) -> set[str]:
    """Return the texts that mean a tie."""
    return {text for text in texts if outcome_by_text.get(text) == TIE}


def _build_unreadable_error(
    frame: "pd.DataFrame",
    option_columns: tuple[str, str],
    chosen_column: str,
    is_unread: np.ndarray,
    texts: set[str],
    is_game: bool,
    count_column: str | None,
) -> DataError:
    """Build the error for outcome cells that cannot be decoded."""
    if not is_unread.any():
        return DataError(
            f"Column {chosen_column!r} contains no answers; give the name of another column with ",
            Argument("chosen"),
            ".",
        )
    answer_texts = texts - {""}
    if answer_texts <= {"0", "1", "2"} or answer_texts <= {"-1", "0", "1"}:
        return DataError(
            f"Column {chosen_column!r} contains {list_names(sorted(answer_texts))}, which do not"
            " show which side was chosen; define them with ",
            Argument("coding"),
            f" ('first' means {option_columns[0]!r}), or write {option_columns[0]!r} and"
            f" {option_columns[1]!r}.",
        )
    side_words = _map_side_words(option_columns, is_game)
    answers = get_column(frame, chosen_column)
    cell_texts = read_row_texts(answers)
    is_fault = is_unread & [simplify_name(text) not in side_words for text in cell_texts]
    if not is_fault.any():
        is_fault = is_unread
    wrong_row = is_fault.argmax()
    faulty_text = cell_texts[wrong_row]
    equal_rows = frame.loc[is_fault & (cell_texts == faulty_text)]
    repetitions_text = ""
    if (n_repetitions := count_comparisons(equal_rows, count_column)) > 1:
        repetitions_text = f" (and {n_repetitions - 1:,.0f} more times)"
    side_examples = "a side (left, right, first, second, 1, 2)"
    if is_game:
        side_examples = "a result (H, D, A; 1, X, 2; 1, 0, -1; 3-1)"
    row_options = [format_label(frame[name].iloc[wrong_row]) for name in option_columns]
    known_words = [*row_options, *option_columns, *filter(str.isalpha, TIE_WORDS)]
    other_words = [word for word in known_words if word != faulty_text]
    rating_hint: Any = ""
    if not is_game and has_numbers(answers) and answers.min() >= 0:
        setting = Setting("kind", "similarities")
        rating_hint = Clause(" If the numbers are similarities, set ", setting, ".")
    return DataError(
        f"Column {chosen_column!r} contains {faulty_text!r} in row"
        f" {frame.index[wrong_row]}{repetitions_text}, which is not recognised. Expected one of the"
        f" row's options ({shorten(row_options)}), {side_examples} or a word for a tie. Correct it,"
        " or define it with ",
        Argument("coding"),
        f" (as missing if it is not an answer).{suggest(faulty_text, other_words)}",
        rating_hint,
    )


# Columns of trials, and the outcomes in them ------------------------------------------------------


_POINTS = r"(\d+(?:[.,]5)?|\d*½|1/2)"
# such as 3:1, 1/2-1/2, 4:3 n.V. and 2-1 (0-1), but not 3-1 L
_SCORE = re.compile(
    rf"{_POINTS}\s*[:‐‑–—−-]\s*{_POINTS}"
    r"(|(?:\s*[(\[]|\s(?=[^\W\d]))(?!(?:w|l|h|a|win|won|loss|lost|home|away)\b).*)",
    re.I,
)
_UNFINISHED = {"*", "+:-", "-:+", "-:-"}  # instead of the result of a game of chess
_JSPSYCH = ("trialtype", "trialindex")


class TrialColumns(NamedTuple):
    """Names of the columns of two options and of the outcome."""

    first: str
    second: str
    verdict: tuple[str, ...]  # one column, or the goals of either side
    respondent: str | None
    count: str | None  # type: ignore[override]
    game: bool  # whether the first side plays at home
    rejects: bool = False  # whether the outcome names the option that was not chosen

    @property
    def options(self) -> tuple[str, str]:
        """Names of the columns of both options."""
        return self.first, self.second

    @property
    def used(self) -> tuple[str | None, ...]:
        """All column names, None for absent ones."""
        return (*self.options, *self.verdict, self.respondent, self.count)


class TrialOutcomes(NamedTuple):
    """Decoded comparisons with options, outcome, count and respondent of each row."""

    labels: tuple[str, ...]
    rows: ComparisonRows
    knows_order: bool  # whether the first option of each row was shown first
    how: str  # description of how the rows were read


def find_trial_columns(
    frame: "pd.DataFrame", named_columns: Mapping[str, str | None], game: bool
) -> TrialColumns:
    """Find the columns of the two options and the outcome."""
    check_columns(frame, named_columns.values())
    name_by_simplified = map_plain_names(column_names(frame))
    first_column, second_column, has_home_side = _find_options(frame, named_columns, game)
    option_columns = first_column, second_column
    used_columns = {*option_columns, *filter(None, named_columns.values())}
    rejects = named_columns.get("rejected") is not None
    try:
        verdict_columns = _find_verdict_columns(
            frame, option_columns, named_columns, game, used_columns
        )
    except DataError:
        verdict_columns = _list_verdict_cells(frame, option_columns, used_columns)
        if len(verdict_columns) != 1:
            raise
        rejects = mentions_rejection(verdict_columns[0])
    used_columns |= set(verdict_columns)
    possible_respondents = RESPONDENT.find_possible_columns(name_by_simplified, used_columns)
    respondent_column = named_columns.get("respondent") or next(
        (
            name
            for name in possible_respondents
            # a column named "id" that is different in every row numbers the rows
            if simplify_name(name) != "id" or not frame[name].is_unique
        ),
        None,
    )
    return TrialColumns(
        *option_columns,
        _order_sides(verdict_columns, option_columns),
        respondent_column,
        named_columns.get("count") or COUNT.find_column(name_by_simplified, used_columns),
        game or has_home_side,
        rejects,
    )


def _find_options(
    frame: "pd.DataFrame", named_columns: Mapping[str, str | None], is_game: bool
) -> tuple[str, str, bool]:
    """Find the two columns of options, and whether the first plays at home."""
    first_column = named_columns.get("first")
    second_column = named_columns.get("second")
    if first_column is not None and second_column is not None:
        return first_column, second_column, False
    is_named = first_column is not None or second_column is not None
    all_columns = column_names(frame)
    verdict_column = named_columns.get("chosen") or CHOSEN_OF_TWO.find_column(
        map_plain_names(all_columns)
    )
    used_columns = set(named_columns.values())
    free_sides = [
        pair
        for pair in find_side_columns(all_columns)
        if not (is_named or used_columns & set(pair.columns))
        and (pair.side[0] in GAMES or not is_game)
    ]
    sharing_sides = [pair for pair in free_sides if _have_shared_labels(frame, pair)]
    possible_sides = [
        pair
        for pair in free_sides
        if pair in sharing_sides
        or _is_option_stem(pair)
        or _contain_chosen_number(frame, pair, verdict_column)
    ]
    if not (possible_sides or is_game or is_named or verdict_column is None):
        option_columns = _list_option_cells(frame, verdict_column)
        if len(option_columns) == 2:
            return option_columns[0], option_columns[1], False
    if not possible_sides:
        role = "first"
        if first_column is not None:
            role = "second"
        raise DataError(
            f"No column was recognised as the {role} option; give its name with ",
            Argument(role),
            ".",
        )
    if sharing_sides:  # unlike links to answers
        possible_sides = [
            pair
            for pair in possible_sides
            if pair in sharing_sides or has_numbers(frame[pair.columns[0]])
        ]
    best = min(
        possible_sides,
        key=lambda pair: (pair.stem not in STEMS, has_numbers(frame[pair.columns[0]])),
    )
    return (*best.columns, best.side[0] in GAMES)


def _list_option_cells(frame: "pd.DataFrame", verdict_column: str) -> list[str]:
    """List the columns of texts of which one is the chosen label in every row without a tie."""
    texts = {
        name: frame[name].head(_CHECKED_ROWS).map(format_label)
        for name in column_names(frame)
        if not has_numbers(frame[name])
    }
    chosen_texts = texts.pop(verdict_column, None)
    if chosen_texts is None:
        return []
    is_chosen = {name: (labels == chosen_texts).to_numpy() for name, labels in texts.items()}
    option_columns = [name for name, is_equal in is_chosen.items() if is_equal.any()]
    n_chosen = np.sum([is_chosen[name] for name in option_columns], axis=0)
    is_tied = chosen_texts.map(simplify_name).isin(TIE_WORDS).to_numpy()
    if not option_columns or not ((n_chosen == 1) | is_tied).all():
        return []
    return option_columns


def describe_missing(frame: "pd.DataFrame", game: bool) -> Lack | None:
    """Describe the one column that a table of trials or games lacks; None if several.

    Return None if the table is not similar to trials or games.
    """
    all_columns = column_names(frame)
    name_by_simplified = map_plain_names(all_columns)
    outcome_role = CHOSEN_OF_TWO
    outcome_text = "was chosen"
    if game:
        outcome_role = RESULT
        outcome_text = "won"
    verdict_column = outcome_role.find_column(name_by_simplified)
    try:
        first_column, second_column, has_home_side = _find_options(frame, {}, game)
    except DataError:
        if verdict_column is None:
            return None
        return _describe_missing_option(name_by_simplified, verdict_column, game)
    if has_home_side != game or verdict_column is not None:
        return None
    columns_text = ""
    if candidates := _list_verdict_cells(frame, (first_column, second_column), ()):
        columns_text = f" ({list_names(map(repr, candidates))}?)"
    elif sliders := [name for name in all_columns if has_both_signs(get_column(frame, name))]:
        columns_text = (
            " or the trial was a tie, instead of the positive and negative numbers in"
            f" {sliders[0]!r}"
        )
    return Lack(
        f"a column showing whether {first_column!r} or {second_column!r} {outcome_text}"
        f"{columns_text}",
        outcome_role.name,
        3,
    )


def _describe_missing_option(
    name_by_simplified: dict[str, str], verdict_column: str, is_game: bool
) -> Lack | None:
    """Return the missing column of options; None if nothing suggests one."""
    arguments = {"first": "first", "second": "second"}
    if is_game:
        arguments = {"first": HOME.name, "second": AWAY.name}
    all_marks = [marks for marks in _ALL_SIDES if (marks[0] in GAMES) == is_game]
    for marks, role, stem, name_pattern in product(
        all_marks, ("second", "first"), ("", *sorted(STEMS)), ("{0}{1}", "{1}{0}")
    ):
        present_mark, missing_mark = marks
        if role == "first":
            missing_mark, present_mark = marks
        present_column = name_by_simplified.get(name_pattern.format(stem, present_mark))
        missing_name = name_pattern.format(stem, missing_mark)
        # a single letter is no name
        is_specific = stem or len(present_mark) > 1
        if (
            present_column in (None, verdict_column)
            or missing_name in name_by_simplified
            or not is_specific
        ):
            continue
        # write it like its partner
        if present_column.casefold().endswith(present_mark):
            missing_name = present_column[: -len(present_mark)] + missing_mark
        return Lack(
            f"a column with the {role} option, such as {missing_name!r} ({present_column!r} was"
            " read as the column of the other option)",
            arguments[role],
            3,
        )
    return None


def has_side_attributes(frame: "pd.DataFrame", columns: TrialColumns) -> bool:
    """Return whether other column pairs describe both options, as attributes do.

    They contain numbers, or the options are attributes too: they are often equal. Texts that are
    called options, and never equal, may have numbers beside them.
    """
    side_columns = find_side_columns(column_names(frame))
    first, second = (frame[name].astype(str) for name in columns.options)
    are_unlike = not has_numbers(frame[columns.first]) and not (first == second).to_numpy().any()
    option_sides = [
        pair.side
        for pair in side_columns
        if pair.columns == columns.options and not (are_unlike and pair.stem in _OPTIONS)
    ]
    return any(
        pair.side in option_sides
        and pair.stem not in GOALS.synonyms
        and not set(pair.columns) & set(columns.used)
        and (
            all(has_numbers(frame[name]) for name in pair.columns)
            or are_often_equal(frame, columns.options)
        )
        for pair in side_columns
    )


# stems of options alone, not of attributes such as brand
_OPTIONS = STEMS.difference(
    "brand card concept label name product produit produkt producto school text".split()
)


def compares_attributes(frame: "pd.DataFrame", columns: TrialColumns) -> bool:
    """Return whether the options are attributes of profiles, which have a second one of texts.

    Both are often equal, the first is not named for options, and the answer is none of its levels.
    """
    pairs = [
        pair
        for pair in find_side_columns(column_names(frame))
        if pair.stem not in ("", *STEMS) and are_often_equal(frame, pair.columns)
    ]
    sides = [pair.side for pair in pairs if pair.columns == columns.options]
    has_texts = any(
        pair.side in sides
        and pair.columns != columns.options
        and not has_numbers(frame[pair.columns[0]])
        for pair in pairs
    )
    if not has_texts:
        return False
    levels = {text for name in columns.options for text in list_texts(frame, name)}
    return not levels.issuperset(list_texts(frame, columns.verdict[0]))


def _is_option_stem(side_columns: SideColumns) -> bool:
    """Return whether two columns are named for options."""
    is_local = {side_columns.side, side_columns.side[::-1]} & {*LOCAL_SIDES}
    return side_columns.stem in STEMS and not is_local


_LEVEL_CODE = re.compile("[1-6]{3,}")
_MIN_CODES = 10  # different codes, which numbers without a 0 or 9 are not by chance


def _has_level_codes(cells: Any) -> bool:
    """Return whether numbers are codes such as 21132, with a digit for each attribute's level."""
    texts = set(map(format_label, find_filled_cells(cells.head(_CHECKED_ROWS))))
    has_one_length = len({*map(len, texts)}) == 1
    return len(texts) >= _MIN_CODES and has_one_length and all(map(_LEVEL_CODE.fullmatch, texts))


def _have_shared_labels(frame: "pd.DataFrame", side_columns: SideColumns) -> bool:
    """Return whether two columns of texts or identifiers have some values in common."""
    first_cells, second_cells = (frame[name] for name in side_columns.columns)
    if not side_columns.stem.endswith("id") and any(
        has_numbers(values) and not _has_level_codes(values)
        for values in (first_cells, second_cells)
    ):
        return False
    return any(  # the first rows are enough for most
        not set.isdisjoint(*({*find_filled_cells(rows[name])} for name in side_columns.columns))
        for rows in (frame.iloc[:_CHECKED_ROWS], frame)
    )


def _contain_chosen_number(
    frame: "pd.DataFrame", side_columns: SideColumns, verdict_column: str | None
) -> bool:
    """Return whether one of two columns has the number of the chosen option in every row."""
    if verdict_column is None or frame[verdict_column].dtype.kind not in "iu":
        return False
    names = (verdict_column, *side_columns.columns)
    cells: list[Any] = [frame[name].astype(str) for name in names]
    chosen, first, second = cells
    # 1 and 2 may be sides
    has_labels = not chosen.isin(("0", "1", "2")).all()
    return has_labels and bool(((chosen == first) ^ (chosen == second)).all())


def _find_verdict_columns(
    frame: "pd.DataFrame",
    option_columns: tuple[str, str],
    named_columns: Mapping[str, str | None],
    is_game: bool,
    used_columns: set[str],
) -> tuple[str, ...]:
    """Find the outcome column, or the two columns of goals."""
    if named_column := named_columns.get("chosen") or named_columns.get("rejected"):
        return (named_column,)
    all_columns = column_names(frame)
    name_by_simplified = map_plain_names(all_columns)
    first_column, second_column = option_columns
    roles = (CHOSEN_OF_TWO, RESULT)
    if is_game:
        roles = (RESULT, CHOSEN_OF_TWO)
    goal_columns = [
        pair.columns
        for pair in find_side_columns(all_columns)
        if not used_columns & set(pair.columns)
        and (pair.stem.removeprefix("team") in GOALS.synonyms or _share_votes(frame, pair.columns))
    ]
    used_columns = used_columns.union(*find_column_pairs(name_by_simplified, WINS_LOSSES))
    for role in roles:
        column = role.find_column(name_by_simplified, used_columns)
        if column is None:
            continue
        cells = get_column(frame, column)
        if not _is_margin(cells):
            return (column,)
        is_measure = not is_game and (cells % 1 > 0).any()
        if not (goal_columns or is_measure):
            return (column,)
    if goal_columns:
        return goal_columns[0]
    for name in all_columns:
        # pandas renames the second column of a name
        if simplify_name(name) in GOALS.synonyms and f"{name}.1" in all_columns:
            columns = name, f"{name}.1"
            if all_columns.index(second_column) < all_columns.index(first_column):
                columns = columns[::-1]
            return columns
    for columns in find_column_pairs(name_by_simplified, SHORT_GOALS):
        if is_game and not used_columns & set(columns):
            return columns
    raise DataError(
        f"No column shows which of {first_column!r} and {second_column!r} was chosen; give its name"
        " with ",
        Argument("chosen"),
        ".",
    )


def _list_words(name: str) -> set[str]:
    """Return the words and numbers of a column name."""
    return {*list_name_words(name), *re.findall(r"\d+", name)}


def _list_own_words(
    options: tuple[str, str], list_words: Callable[[str], set[str]] = _list_words
) -> list[set[str]]:
    """Return the words and numbers of each of two column names that the other lacks."""
    first, second = map(list_words, options)
    return [first - second, second - first]


def _order_sides(names: tuple[str, ...], options: tuple[str, str]) -> tuple[str, ...]:
    """Return the columns of both sides in the order of the options, which share words with them."""
    words = _list_words(names[0])
    first_words, second_words = _list_own_words(options)
    if words & second_words and not words & first_words:
        return names[::-1]
    return names


def refuse_unlike_scores(frame: "pd.DataFrame", columns: TrialColumns) -> None:
    """Raise DataError if two pairs of scores show different winners in some row."""
    for names in list_score_columns(column_names(frame)):
        scores = _order_sides(names, columns.options)
        numbers = frame[[*columns.verdict, *scores]].select_dtypes("number")
        if numbers.shape[1] != 4:  # texts, or one column of the outcome
            continue
        first, second, *others = numbers.to_numpy(float, na_value=np.nan).T
        is_unlike = np.abs(np.sign(first - second) - np.sign(others[0] - others[1])) > 0
        if is_unlike.any():
            raise DataError(
                f"{columns.verdict[0]!r} and {scores[0]!r} show different winners in row"
                f" {frame.index[is_unlike.argmax()]}; drop the scores of both sides that do not"
                " decide with ",
                Argument("without"),
                ". Those that decide need a name such as points or goals.",
            )


def list_score_columns(names: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of columns with scores of both sides."""
    pairs = find_side_columns(names)
    return [pair.columns for pair in pairs if _TOTAL.sub("", pair.stem) in _SCORES]


def _find_equal_scores(frame: "pd.DataFrame", verdict: str) -> Any:
    """Return which rows have an empty outcome and equal scores of both sides, shape (rows,)."""
    is_tied: Any = frame[verdict].isna()
    for first, second in list_score_columns(column_names(frame)):
        is_equal = is_tied & (frame[first] == frame[second])
        if np.any(frame[first][is_equal]):  # games that were not played are often 0:0
            return is_equal
    return np.zeros(len(frame), bool)


_TOTAL = re.compile("^(team|total|final)(?=.)")
_SCORES = (*GOALS.synonyms, "total")


def _share_votes(frame: "pd.DataFrame", columns: tuple[str, str]) -> bool:
    """Return whether two columns contain 1 and 0, 0 and 1, or two halves."""
    votes = frame.loc[:, list(columns)].dropna()
    if votes.empty or not votes.isin((0, 0.5, 1)).to_numpy().all():
        return False
    return bool((votes.sum(axis=1) == 1).all())


def _is_margin(column: "pd.Series") -> bool:
    """Return whether a column contains numbers that are no code of the outcome."""
    return has_numbers(column) and not column.dropna().isin(_OUTCOME_CODES).all()


_OUTCOME_CODES = (-1, 0, 0.5, 1, 1.5, 2, 3)
_CHECKED_ROWS = 2_000  # rows whose cells show the column of the chosen option


def _list_verdict_cells(
    frame: "pd.DataFrame", option_columns: tuple[str, str], used_columns: Collection[str]
) -> tuple[str, ...]:
    """List the columns that contain options or sides of the row; none for sets and triplets."""
    all_columns = column_names(frame)
    name_by_simplified = map_plain_names(all_columns)
    if any(any(role.find_certain_columns(name_by_simplified)) for role in (BEST, WORST, ODD)):
        return ()
    rows = frame.iloc[:_CHECKED_ROWS]
    first, second = (rows[name].map(format_label) for name in option_columns)
    options = {*first, *second}
    other_columns = [name for name in all_columns if name not in {*option_columns, *used_columns}]
    verdict_columns = []
    for name in other_columns:
        answers = rows[name].dropna()
        if answers.dtype.kind in "cmM" or 2 * len(answers) <= len(rows):
            continue
        # whole numbers beside an empty cell are floats
        if answers.dtype.kind == "f" and (answers % 1).any():
            continue
        labels = answers.map(format_label)
        is_option = labels.eq(first[labels.index]) | labels.eq(second[labels.index])
        has_options = is_option.all() and labels.nunique() > 1
        if has_options or _contains_sides(name, labels, option_columns):
            verdict_columns.append(name)
        elif labels.isin(options).all():
            return ()
    words = {*rows[verdict_columns[:1]].stack().map(format_label)} - options
    is_flag = bool(words) and {*map(str.casefold, words)} <= {*_FLAGS}
    if len(verdict_columns) != 1 or is_flag:
        return tuple(verdict_columns)
    # a second answer, but for some cells
    for name in rows[other_columns].select_dtypes(exclude="number"):
        labels = rows[name].map(format_label)
        answers = labels[labels.isin(words) | labels.eq(first) | labels.eq(second)]
        is_answer = 2 * len(answers) > len(rows) and answers.nunique() > 1
        if is_answer and name not in verdict_columns:
            verdict_columns.append(name)
    return tuple(verdict_columns)


def _contains_sides(name: str, labels: "pd.Series", option_columns: tuple[str, str]) -> bool:
    """Return whether cells are words for both sides or for a tie, or mark a named side."""
    texts = [*labels.unique()]
    sides_by_text = None
    if mentions_choice(name) or not {"win", "wins", "won"}.isdisjoint(list_name_words(name)):
        sides_by_text = _map_flags(texts, name, option_columns)
    if sides_by_text is None and not any(map(is_number, texts)):
        sides_by_text = _map_sides(texts, {*filter(_is_tie, texts)}, option_columns, False)
    return sides_by_text is not None and {FIRST, SECOND} <= {*sides_by_text.values()}


def read_trial_outcomes(
    frame: "pd.DataFrame",
    columns: TrialColumns,
    coding: Mapping[Any, str] | None,
    labels: Iterable[Any] | None,
    weights: bool,
    covariates: Sequence[str] | None,
    date: str | None,
) -> TrialOutcomes:
    """Decode the comparison in each row; drop and count rows without an answer."""
    frame = _drop_rows_without_options(frame, columns)
    frame = drop_self_comparisons(frame, *columns.options, columns.count)
    if len(columns.verdict) == 2:
        refuse_unlike_scores(frame, columns)
        verdicts = _compare_goals(frame, columns)
    else:
        verdicts = _decode_verdict_column(frame, columns, coding)
    outcomes = verdicts.outcome
    if (is_tied := _find_equal_scores(frame, columns.verdict[0])).any():
        outcomes = np.where(is_tied, TIE, outcomes)
        add_note("games of equal scores without a winner are ties")
    if columns.rejects:
        outcomes = -outcomes
    if columns.game:
        is_repeated = _find_second_listings(frame, columns, outcomes)
        if is_repeated.any():
            frame = frame.loc[~is_repeated]
            outcomes = outcomes[~is_repeated]
            add_note("each game is listed twice, once for either side; one of its rows is used")
    is_answered = ~np.isnan(outcomes)
    if not is_answered.any():
        raise DataError(f"Column {columns.verdict[0]!r} contains no answers; check the table.")
    n_omitted = simplify_number(count_comparisons(frame.loc[~is_answered], columns.count))
    frame = frame.loc[is_answered]
    weights = weights or simplify_name(columns.count or "") in WEIGHTS
    row_counts = read_counts(frame, columns.count, weights)
    first_cells, second_cells = (get_column(frame, name) for name in columns.options)
    option_labels, first, second = encode_labels(first_cells, second_cells, row_counts, labels)
    note_omission(n_omitted, verdicts.unknown, name_rows(columns.count))
    rows = ComparisonRows(first, second, count_outcomes(outcomes[is_answered], row_counts))
    answer_columns = (*columns.options, *columns.verdict, columns.count)
    rows = read_row_details(rows, frame, columns, answer_columns, covariates, date)
    return TrialOutcomes(option_labels, rows, True, _describe_trials(columns, verdicts, rows))


def _drop_rows_without_options(frame: "pd.DataFrame", columns: TrialColumns) -> "pd.DataFrame":
    """Drop byes, and answers to something else, such as instructions; note their number."""
    options: Any = frame[[*columns.options]]
    is_empty = options.isna().all(axis=1)
    is_empty &= frame[columns.verdict[0]].notna()
    if _PLAYER.search(columns.first):
        is_empty |= options.isin(_BYES).any(axis=1)
    if not is_empty.any():
        return frame
    n_omitted = simplify_number(count_comparisons(frame.loc[is_empty], columns.count))
    add_note(f"{format_plural(n_omitted, name_rows(columns.count))} without options dropped")
    return frame.loc[~is_empty]


_PLAYER = re.compile("player|team|spieler|white|weiß|home|heim|local|domicile", re.I)
_BYES = "bye Bye BYE freilos Freilos spielfrei Spielfrei tbd TBD".split()


def _refuse_places(frame: "pd.DataFrame", columns: TrialColumns) -> None:
    """Raise DataError if another column may show on which side the first option was shown."""
    rows = frame.iloc[:_CHECKED_ROWS]
    verdict = columns.verdict[0]
    words = {word for marks in _ALL_SIDES for word in marks if len(word) > 2}
    sides = words.intersection(map(simplify_name, list_texts(rows, verdict)))
    if len(sides) != 2 or not sides.isdisjoint(set.union(*_list_own_words(columns.options))):
        return
    places = [
        name
        for name in column_names(frame)
        if name not in columns.used and {*map(simplify_name, list_texts(rows, name))} == sides
    ]
    if places:
        raise DataError(
            f"Column {places[0]!r} may show on which side {columns.first!r} was. If so, write the"
            f" label of the chosen option in {verdict!r}; if not, drop it with ",
            Setting("without", places),
            ".",
        )


def count_outcomes(outcomes: np.ndarray, row_counts: np.ndarray) -> np.ndarray:
    """Return the rows' counts as wins, losses or ties, shape (3, rows)."""
    return np.stack([row_counts * (outcomes == outcome) for outcome in (FIRST, SECOND, TIE)])


def _find_second_listings(
    frame: "pd.DataFrame", columns: TrialColumns, outcomes: np.ndarray
) -> np.ndarray:
    """Return which rows list a game again, from the other side; none unless all games are twice."""
    # another column, such as a date or the number of the game, shows which rows are one game
    import pandas as pd

    first, second = (read_row_texts(get_column(frame, name)) for name in columns.options)
    sign = np.where(first < second, 1, -1)
    sides = pd.DataFrame({"sign": sign, "outcome": sign * outcomes}, frame.index)
    pair_keys = [np.minimum(first, second), np.maximum(first, second)]
    for name in column_names(frame):
        if name in columns.used:
            continue
        games: Any = sides.groupby([frame[name], *pair_keys])
        has_two_sides = (games.size() == 2) & (games["sign"].sum() == 0)
        has_two_sides &= games["outcome"].nunique(dropna=False) == 1
        if 2 * has_two_sides.sum() == len(frame):  # groups leave empty cells out
            return sign < 0
    return np.zeros(len(frame), bool)


def _decode_verdict_column(
    frame: "pd.DataFrame", columns: TrialColumns, coding: Mapping[Any, str] | None
) -> TrialVerdicts:
    """Decode the outcome column; scores such as 3:1 are recognised."""
    verdict_column = columns.verdict[0]
    distinct_cells = find_filled_cells(frame[verdict_column])
    code_name = "coded outcome"
    choice = "chosen"
    if columns.rejects:
        choice = "rejected"
    if coding is None:
        _refuse_places(frame, columns)
        names = {*map(simplify_name, column_names(frame))}
        if names.issuperset(_JSPSYCH) and {*distinct_cells} <= {0, 1}:
            coding = {0: "first", 1: "second"}
            code_name = "button number (0 for the first, jsPsych)"
    cell_texts = {*map(format_label, distinct_cells)}
    option_labels = {format_label(label) for side in columns[:2] for label in frame[side].unique()}
    word_by_score = {
        text: word
        for text in cell_texts - option_labels
        if (word := _read_score(text, option_labels))
    }
    answers = cell_texts - find_no_answers(cell_texts, ()) - _UNFINISHED - {""}
    if 2 * len(word_by_score) > len(answers):
        split_missing(coding)  # raises an error if it is no mapping
        coding = word_by_score | dict.fromkeys(_UNFINISHED, MISSING) | dict(coding or {})
        code_name = "scores of both sides"
    return decode_column(
        frame,
        columns[:2],
        verdict_column,
        coding,
        columns.game,
        columns.count,
        code_name,
        choice,
    )


def _read_score(text: str, labels: set[str]) -> str:
    """Return the better side of a score such as 3:1, or tie; "" for other texts."""
    match = _SCORE.fullmatch(text)
    if match is None or any(label in match[3] for label in labels - {""}):
        return ""
    first, second = map(_parse_points, match.groups()[:2])
    if first == second:
        # words, or a higher score, may show who won in the end
        numbers = map(int, re.findall(r"\d+", match[3]))
        if re.search(r"[^\W\d]", match[3]) or max(numbers, default=0) > first:
            return ""
        return "tie"
    if first > second:
        return "first"
    return "second"


def _parse_points(text: str) -> float:
    """Return the number in one half of a score, such as 3 or 1/2."""
    if text == "1/2":
        return 0.5
    return float((text.removesuffix("½") or "0").replace(",", ".")) + 0.5 * text.endswith("½")


def _compare_goals(frame: "pd.DataFrame", columns: TrialColumns) -> TrialVerdicts:
    """Return each game's outcome: the side with more goals wins."""
    first_scores, second_scores = (
        check_numbers(
            frame[name].to_numpy(object),
            lambda k, n=name: f"in row {frame.index[k]}, column {n!r}",
            "score",
        )
        for name in columns.verdict
    )
    return TrialVerdicts(
        np.sign(first_scores - second_scores),
        f"the higher of {shorten(columns.verdict)}",
        ("equal",),
    )


def _describe_trials(columns: TrialColumns, verdicts: TrialVerdicts, rows: ComparisonRows) -> str:
    """Return a sentence on the columns and how outcomes were decoded."""
    outcome_text = f"{verdicts.how} in {columns.verdict[0]!r}"
    if len(columns.verdict) == 2:
        outcome_text = f"won by {verdicts.how}"
    description = f"{columns.first!r} against {columns.second!r}, {outcome_text}"
    if verdicts.ties:
        description += f" (ties: {shorten(verdicts.ties)})"
    description += describe_columns(columns.count, columns.respondent)
    if rows.covariates is not None:
        description += f", covariates {shorten(rows.covariates.names, 12)}"
    if rows.dates is not None:
        description += f", {NOUNS[rows.dates.unit]}s {rows.dates.name!r}"
    return description
