"""The probability that a class from the prior separates products, in closed form."""

import math

import numpy as np

from thali.choice.product_classes.state import Problem


def probability_inside(problem: Problem, products: np.ndarray, polarity: int) -> float:
    """P(all of some products belong to a class | its polarity, should an attribute with an order be active)."""
    levels = problem.n_levels
    codes = np.where(problem.direction < 0, levels - 1 - products, products)
    codes[products < 0] = -1
    probabilities = np.zeros(len(levels))
    for i, column in enumerate(codes.T):
        found = np.unique(column)
        if found[0] < 0:
            continue
        if problem.direction[i] != 0:
            probabilities[i] = (found[0] if polarity == 0 else levels[i] - 1 - found[-1]) / (levels[i] - 1)
        elif len(found) == 1:
            probabilities[i] = 0.5
        elif len(found) == 2:
            probabilities[i] = (levels[i] - 2) / (3 * (levels[i] - 1))
        else:
            raise NotImplementedError("no closed form for more than two levels of a free attribute")
    elementary = np.array([1.0])  # coefficients of Π (1 + p_i x)
    for p in probabilities:
        elementary = np.convolve(elementary, [1.0, p])
    size = len(levels)
    return float(sum(elementary[c] / (size * math.comb(size, c)) for c in range(1, size + 1)))


def separation_probability(problem: Problem, first: np.ndarray, second: np.ndarray) -> float:
    """P(a class from the prior contains exactly one of two products)."""
    total = 0.0
    for polarity in (0, 1):
        one = probability_inside(problem, first[None, :], polarity)
        other = probability_inside(problem, second[None, :], polarity)
        total += 0.5 * (one + other - 2.0 * probability_inside(problem, np.array([first, second]), polarity))
    return total
