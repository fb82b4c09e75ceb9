"""Average marginal component effects and marginal means, with subgroups and design checks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._argument_checks import check_open_interval

from .design import EffectDesign, build_indicators, find_baselines, parse_restrictions
from .design_checks import check_design
from .linear_fit import Estimates, LinearFit, compute_t_p_values, compute_t_quantiles
from .measurement_error import estimate_swap_error
from .profiles import build_profiles, read_experiment
from .result import ConjointResult

if TYPE_CHECKING:
    import pandas as pd

    from thali._data.experiments import ChoiceExperiment


def amce(
    data: "ChoiceExperiment | pd.DataFrame",
    by: str | None = None,
    weights: str | Sequence[float] | np.ndarray | None = None,
    outcome: str | None = None,
    baseline: Mapping[str, Any] | None = None,
    restrictions: Iterable[Sequence[str]] | None = None,
    repeated: Sequence[Any] | None = None,
    ci: float = 0.95,
) -> ConjointResult:
    r"""Estimate average marginal component effects (AMCE) of a conjoint experiment.

    .. math::

        \mathrm{AMCE}(t_1, t_0) = E\big(Y(t_1, T) - Y(t_0, T)\big)

    Y is 1 for a chosen profile and 0 for others, or the rating, and T are the levels of the other
    attributes, with the distribution of the design. Estimates are those of a linear regression on
    indicators of all levels, with the interactions of attributes that were not randomised
    independently; their effects are averages over the profiles in which both levels could be shown.
    Standard errors are clustered by respondent (CR2), intervals use Student's t with the degrees of
    freedom of Bell and McCaffrey.

    Parameters
    ----------
    data : ChoiceExperiment, DataFrame, str or path
        The experiment, or a table with one row per profile, which is read as by `thali.read`.
    by : str, optional
        Column of the table that defines two to seven subgroups: of respondents, or of tasks. Rows
        with an empty cell are left out.
    weights : str or array (respondents,), optional
        Weights of the respondents, numbers >= 0: a column, or one number each.
    outcome : str, optional
        Column of ratings to analyse, or "choice". None: the choice, or the ratings of a
        `ChoiceExperiment` without choices.
    baseline : dict, optional
        Attribute -> the level to which its effects compare. None: the first level.
    restrictions : list of pairs of str, optional
        Pairs of attributes that were not randomised independently. None: found in the data, where
        levels never meet or are not independent (p < 1e-8); []: none.
    repeated : pair, optional
        Two tasks, such as ("1", "6"), that showed the same profiles. Estimates are then also
        corrected for swapped answers, and the second task is left out.
    ci : float
        Probability of the intervals, in (0, 1).

    Returns
    -------
    ConjointResult
        `.table` has the effects, `.marginal_means` the means, `.effect_differences` and
        `.joint_test` compare subgroups, `.checks` are checks of the design; `.findings()`,
        `.plot()` and `.save(path)`.

    Raises
    ------
    DataError
        If the table lacks a column, weights are not numbers >= 0, there are fewer than two or more
        than seven subgroups, or the repeated tasks showed different profiles.
    ArgumentError
        If an attribute, level or task is unknown, or `ci` is outside (0, 1).

    References
    ----------
    Hainmueller, Hopkins & Yamamoto (2014), Causal inference in conjoint analysis; Bell & McCaffrey
    (2002), Bias reduction in standard errors for linear regression with multi-stage samples;
    Clayton, Horiuchi, Kaufman, King & Komisarchik (2023), Correcting measurement error bias in
    conjoint survey experiments.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "respondent": [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
    ...     "task": [1, 1, 2, 2] * 3,
    ...     "party": ["Left", "Right", "Right", "Left"] * 3,
    ...     "chosen": [1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0],
    ... }
    >>> effects = th.amce(pd.DataFrame(rows)).table
    >>> effects[["level", "baseline", "estimate"]].round(2).values.tolist()
    [['Left', 'Left', 0.0], ['Right', 'Left', -0.33]]
    """
    from thali._exportable_table import Table

    study = _Study(data, by, weights, outcome, repeated, ci)
    profiles = study.profiles
    linked_pairs = parse_restrictions(profiles, restrictions)
    design = EffectDesign(profiles, find_baselines(profiles, baseline), linked_pairs)
    fit = design.fit(study.group_blocks)
    contrasts = design.contrasts
    table, differences = study.tabulate([(fit, contrasts)], design.baselines)
    joint_test = None
    if profiles.groups:
        test = fit.test(np.kron(study.group_comparisons, contrasts))
        joint_test = Table([test._asdict()])
    return ConjointResult(
        "Average marginal component effects",
        table,
        "",
        **study.estimate_means(),
        effect_differences=differences,
        joint_test=joint_test,
        checks=check_design(design),
    )


def marginal_means(
    data: "ChoiceExperiment | pd.DataFrame",
    by: str | None = None,
    weights: str | Sequence[float] | np.ndarray | None = None,
    outcome: str | None = None,
    repeated: Sequence[Any] | None = None,
    ci: float = 0.95,
) -> ConjointResult:
    r"""Estimate marginal means: the mean outcome of the profiles with each level.

    .. math:: \mathrm{MM}(t) = E\big(Y(t, T)\big)

    Unlike effects they need no baseline, so that they compare subgroups. Standard errors and
    intervals are those of `amce`.

    Parameters
    ----------
    data : ChoiceExperiment, DataFrame, str or path
        The experiment, or a table with one row per profile, which is read as by `thali.read`.
    by : str, optional
        Column of the table that defines two to seven subgroups: of respondents, or of tasks. Rows
        with an empty cell are left out.
    weights : str or array (respondents,), optional
        Weights of the respondents, numbers >= 0: a column, or one number each.
    outcome : str, optional
        Column of ratings to analyse, or "choice". None: the choice, or the ratings of a
        `ChoiceExperiment` without choices.
    repeated : pair, optional
        Two tasks that showed the same profiles, as in `amce`.
    ci : float
        Probability of the intervals, in (0, 1).

    Returns
    -------
    ConjointResult
        `.table` has the means, `.mean_differences` compares subgroups; `.findings()`, `.plot()`
        and `.save(path)`.

    Raises
    ------
    DataError, ArgumentError
        As `amce`.

    References
    ----------
    Leeper, Hobolt & Tilley (2020), Measuring subgroup preferences in conjoint experiments.

    Examples
    --------
    >>> import pandas as pd, thali as th
    >>> rows = {
    ...     "respondent": [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
    ...     "task": [1, 1, 2, 2] * 3,
    ...     "party": ["Left", "Right", "Right", "Left"] * 3,
    ...     "chosen": [1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0],
    ... }
    >>> means = th.marginal_means(pd.DataFrame(rows)).table
    >>> means[["level", "estimate", "profiles"]].round(2).values.tolist()
    [['Left', 0.67, 6], ['Right', 0.33, 6]]
    """
    facts = _Study(data, by, weights, outcome, repeated, ci).estimate_means()
    return ConjointResult("Marginal means", facts["marginal_means"], "", **facts)


class _Study:
    """Profiles of a study, and tables of what is estimated from them."""

    def __init__(
        self,
        data: "ChoiceExperiment | pd.DataFrame",
        by: str | None,
        weights: str | Sequence[float] | np.ndarray | None,
        outcome: str | None,
        repeated: Sequence[Any] | None,
        ci: float,
    ) -> None:
        self._ci = check_open_interval("ci", ci, "the probability of the intervals")
        data = read_experiment(data, outcome)
        self.profiles, self._swap_error = estimate_swap_error(
            build_profiles(data, by, weights, outcome), repeated
        )
        n_groups = max(len(self.profiles.groups), 1)
        # of each other group to the first
        self.group_comparisons = np.eye(n_groups)[:, 1:] - np.eye(n_groups)[:, :1]
        self.group_blocks = np.eye(n_groups)[self.profiles.group]
        self._settings = {
            "weights": _describe_weights(weights),
            "read_as": data.read_as,
            "is_choice": self.profiles.is_choice,
            "n_respondents": self.profiles.n_respondents,
            "n_tasks": int(self.profiles.task[-1]) + 1,
            "n_profiles": len(self.profiles.outcome),
        }

    def estimate_means(self) -> dict[str, Any]:
        """Return the results that do not depend on baselines, by their name in the result."""
        profiles = self.profiles
        fits = []
        counts = []
        for k, n_levels in enumerate(profiles.n_levels):
            design = build_indicators(
                profiles.codes[:, [k]], profiles.n_levels[[k]], self.group_blocks
            )
            fit = LinearFit(design, profiles.outcome, profiles.weights, profiles.bounds)
            fits.append((fit, np.eye(n_levels + 1, n_levels)))
            counts.append(design.sum(axis=0).reshape(-1, n_levels + 1)[:, :-1])
        table, differences = self.tabulate(fits, None)
        table["profiles"] = np.concatenate(counts, axis=1).ravel().astype(int)
        return {
            "marginal_means": table,
            "mean_differences": differences,
            "reliability": self._swap_error and self._swap_error.to_table(),
            "ci": self._ci,
            "settings": self._settings,
        }

    def tabulate(
        self, fits: Sequence[tuple[LinearFit, np.ndarray]], baselines: list[int] | None
    ) -> "tuple[pd.DataFrame, pd.DataFrame | None]":
        """Return the table of contrasts in all groups, and of differences to the first group.

        `fits`: regressions, each with contrasts (coefficients, levels); `baselines`: of effects.
        """
        names = self.profiles.groups or ("",)
        groups = np.concatenate([np.eye(len(names)), self.group_comparisons], axis=1)
        parts = [fit.estimate(np.kron(groups, contrasts)) for fit, contrasts in fits]
        n_sets = groups.shape[1]
        estimates = Estimates(
            *(
                np.concatenate(
                    [array.reshape(*array.shape[:-1], n_sets, -1) for array in arrays], axis=-1
                ).reshape(*arrays[0].shape[:-1], -1)
                for arrays in zip(*parts, strict=True)
            )
        )
        table: Any = self._build_rows([*names, *names[1:]], baselines)
        n_rows = len(names) * int(self.profiles.n_levels.sum())
        is_mean = (np.arange(len(table)) < n_rows) & (baselines is None)
        self._add_estimates(table, estimates, is_mean)
        if not self.profiles.groups:
            return table.drop(columns="group"), None
        return table[:n_rows].copy(), table[n_rows:].reset_index(drop=True).assign(
            reference=names[0]
        )

    def _build_rows(self, groups: list[str], baselines: list[int] | None) -> "pd.DataFrame":
        """Return a table of the names of all levels in each group."""
        from thali._exportable_table import Table

        base_levels = baselines or [0] * len(self.profiles.levels)
        rows = [
            (name, label, group, labels[base])
            for group in groups
            for (name, labels), base in zip(self.profiles.levels.items(), base_levels, strict=True)
            for label in labels
        ]
        table = Table(rows, columns=["attribute", "level", "group", "baseline"])
        if baselines is None:
            return table.drop(columns="baseline")
        return table

    def _add_estimates(
        self, table: "pd.DataFrame", estimates: Estimates, is_mean: np.ndarray
    ) -> None:
        """Add columns of estimates, intervals and errors, and of corrected estimates."""
        is_known = estimates.df > 0
        quantiles = compute_t_quantiles(estimates.df, self._ci)
        kinds = [("estimate", "low", "high", "std_error", estimates)]
        if self._swap_error is not None:
            corrected = self._swap_error.correct(estimates, is_mean)
            kinds.append(
                ("corrected", "corrected_low", "corrected_high", "corrected_se", corrected)
            )
        for name, low, high, error, each in kinds:
            table[name] = each.value
            table[low] = each.value - quantiles * each.std_error
            table[high] = each.value + quantiles * each.std_error
            table[error] = np.where(is_known, each.std_error, np.nan)
        table["df"] = estimates.df
        if not is_mean.any():
            table["p_value"] = compute_t_p_values(estimates)


def _describe_weights(weights: str | Sequence[float] | np.ndarray | None) -> str:
    """Return what the weights are, for the methods text; "" without weights."""
    if weights is None:
        return ""
    if isinstance(weights, str):
        return f"column {weights!r}"
    return "given numbers"
