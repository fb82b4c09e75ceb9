"""Comparisons in rows that name both options and say which was chosen, or who won."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._labels import as_label, is_number, listed, short_number, shorten, suggest
from thali.errors import Argument, DataError

from ..answers import RowRespondents, read_respondents
from ..columns import get_column, describe_columns, read_counts, encode_labels, note_omission, count_comparisons
from ..described_columns import SideColumns, find_side_columns
from ..roles import (
    CHOSEN_OF_TWO,
    COUNT,
    GAMES,
    GOALS,
    MORE_SIDES,
    RESPONDENT,
    RESULT,
    SHORT_GOALS,
    SIDES,
    STEMS_OF_SIDES,
    TIE_WORDS,
    WEIGHTS,
    map_plain_names,
    column_names,
    find_no_answers,
    simplify_name,
)
from .covariates import CovariateColumns, read_covariates
from .dates import DAY, RowDates, read_dates

if TYPE_CHECKING:
    import pandas as pd


FIRST, SECOND, TIE = 1.0, -1.0, 0.0
_MEANINGS = {"first": FIRST, "second": SECOND, "tie": TIE}
_MISSING = "missing"  # what a coding calls a value that is no answer
_GAME = {
    "h": FIRST,
    "home": FIRST,
    "w": FIRST,
    "win": FIRST,
    "heim": FIRST,
    "a": SECOND,
    "away": SECOND,
    "l": SECOND,
}
_GAME |= {"loss": SECOND}
_TIED_GAME = ("d", "x")


class Verdicts(NamedTuple):
    """What a column says of each row."""

    outcome: np.ndarray  # (rows,) FIRST, SECOND or TIE; NaN where there is no answer
    how: str  # in which way, in words
    ties: tuple[str, ...]  # the words for a tie
    unknown: tuple[str, ...] = ()  # the words for no answer


def decoded(
    frame: "pd.DataFrame",
    sides: tuple[str, str],
    chosen: str,
    coding: Mapping[Any, str] | None,
    game: bool = False,
    count: str | None = None,
) -> Verdicts:
    """The column `chosen` of two columns of options, by a coding or by what its cells must mean.

    `count`: the column of how many comparisons a row stands for, if there is one. What the coding
    does not say is recognised.

    A cell may hold the label of an option, a side (left, right, first, second, the name of the
    column, ...), a number, or a word for a tie. `game`: the first side plays at home, so that H, D,
    A and 1, X, 2 are results.
    """
    import pandas as pd

    codes, values = pd.factorize(frame[chosen])
    texts = list(map(as_label, values))
    labels = [pd.factorize(frame[name]) for name in sides]
    known = {as_label(value) for _, values in labels for value in values}
    coding, missing = without_missing(coding)
    coded = {} if coding is None else meanings(coding)
    unknown = find_no_answers(texts, {*known, *coded, *sides}) | missing & set(texts)
    texts = ["" if text in unknown else text for text in texts]
    others = ["" if text in coded else text for text in texts]
    found = _found(codes, texts, coded, "coded outcomes")
    if coding is None or any(others):
        other = _recognised(frame, sides, chosen, codes, others, labels, game, count, coding)
        how = other.how if coding is None else f"{other.how}, or coded outcomes"
        outcome = np.where(np.isnan(found.outcome), other.outcome, found.outcome)
        found = Verdicts(outcome, how, tuple(sorted({*found.ties, *other.ties})))
    return found._replace(unknown=tuple(sorted(unknown)))


def _recognised(
    frame: "pd.DataFrame",
    sides: tuple[str, str],
    chosen: str,
    codes: np.ndarray,
    texts: list[str],
    labels: list[Any],
    game: bool,
    count: str | None,
    coding: Any,
) -> Verdicts:
    """What the cells must mean; `codes`: the places of the texts. Beside a coding numbers and keys
    are no sides."""
    known = {as_label(value) for _, values in labels for value in values}
    words = (*TIE_WORDS, *_TIED_GAME) if game else TIE_WORDS
    ties = {text for text in texts if simplify_name(text) in words and text not in known}
    is_open = coding is not None and any(
        is_number(text) or len(text) == 1 for text in texts if text not in ties
    )
    by_side = None if is_open else _by_side(texts, ties, sides, game)
    by_label = _by_label(codes, texts, ties, labels)
    answered = np.array([*(bool(text) for text in texts), False])[codes]
    unread = answered & np.isnan(by_label)
    if not unread.any() and answered.any():
        if by_side is not None:
            other = _outcome(codes, texts, by_side)
            if not np.array_equal(other, by_label, equal_nan=True):
                raise DataError(
                    f"Column {chosen!r} could contain labels of options or sides (1, 2, left,"
                    " right), and the two readings differ; rename the options, or define the"
                    " values with ",
                    Argument("coding"),
                    ".",
                )
        return Verdicts(by_label, "the chosen label", tuple(sorted(ties)))
    if by_side is not None:
        return _found(codes, texts, by_side, "the chosen side")
    if coding is not None:
        row = int(unread.argmax())
        raise DataError(
            f"Column {chosen!r} contains {as_label(frame[chosen].iloc[row])!r} in row"
            f" {frame.index[row]}, which is neither an option of that row, nor a word for a side"
            " or a tie, nor defined by ",
            Argument("coding"),
            "; correct it, or define it.",
        )
    raise _unreadable(frame, sides, chosen, unread, set(texts), game, count)


def without_missing(coding: Mapping[Any, str] | None) -> tuple[Mapping[Any, str] | None, set[str]]:
    """What a coding says of answers, None for nothing, and the texts that it calls missing."""
    given = coding or {}
    missing = {as_label(value) for value, word in given.items() if word == _MISSING}
    return {value: word for value, word in given.items() if word != _MISSING} or None, missing


def meanings(coding: Mapping[Any, str]) -> dict[str, float]:
    """What each text means by a coding {value: "first", "second" or "tie"}."""
    meaning = {}
    for value, word in coding.items():
        if word not in _MEANINGS:
            wanted = " must map each value to 'first', 'second', 'tie' or 'missing'"
            raise DataError(Argument("coding"), f"{wanted}; got {word!r}.")
        meaning[as_label(value)] = _MEANINGS[word]
    return meaning


def _by_label(codes: np.ndarray, texts: list[str], ties: set[str], labels: list[Any]) -> np.ndarray:
    """The outcome where a cell holds a word for a tie or the label of one of the two options, else
    NaN."""
    number: dict[str, int] = {}

    def numbered(codes: np.ndarray, texts: list[str]) -> np.ndarray:
        return np.array([*(number.setdefault(text, len(number)) for text in texts), -1])[codes]

    verdict = numbered(codes, texts)
    first, second = (
        numbered(codes, [as_label(value) for value in values]) for codes, values in labels
    )
    tied = np.array([*(text in ties for text in texts), False])[codes]
    outcome = np.where(
        (verdict == first) & (verdict >= 0), FIRST, np.where(verdict == second, SECOND, np.nan)
    )
    outcome[tied] = TIE
    outcome[verdict < 0] = np.nan
    return outcome


def _by_side(
    texts: list[str], ties: set[str], sides: tuple[str, str], game: bool
) -> dict[str, float] | None:
    """What each text means if all are sides, numbers or ties; None if some are not."""
    answers = [text for text in texts if text and text not in ties]
    if not answers:
        return None
    if numbers := _by_number(set(answers), game, bool(ties)):
        return numbers | dict.fromkeys(ties, TIE)
    words = _words_of(sides, game)
    meaning = {text: words.get(simplify_name(text)) for text in answers}
    if any(value is None for value in meaning.values()):
        return None
    return {
        text: float(value) for text, value in meaning.items() if value is not None
    } | dict.fromkeys(ties, TIE)


def _words_of(sides: tuple[str, str], game: bool) -> dict[str, float]:
    """The words for either side, those of the columns among them."""
    words: dict[str, float] = {}
    for one, other in (*MORE_SIDES, *SIDES):
        for spelled in (
            "{}",
            "option{}",
            "arrow{}",
            "{}arrow",
            "model{}",
            "assistant{}",
            "response{}",
            "{}wins",
        ):
            words |= {spelled.format(one): FIRST, spelled.format(other): SECOND}
    words |= _GAME if game else {}
    words |= {simplify_name(sides[0]): FIRST, simplify_name(sides[1]): SECOND}
    return words


def _by_number(texts: set[str], game: bool, ties: bool) -> dict[str, float] | None:
    """What numbers mean: 1 and 2; 1, 0 and -1; 1, 0.5 and 0; of a game also 1 and 0."""
    if texts <= {"1", "2"}:
        return {"1": FIRST, "2": SECOND}
    if texts <= {"1", "0", "-1"} and "-1" in texts:
        return {"1": FIRST, "0": TIE, "-1": SECOND}
    if texts <= {"1", "0"} and (game or ties):
        return {"1": FIRST, "0": SECOND}
    return None


def _outcome(codes: np.ndarray, texts: list[str], meaning: Mapping[str, float]) -> np.ndarray:
    return np.array([*(meaning.get(text, np.nan) for text in texts), np.nan])[codes]


def _found(codes: np.ndarray, texts: list[str], meaning: dict[str, float], how: str) -> Verdicts:
    ties = tuple(sorted(text for text, value in meaning.items() if value == TIE and text in texts))
    return Verdicts(_outcome(codes, texts, meaning), how, ties)


def _unreadable(
    frame: "pd.DataFrame",
    sides: tuple[str, str],
    chosen: str,
    unread: np.ndarray,
    texts: set[str],
    game: bool,
    count: str | None,
) -> DataError:
    """The error about a column of which some cells mean nothing."""
    if not unread.any():
        return DataError(
            f"Column {chosen!r} contains no answers; name another column with ",
            Argument("chosen"),
            ".",
        )
    if (answers := texts - {""}) <= {"0", "1"} or answers <= {"0", "1", "2"}:
        found = listed(sorted(answers))
        return DataError(
            f"Column {chosen!r} contains {found}, which do not show which side was chosen; define"
            " them with ",
            Argument("coding"),
            f", or write {sides[0]!r} and {sides[1]!r}.",
        )
    words = _words_of(sides, game)
    strange = unread & np.array([simplify_name(as_label(value)) not in words for value in frame[chosen]])
    faults = strange if strange.any() else unread
    row = int(faults.argmax())
    text = as_label(frame[chosen].iloc[row])
    alike = frame.loc[faults & (frame[chosen].astype(str).str.strip() == text).to_numpy()]
    number = count_comparisons(alike, count)
    further = f" (and {number - 1:,.0f} more times)" if number > 1 else ""
    options = [as_label(frame[name].iloc[row]) for name in sides]
    words = (
        "a result (H, D, A; 1, X, 2; 1, 0, -1)"
        if game
        else "a side (left, right, first, second, 1, 2)"
    )
    return DataError(
        f"Column {chosen!r} contains {text!r} in row {frame.index[row]}{further}, which is neither"
        f" an option of that row ({shorten(options)}), {words} nor a word for a tie; correct it,"
        " or define it with ",
        Argument("coding"),
        " (as missing if it is not an"
        f" answer).{suggest(text, [*options, *sides, *filter(str.isalpha, TIE_WORDS)])}",
    )


# Comparisons in rows that name both options and say which was chosen, or who won ------------------


STEMS = {name.format("") for name in STEMS_OF_SIDES} | {
    "model",
    "image",
    "img",
    "picture",
    "stim",
    "choice",
    "answer",
    "club",
    "name",
    "product",
    "sample",
    "sound",
    "label",
    "word",
    "text",
    "field",
    "school",
    "brand",
    "url",
    "id",
}
_SCORE = r"^\s*(\d+)\s*[:–-]\s*(\d+)\s*$"  # such as 3:1
_JSPSYCH = ("trialtype", "trialindex")


class TrialColumns(NamedTuple):
    """Which columns hold the two options, and which says what came of it."""

    first: str
    second: str
    verdict: tuple[str, ...]  # one column, or the goals of either side
    respondent: str | None
    count: str | None  # type: ignore[override]
    game: bool  # whether the first side plays at home

    @property
    def used(self) -> tuple[str | None, ...]:
        """All of them."""
        return (self.first, self.second, *self.verdict, self.respondent, self.count)


class TrialOutcomes(NamedTuple):
    """Comparisons as `PairedComparisons` counts them: a row each, or several alike."""

    labels: tuple[str, ...]
    winner: np.ndarray  # or the first of a tie
    loser: np.ndarray
    counts: np.ndarray
    tied: np.ndarray
    who: RowRespondents | None
    # whether the winner, or the first of a tie, was shown first; None: not known
    in_order: np.ndarray | None
    how: str  # they were read, in words
    covariates: CovariateColumns | None = None  # of the rows, for what was shown first
    when: RowDates | None = None


def trial_columns(
    frame: "pd.DataFrame", given: Mapping[str, str | None], game: bool
) -> TrialColumns:
    """The columns by their usual names, but for those given."""
    names = column_names(frame)
    for name in filter(None, given.values()):
        get_column(frame, name)
    own = map_plain_names(names)
    first, second, home = _options(frame, names, given, game)
    taken = {first, second, *(name for name in given.values() if name is not None)}
    verdict = _verdict(own, first, second, given, game, taken, names)
    taken |= set(verdict)
    respondent = given.get("respondent") or next(
        filter(partial(_repeats, frame), RESPONDENT.each(own, taken)), None
    )
    count = given.get("count") or COUNT.among(own, taken)
    return TrialColumns(first, second, verdict, respondent, count, game or home)


def _options(
    frame: "pd.DataFrame", names: list[str], given: Mapping[str, str | None], game: bool
) -> tuple[str, str, bool]:
    """The two columns of options, and whether the first side plays at home."""
    first, second = given.get("first"), given.get("second")
    if first is not None and second is not None:
        return first, second, False
    taken = set(filter(None, given.values()))
    likely = [
        each
        for each in find_side_columns(names)
        if not taken & set(each.columns)
        and (each.stem in STEMS or _is_option(frame, each))
        and (each.side[0] in GAMES or not game)
    ]
    for lacking, name in (("first", first), ("second", second)):
        if not likely or first is not None or second is not None:
            if name is None:
                raise DataError(
                    "No column was recognised as the ",
                    lacking,
                    " option; name it with ",
                    Argument(lacking),
                    ".",
                )
    likely.sort(key=lambda each: each.stem not in STEMS)
    return (*likely[0].columns, likely[0].side[0] in GAMES)


class Missing(NamedTuple):
    """What a table lacks that nearly holds trials: in words, the role of the column, and how near
    it is."""

    what: str
    role: str
    near: int


def near_trials(frame: "pd.DataFrame", game: bool) -> Missing | None:
    """What the table lacks to be one of trials or of games; None if it is nothing like it."""
    names = column_names(frame)
    own = map_plain_names(names)
    verdict = (RESULT if game else CHOSEN_OF_TWO).among(own)
    try:
        first, second, at_home = _options(frame, names, {}, game)
    except DataError:
        return None if verdict is None else _near_verdict(frame, own, verdict, game)
    if at_home != game or verdict is not None:
        return None
    won = f"{first!r} or {second!r} won" if game else f"{first!r} or {second!r} was chosen"
    return Missing(f"a column showing whether {won}", "chosen", 3)


def _near_verdict(
    frame: "pd.DataFrame", own: dict[str, str], verdict: str, game: bool
) -> Missing | None:
    """What is missing beside a column that says which was chosen: one of the options, or the names
    of both."""
    for one, other in (*SIDES, *MORE_SIDES):
        for role, here, there in (("second", one, other), ("first", other, one)):
            for stem in (
                ("", *sorted(STEMS)) if (len(here) > 1 and len(there) > 1) or not game else ()
            ):
                for spelled in ("{0}{1}", "{1}{0}"):
                    name, partner = spelled.format(stem, here), spelled.format(stem, there)
                    lone = (
                        name in own
                        and partner not in own
                        and own[name] != verdict
                        and (stem or len(here) > 1)
                    )
                    if lone and (one in GAMES) == game:
                        known = own[name]
                        if known.casefold().endswith(here):  # spelled as its partner is
                            partner = known[: -len(here)] + there
                        return Missing(f"a column {partner!r} to match {known!r}", role, 3)
    labels = _words(frame, verdict)
    options = [name for name in own.values() if name != verdict and labels & _words(frame, name)]
    if game or len(options) != 2:
        return None
    return Missing(
        f"a column that is clearly the first option ({options[0]!r} or {options[1]!r}?)", "first", 3
    )


def _words(frame: "pd.DataFrame", name: str) -> set[str]:
    """The distinct cells of a column of text; none of a column of numbers."""
    import pandas as pd

    values = frame[name]
    return (
        set()
        if pd.api.types.is_numeric_dtype(values.dtype)
        else set(map(str, values.dropna().unique()))
    )


def described_sides(frame: "pd.DataFrame", found: TrialColumns) -> bool:
    """Whether further columns of numbers describe the two sides, as attributes in a choice
    experiment do."""
    import pandas as pd

    sides = find_side_columns(column_names(frame))
    marks = next((each.side for each in sides if each.columns == (found.first, found.second)), None)
    return any(
        each.side == marks
        and each.stem not in GOALS.synonyms
        and not set(each.columns) & set(found.used)
        and all(pd.api.types.is_numeric_dtype(frame[name].dtype) for name in each.columns)
        for each in sides
    )


def _is_option(frame: "pd.DataFrame", sides: SideColumns) -> bool:
    """Whether two columns hold text, with some values in common."""
    import pandas as pd

    first, second = (frame[name] for name in sides.columns)
    if any(pd.api.types.is_numeric_dtype(values.dtype) for values in (first, second)):
        return False
    return bool(set(first.dropna().unique()) & set(second.dropna().unique()))


def _verdict(
    own: dict[str, str],
    first: str,
    second: str,
    given: Mapping[str, str | None],
    game: bool,
    taken: set[str],
    names: list[str],
) -> tuple[str, ...]:
    """The column that says what came of it, or the two of goals."""
    if (named := given.get("chosen")) is not None:
        return (named,)
    for role in (RESULT, CHOSEN_OF_TWO) if game else (CHOSEN_OF_TWO, RESULT):
        if (found := role.among(own, taken)) is not None:
            return (found,)
    for each in find_side_columns(names):
        if each.stem in GOALS.synonyms and not taken & set(each.columns):
            return each.columns
    for home, away in SHORT_GOALS if game else ():
        if home in own and away in own and not taken & {own[home], own[away]}:
            return own[home], own[away]
    raise DataError(
        f"No column shows which of {first!r} and {second!r} was chosen; name it with ",
        Argument("chosen"),
        ".",
    )


def _repeats(frame: "pd.DataFrame", name: str) -> bool:
    """Whether a column may say who answered: everything that is so called, but for what numbers the
    rows."""
    return simplify_name(name) != "id" or not frame[name].is_unique


def outcomes_of_trials(
    frame: "pd.DataFrame",
    columns: TrialColumns,
    coding: Mapping[Any, str] | None,
    labels: Any,
    weights: bool,
    covariates: Sequence[str] | None,
    date: str | None,
) -> TrialOutcomes:
    """The comparisons in the rows; those without an answer are left out, and the words say how
    many."""
    verdicts = (
        _of_goals(frame, columns)
        if len(columns.verdict) == 2
        else _of_column(frame, columns, coding)
    )
    kept = ~np.isnan(verdicts.outcome)
    if not kept.any():
        raise DataError(f"Column {columns.verdict[0]!r} contains no answers; check the table.")
    rows, outcome = frame.loc[kept], verdicts.outcome[kept]
    weights = weights or simplify_name(columns.count or "") in WEIGHTS
    times = read_counts(rows, columns.count, weights)

    def where(row: int, is_first: bool) -> str:
        return f"in row {rows.index[row]}, column {columns.first if is_first else columns.second!r}"

    names, first, second = encode_labels(
        get_column(rows, columns.first), get_column(rows, columns.second), times, labels, where
    )
    won = outcome != SECOND
    winner, loser = np.where(won, first, second), np.where(won, second, first)
    tied = np.where(outcome == TIE, times, 0.0)
    how = _in_words(columns, verdicts)
    n_omitted = short_number(count_comparisons(frame.loc[~kept], columns.count))
    note_omission(n_omitted, verdicts.unknown, "row" if columns.count is None else "comparison")
    who = read_respondents(rows, columns.respondent, columns.used)
    described = None
    if covariates is not None:
        taken = (columns.first, columns.second, *columns.verdict, columns.count)
        sides = columns.first, columns.second
        described = read_covariates(
            rows, covariates, sides, [name for name in taken if name is not None]
        )
        how += f", covariates {shorten(described.names, 12)}"
    when = None if date is None else read_dates(rows, date)
    if when is not None:
        how += f", {'dates' if when.unit == DAY else 'periods'} {date!r}"
    return TrialOutcomes(names, winner, loser, times - tied, tied, who, won, how, described, when)


def _of_column(
    frame: "pd.DataFrame", columns: TrialColumns, coding: Mapping[Any, str] | None
) -> Verdicts:
    name = columns.verdict[0]
    if coding is None and {simplify_name(str(each)) for each in frame.columns} >= set(_JSPSYCH):
        values = set(frame[name].dropna().unique())
        if values <= {0, 1}:  # the number of the button, from 0
            found = decoded(frame, columns[:2], name, {0: "first", 1: "second"}, columns.game)
            return found._replace(how="the button number, 0 for the first (jsPsych)")
    scores = (
        frame[name].astype(str).str.extract(_SCORE) if coding is None and columns.game else None
    )
    if scores is not None and scores.notna().to_numpy().any(axis=1).all():
        ahead = np.sign(scores[0].astype(float) - scores[1].astype(float)).to_numpy()
        return Verdicts(ahead * FIRST, "the goals of both sides", ("equal",))
    return decoded(frame, columns[:2], name, coding, columns.game, columns.count)


def _of_goals(frame: "pd.DataFrame", columns: TrialColumns) -> Verdicts:
    """Whoever has more wins."""
    from ..checks import check_numbers

    sides = [
        check_numbers(
            frame[name].to_numpy(dtype=object),
            lambda k, n=name: f"in row {frame.index[k]}, column {n!r}",
            "score",
        )
        for name in columns.verdict
    ]
    return Verdicts(
        np.sign(sides[0] - sides[1]) * FIRST,
        f"the higher of {shorten(columns.verdict)}",
        ("equal",),
    )


def _in_words(columns: TrialColumns, verdicts: Verdicts) -> str:
    a, b = columns.first, columns.second
    if len(columns.verdict) == 2:
        how = f"{a!r} against {b!r}, won by {verdicts.how}"
    else:
        how = f"{a!r} against {b!r}, {columns.verdict[0]!r} contains {verdicts.how}"
    if verdicts.ties:
        how += f" (a tie: {shorten(verdicts.ties)})"
    return how + describe_columns(columns.count, columns.respondent)
