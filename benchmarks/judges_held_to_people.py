"""Judges held to people: how often intervals of people's worths cover, and what judges' votes add.

    python benchmarks/judges_held_to_people.py [--small] [--boards 200]

10 options with log worths N(0, 1). People give 30, 100 or 300 votes; three judges of discrimination
0.3, 0.65 and 1 give 5,000, and see log worths that deviate from people's by N(0, sd²), sd 0, 0.3 or
0.8. Printed for each cell: the coverage of 89 % intervals of people's centred log worths; the
expected log loss of new votes of people less that of a board of their votes alone, with its
standard error; the expected log loss less that of the truth.
"""

import argparse
import time

import numpy as np
import pandas as pd
from scipy.special import expit

from thali._data.pairs import PairedComparisons
from thali._paired.leaderboard_posterior import BoardSettings, build_worth_problem
from thali._worths.laplace_approximation import Marginal
from thali._worths.posterior_sample import sample_posterior

N_OPTIONS = 10
DISCRIMINATIONS = (0.3, 0.65, 1.0)
VOTES_OF_JUDGES = 5000
FIRST, SECOND = np.triu_indices(N_OPTIONS, 1)


def simulate_votes(
    rng: np.random.Generator, worths: np.ndarray, n_votes: int, judge: str
) -> pd.DataFrame:
    """So many votes of a judge on random pairs."""
    first = rng.integers(0, N_OPTIONS, n_votes)
    second = (first + rng.integers(1, N_OPTIONS, n_votes)) % N_OPTIONS
    wins = rng.random(n_votes) < expit(worths[first] - worths[second])
    return pd.DataFrame(
        {"first": first, "second": second, "chosen": np.where(wins, first, second), "judge": judge}
    )


def draw_worths(rng: np.random.Generator, votes: pd.DataFrame, target: str | None) -> np.ndarray:
    """Draws of centred log worths, an option a row."""
    data = PairedComparisons.from_trials(votes, respondent="judge", labels=range(N_OPTIONS))
    request = BoardSettings(judges=target is not None, target=target)
    density = build_worth_problem(data, request).density
    points, _ = sample_posterior(Marginal(density), rng, 1000)
    worths = points[density.worths]
    if target is not None:
        worths = points[density.common]
    return worths - worths.mean(axis=0)


def compute_log_loss(worths: np.ndarray, truth: np.ndarray) -> float:
    """Expected log loss of new votes on all pairs."""
    p = expit(worths[FIRST] - worths[SECOND]).mean(axis=1)
    true_p = expit(truth[FIRST] - truth[SECOND])
    return -float(np.mean(true_p * np.log(p) + (1.0 - true_p) * np.log(1.0 - p)))


def run_board(rng: np.random.Generator, n_people: int, deviation_sd: float) -> list[float]:
    """Coverage and two differences of log loss for one simulated board."""
    truth = rng.normal(size=N_OPTIONS)
    truth -= truth.mean()
    people = simulate_votes(rng, truth, n_people, "human")
    judges = [
        simulate_votes(
            rng,
            discrimination * (truth + deviation_sd * rng.normal(size=N_OPTIONS)),
            VOTES_OF_JUDGES // len(DISCRIMINATIONS),
            f"judge {discrimination}",
        )
        for discrimination in DISCRIMINATIONS
    ]
    worths = draw_worths(rng, pd.concat([*judges, people]), "human")
    low, high = np.quantile(worths, [0.055, 0.945], axis=1)
    covered = float(np.mean((low <= truth) & (truth <= high)))
    loss = compute_log_loss(worths, truth)
    alone = compute_log_loss(draw_worths(rng, people, None), truth)
    return [covered, loss - alone, loss - compute_log_loss(truth[:, None], truth)]


def main(small: bool = False, boards: int = 200) -> None:
    began = time.process_time()
    cells = [(people, sd) for people in (30, 100, 300) for sd in (0.0, 0.3, 0.8)]
    if small:
        cells, boards = cells[:1], 2
    for n_people, sd in cells:
        results = np.array(
            [run_board(np.random.default_rng([i, n_people]), n_people, sd) for i in range(boards)]
        )
        covered, gain, excess = results.mean(axis=0)
        errors = results.std(axis=0) / np.sqrt(boards)
        print(
            f"{n_people} votes of people, sd {sd}: coverage {covered:.3f} ({errors[0]:.3f}),"
            f" log loss less that of their votes alone {gain:+.4f} ({errors[1]:.4f}),"
            f" less that of the truth {excess:.4f}",
            flush=True,
        )
    print(f"{time.process_time() - began:.0f} CPU seconds")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--boards", type=int, default=200)
    asked = parser.parse_args()
    main(asked.small, asked.boards)
