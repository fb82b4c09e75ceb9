"""The probabilities of the answers to questions, draw by draw, under elimination by aspects."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.questions import AnswerProbabilities, slice_sets
from thali._inference.numerics.counts import compute_outcomes

from ..draws.covariate_lifts import CovariateLift
from ..draws.feature_columns import FeatureColumns
from ..draws.probabilities import compute_probability_draws
from .set_draws import set_probability_draws

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons


def comparison_answers(
    columns: FeatureColumns,
    data: "PairedComparisons",
    lapse: float,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> AnswerProbabilities:
    """Return the probabilities of the outcomes of comparisons; `tie` and `beta`, of ties and
    covariates, by draw."""
    cells = data.cells

    def of_questions(some: slice) -> np.ndarray:
        lift = None if beta is None or not beta.shape[1] else CovariateLift(beta, cells.x[some])
        p = compute_probability_draws(columns, cells.first[some], cells.second[some], lapse, lift)
        found = (
            np.stack([p, 1.0 - p], axis=-1)
            if tie is None
            else compute_outcomes(p, 1.0 - p, tie[:, None])
        )
        return found.reshape(len(p), -1)

    return of_questions


def choice_answers(columns: FeatureColumns, data: "Choices", lapse: float) -> AnswerProbabilities:
    """Return the probabilities of the members of sets."""

    def of_questions(some: slice) -> np.ndarray:
        start, members = slice_sets(data.start, some, data.members)
        return set_probability_draws(columns, start, members, lapse)

    return of_questions
