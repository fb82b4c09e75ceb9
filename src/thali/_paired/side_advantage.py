"""Advantage of the option shown first, or at home, next to the ratings of a leaderboard."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import ORDER

from .leaderboard_posterior import WorthsRequest
from .vote_counts import Judgements
from .worth_estimates import WorthEstimates

if TYPE_CHECKING:
    import pandas

UNBALANCED = 0.01  # probability of so unequal sides of any option if sides are random


def measure_advantage(
    data: Judgements, estimates: WorthEstimates, request: WorthsRequest
) -> "pandas.DataFrame | None":
    """Return the advantage of the first side in log odds; None if sides are unknown.

    It is the mode of its coefficient at the standard deviation of the ratings, with a normal
    interval. A row also has the option whose sides are the least balanced.
    """
    import pandas as pd
    from scipy.special import ndtr, ndtri

    from thali._posterior.posterior_interval import interval_tails
    from thali._worths.density_from_data import build_density
    from thali._worths.laplace_approximation import Marginal

    if not isinstance(data, PairedComparisons) or data.forward is None:
        return None
    if ORDER in data.covariate_names:
        return None
    ordered_data = data._copy_with_fields(answers=None, covariates=None, dates=None).with_order()
    density = build_density(ordered_data, request.lapse, bool(data.n_ties))
    spread = request.spread
    if estimates.marginal is not None and request.has_prior:
        spread = float(estimates.marginal.best[0].worths)
    _, mode = Marginal(density, spread).best
    advantage = float(mode.point[density.beta][0])
    # answers of a respondent who prefers a side are as dependent as those about options
    error = float(np.sqrt(estimates.design_effect * mode.factor.variances[density.beta][0]))
    low, high = advantage + error * ndtri(interval_tails(request.ci))
    n_total = data.wins + data.losses + data.tied
    n_forward = data.forward.sum(axis=0)
    n_first, n_second = (
        np.bincount(data.first, counts, data.n_options)
        + np.bincount(data.second, n_total - counts, data.n_options)
        for counts in (n_forward, n_total - n_forward)
    )
    n_shown = np.maximum(n_first + n_second, 1.0)
    z = np.abs(n_first - n_second) / np.sqrt(n_shown)
    k = int(z.argmax())
    row = {
        "advantage": advantage,
        "low": low,
        "high": high,
        "option": data.labels[k],
        "share_first": n_first[k] / n_shown[k],
        "unbalanced": bool(2.0 * data.n_options * ndtr(-z[k]) < UNBALANCED),
    }
    return pd.DataFrame([row], index=pd.Index(["first side"], name="side"))
