"""Layouts of choices: long table, rankings, best-worst, best of a set."""

import re
from dataclasses import replace
from functools import partial
from os.path import commonprefix
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

from thali._data.base_classes import copy_with_fields
from thali._data.choice_marks import (
    counts_up,
    has_marks,
    measures_answers,
    mentions_choice,
    ranks_rows,
)
from thali._data.choices import Choices
from thali._data.choices.best_worst_tables import (
    BestWorstColumns,
    LongBestWorst,
    answers_by_place,
    are_rank_rows,
    expand_lists,
    find_best_columns,
    find_best_worst_columns,
    find_column_series,
    find_long_columns,
    list_rows,
    list_traits,
)
from thali._data.choices.long_and_wide_tables import LONG_ROLES, find_columns, is_long_table
from thali._data.choices.rankings import (
    BLANK_RANKS,
    LONG,
    NO_PREFERENCES,
    OPTIONS,
    RANKS,
    RankingColumns,
    describe_layout,
    find_missing_rank,
    find_rank_block,
    find_ranking_columns,
    refuse_several_ranks,
    spread_ranked_cells,
)
from thali._data.choices.table_constructors import read_rankings
from thali._data.choices.tied_best_worst import N_TRICOT, describe_agreement
from thali._data.column_guesses import (
    ColumnsRead,
    asks_for_odd,
    find_divided_columns,
    guess_question,
    refuse_questions_of_less,
)
from thali._data.column_readers import get_column
from thali._data.column_roles import (
    ALTERNATIVE,
    ANCHOR,
    BEST,
    CHOSEN,
    CHOSEN_OF_TWO,
    COUNT,
    ODD,
    OPTION,
    RANK,
    RESPONDENT,
    RESPONDENT_OF_TASKS,
    SCORE,
    TASK,
    TASK_OF_RESPONDENT,
    WEIGHTS,
    WORST,
    has_numbers,
    list_name_words,
    map_plain_names,
    mentions_rejection,
    simplify_name,
)
from thali._data.experiments.wide_table import find_wide_tasks, list_numbered_columns
from thali._data.kinds import CHOICES
from thali._data.respondent_table import varies_within
from thali._data.triplets.triplet_tables import are_stimuli
from thali._labels import format_label, has_repeats, shorten, suggest
from thali.errors import Argument, DataError, InPython, Message, Setting

from ..table_files import RawTable
from ..table_layout import Lack, Reading, Shape, keep_given
from ..text_cells import join_notes
from .experiments import describes_products
from .signed_best_worst import SHAPE as SIGNED_TABLE
from .signed_best_worst import match_signed_marks

# Choices from sets as a long table: one row per alternative of each choice set


_LONG = "long table of choices"
_REQUIRED_ROLES = (
    ((TASK, RESPONDENT_OF_TASKS), Lack("a column that numbers the choice sets", "task", 2)),
    ((ALTERNATIVE,), Lack("a column of alternatives", "alternative", 2)),
    ((CHOSEN,), Lack(f"a column with {CHOSEN.meaning}", "chosen", 2)),
)


def match_long(table: RawTable, task: str | None = None, **columns: Any) -> Reading | None:
    """Return a `Reading` of a long table of choices, one option per row; None for other tables.

    The reading is sure if the cells agree. `task` is the column of choice sets, too.
    """
    if task is not None:
        columns["choice_id"] = columns.get("choice_id") or task
    named_columns = {role: name for role, name in columns.items() if name is not None}
    is_requested = task is None and "choice_id" in named_columns
    if not named_columns and match_signed_marks(table) is not None:
        return None
    find_roles: Any = partial(find_columns, table.frame, dict.fromkeys(LONG_ROLES) | named_columns)
    try:
        column_by_role = find_roles()
    except DataError:
        if not is_requested and task is None:
            return None
        return Reading(CHOICES, _LONG, "long table", table, find_roles, is_requested)
    description = _describe_long(column_by_role)
    choice_id, alternative, chosen, available, respondent, count = (
        column_by_role[role] for role in LONG_ROLES
    )

    def convert() -> tuple[Choices, str]:
        """Return the choices, and a sentence on how they were read."""
        weights = simplify_name(count or "") in WEIGHTS
        data = Choices(table.frame, weights=weights, **named_columns)
        return data, f"{description}: {data}"

    is_sure = is_requested or (
        is_long_table(table.frame, named_columns)
        and not describes_products(table, columns | {"task": task})
    )
    roles = ColumnsRead(
        (alternative, choice_id, *keep_given(available)),
        (chosen,),
        keep_given(count),
        respondent,
        answer=keep_given(respondent, choice_id),
    )
    return Reading(CHOICES, _LONG, description, table, convert, is_sure, roles=roles)


