"""A choice experiment from a long table: one row an alternative of a task."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import is_list
from thali._inference.warn import warn
from thali._labels import as_label, plural, shorten, suggest
from thali.errors import Argument, ArgumentError, Clause, DataError, DataWarning, Message, Setting

from ..columns import (
    NO,
    YES,
    select_answered_rows,
    convert_frame,
    get_column,
    read_flags,
    note,
    is_row_number,
    rename_as_text,
    classify_yes_no,
)
from ..people import build_people_table
from ..roles import (
    ALTERNATIVE,
    AVAILABLE,
    CHOSEN,
    NO_CHOICE,
    RESPONDENT_OF_TASKS,
    TASK,
    map_plain_names,
    simplify_name,
)
from .dual import NOTHING, refuse_both, with_nothing
from .levels import (
    BINS,
    GIVEN,
    bin_labels,
    cut_points,
    distinct_texts,
    given_order,
    natural_order,
    numbers_of,
    row_texts,
)
from .scheme import (
    HELD_OUT,
    INSIDE,
    Attribute,
    Scheme,
    Where,
    first_appearance,
    none_rows,
    refuse_twice,
)

if TYPE_CHECKING:
    import pandas as pd


class RowLabels(NamedTuple):
    """The labels of each row of the table."""

    person: np.ndarray
    task: np.ndarray
    alternative: np.ndarray | None

    def where(self, row: int) -> str:
        """The place of a row, in words."""
        named = f"of alternative {self.alternative[row]!r} " if self.alternative is not None else ""
        return f"{named}{self.where_task(row)}"

    def where_task(self, row: int) -> str:
        """The task of a row, in words."""
        return f"in task {self.task[row]!r} of respondent {self.person[row]!r}"


def none_where(
    frame: "pd.DataFrame", none: Any, alternative: str | None
) -> tuple[tuple[str, str], ...]:
    """Which columns hold which labels in rows of the no-choice option."""
    if none is None:
        return ()
    if isinstance(none, Mapping):
        if not none:
            raise ArgumentError(
                Argument("none"),
                " is an empty mapping; give a column and its value, such as {'brand': 'none'}.",
            )
        return tuple(
            (str(get_column(frame, str(name)).name), as_label(value)) for name, value in none.items()
        )
    label = as_label(none)
    labels = [] if alternative is None else distinct_texts(get_column(frame, alternative))[1]
    if label in frame.columns and label not in labels:
        if not set(row_texts(get_column(frame, label))) <= {"0", "1", "True", "False", "true", "false"}:
            raise DataError(
                f"Column {label!r}, named by ",
                Argument("none"),
                ", must contain 1 for the no-choice option and 0 elsewhere.",
            )
        return ((label, "1"),)
    if label in frame.columns:
        raise DataError(
            Setting("none", label),
            " is both a column and an alternative; rename one, or give the column and its value.",
        )
    if alternative is None:
        raise DataError(
            Setting("none", label),
            " is not a column, and there is no column of alternatives; name that with ",
            Argument("alternative"),
            ".",
        )
    return ((alternative, label),)


def never_none(
    where: tuple[tuple[str, str], ...], frame: "pd.DataFrame", alternative: str | None
) -> Message:
    name, label = where[0]
    known = [text for text in distinct_texts(get_column(frame, name))[1] if text]
    if len(where) == 1 and name == alternative:
        return Message(
            Argument("none"),
            f" is {label!r}, but there is no such alternative; the alternatives are"
            f" {shorten(known)}.{suggest(label, known)}",
        )
    cells = " and ".join(f"{label!r} in column {name!r}" for name, label in where)
    return Message(Argument("none"), f" is {cells}, but no row has this value; correct the value.")


class Bare(NamedTuple):
    """Rows without attributes, one a task at most."""

    rows: np.ndarray  # (rows,) bool
    lacking: np.ndarray  # (names,) which columns they lack; no other row does
    labels: set[str]  # of their alternatives


def _bare_rows(frame: "pd.DataFrame", names: list[str], rows: RowLabels, text: str) -> Bare | None:
    """The rows in which several attributes, or the only one, hold this text, which no other row has
    in any of them."""
    there = []
    for name in names:
        codes, texts = distinct_texts(get_column(frame, name))
        there.append(np.isin(codes, [k for k, own in enumerate(texts) if own == text]))
    bare = np.array(there)
    lacking: np.ndarray = np.any(bare, axis=1)
    looks: np.ndarray = np.all(bare[lacking], axis=0)
    if (
        not looks.any()
        or (bare[lacking].any(axis=0) & ~looks).any()
        or 1 == lacking.sum() < len(names)
    ):
        return None
    tasks = set(zip(rows.person[looks], rows.task[looks], strict=True))
    if len(tasks) < looks.sum():
        return None
    labels = set() if rows.alternative is None else set(map(str, rows.alternative[looks]))
    return Bare(looks, lacking, labels)


def none_that_is_said(
    frame: "pd.DataFrame", names: list[str], rows: RowLabels, alternative: str | None
) -> tuple[tuple[str, str], ...]:
    """Where a table says itself that rows without attributes are the no-choice option; refused if
    it only looks so.

    It does by their label, or, as Sawtooth's files do, by a 0 of all attributes in the same
    alternative of every task.
    """
    if (found := _bare_rows(frame, names, rows, "")) is not None:
        if (
            alternative is not None
            and len(found.labels) == 1
            and simplify_name(min(found.labels)) in NO_CHOICE
        ):
            return ((alternative, min(found.labels)),)
        option = Setting("none", min(found.labels)) if len(found.labels) == 1 else Argument("none")
        without = shorten([names[place] for place in np.flatnonzero(found.lacking)])
        raise DataError(
            f"No value is given for {without} {rows.where(int(found.rows.argmax()))}; if this row"
            " is the no-choice option, set ",
            option,
            "; otherwise, fill in the missing values.",
        )
    zeros = _bare_rows(frame, names, rows, "0")
    if alternative is None or zeros is None or zeros.lacking.sum() < 2 or len(zeros.labels) > 1:
        return ()
    tasks, task = np.unique(
        list(zip(rows.person, rows.task, strict=True)), axis=0, return_inverse=True
    )
    others = [name for name, lacks in zip(names, zeros.lacking, strict=True) if not lacks]
    codes = [distinct_texts(get_column(frame, name))[0] for name in others]
    if zeros.rows.sum() < len(tasks) or any(
        len(set(zip(task.ravel(), own, strict=True))) > len(tasks) for own in codes
    ):
        return ()
    return ((alternative, min(zeros.labels)),)


# A choice experiment from a long table: one row an alternative of a task --------------------------


# Which row of each task was chosen: 1 and 0, yes and no, or the alternative chosen in every row ---


def chosen_rows(frame: "pd.DataFrame", name: str, rows: Any) -> np.ndarray:
    """Whether each row is the alternative chosen; `rows` has the labels of person, task and
    alternative."""
    codes, texts = distinct_texts(get_column(frame, name))
    meaning = {
        text: int(text.casefold() in YES) for text in texts if text.casefold() in (*YES, *NO)
    }
    values = np.array([meaning.get(text, -1) for text in texts])[codes]
    if (values >= 0).all():
        return values.astype(bool)
    picked = np.array(texts, dtype=object)[codes]
    task = _tasks(rows)
    first = np.unique(task, return_index=True)[1]
    same = (picked == picked[first][task]).all()
    if same and rows.alternative is not None and set(picked) <= set(rows.alternative):
        return picked == rows.alternative
    place = _places(task)
    if same and rows.alternative is None and set(picked) <= set(map(str, np.unique(place))):
        return picked == place.astype(str)
    row = int((values < 0).argmax())
    what = f"is {texts[codes[row]]!r}" if texts[codes[row]] else "is empty"
    raise DataError(
        f"Column {name!r} {what} {rows.where_task(row)}; it must be 1 for the chosen alternative"
        " and 0 for the others."
    )


def _tasks(rows: Any) -> np.ndarray:
    """The number of the task of each row."""
    import pandas as pd

    person, task = pd.factorize(rows.person)[0], pd.factorize(rows.task)[0]
    return np.unique(person * (int(task.max()) + 1) + task, return_inverse=True)[1]


def _places(task: np.ndarray) -> np.ndarray:
    """The place of each row in its task, from 1."""
    order = np.argsort(task, kind="stable")
    start = np.flatnonzero(np.diff(task[order], prepend=-1))
    sizes = np.diff(np.append(start, len(task)))
    place = np.empty(len(task), np.int64)
    place[order] = np.arange(len(task)) - np.repeat(start, sizes) + 1
    return place


class ExperimentArrays(NamedTuple):
    """What a `ChoiceExperiment` holds, in its order of rows."""

    scheme: Scheme
    respondents: tuple[str, ...]
    first_task: np.ndarray
    first_row: np.ndarray
    chosen: np.ndarray
    products_of_rows: np.ndarray  # (rows, attributes)
    is_none: np.ndarray  # (rows,) whether it is the no-choice option
    task_labels: np.ndarray
    alternative_labels: np.ndarray
    people: "pd.DataFrame | None" = None


def choices_of(
    frame: "pd.DataFrame",
    columns: tuple[Any, Any, Any, Any],
    attributes: Iterable[Any] | None,
    levels: Mapping[Any, Any] | None,
    none: Any,
    bins: Mapping[Any, Any] | None,
    missing: Any,
    inside: bool,
    bought: str | None,
) -> ExperimentArrays:
    """Check the table and number its respondents, tasks, alternatives and levels; see
    `from_frame`."""
    frame = convert_frame(frame)
    frame = rename_as_text(frame)
    if not len(frame):
        raise DataError("The table has no rows, so it contains no tasks.")
    refuse_both(none, bought)
    if bought is not None:
        get_column(frame, bought)
    names = [name for name in frame.columns if name != bought]
    respondent, task, alternative, chosen = task_columns(names, *columns)
    frame = select_answered_rows(
        frame, [chosen], [alternative] if alternative else (), task_columns=(respondent, task)
    )
    asked = {
        str(name)
        for each in (attributes, levels, bins)
        if not isinstance(each, str)
        for name in each or ()
    }
    marks = [
        name
        for name in frame.columns
        if name not in {respondent, task, alternative, chosen, bought} | asked
    ]
    frame = _offered_rows(frame, marks, chosen, _rows(frame, respondent, task, alternative))
    rows = _rows(frame, respondent, task, alternative)
    if bought is not None:
        numbers, picked = _tasks(rows), chosen_rows(frame, chosen, rows)
        if task == respondent:  # everybody had one task, and now perhaps two
            task = next(
                name for name in ("task", "task of respondent") if name not in frame.columns
            )
            frame = frame.assign(**{task: "1"})
        frame, alternative = with_nothing(
            frame, numbers, picked, (task, alternative, chosen), bought
        )
        rows, none = _rows(frame, respondent, task, alternative), {alternative: NOTHING}
    person = rows.person
    _refuse_idle(get_column(frame, respondent), person, respondent)
    where = none_where(frame, none, alternative)
    names = _attribute_names(
        frame, attributes, {respondent, task, alternative, chosen}, where, none
    )
    if not where and missing is None:
        where = none_that_is_said(frame, names, rows, alternative)
    is_none = none_rows(frame, where)
    if where and not is_none.any():
        raise DataError(never_none(where, frame, alternative))
    found = _attributes(
        frame, names, is_none, _texts(levels, "levels"), _texts(bins, "bins"), missing, rows.where
    )
    # a declared level "none" of the option that has none
    if where and where[0][0] in names and len(where) == 1:
        place = names.index(where[0][0])
        shown = tuple(level for level in found[place].levels if level != where[0][1])
        found[place] = found[place]._replace(levels=shown)
    scheme = Scheme(
        respondent, task, alternative, chosen, tuple(found), where, bool(inside and where)
    )
    picked = chosen_rows(frame, chosen, rows)
    choices = _in_order(scheme, rows, scheme.products(frame, rows.where), picked, is_none)
    asked = {name for name, _ in where} | set(_texts(levels, "levels")) | set(_texts(bins, "bins"))
    choices, constant = _without_constant(choices, asked, guessed=attributes is None)
    described = {attribute.name for attribute in choices.scheme.attributes}
    if INSIDE in described:
        raise DataError(
            f"The attribute name {INSIDE!r} is reserved for the utility of buying any product;"
            " rename the column."
        )
    _refuse_single(choices.scheme.attributes)
    attributes_and_roles = {respondent, task, alternative, chosen, *described}
    further = [name for name in frame.columns if name not in attributes_and_roles]
    people = people_of(frame, further, person, respondent)
    # columns of people, which nobody named as attributes
    if attributes is None and people is not None:
        constant = [name for name in constant if name not in people.columns]
    if HELD_OUT in further and {"0", "1"} <= set(distinct_texts(get_column(frame, HELD_OUT))[1]):
        constant = [name for name in constant if name != HELD_OUT]
        warn(
            DataWarning(
                f"Column {HELD_OUT!r} marks holdout tasks, but these tasks are fitted like all"
                " others; exclude these tasks",
                Clause(" with ", Setting("where", f"{HELD_OUT} == 0")),
                Clause(", or predict them with ", Setting("holdouts", f"{HELD_OUT} == 1")),
                ".",
            )
        )
    if constant:
        warn(
            DataWarning(
                "Attributes dropped because they are constant within every task and cannot"
                f" explain choices: {shorten(constant, 12)}."
            )
        )
    return choices._replace(people=people)


def _offered_rows(
    frame: "pd.DataFrame", marks: Iterable[str], chosen: str, rows: RowLabels
) -> "pd.DataFrame":
    """Return the rows of what was offered, without the column that says so and those that number
    the rows."""
    own = map_plain_names(marks)
    numbering = [name for name in own.values() if is_row_number(get_column(frame, name))]
    available = next(
        (name for name in AVAILABLE.each(own) if not classify_yes_no(get_column(frame, name))[1].any()), None
    )
    if numbering:
        note(f"row numbers ({shorten(numbering)}) not used")
    if available is None:
        return frame.drop(columns=numbering)
    offered, picked = read_flags(frame, available), chosen_rows(frame, chosen, rows)
    if (wrong := picked & ~offered).any():
        raise DataError(
            f"The chosen alternative {rows.where_task(int(wrong.argmax()))} has {available!r} = 0,"
            " as if it were not offered; correct the row, or remove the task."
        )
    note(
        f"{available!r} marks the alternatives that were offered;"
        f" {plural(int((~offered).sum()), 'row')} of other alternatives dropped"
    )
    return frame.loc[offered].drop(columns=[*numbering, available])


def _rows(frame: "pd.DataFrame", respondent: str, task: str, alternative: str | None) -> RowLabels:
    """The labels of each row of the table."""
    labels = None if alternative is None else _labels(frame, alternative)
    return RowLabels(_labels(frame, respondent), _labels(frame, task), labels)


def people_of(
    frame: "pd.DataFrame", further: list[str], person: Any, title: str
) -> "pd.DataFrame | None":
    """A row a respondent, in order of first appearance: those of the further columns that are
    constant within each."""
    import pandas as pd

    number, names = pd.factorize(person)
    return build_people_table(frame.loc[:, further], (), number, tuple(map(as_label, names)), title)


def task_columns(names: list[str], *wanted: Any) -> tuple[str, str, str | None, str]:
    """The columns of respondent, task, alternative and choice, as named or recognised."""
    roles = (
        ("respondent", RESPONDENT_OF_TASKS, "identifies the respondent"),
        ("task", TASK, "numbers the tasks of a respondent"),
        ("alternative", ALTERNATIVE, ""),
        ("chosen", CHOSEN, "marks the chosen alternative (1, others 0)"),
    )
    found: list[str | None] = []
    for (role, usual, meaning), name in zip(roles, wanted, strict=True):
        if name is not None:
            if str(name) not in names:
                known = f"the columns are {shorten(names, 12)}.{suggest(str(name), names)}"
                raise DataError(f"There is no column {str(name)!r}; {known}")
            found.append(str(name))
            continue
        own = map_plain_names(
            [n for n in names if n not in [str(w) for w in wanted if w is not None]]
        )
        present = sorted(usual.surely(own), key=names.index)
        # which a table need not have, and brands are attributes
        if not present and role != "alternative":
            present = list(usual.each(own))[:1]
        if len(present) > 1:
            raise DataError(
                f"Columns {shorten(present)} could each contain the {role}; choose one with ",
                Argument(role),
                ".",
            )
        if not present and role != "alternative":
            raise DataError(
                f"No column {meaning}; name such a column with ",
                Argument(role),
                f". The columns are {shorten(names, 12)}.",
            )
        found.append(present[0] if present else None)
    used = [name for name in found if name is not None]
    if found[0] == found[1] and None not in wanted[:2]:  # named for both: everybody had one task
        used = used[1:]
    for name in used:
        if used.count(name) > 1:
            raise ArgumentError(
                f"Column {name!r} has more than one role (respondent, task, alternative or"
                " chosen); name different columns."
            )
    respondent, task, alternative, chosen = found
    assert respondent is not None and task is not None and chosen is not None
    return respondent, task, alternative, chosen


def _labels(frame: "pd.DataFrame", name: str) -> np.ndarray:
    texts = row_texts(get_column(frame, name))
    if (texts == "").any():
        row = int((texts == "").argmax())
        raise DataError(
            f"A label is missing in row {frame.index[row]}, column {name!r}; fill it in or remove"
            " the row."
        )
    return texts


def _refuse_idle(series: "pd.Series", person: np.ndarray, name: str) -> None:
    """Refuse respondents whom a categorical column names without giving them a row."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        present = set(person)
        idle = [label for label in map(as_label, series.dtype.categories) if label not in present]
        if idle:
            raise DataError(
                f"Respondent {idle[0]!r} has no task, although it is a category of column"
                f" {name!r}; drop unused categories with .cat.remove_unused_categories()."
            )


