"""Tables of respondents: scores, segments, reach, and effects of what is known of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.indexing import iterate_slices
from thali._inference.seeds import spawn_generators
from thali._labels import as_label, shorten
from thali._model.option_scores import ScoreDraws, ScoreScale, anchor_index, tabulate_scores
from thali._people.individuals import individuals_table
from thali._people.reach import draws_held
from thali._people.segments import Preferences, Segments, spaced_draws
from thali._posterior.interval import tails_of
from thali.errors import Argument, ArgumentError

from .draws import RespondentDraws

if TYPE_CHECKING:
    import pandas


def scores_table(
    drawn: RespondentDraws, labels: list[str], scale: ScoreScale, ci: float
) -> "pandas.DataFrame":
    """Return the score of each respondent and option with its interval."""

    def scores(some: slice) -> np.ndarray:
        return scale.compute_scores(np.exp(drawn.worths[:, some].astype(float)))

    table = individuals_table(scores, drawn.n_draws, drawn.respondents, labels, "option", ci)
    table.attrs["measure"] = "preference score"
    return table


def widen_scores(
    scores: "pandas.DataFrame", fit: np.ndarray, labels: list[str]
) -> "pandas.DataFrame":
    """Return a row a respondent: fit, and the mean score of each option, of a table of
    `scores_table`."""
    from thali._tables import Table

    wide = (
        scores["mean"]
        .unstack("option")
        .loc[list(dict.fromkeys(scores.index.get_level_values(0))), labels]
    )
    wide.insert(0, "fit", fit)
    return Table(wide.rename_axis(columns=None))


def measure_preferences(drawn: RespondentDraws, labels: list[str]) -> Preferences:
    r"""Measure how often each respondent prefers each option to another one, all others alike.

    .. math:: v_{ni} = \frac{1}{I - 1} \sum_{j \neq i} \frac{1}{1 + e^{u_{nj} - u_{ni}}}
    """
    n = len(labels)
    worths = drawn.worths[spaced_draws(drawn.n_draws, len(drawn.respondents), n)]
    values = np.empty(worths.shape)
    for i in range(n):
        odds = np.exp(np.clip(worths - worths[..., [i]], -50.0, 50.0))
        values[..., i] = ((1.0 / (1.0 + odds)).sum(axis=-1) - 0.5) / (n - 1)
    return Preferences(tuple((label,) for label in labels), values, drawn.respondents)


def find_reached(
    drawn: RespondentDraws, labels: list[str], none: Any
) -> tuple[np.ndarray, list[str]]:
    """Return which options reach whom (draws, respondents, options), and their labels.

    They reach those for whom their worth is above the mean of all options, or above that of the
    option `none`.
    """
    worths = drawn.worths[draws_held(drawn.n_draws, len(drawn.respondents), len(labels))]
    if none is None:
        worth = np.exp(worths - worths.max(axis=-1, keepdims=True))
        return worth > worth.mean(axis=-1, keepdims=True), labels
    at = anchor_index(none, labels)
    others = [i for i in range(len(labels)) if i != at]
    return worths[..., others] > worths[..., [at]], [labels[i] for i in others]


# Scores of all respondents, and of groups of them -------------------------------------------------


def scores_by(
    drawn: RespondentDraws,
    labels: list[str],
    scale: ScoreScale,
    by: Any,
    random_seed: Any,
    ci: float,
) -> "pandas.DataFrame":
    """Return mean scores over respondents, or over those of each group of `by`.

    In every draw respondents have the weights of a Bayesian bootstrap.
    """
    people, n = drawn.respondents, len(labels)
    names, codes = group_respondents(by, people)
    weights = spawn_generators(random_seed, 1)[0].standard_gamma(1.0, (drawn.n_draws, len(people)))
    each = {}
    for code, name in enumerate(names):
        members = np.flatnonzero(codes == code)
        mean, above, scores = np.zeros(n), np.zeros(n), np.zeros((drawn.n_draws, n))
        for some in iterate_slices(len(members), drawn.n_draws * n):
            worth = np.exp(drawn.worths[:, members[some]].astype(float))
            own = scale.compute_scores(worth)
            mean += own.mean(axis=0).sum(axis=0)
            above += scale.is_above_anchor(worth).mean(axis=0).sum(axis=0)
            scores += np.einsum("dp,dpi->di", weights[:, members[some]], own)
        scores /= weights[:, members].sum(axis=1, keepdims=True)
        each[name] = ScoreDraws(mean / len(members), scores, above / len(members))
    of = None
    if by is not None:
        of = "segment" if isinstance(by, Segments) else "group"
    return tabulate_scores(each, labels, scale, of, ci)


def group_respondents(by: Any, people: tuple[str, ...]) -> tuple[list[Any], np.ndarray]:
    """Return the names of the groups, and the group of each respondent."""
    import pandas as pd

    if by is None:
        return [""], np.zeros(len(people), np.int64)
    given = by.assignment["segment"] if isinstance(by, Segments) else by
    if not isinstance(given, Mapping | pd.Series):
        raise ArgumentError(
            Argument("by"),
            " must be the segments of the model, or map each respondent to a group (a mapping or"
            f" a pandas.Series); got {type(by).__name__}.",
        )
    pairs = {(as_label(person), group) for person, group in given.items()}
    group_of = dict(pairs)
    if len(group_of) < len(pairs):
        raise ArgumentError(
            Argument("by"),
            " assigns a respondent to two groups; assign each respondent to one group.",
        )
    codes, names = pd.factorize(
        pd.Series([group_of.get(person) for person in people], dtype=object), sort=True
    )
    if missing := [person for person, code in zip(people, codes, strict=True) if code < 0]:
        raise ArgumentError(
            Argument("by"),
            f" has no group for {shorten(missing, 5)}; assign each respondent to a group.",
        )
    return list(names), codes


# Effects of what is known of respondents ----------------------------------------------------------


def effects_table(drawn: RespondentDraws, labels: list[str], ci: float) -> "pandas.DataFrame":
    """Return a row a covariate and option: the change of the log worth for a unit of the column."""
    import pandas as pd

    from thali._tables import Table

    if drawn.known is None:
        by = Argument("by")
        raise ArgumentError(
            "effects requires a model with ", by, ", which names respondent columns."
        )
    effects = drawn.effects.reshape(drawn.n_draws, -1)
    low, high = np.quantile(effects, tails_of(ci), axis=0)
    mean = effects.mean(axis=0)
    columns = {"mean": mean, "sd": effects.std(axis=0), "low": low, "high": high}
    columns |= {"above_0": (effects > 0.0).mean(axis=0), "ratio": np.exp(mean)}
    table = Table(
        columns, pd.MultiIndex.from_product([drawn.known.names, labels], names=["column", "option"])
    )
    table.attrs["interval"] = ci
    return table
