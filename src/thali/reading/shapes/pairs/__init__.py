"""The shapes of table that hold paired comparisons."""

from .pair_list import LIST
from .results import RESULTS_OF_GAMES
from .square_of_counts import SQUARE
from .squares_by_sheet import SHEETS
from .trials import TRIAL_TABLE
from .wide_pairs import WIDE

SHAPES = SQUARE, SHEETS, LIST, TRIAL_TABLE, RESULTS_OF_GAMES, WIDE
