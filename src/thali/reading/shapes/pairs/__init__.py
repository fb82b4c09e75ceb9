"""The shapes of table that hold paired comparisons."""

from . import pair_list, results, square_of_counts, squares_by_sheet, trials, wide_pairs

SHAPES = tuple(each.SHAPE for each in (square_of_counts, squares_by_sheet, pair_list, trials, results, wide_pairs))