def _attribute_names(
    frame: Any, attributes: Any, used: set[Any], where: Any, none: Any
) -> list[str]:
    """The columns that describe products."""
    reserved = {name for name in used if name is not None}
    indicator = {name for name, _ in where} if not isinstance(none, Mapping) else set()
    if attributes is None:
        names = [name for name in frame.columns if name not in reserved | indicator]
    else:
        if isinstance(attributes, str):
            raise ArgumentError(
                Argument("attributes"),
                f" must be a list of columns; got the string {attributes!r}.",
            )
        names = [str(name) for name in attributes]
    if not names:
        raise DataError("There are no attributes: no column is left to describe the products.")
    for name in names:
        get_column(frame, name)
        if name in reserved:
            raise ArgumentError(
                f"Column {name!r} cannot be an attribute, because it contains respondents, tasks,"
                " alternatives or choices."
            )
        if names.count(name) > 1:
            raise ArgumentError(f"Attribute {name!r} is listed twice; remove one.")
    return names


def _texts(mapping: Mapping[Any, Any] | None, what: str) -> dict[str, Any]:
    if mapping is None:
        return {}
    if not isinstance(mapping, Mapping):
        raise ArgumentError(
            Argument(what), f" must be a mapping from attribute; got {type(mapping).__name__}."
        )
    return {str(name): value for name, value in mapping.items()}


