"""The sparse multinomial logit by the maximum of its posterior: the fit, its path over eta, and predictions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import DataError
from thali.model.base import Job

from ..input import is_sparse

if TYPE_CHECKING:
    import pandas

    from thali.data.training_data import TrainingData

    from ..standard import Standard
    from .maximum import Observed
    from .model import SparseMultinomialLogit

POINTS, SHARE = 30, 1e-4  # of a path: how many eta, and the last one as a share of the first


def observed_of(
    data: "TrainingData", standard: "Standard", classes: int, reference: int, intercept: bool
) -> "Observed":
    """What is maximised."""
    from .columns import DenseColumns, SparseColumns
    from .maximum import Observed

    if is_sparse(data.matrix):
        columns: Any = SparseColumns(data.matrix, standard, intercept)
    else:
        columns = DenseColumns(standard.varying(data.matrix), intercept)
    others = np.flatnonzero(np.arange(classes) != reference)
    return Observed(columns, (data.codes[:, None] == others).astype(float), data.counts, int(standard.varies.sum()))


def by_map(model: "SparseMultinomialLogit", observed: "Observed", eta: float, size: str) -> Job:
    """The fit."""
    from .maximum import maximise

    reference = model._position_of_reference()

    def work() -> dict[str, Any]:
        found = maximise(observed, eta)
        scaled = found.coef[:, : observed.penalised]
        at_mean = found.coef[:, -1] if model.fit_intercept else np.zeros(len(scaled))
        return {
            "reference_": model.classes_[reference],
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


def as_given(scaled: np.ndarray, at_mean: np.ndarray, standard: "Standard") -> dict[str, np.ndarray]:
    """coef_ and intercept_ for covariates as they were given, out of those for standardised ones that vary."""
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

    coef, names = model.scaled_coef_, varying_names(model)
    order = [divmod(int(place), coef.shape[1]) for place in np.argsort(-np.abs(coef), axis=None, kind="stable")]
    others = other_classes(model)
    kept = [(k, j) for k, j in order if coef[k, j] != 0.0]
    return Table({"mean": [coef[place] for place in kept]}, index=[f"coef[{others[k]}, {names[j]}]" for k, j in kept])


def varying_names(model: "SparseMultinomialLogit") -> list[str]:
    """Names of the covariates that have a coefficient."""
    return [name for name, varies in zip(model._column_names(), model._standard_.varies, strict=True) if varies]


def other_classes(model: "SparseMultinomialLogit") -> list[Any]:
    """The classes but the reference."""
    return [label for label in model.classes_.tolist() if label != model.reference_]


def path_of(observed: "Observed", names: list[str], labels: list[Any], eta: Any) -> "pandas.DataFrame":
    """The maximum for every eta, from the largest to the smallest, each started from the one before."""
    from thali._tables import Table

    from .maximum import largest_eta, maximise

    if eta is None:
        top = largest_eta(observed)
        eta = top * np.logspace(0.0, np.log10(SHARE), POINTS)
    etas = np.unique(np.asarray(eta, float).ravel())[::-1]
    if not (etas.size and np.isfinite(etas).all() and etas[-1] > 0.0):
        raise DataError(f"eta must hold numbers above 0; got {eta!r}.")
    rows, start = [], None
    for each in etas.tolist():
        found = maximise(observed, each, start)
        start, coef = found.coef, found.coef[:, : observed.penalised]
        of_fit = {"log_likelihood": found.log_likelihood, "objective": found.objective}
        own = {f"coef[{label}, {name}]": coef[k, j] for k, label in enumerate(labels) for j, name in enumerate(names)}
        rows.append({"eta": each, "non_zero": int(np.count_nonzero(coef)), **of_fit, **own})
    return Table(rows)
