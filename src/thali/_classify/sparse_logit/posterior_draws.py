"""Posterior draws of the sparse logit: tree, tables, predictions and prior draws."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.markov_chains import cut_records
from thali._posterior.draws_writer import DrawsWriter, Variable, build_dataset
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import PosteriorTree, flatten_chains
from thali.errors import Argument, ArgumentError

from ..covariates_and_labels import is_sparse, list_covariate_names
from ..posterior_datasets import (
    build_observed_row_groups,
    convert_class_labels,
    sample_prior_codes,
    select_class_entries,
    write_row_log_likelihood,
)
from ..row_weights import is_finite_weight
from .arguments import LogitDesign, choose_standardization, find_reference_class, read_prior
from .covariate_columns import SparseColumns
from .gibbs_sweep import INTERCEPT_VARIANCE
from .markov_chain import CoefficientPrior
from .posterior_mode import build_observed_rows, compute_coefficient_path, convert_to_original_units

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.classification_data import TrainingData

    from ..covariates_and_labels import Standardization
    from .gibbs_sweep import CoefficientProblem
    from .markov_chain import CoefficientChain
    from .model import SparseMultinomialLogit
    from .normal_approximation import NormalChain

_BLOCK_PREDICTORS = 2**21  # linear predictors computed at a time
_MAX_STANDARDISED = 1e150  # standard deviations: products with coefficients stay finite

_VARIABLES = {
    "coef": Variable(
        "coefficients of the standardised covariates, relative to the reference class",
        ("class", "covariate"),
    ),
    "intercept": Variable(
        "intercept at the training means of all covariates, relative to the reference class",
        ("class",),
    ),
    "eta": Variable("squared rate of the Laplace prior"),
    "log_likelihood": Variable("full data set, natural logarithm"),
}


def build_posterior_tree(
    chains: "Sequence[CoefficientChain | NormalChain]",
    data: "TrainingData",
    classes: np.ndarray,
    columns: Sequence[str],
    has_intercept: bool,
    attrs: dict[Any, Any],
) -> "xarray.DataTree":
    """Build the posterior tree (ArviZ schema) from all chains.

    Interrupted chains of different lengths are cut so that most draws remain.
    """
    recorded_chains, draws_by_chain = cut_records(chains)
    problem = recorded_chains[0].problem
    stored_labels = convert_class_labels(classes)
    free_classes = problem.free_classes
    coefs = np.stack([record["coef"][:, free_classes] for record in draws_by_chain])
    etas, log_likelihoods = (
        np.stack([record[name] for record in draws_by_chain]) for name in ("eta", "log_likelihood")
    )
    posterior = build_draws_group(
        coefs, etas, log_likelihoods, stored_labels[free_classes], columns, has_intercept
    )
    constants = {
        "reference": stored_labels[problem.reference],
        "learned_eta": problem.learns_eta,
    }
    writer = DrawsWriter(posterior)
    writer.groups |= build_observed_row_groups(data, classes, constants)
    scale_rates = [chain.scale_rate for chain in recorded_chains]
    writer.write_statistics({"scale_move_rate": ("chain", scale_rates)})
    all_coefs = np.stack([record["coef"] for record in draws_by_chain])
    write_row_log_likelihood(
        writer, lambda rows: _log_class_probability(all_coefs, problem, rows), data
    )
    writer.write_log_prior(_log_prior(posterior, problem), {})
    return writer.build(attrs)


def _log_class_probability(
    coefs: np.ndarray, problem: "CoefficientProblem", rows: np.ndarray
) -> np.ndarray:
    """Return ln P of each row's class, shape (chains, draws, rows)."""
    # `coefs` has shape (chains, draws, K, m).
    A = problem.covariates
    if isinstance(A, SparseColumns):
        flat_predictors = SparseColumns(A.S[rows], A.shift).multiply(coefs.reshape(-1, A.m))
        predictors = np.moveaxis(flat_predictors.reshape(-1, *coefs.shape[:-1]), 0, -1)
    else:
        predictors = coefs @ problem.columns[:, rows]
    maximum = predictors.max(axis=2)
    class_predictor = select_class_entries(predictors, problem.codes[rows])
    return class_predictor - maximum - np.log(np.exp(predictors - maximum[:, :, None]).sum(axis=2))


def _log_prior(posterior: "xarray.Dataset", problem: "CoefficientProblem") -> dict[str, np.ndarray]:
    """Return log prior densities of scales, coefficients and intercepts, by name."""
    variables = {name: posterior[name].values for name in posterior.data_vars}
    log_priors = _log_laplace_prior(variables, problem)
    if "intercept" in posterior:
        scaled_squares = posterior["intercept"].values ** 2 / INTERCEPT_VARIANCE
        log_priors["intercept"] = -0.5 * (
            scaled_squares + np.log(2.0 * np.pi * INTERCEPT_VARIANCE)
        ).sum(axis=2)
    return log_priors


