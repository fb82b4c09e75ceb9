"""Posterior predictive check of choice models, and quantities of their summary table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.product_encoding import INSIDE, Scheme
from thali._inference.index_arithmetic import sum_parts
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._model.predictive_check import describe_missed_row
from thali._posterior.posterior_interval import INTERVAL, compute_interval, format_level

from .level_effects import orient_pairs

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.fitted_design import ExperimentDesign

REPLICATES = 100  # at most, at evenly spaced draws
LEVEL_SHARE = "share of level"
POSITION_SHARE = "share of position"
HETEROGENEITY = "heterogeneity between respondents"
_MAX_POSITIONS = 12


class ChoiceModelCheck:
    """Method `check` of models that can simulate replicated choices."""

    # (max_draws, rng) -> the design of the data, and replicates (draws, tasks) of its choices
    _simulate_choices: Any

    def check(self, random_seed: RandomSeed = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Return a posterior predictive check by summary statistics of the choices.

        All choices are replicated at up to 100 evenly spaced draws, and compared by summary
        statistics.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row per statistic, the worst first: `measure` and `category` (share of level: the
            share of tasks in which a product with that level was chosen; share of position: the
            share of the first, second, ... alternative; heterogeneity between respondents: the
            standard deviation over respondents of their shares of a level), observed, predicted
            (mean of the replicates), low and high (their interval), p_value (two-sided) and missed
            (whether observed is outside the interval).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        DataError
            If the data could not be saved in the file of the model.

        References
        ----------
        Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized
        discrepancies.
        """
        design, replicated_choices = self._simulate_choices(
            REPLICATES, spawn_generators(random_seed, 1)[0]
        )
        return tabulate_choice_check(design, replicated_choices, ci)


def tabulate_choice_check(
    design: "ChoiceExperiment | ExperimentDesign", replicated_choices: np.ndarray, ci: float
) -> "pandas.DataFrame":
    """Tabulate observed statistics of choices against replicates, shape (n_draws, n_tasks)."""
    from thali._exportable_table import Table

    statistic_names, row_indicators = _build_indicators(design)
    statistic_rows = [
        _compute_statistics(design, row_indicators, chosen)
        for chosen in (design.chosen, *replicated_choices)
    ]
    observed_statistics = statistic_rows[0]
    replicated_statistics = np.array(statistic_rows[1:])
    low, high = compute_interval(replicated_statistics, ci)
    twice_n_below = 2 * (replicated_statistics < observed_statistics).sum(axis=0) + (
        replicated_statistics == observed_statistics
    ).sum(axis=0)
    table = Table(statistic_names, columns=["measure", "category"]).assign(
        observed=observed_statistics,
        predicted=replicated_statistics.mean(axis=0),
        low=low,
        high=high,
        p_value=np.minimum(twice_n_below, 2 * len(replicated_statistics) - twice_n_below)
        / len(replicated_statistics),
        missed=(observed_statistics < low) | (observed_statistics > high),
    )
    table = table.sort_values("p_value", kind="stable", ignore_index=True)
    table.attrs.update(interval=ci, draws=len(replicated_statistics))
    return table


def format_check_sentence(table: "pandas.DataFrame") -> str:
    """Return a sentence on how many statistics the model misses, and the worst one."""
    missed_rows = table.loc[table["missed"]]
    ci = table.attrs["interval"]
    sentence = (
        f"{len(missed_rows)} of {len(table):,} summary statistics of the choices fell outside the"
        f" {format_level(ci)} predictive intervals (about {(1.0 - ci) * len(table):.0f} expected by"
        " chance)"
    )
    if not len(missed_rows):
        return f"{sentence}."
    worst_texts = [
        describe_missed_row(row, f"{row.measure}: {row.category}")
        for row in missed_rows.head(3).itertuples()
    ]
    return f"{sentence}. Worst: {'; '.join(worst_texts)}."


