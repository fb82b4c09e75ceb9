"""Choice experiments that tests share; camera and electricity lie in the folder of real data."""

import warnings
from functools import cache

import numpy as np
import pandas as pd

import thali as th
from helpers.real_data import real_data


def simulate_experiment(n_respondents=30, n_tasks=8, sd=1.0, seed=0):
    """A table of choices among three products, by a hierarchical logit."""
    return _simulate(n_respondents, n_tasks, sd, seed).copy()


@cache
def _simulate(n_respondents, n_tasks, sd, seed):
    rng = np.random.default_rng(seed)
    tastes = np.array([-1.0, 0.5, -0.5, 1.0]) + sd * rng.normal(size=(n_respondents, 4))
    rows = []
    for respondent in range(n_respondents):
        for task in range(n_tasks):
            price, brand, zoom = (rng.integers(n_levels, size=3) for n_levels in (3, 3, 2))
            x = np.column_stack([price, brand == 1, brand == 2, zoom])
            chosen = np.argmax(x @ tastes[respondent] + rng.gumbel(size=3))
            for j in range(3):
                rows.append(
                    {
                        "id": f"p{respondent}",
                        "task": task + 1,
                        "alt": j + 1,
                        "choice": int(j == chosen),
                        "price": 10.0 * price[j] + 5.0,
                        "brand": "ABC"[brand[j]],
                        "zoom": ["no", "yes"][zoom[j]],
                    }
                )
    return pd.DataFrame(rows)


@cache
def table(name):
    return pd.read_csv(real_data(f"dce_{name}/choices.csv"))


@cache
def camera():
    return th.ChoiceExperiment.from_frame(table("camera"), none={"brand": "none"})


# as `simulated` has them
SEGMENTS = np.array([[-2.0, 0.0, 0.0, 0.5], [-0.3, 2.0, -1.0, 0.5], [-0.3, -0.5, 0.5, 3.0]])


def of_segments(people=60, tasks=10, seed=0, none=False):
    """A table as of `simulated`, and the segment of everybody: cheap, brand B, or zoom."""
    rng = np.random.default_rng(seed)
    segment = np.sort(rng.choice(3, people, p=[0.5, 0.3, 0.2]))
    rows = []
    for person in range(people):
        for task in range(tasks):
            price, brand, zoom = (
                rng.integers(3, size=3),
                rng.integers(3, size=3),
                rng.integers(2, size=3),
            )
            x = np.column_stack([price, brand == 1, brand == 2, zoom])
            utility = np.append(x @ SEGMENTS[segment[person]], [-1.0] * none)
            chosen = np.argmax(utility + rng.gumbel(size=len(utility)))
            for j in range(len(utility)):
                product = {"price": 9.0, "brand": "none", "zoom": "no"}
                if j < 3:
                    product = {
                        "price": 10.0 * price[j] + 5.0,
                        "brand": "ABC"[brand[j]],
                        "zoom": ["no", "yes"][zoom[j]],
                    }
                rows.append(
                    {
                        "id": f"p{person}",
                        "task": task + 1,
                        "alt": j + 1,
                        "choice": int(j == chosen),
                        **product,
                    }
                )
    return pd.DataFrame(rows), segment


def with_tastes(data, tastes, **arguments):
    """A hierarchical logit of two chains that holds these tastes (draws, people, coefficients)."""
    half, quick = len(tastes) // 2, {"tune": 1, "chains": 2, "random_seed": 1, "progressbar": False}
    with warnings.catch_warnings(action="ignore"):
        model = th.HierarchicalLogit(**arguments).fit(data, draws=2, **quick)
    drawn = model.posterior_["posterior"].to_dataset().isel(draw=np.zeros(half, int))
    drawn = drawn.assign_coords(draw=np.arange(half))
    drawn["beta"] = drawn["beta"].dims, tastes.reshape(2, half, *tastes.shape[1:])
    model.posterior_["posterior"] = type(model.posterior_)(drawn)
    return model
