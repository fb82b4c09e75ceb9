"""People whose weights depend on what is known of them: the slopes of log weights, and what follows
for options."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._people.columns import RespondentCovariates, stored_covariates
from thali._posterior.interval import INTERVAL, tails_of
from thali._posterior.view import Posterior, flat, parted
from thali.errors import Argument, ArgumentError

from ..draws.columns import FeatureColumns, columns_of
from ..draws.tree import kept_draws
from .features import distinct_owners
from .groups import _padded_weights, columns_of_groups
from .options import utility_draws

if TYPE_CHECKING:
    import pandas

    from ..samplers.draw_record import ChainDraws

MIN_PRESENT = 0.05  # probability of a feature whose slopes are given


class WeightSlopes(NamedTuple):
    """How log weights depend on columns of people, in standard deviations of these."""

    weights: np.ndarray  # (columns of all draws, columns of people)
    unique: np.ndarray  # (draws, options, columns of people)
    known: np.ndarray  # (people, columns of people) of those who answered

    def factors(self, columns: slice, draw: int, x: np.ndarray) -> np.ndarray:
        """What multiplies the weights of features, then unique ones, of people with these x
        (people, weights)."""
        return np.exp(x @ np.concatenate([self.weights[columns], self.unique[draw]]).T)

    def lifted(self, common: FeatureColumns, x: np.ndarray) -> FeatureColumns:
        """What the weights of people with this x vary about, (columns of people,) or one of each
        draw before it."""
        x = np.broadcast_to(x, (common.n_draws, x.shape[-1]))
        weights = common.weights * np.exp((self.weights * x[common.draw]).sum(axis=1))
        return common.reweighted(
            weights, common.unique_weights * np.exp((self.unique @ x[:, :, None])[..., 0])
        )

    def taken(self, common: FeatureColumns, draws: np.ndarray) -> "WeightSlopes":
        """Those of some of the draws of the columns."""
        each = [
            common.reweighted(of_column, common.unique_weights).take(draws)
            for of_column in self.weights.T
        ]
        return WeightSlopes(
            np.stack([columns.weights for columns in each], axis=1), self.unique[draws], self.known
        )


def with_slopes(
    posterior: Posterior, chains: Sequence["ChainDraws"], known: RespondentCovariates
) -> Posterior:
    """The posterior with the slopes, and what is known of people."""
    kept = kept_draws(chains)
    people, shape = len(known.matrix), kept.shape
    each = columns_of_groups(kept, range(people + 1, people + 1 + len(known.names)))
    found: dict[str, Any] = {
        "slopes": (("chain", "draw", "known", "feature"), _padded_weights(each, shape)),
    }
    if posterior.unique is not None:
        unique = np.stack([columns.unique_weights.reshape(*shape, -1) for columns in each], axis=2)
        found["unique_slopes"] = ("chain", "draw", "known", "option"), unique
    drawn = posterior.whole().assign(found).assign_coords(known=list(known.names))
    described = {"slopes": "a feature", "unique_slopes": "the unique aspect of an option"}
    for name in found:
        drawn[name].attrs["description"] = (
            f"change in respondents' log weight of {described[name]} per standard deviation of a"
            " column"
        )
    fixed = posterior.fixed.assign_coords(known=list(known.names)).assign(known.stored("group"))
    return posterior.replaced(parted(drawn) | {"constant_data": fixed})


def slopes_in(posterior: Posterior) -> WeightSlopes | None:
    """Those of a posterior; None if the weights of people depend on nothing that is known of
    them."""
    if posterior.slopes is None:
        return None
    columns = columns_of(posterior)
    each = flat(posterior.slopes)[columns.draw, :, columns.slot]
    unique = np.zeros((columns.n_draws, columns.n_options, len(posterior.known)))
    if posterior.unique_slopes is not None:
        unique = flat(posterior.unique_slopes).swapaxes(1, 2)
    return WeightSlopes(each, unique, posterior.fixed["known_of_people"].values)


def covariates_in(posterior: Posterior) -> RespondentCovariates:
    """Those on which weights depend, of the people who answered."""
    found = stored_covariates(posterior.fixed)
    assert found is not None
    return found


# What the weights depend on, in the terms of options and features ---------------------------------


def effect_draws(posterior: Posterior) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    r"""By how much a unit of each column changes what people prefer, at its mean: by name (draws,
    columns of people).

    Of choices the log of each option's share of all worths,

    .. math:: \sum_k w_k f_{ik} b_k / U_i - \sum_j s_j \sum_k w_k f_{jk} b_k / U_j

    with common weights w, slopes b, U the utility and s the shares. Then of features of several
    owners the log weight, where they are present (NaN elsewhere); of choices less the mean over the
    shares of options, too.
    """
    slopes = slopes_in(posterior)
    assert slopes is not None
    sd, common = posterior.fixed["known_sd"].values, columns_of(posterior.of_common())
    labels = posterior.labels
    options, mean = {}, np.zeros((common.n_draws, len(sd)))
    if posterior.facts.of_choices:
        utility = utility_draws(common)
        along = np.stack(
            [
                utility_draws(common.reweighted(common.weights * of, common.unique_weights * own))
                for of, own in zip(slopes.weights.T, np.moveaxis(slopes.unique, 2, 0), strict=True)
            ],
            axis=2,
        )  # (draws, options, columns of people)
        share = utility / utility.sum(axis=1, keepdims=True)
        effect = along / utility[:, :, None]
        mean = (share[:, :, None] * effect).sum(axis=1)
        options = {label: (effect[:, i] - mean) / sd for i, label in enumerate(labels)}
    features = {}
    patterns, pattern = distinct_owners(common)
    for number, owners in enumerate(patterns):
        own = np.flatnonzero(pattern == number)
        present = np.bincount(common.draw[own], minlength=common.n_draws) > 0
        if (
            len(owners) < 2
            or present.mean() < MIN_PRESENT
            or posterior.is_silent(np.array([len(owners)]))[0]
        ):
            continue
        found = np.full((common.n_draws, len(sd)), np.nan)
        weight = np.bincount(common.draw[own], common.weights[own], common.n_draws)
        for j, of in enumerate(slopes.weights.T):
            summed = np.bincount(common.draw[own], common.weights[own] * of[own], common.n_draws)
            found[present, j] = (summed[present] / weight[present] - mean[present, j]) / sd[j]
        features[", ".join(labels[i] for i in owners)] = found
    return options, features


def effects_table(posterior: Posterior, ci: float = INTERVAL) -> "pandas.DataFrame":
    """A row a column of people and option or feature: the effect of a unit, with its interval."""
    import pandas as pd

    from thali._tables import Table

    if posterior.slopes is None:
        raise ArgumentError(
            "effects requires a model with ",
            Argument("by"),
            ", which names respondent columns.",
        )
    options, features = effect_draws(posterior)
    tails = tails_of(ci)
    rows, index = [], []
    for j, name in enumerate(posterior.known):
        for of, drawn in [*options.items(), *features.items()]:
            values = drawn[~np.isnan(drawn[:, j]), j]
            mean, (low, high) = values.mean(), np.quantile(values, tails)
            above, present = (values > 0.0).mean(), len(values) / len(drawn)
            rows.append((mean, values.std(), low, high, above, np.exp(mean), present))
            index.append((name, of))
    columns = ["mean", "sd", "low", "high", "above_0", "ratio", "probability"]
    table = Table(rows, pd.MultiIndex.from_tuples(index, names=["column", "item"]), columns)
    table.attrs["interval"] = ci
    return table


def quantities_of_slopes(posterior: Posterior, most: int) -> dict[str, np.ndarray]:
    """`respondent_effect[column, of]` draw by draw: of choices of each option, up to so many; of
    other data of features of several owners, 0 where absent."""
    if posterior.slopes is None:
        return {}
    options, features = effect_draws(posterior)
    drawn = options if len(options) <= most else {}
    if not options:
        drawn = {
            of: np.nan_to_num(values)
            for of, values in features.items()
            if np.isfinite(values).mean() >= 0.2
        }
    return {
        f"respondent_effect[{name}, {of}]": values[:, j].reshape(posterior.shape)
        for j, name in enumerate(posterior.known)
        for of, values in drawn.items()
    }
