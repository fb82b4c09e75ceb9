"""Layout of tables of scores of options on the same items, which leaderboards read."""

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from thali._data.column_guesses import list_labelled_sides
from thali._data.column_readers import (
    add_note,
    check_columns,
    encode_texts,
    get_column,
    is_row_number,
)
from thali._data.column_roles import (
    ITEM,
    OPTION,
    RANK,
    RESPONDENT,
    RUN,
    SCORE,
    SCORE_PART,
    SCORED_OPTION,
    Role,
    has_numbers,
    list_name_words,
    map_plain_names,
    simplify_name,
)
from thali._data.kinds import PAIRS
from thali._data.pairs import PairedComparisons
from thali._data.pairs.score_comparisons import compare_scores
from thali._labels import format_label, format_plural, list_names, shorten
from thali.errors import Argument, DataError, Message, Setting

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape
from ..text_cells import join_notes

NAME = "table of scores"
_MEANING = "for each item and pair, the higher score wins, and equal scores are ties"
# words of evaluation programs for right, half right and wrong
_GRADES = dict.fromkeys("c correct pass passed true yes".split(), 1.0) | {"p": 0.5, "": np.nan}
_GRADES |= dict.fromkeys("i incorrect fail failed false no n".split(), 0.0)
# first words of marks and identifiers of items
_MARKS = {"is", "has", "was", "needs", "requires", "contains", "id", "idx", "uid", "qid"}
# words of measures of which the lower is better
_LOW = set(
    (
        "error errors err wer cer ter eer rmse mse mae mape loss nll perplexity ppl latency runtime"
        " duration time seconds cost costs fid brier regret distance rank ranks ranking rang lpips"
        " dists niqe brisque piqe fvd ece mcd epe bpb bpc smape nrmse mpjpe strokes emissions vram"
    ).split()
)
# words that mean such a measure only where the name has no others than units and the like
_LOW_ALONE = set("toxicity memory energy price prices".split())
_LOW_PARTS = re.compile(
    r"↓|(?:lower|less|smaller)[\W_]*(?:is)?[\W_]*better|(?:hallucination|miss)[\W_]*rate"
    r"|false[\W_]*(?:positive|negative|alarm)s?|bits[\W_]*per"
    r"|(?<![a-z])(?:abs[\W_]*rel|co[2₂]|(?:hd|fpr)[\W_]*95|(?-i:DER))(?![a-z\d])",  # der: German
    re.IGNORECASE,
)
_UNITS = set(
    (
        "b k m t kb mb gb tb j kj wh kwh w usd eur billion billions million millions peak gpu"
        " usage use used consumption per input output average avg mean max total token tokens"
    ).split()
)
# words of columns that describe options, and words that may be beside them
_DESCRIPTIONS = set(
    (
        "size param params parameter parameters year downloads likes votes wins losses draws ties"
        " battles flops gflops tflops macs tokens vocab vocabulary layers epochs seed seeds version"
        " temperature shots n length window date cutoff source weights std stdev stddev stderr se"
        " ci"
    ).split()
)
_DESCRIBING = _UNITS | set(
    (
        "model context num number no of active activated training train release released submission"
        " submitted publication published knowledge open response dev low high lower upper"
    ).split()
)
_METRICS = {"metric", "metricname", "measure"}  # names of columns of such words
_MAX_OPTIONS = 100  # rows, above which texts in the first column are items
_SUMMARIES = set(
    (
        "mean means average averages avg median total totals sum overall max maximum highest best"
        " min minimum lowest worst mittelwert durchschnitt summe gesamt moyenne somme media"
        " promedio suma std stdev stddev deviation variance"
    ).split()
)
_SUMMARIZING = set(
    "score scores rank ranks macro micro geo geom geometric harmonic weighted standard dev".split()
)
# names of rows of tests, ranks, costs and sizes below the items
_SUMMARY_ROW = re.compile(
    r"(?:#\s*)?(?:params|parameters|wins|rank|ranks|ranking)|p[\s_-]*values?|sd"
    r"|(?:#\s*)?(?:params?|parameters|size|time|runtime|latency|memory|cost|energy|price)\s*\(.+\)",
    re.IGNORECASE,
)
_NUMBERINGS = {*RANK.sure, "id", "qid", "idx", "index", "row", "no", "nr", "number", "#", ""}


