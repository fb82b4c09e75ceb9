"""Observed similarities beside fitted ones."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError, DataWarning
from thali.posterior.interval import INTERVAL, TAILS
from thali.posterior.view import Posterior

from ..answers.kind import of_similarities
from ..draws.columns import columns_of
from ..draws.similarities import similarity_draws
from ..draws.tree import MAX_PAIRS, pair_index

if TYPE_CHECKING:
    import pandas

_ENDS = ("option_a", "option_b")


def fitted_similarities(model: Any, where: str) -> "pandas.DataFrame":
    """One row a measured pair (a, b): observed, fitted (posterior mean) and its interval.

    Of more than 2,000 pairs as many, evenly spaced; ``attrs["of"]`` is the number of all, ``attrs["explained"]`` the
    part of their variance that the expectation explains.
    """
    from thali._tables import Table

    from ..models.additive import AdditiveClustering

    tree = model.posterior_
    posterior = of_similarities(tree, where)["posterior"].to_dataset()
    if not isinstance(model, AdditiveClustering):
        raise ArgumentError(f"{where} needs an AdditiveClustering; got {type(model).__name__}.")
    data = tree["observed_data"].to_dataset()["similarity"]
    labels = posterior["option"].values.tolist()
    row_of = {label: row for row, label in enumerate(labels)}
    shown = np.unique(np.linspace(0, data.size - 1, min(data.size, MAX_PAIRS)).astype(int))
    first, second = (np.array([row_of[label] for label in data[name].values[shown]]) for name in _ENDS)
    seen = Posterior(tree)
    if seen.similarity is not None:
        draws = seen.similarity.isel(pair=pair_index(first, second, len(labels))).values
    else:
        constant = 0.0 if seen.constant is None else seen.constant
        draws = similarity_draws(columns_of(tree), constant, first, second)
    draws = draws.reshape(-1, len(shown))
    low, high = np.quantile(draws, TAILS, axis=0)
    named = {"a": np.array(labels, object)[first], "b": np.array(labels, object)[second]}
    numbers = {"observed": data.values[shown], "fitted": draws.mean(axis=0), "low": low, "high": high}
    table = Table(named | numbers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        explained = float(model.estimate("expectation").variance_accounted_for())
    table.attrs |= {"interval": INTERVAL, "of": int(data.size), "explained": explained}
    return table
