"""Choice experiments that tests share; those of the folder of real data are skipped where it is absent."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import thali as th

SHARED = Path(__file__).parents[2] / "shared" / "data"


@cache
def table(name):
    path = SHARED / f"dce_{name}" / "choices.csv"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return pd.read_csv(path)


@cache
def camera():
    return th.ChoiceExperiment.from_frame(table("camera"), none={"brand": "none"})


def simulated(people=30, tasks=8, sd=1.0, seed=0):
    """A table of choices among three products with a price, a brand and a yes/no, by a hierarchical logit."""
    rng = np.random.default_rng(seed)
    taste = np.array([-1.0, 0.5, -0.5, 1.0]) + sd * rng.normal(size=(people, 4))
    rows = []
    for person in range(people):
        for task in range(tasks):
            price, brand, zoom = rng.integers(3, size=3), rng.integers(3, size=3), rng.integers(2, size=3)
            x = np.column_stack([price, brand == 1, brand == 2, zoom])
            chosen = np.argmax(x @ taste[person] + rng.gumbel(size=3))
            for j in range(3):
                product = {"price": 10.0 * price[j] + 5.0, "brand": "ABC"[brand[j]], "zoom": ["no", "yes"][zoom[j]]}
                rows.append({"id": f"p{person}", "task": task + 1, "alt": j + 1, "choice": int(j == chosen), **product})
    return pd.DataFrame(rows)
