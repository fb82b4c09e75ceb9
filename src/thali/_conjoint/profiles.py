"""Profiles of a conjoint experiment: one row each, with levels, outcome, weight and group."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._data.column_roles import column_names
from thali._data.experiments import ChoiceExperiment
from thali._data.prediction_scores import find_chosen_rows
from thali._data.respondent_table import group_people
from thali._inference.index_arithmetic import find_first, part_bounds, part_indices, part_positions
from thali._labels import format_label, format_plural, shorten, suggest
from thali.errors import Argument, ArgumentError, DataError

if TYPE_CHECKING:
    import pandas as pd

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
    def bounds(self) -> np.ndarray:
        """Rows of respondent s: bounds[s] to bounds[s + 1] - 1."""
        return part_bounds(np.bincount(self.respondent))

    @property
    def n_groups(self) -> int:
        """Number of groups; 1 without groups."""
        return max(len(self.groups), 1)

    @property
    def n_respondents(self) -> int:
        """Number of respondents with at least one row."""
        return int(self.respondent[-1]) + 1

    def select(self, is_selected: np.ndarray) -> "Profiles":
        """Return some of the rows, with respondents and tasks renumbered and weights of mean 1."""
        rows = {
            name: array[is_selected]
            for name, array in self._asdict().items()
            if isinstance(array, np.ndarray)
        }
        for name in ("respondent", "task"):
            rows[name] = np.unique(rows[name], return_inverse=True)[1]
        rows["weights"] = rows["weights"] / rows["weights"].mean()
        return self._replace(**rows)


def build_profiles(
    data: ChoiceExperiment, by: str | None, weights: Any, outcome: str | None
) -> Profiles:
    """Build the table of profiles of an experiment, with groups, weights and outcome."""
    if not isinstance(data, ChoiceExperiment):
        raise DataError(
            "These estimates require a choice experiment with one row per profile; got"
            f" {type(data).__name__}. Read it with th.read(FILE)."
        )
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
    if outcome in (None, "choice", data.scheme.chosen):
        chosen = np.zeros(data.n_alternatives)
        chosen[find_chosen_rows(data)] = 1.0
        return chosen
    raise DataError(f"There is no outcome {outcome!r}.")


def _read_weights(data: ChoiceExperiment, weights: Any) -> np.ndarray:
    """Return the weight of each respondent: 1, a column of respondents, or given numbers."""
    if weights is None:
        return np.ones(data.n_respondents)
    column = weights
    name = "The weights"
    if isinstance(weights, str):
        name = f"Column {weights!r}"
        column = _get_respondent_column(data, weights)
    elif isinstance(weights, Mapping) or hasattr(weights, "index"):
        number_by_label = {format_label(label): cell for label, cell in dict(weights).items()}
        if missing := [label for label in data.respondents if label not in number_by_label]:
            raise DataError(
                Argument("weights"),
                f" has no weight for {format_plural(len(missing), 'respondent')},"
                f" {shorten(missing)}; give one weight per respondent.",
            )
        column = [number_by_label[label] for label in data.respondents]
    try:
        numbers = np.asarray(column, float)
    except (TypeError, ValueError):
        raise DataError(
            f"{name} must contain numbers; got {column!r:.60}. Name a column of numbers."
        ) from None
    if numbers.shape != (data.n_respondents,):
        raise ArgumentError(
            Argument("weights"),
            f" must be a column, or one number for each of {data.n_respondents:,} respondents;"
            f" got shape {numbers.shape}.",
        )
    wrong = find_first(~(np.isfinite(numbers) & (numbers >= 0)))
    if wrong is not None:
        raise DataError(
            f"{name} is {numbers[wrong]} for respondent {data.respondents[wrong]!r}; weights must"
            " be numbers >= 0. Fill in the weight, or remove the respondent."
        )
    if not numbers.any():
        raise DataError(f"{name} is 0 for all respondents; at least one must be positive.")
    return numbers


def _get_respondent_column(data: ChoiceExperiment, name: str) -> "pd.Series":
    """Return a column of the respondents' table; raise DataError if there is none."""
    known_columns: list[str] = []
    if data.people is not None:
        known_columns = column_names(data.people)
        if name in known_columns:
            return data.people[name]
    raise DataError(
        f"{name!r} is not a column that is constant within each respondent; such columns are"
        f" {shorten(known_columns) or 'absent'}.{suggest(name, known_columns)}"
    )


def _read_groups(
    data: ChoiceExperiment, by: str | None, respondent: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of the groups, and the group of each row; -1: none."""
    if by is None:
        return (), np.zeros(len(respondent), np.int64)
    members_by_group = group_people(data.people, by, np.arange(data.n_respondents))
    group_of_respondent = np.full(data.n_respondents, -1)
    groups = _sort_groups(data, by, list(members_by_group))
    for k, name in enumerate(groups):
        group_of_respondent[members_by_group[name]] = k
    _check_groups(by, groups)
    return groups, group_of_respondent[respondent]


def _sort_groups(data: ChoiceExperiment, by: str, names: list[str]) -> tuple[str, ...]:
    """Return the names of groups in the order of categories, numbers or the alphabet."""
    from thali._data.experiments.attribute_levels import order_levels

    assert data.people is not None
    return order_levels(data.people[by], names, [])[0]


def _check_groups(by: str, groups: tuple[str, ...]) -> None:
    """Raise DataError unless there are two to seven groups."""
    if not 2 <= len(groups) <= MAX_GROUPS:
        raise DataError(
            f"Column {by!r} has {format_plural(len(groups), 'value')} ({shorten(groups)});"
            f" subgroups require 2 to {MAX_GROUPS}. Merge values into fewer groups, or name"
            " another column with ",
            Argument("by"),
            ".",
        )


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
