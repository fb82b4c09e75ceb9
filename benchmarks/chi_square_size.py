"""How often G² rejects a true model at .05 by the chi-square distribution, and by a parametric
bootstrap.

    python benchmarks/chi_square_size.py [--small]

Bradley-Terry-Luce with weights evenly spaced in logarithms. `excess` is by how many standard
deviations of chi-square the mean of G² lies above it, to the order 1/n, sum (1/p + 1/(1-p) - 1) /
(6 n) / sqrt(2 df): thali takes chi-square up to .1. Cochran's rule (four fifths of the expected
counts are 5 or more, all 1 or more) lets sizes of .08 pass with 12 options, more with more.
"""

import sys
import warnings
from dataclasses import replace

import numpy as np
from scipy.special import xlogy

from thali._aspects.maximum_likelihood.estimates import Estimates
from thali._aspects.maximum_likelihood.fit import estimate
from thali._aspects.maximum_likelihood.goodness_of_fit import chi_square_tail
from thali._aspects.maximum_likelihood.maximisation import estimate_maximum
from thali._aspects.maximum_likelihood.pair_likelihood import PairProblem, compute_exclusive_aspects
from thali._data.pairs import PairedComparisons


def against_saturated(options: int, n: int, spread: float, rounds: int, bootstraps: int) -> None:
    """One row: what is expected, and the sizes."""
    rng = np.random.default_rng(1)
    w = np.exp(spread * np.linspace(-1, 1, options))
    i, j = np.triu_indices(options, 1)
    p, counts = w[i] / (w[i] + w[j]), np.zeros((options, options))
    counts[i, j] = counts[j, i] = n
    found, df = estimate(PairedComparisons(counts.astype(int))), len(p) - options + 1
    statistics = []
    for _ in range(rounds):
        wins = rng.binomial(n, p).astype(float)
        pose = found.problem.with_counts(np.column_stack([wins, n - wins]).ravel())
        saturated = (xlogy(wins, wins / n) + xlogy(n - wins, 1 - wins / n)).sum()
        statistics.append(2 * (saturated - estimate_maximum(pose, np.log(w), np.zeros(0))))
    size = np.mean([chi_square_tail(value, df) < 0.05 for value in statistics])
    by_bootstrap = [
        bootstrap_rejects(found, rng.binomial(n, p), n, number) for number in range(bootstraps)
    ]
    expected = n * np.concatenate([p, 1 - p])
    cochran = (expected >= 5).mean() >= 0.8 and expected.min() >= 1
    excess = ((1 / p + 1 / (1 - p) - 1) / (6 * n)).sum() / np.sqrt(2 * df)
    print(
        f"{options:7} {n:4}"
        f" {spread:6.1f} "
        f" {expected.min():14.1f} "
        f" {'yes' if cochran else 'no':>7}"
        f"  {excess:6.3f} "
        f" {size:10.3f}" + (f"  {np.mean(by_bootstrap):9.3f}" if bootstraps else ""),
        flush=True,
    )


def bootstrap_rejects(like: Estimates, wins: np.ndarray, n: int, seed: int) -> bool:
    """Whether the bootstrap of 199 samples rejects the model for these choices."""
    data, size = like.data, like.data.n_options
    counts = np.zeros((size, size), int)
    counts[data.first, data.second], counts[data.second, data.first] = wins, n - wins
    return estimate(PairedComparisons(counts)).fit_test(199, seed).p_value <= 0.05


def nested(options: int, n: int, rounds: int) -> None:
    """One row: comparisons for each parameter, and the sizes of the two tests."""
    rng = np.random.default_rng(1)
    i, j = np.triu_indices(options, 1)
    first, second, pairs = np.r_[i, i], np.r_[j, j], len(i)
    order = np.r_[-np.ones(pairs), np.ones(pairs)][:, None]
    w = np.exp(np.linspace(-0.5, 0.5, options))
    own, other = compute_exclusive_aspects(np.eye(options, dtype=bool), first, second)
    equal, rejected = np.zeros(options), [0, 0]
    for _ in range(rounds):
        for test, p in enumerate((w[first] / (w[first] + w[second]), np.full(2 * pairs, 0.5))):
            wins = rng.binomial(n, p).astype(float)
            pose = PairProblem(wins, n - wins, own, other, np.zeros((2 * pairs, 0)), 0.0)
            top = estimate_maximum(pose, equal, np.zeros(0))
            if test == 0:
                gain, df = estimate_maximum(replace(pose, extra=order), equal, np.zeros(1)) - top, 1
            else:
                gain, df = top - 2 * pairs * n * np.log(0.5), options - 1
            rejected[test] += chi_square_tail(2 * gain, df) < 0.05
    sizes = "  ".join(f"{count / rounds:6.3f}" for count in rejected)
    print(f"{options:7} {n:4}  {2 * pairs * n / options:11.0f}  {sizes}", flush=True)


def main(small: bool = False) -> None:
    warnings.simplefilter("ignore")
    print("options    n spread  least expected  Cochran  excess  chi-square  bootstrap")
    for options, n, spread, rounds, bootstraps in (
        (6, 2, 0.5, 2000, 100),
        (6, 5, 0.5, 2000, 100),
        (6, 10, 0.5, 2000, 100),
        (6, 20, 0.5, 2000, 0),
        (6, 40, 0.5, 2000, 0),
        (6, 20, 1.5, 2000, 0),
        (6, 60, 1.5, 2000, 0),
        (12, 5, 0.5, 500, 0),
        (12, 10, 0.5, 500, 0),
        (12, 20, 0.5, 500, 0),
        (12, 60, 0.5, 500, 0),
        (20, 10, 0.5, 500, 0),
        (20, 50, 0.5, 500, 0),
    ):
        against_saturated(
            options, n, spread, 20 if small else rounds, 2 if small and bootstraps else bootstraps
        )
    print("options    n  comparisons a parameter: order, all equal")
    for options, n, rounds in ((6, 1, 500), (6, 2, 500), (6, 4, 500), (10, 1, 500), (20, 1, 500)):
        nested(options, n, 5 if small else rounds)


if __name__ == "__main__":
    main(small="--small" in sys.argv[1:])
