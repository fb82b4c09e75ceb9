"""The shapes of table that are recognised: one shape a file."""

from ..shape import Shape
from . import (
    best_worst,
    covariates,
    experiment,
    long_choices,
    pair_list,
    rankings,
    results,
    similarities_by_sheet,
    similarity_list,
    similarity_square,
    square_of_counts,
    squares_by_sheet,
    trials,
    triplets,
    wide_experiment,
    wide_pairs,
)

# In this order; where no reading is sure, the first one counts.
SHAPES: tuple[Shape, ...] = (
    long_choices.SHAPE,
    experiment.SHAPE,
    wide_experiment.SHAPE,
    square_of_counts.SHAPE,
    squares_by_sheet.SHAPE,
    pair_list.SHAPE,
    trials.SHAPE,
    results.SHAPE,
    wide_pairs.SHAPE,
    rankings.SHAPE,
    best_worst.SHAPE,
    similarity_square.SHAPE,
    similarities_by_sheet.SHAPE,
    similarity_list.SHAPE,
    triplets.SHAPE,
    covariates.SHAPE,
)
