"""Simulated choices from a fitted model or from given probabilities."""

from typing import Any

import numpy as np

from thali._argument_checks import check_integer
from thali._aspects.maximum_likelihood.elimination_engine import (
    is_by_maximum_likelihood,
    require_choice_estimates,
)
from thali._data.number_checks import are_integers
from thali._data.pairs import PairedComparisons
from thali._inference.random_seeds import build_generator
from thali.errors import ArgumentError, DataError


def simulate(
    source: Any, comparisons: int | None = None, random_seed: Any = None
) -> PairedComparisons:
    r"""Simulate new choices, wins ~ Binomial(n, p) for each pair.

    Parameters
    ----------
    source : EliminationByAspects fitted by maximum likelihood, or square table of probabilities
        A table has the probability that row is chosen over column; pairs with NaN are skipped.
        p_ji must be 1 - p_ij; the diagonal is not read.
    comparisons : int, optional
        Comparisons of each pair; None: as in the data of the model (required for a table).
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    PairedComparisons

    Raises
    ------
    ArgumentError
        If it is neither a fitted model nor a table of probabilities, or the number of comparisons
        is missing.
    DataError
        If a model was fitted to fractional counts and no number is given.

    Examples
    --------
    >>> simulate([[0, 1], [0, 0]], comparisons=5).counts
    array([[0, 5],
           [0, 0]])
    """
    import pandas as pd

    if comparisons is not None:
        comparisons = check_integer("comparisons", comparisons, 1)
    if is_by_maximum_likelihood(source):
        fit = require_choice_estimates(source, "simulate")
        data = fit.data
        p = fit.fitted()[::2]
        labels, first_options, second_options = data.labels, data.first, data.second
        n_by_pair = data.wins + data.losses
        if comparisons is not None:
            n_by_pair = np.full(len(p), comparisons)
        if not are_integers(n_by_pair):
            raise DataError(
                "The model was fitted to fractional counts; give the number of comparisons per pair"
                " with simulate(model, comparisons=...)."
            )
    else:
        labels, first_options, second_options, p = _read_square_probabilities(source)
        if comparisons is None:
            raise ArgumentError(
                "The number of comparisons per pair is missing; pass `comparisons` to"
                " simulate(probabilities)."
            )
        n_by_pair = np.full(len(p), comparisons)
    wins = build_generator(random_seed).binomial(n_by_pair.astype(np.int64), p)
    option_names = np.array(labels, dtype=object)
    frame = pd.DataFrame(
        {
            "chosen": np.concatenate([option_names[first_options], option_names[second_options]]),
            "rejected": np.concatenate([option_names[second_options], option_names[first_options]]),
            "count": np.concatenate([wins, n_by_pair.astype(np.int64) - wins]),
        }
    )
    return PairedComparisons.from_frame(frame, count="count", labels=labels)


def _read_square_probabilities(
    source: Any,
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, both options and win probability of each pair of a square table."""
    labels = None
    if hasattr(source, "index") and hasattr(source, "columns"):
        labels = tuple(map(str, source.index))
    if labels and tuple(map(str, source.columns)) != labels:
        raise ArgumentError(
            "Rows and columns of the table of probabilities must have the same labels in the same"
            " order."
        )
    try:
        table = np.asarray(source, float)
    except (TypeError, ValueError):
        table = np.empty((0, 0))
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise ArgumentError(
            "simulate requires EliminationByAspects fitted by maximum likelihood, or a square"
            f" table of probabilities; got {type(source).__name__}."
        )
    first_options, second_options = np.triu_indices(len(table), 1)
    is_finite = np.isfinite(table[first_options, second_options])
    first_options = first_options[is_finite]
    second_options = second_options[is_finite]
    p = table[first_options, second_options]
    reverse_p = table[second_options, first_options]
    if (
        not len(p)
        or ((p < 0) | (p > 1)).any()
        or not np.allclose(p + reverse_p, 1.0, rtol=0.0, atol=1e-9)
    ):
        raise ArgumentError(
            "Probabilities must be in [0, 1], and the two probabilities of a pair must sum to 1."
        )
    return labels or tuple(map(str, range(len(table)))), first_options, second_options, p
