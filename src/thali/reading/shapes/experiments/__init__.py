"""The shapes of table that hold choice experiments."""

from . import experiment, wide_experiment

SHAPES = experiment.SHAPE, wide_experiment.SHAPE
