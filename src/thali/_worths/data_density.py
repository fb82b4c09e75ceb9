"""Densities of worths for comparisons, rankings, choices from sets and best-worst choices."""

from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.choices import list_row_members
from thali._data.choices.data_subsets import drop_tied_sets
from thali._data.connectivity import check_finite
from thali._labels import shorten
from thali._model.best_worst_probabilities import LARGEST, RANKING, REVERSED
from thali.errors import Argument, DataError, Setting

from .density import Density, DistinctComparisons
from .set_density import ChoiceSetDensity, count_distinct_answers

# relative curvature below which comparisons contain no information about a direction
_MIN_CURVATURE = 1e-10


def convert_for_likelihood(data: Any, rule: str = RANKING) -> Any:
    """Return data in the form (pairs or sets) whose likelihood is computed.

    Best and worst of three options are a ranking; choices from two options are comparisons.

    Raises
    ------
    DataError
        If rankings of more than six options would be summed over.
    """
    if data.worst is not None and rule == RANKING:
        largest = int(data.sizes.argmax())
        if (size := int(data.sizes[largest])) > LARGEST:
            raise DataError(
                f"Best and worst were chosen from {size} options ({shorten(data.sets[largest])}),"
                " but the likelihood sums over all rankings, which is limited to"
                f" {LARGEST} options; remove larger sets, or fit BradleyTerryLuce with ",
                Setting("best_worst", REVERSED),
                ".",
            )
        if size <= 3:
            data = data.as_rankings()
    if isinstance(data, Choices) and data.worst is None and data.is_paired:
        return data.to_comparisons()
    return data


def build_density(
    data: Any, lapse: float, has_ties: bool, rule: str = RANKING, has_prior: bool = True
) -> Density:
    """Build the posterior density of worths for data from `convert_for_likelihood`."""
    if isinstance(data, Choices):
        rows = count_distinct_answers(data, lapse, with_judges=False)
        if data.worst is not None:
            rows = rows._replace(rule=rule)
        return ChoiceSetDensity(rows, data.n_options, has_prior=has_prior)
    cells, zero = data.cells, np.zeros(len(data.cells.first), np.int64)
    tied = cells.tied
    if not has_ties:
        tied = np.zeros(len(tied))
    counts = cells.wins, cells.losses, tied
    rows_by_cell = DistinctComparisons(
        cells.first, cells.second, zero, zero, cells.x, *counts, lapse, has_ties
    )
    return Density(rows_by_cell, data.n_options, has_prior=has_prior)


def split_by_respondent(data: Any, density: Density) -> tuple[Density, np.ndarray | None]:
    """Return the density with answers split by respondent, and each row's respondent.

    Without respondents the density is unchanged, and None is returned.
    """
    if len(data.respondents) < 2:
        return density, None
    if isinstance(data, Choices):
        if (data.respondent < 0).any():
            return density, None
        rows = count_distinct_answers(data, density.rows.lapse, with_judges=True)
        pooled_rows = rows._replace(judge=0 * rows.judge, rule=density.rows.rule)
        return density.with_rows(pooled_rows), rows.judge
    answers, rows = data.cells.answers, density.rows
    shared = ("first", "second", "period", "judge", "x")
    rows = rows._replace(
        **{name: getattr(rows, name)[answers.pair] for name in shared},
        wins=answers.wins,
        losses=answers.losses,
        tied=answers.tied,
    )
    return density.with_rows(rows), answers.respondent


# What maximum likelihood cannot estimate ----------------------------------------------------------


def check_estimable(data: Any, density: Density) -> None:
    """Raise DataError for data without finite maximum-likelihood estimates.

    Raises
    ------
    DataError
        If estimates are not finite; it names the options or covariates.
    """
    check_finite(
        data.labels,
        *list_wins(data),
        ("set ", Setting("method", "laplace"), ", whose prior keeps estimates finite."),
    )
    if not data.covariate_names:
        return
    curvature = density.curvature(np.zeros(density.size)).assemble_dense()
    scale = np.sqrt(np.diag(curvature))
    directions = np.linalg.eigvalsh(curvature / scale / scale[:, None])
    # a common change of all log worths is always without information
    if np.count_nonzero(directions < _MIN_CURVATURE) > 1:
        raise DataError(
            f"The effects of {shorten(data.covariate_names)} cannot be separated from the worths,"
            " because the covariates do not vary between comparisons of the same pair or are"
            " collinear; set ",
            Setting("method", "laplace"),
            ", which has a prior, or give fewer columns in ",
            Argument("covariates"),
            ".",
        )


def list_wins(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of the winner and of the loser of each observed preference."""
    if isinstance(data, Choices):
        row, position = list_row_members(data)
        member, is_not_chosen = data.members[position], ~data.are_chosen(row, position)
        tied, wins = data.n_tied[data.set_of[position]], []
        for k in range(tied.max()):  # every tied option is above all others
            is_beaten = is_not_chosen & (tied > k)
            wins.append(data.members[[data.choice[row[is_beaten]] + k, position[is_beaten]]])
        winner, loser = np.concatenate(wins, axis=1)
        if data.worst is not None:
            winner, loser = (
                np.append(winner, member),
                np.append(loser, data.members[data.worst[row]]),
            )
        differ = winner != loser
        return winner[differ], loser[differ]
    is_winner = data.wins + data.tied > 0, data.losses + data.tied > 0
    winner = np.append(data.first[is_winner[0]], data.second[is_winner[1]])
    return winner, np.append(data.second[is_winner[0]], data.first[is_winner[1]])


def keep_single_choices(data: Any) -> Any:
    """Return the data without sets in which several options tied as best.

    Raises
    ------
    DataError
        If no set remains.
    """
    if not isinstance(data, Choices):
        return data
    return drop_tied_sets(data)
