"""The probabilities of all possible answers by draws of worths: of comparisons, and of choices from sets."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.questions import AnswerProbabilities, places_in
from thali._model.best_worst import answer_probabilities

from .density import Density
from .sets import LEAST, ChoiceSetDensity

if TYPE_CHECKING:
    from thali._data.choices import Choices


def comparison_probabilities(density: Density, points: np.ndarray) -> AnswerProbabilities:
    """Return a function from some rows to the probabilities of the first option, of a tie if there may be one, and of
    the second, row by row (points, answers)."""

    def probabilities(some: slice) -> np.ndarray:
        own = density.some(some)
        one, none = np.ones(own.n_rows), np.zeros(own.n_rows)
        outcomes = [(one, none, none), (none, none, one), (none, one, none)]  # counts of wins, losses and ties
        if not own.rows.has_ties:
            del outcomes[1]
        logs = [own.with_counts(*outcome).by_row(points) for outcome in outcomes]
        return np.exp(np.stack(logs, axis=1)).reshape(-1, points.shape[1]).T

    return probabilities


def set_probabilities(
    density: ChoiceSetDensity, data: "Choices", points: np.ndarray, judge: int | None = None
) -> AnswerProbabilities:
    """Return a function from some sets to the probabilities of their answers (points, answers), as a judge gives them
    (None: all judges are equal)."""
    sharpness = np.ones(points.shape[1])
    if judge is not None:
        sharpness = np.exp(density.log_discriminations(points)[judge])
    logs, lapse = (sharpness * points[density.worths]).T, density.rows.lapse

    def probabilities(some: slice) -> np.ndarray:
        start, members = places_in(data.start, some, data.members)
        sizes, own = np.diff(start), logs[:, members]
        weights = np.exp(np.maximum(own - np.repeat(np.maximum.reduceat(own, start[:-1], 1), sizes, 1), LEAST))
        if data.worst is not None:
            return answer_probabilities(weights, start, np.arange(len(members)), lapse, density.rows.rule)
        shares = weights / np.repeat(np.add.reduceat(weights, start[:-1], 1), sizes, 1)
        return (1.0 - lapse) * shares + lapse / np.repeat(sizes, sizes)

    return probabilities
