"""Reading a choice experiment from a wide table, one row per task."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from os.path import commonprefix
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import find_first
from thali._labels import format_label, shorten
from thali.errors import Argument, DataError, Setting

from ..choice_marks import (
    PLACE_WORDS,
    are_often_equal,
    counts_up,
    has_recurring_cells,
    marks_one_choice,
    may_be_groups,
    mentions_choice,
    number_sets,
    order_keys,
)
from ..column_guesses import encode_cells, find_divided_columns
from ..column_readers import (
    FIRST_ROWS,
    add_note,
    find_filled_cells,
    get_column,
    list_labels,
    list_texts,
    match_places,
    read_flags,
)
from ..column_roles import (
    ALTERNATIVE,
    AVAILABLE,
    CHOSEN,
    CHOSEN_OF_TWO,
    GOALS,
    MORE_SIDES,
    NAME_SEPARATORS,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    RESULT,
    SIDES,
    STEMS,
    TASK_OF_RESPONDENT,
    column_names,
    find_named_columns,
    find_no_answers,
    has_numbers,
    list_name_words,
    map_plain_names,
    mentions_rejection,
    simplify_name,
)
from ..respondent_table import has_adjacent_rows, is_constant_within, varies_within
from .dual_response import BOUGHT
from .long_table import list_missing_words

if TYPE_CHECKING:
    import pandas as pd

# an attribute and the number of the alternative, as in pf1, pf2 of R's mlogit
_NUMBERED = re.compile(r"(?P<attribute>.*\D)(?P<label>\d+)")
# likewise with a capital letter, as in ageA, ageB
_LETTERED = re.compile(r"(?P<attribute>.*[a-z])(?P<label>[A-Z])")
_NUMBERED_WORD = re.compile(r"(?P<attribute>[A-Za-z]+)(?P<label>\d+)")
# a word for alternatives before the mark of one, as in profile_A_age
_PLACED = re.compile(
    rf"(?:alternative|alt|concept|{'|'.join(sorted(PLACE_WORDS))})"
    r"[ _.-](?P<label>[A-Za-z]|\d+)[ _.-](?P<attribute>.+)",
    re.I,
)
_NO_ALTERNATIVE = re.compile(r"0|-\d+|9+")
_SIGNS = {"-1", "1"}
_NUMBERS = tuple(str(k) for k in range(1, 100))
LACKING = "(lacks it)"  # cell of an alternative without a column of the attribute
_LONG = ("respondent", "task", "alternative", "chosen")  # columns of the long table that is made


ColumnGroups = dict[str, dict[str, str]]  # attribute -> alternative -> column
NameSplits = list[tuple[str, str, str]]  # attribute, alternative, column


def _list_columns(column_groups: Iterable[Mapping[str, str]]) -> list[str]:
    """List the columns of these groups."""
    return [name for group in column_groups for name in group.values()]


def _is_offer(attribute: str) -> bool:
    """Return whether columns with this name state which alternatives were available."""
    return simplify_name(attribute) in AVAILABLE.sure


class WideTasks(NamedTuple):
    """Columns of a wide table: choice, and attributes of each alternative."""

    alternatives: tuple[str, ...]
    attributes: ColumnGroups
    available: dict[str, str]  # alternative -> column
    respondent: str | None
    task: str | None
    chosen: str
    is_listed: bool = False  # whether the user listed the alternatives
    is_sure: bool = True  # whether the names of the columns are unambiguous
    # the column of whether none of them may be chosen, such as available_none
    none: str | None = None
    marks: tuple[str, ...] = ()  # columns that mark the choice of one alternative again

    @property
    def used(self) -> set[str | None]:
        """Set of all column names that are not None."""
        described_columns = _list_columns((self.available, *self.attributes.values()))
        keys = (self.respondent, self.task, self.chosen, self.none)
        return {*keys, *self.marks, *described_columns}

    @property
    def has_only_options(self) -> bool:
        """Whether the only attribute is the name of an option, as in option_1 and option_2."""
        return {*map(simplify_name, self.attributes)} <= STEMS and len(self.attributes) == 1

    def select_attributes(self, names: Collection[str] | None) -> "WideTasks":
        """Return a copy with only these attributes; with all for None or unknown names."""
        if names is None or not {*names} <= {*self.attributes}:
            return self
        return self._replace(attributes={name: self.attributes[name] for name in names})

    def __str__(self) -> str:
        description = (
            f"one task per row, attributes {shorten(list(self.attributes))} of the alternatives"
            f" {shorten(self.alternatives)}, chosen alternative in {self.chosen!r}"
        )
        if self.available:
            first_mark = next(iter(self.available.values()))
            description += f", offered alternatives marked in {first_mark!r} etc."
        n_alternatives = len(self.alternatives)
        partial_attributes = [
            name for name, group in self.attributes.items() if len(group) < n_alternatives
        ]
        if partial_attributes:
            description += (
                f", {shorten(partial_attributes)} set to 0 where an alternative has no such column"
            )
        return description


def find_wide_tasks(
    frame: "pd.DataFrame",
    named_columns: Mapping[str, str | None],
    alternatives: Sequence[Any] | None = None,
) -> WideTasks | None:
    """Find the columns of alternatives' attributes and of the choice; None if there are none.

    `alternatives` are their names, as in the names of columns.
    """
    all_columns = column_names(frame)
    respondent_column, task_column, chosen_column = find_named_columns(
        map_plain_names(all_columns),
        named_columns,
        (RESPONDENT_OF_TASKS, TASK_OF_RESPONDENT, CHOSEN),
    )
    if _has_row_per_alternative(frame, respondent_column, task_column):
        return None
    role_columns = (respondent_column, task_column, _find_none_offer(all_columns))
    listed_names: tuple[str, ...] = ()
    if alternatives is not None:
        listed_names = tuple(map(format_label, alternatives))
    other_columns = [name for name in all_columns if name not in (*role_columns, chosen_column)]
    if chosen_column is not None:
        wide_tasks = _find_tasks_of_answer(
            frame, chosen_column, other_columns, role_columns, listed_names
        )
        if wide_tasks is not None or named_columns.get(CHOSEN.name) is not None:
            return wide_tasks
    for name in _list_answer_columns(frame, other_columns):
        names = [other for other in other_columns if other != name]
        wide_tasks = _find_tasks_of_answer(frame, name, names, role_columns, listed_names)
        if wide_tasks is not None and _has_measures(frame, wide_tasks):
            return wide_tasks
    return None


def _has_measures(frame: "pd.DataFrame", tasks: WideTasks) -> bool:
    """Return whether alternatives have numbers, or texts that are often equal, unlike options."""
    groups = [tuple(group.values()) for group in tasks.attributes.values()]
    text_groups = [
        group for group in groups if not all(has_numbers(get_column(frame, name)) for name in group)
    ]
    are_sides = tuple(map(simplify_name, tasks.alternatives)) in (*SIDES, *MORE_SIDES)
    if are_sides and len(groups) > 1 and text_groups and not _names_options(frame, tasks):
        has_scores = not {*map(simplify_name, tasks.attributes)}.isdisjoint(GOALS.synonyms)
        if all(
            are_often_equal(frame, group)
            or (not has_scores and len(_list_levels(frame, group)) <= _MAX_LEVELS)
            for group in text_groups
        ):
            return True
    if mentions_choice(tasks.chosen):
        if len(groups) == 1 and has_numbers(get_column(frame, tasks.chosen)):
            return False
    elif are_sides:
        return False
    return len(text_groups) < len(groups)


def _list_levels(frame: "pd.DataFrame", names: Iterable[str]) -> set[str]:
    """Return the different cells of an attribute's columns, as texts."""
    return {text for name in names for text in list_texts(frame, name)}


