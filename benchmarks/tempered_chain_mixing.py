"""Additive clustering of many objects: how fast tempered chains come to agree, and where their
replicas get stuck.

    python benchmarks/tempered_chain_mixing.py [countries,phonemes,morse,faces] [--minutes 10] [--seed 1]
    python benchmarks/tempered_chain_mixing.py all --defaults [--minutes 5]

Four chains run with the defaults (sigma chosen by cross-validation unless it was measured; faces:
.089). At every doubling of the rounds: CPU seconds, the largest R-hat of the log-likelihood, of the
similarity of any pair, and of the number of features that a pair shares, and the log-likelihood of
each chain. At the end: the temperatures of the first chain with the rates of their swaps, and how
many of its replicas have gone from the hottest to temperature 1.
"""

import argparse
import time
from typing import Any

import numpy as np
from additive_many_objects import MEASURED, TABLES, r_hats
from similarity_sigma import similarities

import thali as th
from thali._aspects.draws.feature_columns import read_columns
from thali._aspects.draws.posterior_tree import build_datatree
from thali._aspects.samplers.chains import FeatureChain, build_chains
from thali._aspects.samplers.tempering import compute_swap_rates
from thali._inference.user_warnings import silence_warnings
from thali._model import chain_runs

DRAWS, TUNE, THIN = 6400, 200, 25  # of a chain; a run ends earlier when its time is over
FIRST = 100  # draws at which it is looked at first


class Trips:
    """Which replicas of a chain came from the hottest level, and how often one has reached
    temperature 1 since."""

    def __init__(self, chain: FeatureChain) -> None:
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
    with silence_warnings():
        parts = model._build_task_arguments(data)
        task = model.prepare(data, DRAWS, TUNE, THIN).task
    chains = build_chains(task, 4, seed)
    chains[0].run_until(1)  # compiles
    begin = time.process_time()
    for chain in chains:
        chain.run_until(TUNE * THIN)
    tuned = time.process_time() - begin
    print(
        f"{name}: sigma {parts['likelihood'].sigma:.3f}, {chains[0].ladder.beta.size} levels,"
        f" tuned in {tuned:.0f} s"
    )
    trips, draws = Trips(chains[0]), FIRST
    while draws <= DRAWS and time.process_time() - begin < 60.0 * minutes:
        for chain in chains:
            while chain.recorded < draws:
                chain.run_until(chain.sweeps + THIN)
                if chain is chains[0]:
                    trips.look()
        model.posterior_ = build_datatree(
            [chain.collect_draws(draws) for chain in chains],
            data,
            parts["likelihood"],
            is_alpha_learned=True,
            attrs={"thin": THIN, "tuning_steps": TUNE},
            task=task,
        )
        used = time.process_time() - begin
        found = "  ".join(f"{each:.3f}" for each in r_hats(model))
        levels = model.posterior_["posterior"].dataset["log_likelihood"].values.mean(axis=1)
        print(
            f"  {used:5.0f} CPU s   R-hat {found}   log-likelihood",
            *(f"{each:.1f}" for each in levels),
            flush=True,
        )
        draws *= 2
    rates = compute_swap_rates(chains[0].ladder)
    print("  temperatures", *(f"{1.0 / each:.2f}" for each in chains[0].ladder.beta))
    print(
        "  swaps", *(f"{each:.2f}" for each in rates), f"  replicas from hot to cold: {trips.done}"
    )


# Default fits with two seeds side by side ---------------------------------------------------------


ALL = ("druguse", *TABLES, "40 objects", "triplets")
# Jaccard index from which on features of two fits are one, and objects from which on it counts
ALIKE, MANY = 0.8, 30


def data_of(name: str) -> Any:
    """One of the tables, 40 objects judged by 25 people, or 20,000 triplets of 100 objects."""
    if name == "triplets":
        return th.datasets.triplets(
            100, 20_000, random_seed=1, n_features=10, share_of_owners=0.1
        ).data
    if name == "40 objects":
        made = th.datasets.additive(40, random_seed=1, n_features=6, sigma=0.16).data
        return th.Similarities(
            made.matrix, judgements=np.full((40, 40), 25) * (1 - np.eye(40, dtype=int))
        )
    return similarities(name)


def defaults(name: str, minutes: float) -> None:
    """Two fits with the defaults, whose size bounds them by so many CPU minutes."""
    chain_runs.BUDGET = 60.0 * minutes
    tables = []
    for seed in (1, 2):
        begin = time.process_time()
        with silence_warnings():
            model: Any = th.AdditiveClustering(sigma=MEASURED.get(name))
            model.fit(data_of(name), cores=1, random_seed=seed, progressbar=False)
        used = time.process_time() - begin
        posterior = model.posterior_["posterior"].dataset
        sweeps = (
            model.posterior_.attrs["tuning_steps"] + posterior.sizes["draw"]
        ) * model.posterior_.attrs["thin"]
        found = "  ".join(f"{each:.3f}" for each in r_hats(model))
        shared = read_columns(model._view)
        number = np.bincount(shared.draw[shared.sizes > 1], minlength=shared.n_draws).mean()
        print(
            f"{name}, seed {seed}: {used:.0f} CPU s, {sweeps:,} sweeps a chain, R-hat {found},"
            f" {number:.1f} features; {str(model.convergence()).partition(';')[0]}",
            flush=True,
        )
        alike = ALIKE if posterior.sizes["option"] >= MANY else 1.0
        tables.append(model.features(0.2, alike if alike < 1.0 else None))
    _side_by_side(tables[0], tables[1], alike)


def _side_by_side(one: Any, other: Any, least: float) -> None:
    """The probability of each feature that either fit finds with more than a half, in both."""
    left, pairs = [set(members) for members in other["members"]], []
    chances = list(other["probability"])
    for members, p in zip(one["members"], one["probability"], strict=True):
        alike = [len(set(members) & each) / len(set(members) | each) for each in left]
        at = int(np.argmax(alike)) if alike else -1
        matched = at >= 0 and alike[at] >= least
        pairs.append((p, chances[at] if matched else 0.0))
        if matched:
            del left[at], chances[at]
    pairs += [(0.0, p) for p in chances]
    pairs = sorted((pair for pair in pairs if max(pair) > 0.5), reverse=True)
    print("  features of seed 1 / seed 2:", *(f"{a:.2f}/{b:.2f}" for a, b in pairs), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="How fast chains of additive clustering come to agree."
    )
    parser.add_argument("tables", nargs="?", default=",".join(TABLES))
    parser.add_argument("--minutes", type=float, default=10.0, help="CPU minutes a table")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--defaults", action="store_true", help="fits with the defaults and two seeds"
    )
    given = parser.parse_args()
    for table in ALL if given.tables == "all" else given.tables.split(","):
        if given.defaults:
            defaults(table, given.minutes)
        else:
            run(table, given.minutes, given.seed)
