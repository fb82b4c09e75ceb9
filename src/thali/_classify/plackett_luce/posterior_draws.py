"""Posterior draws of Plackett-Luce regression: tree, tables and predictions."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.markov_chains import cut_records
from thali._inference.user_warnings import is_quiet, warn
from thali._posterior.draws_writer import DrawsWriter, Variable, build_dataset
from thali._posterior.posterior_interval import compute_interval
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import DataWarning

from ..posterior_datasets import (
    build_observed_row_groups,
    convert_class_labels,
    sample_prior_codes,
    select_class_entries,
    write_row_log_likelihood,
)
from .chain_state import WeightPrior
from .nonnegative_columns import PlackettLuceDesign

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.classification_data import TrainingData

    from .chain_state import WeightPrior
    from .markov_chain import GibbsSettings, WeightChain

MAX_LOGITS = 40  # training rows whose log odds are checked for convergence
_BLOCK_SCORES = 2**21  # scores computed at a time
MIN_SCORE = 1e-290  # smaller sums of scores have lost their leading digits

_VARIABLES = {
    "a": Variable("shape of the prior on the weights"),
    "log_likelihood": Variable("full data set, natural logarithm"),
    "weights": Variable(
        "relative weights of the columns of W; they sum to 1 in each draw", ("class", "term")
    ),
    "logit": Variable("log odds of the observed class of each training row", ("row",)),
}

_NOTES = {"a": "a", "weights": "the relative weights, as a point of the simplex"}


def build_weight_tree(
    chains: Sequence["WeightChain"],
    settings: "GibbsSettings",
    data: "TrainingData",
    classes: np.ndarray,
    columns: Sequence[str],
) -> "xarray.DataTree":
    """Build the posterior tree (ArviZ schema) from all chains.

    Interrupted chains are cut so that most draws remain.
    """
    recorded_chains, draws_by_chain = cut_records(chains)
    draws = {
        name: np.stack([record[name] for record in draws_by_chain]) for name in draws_by_chain[0]
    }
    weights = draws["weights"]
    W = data.matrix
    class_codes = data.codes
    logit_rows = select_logit_rows(len(data.row))
    distinct_rows = data.row[logit_rows]
    rows_and_logits = (
        data.number[logit_rows],
        compute_logits(weights, W[distinct_rows], class_codes[distinct_rows]),
    )
    posterior = build_weight_group(
        draws["a"], draws["log_likelihood"], weights, rows_and_logits, classes, columns
    )
    sample_stats = {
        name: ("chain", np.array([chain.stats[name] for chain in recorded_chains]))
        for name in recorded_chains[0].stats
    }
    writer = DrawsWriter(posterior)
    writer.groups |= build_observed_row_groups(data, classes, {"learned_a": settings.prior.learned})
    writer.write_statistics(sample_stats)
    write_row_log_likelihood(
        writer, lambda rows: _log_class_probability(weights, W[rows], class_codes[rows]), data
    )
    log_prior = _log_prior(settings.prior, draws["a"], draws["log_weights"], weights[0, 0].size)
    writer.write_log_prior(log_prior, _NOTES)
    return writer.build(
        {"sampler": settings.sampler, "thin": settings.thin, "tuning_steps": settings.tune}
    )


def build_weight_group(
    a: np.ndarray,
    log_likelihood: np.ndarray,
    weights: np.ndarray,
    rows_and_logits: tuple[np.ndarray, np.ndarray],
    classes: np.ndarray,
    columns: Sequence[str],
) -> "xarray.Dataset":
    """Return a dataset of draws (chain, draw, ...) for a posterior tree.

    `rows_and_logits` is a pair: row numbers, and log odds (chain, draw, row).
    """
    arrays = {
        "a": a,
        "log_likelihood": log_likelihood,
        "weights": weights,
        "logit": rows_and_logits[1],
    }
    coordinates = {
        "class": convert_class_labels(classes),
        "term": list(columns),
        "row": rows_and_logits[0],
    }
    return build_dataset(arrays, _VARIABLES, coordinates)


def select_logit_rows(n_rows: int) -> np.ndarray:
    """Return the rows whose log odds are recorded for the convergence check."""
    return np.unique(np.linspace(0, n_rows - 1, MAX_LOGITS).astype(int))


def _log_prior(
    prior: "WeightPrior", a: np.ndarray, log_weights: np.ndarray, n_weights: int
) -> dict[str, np.ndarray]:
    """Return log prior densities of a and of the relative weights, by name."""
    # p(a) ∝ 1/a in its range; the weights have the prior Dirichlet(a, ..., a).
    from scipy.special import gammaln

    log_priors = {}
    if prior.learned:
        log_priors["a"] = -np.log(a) - np.log(prior.high - prior.low)
    log_priors["weights"] = (
        gammaln(n_weights * a) - n_weights * gammaln(a) + (a - 1.0) * log_weights
    )
    return log_priors


def _log_class_probability(weights: np.ndarray, W: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return ln P of each row's class, shape (chains, draws, rows)."""
    scores = np.tensordot(weights, W, axes=(3, 1))
    return _compute_log_ratio(select_class_entries(scores, codes), scores.sum(axis=2))