_MAX_LEVELS = 2  # of texts that are never equal in a row, but are no two options


def _names_options(frame: "pd.DataFrame", tasks: WideTasks) -> bool:
    """Return whether an attribute has a name of options, or answers name its columns or levels."""
    answers = {*list_texts(frame, tasks.chosen)}
    return any(
        simplify_name(attribute) in STEMS - _ATTRIBUTES
        or answers <= {*group.values()}
        or answers <= _list_levels(frame, group.values())
        for attribute, group in tasks.attributes.items()
    )


_ATTRIBUTES = {"brand", "field", "school"}  # names of options that are attributes of profiles, too


def _has_row_per_alternative(
    frame: "pd.DataFrame", respondent: str | None, task: str | None
) -> bool:
    """Return whether each task has several rows, one for each alternative."""
    name_by_simplified = map_plain_names(column_names(frame))
    alternative = next(ALTERNATIVE.find_certain_columns(name_by_simplified), None)
    if alternative is None or task is None:
        return False
    keys = [name for name in (respondent, task) if name is not None]
    has_other_rows = frame.duplicated(keys, keep=False)
    return bool(has_other_rows.all() and not frame.duplicated([*keys, alternative]).any())


def _list_answer_columns(frame: "pd.DataFrame", names: list[str]) -> list[str]:
    """List columns whose texts begin or end names of columns, or whose names mention a choice."""
    joined_names = "\n".join(["", *names, ""]).casefold()
    label_columns = []
    for name in names:
        column = get_column(frame, name).iloc[:FIRST_ROWS]
        if not has_numbers(column):
            cells = _drop_none_words(
                format_label(cell).casefold() for cell in find_filled_cells(column)
            )
            if len(cells) > 1 and all(
                (f"\n{cell}" in joined_names or f"{cell}\n" in joined_names)
                and f"\n{cell}\n" not in joined_names
                for cell in cells
            ):
                label_columns.append(name)
    name_by_simplified = map_plain_names(names)
    answer_columns = [
        *label_columns,
        *filter(mentions_choice, names),
        *CHOSEN_OF_TWO.find_possible_columns(name_by_simplified),
        *RESULT.find_possible_columns(name_by_simplified),
    ]
    return [name for name in answer_columns if not mentions_rejection(name)]


