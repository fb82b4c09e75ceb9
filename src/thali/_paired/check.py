"""Whether the model describes the votes: what was observed of each pair, or set, beside
replicates."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.choices.parts import drop_tied_sets
from thali._data.pairs import PairedComparisons
from thali._data.pairs.covariates import CovariateCells
from thali._data.pairs.parts import build_questions
from thali._data.questions import AnswerProbabilities, Questions
from thali._model.answer_checks import EqualRespondents, check_answers, check_unweighted
from thali.errors import DataError

from .estimates import WorthEstimates

if TYPE_CHECKING:
    import pandas

    from thali._worths.density import Density

# different comparisons, or sets times judges, above which the check takes longer than the
# leaderboard
_MOST = 100_000
# answers in all replicates; most and fewest draws replicated
_NUMBERS, _DRAWS, _FEW_DRAWS = 2_000_000, 1_000, 100


def check_votes(drawn: WorthEstimates) -> "pandas.DataFrame":
    """Return what was observed beside replicates, as `check_answers` does.

    Raises
    ------
    DataError
        If counts are fractional, or there are too many different comparisons.
    """
    assert drawn.pose is not None and drawn.points is not None
    density, data, asked = drawn.pose.density, drawn.pose.data, drawn.pose.asked
    if density.n_rows > _MOST:
        raise DataError(
            f"The check is limited to {_MOST:,} different comparisons, but there are"
            f" {density.n_rows:,}."
        )
    draws = drawn.points.shape[1]
    wanted = min(draws, max(_FEW_DRAWS, min(_DRAWS, _NUMBERS // density.n_rows)))
    points = drawn.points[:, np.arange(wanted) * draws // wanted]
    if isinstance(data, PairedComparisons):
        questions, respondents = _pairs(data, density, points)
    else:
        questions, respondents = _sets(data, density, points)
    check_unweighted(questions)
    return check_answers(questions, respondents, wanted, asked.random_seed, asked.ci)


def _pairs(
    data: PairedComparisons, density: "Density", points: np.ndarray
) -> tuple[Questions, list[EqualRespondents]]:
    """Return a question for each row of the density, and the probabilities of its answers."""
    keys = data.n_options * data.first + data.second
    pair = np.searchsorted(keys, data.n_options * density.rows.first + density.rows.second)
    density = density.select_rows(np.argsort(pair, kind="stable"))
    rows = density.rows
    cells = CovariateCells(
        np.sort(pair), rows.first, rows.second, rows.wins, rows.losses, rows.tied, rows.x, None
    )
    asked = build_questions(
        data, ("wins", "tied", "losses") if rows.has_ties else ("wins", "losses"), cells
    )
    return asked, [EqualRespondents.from_times(_of_comparisons(density, points), asked.times)]


def _of_comparisons(density: "Density", points: np.ndarray) -> AnswerProbabilities:
    """Return a function from some rows to the probabilities of their outcomes, row by row (points,
    answers)."""
    from thali._inference.numerics.counts import compute_outcomes

    lapse, has_ties = density.rows.lapse, density.rows.has_ties

    def probabilities(some: slice) -> np.ndarray:
        own = density.select_rows(some)
        q = np.concatenate(
            [own.compare_at_points(block, points).q for block in own.split_rows(points.shape[1])]
        ).T
        p = (1.0 - lapse) * q + lapse / 2.0
        found = (
            compute_outcomes(p, 1.0 - p, np.exp(points[own.nu].T))
            if has_ties
            else np.stack([p, 1.0 - p], axis=-1)
        )
        return found.reshape(len(p), -1)

    return probabilities


def _sets(data: Any, density: Any, points: np.ndarray) -> tuple[Questions, list[EqualRespondents]]:
    """Return a question for each set, and the probabilities of its answers by each judge."""
    data = drop_tied_sets(data)
    asked, logs = data.questions(), points[density.worths]
    if not density.n_judges:
        return asked, [EqualRespondents.from_times(_of_sets(density, data, logs), asked.times)]
    times = np.zeros((density.n_judges, len(asked.sizes)))
    if times.size > _MOST:
        raise DataError(
            f"The check is limited to {_MOST:,} sets times judges, but there are {times.size:,}."
        )
    np.add.at(times, (data.respondent, data.set_of[data.choice]), data.times)
    each = zip(np.exp(density.log_discriminations(points)), times, strict=True)
    return asked, [
        EqualRespondents.from_times(_of_sets(density, data, d * logs), own) for d, own in each
    ]


def _of_sets(density: Any, data: Any, log_worths: np.ndarray) -> AnswerProbabilities:
    """Return a function from some sets to the probabilities of their answers, given log worths
    (options, points)."""
    from thali._worths.worth_draws import WorthDraws

    none = np.zeros((log_worths.shape[1], 0))
    known = (), none, density.rows.lapse, density.rows.rule, 1
    return WorthDraws(list(data.labels), log_worths.T, None, none, *known).question_probabilities(
        data, False
    )
