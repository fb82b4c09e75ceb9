"""Leaderboards with a learned spread: coverage of intervals, and log loss of held-out votes beside
fixed spreads.

    python benchmarks/leaderboard_spread.py [--sets 20] [--small]

Truths are drawn, then votes on random pairs, and a leaderboard is made. Coverage: the share of
differences of log worths that their 89 % intervals contain. Held out: 120 options, 900 votes on
pairs of the 40 next in the true order, and the expected log loss of a vote on such pairs, beside
that of the best of several fixed spreads.
"""

import argparse
import time

import numpy as np
from scipy.special import expit, xlogy

import thali as th
from thali._paired.elo_scale import WorthScale
from thali._paired.leaderboard_posterior import BoardSettings
from thali._paired.worth_estimates import WorthEstimates, estimate_worths

# Options, comparisons of each, standard deviation of log worths.
CELLS = [(120, 15, sd) for sd in (0.5, 1.3, 4.0, 7.0)] + [(120, 3, sd) for sd in (1.3, 4.0)]
CELLS += [(12, 15, sd) for sd in (0.5, 1.3, 4.0, 7.0)] + [(12, 3, 7.0), (3, 15, 1.3)]
FIXED = (0.5, 0.8, 1.3, 2.0, 3.0, 4.0, 6.0)
NEAR, VOTES = 40, 900


def votes(
    rng: np.random.Generator, worths: np.ndarray, first: np.ndarray, second: np.ndarray
) -> th.PairedComparisons:
    """Votes on pairs of options."""
    wins = rng.random(len(first)) < expit(worths[first] - worths[second])
    counts = np.zeros((len(worths), len(worths)))
    np.add.at(counts, (np.where(wins, first, second), np.where(wins, second, first)), 1.0)
    return th.PairedComparisons(counts)


def estimates(data: th.PairedComparisons, spread: float | None) -> WorthEstimates:
    """The worths of a leaderboard."""
    return estimate_worths(data, BoardSettings(random_seed=1, spread=spread), WorthScale(), False)


def covered(rng: np.random.Generator, n: int, each: int, sd: float) -> tuple[float, float]:
    """The share of differences that intervals contain, and the CPU seconds."""
    worths = rng.normal(0.0, sd, n)
    first = rng.integers(0, n, n * each // 2)
    second = (first + rng.integers(1, n, len(first))) % n
    data, begin = votes(rng, worths, first, second), time.process_time()
    draws = estimates(data, None).log_worths
    seconds = time.process_time() - begin
    i, j = np.triu_indices(n, 1)
    some = rng.permutation(len(i))[:2000]
    low, high = np.quantile(draws[:, i[some]] - draws[:, j[some]], [0.055, 0.945], axis=0)
    truth = worths[i[some]] - worths[j[some]]
    return float(((low <= truth) & (truth <= high)).mean()), seconds


def losses(rng: np.random.Generator, sd: float) -> dict[float | None, float]:
    """The expected log loss of a vote on neighbours, by spread; None: learned."""
    worths = np.sort(rng.normal(0.0, sd, 120))
    i, j = np.triu_indices(120, 1)
    i, j = i[j - i <= NEAR], j[j - i <= NEAR]
    some = rng.integers(0, len(i), VOTES)
    data = votes(rng, worths, i[some], j[some])
    truth, found = expit(worths[i] - worths[j]), {}
    for spread in (None, *FIXED):
        draws = estimates(data, spread).log_worths[::4]
        p = expit(draws[:, i] - draws[:, j]).mean(axis=0)
        found[spread] = float(-(xlogy(truth, p) + xlogy(1.0 - truth, 1.0 - p)).mean())
    return found


def main(small: bool = False, sets: int = 20) -> None:
    """Print a line for each cell, and for each spread of held-out votes."""
    sets = 1 if small else sets
    for n, each, sd in CELLS[-3:] if small else CELLS:
        found = [covered(np.random.default_rng(seed), n, each, sd) for seed in range(sets)]
        share, seconds = np.mean(found, axis=0)
        error = np.std([own for own, _ in found]) / np.sqrt(sets)
        print(
            f"{n} x {each}, sd {sd:g}: coverage {share:.2f} ({error:.2f}), {seconds:.1f} CPU s",
            flush=True,
        )
    for sd in () if small else (1.3, 4.0, 6.0):
        each_set = [losses(np.random.default_rng(seed), sd) for seed in range(max(1, sets // 4))]
        mean = {spread: np.mean([each[spread] for each in each_set]) for spread in each_set[0]}
        best = min(FIXED, key=mean.__getitem__)
        others = f"best ({best:g}) {mean[best]:.3f}, 1.3: {mean[1.3]:.3f}"
        print(f"held out, sd {sd:g}: learned {mean[None]:.3f}, {others}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    main(asked.small, asked.sets)