def _find_tasks_of_answer(
    frame: "pd.DataFrame",
    chosen_column: str,
    other_columns: list[str],
    role_columns: tuple[str | None, str | None, str | None],
    listed_names: tuple[str, ...],
) -> WideTasks | None:
    """Find the columns of the alternatives that a column of choices names or numbers."""
    respondent_column, task_column, none_column = role_columns
    chosen_texts = list_labels(frame, [chosen_column])
    number_by_text = match_places(_drop_none_words(chosen_texts) - {*_NUMBERS}, _NUMBERS)
    amount_columns = [name for name in other_columns if get_column(frame, name).dtype.kind == "f"]
    main_labels = set(listed_names) or _drop_none_words(chosen_texts)
    groupings: list[Grouping] = []
    for name_splits, is_separated in _list_groupings(
        other_columns, amount_columns, listed_names, chosen_texts | {*number_by_text.values()}
    ):
        column_groups = _drop_foreign_groups(_group_splits(name_splits), main_labels)
        if column_groups:
            labels = tuple(dict.fromkeys(chain(*column_groups.values())))
            groupings.append(Grouping(column_groups, labels, name_splits, is_separated))
    # codes such as 0 and -9 may be alternatives, else no choice
    alternative_texts = {text for text in chosen_texts if not _NO_ALTERNATIVE.fullmatch(text)}
    for texts in (chosen_texts, alternative_texts):
        fitting_groupings = [
            grouping for grouping in groupings if _fits_choices(grouping, listed_names, texts)
        ]
        if fitting_groupings:
            break
    else:
        return None
    if respondent_columns := _find_respondent_columns(frame, fitting_groupings, respondent_column):
        names = [name for name in other_columns if name not in respondent_columns]
        return _find_tasks_of_answer(frame, chosen_column, names, role_columns, listed_names)
    attributes, labels, name_splits, is_sure = _select_grouping(frame, fitting_groupings)
    # after the choice, a column of only one of numbered alternatives may be a time
    later_columns = set(column_names(frame)[column_names(frame).index(chosen_column) :])
    if not later_columns.isdisjoint(_list_columns(attributes.values())):
        later_columns = set()
    single_columns = {
        attribute: {label: name}
        for attribute, label, name in name_splits
        if attribute not in attributes
        and label in labels
        and not (label.isdigit() and name in later_columns)
        and _varies_like_attribute(frame, name, label, respondent_column)
    }
    answers = get_column(frame, chosen_column)
    marks = tuple(
        name
        for name in _list_columns(single_columns.values())
        if marks_one_choice(get_column(frame, name), answers)
    )
    attributes |= {
        attribute: group
        for attribute, group in single_columns.items()
        if {*marks}.isdisjoint(group.values())
    }
    offers = [attributes.pop(attribute) for attribute in [*attributes] if _is_offer(attribute)]
    available_columns = next(iter(offers), {})
    if len(attributes) == 1 and _contain_choices(frame, chosen_column, *attributes.values()):
        return None
    # without separators and numbers, a single attribute may be due to chance
    if not attributes or (len(attributes) < 2 and not (is_sure or number_by_text)):
        return None
    tasks = WideTasks(
        listed_names or labels,
        attributes,
        available_columns,
        respondent_column,
        task_column,
        chosen_column,
        bool(listed_names),
        is_sure,
        none_column,
        marks,
    )
    return _find_keys(frame, tasks, [name for name in other_columns if name not in tasks.used])


def _find_keys(frame: "pd.DataFrame", tasks: WideTasks, names: list[str]) -> WideTasks:
    """Return the tasks with the respondents in the column that with their numbers is a key."""
    # Each respondent has several tasks. Of two columns called respondents, one may be a trait.
    respondent, task = tasks.respondent, tasks.task
    if respondent is None and task is None:
        return tasks._replace(**_find_numbered_tasks(frame, names))
    if task is None or not has_recurring_cells(frame, task):
        return tasks
    if respondent is not None:
        if not frame.duplicated([respondent, task]).any():
            return tasks
        names = find_divided_columns(
            frame, respondent, RESPONDENT_OF_TASKS.find_possible_columns(map_plain_names(names))
        )
    numbers_by_name = {
        name: number_sets(frame, [name]).tobytes()
        for name in names
        if has_recurring_cells(frame, name)
        and not frame.duplicated([name, task]).any()
        and (respondent is not None or not may_be_groups(frame, name))
    }
    if len(set(numbers_by_name.values())) != 1:
        return tasks
    new_respondent, task = order_keys(next(iter(numbers_by_name)), task)
    return tasks._replace(respondent=new_respondent or respondent, task=task)


