"""The hierarchical logit of many respondents: CPU and wall time, memory, R-hat, and how near the
truth.

    python benchmarks/hierarchical_scale.py [--people 10000] [--tasks 10] [--small]

Simulated: tasks of three alternatives with seven attributes of two levels and a price, tastes that
are correlated among people. Four chains of 150 draws, 5 sweeps apart, after 400 sweeps.
"""

import argparse
import resource
import time
import warnings

import numpy as np
import pandas as pd

import thali as th

MEANS = np.array([1.0, -1.0, 0.5, -0.5, 2.0, 0.0, 1.5, -1.5])


def simulated(people: int, tasks: int, seed: int = 0) -> "th.ChoiceExperiment":
    """Choices by the model."""
    rng, p = np.random.default_rng(seed), len(MEANS)
    factor = np.tril(0.4 * rng.normal(size=(p, p))) + np.eye(p)
    taste = MEANS + rng.normal(size=(people, p)) @ factor.T
    x = (rng.random((people, tasks, 3, p)) < 0.4).astype(float)
    x[..., -1] = rng.integers(1, 6, size=(people, tasks, 3))
    scaled = x.copy()
    scaled[..., -1] = x[..., -1] / np.sqrt(2.0)
    utility = np.einsum("ntjk,nk->ntj", scaled, taste) + rng.gumbel(size=(people, tasks, 3))
    chosen = utility.argmax(axis=2)
    person, task, alternative = (part.ravel() for part in np.indices(chosen.shape + (3,)))
    frame = pd.DataFrame({"respondent": person, "task": task, "alternative": alternative})
    frame["chosen"] = (chosen[..., None] == np.arange(3)).astype(int).ravel()
    names = [*(f"a{k}" for k in range(1, p)), "price"]
    return th.ChoiceExperiment.from_frame(
        frame.join(pd.DataFrame(x.reshape(-1, p), columns=names)), attributes=names
    )


def main(people: int = 10_000, tasks: int = 10, small: bool = False) -> None:
    """Simulate, fit once to compile, and fit."""
    data = simulated(100 if small else people, tasks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", th.errors.ConvergenceWarning)
        th.HierarchicalLogit(linear="price").fit(
            simulated(4, 2), draws=1, tune=1, progressbar=False
        )
    cpu, wall = time.process_time(), time.perf_counter()
    model = th.HierarchicalLogit(linear="price").fit(
        data, draws=150, tune=80, thin=5, random_seed=1
    )
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    table, summary = model.population(), model.summary()
    means = table.loc[[name for name in table.index if name.startswith("mean[")]]
    sizes = model.posterior_["posterior"].sizes
    off = np.abs(means["mean"].to_numpy()[:-1] - MEANS[:-1]) / means["sd"].to_numpy()[:-1]
    print(f"{data}: {cpu:.0f} CPU s, {wall:.0f} s of wall time")
    print(
        f"  {sizes['chain']} chains of {sizes['draw']} draws, each of"
        f" {model.posterior_.attrs['thin']} sweeps"
    )
    print(
        f"  means: R-hat at most {means['r_hat'].max():.4f}, effective draws at least"
        f" {means['ess_bulk'].min():.0f}"
    )
    print(f"  all of the population: {table['r_hat'].max():.4f}, {table['ess_bulk'].min():.0f}")
    print(f"  summary: {summary['r_hat'].max():.4f}, {summary['ess_bulk'].min():.0f}")
    print(f"  means less the truth, in posterior standard deviations: at most {off.max():.1f}")
    print(f"  memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--small", action="store_true", help="100 people")
    asked = parser.parse_args()
    main(asked.people, asked.tasks, asked.small)
