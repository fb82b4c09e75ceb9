"""Effective draws a CPU second by the number of sweeps between two draws, and with the number that
is chosen.

    python benchmarks/thinning.py [--small] [--only NAME ...] [--thin N ...] [--tune 300] [--draws
    1000] [--seed 1]

Fits with `draws` given, as somebody would run them. The smallest effective sample size of a row of
the summary counts (of more than 60 options: of a log worth). CPU seconds are those of the fit,
tuning and everything after the draws included; all is compiled before. The row with an asterisk is
that of `thin=None`; its ratio is the best effective draws a CPU second of any row, divided by its
own.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import leaderboard_effective_draws
import numpy as np

import thali as th
from thali._posterior.summary_table import compute_diagnostics

PROBLEMS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {  # a model and its data
    "BTL 20": (
        lambda: th.EliminationByAspects("unique"),
        lambda: leaderboard_effective_draws.simulated(20, 2_000),
    ),
    "BTL 200": (
        lambda: th.EliminationByAspects("unique"),
        lambda: leaderboard_effective_draws.simulated(200, 69_000),
    ),
    "celebrities": (th.EliminationByAspects, th.datasets.celebrities),
    "numbers": (th.AdditiveClustering, th.datasets.numbers),
    "triplets": (th.AdditiveClustering, lambda: th.datasets.triplets(12, 2_000, 1).data),
}
THIN = (1, 2, 3, 5, 10, 25, 50)
MANY = 60  # options, above which the summary has other rows


class Measured(NamedTuple):
    """One fit."""

    thin: int
    seconds: float  # CPU
    ess: float  # the smallest
    r_hat: float  # the largest

    @property
    def rate(self) -> float:
        """Effective draws a CPU second."""
        return self.ess / self.seconds


def measured(model: Any, data: Any, thin: int | None, draws: int, tune: int, seed: int) -> Measured:
    """A fit with so many sweeps between two draws, or with those that it chooses."""
    begin = time.process_time()
    model.fit(data, draws=draws, tune=tune, thin=thin, random_seed=seed, progressbar=False)
    seconds = time.process_time() - begin
    tree = model.posterior_
    drawn = tree["posterior"].dataset
    if "option" in drawn.sizes and drawn.sizes["option"] > MANY:
        weights = np.log(drawn["unique_weights"].values)
        ess, r_hat = compute_diagnostics(
            np.moveaxis(weights - weights.mean(axis=2, keepdims=True), 2, 0)
        )
    else:
        ess, r_hat = (model.summary()[name].to_numpy() for name in ("ess_bulk", "r_hat"))
    return Measured(tree.attrs["thin"], seconds, float(np.nanmin(ess)), float(np.nanmax(r_hat)))


def main(
    small: bool = False,
    only: tuple[str, ...] = (),
    thin: tuple[int, ...] = THIN,
    draws: int = 1000,
    tune: int = 300,
    seed: int = 1,
) -> None:
    """Print a table for each problem."""
    if small:
        only, thin, draws = ("BTL 20",), (1, 3), 50
    warnings.simplefilter("ignore")
    for name in only or PROBLEMS:
        make, made = PROBLEMS[name]
        data = made()
        make().fit(data, draws=4, tune=1, thin=1, random_seed=1, progressbar=False)  # compiles
        chosen = measured(make(), data, None, draws, tune, seed)
        rows = [measured(make(), data, each, draws, tune, seed) for each in thin]
        best = max(each.rate for each in (chosen, *rows))
        print(f"{name}: draws={draws}, tune={tune}; best {best:,.0f} a CPU s")
        print(f"  {'thin':>5} {'CPU s':>7} {'ESS':>7} {'a CPU s':>8} {'R-hat':>6}")
        for each in sorted((chosen, *rows), key=lambda row: (row.thin, row is not chosen)):
            mark = f"  * {best / each.rate:.2f}" if each is chosen else ""
            print(
                f"  {each.thin:5d} {each.seconds:7.2f} {each.ess:7,.0f} {each.rate:8,.0f}"
                f" {each.r_hat:6.3f}{mark}"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", nargs="*", default=(), choices=PROBLEMS)
    parser.add_argument("--thin", type=int, nargs="*", default=THIN)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--tune", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    main(
        asked.small,
        tuple(asked.only),
        tuple(asked.thin),
        asked.draws,
        asked.tune,
        asked.seed,
    )
