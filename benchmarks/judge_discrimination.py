"""Judges of unequal discrimination: what a leaderboard recovers of them, and how near Laplace's
approximation is.

    python benchmarks/judge_discrimination.py [--small] [--seeds 10] [--chains 3]

20 options with worths of the prior, 10 judges whose log d goes from -1 to 1 in equal steps, 300
comparisons each. Printed for each seed: the rank correlation of d with the truth; the root mean
square of centred log worths less the truth, with judges and without. Then the same where all d are
1: the log score of as many further comparisons with judges less that without, with its standard
error over comparisons, and P(tau < .3). For the first seeds the differences between "laplace" and
"mcmc": the largest of log d, and of the probabilities of all pairs for a judge of d = 1.
"""

import argparse
import time

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import spearmanr

from thali._data.pairs import PairedComparisons
from thali._paired.leaderboard_posterior import BoardSettings, build_worth_problem
from thali._worths.hamiltonian_chains import run_chains
from thali._worths.laplace_approximation import Marginal


def simulated(
    rng: np.random.Generator, worth: np.ndarray, log_d: np.ndarray, each: int
) -> pd.DataFrame:
    """So many comparisons of each judge."""
    n, judge = len(worth), np.repeat(np.arange(len(log_d)), each)
    first = rng.integers(0, n, len(judge))
    second = (first + rng.integers(1, n, len(judge))) % n
    won = rng.random(len(judge)) < expit(np.exp(log_d[judge]) * (worth[first] - worth[second]))
    return pd.DataFrame(
        {"first": first, "second": second, "chosen": np.where(won, first, second), "judge": judge}
    )


def centred(density, points: np.ndarray) -> np.ndarray:
    """Mean log worths."""
    worths = points[density.worths].mean(axis=1)
    return worths - worths.mean()


def scores(density, points: np.ndarray, tests: pd.DataFrame, labels: list[int]) -> np.ndarray:
    """The log score of each comparison of a table."""
    worths = points[density.worths][np.argsort(labels)]
    won, lost = (
        tests["chosen"].to_numpy(),
        (tests["first"] + tests["second"] - tests["chosen"]).to_numpy(),
    )
    d = np.exp(points[density.judges])[tests["judge"]] if density.n_judges else 1.0
    return np.log(expit(d * (worths[won] - worths[lost])).mean(axis=1))


def main(small: bool = False, seeds: int = 10, chains: int = 3) -> None:
    seeds, chains, n, each = (1, 0, 6, 40) if small else (seeds, chains, 20, 300)
    began, steps = time.process_time(), np.linspace(-1.0, 1.0, 10)
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        worth = np.log(rng.standard_exponential(n))
        for log_d in (steps, 0.0 * steps):
            data = PairedComparisons.from_trials(
                simulated(rng, worth, log_d, each), respondent="judge", labels=range(n)
            )
            judged, plain = (
                build_worth_problem(data, BoardSettings(judges=with_judges)).density
                for with_judges in (True, False)
            )
            order = [int(name) for name in data.respondents]
            points, (_, log_sds, *_) = (marginal := Marginal(judged)).draw_points(
                np.random.default_rng(1), 4000
            )
            without, _ = Marginal(plain).draw_points(np.random.default_rng(1), 4000)
            labels = list(range(n))
            if log_d.any():
                truth = worth - worth.mean()
                rms = [
                    np.sqrt(np.mean((centred(d, p) - truth) ** 2))
                    for d, p in ((judged, points), (plain, without))
                ]
                rank = spearmanr(points[judged.judges].mean(axis=1), log_d[order]).statistic
                print(
                    f"seed {seed}: rank correlation {rank:.3f}, rms {rms[0]:.3f} with judges,"
                    f" {rms[1]:.3f} without"
                )
                if seed < chains:
                    drawn = run_chains(marginal, 1).points
                    apart = np.abs(
                        drawn[judged.judges].mean(axis=1) - points[judged.judges].mean(axis=1)
                    ).max()
                    i, k = np.triu_indices(n, 1)
                    p, q = (expit(each[i] - each[k]).mean(axis=1) for each in (drawn, points))
                    print(
                        f"  laplace less mcmc: log d {apart:.3f}, p {np.abs(p - q).max():.4f}"
                        f" ({drawn.shape[1]} draws)"
                    )
            else:
                tests = simulated(rng, worth, log_d, each)
                tests["judge"] = np.argsort(order)[tests["judge"]]
                more = scores(judged, points, tests, labels) - scores(plain, without, tests, labels)
                error = more.std() / np.sqrt(len(more))
                small_tau = np.mean(log_sds < np.log(0.3))
                print(
                    f"  all d = 1: log score {more.mean():+.5f} ({error:.5f}), P(tau < .3)"
                    f" {small_tau:.3f}"
                )
    print(f"{time.process_time() - began:.0f} CPU seconds")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--chains", type=int, default=3)
    asked = parser.parse_args()
    main(asked.small, asked.seeds, asked.chains)
