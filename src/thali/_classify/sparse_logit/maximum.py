r"""The maximum of the posterior of the sparse multinomial logit for a fixed eta, with coefficients
that are exactly 0.

.. math::

    F(\beta, b) = \sum_i c_i \ln P(y_i \mid x_i) - \sqrt\eta \sum_{kj} |\beta_{kj}| - \sum_k b_k^2 /
    200

F is concave. Proximal Newton steps: the likelihood's quadratic approximation at the current
coefficients, with the penalty as it is, is maximised by coordinate descent over the coefficients
that are not 0 or whose slope exceeds the penalty; a line search makes every step a rise.

Reference: Lee, Sun & Saunders (2014), Proximal Newton-type methods for minimizing composite
functions.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import compiled
from thali._inference.optimise import Step, Target, maximise_newton
from thali._model.base import Job
from thali.errors import DataError

from ..input import is_sparse, list_non_reference_classes, list_varying_columns
from .sweep import INTERCEPT_VARIANCE

if TYPE_CHECKING:
    import pandas

    from thali._data.rows import TrainingData

    from ..input import Standardization
    from .model import SparseMultinomialLogit

TOLERANCE = 1e-9  # of a slope, a unit of weight
MAX_STEPS = 200
_SWEEPS = 10_000
_INNER = 1e-2  # slope left by coordinate descent, as a share of the largest one
_MIN_GAIN = 1e-4  # gain for which a step is taken, as a share of what it promised
_ROUNDING = 1e-15


class ObservedRows(NamedTuple):
    """The data and the prior; the reference class is not among the q others."""

    columns: Any  # DenseColumns or SparseColumns
    is_class: np.ndarray  # (n, q) 0 or 1
    counts: np.ndarray  # (n,)
    penalised: int  # columns under the penalty: all, or all but the intercept


class CoefficientPoint(NamedTuple):
    """Coefficients and what follows from them."""

    coef: np.ndarray  # (q, m)
    linear: np.ndarray  # (n, q)
    share: np.ndarray  # (n, q) probabilities
    log_likelihood: float
    value: float  # F
    gradient: np.ndarray  # (q, m) of minus the log-likelihood and minus the intercepts' prior
    # (q, m) how far each coefficient is from optimal: the smallest subgradient of -F
    slope: np.ndarray


class CoefficientMaximum(NamedTuple):
    """The coefficients of the highest posterior density."""

    coef: np.ndarray  # (q, m) of standardised covariates
    log_likelihood: float
    objective: float
    n_iter: int
    slope: float  # the largest that is left, a unit of weight
    converged: bool


def maximise(
    observed: ObservedRows, eta: float, start: np.ndarray | None = None
) -> CoefficientMaximum:
    """Maximise F from some coefficients, or from 0."""
    target, size = _Penalised(observed, eta), float(observed.counts.sum())
    here = target.look(
        np.zeros((observed.is_class.shape[1], observed.columns.m)) if start is None else start
    )
    top, steps, _ = maximise_newton(target, here, target.rounding(here), max_steps=MAX_STEPS)
    slope = float(top.slope.max()) / size
    return CoefficientMaximum(
        top.coef, top.log_likelihood, top.value, steps, slope, slope <= 1e3 * TOLERANCE
    )


class _Penalised(Target[CoefficientPoint]):
    """F by the coefficients."""

    def __init__(self, observed: ObservedRows, eta: float) -> None:
        self._observed = observed
        self._penalty = np.where(
            np.arange(observed.columns.m) < observed.penalised, math.sqrt(eta), 0.0
        )

    def look(self, coef: np.ndarray) -> CoefficientPoint:
        """F at some coefficients."""
        return self._point(coef, self._observed.columns.times(coef))

    def move_point(self, here: CoefficientPoint, change: np.ndarray) -> CoefficientPoint:
        return self._point(here.coef + change, here.linear + self._observed.columns.times(change))

    def _point(self, coef: np.ndarray, linear: np.ndarray) -> CoefficientPoint:
        """F at linear predictors of the classes other than the reference."""
        columns, is_class, counts, penalised = self._observed
        top = np.maximum(linear.max(axis=1), 0.0)
        share = np.exp(linear - top[:, None])
        total = share.sum(axis=1) + np.exp(-top)
        share /= total[:, None]
        log_likelihood = float(counts @ ((linear * is_class).sum(axis=1) - top - np.log(total)))
        free = coef[:, penalised:]
        prior = float(
            (np.abs(coef) @ self._penalty).sum() + 0.5 * (free**2).sum() / INTERCEPT_VARIANCE
        )
        gradient = columns.pulled(counts[:, None] * (share - is_class))
        gradient[:, penalised:] += free / INTERCEPT_VARIANCE
        at_zero = np.maximum(np.abs(gradient) - self._penalty, 0.0)
        slope = np.where(coef == 0.0, at_zero, np.abs(gradient + self._penalty * np.sign(coef)))
        return CoefficientPoint(
            coef, linear, share, log_likelihood, log_likelihood - prior, gradient, slope
        )

    def slope(self, here: CoefficientPoint) -> CoefficientPoint:
        return here

    def solve(self, slope: CoefficientPoint, damping: float) -> Step:
        """A proximal Newton step, which promises nothing at the maximum."""
        here, largest, direction = slope, float(slope.slope.max()), np.zeros_like(slope.coef)
        if largest <= TOLERANCE * float(self._observed.counts.sum()):
            return Step(direction, 0.0)
        of_class, column = np.nonzero(
            (here.coef != 0.0) | (here.slope > 0.0) | (self._penalty == 0.0)
        )
        curve = self._curvature(here, of_class, column)
        own, slopes, prices = (
            here.coef[of_class, column],
            here.gradient[of_class, column],
            self._penalty[column],
        )
        step, change = np.zeros(len(own)), np.zeros(len(own))
        descend(curve, slopes, own, prices, step, change, _SWEEPS, _INNER * largest)
        direction[of_class, column] = step
        return Step(direction, -float(slopes @ step + prices @ (np.abs(own + step) - np.abs(own))))

    def accepts_step(
        self, here: CoefficientPoint, ahead: CoefficientPoint, promised: float
    ) -> bool:
        return ahead.value - here.value >= _MIN_GAIN * promised - self.rounding(here)

    def rounding(self, here: CoefficientPoint) -> float:
        """The error of a gain."""
        return _ROUNDING * (abs(here.value) + self._observed.columns.n)

    def _curvature(
        self, here: CoefficientPoint, of_class: np.ndarray, column: np.ndarray
    ) -> np.ndarray:
        """Second derivatives of minus log-likelihood and intercepts' prior: Z_a^T diag(c p_k
        (1{k=l} - p_l)) Z_b."""
        places = [np.flatnonzero(of_class == k) for k in range(here.coef.shape[0])]
        curve = np.empty((len(column), len(column)))
        for k, rows in enumerate(places):
            for other in range(k + 1):
                within = places[other]
                weights = (
                    self._observed.counts * here.share[:, k] * ((k == other) - here.share[:, other])
                )
                block = self._observed.columns.gram(weights, column[rows], column[within])
                curve[np.ix_(rows, within)] = block
                curve[np.ix_(within, rows)] = block.T
        free = np.flatnonzero(column >= self._observed.penalised)
        curve[free, free] += 1.0 / INTERCEPT_VARIANCE
        return curve


@compiled
def descend(
    curve: Any,
    slopes: Any,
    coef: Any,
    penalty: Any,
    step: Any,
    change: Any,
    sweeps: int,
    tolerance: Any,
) -> None:
    """Minimise slopes·step + step·curve step / 2 + penalty·|coef + step| by coordinates; change =
    curve step."""
    for _ in range(sweeps):
        worst = 0.0
        for j in range(step.size):
            own = curve[j, j]
            if own <= 0.0:
                continue
            now = coef[j] + step[j]
            new = now - (slopes[j] + change[j]) / own
            limit = penalty[j] / own
            if new > limit:
                new -= limit
            elif new < -limit:
                new += limit
            else:
                new = 0.0
            moved = new - now
            if moved != 0.0:
                step[j] = new - coef[j]
                for other in range(step.size):
                    change[other] += curve[j, other] * moved
                worst = max(worst, abs(moved) * own)
        if worst <= tolerance:
            return


def largest_eta(observed: ObservedRows) -> float:
    """The smallest eta for which all coefficients are 0, and a millionth more against rounding.

    It is the square of the largest slope where there are only intercepts.
    """
    alone = maximise(observed, 1e300).coef
    gradient = _Penalised(observed, 1e300).look(alone).gradient
    return float(np.abs(gradient[:, : observed.penalised]).max() ** 2) * (1.0 + 1e-6)


# The sparse multinomial logit by the maximum of its posterior: the fit, its path over eta, and
# predictions


POINTS, SHARE = 30, 1e-4  # of a path: how many eta, and the last one as a share of the first


def observed_of(
    data: "TrainingData", standard: "Standardization", classes: int, reference: int, intercept: bool
) -> "ObservedRows":
    """What is maximised."""
    from .arguments import DenseColumns, sparse_columns

    if is_sparse(data.matrix):
        columns: Any = sparse_columns(data.matrix, standard, intercept)
    else:
        columns = DenseColumns(standard.varying(data.matrix), intercept)
    others = np.flatnonzero(np.arange(classes) != reference)
    return ObservedRows(
        columns,
        (data.codes[:, None] == others).astype(float),
        data.counts,
        int(standard.varies.sum()),
    )


def by_map(model: "SparseMultinomialLogit", observed: "ObservedRows", eta: float, size: str) -> Job:
    """The fit."""

    reference = model._position_of_reference()

    def work() -> dict[str, Any]:
        found = maximise(observed, eta)
        scaled = found.coef[:, : observed.penalised]
        at_mean = found.coef[:, -1] if model.fit_intercept else np.zeros(len(scaled))
        return {
            "_reference_": model.classes_[reference],
            "scaled_coef_": scaled,
            "scaled_intercept_": at_mean,
            **as_given(scaled, at_mean, model._standard_),
            "log_likelihood_": found.log_likelihood,
            "objective_": found.objective,
            "n_iter_": found.n_iter,
            "slope_": found.slope,
            "converged_": found.converged,
        }

    return Job(work, data=size)


def as_given(
    scaled: np.ndarray, at_mean: np.ndarray, standard: "Standardization"
) -> dict[str, np.ndarray]:
    """coef_ and intercept_ for covariates as they were given, out of those for standardised ones
    that vary."""
    unit, mean, sd = standard
    coefs = np.zeros((len(scaled), len(sd)))
    coefs[:, standard.varies] = scaled
    with np.errstate(over="ignore", under="ignore"):
        coef = np.nan_to_num(coefs / sd / unit)
    return {"coef_": coef, "intercept_": at_mean - coefs @ (mean / sd)}


def probabilities_at_maximum(model: "SparseMultinomialLogit", matrix: Any) -> np.ndarray:
    """Class probabilities (n, K)."""
    if is_sparse(matrix):
        linear = matrix @ model.coef_.T + model.intercept_
    else:
        linear = model._standard_.varying(matrix) @ model.scaled_coef_.T + model.scaled_intercept_
    linear = np.insert(linear, model._position(), 0.0, axis=1)
    linear -= linear.max(axis=1, keepdims=True)
    scores = np.exp(linear)
    return scores / scores.sum(axis=1, keepdims=True)


def summary_of_maximum(model: "SparseMultinomialLogit") -> "pandas.DataFrame":
    """A row for each coefficient that is not 0, the largest first."""
    from thali._tables import Table

    coef, names = model.scaled_coef_, list_varying_columns(model)
    order = [
        divmod(int(place), coef.shape[1])
        for place in np.argsort(-np.abs(coef), axis=None, kind="stable")
    ]
    others = list_non_reference_classes(model)
    kept = [(k, j) for k, j in order if coef[k, j] != 0.0]
    return Table(
        {"mean": [coef[place] for place in kept]},
        index=[f"coef[{others[k]}, {names[j]}]" for k, j in kept],
    )


def path_of(
    observed: "ObservedRows", names: list[str], labels: list[Any], eta: Any
) -> "pandas.DataFrame":
    """The maximum for every eta, from the largest to the smallest, each started from the one
    before."""
    from thali._tables import Table

    if eta is None:
        top = largest_eta(observed)
        eta = top * np.logspace(0.0, np.log10(SHARE), POINTS)
    etas = np.unique(np.asarray(eta, float).ravel())[::-1]
    if not (etas.size and np.isfinite(etas).all() and etas[-1] > 0.0):
        raise DataError(f"`eta` must contain positive numbers; got {eta!r}.")
    rows, start = [], None
    for each in etas.tolist():
        found = maximise(observed, each, start)
        start, coef = found.coef, found.coef[:, : observed.penalised]
        of_fit = {"log_likelihood": found.log_likelihood, "objective": found.objective}
        own = {
            f"coef[{label}, {name}]": coef[k, j]
            for k, label in enumerate(labels)
            for j, name in enumerate(names)
        }
        rows.append({"eta": each, "non_zero": int(np.count_nonzero(coef)), **of_fit, **own})
    return Table(rows)
