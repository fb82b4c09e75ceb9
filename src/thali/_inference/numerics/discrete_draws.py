"""Discrete random draws in compiled samplers: accept, index, count, permutation."""

import math
from typing import Any

from thali._compile.jit import scalar


@scalar
def accept(rng: Any, log_ratio: Any) -> Any:
    """Return True with probability min(1, exp(log_ratio)), as in Metropolis; NaN: False."""
    return log_ratio > -rng.standard_exponential()


@scalar
def draw_index(rng: Any, n: Any) -> Any:
    """Draw an integer uniformly from 0 to n - 1."""
    return int(rng.random() * n)


@scalar
def draw_other_index(rng: Any, n: Any, i: Any) -> Any:
    """Draw an integer uniformly from 0 to n - 1, except i."""
    j = draw_index(rng, n - 1)
    if j >= i:
        j += 1
    return j


@scalar
def draw_poisson(rng: Any, mean: Any) -> Any:
    """Draw a Poisson count with this mean, without allocation."""
    count = 0
    time = rng.standard_exponential()
    while time < mean:
        count += 1
        time += rng.standard_exponential()
    return count


@scalar
def shuffle(rng: Any, items: Any, n: Any) -> None:
    """Permute the first n elements of an array in place, uniformly at random."""
    for i in range(n - 1, 0, -1):
        j = draw_index(rng, i + 1)
        items[i], items[j] = items[j], items[i]


@scalar
def draw_code(rng: Any, b: Any, codes: Any, top: Any) -> Any:
    """Draw a code from 0, ..., codes - 1, proportional to exp(b.block[code]).

    `top` is the maximum of `b.block`, against overflow.
    """
    total = 0.0
    for code in range(codes):
        b.block[code] = math.exp(b.block[code] - top)
        total += b.block[code]
    remainder = rng.random() * total
    for code in range(codes):
        remainder -= b.block[code]
        if remainder < 0.0:
            return code
    return 0


@scalar
def draw_bessel_count(rng: Any, x: Any, shift: Any) -> Any:
    """Draw n ≥ 0 with P(n) proportional to x^n / (n! (n + shift)!), shift 0 or 1.

    The terms are summed outwards from the largest, so that nothing overflows.
    """
    peak = int(0.5 * (math.sqrt(shift * shift + 4.0 * x) - shift))
    total = 1.0
    term = 1.0
    n = peak
    while term > 1e-17 * total:
        n += 1
        term *= x / (n * (n + shift))
        total += term
    term = 1.0
    n = peak
    while n > 0 and term > 1e-17 * total:
        term *= n * (n + shift) / x
        n -= 1
        total += term
    remainder = rng.random() * total
    n = peak
    term = 1.0
    while remainder >= term and term > 1e-17 * total:
        remainder -= term
        n += 1
        term *= x / (n * (n + shift))
    if remainder < term or peak == 0:
        return n
    n = peak
    term = 1.0
    while n > 0:
        term *= n * (n + shift) / x
        n -= 1
        remainder -= term
        if remainder < 0.0:
            break
    return n
