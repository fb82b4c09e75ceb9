"""What draws predict for data that were left out of the fit."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.pairs.left_out import LeftPair

from ..draws.columns import columns_of
from ..draws.counts import outcomes
from ..draws.covariates import names_in
from ..draws.probabilities import probability_draws
from .kind import of_choices
from .predict import fitted_draws, lift_for

if TYPE_CHECKING:
    import xarray


def predicted_left_out(tree: "xarray.DataTree", part: Any) -> Any:
    """The outcomes of a pair, or the means and standard deviations of similarities, draw by draw."""
    return outcome_draws(tree, part) if isinstance(part, LeftPair) else fitted_draws(tree, part)


def outcome_draws(tree: "xarray.DataTree", part: LeftPair) -> np.ndarray:
    """The probability of each outcome of the comparisons of a pair (chain, draw, cells, outcomes)."""
    tree = of_choices(tree, "predict_left_out")
    posterior, (count, n_outcomes) = tree["posterior"].dataset, part.counts.shape
    labels = [str(label) for label in posterior["option"].values]
    first, second = (np.full(count, labels.index(label)) for label in part.pair)
    lift = lift_for(tree, [part.pair] * count, part.known(names_in(tree)))
    draws = probability_draws(columns_of(tree), first, second, float(tree["constant_data"].dataset["lapse"]), lift)
    p = draws.reshape(posterior.sizes["chain"], posterior.sizes["draw"], count)
    return (
        np.stack([p, 1.0 - p], axis=-1) if n_outcomes == 2 else outcomes(p, 1.0 - p, posterior["tie"].values[..., None])
    )
