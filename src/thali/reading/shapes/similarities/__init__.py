"""The shapes of table that hold similarities."""

from . import similarities_by_sheet, similarity_list, similarity_square

SHAPES = similarity_square.SHAPE, similarities_by_sheet.SHAPE, similarity_list.SHAPE
