"""Scores of options from 0 to 100, as studies of best and worst report them; of groups and segments of people, too."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.seeds import streams
from thali._labels import as_label, shorten
from thali._model.option_scores import ScoreDraws, ScoreScale, place_of, tabulate_scores
from thali._people.individuals import blocks_of_people
from thali._people.segments import Segments
from thali._posterior.view import Posterior
from thali.errors import Argument, ArgumentError

from .individuals import shares_of_people

if TYPE_CHECKING:
    import pandas


def score_scale(posterior: Posterior, none: Any) -> ScoreScale:
    """Make the scale of scores; `none` is the option at its zero."""
    return ScoreScale(posterior.shown_size, None if none is None else place_of(none, posterior.labels))


def scores_of_people(
    posterior: Posterior, scale: ScoreScale, by: Any, random_seed: Any, ci: float
) -> "pandas.DataFrame":
    """Means over people, or over those of each group `by` which they are grouped.

    In every draw people have the weights of a Bayesian bootstrap.
    """
    people, draws, n = posterior.groups, posterior.n_draws, posterior.n_options
    names, codes = _groups_of(by, people)
    weights = streams(random_seed, 1)[0].standard_gamma(1.0, (draws, len(people)))
    (means, above), drawn = np.zeros((2, len(names), n)), np.zeros((len(names), draws, n))
    for some in blocks_of_people(len(people), draws * n):
        shares = shares_of_people(posterior, some)
        scores, better = scale.scores(shares), scale.above(shares)
        for code in np.unique(codes[some]):
            own = codes[some] == code
            means[code] += scores[:, own].mean(axis=0).sum(axis=0)
            above[code] += better[:, own].mean(axis=0).sum(axis=0)
            drawn[code] += np.einsum("dp,dpi->di", weights[:, some][:, own], scores[:, own])
    for code in range(len(names)):
        own = codes == code
        means[code] /= own.sum()
        above[code] /= own.sum()
        drawn[code] /= weights[:, own].sum(axis=1, keepdims=True)
    each = {name: ScoreDraws(means[code], drawn[code], above[code]) for code, name in enumerate(names)}
    of = None if by is None else "segment" if isinstance(by, Segments) else "group"
    return tabulate_scores(each, posterior.labels, scale, of, ci)


def _groups_of(by: Any, people: tuple[str, ...]) -> tuple[list[Any], np.ndarray]:
    """The names of the groups, and of which everybody is."""
    import pandas as pd

    if by is None:
        return [""], np.zeros(len(people), np.int64)
    found = by.assignment["segment"] if isinstance(by, Segments) else by
    if not isinstance(found, Mapping | pd.Series):
        raise ArgumentError(
            Argument("by"),
            " must be the segments of the model, or map each respondent to a group (a mapping or a pandas.Series); got"
            f" {type(by).__name__}.",
        )
    told = {(as_label(person), group) for person, group in found.items()}
    group_of = dict(told)
    if len(group_of) < len(told):
        raise ArgumentError(Argument("by"), " assigns a respondent to two groups; assign each respondent to one group.")
    if missing := [person for person in people if person not in group_of]:
        raise ArgumentError(
            Argument("by"), f" has no group for {shorten(missing, 5)}; assign each respondent to a group."
        )
    codes, names = pd.factorize(pd.Series([group_of[person] for person in people]), sort=True)
    if (codes < 0).any():
        raise ArgumentError(
            Argument("by"), f" has no group for {people[int(np.flatnonzero(codes < 0)[0])]!r}; fill it in."
        )
    return list(names), codes