def _find_numbered_tasks(frame: "pd.DataFrame", names: list[str]) -> dict[str, Any]:
    """Find a column of respondents and one that numbers the tasks of each from 1; else {}."""
    keys: dict[bytes, dict[str, Any]] = {}
    for respondent in names:
        codes = encode_cells(get_column(frame, respondent))
        is_repeated = 1 < codes.max() + 1 <= len(frame) / 2 and has_adjacent_rows(codes)
        if not is_repeated or may_be_groups(frame, respondent):
            continue
        places = frame.groupby(codes).cumcount().to_numpy()
        for task in names:
            if counts_up(get_column(frame, task), places):
                keys.setdefault(places.tobytes(), {"respondent": respondent, "task": task})
    if len(keys) != 1:
        return {}
    return next(iter(keys.values()))


def _contain_choices(frame: "pd.DataFrame", chosen: str, group: dict[str, str]) -> bool:
    """Return whether each choice is a cell of its row, as of offered options, and no place."""
    if not _choose_cells(frame.head(FIRST_ROWS), chosen, group):
        return False
    choices = list_labels(frame, [chosen])
    places = {"", *group, *_NUMBERS[: len(group) + 1]}  # the last may be no choice
    if choices <= places or not choices <= list_labels(frame, group.values()) | {""}:
        return False
    return _choose_cells(frame, chosen, group)


def _choose_cells(frame: "pd.DataFrame", chosen: str, group: dict[str, str]) -> bool:
    """Return whether each choice is empty or a cell of its row."""
    answers, *cells = (
        np.array(list_texts(frame, name), object) for name in (chosen, *group.values())
    )
    return bool(np.any([answers == "", *(answers == texts for texts in cells)], axis=0).all())


class Grouping(NamedTuple):
    """A way to split names of columns into attributes and alternatives."""

    columns_by_attribute: ColumnGroups
    labels: tuple[str, ...]  # of the alternatives
    name_splits: NameSplits
    is_separated: bool  # whether a separator joins attribute and alternative

    @property
    def columns(self) -> set[str]:
        """Set of all columns of attributes, without availability."""
        return {
            *_list_columns(
                group
                for attribute, group in self.columns_by_attribute.items()
                if not _is_offer(attribute)
            )
        }

    @property
    def strength(self) -> tuple[bool, int, bool]:
        """Marks of the better grouping: availability or numbers, attributes, a separator."""
        return (
            any(map(_is_offer, self.columns_by_attribute)) or _are_numbered(self.labels),
            len(self.columns_by_attribute),
            self.is_separated,
        )


def _find_respondent_columns(
    frame: "pd.DataFrame", groupings: list[Grouping], respondent: str | None
) -> set[str]:
    """Return numbered columns that are constant within respondents and named in another way."""
    # Such are att1 and att2 where all that varies between tasks is called price_1 and price_2, and
    # att_1 and att_2 where it is called price1 and price2.
    if respondent is None or not has_recurring_cells(frame, respondent):
        return set()
    respondent_codes = encode_cells(get_column(frame, respondent))
    all_groups = chain(*(grouping.columns_by_attribute.values() for grouping in groupings))
    codes_by_name = {
        name: encode_cells(get_column(frame, name)) for name in {*_list_columns(all_groups)}
    }
    constant_names = {
        name for name, codes in codes_by_name.items() if is_constant_within(codes, respondent_codes)
    }
    for grouping in groupings:
        have_names = not _are_numbered(grouping.labels) and max(map(len, grouping.labels)) > 1
        if have_names or respondent_codes.max() < _MIN_PEOPLE:
            continue
        groups = [{*group.values()} for group in grouping.columns_by_attribute.values()]
        fixed_groups = [
            names
            for names in groups
            if names <= constant_names and max(codes_by_name[name].max() for name in names) > 0
        ]
        if 0 < len(fixed_groups) < len(groups):
            return set().union(*fixed_groups)
    for grouping, joined in product(groupings, groupings):
        others = joined.columns - grouping.columns
        if joined.is_separated or not others:
            continue
        are_constant = [grouping.columns <= constant_names, others <= constant_names]
        if are_constant == [False, True]:
            return others
        if are_constant == [True, False] and grouping.labels == joined.labels:
            return grouping.columns
    return set()


_MIN_PEOPLE = 3  # respondents but one, in whom an attribute is not constant by chance


def _select_grouping(frame: "pd.DataFrame", groupings: list[Grouping]) -> Grouping:
    """Return the strongest grouping, or that of similar attributes; raise DataError for a tie."""
    strongest = max(grouping.strength for grouping in groupings)
    best = [grouping for grouping in groupings if grouping.strength == strongest]
    if best[0].labels == best[-1].labels:
        return best[0]
    spreads = [_measure_spread(frame, grouping) for grouping in best]
    first, second = np.argsort(spreads, kind="stable")[:2]
    if spreads[first] > spreads[second] * _CLEARLY_LESS:
        raise DataError(
            f"The names of the columns do not show whether {shorten(best[first].labels)} or"
            f" {shorten(best[second].labels)} are the alternatives; list them with ",
            Argument("alternatives"),
            ", in the order of the numbers that code the chosen alternative.",
        )
    return best[first]


