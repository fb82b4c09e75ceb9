"""Functions from a slice of questions to answer probabilities per draw (elimination by aspects)."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.questions import AnswerProbabilities, slice_sets
from thali._inference.numerics.davidson_ties import compute_win_tie_loss
from thali._inference.numerics.weight_shares import stack_outcomes

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
    tie_draws: np.ndarray | None,
    coefficient_draws: np.ndarray | None,
) -> AnswerProbabilities:
    """Return a function from a slice of comparisons to outcome probabilities.

    `tie_draws` and `coefficient_draws` are the tie parameters and covariate coefficients per draw.
    """
    comparison_cells = data.cells

    def compute_slice(questions: slice) -> np.ndarray:
        """Return outcome probabilities of these comparisons, (n_draws, n_outcomes)."""
        covariate_offsets = None
        if coefficient_draws is not None and coefficient_draws.shape[1]:
            covariate_offsets = CovariateOffsets(coefficient_draws, comparison_cells.x[questions])
        first_probability = compute_probability_draws(
            feature_columns,
            comparison_cells.first[questions],
            comparison_cells.second[questions],
            lapse,
            covariate_offsets,
        )
        if tie_draws is None:
            return stack_outcomes(first_probability).reshape(len(first_probability), -1)
        return compute_win_tie_loss(
            first_probability, 1.0 - first_probability, tie_draws[:, None]
        ).reshape(len(first_probability), -1)

    return compute_slice


def build_choice_probabilities(
    feature_columns: FeatureColumns, data: "Choices", lapse: float
) -> AnswerProbabilities:
    """Return a function from a slice of sets to their members' choice probabilities."""

    def compute_slice(questions: slice) -> np.ndarray:
        """Return choice probabilities of these sets' members, (n_draws, n_members)."""
        set_starts, members = slice_sets(data.start, questions, data.members)
        return compute_set_probabilities(feature_columns, set_starts, members, lapse)

    return compute_slice
