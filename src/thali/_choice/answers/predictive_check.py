"""Posterior predictive check of choice models, and quantities of their summary table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.product_encoding import INSIDE, Scheme
from thali._inference.index_arithmetic import sum_parts
from thali._inference.random_seeds import spawn_generators
from thali._posterior.posterior_interval import INTERVAL, compute_interval, format_level

from .effects import orient_pairs

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.fitted_design import ExperimentDesign

REPLICATES = 100  # at most, at evenly spaced draws
LEVEL_SHARE, POSITION_SHARE, HETEROGENEITY = (
    "share of level",
    "share of position",
    "heterogeneity between respondents",
)
_MAX_POSITIONS = 12


class ChoiceModelCheck:
    """Method `check` of models that can simulate replicated choices."""

    # (max_draws, rng) -> the design of the data, and replicates (draws, tasks) of its choices
    _simulate_choices: Any

    def check(self, random_seed: Any = None, ci: float = INTERVAL) -> "pandas.DataFrame":
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
        design, replicates = self._simulate_choices(REPLICATES, spawn_generators(random_seed, 1)[0])
        return tabulate_choice_check(design, replicates, ci)


def tabulate_choice_check(
    design: "ChoiceExperiment | ExperimentDesign", replicates: np.ndarray, ci: float
) -> "pandas.DataFrame":
    """Tabulate observed statistics of choices against replicates, shape (n_draws, n_tasks)."""
    from thali._exportable_table import Table

    labels, of_rows = _build_indicators(design)
    statistics = [
        _compute_statistics(design, of_rows, chosen) for chosen in (design.chosen, *replicates)
    ]
    observed, replicated = statistics[0], np.array(statistics[1:])
    low, high = compute_interval(replicated, ci)
    below = 2 * (replicated < observed).sum(axis=0) + (replicated == observed).sum(axis=0)
    table = Table(labels, columns=["measure", "category"]).assign(
        observed=observed,
        predicted=replicated.mean(axis=0),
        low=low,
        high=high,
        p_value=np.minimum(below, 2 * len(replicated) - below) / len(replicated),
        missed=(observed < low) | (observed > high),
    )
    table = table.sort_values("p_value", kind="stable", ignore_index=True)
    table.attrs.update(interval=ci, draws=len(replicated))
    return table


def format_check_sentence(table: "pandas.DataFrame") -> str:
    """Return a sentence on how many statistics the model misses, and the worst one."""
    missed = table.loc[table["missed"]]
    ci = table.attrs["interval"]
    sentence = (
        f"{len(missed)} of {len(table):,} summary statistics of the choices fell outside the"
        f" {format_level(ci)} predictive intervals (about {(1.0 - ci) * len(table):.0f} expected by"
        " chance)"
    )
    if not len(missed):
        return f"{sentence}."
    worst = [
        f"{row['measure']}, {row['category']} (observed {row['observed']:.3f}, predicted"
        f" {row['low']:.3f} to {row['high']:.3f})"
        for row in missed.head(3).to_dict("records")
    ]
    return f"{sentence}. Worst: {'; '.join(worst)}."


def _build_indicators(
    design: "ChoiceExperiment | ExperimentDesign",
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Return names of statistics, and 0/1 indicators of levels and positions by row."""
    # The labels of the heterogeneity of levels follow at the end.
    products = design.products[design.row_product]
    labels, columns = [], []
    for index, (name, (groups, of_level)) in enumerate(design.scheme.groups.items()):
        group = np.append(of_level, -1)[products[:, index]]
        for group_index, label in enumerate(groups):
            labels.append((LEVEL_SHARE, f"{name} = {label}"))
            columns.append(group == group_index)
    between = [(HETEROGENEITY, level_label) for _, level_label in labels]
    sizes = np.diff(design.first_row)
    position = np.arange(len(products)) - np.repeat(design.first_row[:-1], sizes)
    for index in range(min(int(sizes.max()), _MAX_POSITIONS)):
        labels.append((POSITION_SHARE, f"alternative {index + 1}"))
        columns.append(position == index)
    return [*labels, *between], np.column_stack(columns).astype(np.float64)


def _compute_statistics(
    design: "ChoiceExperiment | ExperimentDesign", indicators: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    """Return shares of choices by level and position, and their sd over respondents."""
    counted = indicators[design.first_row[:-1] + chosen]
    levels = sum(len(groups) for groups, _ in design.scheme.groups.values())
    by_respondent = (
        sum_parts(counted[:, :levels], design.first_task) / np.diff(design.first_task)[:, None]
    )
    return np.concatenate([counted.mean(axis=0), by_respondent.std(axis=0)])


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
    columns = []
    for i, (groups, of_level) in enumerate(scheme.groups.values()):
        group = np.append(of_level, -1)[products[:, i]]
        columns += [group == k for k in range(1, len(groups))]
    return np.array(columns, float).T


def list_reference_pairs(
    scheme: "Scheme", directions: Sequence[int] | np.ndarray
) -> list[tuple[int, int, int]]:
    """Return (attribute, level, preferred level) for the first level against each other.

    The better level is the preferred one if the attribute has a direction.
    """
    pairs = []
    for i, (name, levels) in enumerate(scheme.levels.items()):
        reference, *other_levels = scheme.select_compared_levels(
            name, np.arange(len(levels))
        ).tolist()
        pairs += [(i, reference, k) for k in other_levels]
    return orient_pairs(pairs, directions)


def list_effect_names(scheme: "Scheme", pairs: Sequence[tuple[int, int, int]]) -> list[str]:
    """Return the summary row name of each pair of levels."""
    labels = list(scheme.labels.items())
    return [f"{labels[i][0]}: {labels[i][1][b]} over {labels[i][1][a]}" for i, a, b in pairs]


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
            {dim: list(names)},
            ("chain", "draw", dim),
            attrs={"description": DESCRIPTIONS[name]},
        )
        for name, (array, dim, names) in variables.items()
    }


def read_summary_rows(draws: "xarray.Dataset") -> dict[str, np.ndarray]:
    """Return the draws of each summary row, arrays (chain, draw) by row name."""
    rows = {}
    for name in DESCRIPTIONS:
        variable = draws[name]
        labels = variable[variable.dims[2]].values
        rows |= {f"{name}[{label}]": variable.values[..., k] for k, label in enumerate(labels)}
    return rows