def _log_laplace_prior(
    posterior: dict[Any, np.ndarray], problem: "CoefficientProblem"
) -> dict[str, np.ndarray]:
    """Return the log Laplace prior with rate sqrt(eta), by name."""
    # eta ~ Gamma(shape, rate) if it is learned.
    from scipy.special import gammaln, xlogy

    eta = posterior["eta"]
    coef = posterior["coef"]
    log_priors = {}
    shape = problem.shape
    rate = problem.rate
    if problem.learns_eta:
        log_priors["eta"] = (
            shape * np.log(rate) - gammaln(shape) + xlogy(shape - 1.0, eta) - rate * eta
        )
    n_coefficients = coef.shape[2] * coef.shape[3]
    log_priors["coef"] = n_coefficients * (0.5 * np.log(eta) - np.log(2.0)) - np.sqrt(eta) * np.abs(
        coef
    ).sum(axis=(2, 3))
    return log_priors


def build_draws_group(
    coefs: np.ndarray,
    etas: np.ndarray,
    log_likelihoods: np.ndarray,
    labels: np.ndarray,
    columns: Sequence[str],
    has_intercept: bool,
) -> "xarray.Dataset":
    """Return a dataset of draws (chain, draw, ...) for a posterior tree.

    `coefs` (chain, draw, class, column) contain the intercept last.
    """
    arrays = {
        "coef": np.ascontiguousarray(coefs[..., : len(columns)]),
        "eta": etas,
        "log_likelihood": log_likelihoods,
    }
    if has_intercept:
        arrays["intercept"] = np.ascontiguousarray(coefs[..., -1])
    return build_dataset(arrays, _VARIABLES, {"class": labels, "covariate": list(columns)})


def collect_summary_draws(posterior: PosteriorTree) -> dict[str, np.ndarray]:
    """Return draws of the summary rows.

    The rows are eta if it is learned, log_likelihood and coef[class, column].
    """
    draws = posterior.draws
    quantities = {}
    if posterior.fixed["learned_eta"]:
        quantities = {"eta": draws["eta"].values}
    quantities["log_likelihood"] = posterior.log_likelihood
    coefs = draws["coef"]
    row_names = [
        f"coef[{label}, {column}]"
        for label in coefs["class"].values
        for column in coefs["covariate"].values
    ]
    draws = coefs.values.reshape(*coefs.shape[:2], -1)
    return quantities | {name: draws[..., k] for k, name in enumerate(row_names)}


