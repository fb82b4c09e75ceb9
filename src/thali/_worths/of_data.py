"""The density that comparisons, rankings, choices from sets, and best and worst of them leave."""

from typing import Any

import numpy as np

from thali._data.choices import Choices
from thali._data.choices.choices import list_row_members
from thali._data.choices.parts import drop_tied_sets
from thali._data.connectivity import check_finite
from thali._labels import shorten
from thali._model.best_worst import LARGEST, RANKING, REVERSED
from thali.errors import Argument, DataError, Setting

from .density import Density, DistinctComparisons
from .sets import ChoiceSetDensity, group_answers

# curvature, beside that along single coordinates, of directions about which comparisons say nothing
_FLAT = 1e-10


def as_likelihood(data: Any, rule: str = RANKING) -> Any:
    """Return data as their likelihood is computed: best and worst of three are a ranking, choices
    of two comparisons.

    Raises
    ------
    DataError
        If rankings of more than six options would be summed over.
    """
    if data.worst is not None and rule == RANKING:
        wide = int(data.sizes.argmax())
        if (size := int(data.sizes[wide])) > LARGEST:
            raise DataError(
                f"Best and worst were chosen from {size} options ({shorten(data.sets[wide])}), but"
                f" the likelihood sums over all rankings, which is limited to {LARGEST} options;"
                " remove larger sets, or fit BradleyTerryLuce with ",
                Setting("best_worst", REVERSED),
                ".",
            )
        if size <= 3:
            data = data.as_rankings()
    if isinstance(data, Choices) and data.worst is None and data.is_paired:
        return data.to_comparisons()
    return data


def density_of(
    data: Any, lapse: float, has_ties: bool, rule: str = RANKING, has_prior: bool = True
) -> Density:
    """Return the density of data that are as `as_likelihood` returns them."""
    if isinstance(data, Choices):
        rows = group_answers(data, lapse, with_judges=False)
        if data.worst is not None:
            rows = rows._replace(rule=rule)
        return ChoiceSetDensity(rows, data.n_options, has_prior=has_prior)
    cells, zero = data.cells, np.zeros(len(data.cells.first), np.int64)
    tied = cells.tied if has_ties else 0.0 * cells.tied
    counts = cells.wins, cells.losses, tied
    made = DistinctComparisons(
        cells.first, cells.second, zero, zero, cells.x, *counts, lapse, has_ties
    )
    return Density(made, data.n_options, has_prior=has_prior)


def by_respondent(data: Any, density: Density) -> tuple[Density, np.ndarray | None]:
    """Return the density with a row for each respondent's answers, and whose they are; the same and
    None if unknown."""
    if len(data.respondents) < 2:
        return density, None
    if isinstance(data, Choices):
        if (data.respondent < 0).any():
            return density, None
        found = group_answers(data, density.rows.lapse, with_judges=True)
        return density.with_rows(
            found._replace(judge=0 * found.judge, rule=density.rows.rule)
        ), found.judge
    answers, rows = data.cells.answers, density.rows
    made = rows._replace(
        first=rows.first[answers.pair],
        second=rows.second[answers.pair],
        period=rows.period[answers.pair],
        judge=rows.judge[answers.pair],
        x=rows.x[answers.pair],
        wins=answers.wins,
        losses=answers.losses,
        tied=answers.tied,
    )
    return density.with_rows(made), answers.respondent


# What maximum likelihood cannot estimate ----------------------------------------------------------


def check_estimable(data: Any, density: Density) -> None:
    """Refuse data, which are as `as_likelihood` returns them, by which a worth or coefficient is
    not finite.

    Raises
    ------
    DataError
        That names the options or covariates.
    """
    check_finite(
        data.labels,
        *beaten(data),
        ("set ", Setting("method", "laplace"), ", whose prior keeps estimates finite."),
    )
    if not data.covariate_names:
        return
    curvature = density.curvature(np.zeros(density.size)).assemble_dense()
    scale = np.sqrt(np.diag(curvature))
    directions = np.linalg.eigvalsh(curvature / scale / scale[:, None])
    if np.count_nonzero(directions < _FLAT) > 1:  # a common change of all log worths is always one
        raise DataError(
            f"The effects of {shorten(data.covariate_names)} cannot be separated from the worths,"
            " because the covariates do not vary between comparisons of the same pair or are"
            " collinear; set ",
            Setting("method", "laplace"),
            ", which has a prior, or give fewer columns in ",
            Argument("covariates"),
            ".",
        )


def beaten(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return who was chosen over whom, each two once or more often."""
    if isinstance(data, Choices):
        row, place = list_row_members(data)
        others, below = data.members[place], ~data.are_chosen(row, place)
        tied, above = data.n_tied[data.set_of[place]], []
        for k in range(tied.max()):  # each of those that tie is above all others
            some = below & (tied > k)
            above.append(data.members[[data.choice[row[some]] + k, place[some]]])
        winner, loser = np.concatenate(above, axis=1)
        if data.worst is not None:
            winner, loser = (
                np.append(winner, others),
                np.append(loser, data.members[data.worst[row]]),
            )
        differ = winner != loser
        return winner[differ], loser[differ]
    beats = data.wins + data.tied > 0, data.losses + data.tied > 0
    winner = np.append(data.first[beats[0]], data.second[beats[1]])
    return winner, np.append(data.second[beats[0]], data.first[beats[1]])


def single_choices(data: Any) -> Any:
    """Return data without sets out of which several options were chosen that tie: checks count
    single options.

    Raises
    ------
    DataError
        If there are no others.
    """
    return drop_tied_sets(data) if isinstance(data, Choices) else data