def _attributes(
    frame: Any,
    names: Any,
    is_none: Any,
    levels: dict[Any, Any],
    bins: dict[Any, Any],
    missing: Any,
    where: Where,
) -> list[Attribute]:
    for what, mapping in (("levels", levels), ("bins", bins)):
        for name in mapping:
            if name not in names:
                raise ArgumentError(
                    Argument(what),
                    f" contains {name!r}, which is not an attribute.{suggest(name, names)}",
                )
    words = _missing_words(missing, names)
    return [
        _attribute(frame, name, is_none, levels, bins, words.get(name, ()), where) for name in names
    ]


def _missing_words(missing: Any, names: list[str]) -> dict[str, tuple[str, ...]]:
    """Attribute -> the labels that say that a product has none."""
    if missing is None:
        return {}
    if not isinstance(missing, Mapping):
        return {name: _words(missing) for name in names}
    words = {str(name): _words(value) for name, value in missing.items()}
    for name in words:
        if name not in names:
            raise ArgumentError(
                Argument("missing"),
                f" contains {name!r}, which is not an attribute.{suggest(name, names)}",
            )
    return words


def _words(value: Any) -> tuple[str, ...]:
    several = is_list(value)
    return tuple(as_label(word) for word in value) if several else (as_label(value),)


def _attribute(
    frame: Any,
    name: str,
    is_none: Any,
    levels: dict[Any, Any],
    bins: dict[Any, Any],
    missing: Any,
    where: Where,
) -> Attribute:
    series = get_column(frame, name)
    codes, texts = distinct_texts(series)
    absent = is_none | np.isin(codes, [k for k, text in enumerate(texts) if text in missing])
    present = np.flatnonzero(~absent)
    if not len(present):
        raise DataError(f"Attribute {name!r} is missing in every product; remove this attribute.")
    if name in bins:
        if name in levels:
            raise ArgumentError(f"Attribute {name!r} has both levels and bins; remove one of them.")
        values = numbers_of(name, texts, codes[present], lambda k: where(int(present[k])))
        cuts = cut_points(name, bins[name], values)
        return Attribute(name, bin_labels(cuts), BINS, cuts, missing)
    if name in levels:
        return Attribute(name, given_order(name, levels[name]), GIVEN, (), missing)
    used = [texts[k] for k in np.unique(codes[present]) if texts[k]]
    hidden = [*missing, *(texts[k] for k in np.unique(codes[absent]))]
    ordered, order = natural_order(series, used, hidden)
    return Attribute(name, ordered, order, (), missing)


