"""Effective draws of worths a CPU second, for leaderboards of battles between models.

    python benchmarks/leaderboard_effective_draws.py [--small] [--options 200] [--battles 69000] [--thin N ...]

Battles are simulated: worths with a standard deviation of 1 on the log scale, opponents drawn by a
skewed popularity. `--thin` compares fixed numbers of sweeps for each draw with the one that is
chosen while tuning.
"""

import argparse
import time
import warnings

import numpy as np

import thali as th
from thali._posterior.summary_table import compute_diagnostics


def simulated(options: int, battles: int, seed: int = 1) -> th.PairedComparisons:
    """Battles between options of different popularity."""
    rng = np.random.default_rng(seed)
    worth, popularity = np.exp(rng.normal(size=options)), rng.pareto(1.5, options) + 0.2
    counts = np.zeros((options, options))
    a, b = rng.choice(options, (2, 3 * battles), p=popularity / popularity.sum())
    a, b = (each[a != b][:battles] for each in (a, b))
    wins = rng.random(len(a)) < worth[a] / (worth[a] + worth[b])
    np.add.at(counts, (np.where(wins, a, b), np.where(wins, b, a)), 1)
    return th.PairedComparisons(counts)


def measured(data: th.PairedComparisons, thin: int | None) -> tuple[float, float, int, float]:
    """CPU seconds of a fit, its worst effective draws of a log worth, the thinning, the worst
    R-hat."""
    begin = time.process_time()
    model = th.EliminationByAspects("unique").fit(
        data, draws=1000, thin=thin, random_seed=1, progressbar=False
    )
    seconds = time.process_time() - begin
    weights = np.log(model.posterior_["posterior"]["unique_weights"].values)
    worths = np.moveaxis(weights - weights.mean(axis=2, keepdims=True), 2, 0)
    ess, r_hat = compute_diagnostics(worths)
    return seconds, float(ess.min()), model.posterior_.attrs["thin"], float(r_hat.max())


def main(
    small: bool = False, options: int = 200, battles: int = 69_000, thin: tuple[int, ...] = ()
) -> None:
    """Print a line for the thinning that is chosen and for each that was asked for."""
    data = simulated(20, 2_000) if small else simulated(options, battles)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        th.EliminationByAspects("unique").fit(
            data, draws=1, tune=1, random_seed=1, progressbar=False
        )  # compiles
        print(f"{data!r}")
        for each in (None, *thin):
            seconds, ess, used, r_hat = measured(data, each)
            how = "chosen" if each is None else "fixed"
            figures = (
                f"{seconds:.1f} CPU s, worst ESS {ess:,.0f}, {ess / seconds:,.0f} a CPU s,"
                f" R-hat {r_hat:.3f}"
            )
            print(f"thin {used:2d} ({how}): {figures}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--options", type=int, default=200)
    parser.add_argument("--battles", type=int, default=69_000)
    parser.add_argument("--thin", type=int, nargs="*", default=())
    asked = parser.parse_args()
    main(asked.small, asked.options, asked.battles, tuple(asked.thin))
