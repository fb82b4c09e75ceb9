"""Tables about respondents: scores, segments, reach and covariate effects."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.index_arithmetic import iterate_slices
from thali._inference.numerics.weight_shares import scale_to_maximum
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._labels import format_label, shorten
from thali._model.covariate_effects import summarise_effects
from thali._model.option_scores import ScoreDraws, ScoreScale, anchor_index, tabulate_scores
from thali._people.respondent_segments import Preferences, Segments, select_segment_draws
from thali._people.turf_reach import select_reach_draws
from thali._posterior.posterior_interval import interval_tails
from thali.errors import Argument, ArgumentError

from .respondent_draws import RespondentDraws

if TYPE_CHECKING:
    import pandas

_MAX_LOG_WORTH = 600.0  # whose exponential is a number


def tabulate_respondent_scores(
    respondent_draws: RespondentDraws, labels: list[str], score_scale: ScoreScale, ci: float
) -> "pandas.DataFrame":
    """Return a table of scores of each respondent and option, with intervals."""
    import pandas as pd

    from thali._exportable_table import Table

    tail_probabilities = interval_tails(ci)
    n_draws = respondent_draws.n_draws
    respondents = respondent_draws.respondents
    mean, low, high = np.empty((3, len(respondents), len(labels)))
    for respondent_slice in iterate_slices(len(respondents), n_draws * len(labels)):
        scores = score_scale.compute_scores(
            _compute_worths(respondent_draws.worths[:, respondent_slice])
        )
        mean[respondent_slice] = np.nanmean(scores, axis=0)
        low[respondent_slice], high[respondent_slice] = np.nanquantile(
            scores, tail_probabilities, axis=0
        )
    index = pd.MultiIndex.from_product([respondents, labels], names=["respondent", "option"])
    table = Table({"mean": mean.ravel(), "low": low.ravel(), "high": high.ravel()}, index)
    table.attrs["interval"] = ci
    table.attrs["measure"] = "preference score"
    return table


def pivot_scores(
    scores: "pandas.DataFrame", fit: np.ndarray, labels: list[str]
) -> "pandas.DataFrame":
    """Return scores with one row per respondent: fit, and each option's mean score."""
    from thali._exportable_table import Table

    respondents = list(dict.fromkeys(scores.index.get_level_values(0)))
    wide_table = scores["mean"].unstack("option").loc[respondents, labels]
    wide_table.insert(0, "fit", fit)
    return Table(wide_table.rename_axis(columns=None))


def measure_preferences(respondent_draws: RespondentDraws, labels: list[str]) -> Preferences:
    r"""Return the probability that each respondent prefers an option to a random other.

    .. math:: v_{ni} = \frac{1}{I - 1} \sum_{j \neq i} \frac{1}{1 + e^{u_{nj} - u_{ni}}}
    """
    n = len(labels)
    worths = respondent_draws.worths[
        select_segment_draws(respondent_draws.n_draws, len(respondent_draws.respondents), n)
    ]
    preferences = np.empty(worths.shape)
    for i in range(n):
        inverse_odds = np.exp(np.clip(worths - worths[..., [i]], -50.0, 50.0))
        preferences[..., i] = ((1.0 / (1.0 + inverse_odds)).sum(axis=-1) - 0.5) / (n - 1)
    return Preferences(
        tuple((label,) for label in labels), preferences, respondent_draws.respondents
    )


def find_reached_options(
    respondent_draws: RespondentDraws, labels: list[str], none: str | None
) -> tuple[np.ndarray, list[str]]:
    """Return which options reach each respondent at each draw, and option labels.

    An option reaches a respondent if its worth is above the mean of all options, or above that
    of the option `none`.
    """
    worths = respondent_draws.worths[
        select_reach_draws(respondent_draws.n_draws, len(respondent_draws.respondents), len(labels))
    ]
    if none is None:
        relative_worths = scale_to_maximum(worths)
        return relative_worths > relative_worths.mean(axis=-1, keepdims=True), labels
    none_index = anchor_index(none, labels)
    option_indices = [i for i in range(len(labels)) if i != none_index]
    return worths[..., option_indices] > worths[..., [none_index]], [
        labels[i] for i in option_indices
    ]


def _compute_worths(log_worths: np.ndarray) -> np.ndarray:
    """Return worths that are finite, even of options that are always chosen."""
    return np.exp(np.clip(log_worths.astype(float), -_MAX_LOG_WORTH, _MAX_LOG_WORTH))