class _ScoreColumns(NamedTuple):
    """Columns of a table of scores, which has one row per score or one row per item."""

    items: list[str]  # together they identify an item; []: each row is an item
    option: str | None  # None: one column of scores per option
    scores: dict[str, np.ndarray]
    runs: list[str]
    parts: list[str]  # constant within items
    doubt: Message | None = None

    def __str__(self) -> str:
        options = f"one column per option ({shorten(list(self.scores), 4)})"
        if self.option is not None:
            options = f"options in {self.option!r}, scores in {next(iter(self.scores))!r}"
        if not self.items:
            return f"{options}, one item per row"
        return f"{options}, items in {list_names(map(repr, self.items))}"

    @property
    def used(self) -> tuple[str | None, ...]:
        """Names of all columns."""
        return (*self.items, self.option, *self.scores, *self.runs, *self.parts)


def match_scores(
    table: RawTable, item: str | None = None, option: str | None = None, score: str | None = None
) -> Reading | None:
    """Return a `Reading` of scores of options on items; None for other tables."""
    check_columns(table.frame, (item, option, score))
    table, columns = _find_columns(table, item, option, score)
    if columns is None:
        return None
    convert = partial(_compare_scores, table, columns)
    description = f"{NAME}, {columns}"
    # every other layout has priority
    return Reading(PAIRS, NAME, description, table, convert, sure=False, extra_columns=columns.used)


def describe_scores(table: RawTable) -> str:
    """Return how a table that plainly contains scores of options is read; "" for others."""
    _, columns = _find_columns(table, is_board=False)
    if columns is None or columns.doubt is not None:
        return ""
    return str(columns)


def _find_columns(
    table: RawTable,
    item: str | None = None,
    option: str | None = None,
    score: str | None = None,
    is_board: bool = True,
) -> tuple[RawTable, _ScoreColumns | None]:
    """Return the columns, None for other tables, and the table with one item per row."""
    # `is_board`: for a leaderboard, whose options and directions are asked about.
    scores = _list_columns(SCORE, table, (item, option), score)
    options = _list_columns(SCORED_OPTION, table, (item, *scores), option)
    items = _list_columns(ITEM, table, (*options, *scores), item)
    runs = _list_columns(RUN, table, (*items, *options, *scores))
    used_columns = (*items, *options, *scores, *runs)
    parts = [
        name
        for name in (*_list_columns(SCORE_PART, table), *table.filter_columns)
        if name not in used_columns and get_column(table.frame, name).nunique() > 1
    ]
    respondents = _list_columns(RESPONDENT, table)
    table = _drop_row_numbers(table, {*used_columns, *parts, *respondents})
    is_long = bool(options and scores and (items or parts))
    if options and not is_long and _has_repeats(table, options[0]):
        return table, None  # one row per score, of which some column is unknown
    is_turned = bool(options) and not is_long and not items
    if is_turned:  # one row per option
        table = _drop_descriptions(table, options[0], runs, {*parts, *respondents})
        table = _turn_options(table, options[0])
        items = [ITEM.name]
        parts = runs = []
    first_name = table.names[0]
    first_column = get_column(table.frame, first_name)
    is_guessed = False
    if not is_long and not items and not has_numbers(first_column) and first_column.is_unique:
        items = [first_name]
        is_guessed = is_board and len(table.frame) <= _MAX_OPTIONS and first_name not in parts
    # columns of parts identify items only where one item occurs in several parts
    if parts and (not items or table.frame.groupby(items)[parts].nunique().max(axis=None) > 1):
        items = list(dict.fromkeys([*parts, *items]))
        parts = []
    if not is_long:
        used_columns = {*items, *parts, *runs, *table.filter_columns}
        scores = [name for name in table.names if name not in used_columns]
    numbers = {
        name: cells
        for name in scores
        if (cells := _read_numbers(get_column(table.frame, name))) is not None
    }
    if not numbers or (not is_long and (len(numbers) < 2 or score is not None)):
        return table, None
    labels = None
    if items:
        labels = get_column(table.frame, items[-1])
    frame = pd.DataFrame(numbers, labels)
    doubt = None
    if is_long and len(numbers) > 1:
        text = f"{shorten(list(numbers))} may be the scores; give the name of one with "
        doubt = Message(text, Argument(SCORE.name), ".")
    # a column of options, named or known, shows that the others are scores
    if not is_long and item is None and option is None and not is_turned:
        doubt = _question_scores(frame, items, bool(respondents), is_guessed)
    if is_board:
        doubt = doubt or _question_names(frame, _list_measure_words(table, numbers, is_turned))
    if is_long:
        return table, _ScoreColumns(items, options[0], numbers, runs, parts, doubt)
    doubt = doubt or _question_sides(table.frame.drop(columns=[*numbers, *items]), [*numbers])
    if is_board:
        others = [name for name in scores if name not in numbers]
        doubt = doubt or _question_texts(table, others) or _question_summaries(frame)
    if is_board and item is None:
        doubt = doubt or _question_ranks(frame if is_turned else frame.T)
    return table, _ScoreColumns(items, None, numbers, runs, parts, doubt)


