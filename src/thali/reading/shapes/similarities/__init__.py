"""The shapes of table that hold similarities."""

from .similarities_by_sheet import SHEETS
from .similarity_list import LIST
from .similarity_square import SQUARE

SHAPES = SQUARE, SHEETS, LIST