def iterate_logit_probabilities(
    posterior: PosteriorTree, matrix: Any, design: LogitDesign
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows with class probabilities (rows, draws, K)."""
    posterior_draws = posterior.draws
    coefs = flatten_chains(posterior_draws["coef"].values)
    n_draws, n_free_classes, d = coefs.shape
    intercepts = np.zeros((n_draws, n_free_classes))
    if "intercept" in posterior_draws:
        intercepts = posterior_draws["intercept"].values.reshape(n_draws, n_free_classes)
    if is_sparse(matrix):
        matrix = matrix.tocsr()
    row_size = n_draws * (n_free_classes + 1)
    for row_slice in iterate_slices(matrix.shape[0], row_size, _BLOCK_PREDICTORS):
        standardised_rows = np.clip(
            design.standardization.varying(matrix[row_slice]), -_MAX_STANDARDISED, _MAX_STANDARDISED
        )
        scores = np.zeros((n_draws, n_free_classes + 1, len(standardised_rows)))
        is_free = np.arange(n_free_classes + 1) != design.reference_index
        scores[:, is_free] = (coefs.reshape(-1, d) @ standardised_rows.T).reshape(
            n_draws, n_free_classes, -1
        )
        scores[:, is_free] += intercepts[..., None]
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        yield row_slice, scores.transpose(2, 0, 1)


def compute_posterior_means(
    posterior: PosteriorTree, standardization: "Standardization"
) -> dict[str, Any]:
    """Return posterior means as fitted attributes, in units of X."""
    draws = posterior.draws
    scaled_means = draws["coef"].values.mean(axis=(0, 1))
    intercepts_at_mean = np.zeros(len(scaled_means))
    if "intercept" in draws:
        intercepts_at_mean = draws["intercept"].values.mean(axis=(0, 1))
    log_likelihood = float(posterior.log_likelihood.mean())
    return {
        **convert_to_original_units(scaled_means, intercepts_at_mean, standardization),
        "log_likelihood_": log_likelihood,
    }


# The table of the coefficients of a sparse multinomial logit --------------------------------------


STANDARDISED_SCALE = (
    "log odds relative to the reference class per standard deviation of the covariate in the"
    " training rows"
)
ORIGINAL_SCALE = "log odds relative to the reference class per unit of the covariate in X"


def describe_scale(model: "SparseMultinomialLogit") -> str:
    """Return words on the scale of reported coefficients (standardised or raw)."""
    if model.standardize:
        return STANDARDISED_SCALE
    return ORIGINAL_SCALE


def build_coefficient_table(
    model: "SparseMultinomialLogit", is_varying: np.ndarray, delta: float | None, ci: float
) -> "pandas.DataFrame":
    """Return means, intervals and signs of the coefficients as a table."""
    from thali._exportable_table import Table

    if not is_finite_weight(delta):
        raise ArgumentError(Argument("delta"), f" must be a number >= 0; got {delta!r}.")
    coefs = PosteriorTree(model.posterior_).draws["coef"]
    draws = coefs.to_numpy().reshape(-1, coefs.shape[2] * coefs.shape[3])
    low, high = compute_interval(draws, ci)
    columns_by_name = {
        "class": np.repeat(coefs["class"].to_numpy(), coefs.shape[3]),
        "covariate": np.tile(coefs["covariate"].to_numpy(), coefs.shape[2]),
        "coef": draws.mean(axis=0),
        "sd": draws.std(axis=0, ddof=1),
        "low": low,
        "high": high,
        "probability": (np.abs(draws) > delta).mean(axis=0),
        "positive": (draws > 0.0).mean(axis=0),
        "excludes_0": (low > 0.0) | (high < 0.0),
        "original": model.coef_[:, is_varying].ravel(),
    }
    frame = Table(columns_by_name)
    scale_text = describe_scale(model)
    frame.attrs["interval"] = ci
    frame.attrs["scale"] = dict.fromkeys(("coef", "sd", "low", "high"), scale_text) | {
        "original": ORIGINAL_SCALE
    }
    row_order = np.lexsort((-np.abs(columns_by_name["coef"]), -columns_by_name["probability"]))
    return frame.iloc[row_order].reset_index(drop=True)


def build_path_table(
    model: "SparseMultinomialLogit", data: "TrainingData", eta: Any
) -> "pandas.DataFrame":
    """Return the table of method `coefficient_path`; the model's method is "map"."""
    prior = read_prior(model)
    standardization = choose_standardization(model, data.matrix, prior.intercept, data.counts)
    design = LogitDesign(
        model.classes_, find_reference_class(model), standardization, list_covariate_names(model)
    )
    observed = build_observed_rows(design, data, prior)
    table = compute_coefficient_path(observed, design.columns, design.free_labels, eta)
    table.attrs["scale"] = describe_scale(model)
    return table


# Draws from the prior of the sparse multinomial logit, and labels simulated at each of them -------


def sample_prior_predictive(
    prior: CoefficientPrior,
    design: LogitDesign,
    matrix: np.ndarray,
    rngs: Sequence[np.random.Generator],
) -> "tuple[xarray.Dataset, np.ndarray]":
    """Sample coefficients and labels from the prior, once per generator."""
    matrix = design.standardization.varying(matrix)
    d = matrix.shape[1]
    is_free = np.arange(len(design.classes)) != design.reference_index
    etas = []
    coefs = []
    code_draws = []
    log_likelihoods = []
    for rng in rngs:
        coef = np.zeros((len(is_free), d + 1))
        eta, coef[is_free, :d] = _sample_coefficients(prior, rng, (is_free.sum(), d))
        if prior.intercept:
            coef[is_free, d] = math.sqrt(INTERCEPT_VARIANCE) * rng.standard_normal(is_free.sum())
        row_codes, log_likelihood = sample_prior_codes(matrix @ coef[:, :d].T + coef[:, d], rng)
        etas.append(eta)
        coefs.append(coef[is_free])
        code_draws.append(row_codes)
        log_likelihoods.append(log_likelihood)
    free_labels = convert_class_labels(design.classes)[is_free]
    dataset = build_draws_group(
        np.array([coefs]),
        np.array([etas]),
        np.array([log_likelihoods]),
        free_labels,
        design.names,
        prior.intercept,
    )
    return dataset, np.array(code_draws)


def _sample_coefficients(
    prior: CoefficientPrior, rng: np.random.Generator, size: tuple[int, int]
) -> tuple[float, np.ndarray]:
    """Sample eta, and Laplace coefficients of shape `size`."""
    eta = prior.eta
    if eta is None:
        eta = rng.gamma(prior.shape, 1.0 / prior.rate)
    return eta, rng.laplace(scale=1.0 / math.sqrt(eta), size=size)
