"""How often adjusted intervals of a leaderboard hold the population's ratings, where a few respondents
gave most answers.

    python benchmarks/adjusted_board_coverage.py [--small] [--boards 400] [--only TEXT]

Five options; respondents' worths are normal around common ones with a standard deviation of .7, and
answers are to random pairs. The truth is the fit to 40,000 respondents, each with all pairs.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import thali as th

MEANS, SD = np.array([-0.9, -0.2, 0.0, 0.3, 0.8]), 0.7
N_TRUTH = 40_000
CELLS: dict[str, Callable[[np.random.Generator], list[int]]] = {
    "18 respondents, two with 40 % each": lambda rng: [300] * 2 + [10] * 16,
    "20 respondents, three with 30 % each": lambda rng: [300] * 3 + [6] * 17,
    "15 respondents, one with 78 %": lambda rng: [round(0.78 / 0.22 * 8 * 14)] + [8] * 14,
    "8 respondents, lognormal(1.3)": lambda rng: skewed(rng, 8),
    "15 respondents, lognormal(1.3)": lambda rng: skewed(rng, 15),
    "40 respondents, lognormal(1.3)": lambda rng: skewed(rng, 40),
    "8 respondents, equal": lambda rng: [40] * 8,
    "40 respondents, equal": lambda rng: [20] * 40,
}


def skewed(rng: np.random.Generator, people: int) -> list[int]:
    """Numbers of answers whose logarithms have a standard deviation of 1.3."""
    return np.maximum(3, rng.lognormal(np.log(25.0), 1.3, people).round()).astype(int).tolist()


def logistic(x: np.ndarray) -> np.ndarray:
    """The probability of these log odds."""
    return 1.0 / (1.0 + np.exp(-x))


def answer(counts: list[int], rng: np.random.Generator) -> pd.DataFrame:
    """The answers of new respondents, one row each."""
    worths = MEANS + SD * rng.normal(size=(len(counts), len(MEANS)))
    judge = np.repeat(np.arange(len(counts)), counts)
    first = rng.integers(len(MEANS), size=len(judge))
    second = (first + rng.integers(1, len(MEANS), size=len(judge))) % len(MEANS)
    won = rng.random(len(judge)) < logistic(worths[judge, first] - worths[judge, second])
    names = np.array([f"o{k}" for k in range(len(MEANS))])
    winner = np.where(won, "model_a", "model_b")
    columns = {"model_a": names[first], "model_b": names[second], "winner": winner}
    return pd.DataFrame({"judge": judge, **columns})


def compute_truth() -> np.ndarray:
    """The ratings of the population, by Newton's method."""
    worths = MEANS + SD * np.random.default_rng(0).normal(size=(N_TRUTH, len(MEANS)))
    p = logistic(worths[:, :, None] - worths[:, None, :]).mean(axis=0)
    u = np.zeros(len(MEANS))
    for _ in range(60):
        q = logistic(u[:, None] - u)
        weight = q * (1.0 - q)
        np.fill_diagonal(weight, 0.0)
        laplacian = np.diag(weight.sum(axis=1)) - weight
        u = u + np.linalg.lstsq(laplacian, (p - q).sum(axis=1), rcond=None)[0]
    return 1000.0 + 400.0 / np.log(10.0) * (u - u.mean())


def main(boards: int = 400, only: str = "", small: bool = False) -> None:
    """Print the coverage of all cells."""
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    real, n_boards = compute_truth(), 2 if small else boards
    for name, count_answers in CELLS.items():
        if only not in name:
            continue
        rng, inside, widths = np.random.default_rng(123), [], []
        for board in range(n_boards):
            table = th.leaderboard(
                answer(count_answers(rng), rng),
                respondent="judge",
                people="adjusted",
                progressbar=False,
                random_seed=board,
            ).table.sort_index()
            inside.append(((table.rating_low < real) & (real < table.rating_high)).to_numpy())
            widths.append((table.rating_high - table.rating_low).median())
        by_option, error = np.mean(inside, axis=0), np.std(np.mean(inside, axis=1))
        print(
            f"{name}: {by_option.mean():.3f} ± {error / np.sqrt(n_boards):.3f}, worst option"
            f" {by_option.min():.3f}, width {np.median(widths):.0f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boards", type=int, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true")
    main(**vars(parser.parse_args()))