def _describe_long(column_by_role: dict[str, str | None]) -> str:
    """Describe in words which columns of a long table are used."""
    description = (
        f"long table, options in {column_by_role['alternative']!r}, choices in"
        f" {column_by_role['chosen']!r}, choice sets in {column_by_role['choice_id']!r}"
    )
    if column_by_role["respondent"] not in (None, column_by_role["choice_id"]):
        description += f", respondents in {column_by_role['respondent']!r}"
    for role, role_phrase in (("available", "offers marked in"), ("count", "counts in")):
        if column_by_role[role] is not None:
            description += f", {role_phrase} {column_by_role[role]!r}"
    return description


def find_long_lack(table: RawTable) -> Lack | None:
    """Return the one missing column of a long table of choices; else None."""
    name_by_simplified = map_plain_names(table.names)
    lacks = [
        lack
        for roles, lack in _REQUIRED_ROLES
        if all(role.find_column(name_by_simplified) is None for role in roles)
    ]
    if len(lacks) != 1:
        return None
    return lacks[0]


LONG_TABLE = Shape(
    _LONG,
    CHOICES,
    match_long,
    expected="one row per alternative, with columns such as 'task', 'alternative' and 'chosen'",
    roles=(TASK, TASK_OF_RESPONDENT, ALTERNATIVE, CHOSEN, RESPONDENT_OF_TASKS, COUNT),
    named_by=("choice_id",),
    lacks=find_long_lack,
    main=("choice_id", "alternative", "chosen"),
)


# Rankings in three shapes: one column per rank, one column per option, or one row per option of
# a ranking


_RANKINGS = "table of rankings"


def match_rankings(
    table: RawTable,
    unranked: str | None = None,
    weights: bool = False,
    **named_columns: str | None,
) -> Reading | None:
    """Return a `Reading` of a table of rankings; None for other tables."""
    if not table.named:
        return None
    original_table = table
    if shown := [name for name in table.names if "_DO_" in name]:  # in Qualtrics' files
        note = join_notes(table.note, f"columns of the order of display dropped: {shorten(shown)}")
        table = replace(table, frame=table.frame.drop(columns=shown), note=note)
    n_named = sum(named_columns.get(role.name) is not None for role in (OPTION, RANK))
    if not n_named:
        table = replace(table, frame=spread_ranked_cells(table.frame))
    unranked_rule = unranked or "absent"

    def convert() -> tuple[Choices, str]:
        """Return the choices, and a sentence on how they were read."""
        data, description = read_rankings(
            Choices, table.frame, None, named_columns, unranked_rule, weights=weights
        )
        if options := _name_by_questions(table, data.labels):
            data = copy_with_fields(data, labels=options)
            description += "; options named by the line of labels"
        return data, f"{description}: {data}"

    ranking_columns = find_ranking_columns(table.frame, named_columns, unranked_rule)
    if ranking_columns is None:
        if n_named < 2 and unranked is None:
            return None
        return Reading(CHOICES, _RANKINGS, "rankings", table, convert)
    shape = ranking_columns.shape
    columns = ranking_columns.columns
    if table.square is not None and (shape == LONG or not table.square.is_bare):
        return None
    if n_named and shape != LONG:
        return None
    if shape == LONG and not n_named:
        if _shows_positions(table, columns[1]):
            return None
        _refuse_other_ranks(table, ranking_columns)
    if shape == OPTIONS:
        if _has_other_answers(original_table):
            return None
        if unranked is None:
            _refuse_nameless_ranks(table, columns)
            _refuse_second_ranks(table, columns)
            _refuse_points(columns)
    if shape == RANKS:
        if _are_sets(table, columns):
            return None
        _refuse_answers_to_tasks(table.frame[[*columns]])
        _refuse_ranked_products(table, columns)
        if ranking_columns.respondent is None:
            _refuse_counted_ranks(table, columns)
        table = _clear_blank_ranks(table, columns)
    if shape != OPTIONS and not n_named:
        _refuse_worst_first(columns[-1])
    answer_columns = None
    if shape == LONG:
        answer_columns = keep_given(ranking_columns.respondent, ranking_columns.group)
    roles = ColumnsRead(
        keep_given(*columns, ranking_columns.group),
        (),
        keep_given(ranking_columns.count),
        ranking_columns.respondent,
        answer=answer_columns,
    )
    return Reading(
        CHOICES, _RANKINGS, describe_layout(ranking_columns), table, convert, roles=roles
    )


