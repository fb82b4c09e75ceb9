"""Densities of worths for comparisons, rankings, choices from sets and best-worst choices."""

from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.choices import list_row_members
from thali._data.choices.data_subsets import drop_tied_sets
from thali._data.connectivity import check_finite
from thali._data.pairs import PairedComparisons
from thali._labels import shorten
from thali._model.best_worst_probabilities import LARGEST, RANKING, REVERSED
from thali.errors import Argument, DataError, Setting

from .posterior_density import Density, DistinctComparisons
from .set_choice_density import ChoiceSetDensity, count_distinct_answers

# relative curvature below which comparisons contain no information about a direction
_MIN_CURVATURE = 1e-10
_MIN_ADVANTAGE = 1e-6  # sum of scaled log odds above rounding


def convert_for_likelihood(data: Any, rule: str = RANKING) -> Any:
    """Return the data as pairs or sets, as their likelihood requires.

    Best and worst of three options are a ranking; choices from two options are comparisons.

    Raises
    ------
    DataError
        If rankings of more than six options would be summed over.
    """
    if data.worst is not None and rule == RANKING:
        largest_set = int(data.sizes.argmax())
        if (set_size := int(data.sizes[largest_set])) > LARGEST:
            raise DataError(
                f"Best and worst were chosen from {set_size} options"
                f" ({shorten(data.sets[largest_set])}), but the likelihood sums over all"
                f" rankings, which is limited to {LARGEST} options; remove larger sets, or"
                " fit BradleyTerryLuce with ",
                Setting("best_worst", REVERSED),
                ".",
            )
        if set_size <= 3:
            data = data.as_rankings()
    if isinstance(data, Choices) and data.worst is None and data.is_paired:
        return data.to_comparisons()
    return data


def build_density(
    data: PairedComparisons | Choices,
    lapse: float,
    has_ties: bool,
    rule: str = RANKING,
    has_prior: bool = True,
) -> Density:
    """Build the posterior density of worths for data from `convert_for_likelihood`."""
    option_values = get_option_values(data)
    if isinstance(data, Choices):
        answer_rows = count_distinct_answers(data, lapse, with_judges=False)
        if data.worst is not None:
            answer_rows = answer_rows._replace(rule=rule)
        return ChoiceSetDensity(
            answer_rows, data.n_options, has_prior=has_prior, option_values=option_values
        )
    cells = data.cells
    zeros = np.zeros(len(data.cells.first), np.int64)
    tie_counts = cells.tied
    if not has_ties:
        tie_counts = np.zeros(len(tie_counts))
    comparison_rows = DistinctComparisons(
        cells.first,
        cells.second,
        zeros,
        zeros,
        cells.x,
        cells.wins,
        cells.losses,
        tie_counts,
        lapse,
        has_ties,
    )
    return Density(
        comparison_rows, data.n_options, has_prior=has_prior, option_values=option_values
    )


def get_option_values(data: PairedComparisons | Choices) -> np.ndarray:
    """Return covariates of options, (n_options, n_covariates); 0 for others."""
    if data.covariates is None:
        return np.zeros((data.n_options, 0))
    return data.covariates.options


def split_by_respondent(data: Any, density: Density) -> tuple[Density, np.ndarray | None]:
    """Return the density with answers split by respondent, and each row's respondent.

    Without respondents the density is unchanged, and None is returned.
    """
    if len(data.respondents) < 2:
        return density, None
    if isinstance(data, Choices):
        if (data.respondent < 0).any():
            return density, None
        comparison_rows = count_distinct_answers(data, density.rows.lapse, with_judges=True)
        pooled_rows = comparison_rows._replace(
            judge=0 * comparison_rows.judge, rule=density.rows.rule
        )
        return density.with_rows(pooled_rows), comparison_rows.judge
    answers = data.cells.answers
    comparison_rows = density.rows
    shared_columns = ("first", "second", "period", "judge", "x")
    comparison_rows = comparison_rows._replace(
        **{name: getattr(comparison_rows, name)[answers.pair] for name in shared_columns},
        wins=answers.wins,
        losses=answers.losses,
        tied=answers.tied,
    )
    return density.with_rows(comparison_rows), answers.respondent


