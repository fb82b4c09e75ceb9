"""Average marginal component effects and marginal means, with subgroups and design checks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_open_interval
from thali._data.experiments import ChoiceExperiment

from .design import (
    EffectDesign,
    build_group_blocks,
    find_baselines,
    parse_restrictions,
)
from .design_checks import check_design
from .linear_fit import Estimates, LinearFit, WaldTest, compute_t_p_values, compute_t_quantiles
from .measurement_error import SwapError, estimate_swap_error
from .profiles import Profiles, build_profiles
from .result import ConjointResult

if TYPE_CHECKING:
    import pandas as pd


class _Estimand(NamedTuple):
    """Estimates of all levels in all groups, and the differences between the groups."""

    by_group: Estimates  # (groups * levels), all levels of the first group first
    differences: Estimates | None  # to the first group; None without groups


def amce(
    data: ChoiceExperiment,
    by: str | None = None,
    weights: Any = None,
    outcome: str | None = None,
    baseline: Mapping[str, Any] | None = None,
    restrictions: Iterable[Sequence[str]] | None = None,
    repeated: Sequence[Any] | None = None,
    ci: float = 0.95,
) -> ConjointResult:
    r"""Estimate average marginal component effects of a conjoint experiment.

    """
    ci = check_open_interval("ci", ci, "the probability of an interval")
    profiles = build_profiles(data, by, weights, outcome)
    profiles, swap_error = estimate_swap_error(profiles, repeated)
    linked_pairs = parse_restrictions(profiles, restrictions)
    design = EffectDesign(profiles, find_baselines(profiles, baseline), linked_pairs)
    effects, joint_test = _estimate_effects(design)
    tables = _LevelTables(profiles, swap_error, ci)
    return ConjointResult(
        "Average marginal component effects",
        tables.build(effects.by_group, design.baselines),
        "",
        **_build_shared_tables(tables, _estimate_means(profiles)),
        effect_differences=tables.build_differences(effects.differences, design.baselines),
        joint_test=joint_test,
        checks=check_design(design),
        ci=ci,
        settings=_list_settings(data, profiles, by, weights, outcome),
    )


def marginal_means(
    data: ChoiceExperiment,
    by: str | None = None,
    weights: Any = None,
    outcome: str | None = None,
    repeated: Sequence[Any] | None = None,
    ci: float = 0.95,
) -> ConjointResult:
    """Estimate the mean outcome of the profiles with each level of a conjoint experiment.

    """
    ci = check_open_interval("ci", ci, "the probability of an interval")
    profiles = build_profiles(data, by, weights, outcome)
    profiles, swap_error = estimate_swap_error(profiles, repeated)
    tables = _LevelTables(profiles, swap_error, ci)
    shared_tables = _build_shared_tables(tables, _estimate_means(profiles))
    return ConjointResult(
        "Marginal means",
        shared_tables["marginal_means"],
        "",
        **shared_tables,
        ci=ci,
        settings=_list_settings(data, profiles, by, weights, outcome),
    )


def _build_shared_tables(tables: "_LevelTables", means: _Estimand) -> dict[str, Any]:
    """Return the tables of marginal means, their differences, and the reliability, by name."""
    return {
        "marginal_means": tables.build(means.by_group, None),
        "mean_differences": tables.build_differences(means.differences, None),
        "reliability": tables.build_reliability(),
    }


def _list_settings(
    data: ChoiceExperiment, profiles: Profiles, by: Any, weights: Any, outcome: Any
) -> dict[str, Any]:
    """Return the settings and sizes that sentences mention."""
    if weights is not None and not isinstance(weights, str):
        weights = "given numbers"
    return {
        "by": by,
        "weights": weights,
        "outcome": outcome,
        "groups": list(profiles.groups),
        "is_choice": bool(np.isin(profiles.outcome, (0, 1)).all()),
        "n_respondents": profiles.n_respondents,
        "n_tasks": int(profiles.task[-1]) + 1,
        "n_profiles": len(profiles.outcome),
        "read_as": data.read_as,
    }


class _LevelTables:
    """Builder of tables with one row per level (and group)."""

    def __init__(self, profiles: Profiles, swap_error: SwapError | None, ci: float) -> None:
        self._profiles, self._swap_error, self._ci = profiles, swap_error, ci
        self._names = [
            (name, label) for name, labels in profiles.levels.items() for label in labels
        ]

    def build(self, estimates: Estimates, baselines: list[int] | None) -> "pd.DataFrame":
        """Build the table of all levels in all groups; `baselines` of effects, None: of means."""
        table = self._build_rows(self._profiles.groups, baselines)
        self._add_estimates(table, estimates, baselines is not None)
        if baselines is None:
            table["profiles"] = self._count_profiles()
        if self._swap_error is not None:
            corrected = self._swap_error.correct(estimates, baselines is None)
            self._add_corrected(table, corrected)
        return table

    def build_differences(
        self, differences: Estimates | None, baselines: list[int] | None
    ) -> "pd.DataFrame | None":
        """Build the table of differences to the first group; None without groups."""
        if differences is None:
            return None
        first_group, *other_groups = self._profiles.groups
        table = self._build_rows(other_groups, baselines)
        table.insert(3, "reference", first_group)
        self._add_estimates(table, differences, True)
        if self._swap_error is not None:  # one probability of swapping for all groups
            self._add_corrected(table, self._swap_error.correct(differences, False))
        return table

    def build_reliability(self) -> "pd.DataFrame | None":
        """Build the table of the reliability of choices; None without repeated tasks."""
        from thali._exportable_table import Table

        if self._swap_error is None:
            return None
        return Table([self._swap_error.summary])

    def _build_rows(self, groups: Sequence[str], baselines: list[int] | None) -> "pd.DataFrame":
        """Return a table with the names of levels, groups and baselines."""
        from thali._exportable_table import Table

        n_groups = max(len(groups), 1)
        attributes, levels = zip(*self._names, strict=True)
        table = Table({"attribute": attributes * n_groups, "level": levels * n_groups})
        if groups:
            table["group"] = np.repeat(np.array(groups, object), len(levels))
        if baselines is not None:
            base_labels = [
                labels[base]
                for base, labels in zip(baselines, self._profiles.levels.values(), strict=True)
                for _ in labels
            ]
            table["baseline"] = base_labels * n_groups
        return table

    def _add_estimates(
        self, table: "pd.DataFrame", estimates: Estimates, has_p_value: bool
    ) -> None:
        """Add the columns of estimates, intervals and errors."""
        margin = compute_t_quantiles(estimates.df, self._ci) * estimates.std_error
        table["estimate"] = estimates.value
        table["low"] = estimates.value - margin
        table["high"] = estimates.value + margin
        table["std_error"] = np.where(estimates.df > 0, estimates.std_error, np.nan)
        table["df"] = estimates.df
        if has_p_value:
            table["p_value"] = compute_t_p_values(estimates)
        table.attrs["interval"] = self._ci

    def _add_corrected(self, table: "pd.DataFrame", corrected: Estimates) -> None:
        """Add the columns of estimates that are corrected for swapped answers."""
        margin = compute_t_quantiles(corrected.df, self._ci) * corrected.std_error
        table["corrected"] = corrected.value
        table["corrected_low"] = corrected.value - margin
        table["corrected_high"] = corrected.value + margin
        table["corrected_se"] = np.where(corrected.df > 0, corrected.std_error, np.nan)

    def _count_profiles(self) -> np.ndarray:
        """Return the number of profiles with each level in each group."""
        profiles = self._profiles
        counts = [
            np.bincount(
                profiles.group * (len(labels) + 1) + codes,
                minlength=profiles.n_groups * (len(labels) + 1),
            ).reshape(profiles.n_groups, -1)[:, :-1]
            for codes, labels in zip(profiles.codes.T, profiles.levels.values(), strict=True)
        ]
        return np.concatenate(counts, axis=1).ravel()


def _estimate_effects(design: EffectDesign) -> "tuple[_Estimand, pd.DataFrame | None]":
    """Estimate the effects of all groups, their differences, and the joint test of these."""
    from thali._exportable_table import Table

    profiles = design.profiles
    matrix = design.build_matrix(build_group_blocks(profiles))
    fit = LinearFit(matrix, profiles.outcome, profiles.weights, profiles.bounds)
    contrasts = design.build_contrasts()
    by_group = fit.estimate(_place_in_blocks(contrasts, np.eye(profiles.n_groups)))
    if profiles.n_groups == 1:
        return _Estimand(by_group, None), None
    differences = _place_in_blocks(contrasts, _compare_groups(profiles.n_groups))
    test_table = Table([fit.test(differences)])
    return _Estimand(by_group, fit.estimate(differences)), test_table


def _estimate_means(profiles: Profiles) -> _Estimand:
    """Estimate the mean outcome of the profiles with each level, by group."""
    from scipy.sparse import csr_array

    n_rows, n_groups = len(profiles.outcome), profiles.n_groups
    parts: list[list[Estimates]] = [[], []]
    n_levels = []
    for codes, labels in zip(profiles.codes.T, profiles.levels.values(), strict=True):
        columns = profiles.group * (len(labels) + 1) + codes
        matrix = csr_array(
            (np.ones(n_rows), columns, np.arange(n_rows + 1)),
            shape=(n_rows, n_groups * (len(labels) + 1)),
        )
        fit = LinearFit(matrix, profiles.outcome, profiles.weights, profiles.bounds)
        contrasts = np.eye(len(labels) + 1)[:, :-1]
        n_levels.append(len(labels))
        parts[0].append(fit.estimate(_place_in_blocks(contrasts, np.eye(n_groups))))
        if n_groups > 1:
            parts[1].append(fit.estimate(_place_in_blocks(contrasts, _compare_groups(n_groups))))
    differences = None
    if n_groups > 1:
        differences = _join_attributes(parts[1], n_levels, n_groups - 1)
    return _Estimand(_join_attributes(parts[0], n_levels, n_groups), differences)


def _join_attributes(
    parts: list[Estimates], n_levels: list[int], n_groups: int
) -> Estimates:
    """Join the estimates of attributes, all levels of the first group first."""
    joined = Estimates.join(parts)
    group = np.concatenate([np.repeat(np.arange(n_groups), n) for n in n_levels])
    order = np.argsort(group, kind="stable")
    return Estimates(*(array[..., order] for array in joined))


def _compare_groups(n_groups: int) -> np.ndarray:
    """Return contrasts (groups, groups - 1) of each other group to the first."""
    return np.concatenate([-np.ones((1, n_groups - 1)), np.eye(n_groups - 1)])


def _place_in_blocks(contrasts: np.ndarray, group_contrasts: np.ndarray) -> np.ndarray:
    """Return contrasts (p, k) for each contrast of blocks (blocks, m), (blocks * p, m * k)."""
    n_columns, n_contrasts = contrasts.shape
    placed = np.zeros((*group_contrasts.shape, n_columns, n_contrasts))
    for block, column in np.argwhere(group_contrasts != 0).tolist():
        placed[block, column] = group_contrasts[block, column] * contrasts
    return placed.transpose(0, 2, 1, 3).reshape(len(group_contrasts) * n_columns, -1)