# Scores of all respondents, and of groups of them -------------------------------------------------


def tabulate_group_scores(
    respondent_draws: RespondentDraws,
    labels: list[str],
    score_scale: ScoreScale,
    by: Any,
    random_seed: RandomSeed,
    ci: float,
) -> "pandas.DataFrame":
    """Return a table of mean scores over all respondents, or by group of `by`.

    In every draw respondents have the weights of a Bayesian bootstrap.
    """
    respondents = respondent_draws.respondents
    n = len(labels)
    group_names, group_codes = assign_groups(by, respondents)
    bootstrap_weights = spawn_generators(random_seed, 1)[0].standard_gamma(
        1.0, (respondent_draws.n_draws, len(respondents))
    )
    scores_by_group = {}
    for group_code, group_name in enumerate(group_names):
        members = np.flatnonzero(group_codes == group_code)
        score_sums, above_anchor_sums = np.zeros((2, n))
        score_draws = np.zeros((respondent_draws.n_draws, n))
        for member_slice in iterate_slices(len(members), respondent_draws.n_draws * n):
            block_worths = _compute_worths(respondent_draws.worths[:, members[member_slice]])
            group_scores = score_scale.compute_scores(block_worths)
            score_sums += group_scores.mean(axis=0).sum(axis=0)
            above_anchor_sums += score_scale.is_above_anchor(block_worths).mean(axis=0).sum(axis=0)
            score_draws += np.einsum(
                "dp,dpi->di", bootstrap_weights[:, members[member_slice]], group_scores
            )
        score_draws /= bootstrap_weights[:, members].sum(axis=1, keepdims=True)
        scores_by_group[group_name] = ScoreDraws(
            score_sums / len(members), score_draws, above_anchor_sums / len(members)
        )
    group_column = None
    if isinstance(by, Segments):
        group_column = "segment"
    elif by is not None:
        group_column = "group"
    return tabulate_scores(scores_by_group, labels, score_scale, group_column, ci)


def assign_groups(by: Any, respondents: tuple[str, ...]) -> tuple[list[Any], np.ndarray]:
    """Return the sorted group names of `by`, and each respondent's group index.

    `by` is the model's segments, or a mapping from respondents to groups; None is one group.
    """
    import pandas as pd

    if by is None:
        return [""], np.zeros(len(respondents), np.int64)
    assignment = by
    if isinstance(by, Segments):
        assignment = by.assignment["segment"]
    if not isinstance(assignment, Mapping | pd.Series):
        raise ArgumentError(
            Argument("by"),
            " must be the segments of the model, or map each respondent to a group (a mapping or"
            f" a pandas.Series); got {type(by).__name__}.",
        )
    person_groups = {(format_label(person), group) for person, group in assignment.items()}
    group_of = dict(person_groups)
    if len(group_of) < len(person_groups):
        raise ArgumentError(
            Argument("by"),
            " assigns a respondent to two groups; assign each respondent to one group.",
        )
    group_codes, group_names = pd.factorize(
        pd.Series([group_of.get(person) for person in respondents], dtype=object), sort=True
    )
    if unassigned_people := [
        person for person, code in zip(respondents, group_codes, strict=True) if code < 0
    ]:
        raise ArgumentError(
            Argument("by"),
            f" has no group for {shorten(unassigned_people, 5)};"
            " assign each respondent to a group.",
        )
    return list(group_names), group_codes


# Effects of respondent covariates -----------------------------------------------------------------


def tabulate_respondent_effects(
    respondent_draws: RespondentDraws, labels: list[str], ci: float
) -> "pandas.DataFrame":
    """Return a table of effects on log worths, one row per covariate and option."""
    import pandas as pd

    from thali._exportable_table import Table

    if respondent_draws.covariates is None:
        by = Argument("by")
        raise ArgumentError(
            "effects requires a model with ", by, ", which names respondent columns."
        )
    effects = respondent_draws.effects.reshape(respondent_draws.n_draws, -1)
    effect_columns = summarise_effects(effects, ci)
    table = Table(
        effect_columns | {"ratio": np.exp(effect_columns["mean"])},
        pd.MultiIndex.from_product(
            [respondent_draws.covariates.names, labels], names=["column", "option"]
        ),
    )
    table.attrs["interval"] = ci
    return table