_BEFORE_OPTION = re.compile(r".*(?: - |: )")  # in a question such as "Rank the drinks - tea"


def _name_by_questions(table: RawTable, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options in the questions of columns of ranks, after what all share; else ()."""
    questions = [table.questions.get(name, "") for name in columns]
    shared = _BEFORE_OPTION.match(commonprefix(questions))
    if shared is None:
        return ()
    options = tuple(question[shared.end() :].strip() for question in questions)
    if not all(options) or has_repeats(options):
        return ()
    return options


def _clear_blank_ranks(table: RawTable, columns: tuple[str, ...]) -> RawTable:
    """Return a table with empty ranks, and a note, in place of words such as undervote."""
    ranked_cells: Any = table.frame[[*columns]]
    words = ranked_cells.apply(
        lambda cells: cells.map(
            {cell: simplify_name(format_label(cell)) for cell in cells.dropna().unique()}
        )
    )
    # "none" is an option if it is ranked first
    is_blank = words.isin(BLANK_RANKS | NO_PREFERENCES.difference(words[columns[0]].unique()))
    if not is_blank.any(axis=None):
        return table
    blanks = ranked_cells.where(is_blank).stack().dropna().unique()
    note = join_notes(table.note, f"no option where a cell is {shorten(sorted(blanks))}")
    return replace(table, frame=table.frame.assign(**ranked_cells.mask(is_blank)), note=note)


def _refuse_nameless_ranks(table: RawTable, columns: tuple[str, ...]) -> None:
    """Raise DataError if columns V1, V2, ... contain options by rank, or ranks by option."""
    # R calls the columns of a matrix so
    if len(columns) < len(table.names) or columns[0] not in ("V1", "X1"):
        return
    raise DataError(
        f"Each row of {columns[0]!r} to {columns[-1]!r} contains the numbers 1 to {len(columns)}."
        " If the first cell is the number of the best option, rename the columns to"
        " 'rank1', 'rank2', ...; if it is the rank of the first option, rename each column to its"
        " option."
    )


def _refuse_second_ranks(table: RawTable, columns: tuple[str, ...]) -> None:
    """Raise DataError if other columns rank as many options, such as before and after a debate."""
    names = [name for name in table.names if name not in columns and not _ORDER.search(name)]
    block, doubtful_columns = find_rank_block(table.frame, names)
    if len(block) == len(columns) and not doubtful_columns:
        refuse_several_ranks([[*columns], block])


_ORDER = re.compile("order|position|pos_|display|shown|serv", re.I)


def _refuse_answers_to_tasks(cells: Any) -> None:
    """Raise DataError if a row ranks more options than there are, as answers to tasks do."""
    n_ranked = cells.count(axis=1).max()
    if any(map(mentions_choice, cells)) and n_ranked > cells.stack().nunique():
        raise DataError(
            f"Columns {shorten(list(cells))} contain the same label twice in a row, so they are no"
            " ranks. If they are answers to several tasks, write one row per task, or add the table"
            " of the tasks with ",
            Argument("design"),
            "; if they are ranks, rank each option once.",
        )


def _refuse_ranked_products(table: RawTable, columns: tuple[str, ...]) -> None:
    """Raise DataError if columns 1, 2, ... have ranks or numbers of products in other columns."""
    traits = [name for name in list_numbered_columns(table.names) if name not in columns]
    if len(traits) < len(columns) or not are_rank_rows(list_rows(table.frame, columns)):
        return
    raise DataError(
        f"Columns {shorten(traits, 4)} may describe products that {shorten(columns, 3)} rank."
        " Rankings of described products are not read: for the first choices, write the number of"
        " the best in a column 'choice' instead of the ranks. If options are ranked that are"
        " called 1, 2, ..., set ",
        Setting("without", traits),
        ".",
    )


def _refuse_counted_ranks(table: RawTable, columns: tuple[str, ...]) -> None:
    """Raise DataError if columns of ranks may count how often each option had the rank."""
    cells: Any = table.frame[[*columns]]
    options = [
        name
        for name in table.names
        if not has_numbers(table.frame[name]) and table.frame[name].is_unique
    ]
    if not options or cells.select_dtypes("number").shape != cells.shape:
        return
    has_few_labels = 2 * cells.stack().nunique() <= cells.size
    if has_few_labels or cells.sum().nunique() > 1:  # each ranking has an option of each rank
        return
    raise DataError(
        f"Columns {shorten(columns, 3)} may count how often each {options[0]!r} had each rank:"
        " their sums are equal. Such counts do not show who ranked which options; expected"
        " one ranking per row. If the numbers are labels of options, give the name of the column"
        " of respondents with ",
        Argument("respondent"),
        ".",
    )


def _refuse_worst_first(name: str) -> None:
    """Raise DataError if the name of a column of rankings says that the worst may be first."""
    words = list_name_words(name)
    worst_positions = [
        k for k, word in enumerate(words) if mentions_rejection(word) or word in _FIRST_OUT
    ]
    if worst_positions and {*BEST.sure}.isdisjoint(words[: worst_positions[0]]):
        raise DataError(
            f"By its name, column {name!r} may have the worst option first. If it does, reverse its"
            " rankings; in either case, rename the column."
        )


_FIRST_OUT = {"reverse", "reversed", "inverse", "elimination"}
_POINTS = {*SCORE.synonyms, "point", "pts", "puntos", "rating", "importance", "wichtigkeit"}


def _refuse_points(columns: tuple[str, ...]) -> None:
    """Raise DataError if all columns of ranks are called points, of which the most are the best."""
    shared_words = set.intersection(*(set(list_name_words(name)) for name in columns))
    if _POINTS.isdisjoint(shared_words) or not shared_words.isdisjoint(RANK.synonyms):
        return
    raise DataError(
        f"The numbers in {shorten(columns, 3)} may be ranks or points. If 1 is the best, set ",
        Setting("unranked", "absent"),
        "; if the highest number is the best, they are scores: use ",
        InPython("th.leaderboard", "thali leaderboard"),
        ", and give the name of the column of respondents with ",
        Argument("item"),
        ".",
    )


def _numbers_rows(column: Any, places: np.ndarray, may_be_letters: bool) -> bool:
    """Return whether a column contains 1, 2, ... or A, B, ... in each set."""
    if counts_up(column, places):
        return True
    if not may_be_letters:
        return False
    letters = dict(enumerate(ascii_uppercase))
    return [format_label(cell).upper() for cell in column] == [letters.get(k) for k in places]


def _refuse_other_ranks(table: RawTable, ranking_columns: RankingColumns) -> None:
    """Raise DataError if a long table may rank described products, or list ratings by position."""
    frame = table.frame
    option, rank = ranking_columns.columns
    keys = keep_given(ranking_columns.respondent, ranking_columns.group)
    if not keys:
        return
    sets = frame.groupby([*keys])
    options = frame.groupby(option)
    other_columns = [
        name
        for name in table.names
        if name not in ranking_columns.used
        and varies_within(options, name)
        and varies_within(sets, name)
        and not frame[name].is_unique
    ]
    is_alternative = simplify_name(option) in ALTERNATIVE.sure
    if other_columns and _numbers_rows(frame[option], sets.cumcount().to_numpy(), is_alternative):
        raise DataError(
            f"Column {option!r} numbers the options of each ranking, and other columns"
            f" ({shorten(other_columns)}) describe them. Rankings of described products are not"
            " read: for the first choices, replace the ranks by 1 for the first and 0 for the"
            " others, in a column 'chosen'; if the numbers are the options, give the name of the"
            " column with ",
            Argument("option"),
            ".",
        )
    identifiers = find_divided_columns(table.frame, keys[0], other_columns)
    ratings = [
        name
        for name in other_columns
        if has_numbers(frame[name])
        and name not in identifiers  # of respondents, if the other column is a trait
        and not measures_answers(name)
        and not ranks_rows(frame[name], sets)
    ]
    if ranking_columns.respondent is None or not ratings or not has_numbers(frame[rank]):
        return
    deviations: Any = frame[[rank, *ratings]] - sets[[rank, *ratings]].transform("mean")
    correlations = deviations[ratings].corrwith(deviations[rank]).abs()
    if correlations.max() * np.sqrt(len(frame)) > _MIN_CORRELATION:
        return
    raise DataError(
        f"Column {rank!r} may contain ranks or the position in which each {option!r} was shown: it"
        f" is unrelated to the numbers in {shorten(ratings, 4)}, which may be ratings. If it"
        " contains ranks, give its name with ",
        Argument("rank"),
        "; ratings are scores, which are for leaderboards.",
    )


_MIN_CORRELATION = 3.0  # with ranks, in standard errors, from which on numbers are related to them


def _shows_positions(table: RawTable, rank: str) -> bool:
    """Return whether an option of each set is marked, so that ranks are positions shown."""
    marks = find_long_columns(table.frame, {})
    if marks is not None:
        ranks: Any = table.frame.groupby(marks.best)[rank]
        if ranks.nunique().min() > 1:
            return True
    if any(has_marks(get_column(table.frame, name)) for name in filter(asks_for_odd, table.names)):
        return True
    return is_long_table(table.frame) or describes_products(table, {})


def _has_other_answers(table: RawTable) -> bool:
    """Return whether a table that looks like rankings also has other answer columns."""
    # Options or levels called 1, 2, 3 then look like ranks.
    name_by_simplified = map_plain_names(table.names)
    return bool(
        ODD.find_column(name_by_simplified)
        or (BEST.find_column(name_by_simplified) and WORST.find_column(name_by_simplified))
        or find_best_columns(table.frame, {})
        or describes_products(table, {})
        or find_wide_tasks(table.frame, {})
    )


def _are_sets(table: RawTable, columns: tuple[str, ...]) -> bool:
    """Return whether columns called choice1, choice2, ... are sets, or chosen from sets."""
    # two columns of numbers are answers to two questions
    if len(columns) == 2 and all(has_numbers(get_column(table.frame, name)) for name in columns):
        return True
    readings = find_best_columns(table.frame, {})
    answers = {reading.best for reading in readings}
    if answers.issuperset(columns) or any(columns == reading.options for reading in readings):
        return True
    # a column of answers names an option, now here, now there; in two columns, an option shown may
    # always be one of the best two
    return len(columns) > 2 and any(
        answers_by_place(table.frame, name, columns)
        for name in table.names
        if name not in columns and simplify_name(name) in _ANSWERS_BY_PLACE
    )


_ANSWERS_BY_PLACE = {*CHOSEN.synonyms, *CHOSEN_OF_TWO.synonyms, *BEST.synonyms, *ODD.synonyms}


def find_rankings_lack(table: RawTable) -> Lack | None:
    """Return the missing column of options next to a column of ranks; else None."""
    name_by_simplified = map_plain_names(table.names)
    option, rank, respondent, task = (
        role.find_column(name_by_simplified) for role in (OPTION, RANK, RESPONDENT, TASK)
    )
    if rank is not None and option is None:
        return Lack(f"a column with the options ranked in {rank!r}", "option", 2)
    if rank is None and option is not None and respondent is not None:
        for name in table.names:
            cells = get_column(table.frame, name)
            if name in (respondent, option, task) or not has_numbers(cells):
                continue
            ranks = cells.groupby(get_column(table.frame, respondent)).rank()
            if cells.max() > 1 and (cells == ranks).all():
                return Lack(
                    f"a column such as 'rank' (does {name!r} contain the ranks?)", "rank", 3
                )
    missing_rank = find_missing_rank(table.frame, table.names)
    if missing_rank is not None:
        column, code = missing_rank
        return Lack(
            f"ranks in some rows: column {column!r} contains {code} (if an option was not ranked,"
            " leave its cell empty)",
            near=4,
        )
    ranks, other_columns = find_rank_block(table.frame, table.names)
    if other_columns:
        return Lack(
            f"ranks in {shorten(other_columns)}, whose numbers are like those in {shorten(ranks)}"
            " (drop all others if only these are ranks)",
            near=2,
        )
    return None


RANKINGS = Shape(
    _RANKINGS,
    CHOICES,
    match_rankings,
    expected="columns such as 'rank1' and 'rank2', or 'respondent', 'option' and 'rank'",
    roles=(OPTION, RANK, RESPONDENT, COUNT),
    settings=("unranked", "weights"),
    named_by=("option", "rank", "unranked"),
    lacks=find_rankings_lack,
    main=("respondent",),
)


# Best-worst choices: one set per row, with its best and its worst option --------------------------


_BEST_WORST = "table of best-worst choices"


def match_best_worst(
    table: RawTable,
    trait: str | None = None,
    weights: bool = False,
    task: str | None = None,
    **named_columns: str | None,
) -> Reading | None:
    """Return a `Reading` of a best-worst table; None for other tables."""
    if task is not None:
        frame = table.frame.drop(columns=task).assign(task=table.frame[task])
        table = replace(table, frame=frame)
    if trait is not None:
        table, answers = _select_trait(table, trait)
        named_columns |= answers
    named_answers = keep_given(named_columns.get("best"), named_columns.get("worst"))
    columns = find_long_columns(table.frame, named_columns)
    if columns is not None and len(named_answers) < 2:
        _refuse_described_options(table, columns)
    if columns is None:
        table = replace(table, frame=expand_lists(table.frame))
        try:
            columns = find_best_worst_columns(table.frame, named_columns)
        except DataError:
            if not named_answers:
                _refuse_several_traits(table)
                return None
        else:
            if len(named_answers) < 2:
                _refuse_described_sets(table.frame, columns)
    return _build_best_worst_reading(_BEST_WORST, table, columns, named_columns, weights)


# without descriptions, products are options
_UNDESCRIBED = (
    "; if descriptions do not matter, give the names of the answers with ",
    Argument("best"),
    " and ",
    Argument("worst"),
)


def _refuse_described_options(table: RawTable, columns: LongBestWorst) -> None:
    """Raise DataError if options of a long best-worst table are products that differ by task."""
    options = {"chosen": columns.best, "alternative": columns.option, "task": columns.task}
    products = replace(table, frame=table.frame.drop(columns=columns.worst))
    if describes_products(products, options | {"respondent": columns.respondent}):
        raise DataError(
            f"Column {columns.option!r} numbers products that other columns describe, of which"
            f" {columns.best!r} marks the best. If they are choices of products, name this column"
            " with ",
            Argument("chosen"),
            *_UNDESCRIBED,
            ".",
        )


def _refuse_described_sets(frame: pd.DataFrame, columns: BestWorstColumns) -> None:
    """Raise DataError if the columns of sets describe products, of which one is the best."""
    tasks = find_wide_tasks(frame, {"chosen": columns.best})
    if tasks is None:
        return
    descriptions = {name for group in tasks.attributes.values() for name in group.values()}
    remedy: tuple[Any, ...] = ()
    # an attribute may have a level twice in a row, unlike the options of a set
    if len(descriptions) <= len(columns.options) or not any(
        has_repeats(list(filter(None, row))) for row in list_rows(frame, columns.options)
    ):
        descriptions -= set(columns.options)
        remedy = _UNDESCRIBED
        if not any(has_numbers(frame[name]) for name in descriptions):
            return
    raise DataError(
        f"The columns {shorten(sorted(descriptions), 6)} describe products, of which"
        f" {columns.best!r} contains the best. If they are choices of products, name this column"
        " with ",
        Argument("chosen"),
        *remedy,
        ".",
    )


def _refuse_several_traits(table: RawTable) -> None:
    """Raise DataError if the best and worst options of several sets or traits are given."""
    columns_by_trait = list_traits(table.names)
    if len(columns_by_trait) < 2:
        return
    answer_columns = [name for columns in columns_by_trait.values() for name in columns]
    examples = " and ".join(map(repr, answer_columns[:2]))
    prefixes = keep_given(*map(commonprefix, columns_by_trait.values()))
    other_columns = [
        name for name in table.names if name not in answer_columns and not name.startswith(prefixes)
    ]
    if any(len(series) > 2 for series in find_column_series(other_columns)):
        raise DataError(
            f"The table contains the best and worst options (such as {examples}) of several traits:"
            f" {shorten(list(columns_by_trait))}. Choose one with ",
            Argument("trait"),
            ".",
        )
    set_columns = [name for name in table.names if name.startswith(prefixes[-1:])]
    if len(set_columns) > 2:
        raise DataError(
            f"Each row contains several sets, such as {shorten(set_columns)}; write one row per set"
            " (pandas.wide_to_long), with columns such as 'option1', 'option2', 'option3',"
            " 'best' and 'worst'."
        )
    if all(trait[-1:].isdigit() for trait in columns_by_trait):
        raise DataError(
            f"Each row contains the best and worst options of several sets (such as {examples}),"
            " but not their other options; give the file with the options of each set with ",
            Argument("design"),
            ".",
        )


def _select_trait(table: RawTable, trait: str) -> tuple[RawTable, dict[str, str]]:
    """Return a table without the other traits, and the trait's columns of best and worst."""
    columns_by_trait = list_traits(table.names)
    name_by_simplified = map_plain_names(columns_by_trait)
    name = name_by_simplified.get(simplify_name(trait))
    if name is None:
        problem = "no trait has columns of best and worst options, such as yield_pos and yield_neg."
        if columns_by_trait:
            traits = list(columns_by_trait)
            problem = f"the traits are {shorten(traits)}.{suggest(trait, traits)}"
        raise DataError(Argument("trait"), f" is {trait!r}, but {problem}")
    other_columns = [
        column for other, columns in columns_by_trait.items() for column in columns if other != name
    ]
    frame = table.frame.drop(columns=other_columns)
    best, worst = columns_by_trait[name]
    answers = {"best": best, "worst": worst}
    options = find_best_worst_columns(frame, answers).options
    note = ""
    if other_columns and len(options) == N_TRICOT:
        note = describe_agreement(table.frame, name, columns_by_trait, options)
    return replace(table, frame=frame, note=join_notes(table.note, note)), answers


def _build_best_worst_reading(
    name: str,
    table: RawTable,
    columns: BestWorstColumns | LongBestWorst | None,
    named_columns: dict[str, Any],
    weights: bool,
) -> Reading:
    """Build the `Reading` of a table of best options; convert nothing yet."""
    description = name
    roles = None
    if columns is not None:
        description = str(columns)
        if isinstance(columns, BestWorstColumns):
            options, answer = columns.options, None
        else:
            options = columns.option, columns.task
            answer = keep_given(columns.respondent, columns.task)
        roles = ColumnsRead(
            options,
            keep_given(columns.best, columns.worst),
            keep_given(columns.count),
            columns.respondent,
            answer=answer,
        )

    def convert() -> tuple[Choices, str]:
        """Return the choices, and a sentence on how they were read."""
        data = Choices.from_best_worst(table.frame, **named_columns, weights=weights)
        return data, f"{description}: {data}"

    return Reading(CHOICES, name, description, table, convert, roles=roles)


def find_best_worst_lack(table: RawTable) -> Lack | None:
    """Return the missing column of options or of the worst; else None."""
    name_by_simplified = map_plain_names(table.names)
    best_column = BEST.find_column(name_by_simplified)
    worst_column = WORST.find_column(name_by_simplified)
    if best_column is None:
        return None
    if worst_column is not None:
        return Lack(
            "columns with the options offered, from which"
            f" {best_column!r} and {worst_column!r} were chosen",
            near=3,
        )
    if find_column_series([name for name in table.names if name != best_column]):
        return Lack(
            f"a column with the worst option ({best_column!r} was read as the best)", "worst", 3
        )
    return None


BEST_WORST_TABLE = Shape(
    _BEST_WORST,
    CHOICES,
    match_best_worst,
    expected="one set per row, with columns such as 'option1', 'option2', ..., 'best' and 'worst'",
    roles=(TASK_OF_RESPONDENT, BEST, WORST, RESPONDENT, COUNT),
    settings=("trait", "weights"),
    named_by=("best", "worst", "trait"),
    lacks=find_best_worst_lack,
    main=("best", "worst", "respondent"),
)


# Choices of the best: one set per row, with its best option ---------------------------------------


_BEST = "table of sets and the best of each"


def match_best(
    table: RawTable,
    chosen: str | None = None,
    weights: bool = False,
    known: bool = False,
    **named_columns: str | None,
) -> Reading | None:
    """Return a `Reading` of a table of offered options and the best; None for other tables.

    `known`: the data are choices, so the answer is not the odd one out.
    """
    named_columns["best"] = chosen
    task_columns = find_wide_tasks(table.frame, {"chosen": chosen})
    table = replace(table, frame=expand_lists(table.frame))
    readings = find_best_columns(table.frame, named_columns)
    if not readings or (task_columns is not None and not task_columns.has_only_options):
        return None
    anchor = ANCHOR.find_column(map_plain_names(table.names))
    if len(readings) > 1 or anchor is not None:
        raise DataError(_question_answers(readings, keep_given(anchor)))
    (columns,) = readings
    is_asked = chosen is None and not known
    if is_asked and asks_for_odd(columns.best):
        return None
    is_asked &= are_stimuli(columns.options)
    if is_asked and guess_question(table.frame, columns.options) == "odd":
        return None
    if chosen is None:
        used_columns = {*columns.options, columns.best, columns.respondent}
        refuse_questions_of_less(table.frame, used_columns, columns.best, of_two=False)
    return _build_best_worst_reading(_BEST, table, columns, named_columns, weights)


def _question_answers(readings: list[BestWorstColumns], anchors: tuple[str, ...]) -> Message:
    """Return the question what further columns of options mean beside a set and its choice."""
    best_column, *other_columns = [*(columns.best for columns in readings), *anchors]
    return Message(
        f"The columns {shorten([best_column, *other_columns])} contain options besides the set"
        f" in each row ({shorten(readings[0].options)}). If only {best_column!r} is a choice, drop"
        " the others with ",
        Setting("without", other_columns),
        "; if two are the best and the worst, give their names with ",
        Argument("best"),
        " and ",
        Argument("worst"),
        ". Options chosen as the most similar are not preferences.",
    )


BEST_TABLE = Shape(
    _BEST,
    CHOICES,
    match_best,
    roles=(CHOSEN_OF_TWO, RESPONDENT, COUNT),
    settings=("weights", "known"),
    main=("respondent",),
)


SHAPES = LONG_TABLE, RANKINGS, BEST_WORST_TABLE, BEST_TABLE, SIGNED_TABLE