def _drop_descriptions(
    table: RawTable, option: str, runs: list[str], labels: Collection[str]
) -> RawTable:
    """Return a table of one row per option without descriptions, which its note reports."""
    # Columns of texts that are no labels, of runs, and with the name of a size, date, count or
    # error. Texts may be scores if most begin with a digit, and other options if some are labels.
    options = get_column(table.frame, option)
    others = [name for name in table.names if name != option]
    names = [name for name in others if name in runs or _describes_options(name)]
    for name in [name for name in others if name not in {*labels, *names}]:
        cells = get_column(table.frame, name)
        is_text = _read_numbers(cells) is None and not cells.isin(options).any()
        if is_text and cells.astype(str).str.match(r"\W*\d").mean() < 0.5:
            names.append(name)
    return _omit_columns(table, names, "descriptions of options", 1)


def _describes_options(name: str) -> bool:
    """Return whether the name is that of a size, date, count or error; 5-shot is a score."""
    words = list_name_words(name.replace("FLOPs", "flops"))
    if _has_only(words, _DESCRIPTIONS, _DESCRIBING):
        return not re.search(r"\d(?!\d?\s*%)", name)
    return "stderr" in words


def _has_only(words: list[str], terms: Collection[str], others: Collection[str]) -> bool:
    """Return whether some words are terms, and the rest are terms or others."""
    return not {*words}.isdisjoint(terms) and {*words} <= {*terms, *others}


def _omit_columns(table: RawTable, names: list[str], meaning: str, n_kept: int = 0) -> RawTable:
    """Return the table without columns, unless only `n_kept` columns would be left."""
    if len(names) in (0, len(table.names) - n_kept):
        return table
    note = join_notes(table.note, f"{meaning} ({shorten(names)}) not used")
    return replace(table, frame=table.frame.drop(columns=names), note=note)


def _turn_options(table: RawTable, option: str) -> RawTable:
    """Return a table of one row per option with one row per item, which its note reports."""
    turned = table.frame.set_index(option).T.infer_objects()
    turned.columns = turned.columns.map(format_label)
    note = join_notes(table.note, f"items: {shorten(list(turned.index))}")
    return replace(table, frame=turned.reset_index(names=ITEM.name), note=note)


def _list_measure_words(table: RawTable, names: Iterable[str], is_turned: bool) -> list[list[str]]:
    """Return the words for low measures in the names: of each column, or of all together."""
    for name in reversed(table.names):
        cells = get_column(table.frame, name)
        if simplify_name(name) in _METRICS and cells.nunique() == 1:
            return [_list_low_measures(format_label(cells.iloc[0]))]
    if is_turned:
        return [[word for name in table.frame[ITEM.name] for word in _list_low_measures(name)]]
    return [*map(_list_low_measures, names)]


def _list_low_measures(name: str) -> list[str]:
    """Return words that mean a measure of which the lower is better, or the name if parts do."""
    words = list_name_words(name)
    terms = _LOW
    if _has_only(words, _LOW_ALONE, _UNITS):
        terms = _LOW | _LOW_ALONE
    return [*terms.intersection(words), *filter(_LOW_PARTS.search, [name])]


def _drop_row_numbers(table: RawTable, used_columns: Collection[str]) -> RawTable:
    """Return the table without unused columns that number its rows, which its note reports."""
    # an option may have the scores 1, 2 and 3
    names = [
        name
        for name in table.names
        if name not in used_columns
        and (name == table.names[0] or simplify_name(name) in _NUMBERINGS)
        and is_row_number(get_column(table.frame, name))
    ]
    return _omit_columns(table, names, "row numbers")


def _list_columns(
    role: Role,
    table: RawTable,
    used_columns: Collection[str | None] = (),
    named: str | None = None,
) -> list[str]:
    """Return the named column, or all unused columns whose names mean this role."""
    if named is not None:
        return [named]
    return list(role.find_certain_columns(map_plain_names(table.names), used_columns))


