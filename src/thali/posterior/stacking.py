"""Chains that stay apart, weighted by how well each predicts what was left out."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._described import Described, Description, as_text

if TYPE_CHECKING:
    import pandas
    import xarray

MAX_STEPS = 10_000  # of the search for the weights; tens are usual
SETTLED = 1e-10  # mean log score that another step must add
MIN_DRAWS = 25  # of a chain, whose tail is smoothed
HEAVY = 0.1  # share of a draw in the weights above which those that cannot be smoothed are not to be relied on
UNRELIABLE = 0.7  # Pareto shape above which a leave-one-out density is not to be relied on
NOT_A_POSTERIOR = (
    "Stacked chains are for predictions: their mixture is not the posterior, because weights come from predictive"
    " densities and not from the mass that each mode has."
)


@dataclass(frozen=True)
class Stacked(Described):
    """Weights of chains by which their mixture predicts best; `str` says what they are not.

    Attributes
    ----------
    weights : pandas.Series
        Of each chain, summing to 1.
    log_score : float
        Of the mixture: mean over observations of the log density of each, given all others.
    log_scores : pandas.Series
        The same of each chain by itself.
    unreliable : float
        Share of these densities, over all chains, whose Pareto shape exceeds .7, so that they are not to be relied on.
    """

    weights: "pandas.Series"
    log_score: float
    log_scores: "pandas.Series"
    unreliable: float
    tree: "xarray.DataTree" = field(repr=False)

    def mean(self, variable: str) -> "xarray.DataArray":
        """The prediction of the mixture: the weighted mean over chains of a variable's mean over draws.

        Parameters
        ----------
        variable : str
            Of `posterior_["posterior"]`, such as "similarity" or "choice_probability".

        Returns
        -------
        xarray.DataArray
            Without the dimensions chain and draw.

        Raises
        ------
        KeyError
            If the posterior has no such variable.
        """
        values = self.tree["posterior"].dataset[variable]
        return (values.mean("draw") * self.weights.to_xarray()).sum("chain")

    def __str__(self) -> str:
        return as_text(self._description())

    def _description(self) -> Description:
        import pandas as pd

        table = pd.DataFrame({"weight": self.weights, "log_score": self.log_scores})
        doubt = ""
        if self.unreliable > 0.0:
            doubt = f" {100 * self.unreliable:.2g} % of the leave-one-out densities are not to be relied on."
        facts = (("log score of an observation, given the others", f"{self.log_score:.4g}"),)
        return Description("Stacked", facts, table, note=f"{NOT_A_POSTERIOR}{doubt}", good=False)


def stacked_of(tree: "xarray.DataTree", log_likelihood: np.ndarray) -> Stacked:
    r"""Stack the chains of a posterior.

    .. math:: \max_w \frac1n \sum_i \log \sum_k w_k\, p_k(y_i \mid y_{-i}), \qquad w_k \ge 0, \; \sum_k w_k = 1

    where p_k(y_i | y_-i) is the leave-one-out predictive density under chain k, by importance sampling with
    Pareto-smoothed weights.
    """
    import pandas as pd

    scores, shapes = leave_one_out(log_likelihood)
    weights, best = stacking_weights(scores)
    chains = pd.Index(tree["posterior"].dataset["chain"].values, name="chain")
    return Stacked(
        pd.Series(weights, chains, name="weight"),
        best,
        pd.Series(scores.mean(axis=1), chains, name="log_score"),
        float(np.mean(shapes > UNRELIABLE)),
        tree,
    )


def leave_one_out(log_likelihood: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log predictive density of each observation given the others, and its Pareto shape, by chain."""
    from arviz_stats.base.array import array_stats
    from scipy.special import logsumexp

    found = np.moveaxis(log_likelihood, 1, -1)  # (chain, observation, draw)
    plain = -found - np.asarray(logsumexp(-found, axis=-1))[..., None]  # of 1 / likelihood
    log_weights, shapes = plain.copy(), np.where(plain.max(axis=-1) > math.log(HEAVY), np.inf, 0.0)
    draws = found.shape[-1]
    tail = math.ceil(min(0.2 * draws, 3.0 * math.sqrt(draws)))
    # Answers about objects that share nothing are equally likely in many draws: nothing can be fitted to such a tail.
    varies = np.ptp(np.partition(found, tail - 1, axis=-1)[..., :tail], axis=-1) >= np.finfo(float).tiny
    if varies.any():
        with np.errstate(divide="ignore", invalid="ignore"):
            smooth, shape = array_stats.psislw(found[varies], axis=-1)
        fits: np.ndarray = np.all(np.isfinite(smooth), axis=-1) & np.isfinite(shape)
        log_weights[varies] = np.where(fits[:, None], smooth, plain[varies])
        shapes[varies] = np.where(fits, shape, shapes[varies])
    mixed, total = (np.asarray(logsumexp(each, axis=-1)) for each in (log_weights + found, log_weights))
    return mixed - total, np.asarray(shapes)


def stacking_weights(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the chains that maximise the mean log score of their mixture, and that score.

    By expectation-maximisation: w_k becomes the mean over observations of w_k p_ki / sum_j w_j p_ji, which never lowers
    the score, a concave function of the weights.
    """
    top = scores.max(axis=0)
    densities = np.exp(scores - top)
    weights = np.full(len(scores), 1.0 / len(scores))
    best = -np.inf
    for _ in range(MAX_STEPS):
        mixed = weights @ densities
        score = float(np.mean(np.log(mixed) + top))
        if score - best < SETTLED:
            break
        best = score
        weights = weights * (densities / mixed).mean(axis=1)
    return weights / weights.sum(), best


def pointwise(tree: "xarray.DataTree") -> "Any | None":
    """The log-likelihood of each observation (chain, draw, observation); None where a posterior holds none."""
    if "log_likelihood" not in tree.children:
        return None
    found = tree["log_likelihood"].dataset
    arrays = [found[name].values for name in found.data_vars]
    return np.concatenate([each.reshape(*each.shape[:2], -1) for each in arrays], axis=2) if arrays else None
