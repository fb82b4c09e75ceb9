"""Trees that local moves find by evidence: on blocks of options whose tree is known, and on the celebrities.

    python benchmarks/tree_search.py [--blocks 3] [--small]

1. Blocks (Miller, Griffiths & Jordan 2008): three groups of three options, edges of .1 above the options, 100
   comparisons a pair, seeds 0, 1, 2, ...: log evidence of the best tree and of the true one, which of the three groups
   are clades of the best tree, and the probability of each among all trees that were drawn from.
2. Celebrities (Rumelhart & Greeno 1971), from the dendrogram of a fit and from the tree of professions: log evidence of
   start and end, clades with their probabilities; and whether the differences by which the search went agree with
   evidence found anew for the start.

`--small` runs a part of each. Measured (numba 0.68, a busy machine; five minutes of CPU):

    1. seed   best tree        true tree        trees   blocks that are clades   CPU s
       0      -118.51 (.03)    -120.06 (.04)    9       1 of 3                   23
       1      -108.96 (.03)    -108.39 (.03)    1       0 of 3                   23   (ends at its start)
       2      -116.71 (.03)    -116.94 (.03)    9       2 of 3                   27
    2. from               start            best             trees   looked at   CPU s   start found anew
       the dendrogram     -152.52 (.09)    -149.39 (.03)    12      882         44      -152.63 (.04)
       professions, .1    -150.38 (.11)    -149.17 (.04)    14      670         44      -150.60 (.04)
"""

import argparse
import math
import time
import warnings

import thali as th
from thali.inference.warn import without_warnings

GROUPS = {"politicians": ["LBJ", "HW", "CDG"], "athletes": ["JU", "CY", "AJF"], "film": ["BB", "ET", "SL"]}
SMALL = {"trees": 2, "draws": 10, "tune": 10}


def searched(data: object, seed: int, start: th.Tree | None, **run: int):
    """The search, and its CPU seconds."""
    begin = time.process_time()
    found = th.Tree.search(data, start=start, random_seed=seed, cores=1, progressbar=False, **run)
    return found, time.process_time() - begin


def line(found: object, seconds: float) -> str:
    return (
        f"{found.log_evidence.value:9.2f} ({found.log_evidence.standard_error:.2f}) {len(found.trees):3} trees of "
        f"{found.looked_at:4} looked at, {'ended' if found.ended else 'not ended'}, "
        f"{'usable' if found.usable else 'not usable'}, {seconds:4.0f} CPU s"
    )


def probability_of(found: object, clade: list[str]) -> float:
    rows = found.clades[found.clades["members"].map(set) == set(clade)]
    return float(rows["probability"].sum())


def blocks(seeds: int, run: dict[str, int]) -> None:
    print("1. blocks of three options", flush=True)
    for seed in range(seeds):
        made = th.datasets.block_choices(comparisons=100, random_seed=seed)
        found, seconds = searched(made.data, seed, None, **run)
        true, _ = searched(made.data, seed, made.tree, **run | {"trees": 1})
        print(f"   seed {seed}: {line(found, seconds)}")
        print(
            f"      true tree {true.log_evidence.value:9.2f} ({true.log_evidence.standard_error:.2f}); start less best "
            f"{-found.table.loc[0, 'log_bayes_factor']:.2f}; groups"
        )
        for group in made.tree.clades():
            inside = "in" if group in found.tree.clades() else "not in"
            print(f"      {', '.join(sorted(group))}: {inside} the best tree, {probability_of(found, list(group)):.2f}")
        print(f"      {found.tree.to_newick()}", flush=True)


def celebrities(run: dict[str, int]) -> None:
    data = th.datasets.celebrities()
    print("2. celebrities")
    for name, start in (("dendrogram", None), ("professions, .1", th.Tree.from_groups(GROUPS, leaf_length=0.1))):
        found, seconds = searched(data, 1, start, **run)
        first, _ = searched(data, 2, found.trees[0], **run | {"trees": 1})
        by_path, anew = found.table.loc[0], first.log_evidence
        apart = by_path["log_evidence"] - anew.value
        print(f"   from {name}: {line(found, seconds)}")
        print(
            f"      start {by_path['log_evidence']:.2f} ({by_path['standard_error']:.2f}); found anew {anew.value:.2f} "
            f"({anew.standard_error:.2f}), {apart / math.hypot(by_path['standard_error'], anew.standard_error):+.1f} "
            "standard errors apart"
        )
        print(
            "     ", "; ".join(f"{', '.join(row.members)} {row.probability:.2f}" for row in found.clades.itertuples())
        )
        print(f"      {found.tree.to_newick()}", flush=True)


def main(blocks_of: int = 3, small: bool = False) -> None:
    """Everything, a line as soon as it is known."""
    run = SMALL if small else {}
    warnings.simplefilter("ignore", th.errors.ThaliWarning)
    with without_warnings():
        celebrities(run)
        blocks(1 if small else blocks_of, run)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Trees that local moves find by evidence.")
    parser.add_argument("--blocks", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    arguments = parser.parse_args()
    main(arguments.blocks, arguments.small)
