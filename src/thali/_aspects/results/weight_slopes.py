"""Slopes of log weights on respondents' covariates, and the resulting effects on options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.shares import compute_shares
from thali._people.respondent_columns import RespondentCovariates, stored_covariates
from thali._posterior.interval import INTERVAL, interval_tails
from thali._posterior.view import Posterior, flatten_chains, split_draws
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
    for name in variables:
        all_variables[name].attrs["description"] = (
            f"change in respondents' log weight of {weight_names[name]} per standard deviation of a"
            " column"
        )
    fixed = posterior.fixed.assign_coords(known=list(covariates.names)).assign(
        covariates.to_variables("group")
    )
    return posterior.replace_groups(split_draws(all_variables) | {"constant_data": fixed})


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
    covariates = stored_covariates(posterior.fixed)
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
    sd, common = posterior.fixed["known_sd"].values, read_columns(posterior.select_common())
    labels = posterior.labels
    options, mean = {}, np.zeros((common.n_draws, len(sd)))
    if posterior.facts.of_choices:
        utility = compute_utilities(common)
        utility_change = np.stack(
            [
                compute_utilities(
                    common.replace_weights(
                        common.weights * slopes_j, common.unique_weights * unique_j
                    )
                )
                for slopes_j, unique_j in zip(
                    slopes.weights.T, np.moveaxis(slopes.unique, 2, 0), strict=True
                )
            ],
            axis=2,
        )  # (draws, options, columns of people)
        share = compute_shares(utility)
        effect = utility_change / utility[:, :, None]
        mean = (share[:, :, None] * effect).sum(axis=1)
        options = {label: (effect[:, i] - mean) / sd for i, label in enumerate(labels)}
    features = {}
    patterns, pattern = find_distinct_owners(common)
    for k, owners in enumerate(patterns):
        pattern_columns = np.flatnonzero(pattern == k)
        present = common.count_by_draw(pattern_columns) > 0
        if (
            len(owners) < 2
            or present.mean() < MIN_EFFECT_PRESENCE
            or posterior.is_silent(np.array([len(owners)]))[0]
        ):
            continue
        feature_effects = np.full((common.n_draws, len(sd)), np.nan)
        weight = np.bincount(
            common.draw[pattern_columns], common.weights[pattern_columns], common.n_draws
        )
        for j, slopes_j in enumerate(slopes.weights.T):
            weighted_slope = np.bincount(
                common.draw[pattern_columns],
                common.weights[pattern_columns] * slopes_j[pattern_columns],
                common.n_draws,
            )
            feature_effects[present, j] = (
                weighted_slope[present] / weight[present] - mean[present, j]
            ) / sd[j]
        features[", ".join(labels[i] for i in owners)] = feature_effects
    return options, features


def effects_table(posterior: Posterior, ci: float = INTERVAL) -> "pandas.DataFrame":
    """Return a table of covariate effects, one row per covariate and option or feature."""
    import pandas as pd

    from thali._result_table import Table

    if posterior.slopes is None:
        raise ArgumentError(
            "effects requires a model with ",
            Argument("by"),
            ", which names respondent columns.",
        )
    options, features = compute_effects(posterior)
    tails = interval_tails(ci)
    rows, index = [], []
    for j, name in enumerate(posterior.known):
        for effect_name, draws in [*options.items(), *features.items()]:
            present_draws = draws[~np.isnan(draws[:, j]), j]
            mean, (low, high) = present_draws.mean(), np.quantile(present_draws, tails)
            positive_share, presence = (present_draws > 0.0).mean(), len(present_draws) / len(draws)
            rows.append(
                (mean, present_draws.std(), low, high, positive_share, np.exp(mean), presence)
            )
            index.append((name, effect_name))
    column_names = ["mean", "sd", "low", "high", "above_0", "ratio", "probability"]
    table = Table(rows, pd.MultiIndex.from_tuples(index, names=["column", "item"]), column_names)
    table.attrs["interval"] = ci
    return table


def slope_quantities(posterior: Posterior, max_options: int) -> dict[str, np.ndarray]:
    """Return draws of `respondent_effect[covariate, option]`, for up to `max_options`.

    For data without choices, they are effects on features, 0 where absent.
    """
    if posterior.slopes is None:
        return {}
    options, features = compute_effects(posterior)
    draws_by_name = {}
    if len(options) <= max_options:
        draws_by_name = options
    if not options:
        draws_by_name = {
            effect_name: np.nan_to_num(draws)
            for effect_name, draws in features.items()
            if np.isfinite(draws).mean() >= 0.2
        }
    return {
        f"respondent_effect[{name}, {effect_name}]": draws[:, j].reshape(posterior.shape)
        for j, name in enumerate(posterior.known)
        for effect_name, draws in draws_by_name.items()
    }
