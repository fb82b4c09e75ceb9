"""The data class `ChoiceExperiment`: choices among products described by attributes."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_integer, is_list
from thali._inference.index_arithmetic import find_first, part_bounds, part_indices
from thali._inference.random_seeds import RandomSeed, build_seed_sequence
from thali._labels import find_label_indices, format_label, format_plural, shorten, suggest
from thali._object_descriptions import Facts
from thali.errors import Argument, ArgumentError, DataError

from ..base_classes import Frozen, build_from_fields, copy_with_fields
from ..column_readers import check_columns, convert_frame, rename_as_text, select_answered_rows
from ..column_roles import CHOSEN, column_names, map_plain_names
from ..kinds import EXPERIMENTS
from ..prediction_scores import find_chosen_rows
from ..report_facts import format_extremes, list_name_facts
from ..respondent_table import list_differing_columns, list_people_facts
from .attribute_levels import ALPHABET, MEASURED, is_integer
from .fitted_design import list_experiment_facts
from .product_encoding import Attribute, SchemeCells, SchemeTasks

if TYPE_CHECKING:
    import pandas as pd


def select_held_tasks(
    data: "ChoiceExperiment", tasks: int | float | Iterable[Any] | None, random_seed: RandomSeed
) -> np.ndarray:
    """Return whether each task is held out, from a number, share or list of tasks.

    Held out are the last tasks of every respondent, random tasks, or marked tasks.
    """
    is_selected = np.asarray(tasks)
    if is_selected.dtype == bool and is_selected.shape == (data.n_tasks,):
        if is_selected.all() or not is_selected.any():
            raise DataError("`tasks` selects all tasks or none; each part needs at least one task.")
        return is_selected
    n_held = check_integer("tasks", tasks, 1)
    task_counts = np.diff(data.first_task)
    if (respondent := find_first(task_counts <= n_held)) is not None:
        raise DataError(
            f"Respondent {data.respondents[respondent]!r} has only"
            f" {format_plural(int(task_counts.min()), 'task')}, so no task would be left to fit"
            f" when {n_held} are held out; hold out fewer tasks."
        )
    # the last tasks are held out, of tasks in random order with a seed
    tasks_in_order = np.split(np.arange(data.n_tasks), data.first_task[1:-1])
    if random_seed is not None:
        rng = np.random.default_rng(build_seed_sequence(random_seed))
        tasks_in_order = [rng.permutation(tasks)[::-1] for tasks in tasks_in_order]
    is_held = np.zeros(data.n_tasks, bool)
    is_held[np.concatenate([tasks[-n_held:] for tasks in tasks_in_order])] = True
    return is_held


def select_held_respondents(
    data: "ChoiceExperiment",
    respondents: int | float | Iterable[Any] | None,
    random_seed: RandomSeed,
) -> np.ndarray:
    """Return whether each task's respondent is held out, at random or by name."""
    if is_integer(respondents):
        n_held = check_integer("respondents", respondents, 1)
        held_respondents = np.random.default_rng(build_seed_sequence(random_seed)).permutation(
            data.n_respondents
        )[:n_held]
    elif not is_list(respondents):
        raise ArgumentError(
            f"`respondents` must be an integer or a list of labels; got {respondents!r}."
        )
    else:
        held_labels = list(map(format_label, respondents))
        held_respondents = find_label_indices(held_labels, data.respondents)
        if (k := find_first(held_respondents < 0)) is not None:
            raise DataError(
                f"Unknown respondent {held_labels[k]!r}.{suggest(held_labels[k], data.respondents)}"
            )
    is_held = np.isin(data.respondent_of_task, held_respondents)
    if is_held.all() or not is_held.any():
        raise DataError(
            "Each part needs at least one of the"
            f" {format_plural(data.n_respondents, 'respondent')}; hold out fewer."
        )
    return is_held


# A choice experiment written out as a long table --------------------------------------------------