# What maximum likelihood cannot estimate ----------------------------------------------------------


def check_estimable(data: PairedComparisons | Choices, density: Density) -> None:
    """Raise DataError for data without finite maximum-likelihood estimates.

    Raises
    ------
    DataError
        If estimates are not finite; it names the options or covariates.
    """
    with_prior = "set ", Setting("method", "laplace"), ", whose prior keeps estimates finite."
    if density.has_deviations:
        check_finite(data.labels, *list_wins(data), with_prior)
    if density.rows.has_ties and data.n_ties == data.n_answers:
        raise DataError(
            "No finite estimate exists, because all comparisons are ties; ", *with_prior
        )
    if not data.covariate_names:
        return
    curvature = density.curvature(np.zeros(density.size)).assemble_dense()
    curvature = curvature[np.ix_(density.is_free, density.is_free)]
    parameter_scale = np.sqrt(np.diag(curvature)).clip(_MIN_CURVATURE)
    eigenvalues = np.linalg.eigvalsh(curvature / parameter_scale / parameter_scale[:, None])
    # a common change of all log worths is always without information
    if np.count_nonzero(eigenvalues < _MIN_CURVATURE) > density.has_deviations:
        others = "the worths, because columns are collinear or do not vary within pairs"
        if not density.has_deviations:
            others = "each other, because columns are collinear"
        raise DataError(
            f"The effects of {shorten(data.covariate_names)} cannot be separated from {others};"
            " set ",
            Setting("method", "laplace"),
            ", which uses a prior, or list fewer columns in ",
            Argument("covariates"),
            ".",
        )
    winners, losers = list_wins(data)
    option_values = density.option_values[:, density.option_values.any(axis=0)]
    if not density.has_deviations and is_separated(option_values[winners] - option_values[losers]):
        raise DataError(
            f"All answers can be predicted perfectly from {shorten(data.covariate_names)}, so the"
            " likelihood has no maximum; ",
            *with_prior,
        )


def is_separated(differences: np.ndarray) -> bool:
    """Return whether some coefficients predict that every winner is at least as good."""
    from scipy.optimize import linprog

    scaled_differences = np.unique(differences, axis=0) / np.abs(differences).max(axis=0)
    # the largest sum of advantages, none of them negative
    programme = linprog(
        -scaled_differences.sum(axis=0),
        A_ub=-scaled_differences,
        b_ub=np.zeros(len(scaled_differences)),
        bounds=(-1.0, 1.0),
    )
    return bool(programme.fun < -_MIN_ADVANTAGE)


def list_wins(data: PairedComparisons | Choices) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of the winner and of the loser of each observed preference."""
    if isinstance(data, Choices):
        set_indices, positions = list_row_members(data)
        member_options = data.members[positions]
        is_not_chosen = ~data.are_chosen(set_indices, positions)
        n_tied = data.n_tied[data.set_of[positions]]
        wins = []
        for k in range(n_tied.max()):  # every tied option is above all others
            is_beaten = is_not_chosen & (n_tied > k)
            wins.append(
                data.members[[data.choice[set_indices[is_beaten]] + k, positions[is_beaten]]]
            )
        winners, losers = np.concatenate(wins, axis=1)
        if data.worst is not None:
            winners = np.append(winners, member_options)
            losers = np.append(losers, data.members[data.worst[set_indices]])
        is_pair = winners != losers
        return winners[is_pair], losers[is_pair]
    is_winner = data.wins + data.tied > 0, data.losses + data.tied > 0
    winners = np.append(data.first[is_winner[0]], data.second[is_winner[1]])
    return winners, np.append(data.second[is_winner[0]], data.first[is_winner[1]])


def keep_single_choices(data: PairedComparisons | Choices) -> Any:
    """Return the data without sets in which several options tied as best.

    Raises
    ------
    DataError
        If no set remains.
    """
    if not isinstance(data, Choices):
        return data
    return drop_tied_sets(data)
