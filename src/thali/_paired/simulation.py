"""Simulated choices from a fitted model."""

from typing import TYPE_CHECKING

import numpy as np

from thali._argument_checks import check_integer
from thali._aspects.maximum_likelihood.elimination_engine import (
    require_choice_estimates,
)
from thali._data.number_checks import are_integers
from thali._data.pairs import PairedComparisons
from thali._inference.random_seeds import RandomSeed, build_generator
from thali.errors import DataError

if TYPE_CHECKING:
    from thali._aspects.models.elimination import EliminationByAspects


def simulate(
    model: "EliminationByAspects", comparisons: int | None = None, random_seed: RandomSeed = None
) -> PairedComparisons:
    r"""Simulate new choices, wins ~ Binomial(n, p) for each pair.

    Parameters
    ----------
    model : EliminationByAspects fitted by maximum likelihood
    comparisons : int, optional
        Comparisons of each pair; None: as in the data of the model.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    PairedComparisons

    Raises
    ------
    ArgumentError
        If it is not such a model.
    DataError
        If a model was fitted to fractional counts and no number is given.

    Examples
    --------
    >>> import thali as th
    >>> model = th.EliminationByAspects("BTL", method="ML").fit(th.datasets.celebrities())
    >>> simulate(model, comparisons=5, random_seed=1)
    PairedComparisons(9 options, 36 pairs, 180 comparisons, 1 component)
    """
    import pandas as pd

    if comparisons is not None:
        comparisons = check_integer("comparisons", comparisons, 1)
    fit = require_choice_estimates(model, "simulate")
    data = fit.data
    p = fit.fitted()[::2]
    n_by_pair = data.wins + data.losses
    if comparisons is not None:
        n_by_pair = np.full(len(p), comparisons)
    if not are_integers(n_by_pair):
        raise DataError(
            "The model was fitted to fractional counts; give the number of comparisons per pair"
            " with simulate(model, comparisons=...)."
        )
    wins = build_generator(random_seed).binomial(n_by_pair.astype(np.int64), p)
    option_names = np.array(data.labels, dtype=object)
    frame = pd.DataFrame(
        {
            "chosen": np.concatenate([option_names[data.first], option_names[data.second]]),
            "rejected": np.concatenate([option_names[data.second], option_names[data.first]]),
            "count": np.concatenate([wins, n_by_pair.astype(np.int64) - wins]),
        }
    )
    return PairedComparisons.from_frame(frame, count="count", labels=data.labels)
