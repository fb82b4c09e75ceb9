"""Functions from a slice of questions to answer probabilities per draw (elimination by aspects)."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.questions import AnswerProbabilities, slice_sets
from thali._inference.numerics.davidson import compute_win_tie_loss
from thali._inference.numerics.shares import stack_outcomes

from ..draws.covariate_offsets import CovariateOffsets
from ..draws.feature_columns import FeatureColumns
from ..draws.pair_probabilities import compute_probability_draws
from .set_probabilities import compute_set_probabilities

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons


def build_comparison_probabilities(
    feature_columns: FeatureColumns,
    data: "PairedComparisons",
    lapse: float,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> AnswerProbabilities:
    """Return a function from a slice of comparisons to outcome probabilities.

    `tie` and `beta` are the tie parameters and covariate coefficients per draw.
    """
    cells = data.cells

    def compute_slice(questions: slice) -> np.ndarray:
        """Return outcome probabilities of these comparisons, (n_draws, n_outcomes)."""
        offsets = None
        if beta is not None and beta.shape[1]:
            offsets = CovariateOffsets(beta, cells.x[questions])
        p = compute_probability_draws(
            feature_columns, cells.first[questions], cells.second[questions], lapse, offsets
        )
        if tie is None:
            return stack_outcomes(p).reshape(len(p), -1)
        return compute_win_tie_loss(p, 1.0 - p, tie[:, None]).reshape(len(p), -1)

    return compute_slice


def build_choice_probabilities(
    feature_columns: FeatureColumns, data: "Choices", lapse: float
) -> AnswerProbabilities:
    """Return a function from a slice of sets to their members' choice probabilities."""

    def compute_slice(questions: slice) -> np.ndarray:
        """Return choice probabilities of these sets' members, (n_draws, n_members)."""
        start, members = slice_sets(data.start, questions, data.members)
        return compute_set_probabilities(feature_columns, start, members, lapse)

    return compute_slice