def _read_numbers(column: pd.Series) -> np.ndarray | None:
    """Return numbers, also for words for right and wrong; None for other cells."""
    if has_numbers(column):
        return column.to_numpy(float)
    codes, texts = encode_texts(column)
    grades = np.array([*map(_read_grade, texts)])[codes]
    if np.isnan(grades[column.notna()]).any() or np.isnan(grades).all():
        return None
    return grades


def _read_grade(text: str) -> float:
    """Return the number in 85%, 0.85 ± 0.02 or 0.85 (0.02), or that of a word; NaN for others."""
    if (match := _MEASURE.fullmatch(text)) is None:
        return _GRADES.get(text.casefold(), np.nan)
    number = float(match[1])
    if "%" in text:
        return number / 100.0
    return number


_MEASURE = re.compile(r"(-?\d+(?:\.\d+)?)\s*%?\s*(?:(?:±|\+/?-)\s*[\d.]+\s*%?|\([\d.]+\))?")


def _has_repeats(table: RawTable, name: str) -> bool:
    """Return whether some but not all cells of a column are equal."""
    return 1 < get_column(table.frame, name).nunique() < len(table.frame)


def _question_names(scores: pd.DataFrame, words: list[list[str]]) -> Message | None:
    """Return a question if names mean measures of which the lower is better, or marks of items."""
    low = set[str].intersection(*map(set, words))
    if low and scores.min(axis=None) >= 0.0:
        return Message(
            f"The higher score wins, but of {min(low)!r} the lower may be better: write such"
            " numbers with a minus sign, rename the column if the higher is better, or drop it"
            " with ",
            Argument("without"),
            ".",
        )
    marks = [name for name in scores if _MARKS.intersection(list_name_words(name)[:1])]
    if not 0 < len(marks) < scores.shape[1]:
        return None
    return Message(
        f"{marks[0]!r} may describe the items; drop such columns with ",
        Argument("without"),
        ", or rename options.",
    )


def _question_sides(frame: pd.DataFrame, names: list[str]) -> Message | None:
    """Return a question if numbers may be scores of the two options in each row; else None."""
    sides = list_labelled_sides(frame)
    endings = {name[-1].casefold() for name in names}  # reward_a, reward_b
    if not sides or not endings >= {side[-1].casefold() for side in sides[0]}:
        return None
    first, second = sides[0]
    return Message(
        f"The options may be in {first!r} and {second!r}. If {shorten(names, 4)} include their"
        " scores, of which the higher wins, rename these to 'score_a' and 'score_b'; if each is an"
        " answer, write one row per answer, with a column 'choice'; otherwise drop"
        f" {first!r} and {second!r} with ",
        Argument("without"),
        ".",
    )


def _question_texts(table: RawTable, names: list[str]) -> Message | None:
    """Return a question about a column of scores with a few other texts; None if there is none."""
    for name in names:
        cells: Any = get_column(table.frame, name).dropna()
        is_other = np.isnan([_read_grade(format_label(cell)) for cell in cells])
        if 0.0 < is_other.mean() < 0.5:
            return Message(
                f"Column {name!r} contains {format_label(cells[is_other].iloc[0])!r} in row"
                f" {cells.index[is_other][0]}, which is no score; write a number or leave the cell"
                " empty, or remove the column with ",
                Argument("without"),
                ".",
            )
    return None


def _question_summaries(scores: pd.DataFrame) -> Message | None:
    """Return a question if a column or row is called the mean, sum or the like; else None."""
    last_rows = scores.index[1:][-4:]
    for name in map(str, [*scores, *scores.index]):
        meaning = "be the mean, sum or extreme of others"
        if name in last_rows and _SUMMARY_ROW.fullmatch(name):
            meaning = "describe the options"
        elif not _has_only(list_name_words(name), _SUMMARIES, _SUMMARIZING):
            continue
        return Message(
            f"{name!r} may {meaning}; drop such columns with ",
            Argument("without"),
            ", and such rows with ",
            Argument("where"),
            ".",
        )
    return None


def _question_ranks(scores: pd.DataFrame) -> Message | None:
    """Return a question if each row may contain ranks of the columns; else None."""
    ranks = scores.rank(axis=1, method="min")
    if scores.shape[1] < 3 or (ranks != scores).any(axis=None) or scores.max(axis=1).min() < 2.0:
        return None
    return Message(
        "The numbers 1, 2, ... may be ranks or scores. Turn the table, so that each column contains"
        " the numbers of an option; then, if 1 is the best, set ",
        Setting("unranked", "absent"),
        "; if the highest number is the best, give the name of the column of items with ",
        Argument(ITEM.name),
        ".",
    )