_CLEARLY_LESS = 2 / 3  # share of the other grouping's spread


def _measure_spread(frame: "pd.DataFrame", grouping: Grouping) -> float:
    """Return the mean relative range of the means of an attribute's columns."""
    spreads = [0.0]
    for group in grouping.columns_by_attribute.values():
        columns = [get_column(frame, name) for name in group.values()]
        numeric_columns = [column for column in columns if has_numbers(column)]
        if numeric_columns:
            means = [abs(column.mean()) for column in numeric_columns]
            spreads.append(np.ptp(means) / max(*means, 1e-9))
        if 0 < len(numeric_columns) < len(columns):
            return np.inf
    return float(np.mean(spreads))


def _list_groupings(
    columns: list[str],
    amount_columns: list[str],
    listed_names: tuple[str, ...],
    chosen_texts: set[str],
) -> Iterator[tuple[NameSplits, bool]]:
    """Yield (attributes and alternatives of columns, whether a separator joins the two)."""
    # one column per chosen number, such as PPk_Stk and PBB_Stk
    is_prices = commonprefix(amount_columns) in ("P", "p")
    if is_prices and chosen_texts == set(_NUMBERS[: len(amount_columns)]):
        yield [("price", name[1:], name) for name in amount_columns], True
        return
    # the alternative ends a name, or begins it
    known_labels = {*listed_names, *chosen_texts}
    for separator, is_suffix in product(NAME_SEPARATORS, (True, False)):
        name_splits = _split_names(columns, separator, is_suffix)
        yield name_splits, True
        # without price_total and price_diff beside price_1 and price_2
        yield (
            [split for split in name_splits if split[1] in known_labels or split[1].isdigit()],
            True,
        )
    yield _match_names(columns, _PLACED), True
    lettered_splits = _match_names(columns, _LETTERED)
    if {"A", "B"} <= {label for _, label, _ in lettered_splits}:
        yield lettered_splits, False
    labels = listed_names or sorted(_drop_none_words(chosen_texts), key=len)
    splits_by_labels = [_split_by_labels(columns, labels, is_suffix) for is_suffix in (True, False)]
    if any(map(_group_splits, splits_by_labels)):
        yield from ((name_splits, False) for name_splits in splits_by_labels)
        return
    numbered_splits = _match_names(columns, _NUMBERED)
    numbered_groups = _group_splits(numbered_splits)
    foreign_groups = set(numbered_groups).difference(_select_numbered(numbered_groups, {*labels}))
    yield [split for split in numbered_splits if split[0] not in foreign_groups], False


def _drop_foreign_groups(column_groups: ColumnGroups, main_labels: set[str]) -> ColumnGroups:
    """Drop groups of columns, such as hh_size and hh_income, that lack the main alternatives."""
    # chosen numbers do not name alternatives
    label_sets = [set(group) for group in column_groups.values()]
    if label_sets and all(map(str.isdigit, main_labels)):
        most_frequent_labels = max(label_sets, key=label_sets.count)
        if main_labels.isdisjoint(most_frequent_labels):
            main_labels = most_frequent_labels
    kept_groups = {
        attribute: group
        for attribute, group in column_groups.items()
        if not main_labels.isdisjoint(group)
    }
    return kept_groups or column_groups


def _varies_like_attribute(
    frame: "pd.DataFrame", name: str, label: str, respondent: str | None
) -> bool:
    """Return whether the only column of an attribute describes an alternative, no respondent."""
    cells = get_column(frame, name)
    if respondent is None or get_column(frame, respondent).is_unique:
        return cells.nunique() > 1 and not label.isdigit()
    return varies_within(frame.groupby(respondent), name)


def _fits_choices(
    grouping: Grouping, listed_names: tuple[str, ...], chosen_texts: set[str]
) -> bool:
    """Return whether a grouping of columns has the alternatives that were listed or chosen."""
    if listed_names:
        return set(listed_names) <= set(grouping.labels)
    choices = _drop_none_words(chosen_texts)
    has_offers = any(map(_is_offer, grouping.columns_by_attribute))
    if has_offers or match_places(choices, grouping.labels):
        return True
    labels = {*map(simplify_name, grouping.labels)}
    numbers = set(_NUMBERS[: len(labels)])
    numbers_from_zero = {"0", *_NUMBERS[: len(labels) - 1]}
    named_labels = choices - find_no_answers(chosen_texts, grouping.labels)
    simplified_labels = {*map(simplify_name, named_labels)}
    # one other word beside all alternatives is asked about when it is read
    has_other_word = labels < simplified_labels and len(simplified_labels) == len(labels) + 1
    return bool(named_labels) and (
        labels == numbers
        or simplified_labels <= labels
        or has_other_word
        or (named_labels <= {*_NUMBERS} and _are_numbered(grouping.labels))
        or (
            chosen_texts in (numbers, numbers_from_zero, _SIGNS)
            and len(labels) + len(grouping.columns_by_attribute) > 3
        )
    )


