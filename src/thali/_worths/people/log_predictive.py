"""How probable all choices of a respondent together are, of whom nothing else is known."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.indexing import part_bounds, space_evenly
from thali._model.log_predictive import (
    NEW_PEOPLE,
    anneal_log_mean,
    count_answers_by_respondent,
    sum_log_choices,
)
from thali._model.option_sets import is_best_worst, set_indices

from ..predictions import WorthDraws
from .draws import RespondentDraws

if TYPE_CHECKING:
    import pandas

_SEED = 1


def log_predictive_of_new(worths: WorthDraws, drawn: RespondentDraws, data: Any) -> "pandas.Series":
    """Return the logarithm of the probability of the choices of each respondent, of whom nothing
    else is known."""
    import pandas as pd

    count_answers_by_respondent(data)  # which refuses other data
    few = space_evenly(drawn.n_draws, NEW_PEOPLE)
    copies = np.repeat(few, -(-NEW_PEOPLE // len(few)))
    worths, drawn = worths.take(copies), drawn.take(copies)
    rows = None if drawn.known is None else drawn.known.of_others(data.people)
    found = {}
    for name, own in data.by_respondent().items():
        x = None if rows is None else rows.loc[name].to_numpy()
        found[name] = _log_mean_of_new(worths, drawn, own, x)
    return pd.Series(found, pd.Index(found, name="respondent"), float, name="log_predictive")


def _log_mean_of_new(
    worths: WorthDraws, drawn: RespondentDraws, data: Any, x: np.ndarray | None
) -> float:
    """Return the logarithm of the mean probability of all choices of data over new respondents, one
    of each draw."""
    rng = np.random.default_rng(_SEED)
    places, counts = set_indices(data, worths.labels)[0], data.questions().counts
    which = np.flatnonzero(counts)
    start, members = part_bounds([len(each) for each in places]), np.concatenate(places)
    if x is not None and np.isnan(x).any():
        x = None
    mean = drawn.means_of_new(rng, 1, x)
    normal = rng.standard_normal((drawn.n_draws, 1, drawn.loadings.shape[1] + mean.shape[2]))

    def log_likelihood(normal: np.ndarray) -> np.ndarray:
        log_worths = (mean + drawn.deviations(normal))[:, 0]
        p = worths._replace(log_worths=log_worths).of_sets(start, members, is_best_worst(data))
        return sum_log_choices(p[:, which], counts[which])

    def move(normal: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
        size = min(step, 1.0)  # which leaves the normal distribution as it is
        moved = np.sqrt(1.0 - size**2) * normal + size * rng.standard_normal(normal.shape)
        return moved, np.zeros(len(normal))

    def choose(accepted: np.ndarray, moved: np.ndarray, normal: np.ndarray) -> np.ndarray:
        return np.where(accepted[:, None, None], moved, normal)

    return anneal_log_mean(normal, log_likelihood, move, choose, rng)