def _without_constant(
    choices: ExperimentArrays, asked: set[str], guessed: bool
) -> tuple[ExperimentArrays, list[str]]:
    """Leave out attributes that are constant within every task, but for those asked for; and their
    names."""
    # Where attributes are guessed, the no-choice option is not compared with the others, which it
    # always differs from.
    compared = ~choices.is_none if guessed else np.ones_like(choices.is_none)
    sizes = np.diff(choices.first_row)
    task = np.repeat(np.arange(len(sizes)), sizes)[compared]
    first = int(choices.scheme.has_inside)
    products = choices.products_of_rows[compared, first:]
    levels = int(products.max(initial=0)) + 2
    tasks = len(np.unique(task))
    constant = [
        attribute.name
        for attribute, codes in zip(choices.scheme.attributes, products.T, strict=True)
        if attribute.name not in asked and len(np.unique(task * levels + codes + 1)) == tasks
    ]
    kept = tuple(
        attribute for attribute in choices.scheme.attributes if attribute.name not in constant
    )
    if not kept:
        raise DataError(
            f"No attribute varies within a task ({shorten(constant)}), so the choices contain no"
            " information on tastes; check the design."
        )
    columns = [name not in constant for name in choices.scheme.names]
    scheme = replace(choices.scheme, attributes=kept)
    return choices._replace(
        scheme=scheme, products_of_rows=choices.products_of_rows[:, columns]
    ), constant