def build_long_table(data: "ChoiceExperiment") -> "pd.DataFrame":
    """Build a table with one row per alternative, with the original column names."""
    import pandas as pd

    scheme = data.scheme
    task_index = part_indices(data.first_row)
    table: dict[Any, Any] = {
        scheme.respondent: np.array(data.respondents, object)[data.respondent_of_task[task_index]],
        scheme.task: data.task_labels[task_index].astype(object),
    }
    if scheme.alternative is not None:
        table[scheme.alternative] = data.alternative_labels.astype(object)
    if data.has_choices:
        table[scheme.chosen] = np.zeros(data.n_alternatives, np.int64)
        table[scheme.chosen][find_chosen_rows(data)] = 1
    row_levels = data.products[data.row_product]
    codes_by_attribute = dict(zip(data.attributes, row_levels.T, strict=True))
    is_none = scheme.find_none_products(row_levels)
    none_label_by_column = dict(scheme.none)
    for attribute in scheme.attributes:
        table[attribute.name] = _write_cells(
            attribute,
            codes_by_attribute[attribute.name],
            is_none,
            none_label_by_column.get(attribute.name),
        )
    for none_column, none_label in scheme.none:
        if none_column not in table:
            table[none_column] = np.where(is_none, none_label, "")
            if none_label == "1":
                table[none_column] = is_none.astype(np.int64)
    frame = pd.DataFrame(table)
    if data.has_choices or data.profile_columns is None:
        return frame
    return frame.join(data.profile_columns)  # the ratings


def _write_cells(
    attribute: Attribute, level_codes: np.ndarray, is_none: np.ndarray, none_label: str | None
) -> "pd.Categorical | np.ndarray":
    """Return an attribute's column of labels for the long table."""
    # Rows of the no-choice option contain its label, or are empty without a label.
    import pandas as pd

    missing_words = [word for word in attribute.missing[:1] if word]
    extra_levels = dict.fromkeys(filter(None, [*missing_words, none_label]))
    cell_texts = np.array([*attribute.levels, None], object)[level_codes]
    if missing_words:
        cell_texts[(level_codes < 0) & ~is_none] = missing_words[0]
    cell_texts[is_none] = none_label
    if attribute.order == MEASURED:
        return cell_texts
    return pd.Categorical(
        cell_texts, [*attribute.levels, *extra_levels], ordered=attribute.order != ALPHABET
    )


