"""Slice sampling of one number (Neal 2003), in compiled samplers.

A line is a NamedTuple whose class registers the log density of the number.
"""

from typing import Any

import numpy as np

from thali._compile.jit import generic, part, scalar


@generic
def log_density(line: Any, x: Any) -> Any:
    """Return the log density at `x` along a line, up to a constant."""


@part
def evaluate_density(line: Any, x: Any) -> Any:
    """Return the log density at x along a line, compiled once per class of lines."""
    return log_density(line, x)


@scalar
def draw_on_line(rng: np.random.Generator, line: Any, current: Any, width: Any) -> Any:
    """Draw a new value by slice sampling with stepping out, starting at `current`."""
    level = evaluate_density(line, current) - rng.standard_exponential()
    low = current - width * rng.random()
    high = low + width
    while evaluate_density(line, low) > level:
        low -= width
    while evaluate_density(line, high) > level:
        high += width
    while True:
        proposal = low + (high - low) * rng.random()
        if evaluate_density(line, proposal) >= level or proposal == current:
            return proposal
        if proposal < current:
            low = proposal
        else:
            high = proposal
