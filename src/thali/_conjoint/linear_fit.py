r"""Weighted least squares whose standard errors are clustered by respondent (CR2).

With the rows :math:`X_s` of respondent s, weights :math:`W_s` and residuals :math:`e_s`,

.. math::

    \hat\beta = (X'WX)^{-1} X'Wy, \qquad
    \operatorname{cov} = L \Big(\sum_s z_s z_s'\Big) L', \qquad
    z_s = (1 - L' X_s' W_s X_s L)^{-1/2} L' X_s' W_s e_s, \qquad L L' = (X'WX)^{-1}.

These are the estimates of Bell & McCaffrey (2002) for independent errors with variances
proportional to 1/W.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._inference.numerics.weight_shares import divide_positive
from thali._model.cluster_robust_variance import NO_INFORMATION, RespondentScores, inverse_root

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_MIN_SHARE = 1e-6  # share of a contrast that the data must estimate


class Estimates(NamedTuple):
    """Estimates, the respondents' influences on them, and degrees of freedom."""

    value: np.ndarray  # (k,), NaN if the data do not identify it
    influence: np.ndarray  # (respondents, k); the covariance is influence.T @ influence
    df: np.ndarray  # (k,)

    @property
    def std_error(self) -> np.ndarray:
        """Standard errors, shape (k,)."""
        return np.where(
            np.isnan(self.value), np.nan, np.sqrt(np.square(self.influence).sum(axis=0))
        )

    @classmethod
    def join(cls, parts: "list[Estimates]") -> "Estimates":
        """Join estimates from the same respondents."""
        return cls(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


class WaldTest(NamedTuple):
    """Test that several contrasts are zero (approximate Hotelling)."""

    statistic: float  # F
    df: float  # number of contrasts
    df_residual: float
    p_value: float


class LinearFit:
    """A weighted linear regression of rows sorted by respondent.

    Parameters
    ----------
    design : sparse (n, p)
    outcome, weights : arrays (n,)
    bounds : int array (respondents + 1,)
        Rows of respondent s: bounds[s] to bounds[s + 1] - 1.
    """

    def __init__(
        self, design: "csr_array", outcome: np.ndarray, weights: np.ndarray, bounds: np.ndarray
    ) -> None:
        from scipy.sparse import csr_array

        self._design = design
        self._weights = weights
        weighted_design = design.copy()
        weighted_design.data *= np.repeat(weights, np.diff(design.indptr))
        self._gram = (design.T @ weighted_design).toarray()
        self._root = inverse_root(self._gram, NO_INFORMATION)
        self._gradient = design.T @ (weights * outcome)
        self._beta = self._root @ (self._root.T @ self._gradient)
        residuals = outcome - design @ self._beta
        tally = csr_array(
            (weights * residuals, np.arange(len(outcome)), bounds),
            shape=(len(bounds) - 1, len(outcome)),
        )
        self._scores = RespondentScores(self, tally, self._beta, self._beta[:0], self._root)
        self._influence: np.ndarray | None = None

    # The methods of a `ScoredProblem`, whose outcomes are the rows

    def compute_derivatives(self, weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return gradient and Hessian of the sum of squares at the estimate."""
        from thali._model.cluster_robust_variance import LogWeightDerivatives

        return LogWeightDerivatives(np.zeros(len(self._gram)), -self._gram, np.diagonal(self._gram))

    def compute_scores(self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return the sums of design rows, sparse (rows of `tally`, p)."""
        return tally @ self._design

    def expect_outcomes(self, tally: "csr_array", weights: np.ndarray, beta: np.ndarray) -> Any:
        """Return the weight of each row, sparse (respondents, n)."""
        expected = tally.copy()
        expected.data = self._weights
        return expected

    def estimate(self, contrasts: np.ndarray) -> Estimates:
        """Estimate linear contrasts of the coefficients, `contrasts` (p, k)."""
        if self._influence is None:
            self._influence = self._scores.correct_scores() @ self._root.T
        projected = self._root @ (self._root.T @ (self._gram @ contrasts))
        size = np.abs(contrasts).max(axis=0, initial=0.0)
        is_known = np.abs(projected - contrasts).max(axis=0, initial=0.0) <= _MIN_SHARE * size
        value = np.where(is_known, self._beta @ contrasts, np.nan)
        df = np.full(len(value), np.nan)
        is_tested = is_known & (size > 0)
        if is_tested.any():
            df[is_tested] = self._scores.degrees_of_freedom(
                contrasts.T[is_tested][:, :, None], is_correlated=False
            )
        return Estimates(value, self._influence @ contrasts, df)

    def test(self, contrasts: np.ndarray) -> WaldTest:
        """Test that all contrasts (p, k) that the data identify are zero.

        The degrees of freedom of the covariance are those of a Wishart matrix with equal variances
        of its entries (Pustejovsky & Tipton 2018).
        """
        from scipy.special import fdtrc

        estimates = self.estimate(contrasts)
        contrasts = contrasts[:, ~np.isnan(estimates.value) & (estimates.df > 0)]
        basis = _select_independent(self._root.T @ contrasts)
        contrasts = contrasts @ basis
        n_contrasts = contrasts.shape[1]
        if not n_contrasts:
            return WaldTest(np.nan, 0, np.nan, np.nan)
        values = self._beta @ contrasts
        assert self._influence is not None
        influence = self._influence @ contrasts
        (df,) = self._scores.degrees_of_freedom(contrasts[None]).tolist()
        df_residual = df - n_contrasts + 1
        if df_residual <= 0:  # too few respondents
            return WaldTest(np.nan, n_contrasts, df_residual, np.nan)
        covariance = influence.T @ influence
        q = float(values @ np.linalg.pinv(covariance, hermitian=True) @ values)
        statistic = df_residual / (df * n_contrasts) * q
        return WaldTest(
            statistic, n_contrasts, df_residual, float(fdtrc(n_contrasts, df_residual, statistic))
        )


def _select_independent(vectors: np.ndarray) -> np.ndarray:
    """Return combinations (k, rank) of the columns (p, k) that are orthonormal."""
    eigenvalues, combinations = np.linalg.eigh(vectors.T @ vectors)
    is_large = eigenvalues > NO_INFORMATION * max(eigenvalues.max(initial=0.0), 1e-300)
    return combinations[:, is_large] / np.sqrt(eigenvalues[is_large])


def compute_t_quantiles(df: np.ndarray, ci: float) -> np.ndarray:
    """Return the quantile of Student's t for central intervals of probability `ci`."""
    from scipy.special import stdtrit

    return np.where(df > 0, stdtrit(np.where(df > 0, df, 1.0), (1 + ci) / 2), np.nan)


def compute_t_p_values(estimates: Estimates) -> np.ndarray:
    """Return two-sided p-values that the estimates are 0."""
    from scipy.special import stdtr

    t = divide_positive(np.abs(estimates.value), estimates.std_error, np.nan)
    return 2 * stdtr(estimates.df, -t)
