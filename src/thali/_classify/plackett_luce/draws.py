"""Draws of Plackett–Luce regression: as a tree in the ArviZ schema, in tables, and averaged into
predictions."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.chains import cut_records
from thali._inference.warn import is_quiet, warn
from thali._model.requirements import require_draws, requires
from thali._posterior.interval import INTERVAL, tails_of
from thali._posterior.view import PosteriorTree, flat
from thali.errors import DataWarning

from .design import PlackettLuceDesign
from .state import WeightPrior

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.rows import TrainingData

    from .gibbs import GibbsSettings, WeightChain
    from .state import WeightPrior

MAX_LOGITS = 40  # rows of the training data whose predictions are checked for convergence
_BLOCK = 2**21  # scores computed at a time
NOTHING = 1e-290  # a sum of scores below it has lost its leading digits

_DESCRIPTIONS = {
    "a": "shape of the prior on the weights",
    "log_likelihood": "full data set, natural logarithm",
    "weights": "relative weights of the columns of W; they sum to 1 in each draw",
    "logit": "log odds of the observed class of each training row",
}

_NOTES = {"a": "a", "weights": "the relative weights, as a point of the simplex"}


def to_datatree(
    chains: Sequence["WeightChain"],
    settings: "GibbsSettings",
    data: "TrainingData",
    classes: np.ndarray,
    columns: Sequence[str],
) -> "xarray.DataTree":
    """The draws of all chains as one tree; interrupted ones are cut so that the most draws
    remain."""
    import xarray as xr

    from thali._posterior.densities import add_log_prior
    from thali._posterior.store import origin, tree_of

    from ..rows import add_log_likelihood, observed_rows

    kept, parts = cut_records(chains)
    drawn = {name: np.stack([part[name] for part in parts]) for name in parts[0]}
    weights = drawn["weights"]
    W, codes = data.matrix, data.codes
    chosen = chosen_rows(len(data.row))
    row = data.row[chosen]
    logits = data.number[chosen], logits_of(weights, W[row], codes[row])
    posterior = draws_group(drawn["a"], drawn["log_likelihood"], weights, logits, classes, columns)
    stats = {
        name: ("chain", np.array([chain.stats[name] for chain in kept])) for name in kept[0].stats
    }
    groups = {
        "posterior": posterior,
        **observed_rows(data, classes, {"learned_a": settings.prior.learned}),
        "sample_stats": xr.Dataset(stats, {"chain": posterior["chain"]}),
    }
    add_log_likelihood(groups, lambda rows: _log_own(weights, W[rows], codes[rows]), data)
    add_log_prior(
        groups,
        _log_prior(settings.prior, drawn["a"], drawn["log_weights"], weights[0, 0].size),
        _NOTES,
    )
    return tree_of(
        groups,
        {
            **origin(),
            "sampler": settings.sampler,
            "thin": settings.thin,
            "tuning_steps": settings.tune,
        },
    )


def draws_group(
    a: np.ndarray,
    log_likelihood: np.ndarray,
    weights: np.ndarray,
    logits: tuple[np.ndarray, np.ndarray],
    classes: np.ndarray,
    columns: Sequence[str],
) -> "xarray.Dataset":
    """Draws (chain, draw, ...) as a group of a tree; logits are numbers of rows, and theirs (chain,
    draw, row)."""
    from thali._posterior.store import described_draws

    from ..rows import class_labels

    by_draw = ("chain", "draw")
    variables = {
        "a": (by_draw, a),
        "log_likelihood": (by_draw, log_likelihood),
        "weights": ((*by_draw, "class", "term"), weights),
        "logit": ((*by_draw, "row"), logits[1]),
    }
    coordinates = {"class": class_labels(classes), "term": list(columns), "row": logits[0]}
    return described_draws(variables, coordinates, a.shape, _DESCRIPTIONS)


def chosen_rows(rows: int) -> np.ndarray:
    """The rows whose log odds are recorded, by their numbers."""
    return np.unique(np.linspace(0, rows - 1, MAX_LOGITS).astype(int))


def _log_prior(
    prior: "WeightPrior", a: np.ndarray, log_weights: np.ndarray, count: int
) -> dict[str, np.ndarray]:
    """p(a) ∝ 1/a between its ends, and Dirichlet(a, ..., a) of the `count` relative weights."""
    from scipy.special import gammaln

    found = {"a": -np.log(a) - np.log(prior.high - prior.low)} if prior.learned else {}
    found["weights"] = gammaln(count * a) - count * gammaln(a) + (a - 1.0) * log_weights
    return found


def _log_own(weights: np.ndarray, W: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """ln P of the class of each row, shape (chains, draws, rows)."""
    scores = np.tensordot(weights, W, axes=(3, 1))
    own = np.take_along_axis(scores, np.broadcast_to(codes, scores[:, :, :1].shape), axis=2)[
        :, :, 0
    ]
    return np.log(np.maximum(own, NOTHING)) - np.log(np.maximum(scores.sum(axis=2), NOTHING))


def logits_of(weights: np.ndarray, W: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """ln P/(1 − P) of a class of each row, shape (chains, draws, rows); codes (rows,), or (draws,
    rows)."""
    scores = np.tensordot(weights, W, axes=(3, 1))  # chain, draw, class, row
    own = np.take_along_axis(
        scores, np.expand_dims(np.broadcast_to(codes, scores[:, :, 0].shape), 2), axis=2
    )[:, :, 0]
    others = np.where(np.arange(weights.shape[2])[:, None] == codes[..., None, :], 0.0, scores).sum(
        axis=2
    )
    return np.log(np.maximum(own, NOTHING)) - np.log(np.maximum(others, NOTHING))


def quantities_of(posterior: PosteriorTree) -> dict[str, np.ndarray]:
    """The rows of the summary: a if it was learned, log_likelihood, logit[row]."""
    logits, found = posterior.draws["logit"], {"log_likelihood": posterior.log_likelihood}
    if posterior.fixed["learned_a"]:
        found = {"a": posterior.draws["a"].values} | found
    return found | {
        f"logit[{row}]": logits.values[..., place] for place, row in enumerate(logits["row"].values)
    }


def weights_table(
    weights: np.ndarray, classes: np.ndarray, columns: Sequence[str], ci: float
) -> "pandas.DataFrame":
    """Mean and interval of every relative weight, the largest first."""
    from thali._tables import Table

    low, high = np.quantile(weights, tails_of(ci), axis=0)
    p = len(columns)
    table = {
        "class": np.repeat(classes, p),
        "column": list(columns) * len(classes),
        "weight": weights.mean(axis=0).ravel(),
        "weight_low": low.ravel(),
        "weight_high": high.ravel(),
    }
    found = Table(table).sort_values("weight", ascending=False, kind="stable", ignore_index=True)
    found.attrs["interval"] = ci
    return found


def mean_probabilities(
    weights: np.ndarray,
    rows: int,
    W_of: Callable[..., Any],
    logs_of: Callable[..., Any],
    class_count: np.ndarray,
) -> np.ndarray:
    """Class probabilities of new rows, averaged over draws; memory does not grow with the number of
    rows."""
    result = np.empty((rows, weights.shape[1]))
    for part, probabilities in probability_blocks(weights, rows, W_of, logs_of, class_count):
        result[part] = probabilities.mean(axis=1)
    return result


def probability_blocks(
    weights: np.ndarray,
    rows: int,
    W_of: Callable[..., Any],
    logs_of: Callable[..., Any],
    class_count: np.ndarray,
) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows at a time, and their class probabilities in every draw, shape (rows, draws, K)."""
    draws, classes, p = weights.shape
    flat = weights.reshape(-1, p)
    step = max(1, _BLOCK // len(flat))
    for start in range(0, rows, step):
        part = slice(start, min(start + step, rows))
        scores = (W_of(part) @ flat.T).reshape(-1, draws, classes)
        totals = scores.sum(axis=2, keepdims=True)
        lost = totals[..., 0] < NOTHING
        if lost.any():
            logs = logs_of(part)
            for row in np.flatnonzero(lost.any(axis=1)):
                of_draws = weights[lost[row]]
                logs_of_row = np.broadcast_to(logs[row], (len(of_draws), p))
                scores[row, lost[row]] = scores_from_logs(logs_of_row, of_draws, class_count)
            totals = scores.sum(axis=2, keepdims=True)
        yield part, scores / totals


def scores_from_logs(logs: np.ndarray, weights: np.ndarray, class_count: np.ndarray) -> np.ndarray:
    """Relative scores (rows, K) of rows whose scores are too small for floats."""
    with np.errstate(divide="ignore"):
        terms = logs[:, None, :] + np.log(weights)
    top = terms.max(axis=(1, 2), keepdims=True)
    undefined = ~np.isfinite(top[:, 0, 0])
    scores = np.exp(terms - np.where(np.isfinite(top), top, 0.0)).sum(axis=2)
    if undefined.any() and not is_quiet():
        warn(
            DataWarning(
                "Some rows are zero in every column of W with a nonzero weight, so the class"
                " frequencies of the training data are used for these rows. Choose a larger a to"
                " keep all weights."
            )
        )
    scores[undefined] = class_count
    return scores


# How much of the weights of Plackett–Luce regression goes with each covariate ---------------------


def importances(weights: np.ndarray, design: PlackettLuceDesign) -> np.ndarray:
    """Shares (d,) of the covariates in relative weights (K, p)."""
    if callable(design.transform):
        raise AttributeError(
            "A custom transform function does not define which covariates a column of W is made"
            " of; use weights_ instead."
        )
    of_column, d = weights.sum(axis=0), len(design.names)
    varies = np.ones(d, bool) if design.standard is None else design.standard.varies
    shares = np.zeros(d)
    if design.transform is None:
        shares[:] = of_column
    else:
        places = np.flatnonzero(varies)
        v = len(places)
        shares[places] = of_column[:v] + of_column[v : 2 * v]
        if design.transform == "exponential-pairs":
            of_pair = of_column[2 * v : -1].reshape(-1, 2).sum(axis=1)
            for share, pair in zip(of_pair, combinations(places, 2), strict=True):
                shares[list(pair)] += 0.5 * share
    total = shares.sum()
    return shares / total if total > 0.0 else shares


# What a fitted Plackett-Luce regression answers about its weights ---------------------------------


class WeightAnswers:
    """Tables and a picture of the relative weights."""

    _columns_: list[str]
    classes_: np.ndarray
    weights_: Any
    _design_: Any
    _require_fitted: Any
    if TYPE_CHECKING:

        @property
        def _view(self) -> Any: ...

    def _labelled(self, weights: np.ndarray, columns: list[str]) -> Any:
        """Weights with classes and columns where the data had names."""
        if "feature_names_in_" not in vars(self):
            return weights
        import pandas

        return pandas.DataFrame(
            weights, index=pandas.Index(self.classes_, name="class"), columns=columns
        )

    @requires(require_draws)
    def weights_table(self, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior mean and interval of every relative weight, the largest first, after
        `method="gibbs"`.

        Parameters
        ----------
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            class, column, weight, weight_low and weight_high (the interval). The weights of a draw
            sum to 1.

        Raises
        ------
        NotFittedError, ArgumentError
            As `summary`.
        """

        weights = self._view.draws["weights"].values
        return weights_table(flat(weights), self.classes_, self._columns_, ci)

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each covariate in the relative weights, for scikit-learn's `SelectFromModel`
        and `RFE`.

        The relative weights of all columns of W that a covariate is part of, added up over classes;
        a column of a sum of two covariates counts half for each. The column of ones is left out,
        and the shares sum to 1.

        Returns
        -------
        array (d,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        AttributeError
            If `transform` is a function, which does not say which covariates a column is made of.
        """

        self._require_fitted()
        return importances(np.asarray(self.weights_), self._design_)


# Draws from the prior of Plackett–Luce regression, and labels simulated at each of them -----------


def sample_weights(
    prior: WeightPrior,
    W: np.ndarray,
    classes: np.ndarray,
    columns: Sequence[str],
    rngs: Sequence[np.random.Generator],
) -> "tuple[xarray.Dataset, np.ndarray]":
    """The shape a and the weights, and a label for every row."""
    with np.errstate(divide="ignore"):
        logs = np.log(W)
    rows = np.arange(len(W))
    shapes, weights, codes, likelihoods = [], [], [], []
    for rng in rngs:
        a = math.exp(rng.uniform(prior.low, prior.high)) if prior.learned else math.exp(prior.low)
        log_weights = _log_gamma(rng, a, (len(classes), W.shape[1]))  # the rate b has no influence
        log_scores = np.logaddexp.reduce(logs[:, None, :] + log_weights, axis=2)
        log_p = log_scores - np.logaddexp.reduce(log_scores, axis=1, keepdims=True)
        drawn = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
        relative = np.exp(log_weights - log_weights.max())
        shapes.append(a)
        weights.append(relative / relative.sum())
        codes.append(drawn)
        likelihoods.append(log_p[rows, drawn].sum())
    labels = np.array(codes)
    chosen, drawn_weights = chosen_rows(len(W)), np.array([weights])
    logits = chosen, logits_of(drawn_weights, W[chosen], labels[:, chosen])
    group = draws_group(
        np.array([shapes]), np.array([likelihoods]), drawn_weights, logits, classes, columns
    )
    return group, labels


def _log_gamma(rng: np.random.Generator, a: float, shape: tuple[int, int]) -> np.ndarray:
    """Logarithms of Gamma(a, 1) variables, also where a is so small that they leave the range of
    floats."""
    return np.log(rng.standard_gamma(a + 1.0, shape)) - rng.standard_exponential(shape) / a
