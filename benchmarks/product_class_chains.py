"""Chains or sweeps? How much held-out probabilities of product classes differ between seeds, by
length of the chains.

    python benchmarks/product_class_chains.py [choices.csv] [--draws 1] [--chains 16] [--sweeps 1000]

Draws of 100 people of camera (the file `choices.csv` of the data; 40 simulated people without),
their last 4 tasks held out. Chains run as `ProductClasses` runs them; s is the standard deviation
between single chains of a held-out probability, root mean square over alternatives, so that those
of two seeds with C chains each differ by s √(2 / C). For each length: s, that difference for 8 and
16 chains, the chains that it takes to bring it to .03 and .02, and their CPU seconds. Then R-hat of
a, σ and the number of classes, and how far a and σ move in a tenth of the run.
"""

import sys
import time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from arviz_stats.base.array import array_stats

import thali as th
from thali._choice.product_classes.fit_preparation import THIN
from thali._choice.product_classes.ragged_draws import concatenate_draws
from thali._choice.product_classes.reports.choice_probabilities import predict_tasks
from thali._choice.product_classes.samplers.mcmc import build_chains
from thali._choice.product_classes.state import build_class_problem
from thali._data.experiments.fitted_design import build_design
from thali._inference.markov_chains import Run

CAMERA = {"price": "decreasing"} | dict.fromkeys(
    ("pixels", "zoom", "video", "swivel", "wifi"), "increasing"
)
BLOCKS = 4  # of the final phase
# occasions of each draw, so that their noise is small beside the differences between chains
REPEATS = 8


class Chains(NamedTuple):
    """What single chains say."""

    p: np.ndarray  # (chains, BLOCKS, rows) held-out probabilities
    seconds: np.ndarray  # (chains, 2) CPU, of annealing and of the final phase
    shapes: np.ndarray  # (chains, draws, 3) a, σ, number of classes


def run(
    train: Any, test: Any, monotone: dict[str, str], chains: int, sweeps: int, tune: int, seed: int
) -> Chains:
    """Chains one after the other."""
    draws = sweeps // THIN
    how = Run(draws, tune, chains, THIN, 1, None, False)
    problem, design = build_class_problem(train, monotone), build_design(train)
    asked = design.scheme.encode(test, design.respondents)
    found, seconds, shapes = [], [], []
    for chain in build_chains(problem, 0.02, how, draws, np.random.SeedSequence(seed)):
        chain.run_until(0)  # compiled now
        begin = time.process_time()
        chain.run_until(chain.tune)
        middle = time.process_time()
        chain.run_until(chain.total)
        seconds.append((middle - begin, time.process_time() - middle))
        parts = [
            [d for s, d in chain.kept_draws if b < BLOCKS * s / draws <= b + 1]
            for b in range(BLOCKS)
        ]
        of_block = [
            concatenate_draws(part)._replace(group=np.zeros(len(part), np.int64)) for part in parts
        ]
        found.append(
            [predict_tasks(d, asked, repeats=REPEATS, cores=1, random_seed=1)[0] for d in of_block]
        )
        shapes.append([(d.a[0], d.sigma[0], len(d.n_owners)) for _, d in chain.kept_draws])
    return Chains(np.array(found), np.array(seconds), np.array(shapes))


def show(chains: Chains, sweeps: int) -> None:
    """The table of one set of chains."""
    annealing, final = chains.seconds.mean(axis=0)
    print(
        f"  {'sweeps':>7}{'s':>8}{'8':>8}{'16 chains':>11}{'chains for .03':>16}{'CPU s':>8}{'for .02':>9}{'CPU s':>8}"
    )
    for blocks in (1, 2, 4):
        p = chains.p[:, :blocks].mean(axis=1)
        variance = p.var(axis=0, ddof=1).mean()
        cost = annealing + final * blocks / BLOCKS
        words = f"  {sweeps * blocks // BLOCKS:7}{np.sqrt(variance):8.4f}"
        words += f"{np.sqrt(variance / 4):8.4f}{np.sqrt(variance / 8):11.4f}"
        for aim, width in ((0.03, 16), (0.02, 9)):
            needed = max(2.0, 2.0 * variance / aim**2)
            words += f"{needed:{width}.1f}{needed * cost:8.1f}"
        print(words)
    shapes = chains.shapes
    r_hat = np.array([array_stats.rhat(shapes[:, :, i]) for i in range(3)], float)
    lag = max(1, shapes.shape[1] // 10)
    moves = np.log(shapes[:, :, 0]), np.log(shapes[:, :, 1] / (1.0 - shapes[:, :, 1]))
    far = [np.sqrt(((x[:, lag:] - x[:, :-lag]) ** 2).mean()) for x in moves]
    print(
        f"  R-hat of a {r_hat[0]:.2f}, sigma {r_hat[1]:.2f}, number of classes {r_hat[2]:.2f}; ",
        end="",
    )
    print(f"root mean square move of ln a {far[0]:.3f}, logit sigma {far[1]:.3f}")


def main(
    path: str | None = None,
    draws: int = 1,
    chains: int = 16,
    sweeps: int = 1000,
    small: bool = False,
) -> None:
    if small:
        chains, sweeps = 2, 160
    for draw in range(draws):
        if path:
            data = th.ChoiceExperiment.from_frame(pd.read_csv(path), none={"brand": "none"})
            people = np.random.default_rng(100 + draw).choice(
                data.n_respondents, 100, replace=False
            )
            data, monotone = data.take(np.isin(data.respondent_of_task, people)), CAMERA
        else:
            made = th.datasets.product_choices(5 if small else 40, 14, noise=0.6, random_seed=draw)
            data, monotone = made.data, made.monotone
        train, test = data.split(tasks=4)
        print(
            f"draw {draw}: {data.n_respondents} people, {chains} chains of {sweeps} sweeps after"
            " annealing"
        )
        show(run(train, test, monotone, chains, sweeps, 4 if small else 250, 1), sweeps)


if __name__ == "__main__":
    words = dict(zip(sys.argv[1:], sys.argv[2:], strict=False))
    numbers = {
        name: int(words[f"--{name}"])
        for name in ("draws", "chains", "sweeps")
        if f"--{name}" in words
    }
    main(
        next((w for w in sys.argv[1:2] if not w.startswith("--")), None),
        **numbers,
        small="--small" in sys.argv,
    )