def compute_logits(weights: np.ndarray, W: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the log odds of a class for each row, shape (chains, draws, rows).

    `codes` has shape (rows,) or (draws, rows).
    """
    scores = np.tensordot(weights, W, axes=(3, 1))  # chain, draw, class, row
    other_scores = np.where(
        np.arange(weights.shape[2])[:, None] == codes[..., None, :], 0.0, scores
    ).sum(axis=2)
    return _compute_log_ratio(select_class_entries(scores, codes), other_scores)


def _compute_log_ratio(scores: np.ndarray, other_scores: np.ndarray) -> np.ndarray:
    """Return ln(scores / other_scores), with scores below MIN_SCORE replaced by it."""
    return np.log(np.maximum(scores, MIN_SCORE)) - np.log(np.maximum(other_scores, MIN_SCORE))


def collect_weight_summary(posterior: PosteriorTree) -> dict[str, np.ndarray]:
    """Return draws of the summary rows: a (if learned), log_likelihood, logit[row]."""
    logits = posterior.draws["logit"]
    quantities = {"log_likelihood": posterior.log_likelihood}
    if posterior.fixed["learned_a"]:
        quantities = {"a": posterior.draws["a"].values} | quantities
    return quantities | {
        f"logit[{row}]": logits.values[..., row_index]
        for row_index, row in enumerate(logits["row"].values)
    }


def build_weights_table(
    weights: np.ndarray, classes: np.ndarray, columns: Sequence[str], ci: float
) -> "pandas.DataFrame":
    """Return a table of means and intervals of relative weights, largest first."""
    from thali._exportable_table import Table

    low, high = compute_interval(weights, ci)
    p = len(columns)
    columns_by_name = {
        "class": np.repeat(classes, p),
        "column": list(columns) * len(classes),
        "weight": weights.mean(axis=0).ravel(),
        "weight_low": low.ravel(),
        "weight_high": high.ravel(),
    }
    frame = Table(columns_by_name).sort_values(
        "weight", ascending=False, kind="stable", ignore_index=True
    )
    frame.attrs["interval"] = ci
    return frame


class WeightPredictor(NamedTuple):
    """Columns W and class sizes of a fit, from which its weights predict classes."""

    design: PlackettLuceDesign
    class_count: np.ndarray


def iterate_weight_probabilities(
    weights: np.ndarray, matrix: np.ndarray, predictor: WeightPredictor
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows with class probabilities (rows, draws, K)."""
    n_draws, n_classes, p = weights.shape
    flat_weights = weights.reshape(-1, p)
    design = predictor.design
    for row_slice in iterate_slices(len(matrix), len(flat_weights), _BLOCK_SCORES):
        scores = (design.apply(matrix[row_slice]) @ flat_weights.T).reshape(-1, n_draws, n_classes)
        total_scores = scores.sum(axis=2, keepdims=True)
        has_underflow = total_scores[..., 0] < MIN_SCORE
        if has_underflow.any():
            log_W = design.compute_logs(matrix[row_slice])
            for row_index in np.flatnonzero(has_underflow.any(axis=1)):
                draw_weights = weights[has_underflow[row_index]]
                row_log_W = np.broadcast_to(log_W[row_index], (len(draw_weights), p))
                scores[row_index, has_underflow[row_index]] = compute_scores_from_logs(
                    row_log_W, draw_weights, predictor.class_count
                )
            total_scores = scores.sum(axis=2, keepdims=True)
        yield row_slice, scores / total_scores


def compute_scores_from_logs(
    log_W: np.ndarray, weights: np.ndarray, class_count: np.ndarray
) -> np.ndarray:
    """Return relative class scores (rows, K), safe from underflow."""
    with np.errstate(divide="ignore"):
        log_terms = log_W[:, None, :] + np.log(weights)
    maximum = log_terms.max(axis=(1, 2), keepdims=True)
    is_undefined = ~np.isfinite(maximum[:, 0, 0])
    scores = np.exp(log_terms - np.where(np.isfinite(maximum), maximum, 0.0)).sum(axis=2)
    if is_undefined.any() and not is_quiet():
        warn(
            DataWarning(
                "Some rows are zero in every column of W with a nonzero weight, so the class"
                " frequencies of the training data are predicted for these rows. Choose a larger a"
                " to keep all weights."
            )
        )
    scores[is_undefined] = class_count
    return scores


# Shares of the covariates in the weights of Plackett–Luce regression ------------------------------


def compute_importances(weights: np.ndarray, design: PlackettLuceDesign) -> np.ndarray:
    """Return each covariate's share of the relative weights, shape (d,)."""
    if callable(design.transform):
        raise AttributeError(
            "A custom transform function does not define which covariates a column of W is made"
            " of; use weights_ instead."
        )
    column_shares = weights.sum(axis=0)
    d = len(design.names)
    shares = np.zeros(d)
    if design.transform is None:
        shares[:] = column_shares
    else:
        varying_indices = np.arange(d)
        if design.standard is not None:
            varying_indices = np.flatnonzero(design.standard.varies)
        n_varying = len(varying_indices)
        shares[varying_indices] = (
            column_shares[:n_varying] + column_shares[n_varying : 2 * n_varying]
        )
        if design.transform == "exponential-pairs":
            pair_shares = column_shares[2 * n_varying : -1].reshape(-1, 2).sum(axis=1)
            for pair_share, column_pair in zip(
                pair_shares, combinations(varying_indices, 2), strict=True
            ):
                shares[list(column_pair)] += 0.5 * pair_share
    total = shares.sum()
    if total > 0.0:
        shares /= total
    return shares


# Draws from the prior of Plackett–Luce regression, with simulated labels -------------------------


def sample_prior_weights(
    prior: WeightPrior,
    W: np.ndarray,
    classes: np.ndarray,
    columns: Sequence[str],
    rngs: Sequence[np.random.Generator],
) -> "tuple[xarray.Dataset, np.ndarray]":
    """Sample shape a, weights and labels from the prior, once per generator."""
    with np.errstate(divide="ignore"):
        log_W = np.log(W)
    a_draws = []
    weights = []
    code_draws = []
    log_likelihoods = []
    for rng in rngs:
        log_a = prior.low
        if prior.learned:
            log_a = rng.uniform(prior.low, prior.high)
        a = math.exp(log_a)
        # the rate b has no influence
        # log Gamma(a, 1) from Gamma(a + 1, 1), exact even for tiny a
        shape = (len(classes), W.shape[1])
        log_weights = (
            np.log(rng.standard_gamma(a + 1.0, shape)) - rng.standard_exponential(shape) / a
        )
        log_scores = np.logaddexp.reduce(log_W[:, None, :] + log_weights, axis=2)
        row_codes, log_likelihood = sample_prior_codes(log_scores, rng)
        scaled_weights = np.exp(log_weights - log_weights.max())
        a_draws.append(a)
        weights.append(scaled_weights / scaled_weights.sum())
        code_draws.append(row_codes)
        log_likelihoods.append(log_likelihood)
    class_codes = np.array(code_draws)
    logit_rows = select_logit_rows(len(W))
    drawn_weights = np.array([weights])
    rows_and_logits = (
        logit_rows,
        compute_logits(drawn_weights, W[logit_rows], class_codes[:, logit_rows]),
    )
    dataset = build_weight_group(
        np.array([a_draws]),
        np.array([log_likelihoods]),
        drawn_weights,
        rows_and_logits,
        classes,
        columns,
    )
    return dataset, class_codes