def _are_numbered(labels: Collection[str]) -> bool:
    """Return whether labels are 1, 2, ... or opt1, opt2, ..."""
    numbers = {*match_places(labels, _NUMBERS).values()}
    return all(label[-1:].isdigit() for label in labels) and numbers == {*_NUMBERS[: len(labels)]}


def list_numbered_columns(names: list[str]) -> list[str]:
    """List columns price_1, price_2, ... that describe numbered alternatives.

    The list is empty if numbers have gaps or a column of choices exists.
    """
    if CHOSEN.find_column(map_plain_names(names)) is not None:
        return []
    all_splits = [_split_names(names, separator, True) for separator in NAME_SEPARATORS]
    numbered_splits = _match_names(names, _NUMBERED_WORD)
    if len({attribute for attribute, _, _ in numbered_splits}) > 1:
        all_splits.append(numbered_splits)
    for name_splits in all_splits:
        column_groups = _group_splits(name_splits).values()
        if column_groups and all(
            set(group) == set(_NUMBERS[: len(group)]) for group in column_groups
        ):
            return _list_columns(column_groups)
    return []


def _match_names(columns: list[str], pattern: re.Pattern[str]) -> NameSplits:
    """Split names of this pattern into attribute and alternative."""
    matches = filter(None, map(pattern.fullmatch, columns))
    return [(match["attribute"], match["label"], match[0]) for match in matches]


def _split_names(columns: list[str], separator: str, is_suffix: bool) -> NameSplits:
    """Split names that consist of attribute + separator + alternative (or reversed)."""
    name_splits = []
    for column in columns:
        attribute, _, alternative = column.rpartition(separator)
        if not is_suffix:
            alternative, _, attribute = column.partition(separator)
        if attribute and alternative:
            name_splits.append((attribute.strip(), alternative.strip(), column))
    return name_splits


def _split_by_labels(columns: list[str], labels: Sequence[str], is_suffix: bool) -> NameSplits:
    """Split names such as pbeach and pboat (or beachPrice), given the alternatives."""
    name_splits = []
    for name in columns:
        for label in labels:
            attribute = name.removesuffix(label) if is_suffix else name.removeprefix(label)
            if attribute not in ("", name) and not label.isdigit():
                name_splits.append((attribute, label, name))
    return name_splits


def _group_splits(name_splits: Iterable[tuple[str, str, str]]) -> ColumnGroups:
    """Group (attribute, alternative, column) triples by attribute; drop single ones."""
    columns_by_attribute: ColumnGroups = {}
    for attribute, alternative, name in name_splits:
        columns_by_attribute.setdefault(attribute, {})[alternative] = name
    return {name: columns for name, columns in columns_by_attribute.items() if len(columns) > 1}


def _select_numbered(column_groups: ColumnGroups, chosen_labels: set[str]) -> list[str]:
    """Select attributes whose numbered columns match the chosen numbers."""
    # Return none if two sets of attributes are equally large.
    attributes_by_numbers: dict[tuple[str, ...], list[str]] = {}
    for attribute, group in column_groups.items():
        attributes_by_numbers.setdefault(tuple(group), []).append(attribute)
    candidates = [
        attributes
        for numbers, attributes in attributes_by_numbers.items()
        if {*numbers} == chosen_labels
    ]
    candidates = candidates or [*attributes_by_numbers.values()]
    sizes = [*map(len, candidates)]
    if not sizes or sizes.count(max(sizes)) > 1:
        return []
    return max(candidates, key=len)


def _drop_none_words(chosen_texts: Iterable[str]) -> set[str]:
    """Return the chosen labels without words for "none of these"."""
    return {text for text in chosen_texts if simplify_name(text) not in ("0", *NO_CHOICE)}


def _find_none_offer(names: list[str]) -> str | None:
    """Find the column that states whether "none" was offered; else None."""
    # Return None if "none" is an alternative with attributes.
    name_by_simplified = map_plain_names(names)
    possible_names = map("".join, product(AVAILABLE.sure, NO_CHOICE))
    none_column = next(filter(None, map(name_by_simplified.get, possible_names)), None)
    other_names = [name for name in names if name != none_column]
    alternative_names = {
        simplify_name(alternative)
        for separator, is_suffix in product(NAME_SEPARATORS, (True, False))
        for columns in _group_splits(_split_names(other_names, separator, is_suffix)).values()
        for alternative in columns
    }
    if alternative_names & set(NO_CHOICE):
        return None
    return none_column


