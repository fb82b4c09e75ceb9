"""Slopes of log weights on respondents' covariates, and the resulting effects on options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.weight_shares import compute_shares
from thali._people.respondent_columns import RespondentCovariates, read_stored_covariates
from thali._posterior.posterior_interval import INTERVAL, interval_tails
from thali._posterior.posterior_tree import Posterior, flatten_chains, split_draws
from thali.errors import Argument, ArgumentError

from ..draws.feature_columns import FeatureColumns, read_columns
from ..draws.posterior_tree import select_kept_draws
from .feature_table import find_distinct_owners
from .group_posterior_tree import list_group_columns, pad_weights
from .option_tables import compute_utilities

if TYPE_CHECKING:
    import pandas

    from ..samplers.draw_record import RecordedDraws

MIN_EFFECT_PRESENCE = 0.05  # probability of a feature whose slopes are given


class WeightSlopes(NamedTuple):
    """Slopes of log weights per standard deviation of each covariate."""

    weights: np.ndarray  # (columns of all draws, covariates)
    unique: np.ndarray  # (draws, options, covariates)
    known: np.ndarray  # (people, covariates) of the fitted respondents

    def factors(self, column_slice: slice, draw: int, x: np.ndarray) -> np.ndarray:
        """Return factors of all weights at covariates x, shape (n_people, n_weights)."""
        return np.exp(x @ np.concatenate([self.weights[column_slice], self.unique[draw]]).T)

    def shift_weights(self, common: FeatureColumns, x: np.ndarray) -> FeatureColumns:
        """Return the draws with weights expected for respondents with covariates x.

        `x` has shape (covariates,), or (draws, covariates).
        """
        x = np.broadcast_to(x, (common.n_draws, x.shape[-1]))
        weights = common.weights * np.exp((self.weights * x[common.draw]).sum(axis=1))
        return common.replace_weights(
            weights, common.unique_weights * np.exp((self.unique @ x[:, :, None])[..., 0])
        )

    def select_draws(self, common: FeatureColumns, draws: np.ndarray) -> "WeightSlopes":
        """Return the slopes at some draws of the posterior."""
        columns_by_covariate = [
            common.replace_weights(slopes_j, common.unique_weights).take(draws)
            for slopes_j in self.weights.T
        ]
        return WeightSlopes(
            np.stack([feature_columns.weights for feature_columns in columns_by_covariate], axis=1),
            self.unique[draws],
            self.known,
        )


def add_slopes(
    posterior: Posterior, chains: Sequence["RecordedDraws"], covariates: RespondentCovariates
) -> Posterior:
    """Return the posterior with slopes and the respondents' covariates."""
    recorded_draws = select_kept_draws(chains)
    n_people, shape = len(covariates.matrix), recorded_draws.shape
    columns_by_covariate = list_group_columns(
        recorded_draws, range(n_people + 1, n_people + 1 + len(covariates.names))
    )
    variables: dict[str, Any] = {
        "slopes": (("chain", "draw", "known", "feature"), pad_weights(columns_by_covariate, shape)),
    }
    if posterior.unique is not None:
        unique_slopes = np.stack(
            [
                feature_columns.unique_weights.reshape(*shape, -1)
                for feature_columns in columns_by_covariate
            ],
            axis=2,
        )
        variables["unique_slopes"] = ("chain", "draw", "known", "option"), unique_slopes
    all_variables = (
        posterior.merge_draws().assign(variables).assign_coords(known=list(covariates.names))
    )
    weight_names = {"slopes": "a feature", "unique_slopes": "the unique aspect of an option"}
    for variable_name in variables:
        all_variables[variable_name].attrs["description"] = (
            f"change in respondents' log weight of {weight_names[variable_name]} per standard"
            " deviation of a column"
        )
    constant_data = posterior.fixed.assign_coords(known=list(covariates.names)).assign(
        covariates.to_variables("group")
    )
    return posterior.replace_groups(split_draws(all_variables) | {"constant_data": constant_data})


def read_slopes(posterior: Posterior) -> WeightSlopes | None:
    """Read the slopes of log weights from a posterior; None if it has none."""
    if posterior.slopes is None:
        return None
    feature_columns = read_columns(posterior)
    weight_slopes = flatten_chains(posterior.slopes)[feature_columns.draw, :, feature_columns.slot]
    unique_slopes = np.zeros(
        (feature_columns.n_draws, feature_columns.n_options, len(posterior.known))
    )
    if posterior.unique_slopes is not None:
        unique_slopes = flatten_chains(posterior.unique_slopes).swapaxes(1, 2)
    return WeightSlopes(weight_slopes, unique_slopes, posterior.fixed["known_of_people"].values)


def read_covariates(posterior: Posterior) -> RespondentCovariates:
    """Read the covariates of the fitted respondents."""
    covariates = read_stored_covariates(posterior.fixed)
    assert covariates is not None
    return covariates


# Effects of covariates on options and features ----------------------------------------------------


