"""Random decisions: every discrete draw of a sampler except a plain comparison."""

import math
from typing import Any

from thali._compile.jit import scalar


@scalar
def accept(rng: Any, log_ratio: Any) -> Any:
    """True with probability min(1, exp(log_ratio)); NaN rejects."""
    return log_ratio > -rng.standard_exponential()


@scalar
def index(rng: Any, n: Any) -> Any:
    """Uniform on 0, ..., n - 1."""
    return int(rng.random() * n)


@scalar
def poisson(rng: Any, mean: Any) -> Any:
    """Poisson count, by counting unit-rate arrivals (a compiled `rng.poisson` would allocate)."""
    count = 0
    time = rng.standard_exponential()
    while time < mean:
        count += 1
        time += rng.standard_exponential()
    return count


@scalar
def shuffle(rng: Any, items: Any, n: Any) -> None:
    """Put the first n items into uniformly random order."""
    for last in range(n - 1, 0, -1):
        other = index(rng, last + 1)
        items[last], items[other] = items[other], items[last]


@scalar
def draw_code(rng: Any, b: Any, codes: Any, top: Any) -> Any:
    """One of 0, ..., codes - 1 with probability proportional to exp(b.block[code]), of which `top`
    is the greatest."""
    total = 0.0
    for code in range(codes):
        b.block[code] = math.exp(b.block[code] - top)
        total += b.block[code]
    left = rng.random() * total
    for code in range(codes):
        left -= b.block[code]
        if left < 0.0:
            return code
    return 0


@scalar
def bessel_count(rng: Any, x: Any, shift: Any) -> Any:
    """A count n >= 0 with P(n) proportional to x^n / (n! (n + shift)!), for shift 0 or 1.

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
    left = rng.random() * total
    n = peak
    term = 1.0
    while left >= term and term > 1e-17 * total:
        left -= term
        n += 1
        term *= x / (n * (n + shift))
    if left < term or peak == 0:
        return n
    n = peak
    term = 1.0
    while n > 0:
        term *= n * (n + shift) / x
        n -= 1
        left -= term
        if left < 0.0:
            break
    return n