def _refuse_single(attributes: Iterable[Attribute]) -> None:
    for attribute in attributes:
        if len(attribute.levels) < 2:
            raise DataError(
                f"Attribute {attribute.name!r} has only one level, {shorten(attribute.levels)},"
                " and cannot explain choices; remove it from the attributes, or declare its other"
                " levels with ",
                Argument("levels"),
                ".",
            )


def _in_order(
    scheme: Scheme, rows: RowLabels, products: Any, picked: np.ndarray, is_none: np.ndarray
) -> ExperimentArrays:
    """Rows sorted by respondent and task, each in order of first appearance, and checked task by
    task."""
    import pandas as pd

    person, people = pd.factorize(rows.person)
    number = first_appearance(rows.person, rows.task)
    order = np.lexsort((number, person))
    number, person = number[order], person[order]
    first_row = np.append(np.flatnonzero(np.diff(number, prepend=-1)), len(order)).astype(np.int64)
    starts, sizes = first_row[:-1], np.diff(first_row)
    first_task = np.searchsorted(person[starts], np.arange(len(people) + 1)).astype(np.int64)
    if rows.alternative is not None:
        tasks = np.repeat(np.arange(len(starts)), sizes)
        refuse_twice(rows.alternative[order], tasks, lambda k: rows.where_task(order[k]))
    _check_tasks(rows, order, starts, picked[order], is_none[order], sizes, products[order])
    if rows.alternative is None:
        within = np.arange(len(order)) - np.repeat(starts, sizes) + 1
        labels = within.astype(str).astype(object)
    else:
        labels = rows.alternative[order]
    chosen = np.flatnonzero(picked[order]) - starts
    respondents = tuple(str(label) for label in people)
    task_labels = rows.task[order][starts].astype(str)
    arrays = (
        first_task,
        first_row,
        chosen,
        products[order],
        is_none[order],
        task_labels,
        labels.astype(str),
    )
    return ExperimentArrays(scheme, respondents, *arrays)