def compute_effects(posterior: Posterior) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    r"""Compute effects of one unit of each covariate on options and on features.

    For choices, the effect on an option is the change in the log of its share of all worths, at the
    mean of the covariate:

    .. math:: \sum_k w_k f_{ik} b_k / U_i - \sum_j s_j \sum_k w_k f_{jk} b_k / U_j

    with common weights w, slopes b, utilities U and shares s. The effect on a feature of several
    owners is the change in its log weight, NaN in draws without it; for choices the mean change
    over options, weighted by their shares, is subtracted.
    """
    slopes = read_slopes(posterior)
    assert slopes is not None
    covariate_sd, common_columns = (
        posterior.fixed["known_sd"].values,
        read_columns(posterior.select_common()),
    )
    labels = posterior.labels
    option_effects, mean_effects = {}, np.zeros((common_columns.n_draws, len(covariate_sd)))
    if posterior.facts.of_choices:
        utility = compute_utilities(common_columns)
        # (draws, options, columns of people)
        utility_change = np.stack(
            [
                compute_utilities(
                    common_columns.replace_weights(
                        common_columns.weights * slopes_j, common_columns.unique_weights * unique_j
                    )
                )
                for slopes_j, unique_j in zip(
                    slopes.weights.T, np.moveaxis(slopes.unique, 2, 0), strict=True
                )
            ],
            axis=2,
        )
        utility_share = compute_shares(utility)
        effect = utility_change / utility[:, :, None]
        mean_effects = (utility_share[:, :, None] * effect).sum(axis=1)
        option_effects = {
            label: (effect[:, i] - mean_effects) / covariate_sd for i, label in enumerate(labels)
        }
    feature_effects = {}
    patterns, pattern_index = find_distinct_owners(common_columns)
    for k, owners in enumerate(patterns):
        pattern_columns = np.flatnonzero(pattern_index == k)
        is_present = common_columns.count_by_draw(pattern_columns) > 0
        if (
            len(owners) < 2
            or is_present.mean() < MIN_EFFECT_PRESENCE
            or posterior.is_silent(np.array([len(owners)]))[0]
        ):
            continue
        effect_draws = np.full((common_columns.n_draws, len(covariate_sd)), np.nan)
        feature_weight = np.bincount(
            common_columns.draw[pattern_columns],
            common_columns.weights[pattern_columns],
            common_columns.n_draws,
        )
        for j, slopes_j in enumerate(slopes.weights.T):
            weighted_slope = np.bincount(
                common_columns.draw[pattern_columns],
                common_columns.weights[pattern_columns] * slopes_j[pattern_columns],
                common_columns.n_draws,
            )
            effect_draws[is_present, j] = (
                weighted_slope[is_present] / feature_weight[is_present]
                - mean_effects[is_present, j]
            ) / covariate_sd[j]
        feature_effects[", ".join(labels[i] for i in owners)] = effect_draws
    return option_effects, feature_effects


def effects_table(posterior: Posterior, ci: float = INTERVAL) -> "pandas.DataFrame":
    """Return a table of covariate effects, one row per covariate and option or feature."""
    import pandas as pd

    from thali._exportable_table import Table

    if posterior.slopes is None:
        raise ArgumentError(
            "effects requires a model with ",
            Argument("by"),
            ", which names respondent columns.",
        )
    option_effects, feature_effects = compute_effects(posterior)
    quantile_levels = interval_tails(ci)
    table_rows, row_labels = [], []
    for j, covariate in enumerate(posterior.known):
        for effect_name, effect_draws in [*option_effects.items(), *feature_effects.items()]:
            present_draws = effect_draws[~np.isnan(effect_draws[:, j]), j]
            mean_effect, (low, high) = (
                present_draws.mean(),
                np.quantile(present_draws, quantile_levels),
            )
            positive_share, presence_share = (
                (present_draws > 0.0).mean(),
                len(present_draws) / len(effect_draws),
            )
            table_rows.append(
                (
                    mean_effect,
                    present_draws.std(),
                    low,
                    high,
                    positive_share,
                    np.exp(mean_effect),
                    presence_share,
                )
            )
            row_labels.append((covariate, effect_name))
    column_names = ["mean", "sd", "low", "high", "above_0", "ratio", "probability"]
    effects = Table(
        table_rows, pd.MultiIndex.from_tuples(row_labels, names=["column", "item"]), column_names
    )
    effects.attrs["interval"] = ci
    return effects


def slope_quantities(posterior: Posterior, max_options: int) -> dict[str, np.ndarray]:
    """Return draws of `respondent_effect[covariate, option]`, for up to `max_options`.

    For data without choices, they are effects on features, 0 where absent.
    """
    if posterior.slopes is None:
        return {}
    option_effects, feature_effects = compute_effects(posterior)
    draws_by_name = {}
    if len(option_effects) <= max_options:
        draws_by_name = option_effects
    if not option_effects:
        draws_by_name = {
            effect_name: np.nan_to_num(draws)
            for effect_name, draws in feature_effects.items()
            if np.isfinite(draws).mean() >= 0.2
        }
    return {
        f"respondent_effect[{name}, {effect_name}]": draws[:, j].reshape(posterior.shape)
        for j, name in enumerate(posterior.known)
        for effect_name, draws in draws_by_name.items()
    }
