"""Slice sampling with stepping out (Neal 2003) of a number on a line, for compiled samplers.

What the number is drawn given is a NamedTuple of its own class, which registers the log density.
"""

from typing import Any

import numpy as np

from thali._compile.jit import generic, part, scalar


@generic
def log_density(line: Any, x: Any) -> None:
    """Log density of place x on a line, up to a constant."""


@part
def density_at(line: Any, x: Any) -> Any:
    """The same, compiled once for a line."""
    return log_density(line, x)


@scalar
def draw_on_line(rng: np.random.Generator, line: Any, now: Any, width: Any) -> Any:
    """Draw a place on a line, from a slice around `now` that steps of this width make wide
    enough."""
    level = density_at(line, now) - rng.standard_exponential()
    low = now - width * rng.random()
    high = low + width
    while density_at(line, low) > level:
        low -= width
    while density_at(line, high) > level:
        high += width
    while True:
        drawn = low + (high - low) * rng.random()
        if density_at(line, drawn) >= level or drawn == now:
            return drawn
        if drawn < now:
            low = drawn
        else:
            high = drawn
