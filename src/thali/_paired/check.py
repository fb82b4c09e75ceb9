"""Whether the model describes the votes: what was observed of each pair, or set, beside replicates."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices.parts import without_tied_sets
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import CovariateCells
from thali._data.pairs.parts import questions_of
from thali._data.questions import Questions
from thali._model.answer_checks import AlikeRespondents, check_answers, refuse_weights
from thali.errors import DataError

from .estimates import WorthEstimates

if TYPE_CHECKING:
    import pandas

    from thali._worths.density import Density

_MOST = 100_000  # different comparisons, or sets times judges, above which the check takes longer than the leaderboard
_NUMBERS, _DRAWS, _FEW_DRAWS = 2_000_000, 1_000, 100  # answers in all replicates; most and fewest draws replicated


def check_votes(data: Any, drawn: WorthEstimates, random_seed: Any, ci: float) -> "pandas.DataFrame":
    """Return what was observed beside replicates, as `check_answers` does.

    Raises
    ------
    DataError
        If counts are fractional, or there are too many different comparisons.
    """
    from thali._worths.of_data import as_likelihood

    density, data = drawn.density, as_likelihood(data)
    assert density is not None and drawn.points is not None
    if density.n_rows > _MOST:
        raise DataError(f"The check is limited to {_MOST:,} different comparisons, but there are {density.n_rows:,}.")
    draws = drawn.points.shape[1]
    wanted = min(draws, max(_FEW_DRAWS, min(_DRAWS, _NUMBERS // density.n_rows)))
    points = drawn.points[:, np.arange(wanted) * draws // wanted]
    if isinstance(data, PairedComparisons):
        asked, respondents = _pairs(data, density, points)
    else:
        asked, respondents = _sets(data, density, points)
    refuse_weights(asked)
    return check_answers(asked, respondents, wanted, random_seed, ci)


def _pairs(data: PairedComparisons, density: "Density", points: np.ndarray) -> tuple[Questions, list[AlikeRespondents]]:
    """Return a question for each row of the density, and the probabilities of its answers."""
    from thali._worths.answers import comparison_probabilities

    keys = data.n_options * data.first + data.second
    pair = np.searchsorted(keys, data.n_options * density.rows.first + density.rows.second)
    density = density.some(np.argsort(pair, kind="stable"))
    rows = density.rows
    cells = CovariateCells(np.sort(pair), rows.first, rows.second, rows.wins, rows.losses, rows.tied, rows.x, None)
    asked = questions_of(data, ("wins", "tied", "losses") if rows.has_ties else ("wins", "losses"), cells)
    return asked, [AlikeRespondents(comparison_probabilities(density, points), lambda some: asked.times[some, None])]


def _sets(data: Any, density: Any, points: np.ndarray) -> tuple[Questions, list[AlikeRespondents]]:
    """Return a question for each set, and the probabilities of its answers by each judge."""
    from thali._worths.answers import set_probabilities

    data = without_tied_sets(data)
    asked = data.questions()
    if not density.n_judges:
        return asked, [AlikeRespondents(set_probabilities(density, data, points), lambda some: asked.times[some, None])]
    times = np.zeros((density.n_judges, len(asked.sizes)))
    if times.size > _MOST:
        raise DataError(f"The check is limited to {_MOST:,} sets times judges, but there are {times.size:,}.")
    np.add.at(times, (data.respondent, data.set_of[data.choice]), data.times)
    return asked, [_judge(density, data, points, number, own) for number, own in enumerate(times)]


def _judge(density: Any, data: Any, points: np.ndarray, number: int, times: np.ndarray) -> AlikeRespondents:
    """Return the probabilities of one judge, who answered some sets so often."""
    from thali._worths.answers import set_probabilities

    return AlikeRespondents(set_probabilities(density, data, points, number), lambda some: times[some, None])
