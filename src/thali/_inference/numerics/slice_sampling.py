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
    return shrink_slice(rng, line, current, level, low, high)


@scalar
def draw_within_steps(
    rng: np.random.Generator, line: Any, current: Any, width: Any, max_steps: Any
) -> Any:
    """Draw a new value by slice sampling with fewer than `max_steps` steps out."""
    level = evaluate_density(line, current) - rng.standard_exponential()
    low = current - width * rng.random()
    high = low + width
    # both ends share the steps at random, which keeps the step reversible
    left_steps = int(max_steps * rng.random())
    right_steps = max_steps - 1 - left_steps
    while left_steps > 0 and evaluate_density(line, low) > level:
        low -= width
        left_steps -= 1
    while right_steps > 0 and evaluate_density(line, high) > level:
        high += width
        right_steps -= 1
    return shrink_slice(rng, line, current, level, low, high)


@scalar
def shrink_slice(
    rng: np.random.Generator, line: Any, current: Any, level: Any, low: Any, high: Any
) -> Any:
    """Draw a value between `low` and `high` whose log density is at least `level`."""
    while True:
        proposal = low + (high - low) * rng.random()
        if evaluate_density(line, proposal) >= level or proposal == current:
            return proposal
        if proposal < current:
            low = proposal
        else:
            high = proposal
