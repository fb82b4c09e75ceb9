"""What a sweep costs, against compared pairs (to a million), options (to ten thousand) and
features.

    python benchmarks/sweep_cost.py

CPU time of sweeps, without set-up. With known features their number is the same throughout, so that
these rows compare like with like. With the Indian buffet the sweeps are the first ones from a draw
of the prior, and fewer of them the larger the data; number and size of the features differ between
rows, so that its exponent is no more than a check that nothing grows faster than the pairs.
"""

import sys
import time

import numpy as np
from scipy import sparse

import thali as th
from thali._aspects.chain_state import COLUMNS
from thali._aspects.likelihoods.elimination import Elimination
from thali._aspects.priors import Given, IndianBuffet
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task

COMPARISONS = 4  # of each pair
SLICES = 5
FEATURES = 4


def random_data(options, pairs, rng):
    """`pairs` different pairs, each compared a few times, with either option chosen equally often
    on average."""
    codes = np.empty(0, np.int64)
    while codes.size < pairs:
        i, j = rng.integers(0, options, (2, 3 * pairs))
        codes = np.unique(np.append(codes, (i * options + j)[i < j]))
    i, j = np.divmod(rng.choice(codes, pairs, replace=False), options)
    wins = rng.binomial(COMPARISONS, 0.5, pairs)
    counts = sparse.coo_array(
        (np.append(wins, COMPARISONS - wins), (np.append(i, j), np.append(j, i))),
        (options, options),
    )
    return th.PairedComparisons(counts.tocsr())


def sweep(options, pairs, prior, alpha, seconds):
    """CPU seconds of a sweep, the least of several slices, and the mean number of shared features
    in them."""
    rng = np.random.default_rng(1)
    data = random_data(options, pairs, rng)
    settings = {"weight_prior": (1.0, 1.0), "draws": 1, "tune": 10**8, "thin": 1}
    chain = FeatureChain(
        build_task(prior(options, rng), Elimination(), data, alpha=alpha, **settings), rng
    )
    begin = time.process_time()
    chain.run_until(1)  # compiles
    done = 1
    begin, step = time.process_time(), 1
    # leaves the start behind, and finds how long a slice is
    while time.process_time() - begin < seconds:
        done += step
        chain.run_until(done)
        step *= 2
    each = max(1, done // 2)
    times, features = [], []
    for _ in range(SLICES):
        begin = time.process_time()
        chain.run_until(done := done + each)
        times.append((time.process_time() - begin) / each)
        features.append(int(chain.state.whole[COLUMNS]))
    return times, float(np.mean(features))


def given(options, rng):
    return Given(rng.random((options, FEATURES)) < 0.5)


def buffet(options, rng):
    return IndianBuffet()


def exponent(x, y):
    """The exponent of the best power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def against_pairs(sizes, prior, seconds):
    """Pairs at a degree that grows as their square root, so that a million pairs have ten thousand
    options.

    The buffet's alpha is such that four features are expected, but random choices make it find
    more, and not equally many: the time of a sweep is divided by their number.
    """
    cost = []
    for pairs in sizes:
        options = round(10 * pairs**0.5)
        expected = FEATURES / np.sum(1.0 / np.arange(1, options + 1))
        times, features = sweep(
            options, pairs, prior, None if prior is given else expected, seconds
        )
        cost.append((min(times) if prior is given else float(np.mean(times))) / pairs / features)
        print(
            f"  {pairs:9,d} pairs, {options:6,d} options, {features:5.1f} features:"
            f" {1e9 * cost[-1]:5.1f} ns a pair and feature, {cost[-1] / cost[0]:.2f} times the"
            " first",
            flush=True,
        )
    print(f"  exponent of the time of a sweep: {1.0 + exponent(sizes, cost):.2f}")


def against_options(sizes, pairs, seconds):
    cost = []
    for options in sizes:
        times, _ = sweep(options, pairs, given, None, seconds)
        cost.append(min(times))
        print(
            f"  {options:6,d} options, {pairs:,d} pairs, {FEATURES} features:"
            f" {1e6 * cost[-1]:9.0f} us a sweep, {cost[-1] / cost[0]:.2f} times the first",
            flush=True,
        )


def against_features(alphas, options, pairs, seconds):
    cost, numbers = [], []
    for alpha in alphas:
        times, features = sweep(options, pairs, buffet, alpha, seconds)
        cost.append(float(np.mean(times)))
        numbers.append(features)
        print(
            f"  alpha {alpha:4.1f}, {features:6.1f} shared features, {options} options, {pairs:,d}"
            f" pairs: {1e6 * cost[-1]:7.0f} us a sweep, {cost[-1] / cost[0]:.2f} times the first",
            flush=True,
        )


def main(small=False):
    sizes = (100, 400) if small else (1_000, 10_000, 100_000, 1_000_000)
    seconds = 0.02 if small else 0.3
    print("known features, against pairs")
    against_pairs(sizes, given, seconds)
    print("Indian buffet, against pairs")
    against_pairs(sizes, buffet, seconds)
    print("known features, against options at the same number of pairs")
    against_options(
        (50, 100) if small else (500, 2_000, 10_000), 1_000 if small else 100_000, seconds
    )
    print("Indian buffet, against features")
    against_features(
        (1.0, 2.0) if small else (1.0, 5.0, 20.0),
        30 if small else 100,
        100 if small else 400,
        3 * seconds,
    )


if __name__ == "__main__":
    main(small="--small" in sys.argv)
