"""Every default ends: how long the default fit of every model is expected to take, how long it
takes, what it says.

    python benchmarks/default_fits.py [--small] [--only TEXT ...] [--most SECONDS] [--sizes 4]

Every model is fitted, as it is by default, to simulated data of four sizes, each fit in a process
of its own; what it runs is compiled before (`thali cache warm`). A line a fit: what the data are
expected to take, in CPU seconds (if the chains agree at once, and if they never do), the CPU
seconds taken, and the convergence check. Fits that are expected to take more than `--most` seconds
if the chains agree at once are not run, and said so.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import leaderboard_effective_draws
import numpy as np
import pandas as pd

import thali as th

# Simulated data of every kind, by their size ------------------------------------------------------


def similarities(n: int) -> tuple[Any, ...]:
    """Of n objects."""
    return (th.datasets.additive(n, 1, n_features=6).data,)


def triplets(n: int) -> tuple[Any, ...]:
    """Sixty for each of n objects."""
    return (th.datasets.triplets(n, 60 * n, 1, n_features=6).data,)


def comparisons(n: int) -> tuple[Any, ...]:
    """Of n options with shared aspects, ten for each pair."""
    return (th.datasets.block_choices(n // 4, 4, 1.0, 2.0, 10, 1).data,)


def battles(n: int) -> tuple[Any, ...]:
    """Two hundred for each of n options."""
    return (leaderboard_effective_draws.simulated(n, 200 * n),)


def rows(size: tuple[int, int, int]) -> tuple[Any, ...]:
    """So many rows of so many covariates, in so many classes."""
    n, columns, classes = size
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, columns))
    coef = rng.normal(size=(columns, classes)) * (rng.random((columns, 1)) < 4.0 / columns)
    return X, (X @ coef + rng.gumbel(size=(n, classes))).argmax(axis=1)


PRICES = (99, 129, 149, 179, 199, 229, 249, 279, 299)
ATTRIBUTES = {
    "brand": ("Aika", "Bora", "Cleo", "Dara"),
    "price": PRICES,
    "zoom": ("3x", "6x", "10x"),
    "screen": ("fixed", "swivel"),
    "wifi": ("no", "yes"),
}
BETTER = {"price": "decreasing"} | dict.fromkeys(("zoom", "screen", "wifi"), "increasing")
SEGMENTS = np.array(  # Bora, Cleo, Dara, 100 of the price, 6x, 10x, swivel, wifi, none
    [
        [0.1, 0.2, -0.2, -2.0, 0.3, 0.5, 0.1, 0.2, -0.5],
        [0.3, 0.5, 0.1, -0.8, 1.3, 2.3, 0.5, 1.0, -1.0],
        [0.2, 2.6, -0.3, -0.9, 0.3, 0.6, 0.2, 0.3, -0.3],
    ]
)


@cache
def cameras(people: int, tasks: int = 12) -> "th.ChoiceExperiment":
    """Choices among three cameras, at nine prices, and none of them, by people of three segments
    who differ."""
    rng = np.random.default_rng(1)
    taste = SEGMENTS[rng.choice(3, people, p=(0.45, 0.35, 0.2))]
    taste = taste + 0.5 * rng.normal(size=taste.shape)
    shape = people, tasks, 3
    codes = {name: rng.integers(len(levels), size=shape) for name, levels in ATTRIBUTES.items()}
    columns = [codes["brand"] == k for k in (1, 2, 3)] + [
        (np.asarray(PRICES)[codes["price"]] - 199) / 100
    ]
    columns += [codes["zoom"] == k for k in (1, 2)] + [
        codes["screen"],
        codes["wifi"],
        np.zeros(shape),
    ]
    product = np.stack(columns, axis=-1).astype(float)
    none = np.zeros((people, tasks, 1, product.shape[-1]))
    none[..., -1] = 1.0
    shown = np.concatenate([product, none], axis=2)
    utility = np.einsum("ntjk,nk->ntj", shown, taste) + rng.gumbel(size=shown.shape[:3])
    chosen = utility.argmax(axis=2)
    person, task, place = (part.ravel() for part in np.indices(chosen.shape + (4,)))
    frame = pd.DataFrame(
        {"respondent": person, "task": task, "alternative": np.array([*"123", "none"])[place]}
    )
    frame["chosen"] = (chosen[..., None] == np.arange(4)).astype(int).ravel()
    for name, levels in ATTRIBUTES.items():
        shown_levels = np.full(chosen.shape + (4,), None, object)
        shown_levels[..., :3] = np.asarray(levels, object)[codes[name]]
        frame[name] = shown_levels.ravel()
    levels = {name: list(ATTRIBUTES[name]) for name in ("zoom", "screen", "wifi")}
    return th.ChoiceExperiment.from_frame(
        frame, none="none", attributes=list(ATTRIBUTES), levels=levels
    )


def studies(people: int) -> tuple[Any, ...]:
    """Twelve tasks of so many people."""
    return (cameras(people),)


# What is fitted to them ---------------------------------------------------------------------------


class Problem(NamedTuple):
    """A model, and data of four sizes."""

    make: Callable[[], Any]
    data: Callable[[Any], tuple[Any, ...]]
    sizes: tuple[Any, ...]


PROBLEMS = {
    "elimination by aspects, options": Problem(
        th.EliminationByAspects, comparisons, (8, 16, 32, 60)
    ),
    "Bradley-Terry-Luce, options": Problem(
        lambda: th.EliminationByAspects("unique"), battles, (20, 60, 200, 500)
    ),
    "elimination without unique aspects, options": Problem(
        lambda: th.EliminationByAspects(unique=False), comparisons, (8, 12, 16, 24)
    ),
    "additive clustering, objects": Problem(th.AdditiveClustering, similarities, (8, 16, 30, 60)),
    "triplets, objects": Problem(th.AdditiveClustering, triplets, (12, 30, 60, 100)),
    "Plackett-Luce, rows and covariates": Problem(
        th.PlackettLuceRegression, rows, ((100, 4, 3), (150, 10, 3), (300, 30, 2), (2_000, 10, 3))
    ),
    "sparse logit, rows and covariates": Problem(
        th.SparseMultinomialLogit,
        rows,
        ((100, 5, 2), (500, 20, 3), (2_000, 50, 2), (20_000, 10, 3)),
    ),
    "sparse logit, polya-gamma": Problem(
        lambda: th.SparseMultinomialLogit(method="polya-gamma"),
        rows,
        ((100, 5, 2), (300, 20, 3), (60, 200, 2), (5_000, 10, 3)),
    ),
    "hierarchical logit, people": Problem(th.HierarchicalLogit, studies, (30, 100, 300, 1_000)),
    "latent-class logit, people": Problem(th.LatentClassLogit, studies, (30, 100, 300, 1_000)),
    "multinomial logit, people": Problem(th.MultinomialLogit, studies, (30, 100, 300, 1_000)),
    "product classes, people": Problem(
        lambda: th.ProductClasses(BETTER), studies, (10, 30, 100, 300)
    ),
    "product classes by smc, people": Problem(
        lambda: th.ProductClasses(BETTER, method="smc"), studies, (5, 10, 30)
    ),
}


# The default fits, each in a process of its own ---------------------------------------------------


def fit(model: Any, data: tuple[Any, ...]) -> Any:
    """The default fit, from one seed and without a word."""
    quiet = {"random_seed": 1, "progressbar": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # a classifier, which takes the seed when it is made
        if "random_state" in model.get_params():
            return model.set_params(random_state=1).fit(*data, progressbar=False)
        return model.fit(*data, **quiet)


def forecast_of(model: Any, data: tuple[Any, ...]) -> Any:
    """How long the fit is expected to take; it is not run."""
    found: list[Any] = []
    model._run_job = lambda job: found.append(job.forecast)
    fit(model, data)
    return found[0]


def run(name: str, place: int) -> dict[str, Any]:
    """Fit, and what came of it."""
    problem = PROBLEMS[name]
    data, model = problem.data(problem.sizes[place]), problem.make()
    begin = time.process_time()
    check = fit(model, data).convergence()
    seconds, memory = (
        time.process_time() - begin,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )
    return {"seconds": seconds, "memory": memory, "agrees": check.agrees, "convergence": str(check)}


def apart(name: str, place: int) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", name, str(place)]
    return json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[
            -1
        ]
    )


def main(
    small: bool = False, only: tuple[str, ...] = (), most: float = 120.0, sizes: int = 4
) -> None:
    """Print a line a fit."""
    if small:
        only, sizes = ("multinomial",), 1
    print(
        f"{'model':<46} {'size':>14} {'forecast, least':>15} {'most':>6} {'CPU s':>7} {'GB':>5} "
        " convergence"
    )
    for name in (
        PROBLEMS if not only else [name for each in only for name in PROBLEMS if each in name]
    ):
        problem = PROBLEMS[name]
        for place, size in enumerate(problem.sizes[:sizes]):
            forecast = forecast_of(problem.make(), problem.data(size))
            # an approximation has none
            least, longest = (math.nan, math.nan) if forecast is None else forecast[:2]
            words = f"{name:<46} {size!s:>14} {least:15.1f} {longest:6.0f}"
            if least > most:
                print(f"{words}  not run", flush=True)
                continue
            found = apart(name, place)
            first = found["convergence"].split(". ")[0]
            print(f"{words} {found['seconds']:7.1f} {found['memory']:5.2f}  {first}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(run(sys.argv[2], int(sys.argv[3]))))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", nargs="*", default=(), metavar="TEXT")
    parser.add_argument("--most", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--sizes", type=int, default=4)
    asked = parser.parse_args()
    main(asked.small, tuple(asked.only), asked.most, asked.sizes)
