"""Additive clustering of many objects: how fast tempered chains come to agree, and where their replicas get stuck.

    python benchmarks/mixing.py [countries,phonemes,morse,faces] [--minutes 10] [--seed 1]

Four chains run with the defaults (sigma chosen by cross-validation unless it was measured; faces: .089). At every
doubling of the rounds: CPU seconds, the largest R-hat of the log-likelihood, of the similarity of any pair, and of the
number of features that a pair shares, and the log-likelihood of each chain. At the end: the temperatures of the first
chain with the rates of their swaps, and how many of its replicas have gone from the hottest to temperature 1.
"""

import argparse
import time
from typing import Any

import numpy as np
from learned_sigma import similarities
from many_objects import MEASURED, TABLES, r_hats

import thali as th
from thali.inference.quiet import without_warnings
from thali.model.latent_features.answers.tree import to_datatree
from thali.model.latent_features.samplers.chains import Chain, chains_of
from thali.model.latent_features.samplers.tempering import swap_rates

DRAWS, TUNE, THIN = 6400, 200, 25  # of a chain; a run ends earlier when its time is over
FIRST = 100  # draws at which it is looked at first


class Trips:
    """Which replicas of a chain came from the hottest level, and how often one has reached temperature 1 since."""

    def __init__(self, chain: Chain) -> None:
        self.chain, self.done = chain, 0
        self.from_hot = np.zeros(chain.ladder.beta.size, bool)

    def look(self) -> None:
        cold, hot = self.chain.ladder.at[0], self.chain.ladder.at[-1]
        self.done += int(self.from_hot[cold])
        self.from_hot[cold], self.from_hot[hot] = False, True


def run(name: str, minutes: float, seed: int) -> None:
    """One table."""
    data = similarities(name)
    model: Any = th.AdditiveClustering(sigma=MEASURED.get(name))
    with without_warnings():
        parts = model._parts(data)
        task = model._task(data, DRAWS, TUNE, THIN)
    chains = chains_of(task, 4, seed)
    chains[0].run_to(1)  # compiles
    begin = time.process_time()
    for chain in chains:
        chain.run_to(TUNE * THIN)
    tuned = time.process_time() - begin
    print(f"{name}: sigma {parts['likelihood'].sigma:.3f}, {chains[0].ladder.beta.size} levels, tuned in {tuned:.0f} s")
    trips, draws = Trips(chains[0]), FIRST
    while draws <= DRAWS and time.process_time() - begin < 60.0 * minutes:
        for chain in chains:
            while chain.recorded < draws:
                chain.run_to(chain.sweeps + THIN)
                if chain is chains[0]:
                    trips.look()
        model.posterior_ = to_datatree(
            [chain.draws_before(draws) for chain in chains],
            data,
            parts["likelihood"],
            learned_alpha=True,
            attrs={"thin": THIN, "tuning_steps": TUNE},
            task=task,
        )
        used = time.process_time() - begin
        found = "  ".join(f"{each:.3f}" for each in r_hats(model))
        levels = model.posterior_["posterior"]["log_likelihood"].values.mean(axis=1)
        print(f"  {used:5.0f} CPU s   R-hat {found}   log-likelihood", *(f"{each:.1f}" for each in levels), flush=True)
        draws *= 2
    rates = swap_rates(chains[0].ladder)
    print("  temperatures", *(f"{1.0 / each:.2f}" for each in chains[0].ladder.beta))
    print("  swaps", *(f"{each:.2f}" for each in rates), f"  replicas from hot to cold: {trips.done}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How fast chains of additive clustering come to agree.")
    parser.add_argument("tables", nargs="?", default=",".join(TABLES))
    parser.add_argument("--minutes", type=float, default=10.0, help="CPU minutes a table")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for table in given.tables.split(","):
        run(table, given.minutes, given.seed)
