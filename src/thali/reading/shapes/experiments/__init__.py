"""The shapes of table that hold choice experiments."""

from .experiment import LONG_TABLE
from .wide_experiment import WIDE

SHAPES = LONG_TABLE, WIDE