def _build_indicators(
    design: "ChoiceExperiment | ExperimentDesign",
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return names of statistics, and 0/1 indicators of levels and positions by row."""
    # The labels of the heterogeneity of levels follow at the end.
    products = design.products[design.row_product]
    statistic_names = []
    indicator_columns = []
    for attribute_index, (attribute, (groups, group_of_level)) in enumerate(
        design.scheme.groups.items()
    ):
        group_of_row = np.append(group_of_level, -1)[products[:, attribute_index]]
        for group_index, label in enumerate(groups):
            statistic_names.append((LEVEL_SHARE, f"{attribute} = {label}"))
            indicator_columns.append(group_of_row == group_index)
    spread_labels = [(HETEROGENEITY, level_label) for _, level_label in statistic_names]
    task_sizes = np.diff(design.first_row)
    row_position = np.arange(len(products)) - np.repeat(design.first_row[:-1], task_sizes)
    for position in range(min(int(task_sizes.max()), _MAX_POSITIONS)):
        statistic_names.append((POSITION_SHARE, f"alternative {position + 1}"))
        indicator_columns.append(row_position == position)
    return [*statistic_names, *spread_labels], np.column_stack(indicator_columns).astype(np.float64)


def _compute_statistics(
    design: "ChoiceExperiment | ExperimentDesign", indicators: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    """Return shares of choices by level and position, and their sd over respondents."""
    chosen_indicators = indicators[design.first_row[:-1] + chosen]
    n_levels = sum(len(groups) for groups, _ in design.scheme.groups.values())
    by_respondent = (
        sum_parts(chosen_indicators[:, :n_levels], design.first_task)
        / np.diff(design.first_task)[:, None]
    )
    return np.concatenate([chosen_indicators.mean(axis=0), by_respondent.std(axis=0)])


# Quantities of the convergence check: shares of levels among choices, and level effects -----------


DESCRIPTIONS = {
    "share": "expected share of the tasks in the data in which a product with that level is chosen",
    "effect": "probability that one level is preferred to the other, all else being equal; mean"
    " over respondents",
}


def list_share_names(scheme: "Scheme") -> list[str]:
    """Return "attribute=level" of all levels whose share is reported, without the first.

    The share of the first follows from the others.
    """
    return [
        INSIDE if name == INSIDE else f"{name}={label}"
        for name, (groups, _) in scheme.groups.items()
        for label in groups[1:]
    ]


def build_level_indicators(scheme: "Scheme", products: np.ndarray) -> np.ndarray:
    """Return whether each product has each reported level, shape (products, levels)."""
    indicator_columns = []
    for i, (groups, group_of_level) in enumerate(scheme.groups.values()):
        group_of_product = np.append(group_of_level, -1)[products[:, i]]
        indicator_columns += [group_of_product == k for k in range(1, len(groups))]
    return np.array(indicator_columns, float).T


def list_reference_pairs(
    scheme: "Scheme", directions: Sequence[int] | np.ndarray
) -> list[tuple[int, int, int]]:
    """Return (attribute, level, preferred level) for the first level against each other.

    The better level is the preferred one if the attribute has a direction.
    """
    reference_pairs = []
    for i, (attribute, levels) in enumerate(scheme.levels.items()):
        reference_level, *other_levels = scheme.select_compared_levels(
            attribute, np.arange(len(levels))
        ).tolist()
        reference_pairs += [(i, reference_level, k) for k in other_levels]
    return orient_pairs(reference_pairs, directions)


def list_effect_names(scheme: "Scheme", pairs: Sequence[tuple[int, int, int]]) -> list[str]:
    """Return the summary row name of each pair of levels."""
    attribute_labels = list(scheme.labels.items())
    return [
        f"{attribute_labels[i][0]}: {attribute_labels[i][1][b]} over {attribute_labels[i][1][a]}"
        for i, a, b in pairs
    ]


def build_report_arrays(
    shares: np.ndarray, effects: np.ndarray, levels: Sequence[str], pairs: Sequence[str]
) -> "dict[str, xarray.DataArray]":
    """Return draws of level shares and level effects as posterior variables."""
    import xarray as xr

    variables = {
        "share": (shares, "product_level", levels),
        "effect": (effects, "level_pair", pairs),
    }
    return {
        name: xr.DataArray(
            array,
            {dimension: list(coordinate_names)},
            ("chain", "draw", dimension),
            attrs={"description": DESCRIPTIONS[name]},
        )
        for name, (array, dimension, coordinate_names) in variables.items()
    }


def read_summary_rows(draws: "xarray.Dataset") -> dict[str, np.ndarray]:
    """Return the draws of each summary row, arrays (chain, draw) by row name."""
    draws_by_row = {}
    for name in DESCRIPTIONS:
        variable = draws[name]
        labels = variable[variable.dims[2]].values
        draws_by_row |= {
            f"{name}[{label}]": variable.values[..., k] for k, label in enumerate(labels)
        }
    return draws_by_row