def _check_tasks(
    rows: RowLabels, order: Any, starts: Any, picked: Any, is_none: Any, sizes: Any, products: Any
) -> None:
    choices, nones = (
        np.add.reduceat(picked.astype(int), starts),
        np.add.reduceat(is_none.astype(int), starts),
    )

    def place(wrong: np.ndarray) -> str:
        return rows.where_task(int(order[starts[int(wrong.argmax())]]))

    if (wrong := sizes < 2).any():
        raise DataError(
            f"There is only one alternative {place(wrong)}; a choice needs at least two."
        )
    if (wrong := choices != 1).any():
        k = int(wrong.argmax())
        number, own = int(choices[k]), slice(starts[k], starts[k] + sizes[k])
        if number > 1 and (np.ptp(products[own][picked[own]], axis=0) == 0).all():
            raise DataError(
                f"The chosen alternative is listed {number} times {place(wrong)}; remove the"
                " duplicates."
            )
        raise DataError(
            f"{number or 'No'} alternative{'s are' if number > 1 else ' is'} marked as chosen"
            f" {place(wrong)}; mark exactly one."
        )
    if (wrong := nones > 1).any():
        raise DataError(
            f"The no-choice option is listed {int(nones[int(wrong.argmax())])} times"
            f" {place(wrong)}; list it once."
        )
