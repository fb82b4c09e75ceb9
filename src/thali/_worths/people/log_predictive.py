"""How probable all choices of a respondent together are, of whom nothing else is known.

A plain mean over new respondents needs more of them than there can be where somebody answered often, because nearly all
have answers of little probability. So they come to the answers in steps of temperature (annealed importance sampling,
Neal 2001), between which their normal deviations move by steps that leave their prior as it is.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.places import evenly_spaced, starts
from thali._model.asked_sets import has_answers, places_of
from thali._model.log_predictive import choices_by_person, log_of_choices
from thali._people.columns import RespondentCovariates
from thali.errors import DataError

from ..predictions import WorthDraws
from .draws import RespondentDraws

if TYPE_CHECKING:
    import pandas

_SEED = 1
_PEOPLE, _KEPT, _WALKS, _GOAL = 1_024, 0.99, 5, 0.3


def log_predictive_of_new(worths: WorthDraws, drawn: RespondentDraws, data: Any) -> "pandas.Series":
    """Return the logarithm of the probability of the choices of each respondent, of whom nothing else is known."""
    import pandas as pd

    choices_by_person(data)  # which refuses other data
    few = evenly_spaced(drawn.n_draws, _PEOPLE)
    copies = np.repeat(few, -(-_PEOPLE // len(few)))
    worths, drawn = worths.take(copies), drawn.take(copies)
    rows = None if drawn.known is None else covariates_of_others(drawn.known, data.people)
    found = {}
    for name, own in data.by_respondent().items():
        x = None if rows is None else rows.loc[name].to_numpy()
        found[name] = _log_mean_of_new(worths, drawn, own, x)
    return pd.Series(found, pd.Index(found, name="respondent"), float, name="log_predictive")


def covariates_of_others(known: RespondentCovariates, table: "pandas.DataFrame | None") -> "pandas.DataFrame":
    """Return the covariates of other respondents, a row each; NaN of whom nothing is known."""
    import pandas as pd

    columns = dict.fromkeys(known.columns)
    missing = [name for name in columns if table is None or name not in table.columns]
    if table is None or missing:
        raise DataError(
            f"The worths depend on the respondent column {missing[0]!r}, which the data do not contain; add the column."
        )
    return pd.DataFrame(known.of(table)[:, 1:], index=table.index)


def _log_mean_of_new(worths: WorthDraws, drawn: RespondentDraws, data: Any, x: np.ndarray | None) -> float:
    """Return the logarithm of the mean probability of all choices of data over new respondents, one of each draw."""
    from scipy.special import logsumexp

    rng = np.random.default_rng(_SEED)
    places, counts = places_of(data, worths.labels)[0], data.questions().counts
    which = np.flatnonzero(counts)
    start, members = starts([len(each) for each in places]), np.concatenate(places)
    if x is not None and np.isnan(x).any():
        x = None
    mean = drawn.means_of_new(rng, 1, x)
    normal = rng.standard_normal((drawn.n_draws, 1, drawn.loadings.shape[1] + mean.shape[2]))

    def log_likelihood(normal: np.ndarray) -> np.ndarray:
        log_worths = (mean + drawn.deviations(normal))[:, 0]
        p = worths._replace(log_worths=log_worths).of_sets(start, members, has_answers(data))
        return log_of_choices(p[:, which], counts[which])

    at, step = log_likelihood(normal), 0.5
    total, power = np.zeros(len(at)), 0.0
    while power < 1.0:
        rise = _largest_rise(at, 1.0 - power)
        total += rise * at
        power += rise
        for _ in range(_WALKS if power < 1.0 else 0):
            moved = np.sqrt(1.0 - step**2) * normal + step * rng.standard_normal(normal.shape)
            there = log_likelihood(moved)
            accepted = np.log(rng.random(len(at))) < power * (there - at)
            normal, at = np.where(accepted[:, None, None], moved, normal), np.where(accepted, there, at)
            step = min(1.0, step * float(np.exp(accepted.mean() - _GOAL)))
    return float(logsumexp(total) - np.log(len(total)))


def _largest_rise(at: np.ndarray, most: float) -> float:
    """Return by how much the power may rise so that the effective number of respondents hardly falls."""
    deviations = at - at.max()

    def share_kept(rise: float) -> float:
        weight = np.exp(rise * deviations)
        return float(weight.sum() ** 2 / (weight**2).sum() / len(weight))

    if share_kept(most) >= _KEPT:
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if share_kept(middle) >= _KEPT else (low, middle)
    return high