class ChoiceExperiment(Frozen, SchemeTasks):
    r"""Tasks in which respondents chose among products described by attribute levels.

    .. math:: x^*_{nt} \in X_{nt} = \{x_{nt1}, \dots, x_{ntJ}\}, \qquad x = (l_1, \dots, l_L)

    Made by `from_frame`; nothing can be changed after construction. Levels are in their natural
    order, so that "increasing" means that later is better. With a no-choice option there is an
    attribute "inside" before the others, with the levels "none" and "inside": the no-choice option
    lacks every other attribute.

    Attributes
    ----------
    respondents : tuple of str
        In order of first appearance.
    attributes : tuple of str
    levels : dict of tuples of str
        Attribute -> its levels in natural order.
    n_respondents, n_tasks, n_alternatives : int
        Alternatives are counted over all tasks: the rows of the table.
    first_task : int64 array (n_respondents + 1,)
        Tasks of respondent n: first_task[n] to first_task[n + 1] - 1.
    first_row : int64 array (n_tasks + 1,)
        Rows of task t: first_row[t] to first_row[t + 1] - 1.
    chosen : int64 array (n_tasks,)
        Which row of its task was chosen, counted from 0; -1 for ratings without choices.
    row_product : int64 array (n_alternatives,)
        Which of the products each row is.
    products : int64 array (products, attributes)
        Level numbers from 0, all rows different; -1: the product lacks the attribute.
    task_labels : array of str (n_tasks,)
    alternative_labels : array of str (n_alternatives,)
    people : DataFrame or None
        One row per respondent: the columns other than attributes that are constant within each
        respondent.
    profile_columns : DataFrame or None
        One row per row of the table: the ratings that `outcome` names, and the columns that are
        constant within tasks but differ between the tasks of a respondent.
    has_none : bool
    scheme : Scheme
        How rows of a table become products.

    References
    ----------
    Louviere, Hensher & Swait (2000), Stated choice methods.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {
    ...     "id": [1, 1, 1, 1],
    ...     "task": [1, 1, 2, 2],
    ...     "choice": [1, 0, 0, 1],
    ...     "price": [90, 150, 90, 150],
    ...     "zoom": ["no", "yes", "no", "yes"],
    ... }
    >>> data = ChoiceExperiment.from_frame(pd.DataFrame(rows))
    >>> data
    ChoiceExperiment(1 respondent, 2 tasks of 2 alternatives)
      price: 90 < 150
      zoom: no, yes
    >>> data.products[data.row_product].tolist()
    [[0, 0], [1, 1], [0, 0], [1, 1]]
    """

    kind = EXPERIMENTS
    _FIELDS = (
        "scheme",
        "respondents",
        "first_task",
        "first_row",
        "chosen",
        "row_product",
        "products",
        "task_labels",
        "alternative_labels",
        "people",
        "profile_columns",
    )
    _IF_KNOWN = ("profile_columns",)

    chosen: np.ndarray
    task_labels: np.ndarray
    alternative_labels: np.ndarray
    people: "pd.DataFrame | None"
    profile_columns: "pd.DataFrame | None" = None

    def __init__(self, *parts: Any, **named: Any) -> None:
        raise TypeError(
            "ChoiceExperiment cannot be constructed directly; use"
            " ChoiceExperiment.from_frame(frame)."
        )

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        respondent: str | None = None,
        task: str | None = None,
        alternative: str | None = None,
        chosen: str | None = None,
        attributes: Iterable[str] | None = None,
        levels: Mapping[str, Iterable[Any]] | None = None,
        none: str | Mapping[str, Any] | None = None,
        bins: Mapping[str, Any] | None = None,
        inside: bool = True,
        *,
        missing: str | Iterable[str] | Mapping[str, Any] | None = None,
        bought: str | None = None,
        outcome: str | None = None,
    ) -> "ChoiceExperiment":
        """Read a choice experiment from a long table, one row per alternative of a task.

        Parameters
        ----------
        frame : DataFrame
            A task is all rows of the same respondent and task, in any position. Choice sets may
            differ in size.
        respondent, task, alternative, chosen : str, optional
            Columns. None: recognised by their names (id, respondent, person, panel; task, obsID,
            question, chid, scenario; alt, alternative; choice, chosen, selected, y; and the like).
            Without a column of alternatives they are numbered. `chosen` contains 1 (or True) for
            the chosen alternative and 0 for the others.
        attributes : list of str, optional
            Columns that describe the products; None: all others. One that is constant within every
            task is dropped, with a warning unless it describes people (`people`), and unless
            `levels` or `bins` names it; where None, no-choice options are not counted for this.
        levels : dict of lists, optional
            Attribute -> its levels from worst to best, those included that do not occur but may be
            asked about. None: the order of a categorical column, else numbers by size, texts by the
            alphabet. A column of more than 30 different numbers, not all of them integers, is a
            number (`orders` calls it measured): the logits take it as `linear`, unless its levels
            are listed here.
        none : optional
            The no-choice option: its label in the column of alternatives, or the name of a column
            with 1 in its rows, or {column: value}. Other cells of its rows are not read.
        bins : dict, optional
            Attribute of many numbers -> how many bins, bounded by quantiles, or their cut points. A
            value at a cut point is below it.
        inside : bool
            Whether a no-choice option brings the attribute "inside" with it.
        missing : optional
            Word, or list of words, for cells of products that lack the attribute; or
            {attribute: word}. NaN declares empty cells.
        bought : str, optional
            The column of a second answer to each task, 1 or 0 in all its rows: whether the product
            chosen would be bought at all (dual-response none). Buying nothing, "none", is then an
            alternative of every task, and a task whose product would not be bought is there twice,
            with and without it.
        outcome : str, optional
            What `thali.amce` analyses: a column of ratings of the alternatives, in a table that may
            lack choices; or "choice". Columns that are constant within tasks then describe tasks.

        Returns
        -------
        ChoiceExperiment

        Raises
        ------
        DataError
            If a column is absent or could be one of several; a label or a cell is missing; a level
            is not declared; an attribute has one level; a task has no choice or several, a single
            alternative, or an alternative twice; a respondent has no task; or no row is the
            no-choice option that was declared.
        ArgumentError
            If an argument is not of the kind above.

        Warns
        -----
        DataWarning
            If an attribute is dropped.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = {
        ...     "id": [1, 1, 1],
        ...     "task": [1, 1, 1],
        ...     "choice": [0, 0, 1],
        ...     "brand": ["A", "B", "none"],
        ... }
        >>> data = ChoiceExperiment.from_frame(pd.DataFrame(rows), none={"brand": "none"})
        >>> data.attributes, data.products[data.row_product].tolist()
        (('inside', 'brand'), [[1, 0], [1, 1], [0, -1]])
        """
        from .long_table import read_experiment

        if not isinstance(inside, bool):
            raise ArgumentError(f"`inside` must be True or False; got {inside!r}.")
        columns = (respondent, task, alternative, chosen)
        fields = read_experiment(
            frame, columns, attributes, levels, none, bins, missing, inside, bought, outcome
        )
        return build_from_fields(cls, *fields)

    @classmethod
    def from_wide(
        cls,
        frame: "pd.DataFrame",
        respondent: str | None = None,
        task: str | None = None,
        chosen: str | None = None,
        alternatives: Sequence[Any] | None = None,
        none: str | Mapping[str, Any] | None = None,
        **more: Any,
    ) -> "ChoiceExperiment":
        """Read a choice experiment from a wide table with one row per task.

        Parameters
        ----------
        frame : DataFrame
            The columns are called by attribute and alternative, as in price_1, price_2 or time.car,
            or the other way round, as in car_time. Columns of availability (av_car, car_available)
            contain 1 where it was offered.
        respondent, task, chosen : str, optional
            Columns. None: recognised. Without one of respondents every row is another respondent,
            without one of tasks they are numbered. `chosen` contains the name of the alternative,
            or its number in the order of the columns.
        alternatives : sequence, optional
            The names of the alternatives, as in the names of the columns. None: recognised.
            An alternative may lack columns that others have: it lacks the attribute then.
        none : optional
            Cell of `chosen` where none was chosen; None: "none" or the like, if it occurs.
        **more
            Levels, bins and the like, as in `from_frame`.

        Returns
        -------
        ChoiceExperiment

        Raises
        ------
        DataError
            If no columns describe alternatives, or one was chosen that was not offered, or as
            `from_frame`.

        Examples
        --------
        >>> import pandas as pd, thali as th
        >>> rows = {"id": [1, 1], "price_1": [90, 150], "price_2": [150, 90], "choice": [1, 2]}
        >>> data = th.ChoiceExperiment.from_wide(pd.DataFrame(rows))
        >>> data.n_tasks, data.levels["price"]
        (2, ('90', '150'))
        """
        from .dual_response import BOUGHT, check_single_none
        from .long_table import SeveralColumnsError, read_people
        from .wide_table import add_lacking_word, build_long_frame, find_wide_tasks

        bought = more.get("bought")
        check_single_none(none, bought)
        frame = rename_as_text(convert_frame(frame))
        named_columns = {"respondent": respondent, "task": task, "chosen": chosen}
        check_columns(frame, (*named_columns.values(), bought))
        offer_frame = frame
        if bought is not None:
            offer_frame = frame.drop(columns=bought)
            more["bought"] = BOUGHT
        wide_columns = find_wide_tasks(offer_frame, named_columns, alternatives)
        if wide_columns is None:
            raise DataError(
                f"The columns {shorten(column_names(frame), 12)} do not show which alternative"
                " they describe, as 'price_1' and 'price_2' (or 'car_time' and 'bus_time') would;"
                " give the names of the alternatives with `alternatives`."
            )
        wide_columns = wide_columns.select_attributes(more.get("attributes"))
        # as it chooses none
        frame = select_answered_rows(
            frame, [wide_columns.chosen], labels=(*wide_columns.alternatives, "None")
        )
        long_frame, none_label = build_long_frame(frame, wide_columns, none, bought)
        if bought is not None and none_label is not None:
            raise DataError(
                f"Column {wide_columns.chosen!r} contains {none_label!r}, but with ",
                Argument("bought"),
                " it must contain the chosen product, even if it would not be bought.",
            )
        more["missing"] = add_lacking_word(wide_columns, more.get("missing"))
        if chosen is not None:  # an attribute may be called a choice, too
            more["chosen"] = "chosen"
        try:
            data = cls.from_frame(long_frame, none=none_label, **more)
        except SeveralColumnsError as error:
            names = CHOSEN.find_certain_columns(map_plain_names(wide_columns.attributes))
            groups = [wide_columns.attributes[name].values() for name in names]
            columns = [column for group in groups for column in group]
            if not columns:
                raise
            raise SeveralColumnsError(
                f"Columns {shorten([wide_columns.chosen, *columns])} could each contain the"
                " choice; give the name of one with ",
                Argument("chosen"),
                ".",
            ) from error
        other_columns = [
            name for name in column_names(frame) if name not in (*wide_columns.used, bought)
        ]
        respondent_of_row: Any = np.arange(1, len(frame) + 1)
        if wide_columns.respondent is not None:
            respondent_of_row = frame[wide_columns.respondent]
        people = read_people(frame, other_columns, respondent_of_row, "respondent")
        return data.with_fields(people=people)

    def _freeze(self, *fields: Any) -> "ChoiceExperiment":
        """Set the fields in the order of `_FIELDS`, copying others' arrays; return the object."""
        owned_fields = list(fields)
        for k, field_value in enumerate(fields):
            if isinstance(field_value, np.ndarray) and not field_value.flags.owndata:
                owned_fields[k] = field_value.copy()
        return super()._freeze(*owned_fields)

    def __str__(self) -> str:
        parts = [
            format_plural(self.n_respondents, "respondent"),
            f"{format_plural(self.n_tasks, 'task')} of"
            f" {format_extremes(np.diff(self.first_row))} alternatives",
        ]
        if self.has_none:
            parts.append("with a no-choice option")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return "\n  ".join(
            [f"ChoiceExperiment({self})", *map(": ".join, self.scheme.describe_attributes())]
        )

    def _details(self) -> Facts:
        """Return (name, labels) facts that a notebook shows below the size."""
        return *self.scheme.describe_attributes(), *list_people_facts(self.people)

    def _facts(self) -> Facts:
        """Return (name, text) facts about the experiment for a report."""
        columns = list_name_facts("Respondent characteristics", list_differing_columns(self.people))
        return *list_experiment_facts(self), *columns

    def describe(self) -> str:
        """Return text on the size of the data and the levels of each attribute.

        Ordered levels are separated by "<".

        Returns
        -------
        str
            A line, and one for each attribute; levels in alphabetical order are separated by
            commas. One more names the columns of people, if there are any that differ.
        """
        lines = [str(self), *map(": ".join, self.scheme.describe_attributes())]
        if differing_columns := list_differing_columns(self.people):
            lines.append(f"respondent columns: {shorten(differing_columns, 12)}")
        return "\n".join(lines)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes, "inside" first if there is one."""
        return self.scheme.names

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Levels of each attribute, in natural order."""
        return self.scheme.levels

    @property
    def orders(self) -> dict[str, str]:
        """How the levels of each attribute were ordered, by attribute name.

        It is "given", "categories", "numbers", "measured", "bins" or "alphabet".
        """
        return {attribute.name: attribute.order for attribute in self.scheme.all_attributes}

    @property
    def n_respondents(self) -> int:
        """Number of respondents."""
        return len(self.respondents)

    @property
    def n_tasks(self) -> int:
        """Number of tasks of all respondents."""
        return len(self.chosen)

    @property
    def n_answers(self) -> int:
        """Number of answers, one per task."""
        return self.n_tasks

    @property
    def n_alternatives(self) -> int:
        """Number of alternatives in all tasks."""
        return len(self.row_product)

    @property
    def has_choices(self) -> bool:
        """Whether respondents chose, and did not only rate."""
        return bool((self.chosen >= 0).all())

    @property
    def has_none(self) -> bool:
        """Whether tasks offer "none of these"."""
        return bool(self.scheme.none)

    @property
    def respondent_of_task(self) -> np.ndarray:
        """Index of each task's respondent, shape (n_tasks,)."""
        return part_indices(self.first_task)

    def encode(self, new: "pd.DataFrame | ChoiceExperiment") -> SchemeCells:
        """Encode new tasks as level numbers, with the columns and levels of these data.

        Parameters
        ----------
        new : DataFrame or ChoiceExperiment
            A table with the same columns; that of the choice is not read. Without a column of
            respondents all respondents are new; without one of tasks each has one task.

        Returns
        -------
        task_of_row : int64 array (rows,)
            In order of first appearance.
        respondent_of_row : int64 array (rows,)
            Among `respondents`; -1: a new person.
        products : int64 array (rows, attributes)
            Level numbers; -1: missing. Rows are in the order given.

        Raises
        ------
        DataError
            If a column is absent, a cell is missing, a level is not declared, or an alternative is
            listed twice.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = {"id": [1, 1], "task": [1, 1], "choice": [1, 0], "price": [90, 150]}
        >>> data = ChoiceExperiment.from_frame(pd.DataFrame(rows))
        >>> data.encode(pd.DataFrame({"price": [150, 90]})).products.tolist()
        [[1], [0]]
        """
        return self.scheme.encode(new, self.respondents)

    def take(self, tasks: int | float | Iterable[Any] | None) -> "ChoiceExperiment":
        """Return the data of some tasks, with all attributes and levels.

        Parameters
        ----------
        tasks : bool array (n_tasks,), or numbers of tasks

        Returns
        -------
        ChoiceExperiment

        Raises
        ------
        DataError
            If no task is left.
        """
        is_selected = np.zeros(self.n_tasks, bool)
        is_selected[np.asarray(tasks)] = True
        if not is_selected.any():
            raise DataError("No task is selected; select at least one.")
        task_sizes = np.diff(self.first_row)
        is_kept_row = np.repeat(is_selected, task_sizes)
        task_counts = np.bincount(
            self.respondent_of_task[is_selected], minlength=self.n_respondents
        )
        is_kept_person = task_counts > 0
        kept_products, row_product = np.unique(self.row_product[is_kept_row], return_inverse=True)
        people = self.people
        if people is not None:
            people = people.loc[is_kept_person]
        profile_columns = self.profile_columns
        if profile_columns is not None:
            profile_columns = profile_columns.loc[is_kept_row].reset_index(drop=True)
        return build_from_fields(
            type(self),
            self.scheme,
            tuple(compress(self.respondents, is_kept_person)),
            part_bounds(task_counts[is_kept_person]),
            part_bounds(task_sizes[is_selected]),
            self.chosen[is_selected],
            row_product.astype(np.int64),
            self.products[kept_products],
            self.task_labels[is_selected],
            self.alternative_labels[is_kept_row],
            people,
            profile_columns,
        )

    def with_fields(self, **changed: Any) -> "ChoiceExperiment":
        """Return a copy with these fields changed.

        `chosen` is a row of each task, counted from its first row.
        """
        return copy_with_fields(self, **changed)

    def split(
        self,
        tasks: int | float | Iterable[Any] | None = None,
        respondents: int | float | Iterable[Any] | None = None,
        random_seed: RandomSeed = None,
    ) -> tuple["ChoiceExperiment", "ChoiceExperiment"]:
        """Split the tasks or respondents into data to fit and data to predict.

        Parameters
        ----------
        tasks : int or bool array (n_tasks,), optional
            This number of last tasks of every respondent is predicted, or this number of random
            ones where there is a seed; or the tasks that the array marks.
        respondents : int or list of labels, optional
            This number of random respondents, or the listed ones, are predicted.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

        Returns
        -------
        train, test : ChoiceExperiment

        Raises
        ------
        ArgumentError
            Unless exactly one of `tasks` and `respondents` is given, of a kind above.
        DataError
            If a respondent has too few tasks, or no respondent is left.

        Examples
        --------
        >>> import pandas as pd
        >>> rows = {
        ...     "id": [1] * 4 + [2] * 4,
        ...     "task": [1, 1, 2, 2] * 2,
        ...     "choice": [1, 0] * 4,
        ...     "price": [90, 150] * 4,
        ... }
        >>> train, test = ChoiceExperiment.from_frame(pd.DataFrame(rows)).split(tasks=1)
        >>> train.task_labels.tolist(), test.task_labels.tolist()
        (['1', '1'], ['2', '2'])
        """
        if (tasks is None) == (respondents is None):
            raise ArgumentError("Give exactly one of `tasks` and `respondents`.")
        if respondents is None:
            is_held = select_held_tasks(self, tasks, random_seed)
        else:
            is_held = select_held_respondents(self, respondents, random_seed)
        return self.take(~is_held), self.take(is_held)

    def to_frame(self) -> "pd.DataFrame":
        """Return a long table, which `from_frame` reads with the same arguments but `bins`.

        Returns
        -------
        DataFrame
            One row an alternative, under the names that the columns had; attributes are
            categorical, in their natural order. Binned attributes contain the names of their bins.
        """

        return build_long_table(self)
