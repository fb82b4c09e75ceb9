"""Profiles of a conjoint experiment: one row each, with levels, outcome, weight and group."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.experiments import ChoiceExperiment
from thali._data.experiments.attribute_levels import order_levels
from thali._data.experiments.long_table import CHOICE
from thali._data.prediction_scores import find_chosen_rows
from thali._data.respondent_table import get_respondent_column
from thali._inference.index_arithmetic import find_first, part_bounds, part_indices, part_positions
from thali._labels import format_label, format_plural, shorten
from thali._reading.read import read
from thali.errors import Argument, ArgumentError, DataError, InPython

if TYPE_CHECKING:
    import pandas


_NAMED = " Columns are named in `th.read(...)`, whose answer `amce` takes."
MAX_GROUPS = 7  # as many as pictures distinguish


class Profiles(NamedTuple):
    """Profiles sorted by respondent and task; the no-choice option is left out."""

    levels: Mapping[str, tuple[str, ...]]  # labels of each attribute's levels
    codes: np.ndarray  # (rows, attributes); the number of levels where a profile lacks it
    outcome: np.ndarray  # (rows,)
    weights: np.ndarray  # (rows,), mean 1
    respondent: np.ndarray  # (rows,) 0, 1, ...
    task: np.ndarray  # (rows,) 0, 1, ...
    task_number: np.ndarray  # (rows,) among the tasks of the respondent, from 1
    position: np.ndarray  # (rows,) among the profiles of the task, from 0
    product: np.ndarray  # (rows,) equal for equal profiles
    task_labels: np.ndarray  # (rows,)
    group: np.ndarray  # (rows,) index of the group
    groups: tuple[str, ...]  # () without groups

    @property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each attribute."""
        return np.array([len(labels) for labels in self.levels.values()])

    @property
    def is_choice(self) -> bool:
        """Whether outcomes are 1 and 0, not ratings."""
        return bool(np.isin(self.outcome, (0.0, 1.0)).all())

    @property
    def bounds(self) -> np.ndarray:
        """Rows of respondent s: bounds[s] to bounds[s + 1] - 1."""
        return part_bounds(np.bincount(self.respondent))

    @property
    def n_respondents(self) -> int:
        """Number of respondents with at least one row."""
        return int(self.respondent[-1]) + 1

    def select_rows(self, is_selected: np.ndarray) -> "Profiles":
        """Return some of the rows, unchanged."""
        arrays = {k: v[is_selected] for k, v in self._asdict().items() if hasattr(v, "dtype")}
        return self._replace(**arrays)

    def select(self, is_selected: np.ndarray) -> "Profiles":
        """Return some of the rows, with respondents and tasks renumbered and weights of mean 1."""
        rows = self.select_rows(is_selected)
        return rows._replace(
            respondent=np.unique(rows.respondent, return_inverse=True)[1],
            task=np.unique(rows.task, return_inverse=True)[1],
            weights=rows.weights / rows.weights.mean(),
        )


def read_experiment(
    data: "ChoiceExperiment | pandas.DataFrame", outcome: str | None
) -> ChoiceExperiment:
    """Return the experiment, read from a table if it is not one yet."""
    if isinstance(data, ChoiceExperiment):
        return data
    try:
        return read(data, kind="experiment", outcome=outcome or CHOICE)
    except DataError as error:
        error.args = (*error.args, InPython(_NAMED))
        raise


def build_profiles(
    data: ChoiceExperiment,
    by: str | None,
    weights: str | Sequence[float] | np.ndarray | None,
    outcome: str | None,
) -> Profiles:
    """Build the table of profiles of an experiment, with groups, weights and outcome."""
    scheme = data.scheme
    level_codes = data.products[data.row_product]
    labels_by_attribute = scheme.groups
    codes = np.empty((data.n_alternatives, len(scheme.attributes)), np.int64)
    for k, attribute in enumerate(scheme.attributes):
        labels, group_of_level = labels_by_attribute[attribute.name]
        row_levels = level_codes[:, k + int(scheme.has_inside)]
        codes[:, k] = np.where(row_levels < 0, len(labels), group_of_level[row_levels])
    task = part_indices(data.first_row)
    respondent = data.respondent_of_task[task]
    groups, group = _read_groups(data, by, respondent)
    profiles = Profiles(
        {attribute.name: labels_by_attribute[attribute.name][0] for attribute in scheme.attributes},
        codes,
        _read_outcome(data, outcome),
        _read_weights(data, weights)[respondent],
        respondent,
        task,
        _number_tasks(data)[task],
        _find_positions(data),
        data.row_product,
        data.task_labels[task],
        group,
        groups,
    )
    is_analysed = ~scheme.find_none_products(level_codes) & (group >= 0) & (profiles.weights > 0)
    return profiles.select(is_analysed & ~np.isnan(profiles.outcome))


