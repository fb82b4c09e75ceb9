"""The shapes of table that are recognised: one shape a file."""

from ..layout import Layout
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
LAYOUTS: tuple[Layout, ...] = (
    long_choices.LAYOUT,
    experiment.LAYOUT,
    wide_experiment.LAYOUT,
    square_of_counts.LAYOUT,
    squares_by_sheet.LAYOUT,
    pair_list.LAYOUT,
    trials.LAYOUT,
    results.LAYOUT,
    wide_pairs.LAYOUT,
    rankings.LAYOUT,
    best_worst.LAYOUT,
    similarity_square.LAYOUT,
    similarities_by_sheet.LAYOUT,
    similarity_list.LAYOUT,
    triplets.LAYOUT,
    covariates.LAYOUT,
)
