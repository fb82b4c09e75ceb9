"""The shapes of table that hold choices out of sets."""

from .best_worst import BEST_WORST_TABLE
from .long_choices import LONG_TABLE
from .rankings import RANKINGS

SHAPES = LONG_TABLE, RANKINGS, BEST_WORST_TABLE
