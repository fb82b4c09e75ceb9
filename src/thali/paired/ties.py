"""Ties: half a win for either, or Davidson's model."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import plural
from thali._printed import Printed
from thali.data.pairs import PairedComparisons
from thali.errors import DataError
from thali.inference.optimise.newton_concave import ROUGH, ascend_concave, check_finite
from thali.model.elimination_ml.goodness import fit_test

from .counted import as_pairs

if TYPE_CHECKING:
    import pandas


def half_wins(data: Any, ties: Any = None) -> PairedComparisons:
    """Count every tie as half a win for either option.

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
    ties : array or data frame, shape (options, options), optional
        Number of ties of each pair, in one triangle or the same in both. None: those of the data.

    Returns
    -------
    PairedComparisons
        With fractional counts.

    Raises
    ------
    DataError
        If ties are negative, not square, or differ between the triangles.

    Example
    -------
    >>> half_wins([[0, 3], [1, 0]], [[0, 1], [0, 0]]).counts
    array([[0. , 3.5],
           [1.5, 0. ]])
    """
    return _with_ties(data, ties).without_ties("half")


@dataclass(frozen=True, repr=False, eq=False)
class Davidson(Printed):
    """A fit of Davidson's model: `weights` (sum 1), the tie parameter `tie` with `tie_std_error`, and tests of fit."""

    weights: "pandas.Series"
    tie: float
    tie_std_error: float
    log_likelihood: float
    deviance: float
    df: int
    p_value: float


def davidson(data: Any, ties: Any = None, samples: int | None = None, random_seed: Any = 0) -> Davidson:
    r"""Fit Davidson's extension of the Bradley-Terry-Luce model to ties.

    .. math::
        P(i \text{ over } j) = \frac{w_i}{w_i + w_j + \nu \sqrt{w_i w_j}}, \qquad
        P(\text{tie}) = \frac{\nu \sqrt{w_i w_j}}{w_i + w_j + \nu \sqrt{w_i w_j}}

    Parameters
    ----------
    data : PairedComparisons, or square table of counts
    ties : array or data frame, shape (options, options), optional
        Number of ties of each pair, in one triangle or the same in both. None: those of the data.
    samples, random_seed
        Of the test of fit, as in `EliminationByAspects.fit_test`.

    Returns
    -------
    Davidson
        weights (sum 1), tie (nu), tie_std_error, log_likelihood (multinomial coefficients included), deviance against
        the saturated model, df, p_value (NaN if uninformative); `table` with weight and std_error of each
        option.

    Raises
    ------
    DataError
        If there is no tie, or some weight has no finite estimate.

    References
    ----------
    Davidson (1970), On extending the Bradley-Terry model to accommodate ties in paired comparison experiments.

    Example
    -------
    >>> import thali as th
    >>> wins, ties = [[0, 5, 6], [2, 0, 4], [1, 3, 0]], [[0, 3, 2], [3, 0, 3], [2, 3, 0]]
    >>> fit = davidson(th.PairedComparisons(wins, ties=ties))
    >>> fit.df, round(fit.tie, 3)
    (3, 0.878)
    """
    import pandas as pd
    from scipy.special import gammaln, logsumexp, xlogy

    data = _with_ties(data, ties)
    if not data.n_ties:
        raise DataError("There is no tie; fit the Bradley-Terry-Luce model, which has none.")
    n, i, j = data.n_options, data.first, data.second
    outcome = np.column_stack([data.wins, data.losses, data.tied])
    won, lost, drawn = (outcome[:, column] > 0 for column in range(3))
    check_finite(data.labels, np.r_[i[won], j[lost], i[drawn], j[drawn]], np.r_[j[won], i[lost], j[drawn], i[drawn]])
    # Utilities of the three outcomes, linear in ln w (less that of the first) and ln nu.
    design = np.zeros((len(i), 3, n + 1))
    rows = np.arange(len(i))
    design[rows, 0, i] = design[rows, 1, j] = design[rows, 2, n] = 1.0
    design[rows, 2, i] = design[rows, 2, j] = 0.5
    design = design[:, :, 1:]
    total = outcome.sum(axis=1)

    def log_probabilities(point: np.ndarray) -> np.ndarray:
        utility = design @ point
        return utility - logsumexp(utility, axis=1, keepdims=True)

    def at_counts(outcome: np.ndarray) -> Any:
        def at(point: np.ndarray) -> Any:
            log_p = log_probabilities(point)
            p = np.exp(log_p)
            mean = np.einsum("pc,pck->pk", p, design)
            gradient = np.einsum("pc,pck->k", outcome - total[:, None] * p, design)
            spread = np.einsum("pc,pck,pcl->kl", total[:, None] * p, design, design, optimize=True)
            return float(np.sum(outcome * log_p)), gradient, spread - (total[:, None] * mean).T @ mean

        return at

    at = at_counts(outcome)
    point = ascend_concave(at, np.zeros(n))
    value, _, information = at(point)
    covariance = np.linalg.inv(information)
    w = np.exp(np.r_[0.0, point[:-1]])
    w /= w.sum()
    jacobian = (np.diag(w) - np.outer(w, w))[:, 1:]
    errors = np.sqrt(np.diag(jacobian @ covariance[:-1, :-1] @ jacobian.T))
    tie = float(np.exp(point[-1]))
    tie_error = tie * float(np.sqrt(covariance[-1, -1]))

    def saturated(outcome: np.ndarray) -> float:
        return float(np.sum(xlogy(outcome, outcome / total[:, None])))

    def replicate(rng: np.random.Generator) -> float:
        drawn = rng.multinomial(total.astype(np.int64), probabilities).astype(float)
        refit = at_counts(drawn)
        return 2 * (saturated(drawn) - refit(ascend_concave(refit, point, ROUGH))[0])

    coefficients = float(np.sum(gammaln(total + 1)) - np.sum(gammaln(outcome + 1)))
    deviance, df = max(2 * (saturated(outcome) - value), 0.0), 2 * len(i) - n
    probabilities, is_whole = np.exp(log_probabilities(point)), bool((outcome == np.floor(outcome)).all())
    test = fit_test(deviance, df, total, probabilities, is_whole, replicate, n, samples, random_seed)
    weights = pd.Series(w, pd.Index(data.labels, name="option"), name="weight")
    return Davidson(
        title="Bradley-Terry-Luce model with ties (Davidson)",
        table=pd.DataFrame({"weight": weights, "std_error": errors}),
        note=f"Tie parameter {tie:.6g} (standard error {tie_error:.4g}). {test}",
        weights=weights,
        tie=tie,
        tie_std_error=tie_error,
        log_likelihood=value + coefficients,
        deviance=deviance,
        df=df,
        p_value=test.p_value,
    )


def _with_ties(data: Any, ties: Any) -> PairedComparisons:
    """The data with their own ties, or with those given beside them."""
    data = as_pairs(data, ties=True)
    if ties is None:
        return data
    if data.n_ties:
        raise DataError(f"The data hold {plural(data.n_ties, 'tie')} already; leave `ties` out.")
    return PairedComparisons(data.counts, data.labels, ties, weights=True)