def _question_scores(
    scores: pd.DataFrame, items: list[str], has_respondents: bool, is_guessed: bool
) -> Message | None:
    """Return a question unless the columns are plainly scores of the same items; else None."""
    low = scores.min()
    high = scores.max()
    # 2: marks of 0 and 1; 1: shares; 0: other numbers
    scales = ((low >= 0.0) & (high <= 1.0)) + 1 * scores.isin([0.0, 1.0, np.nan]).all()
    if has_respondents:
        reason = "the rows are respondents"
    elif not items and (scales.min() == 0 or low.min() == high.max()):
        reason = "no column contains the items"
    elif is_guessed:
        reason = f"{items[0]!r} may contain items or options"
    elif scales.nunique() > 1 or low.max() > high.min():
        reason = "their numbers have different ranges"
    else:
        return None
    return Message(
        f"{list_names(scores.columns, 4)} may be scores of options on the same items, but {reason}."
        " If they are, give the name of the column of items with ",
        Argument(ITEM.name),
        "; if the rows are options, give the name of their column with ",
        Argument(OPTION.name),
        "; remove other columns with ",
        Argument("without"),
        ".",
    )


def _compare_scores(table: RawTable, columns: _ScoreColumns) -> tuple[PairedComparisons, str]:
    """Return comparisons of the scores, and a sentence on how they were read."""
    if columns.doubt is not None:
        raise DataError(columns.doubt)
    frame = table.frame.reset_index(drop=True)
    items = frame.index.to_series().add(1).astype(str)
    if columns.items:
        texts = [get_column(frame, name).map(format_label) for name in columns.items]
        items = texts[0].str.cat(texts[1:], sep=" / ")
    blocks = [
        pd.DataFrame({"item": items, "option": name, "score": scores})
        for name, scores in columns.scores.items()
    ]
    rows = pd.concat(blocks).dropna()
    if columns.option is not None:
        rows["option"] = get_column(frame, columns.option).map(format_label)
    rows = rows.loc[(rows["item"] != "") & (rows["option"] != "")]
    for option, item in rows.loc[np.isinf(rows["score"]), ["option", "item"]].to_numpy():
        raise DataError(
            f"The score of {option!r} on item {item!r} is infinite; correct it, or leave the cell"
            " empty if there is no score."
        )
    groups = rows.groupby(["item", "option"])["score"]
    # unstack(sort=False) of pandas 2.2 moves scores to other options where some are missing
    scores = groups.mean().unstack().reindex(rows["item"].unique(), columns=rows["option"].unique())
    sentence = f"{NAME}, {columns}"
    if n_repeated := len(rows) - groups.ngroups:
        unused = {*table.names}.difference(columns.used, table.filter_columns)
        if unused and not columns.runs:
            raise DataError(
                f"Some items have several scores of an option, perhaps for different"
                f" {list_names(sorted(unused))}. Select rows with ",
                Argument("where"),
                ", or remove these columns with ",
                Argument("without"),
                " to average the scores.",
            )
        sentence += f", {format_plural(n_repeated, 'repeated score')} averaged within items"
    is_compared = scores.count(axis=1) > 1
    if n_single := (~is_compared).sum():
        add_note(f"{format_plural(n_single, 'item')} with a single score not used")
    scores = scores.loc[is_compared]
    options, item_labels = (tuple(map(str, labels)) for labels in (scores.columns, scores.index))
    data = compare_scores(PairedComparisons, options, item_labels, scores.to_numpy(float))
    return data, f"{sentence}: {data}; {_MEANING}"


def find_score_lack(table: RawTable) -> Lack | None:
    """Return what a table with one score per row lacks; None for other tables."""
    options = _list_columns(SCORED_OPTION, table)
    scores = _list_columns(SCORE, table)
    if scores and not options:  # such as points of juries
        return Lack(f"columns with the options and items that have {scores[0]!r}", "option item", 2)
    if not options or not _has_repeats(table, options[0]):
        return None
    role = ITEM if scores else SCORE
    return Lack(f"a column with {role.meaning}", role.name, near=4)


_ARGUMENTS = (ITEM.name, OPTION.name, SCORE.name)
SHAPE = Shape(
    NAME,
    PAIRS,
    match_scores,
    expected="one score per row, with columns such as 'item', 'model' and 'score'",
    lacks=find_score_lack,
    roles=(ITEM, OPTION, SCORE),
    named_by=_ARGUMENTS,
    main=_ARGUMENTS,
)
