"""Draws of the sparse multinomial logit: as a tree in the ArviZ schema, in a table, and averaged
into predictions."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.chains import cut_records
from thali._model.requirements import require_draws, requires
from thali._posterior.interval import INTERVAL, tails_of
from thali._posterior.view import PosteriorTree, flat
from thali.errors import Argument, ArgumentError

from ..input import is_sparse, other_classes, varying_names
from .arguments import SparseColumns, prior_of
from .chain import SLAB_DF, SLAB_SCALE, CoefficientPrior
from .horseshoe import log_densities
from .maximum import as_given, path_of
from .sweep import HORSESHOE, INTERCEPT_VARIANCE

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.rows import TrainingData

    from ..input import Standard
    from .approximation import NormalChain
    from .chain import CoefficientChain
    from .sweep import CoefficientProblem

MAX_COEFFICIENTS = 100  # used to judge convergence: diagnostics of more take longer than many fits
_BLOCK = 2**21  # linear predictors computed at a time
_FARTHEST = 1e150  # standard deviations: products with coefficients stay finite

_DESCRIPTIONS = {
    "coef": "coefficients of the standardised covariates, relative to the reference class",
    "intercept": "intercept at the training means of all covariates, relative to the reference"
    " class",
    "eta": "squared rate of the Laplace prior",
    "tau": "overall scale of the horseshoe prior",
    "slab": "scale c of the slab of the horseshoe prior, the standard deviation of a coefficient"
    " that is not shrunk",
    "log_likelihood": "full data set, natural logarithm",
}


def to_datatree(
    chains: "Sequence[CoefficientChain | NormalChain]",
    data: "TrainingData",
    classes: np.ndarray,
    columns: Sequence[str],
    intercept: bool,
    attrs: dict[Any, Any],
    has_rows: bool = True,
) -> "xarray.DataTree":
    """The draws of all chains; interrupted chains of different lengths are cut so that the most
    draws remain.

    Where the rows are elsewhere, there is no group of their log-likelihoods.
    """
    import xarray as xr

    from thali._posterior.densities import add_log_prior
    from thali._posterior.store import origin, tree_of

    from ..rows import add_log_likelihood, class_labels, observed_rows

    kept, parts = cut_records(chains)
    problem = kept[0].problem
    labels = class_labels(classes)
    free = np.arange(problem.classes) != problem.reference
    coefs = np.stack([part["coef"][:, free] for part in parts])
    scales, likelihoods = (
        np.stack([part[name] for part in parts]) for name in ("scales", "log_likelihood")
    )
    named = {"tau": scales[..., 0], "slab": scales[..., 1]}
    if problem.prior != HORSESHOE:
        named = {"eta": scales[..., 0]}
    posterior = draws_group(coefs, named, likelihoods, labels[free], columns, intercept)
    constants = {
        "reference": labels[problem.reference],
        "learned_eta": problem.learned and problem.prior != HORSESHOE,
    }
    groups = {
        "posterior": posterior,
        **observed_rows(data, classes, constants),
        "sample_stats": xr.Dataset(
            {"scale_move_rate": ("chain", [chain.scale_rate for chain in kept])},
            {"chain": posterior["chain"]},
        ),
    }
    if has_rows:
        whole = np.stack([part["coef"] for part in parts])
        add_log_likelihood(groups, lambda rows: _log_own(whole, problem, rows), data)
    add_log_prior(groups, _log_prior(posterior, problem), {})
    return tree_of(groups, {**origin(), **attrs})


def _log_own(coefs: np.ndarray, problem: "CoefficientProblem", part: np.ndarray) -> np.ndarray:
    """ln P of the class of each row, shape (chains, draws, rows); coefs (chains, draws, K, m)."""
    A = problem.covariates
    if isinstance(A, SparseColumns):
        own = A.rows(part).times(coefs.reshape(-1, A.m))
        linear = np.moveaxis(own.reshape(-1, *coefs.shape[:-1]), 0, -1)
    else:
        linear = coefs @ (A[part].T if problem.wide else A[:, part])
    own = np.take_along_axis(
        linear, np.broadcast_to(problem.codes[part], linear[:, :, :1].shape), axis=2
    )[:, :, 0]
    top = linear.max(axis=2)
    return own - top - np.log(np.exp(linear - top[:, :, None]).sum(axis=2))


def _log_prior(posterior: "xarray.Dataset", problem: "CoefficientProblem") -> dict[str, np.ndarray]:
    """Of the scales that are learned, the coefficients given them, and the normal intercepts."""
    variables = {name: posterior[name].values for name in posterior.data_vars}
    found = (
        _of_horseshoe(variables, problem)
        if problem.prior == HORSESHOE
        else _of_laplace(variables, problem)
    )
    if "intercept" in posterior:
        square = posterior["intercept"].values ** 2 / INTERCEPT_VARIANCE
        found["intercept"] = -0.5 * (square + np.log(2.0 * np.pi * INTERCEPT_VARIANCE)).sum(axis=2)
    return found


def _of_laplace(
    posterior: dict[Any, np.ndarray], problem: "CoefficientProblem"
) -> dict[str, np.ndarray]:
    """eta ~ Gamma(shape, rate) if it is learned, and coefficients Laplace with the rate √eta."""
    from scipy.special import gammaln, xlogy

    eta, coef = posterior["eta"], posterior["coef"]
    found, shape, rate = {}, problem.shape, problem.rate
    if problem.learned:
        found["eta"] = shape * np.log(rate) - gammaln(shape) + xlogy(shape - 1.0, eta) - rate * eta
    count = coef.shape[2] * coef.shape[3]
    found["coef"] = count * (0.5 * np.log(eta) - np.log(2.0)) - np.sqrt(eta) * np.abs(coef).sum(
        axis=(2, 3)
    )
    return found


def _of_horseshoe(
    posterior: dict[Any, np.ndarray], problem: "CoefficientProblem"
) -> dict[str, np.ndarray]:
    """tau half-Cauchy, c² inverse gamma (the density is that of c), and coefficients given both."""
    from scipy.special import gammaln

    tau, slab, coef = posterior["tau"], posterior["slab"], posterior["coef"]
    scale, half = problem.global_scale, 0.5 * problem.slab_df
    b = half * problem.slab_scale**2
    return {
        "tau": np.log(2.0 / (np.pi * scale)) - np.log1p((tau / scale) ** 2),
        "slab": np.log(2.0)
        + half * np.log(b)
        - gammaln(half)
        - (2.0 * half + 1.0) * np.log(slab)
        - b / slab**2,
        "coef": log_densities(coef.reshape(*tau.shape, -1), tau, slab).sum(axis=2),
    }


def draws_group(
    coefs: np.ndarray,
    scales: dict[str, np.ndarray],
    likelihoods: np.ndarray,
    labels: np.ndarray,
    columns: Sequence[str],
    intercept: Any,
) -> "xarray.Dataset":
    """Draws (chain, draw, ...) as a group of a tree; coefs (chain, draw, class, column) have the
    intercept last."""
    from thali._posterior.store import described_draws

    by_class = ("chain", "draw", "class")
    variables = {
        "coef": ((*by_class, "covariate"), np.ascontiguousarray(coefs[..., : len(columns)])),
        **{name: (("chain", "draw"), values) for name, values in scales.items()},
        "log_likelihood": (("chain", "draw"), likelihoods),
    }
    if intercept:
        variables["intercept"] = (by_class, np.ascontiguousarray(coefs[..., -1]))
    coordinates = {"class": labels, "covariate": list(columns)}
    return described_draws(variables, coordinates, likelihoods.shape, _DESCRIPTIONS)


def quantities_of(posterior: PosteriorTree, most: int | None = None) -> dict[str, np.ndarray]:
    """The rows of the summary: the scales that were learned, log_likelihood, coef[class, column].

    Of the horseshoe the logarithm of tau: however large tau is, the slab holds, so that tau itself
    has no mean.
    """
    draws, quantities = posterior.draws, {}
    if "tau" in draws:
        quantities = {"log_tau": np.log(draws["tau"].values), "slab": draws["slab"].values}
    elif posterior.fixed["learned_eta"]:
        quantities = {"eta": draws["eta"].values}
    quantities["log_likelihood"] = posterior.log_likelihood
    coefs = draws["coef"]
    named = [
        f"coef[{label}, {column}]"
        for label in coefs["class"].values
        for column in coefs["covariate"].values
    ]
    draws = coefs.values.reshape(*coefs.shape[:2], -1)
    chosen = np.arange(len(named))
    if most is not None and len(named) > most:
        chosen = np.sort(np.argsort(-np.abs(draws.mean(axis=(0, 1))), kind="stable")[:most])
    return quantities | {named[place]: draws[..., place] for place in chosen}


def mean_probabilities(
    posterior: PosteriorTree, matrix: Any, standard: "Standard", reference: int
) -> np.ndarray:
    """Posterior mean of the class probabilities."""
    means = np.empty((matrix.shape[0], posterior.draws.sizes["class"] + 1))
    for part, probabilities in probability_blocks(posterior, matrix, standard, reference):
        means[part] = probabilities.mean(axis=0).T
    return means


def probability_blocks(
    posterior: PosteriorTree, matrix: Any, standard: "Standard", reference: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows at a time, and their class probabilities in every draw, shape (draws, K, rows)."""
    drawn = posterior.draws
    coefs = flat(drawn["coef"].values)
    draws, others, d = coefs.shape
    intercepts = drawn["intercept"].values.reshape(draws, others) if "intercept" in drawn else None
    matrix = matrix.tocsr() if is_sparse(matrix) else matrix
    step = max(1, _BLOCK // (draws * (others + 1)))
    for first in range(0, matrix.shape[0], step):
        rows = np.clip(standard.varying(matrix[first : first + step]), -_FARTHEST, _FARTHEST)
        linear = np.zeros((draws, others + 1, len(rows)))
        free = np.arange(others + 1) != reference
        linear[:, free] = (coefs.reshape(-1, d) @ rows.T).reshape(draws, others, -1)
        if intercepts is not None:
            linear[:, free] += intercepts[..., None]
        linear -= linear.max(axis=1, keepdims=True)
        np.exp(linear, out=linear)
        linear /= linear.sum(axis=1, keepdims=True)
        yield slice(first, first + step), linear


def means(posterior: PosteriorTree, standard: "Standard") -> dict[str, Any]:
    """Posterior means for covariates as they were given, as fitted attributes."""
    drawn = posterior.draws
    means = drawn["coef"].values.mean(axis=(0, 1))
    at_mean = (
        drawn["intercept"].values.mean(axis=(0, 1))
        if "intercept" in drawn
        else np.zeros(len(means))
    )
    log_likelihood = float(posterior.log_likelihood.mean())
    return {**as_given(means, at_mean, standard), "log_likelihood_": log_likelihood}


# The table of the coefficients of a sparse multinomial logit --------------------------------------


STANDARD = (
    "log odds relative to the reference class per standard deviation of the covariate in the"
    " training rows"
)
UNITS = "log odds relative to the reference class per unit of the covariate in X"


def scale_words(model: Any) -> str:
    """On which scale the coefficients of the posterior, of summaries and of paths stand."""
    return STANDARD if model.standardize else UNITS


def coefficients(model: Any, delta: Any, ci: float) -> "pandas.DataFrame":
    """Mean, sd, interval, P(|coef| > delta), P(coef > 0) of every coefficient; see
    `model.coefficients`."""
    from thali._tables import Table

    if (
        isinstance(delta, bool)
        or not isinstance(delta, int | float | np.number)
        or not 0.0 <= delta < math.inf
    ):
        raise ArgumentError(Argument("delta"), f" must be a number >= 0; got {delta!r}.")
    values = model._view.draws["coef"]
    draws = values.to_numpy().reshape(-1, values.shape[2] * values.shape[3])
    low, high = np.quantile(draws, tails_of(ci), axis=0)
    table = {
        "class": np.repeat(values["class"].to_numpy(), values.shape[3]),
        "covariate": np.tile(values["covariate"].to_numpy(), values.shape[2]),
        "coef": draws.mean(axis=0),
        "sd": draws.std(axis=0, ddof=1),
        "low": low,
        "high": high,
        "probability": (np.abs(draws) > delta).mean(axis=0),
        "positive": (draws > 0.0).mean(axis=0),
        "excludes_0": (low > 0.0) | (high < 0.0),
        "original": model.coef_[:, model._standard_.varies].ravel(),
    }
    frame = Table(table)
    own = scale_words(model)
    frame.attrs["interval"] = ci
    frame.attrs["scale"] = dict.fromkeys(("coef", "sd", "low", "high"), own) | {"original": UNITS}
    order = np.lexsort((-np.abs(table["coef"]), -table["probability"]))
    return frame.iloc[order].reset_index(drop=True)


# What a sparse multinomial logit answers about its coefficients -----------------------------------


class CoefficientAnswers:
    """Tables of the coefficients."""

    get_params: Any

    def coefficient_path(
        self, X: Any, y: Any, eta: Any = None, sample_weight: Any = None
    ) -> "pandas.DataFrame":
        """The maximum of the posterior for many values of eta, each found from the one before.

        The model is left as it is, whatever its method and prior; the path is that of the Laplace
        prior.

        Parameters
        ----------
        X : array, data frame or sparse matrix (n, d)
        y : sequence of str, int or bool (n,)
            As for `fit`.
        eta : sequence of float above 0, optional
            None takes 30 values, from the smallest for which all coefficients are 0 down to
            1/10,000 of it.
        sample_weight : sequence of float (n,), optional

        Returns
        -------
        pandas.DataFrame
            One row an eta, falling: eta, non_zero (the number of coefficients that are not 0),
            log_likelihood, objective and coef[class, covariate] of standardised covariates, as
            `attrs["scale"]` says.

        Raises
        ------
        DataError
            If X, y, the weights or eta cannot be used.

        Examples
        --------
        >>> import numpy as np
        >>> import thali as th
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> path = th.SparseMultinomialLogit().coefficient_path(X, X[:, 0] + X[:, 1] > 0.1)
        >>> path["non_zero"].iloc[[0, -1]].tolist()
        [0, 3]
        """
        model: Any = type(self)(**(self.get_params() | {"method": "map", "prior": "laplace"}))
        data, prior = model._training_data(X, y, sample_weight), prior_of(model)
        model._standard_ = model._standard_for(data.matrix, prior.intercept, data.counts)
        model._reference_ = model.classes_[model._position_of_reference()]
        table = path_of(
            model._for_maximum(data, prior), varying_names(model), other_classes(model), eta
        )
        table.attrs["scale"] = scale_words(model)
        return table

    @requires(require_draws)
    def coefficients(self, delta: float = 0.1, ci: float = INTERVAL) -> "pandas.DataFrame":
        r"""Every coefficient with its interval, its sign and the probability that it is not small.

        .. math:: P(|\beta_{kj}| > \delta \mid X, y)

        The posterior has no exact zeros; a coefficient matters where this probability is near 1.

        Parameters
        ----------
        delta : float, 0 or more
            Of standardised covariates: 0.1 multiplies the odds by 1.1 where the covariate rises by
            a standard deviation.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a coefficient, the surest first: class, covariate, coef (posterior mean, of the
            standardised covariate), sd, low and high (the interval), probability (of \|coef\| >
            delta), positive (the probability of coef > 0), excludes_0 (whether the interval does),
            original (`coef_`, for a unit of the covariate as it is given in X). `attrs["scale"]`
            says on which of the two scales each column stands; with `standardize=False` both are
            that of X.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `delta` is negative, or the fit made no draws.

        Examples
        --------
        >>> import numpy as np
        >>> import thali as th
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> model = th.SparseMultinomialLogit(random_state=1).fit(X, X[:, 0] + X[:, 1] > 0.1)
        >>> model.coefficients().query("excludes_0")["covariate"].sort_values().tolist()
        ['x0', 'x1']
        """

        return coefficients(self, delta, ci)


# Draws from the prior of the sparse multinomial logit, and labels simulated at each of them -------


def sample_coefficients(
    prior: CoefficientPrior,
    matrix: np.ndarray,
    classes: np.ndarray,
    reference: int,
    columns: Sequence[str],
    rngs: Sequence[np.random.Generator],
) -> "tuple[xarray.Dataset, np.ndarray]":
    """The scales and the coefficients, and a label for every row."""
    from ..rows import class_labels

    n, d = matrix.shape
    free = np.arange(len(classes)) != reference
    every, coefs, codes, likelihoods = [], [], [], []
    for rng in rngs:
        coef = np.zeros((len(classes), d + 1))
        scales, coef[free, :d] = (_horseshoe if prior.is_horseshoe else _laplace)(
            prior, rng, (free.sum(), d)
        )
        if prior.intercept:
            coef[free, d] = math.sqrt(INTERCEPT_VARIANCE) * rng.standard_normal(free.sum())
        linear = matrix @ coef[:, :d].T + coef[:, d]
        log_p = linear - np.logaddexp.reduce(linear, axis=1, keepdims=True)
        drawn = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
        every.append(scales)
        coefs.append(coef[free])
        codes.append(drawn)
        likelihoods.append(log_p[np.arange(n), drawn].sum())
    labels = class_labels(classes)[free]
    scales = {name: np.array([[each[name] for each in every]]) for name in every[0]}
    group = draws_group(
        np.array([coefs]), scales, np.array([likelihoods]), labels, columns, prior.intercept
    )
    return group, np.array(codes)


def _laplace(
    prior: CoefficientPrior, rng: np.random.Generator, size: tuple[int, int]
) -> tuple[dict[str, float], np.ndarray]:
    eta = rng.gamma(prior.shape, 1.0 / prior.rate) if prior.eta is None else prior.eta
    return {"eta": eta}, rng.laplace(scale=1.0 / math.sqrt(eta), size=size)


def _horseshoe(
    prior: CoefficientPrior, rng: np.random.Generator, size: tuple[int, int]
) -> tuple[dict[str, float], np.ndarray]:
    tau = prior.global_scale * abs(rng.standard_cauchy())
    slab = SLAB_SCALE * math.sqrt(0.5 * SLAB_DF / rng.gamma(0.5 * SLAB_DF))
    spread = tau * np.abs(rng.standard_cauchy(size))
    return {"tau": tau, "slab": slab}, rng.standard_normal(size) / np.hypot(
        1.0 / spread, 1.0 / slab
    )
