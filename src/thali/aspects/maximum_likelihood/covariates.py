"""Covariates of comparisons and of options, by maximum likelihood."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._labels import shorten
from thali.data.pairs import PairedComparisons
from thali.errors import DataError, EstimateWarning, Setting

from .aspects import KnownAspects
from .estimates import Estimates, covariate_sizes
from .maximum import Maximum
from .problem import Problem, patterns, scaled

if TYPE_CHECKING:
    import pandas

INFINITE = 15.0  # log odds that a covariate adds at most; beyond them its coefficient stands for infinity
FEWEST = 1e-11  # share of the largest eigenvalue below which a direction changes nothing
_ROUNDING = 1e-6
AS_GOOD_AS_NONE = 5.0  # standard error of what a covariate adds at most


@dataclass(frozen=True, eq=False)
class LinearEstimates(Estimates):
    r"""Worths that nothing but covariates of the options make: :math:`\text{worth}_i \propto \exp(x_i' b)`.

    The weights that are reported are the worths; the pose has a single aspect that all options own.
    """

    @property
    def _options(self) -> np.ndarray:
        return self.data.covariates.options

    @property
    def weights(self) -> np.ndarray:
        centred = (self._options - self._options.mean(axis=0)) @ self.coefficients_of_covariates
        worths = np.exp(centred - centred.max())
        return worths / worths.sum()

    def weight_covariance(self, joint: np.ndarray) -> np.ndarray:
        """Of the worths, by the delta method."""
        w, x = self.weights, self._options
        jacobian = w[:, None] * (x - w @ x)
        return jacobian @ self.part_of_covariates(joint) @ jacobian.T

    @property
    def working_weights(self) -> np.ndarray:
        return self.weights


def own_names(data: Any) -> tuple[str, ...]:
    """The covariates of data."""
    own = data.covariates if isinstance(data, PairedComparisons) else None
    return () if own is None else own.names


def is_linear(data: Any, known: KnownAspects) -> bool:
    """Whether worths depend on covariates alone: those of options take the place of own worths, which would leave
    nothing for them to explain."""
    own = data.covariates if isinstance(data, PairedComparisons) else None
    return own is not None and bool(own.is_of_options.any()) and known.unique and not known.shared.shape[1]


def check_covariates(data: PairedComparisons, owners: np.ndarray) -> None:
    """Raise for covariates whose effects cannot be told from each other, or from the weights."""
    cells, names = data.cells, own_names(data)
    if not names:
        return
    weights = np.exp(np.random.default_rng(20061972).normal(0.0, 0.5, owners.shape[1]))  # in no special relation
    first, second = patterns(owners, cells.first, cells.second)
    change = scaled(first, weights, first @ weights) - scaled(second, weights, second @ weights)
    x = cells.x / covariate_sizes(data)
    gram = change.T @ change
    gram = gram if isinstance(gram, np.ndarray) else gram.toarray()
    cross = np.asarray(change.T @ x)
    values, vectors = np.linalg.eigh(np.block([[gram, cross], [cross.T, x.T @ x]]))
    still = vectors[owners.shape[1] :, values <= FEWEST * values[-1]]
    loose = [name for name, row in zip(names, still, strict=True) if np.abs(row).max(initial=0.0) > _ROUNDING]
    if loose:
        what = f"effect of {loose[0]!r}" if len(loose) == 1 else f"effects of {shorten(loose)} from each other or"
        raise DataError(
            f"The comparisons cannot tell the {what} from the weights, because they can change together without any"
            " choice probability changing; leave a covariate out, or use ",
            Setting("method", "mcmc"),
            ".",
        )


def endless(found: Estimates) -> list[EstimateWarning]:
    """A warning of coefficients that rise for ever."""
    names = own_names(found.data)
    if not names:
        return []
    beta = np.abs(found.maximum.beta[: len(names)])
    with np.errstate(invalid="ignore"):
        errors = np.sqrt(np.diag(found.covariance_of_covariates)) * covariate_sizes(found.data)
    gone = (beta > INFINITE) & ~(errors < AS_GOOD_AS_NONE)
    if not gone.any():
        return []
    which = shorten([name for name, is_gone in zip(names, gone, strict=True) if is_gone])
    return [
        EstimateWarning(
            f"The likelihood has no maximum: it rises for ever while the coefficient of {which} grows, because it"
            " decided every comparison that it could. The estimate is of a point on the way; ",
            Setting("method", "mcmc"),
            " has a prior that keeps it finite.",
        )
    ]


def covariate_table(found: Estimates, ci: float) -> "pandas.DataFrame":
    """A row a covariate: estimate, std_error, z, p_value, lower, upper, odds."""
    import pandas as pd

    from thali._tables import Table

    estimate = found.coefficients_of_covariates
    variance = np.diag(found.covariance_of_covariates)
    error = np.sqrt(np.where(variance > 0.0, variance, np.nan))
    z = estimate / error
    columns = {
        "estimate": estimate,
        "std_error": error,
        "z": z,
        "p_value": found.tail(z),
        "lower": estimate - found.reach(ci) * error,
        "upper": estimate + found.reach(ci) * error,
        "odds": np.exp(estimate),
    }
    table = Table(columns, index=pd.Index(own_names(found.data), name="covariate"))
    table.attrs["interval"] = ci
    return table


def within(small: Estimates, large: Estimates) -> Estimates:
    """The estimates of the smaller of two models, on the cells of comparisons that the larger one tells apart."""
    names, kept = own_names(large.data), own_names(small.data)
    if names == kept:
        return small
    assert isinstance(large.pose, Problem) and isinstance(small.pose, Problem)
    places = [names.index(name) for name in kept]
    cells = large.data.cells
    x = cells.x[:, places] / covariate_sizes(small.data)
    first, second = patterns(owners_of(small), cells.first, cells.second)
    pose = large.pose._replace(first=first, second=second, extra=x)
    best: Maximum = small.maximum
    return type(small)(
        large.data.with_covariates(kept), small.known, small.lapse, pose, best, small.best_worst, large.clusters
    )


def owners_of(found: Estimates) -> np.ndarray:
    """Who owns which aspect of the pose."""
    return common_aspect(found.known) if isinstance(found, LinearEstimates) else found.known.owners


def common_aspect(known: KnownAspects) -> np.ndarray:
    """A single aspect that all options own."""
    return np.ones((len(known.labels), 1), bool)