def add_lacking_word(
    columns: WideTasks, missing: str | Iterable[str] | Mapping[str, Any] | None
) -> Any:
    """Return `missing` with the word for attributes that an alternative lacks."""
    alternatives = set(columns.alternatives)
    incomplete_attributes = [
        attribute for attribute, group in columns.attributes.items() if set(group) != alternatives
    ]
    if not incomplete_attributes:
        return missing
    words_by_attribute = list_missing_words(missing, columns.attributes)
    for attribute in incomplete_attributes:
        words_by_attribute[attribute] = (*words_by_attribute.get(attribute, ()), LACKING)
    return words_by_attribute


def _order_alternatives(
    frame: "pd.DataFrame", columns: WideTasks, label_indices: np.ndarray
) -> tuple[str, ...]:
    """Return the alternatives in the order of columns by which all chosen were available."""
    groups = (columns.available, *columns.attributes.values())
    orders = list(dict.fromkeys(tuple(x) for x in groups if len(x) == len(columns.alternatives)))
    if columns.is_listed or len(orders) < 2:
        return columns.alternatives
    possible_orders = [
        order
        for order in orders
        if all(
            read_flags(frame, column)[label_indices == order.index(label)].all()
            for label, column in columns.available.items()
        )
    ]
    if len(possible_orders) != 1:
        raise DataError(
            f"Column {columns.chosen!r} contains numbers of alternatives, but the columns list"
            f" the alternatives in different orders ({shorten(orders[0])}; {shorten(orders[1])});"
            " list the alternatives in the order of these numbers with ",
            Argument("alternatives"),
            ".",
        )
    return possible_orders[0]


def find_none_word(picked: Iterable[str], labels: Collection[str]) -> str | None:
    """Return the chosen word that means "none of these"; else None."""
    none_words = [text for text in picked if simplify_name(text) in NO_CHOICE]
    return next((text for text in none_words if text not in labels), None)


def build_long_frame(
    frame: "pd.DataFrame",
    columns: WideTasks,
    none: str | Mapping[str, Any] | None,
    bought: str | None,
) -> tuple["pd.DataFrame", Any]:
    """Convert a wide table of tasks to a long one, one row per offered alternative.

    Return the table and the label of the no-choice option.
    """
    import pandas as pd

    _refuse_repeated_tasks(frame, columns)
    chosen_labels, none_label = _read_chosen_labels(frame, columns, none)
    if clashing_names := {*_LONG, BOUGHT} & {*columns.attributes}:
        raise DataError(
            f"The attribute {min(clashing_names)!r} has the same name as a task column; rename the"
            " columns of the attribute."
        )
    respondents = pd.Series(np.arange(len(frame)) + 1, frame.index)
    if columns.respondent is not None:
        respondents = frame[columns.respondent]
    task_labels = respondents.groupby(respondents).cumcount() + 1
    if columns.task is not None:
        task_labels = frame[columns.task]
    task_columns: dict[str, Any] = {"respondent": respondents, "task": task_labels}
    if bought is not None:
        task_columns[BOUGHT] = frame[bought]
    alternative_frames = []
    row_indices = []
    for alternative in filter(None, (*columns.alternatives, none_label)):
        offer_column = columns.available.get(alternative)
        missing_cell = LACKING
        if alternative == none_label:
            offer_column = columns.none
            missing_cell = None
        is_offered = np.ones(len(frame), bool)
        is_chosen = chosen_labels == alternative
        if offer_column is not None:
            is_offered = read_flags(frame, offer_column)
        if (row := find_first(is_chosen & ~is_offered)) is not None:
            raise DataError(
                f"{alternative!r} was chosen in row {frame.index[row]}, but was not"
                " available; correct or remove the row."
            )
        cells = task_columns | {"alternative": alternative, "chosen": is_chosen.astype(int)}
        for name, group in columns.attributes.items():
            cells[name] = missing_cell
            if alternative in group:
                cells[name] = frame[group[alternative]]
        alternative_frames.append(pd.DataFrame(cells).loc[is_offered])
        row_indices.append(np.flatnonzero(is_offered))
    row_order = np.argsort(np.concatenate(row_indices), kind="stable")
    long_frame = pd.concat(alternative_frames, ignore_index=True).iloc[row_order]
    return long_frame.reset_index(drop=True), none_label


def _refuse_repeated_tasks(frame: "pd.DataFrame", columns: WideTasks) -> None:
    """Raise DataError if respondents or tasks are numbered anew in each block of rows."""
    keys = [columns.respondent, columns.task]
    if None in keys:
        return
    n_rows: Any = frame.groupby(keys).size().max()
    for name in column_names(frame):
        is_block = name not in columns.used and 1 < get_column(frame, name).nunique() == n_rows
        if is_block and not frame.duplicated([*keys, name]).any():
            raise DataError(
                f"Tasks have the same respondent and number, but different cells in {name!r}. If"
                f" {columns.respondent!r} numbers different respondents in each {name!r}, write a"
                " column that joins both and give its name with ",
                Argument("respondent"),
                f"; otherwise, write a column that joins {name!r} and {columns.task!r} and give"
                " its name with ",
                Argument("task"),
                ".",
            )


