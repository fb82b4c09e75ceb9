"""The shapes of table that hold choices out of sets."""

from . import best_worst, long_choices, rankings

SHAPES = tuple(each.SHAPE for each in (long_choices, rankings, best_worst))
