"""The table layouts that are recognised, one file per data kind."""

from thali._data.kinds import SPECS
from thali._lazy_imports import load_object

from ..table_layout import Shape
from . import score_tables

# In this order; where no reading is sure, the first one counts.
SHAPES: tuple[Shape, ...] = tuple(
    shape for spec in SPECS if spec.shapes for shape in load_object(spec.shapes)
)

# Leaderboards also read tables of scores; elsewhere, many numeric tables would look like one.
BOARD_SHAPES = (*SHAPES, score_tables.SHAPE)
