"""Advantage of the option shown first, or at home, next to the ratings of a leaderboard."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.base_classes import copy_with_fields
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import ORDER
from thali._posterior.posterior_interval import interval_tails

from .leaderboard_posterior import BoardSettings
from .vote_counts import Judgements
from .worth_estimates import WorthEstimates

if TYPE_CHECKING:
    import pandas

# standard errors of an option's share of first sides; up to 100 options of random sides exceed it
# with probability 0.006
MAX_IMBALANCE = 4.0


def measure_advantage(
    data: Judgements, estimates: WorthEstimates, settings: BoardSettings
) -> "pandas.DataFrame | None":
    """Return the advantage of the first side in log odds; None if sides are unknown.

    It is the mode of its coefficient at the standard deviation of the ratings, with a normal
    interval. A row also has the option whose sides are the least balanced.
    """
    import pandas as pd
    from scipy.special import ndtri

    from thali._worths.density_from_data import build_density
    from thali._worths.laplace_approximation import Marginal

    if data.forward is None or ORDER in data.covariate_names:
        return None
    assert isinstance(data, PairedComparisons)
    ordered_data = copy_with_fields(data, answers=None, covariates=None, dates=None).with_order()
    density = build_density(ordered_data, settings.lapse, bool(data.n_ties))
    spread = settings.spread
    if estimates.marginal is not None and settings.has_prior:
        spread = float(estimates.marginal.best[0].worths)
    _, mode = Marginal(density, spread).best
    advantage = float(mode.point[density.beta][0])
    # answers of a respondent who prefers a side are as dependent as those about options
    error = float(np.sqrt(estimates.design_effect * mode.factor.variances[density.beta][0]))
    low, high = advantage + error * ndtri(interval_tails(settings.ci))
    n_forward = data.forward.sum(axis=0)
    n_total = data.wins + data.losses + data.tied
    n_first, n_shown = (
        np.bincount(data.first, first_counts, data.n_options)
        + np.bincount(data.second, second_counts, data.n_options)
        for first_counts, second_counts in ((n_forward, n_total - n_forward), (n_total, n_total))
    )
    z = np.abs(2.0 * n_first - n_shown) / np.sqrt(np.maximum(n_shown, 1.0))
    k = int(z.argmax())
    row = {
        "advantage": advantage,
        "low": low,
        "high": high,
        "option": data.labels[k],
        "share_first": n_first[k] / n_shown[k],
        "unbalanced": z[k] > MAX_IMBALANCE,
    }
    return pd.DataFrame([row], index=pd.Index(["first side"], name="side"))