def _read_outcome(data: ChoiceExperiment, outcome: str | None) -> np.ndarray:
    """Return the outcome of each row: 1 for the chosen profile, or its rating."""
    profile_columns: Any = data.profile_columns
    rating = _find_rating(data)
    if outcome is None:
        outcome = rating or CHOICE
    if outcome == rating:
        return profile_columns[rating].to_numpy(float)
    if outcome not in (CHOICE, data.scheme.chosen):
        raise DataError(
            f"{outcome!r} is not an outcome of these data; specify it when reading the table:"
            f" th.read(FILE, outcome={outcome!r})."
        )
    chosen = np.zeros(data.n_alternatives)
    chosen[find_chosen_rows(data)] = 1.0
    return chosen


def _find_rating(data: ChoiceExperiment) -> str | None:
    """Return the column of ratings, which is first and differs within tasks; else None."""
    if data.profile_columns is None:
        return None
    first_column = data.profile_columns.iloc[:, 0]
    n_answers = first_column.groupby(part_indices(data.first_row)).nunique()
    if n_answers.max() > 1:
        return str(first_column.name)
    return None


def _read_weights(
    data: ChoiceExperiment, weights: str | Sequence[float] | np.ndarray | None
) -> np.ndarray:
    """Return the weight of each respondent: 1, a column of respondents, or given numbers."""
    if weights is None:
        return np.ones(data.n_respondents)
    numbers = weights
    if isinstance(weights, str):
        numbers = get_respondent_column(data.people, weights)
    try:
        numbers = np.asarray(numbers, float)
    except ValueError as error:
        raise DataError(Argument("weights"), f" must contain numbers ({error}).") from None
    if numbers.shape != (data.n_respondents,):
        raise ArgumentError(
            Argument("weights"),
            f" must be the name of a column, or one number per respondent ({data.n_respondents:,});"
            f" got shape {numbers.shape}.",
        )
    wrong = find_first(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong is not None:
        raise DataError(
            f"The weight of respondent {data.respondents[wrong]!r} is {numbers[wrong]}; weights"
            " must be numbers >= 0. Fill in the weight, or remove the respondent."
        )
    return numbers


def _read_groups(
    data: ChoiceExperiment, by: str | None, respondent: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of the groups, and the group of each row; -1: none."""
    import pandas as pd

    if by is None:
        return (), np.zeros(len(respondent), np.int64)
    if by in (*data.scheme.names, data.scheme.alternative):
        raise DataError(
            f"Column {by!r} differs between the profiles of a task; subgroups require a variable of"
            " respondents or of tasks. Give the name of another column with ",
            Argument("by"),
            ".",
        )
    if by == data.scheme.task:
        cells: Any = pd.Series(data.task_labels[part_indices(data.first_row)])
    elif data.profile_columns is not None and by in data.profile_columns:
        cells = data.profile_columns[by]
    else:
        cells = get_respondent_column(data.people, by).iloc[respondent]
    labels = cells.map(format_label, na_action="ignore")
    groups = order_levels(cells, list(labels.dropna().unique()), [])[0]
    if not 2 <= len(groups) <= MAX_GROUPS:
        raise DataError(
            f"Column {by!r} has {format_plural(len(groups), 'value')} ({shorten(groups)});"
            f" subgroups require 2 to {MAX_GROUPS}. Merge values into fewer groups, or"
            " give the name of another column with ",
            Argument("by"),
            ".",
        )
    return groups, pd.Categorical(labels, list(groups)).codes


def _number_tasks(data: ChoiceExperiment) -> np.ndarray:
    """Return the number of each task among those of its respondent, from 1."""
    respondent = data.respondent_of_task
    try:
        order = np.lexsort((data.task_labels.astype(float), respondent))
    except ValueError:  # labels such as "first": in order of the table
        order = np.arange(data.n_tasks)
    numbers = np.empty(data.n_tasks, np.int64)
    numbers[order] = part_positions(np.diff(data.first_task)) + 1
    return numbers


def _find_positions(data: ChoiceExperiment) -> np.ndarray:
    """Return the position of each profile in its task, from 0."""
    sizes = np.diff(data.first_row)
    labels, codes = np.unique(data.alternative_labels, return_inverse=True)
    if len(labels) <= sizes.max():
        return codes
    return part_positions(sizes)