def _read_chosen_labels(
    frame: "pd.DataFrame", columns: WideTasks, none: str | Mapping[str, Any] | None
) -> tuple[np.ndarray, str | None]:
    """Return the chosen alternative of each row, and the label of the no-choice option."""
    alternatives = columns.alternatives
    chosen_texts = list_texts(frame, columns.chosen)
    numbered_labels = [*alternatives]
    none_label = find_none_word(chosen_texts, alternatives)
    if none is not None:
        none_label = format_label(none)
    elif none_label is None and columns.none is not None:
        none_label = NO_CHOICE[0]  # perhaps offered but never chosen
        if "0" in chosen_texts:
            none_label = "0"
        numbered_labels.append(none_label)
    other_texts = {*chosen_texts} - {*alternatives, none_label}
    label_by_simplified = map_plain_names(alternatives)
    label_by_text = {
        text: label_by_simplified[simplify_name(text)]
        for text in other_texts
        if simplify_name(text) in label_by_simplified
    }
    # plain numbers count in the order of the columns, which is checked below
    are_places = other_texts.isdisjoint(_NUMBERS) and {*alternatives}.isdisjoint(chosen_texts)
    if not label_by_text and are_places:
        label_by_text = match_places(other_texts, alternatives)
    chosen_labels = np.array([label_by_text.get(text, text) for text in chosen_texts], object)
    codes = {*chosen_labels} - {none_label}
    if codes <= {*alternatives}:
        return chosen_labels, none_label
    code_texts = [*_NUMBERS]
    if codes & {"0", "-1"}:
        code_texts = _list_unusual_codes(frame, columns, codes)
    index_by_code = dict(zip(code_texts, range(len(numbered_labels)), strict=False))
    if not codes <= {*index_by_code}:
        wrong_codes = codes.difference(alternatives, index_by_code) or codes - {*alternatives}
        row = int(np.isin(chosen_labels, [*wrong_codes]).argmax())
        raise _build_unknown_choice_error(columns, chosen_labels[row], frame.index[row])
    label_indices = np.array([index_by_code.get(text, -1) for text in chosen_labels])
    numbered_labels[: len(alternatives)] = _order_alternatives(frame, columns, label_indices)
    numbered_labels.append(str(none_label))  # index -1
    return np.array(numbered_labels, object)[label_indices], none_label


_LETTERS = {"left": "L", "right": "R"}  # of alternatives, in the names of columns


def _list_unusual_codes(frame: "pd.DataFrame", columns: WideTasks, codes: set[str]) -> list[str]:
    """Return the codes of the alternatives, such as 0 and 1; raise DataError if unclear."""
    # in a column such as chose_left, 1 means the alternative in its name
    n_alternatives = len(columns.alternatives)
    words = {*list_name_words(columns.chosen)}
    words.update(letter for word, letter in _LETTERS.items() if word in words)
    words.update(re.findall(r"(?<![^\W_])[A-Z](?![^\W_])", columns.chosen))  # as in chose_A
    named = [
        k
        for k, label in enumerate(columns.alternatives)
        if label in words or (len(label) > 1 and simplify_name(label) in words)
    ]
    if codes <= {"0", "1"} and n_alternatives == 2 and len(named) == 1:
        return [["1", "0"], ["0", "1"]][named[0]]
    unusual_codes = ["0", *_NUMBERS]
    if codes == _SIGNS and n_alternatives == 2:
        unusual_codes = sorted(_SIGNS)
    possible_codes = {*unusual_codes[:n_alternatives]}
    if codes <= possible_codes and columns.is_listed:
        return unusual_codes
    if codes == possible_codes and n_alternatives > 2:
        add_note(f"{columns.chosen!r} numbers the alternatives from 0")
        return unusual_codes
    first_code = min(codes & {"0", "-1"})
    row = list_texts(frame, columns.chosen).index(first_code)
    order_advice: list[Any] = []
    if codes <= possible_codes:
        order_advice = [
            "; if it is the first alternative, list the alternatives in the order of the numbers"
            " with ",
            Argument("alternatives"),
        ]
    raise _build_unknown_choice_error(columns, first_code, frame.index[row], *order_advice)


def _build_unknown_choice_error(
    columns: WideTasks, text: str, row_label: Any, *advice: Any
) -> DataError:
    """Return the error that a chosen text is not one of the alternatives."""
    return DataError(
        f"Column {columns.chosen!r} contains {text!r} in row {row_label}, which is not one of the"
        f" alternatives {shorten(columns.alternatives)}. If this means that none of them was"
        " chosen, set ",
        Setting("none", text),
        "; if it codes a missing answer, leave these rows out with ",
        Setting("where", f"{columns.chosen!r} != {text!r}"),
        *advice,
        ".",
    )
