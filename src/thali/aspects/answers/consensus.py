"""The consensus tree of a posterior, how much of the features is a tree at all, and families that are laminar."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._printed import Printed
from thali.posterior.interval import INTERVAL, TAILS
from thali.trees.newick import write
from thali.trees.nodes import Nodes
from thali.trees.tree import Tree

from ..draws.columns import Columns, columns_of
from .features import distinct_owners

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes

MAX_DRAWS = 1_000  # whose own best trees give the interval


@dataclass(frozen=True, repr=False, eq=False)
class ConsensusTree(Printed):
    """The tree of features that agree with each other, `tree`; `.table` has its inner nodes.

    `tree_likeness` is the share of these features in the expected weight of all shared ones, `low` and `high` are the
    interval of what the best tree of each draw has of it; `without_shared` is the share of draws in which options share
    nothing; `is_exact` whether no other tree can weigh more.
    """

    tree: Tree
    tree_likeness: float
    low: float
    high: float
    without_shared: float
    is_exact: bool

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the tree, the probability of each node at its edge; see `thali.plots.tree`."""
        return self.tree.plot(ax)


def consensus_of(tree: "xarray.DataTree") -> ConsensusTree:
    """The laminar family of shared features with the greatest expected weight, each draw's weights summing to 1."""
    from thali._tables import Table

    labels = [str(label) for label in tree["posterior"].dataset["option"].values]
    columns = columns_of(tree)
    patterns, pattern = distinct_owners(columns)
    share = _shares(columns)
    kept = (columns.sizes > 1) & (columns.sizes < columns.n_options)
    weight = np.bincount(pattern[kept], share[kept], len(patterns)) / columns.n_draws
    pairs = np.unique(np.stack([pattern[kept], columns.draw[kept]]), axis=1)
    probability = np.bincount(pairs[0], minlength=len(patterns)) / columns.n_draws
    some = np.flatnonzero(weight > 0.0)
    sets = [frozenset(patterns[k].tolist()) for k in some]
    chosen, is_exact = best_family(sets, weight[some].tolist())
    numbers = sorted((some[k] for k in chosen), key=lambda k: (len(patterns[k]), patterns[k].tolist()))
    found = _likeness_of_draws(columns, pattern, patterns, share, kept)
    there = found[~np.isnan(found)]
    low, high = np.quantile(there, TAILS) if len(there) else (math.nan, math.nan)
    likeness = float(weight[numbers].sum() / weight.sum()) if len(some) else math.nan
    table = Table(
        {
            "members": [tuple(labels[i] for i in patterns[k]) for k in numbers],
            "probability": probability[numbers],
            "weight": weight[numbers],
        }
    ).sort_values("weight", ascending=False, kind="stable", ignore_index=True)
    without = float(np.isnan(found).mean())
    return ConsensusTree(
        "Consensus tree",
        table,
        _sentence(likeness, float(low), float(high), without, is_exact),
        _as_tree(labels, [patterns[k] for k in numbers], probability[numbers], weight[numbers]),
        likeness,
        float(low),
        float(high),
        without,
        is_exact,
    )


def _shares(columns: Columns) -> np.ndarray:
    """The weight of each column as a share of its draw's total, without those that all options own."""
    own = np.where(columns.sizes < columns.n_options, columns.weights, 0.0)
    total = columns.summed(own) + columns.unique_weights.sum(axis=1)
    return np.divide(own, total[columns.draw], out=np.zeros(len(own)), where=total[columns.draw] > 0.0)


def _likeness_of_draws(columns: Columns, pattern: Any, patterns: Any, share: Any, kept: Any) -> np.ndarray:
    """Of evenly spaced draws the share of the best family of its own in the weight of its shared features."""
    draws = np.unique(np.linspace(0, columns.n_draws - 1, min(columns.n_draws, MAX_DRAWS)).astype(int))
    found = np.full(len(draws), np.nan)
    for row, draw in enumerate(draws.tolist()):
        mine = np.arange(int(columns.first_column[draw]), int(columns.first_column[draw + 1]))
        mine = mine[kept[mine]]
        numbers, at = np.unique(pattern[mine], return_inverse=True)
        weights = np.bincount(at, share[mine], len(numbers))
        if weights.sum() > 0.0:
            chosen, _ = best_family([frozenset(patterns[k].tolist()) for k in numbers], weights.tolist())
            found[row] = weights[chosen].sum() / weights.sum()
    return found


def _as_tree(labels: list[str], clades: list[np.ndarray], probability: Any, weight: Any) -> Tree:
    """The tree of these clades, the smaller ones first; its inner nodes are named for probability and weight."""
    nodes = Nodes([], [], [])
    top = [nodes.add(label, 1.0) for label in labels]  # the highest node above each option so far
    for members, p, w in zip(clades, probability, weight, strict=True):
        below = list(dict.fromkeys(top[i] for i in members))
        above = nodes.add(f"P {p:.2f}, weight {w:.2g}", 1.0, below)
        for i in members:
            top[i] = above
    nodes.add("", 0.0, list(dict.fromkeys(top)))
    return Tree.from_newick(write(nodes), rescale="extend")


def _sentence(likeness: float, low: float, high: float, without: float, is_exact: bool) -> str:
    """What the tree is worth."""
    if math.isnan(likeness):
        return "No options share a feature that others lack, in any draw: there is no tree."
    sentences = (
        f"The tree holds {100 * likeness:.0f} % of the expected weight of all shared features; the best tree of a draw "
        f"holds {100 * low:.0f} to {100 * high:.0f} % of that draw's ({100 * INTERVAL:g} % interval)."
    )
    if without > 0.0:
        sentences += (
            f" In {100 * without:.2g} % of the draws options share nothing, and these are left out of the interval."
        )
    if not is_exact:
        sentences += " There are too many features to try all trees; this one was found by steps."
    return sentences


# Laminar families: sets of which any two are disjoint, or one holds the other, as the clades of a tree do -------------


MAX_SETS = 40  # sets among which the best family is found exactly


def best_family(sets: Sequence[frozenset[int]], weights: Sequence[float]) -> tuple[list[int], bool]:
    """The positions of the laminar family with the greatest sum of weights, and whether none can be better."""
    # Branch and bound up to `MAX_SETS` sets, on the set that is at odds with most others: with it, or without. Beyond,
    # the best family of the heaviest `MAX_SETS`, and after it every set, the heavier the earlier, that agrees with all
    # chosen.
    order = sorted(range(len(sets)), key=lambda k: -weights[k])
    head = order[:MAX_SETS]
    at_odds = {k: frozenset(j for j in head if j != k and crosses(sets[k], sets[j])) for k in head}
    chosen = _search(frozenset(head), at_odds, weights, 0.0)[1] or frozenset()
    found = sorted(chosen)
    for k in order[MAX_SETS:]:
        if not any(crosses(sets[k], sets[j]) for j in found):
            found.append(k)
    return sorted(found), len(sets) <= MAX_SETS


def crosses(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether two sets overlap and neither holds the other."""
    return not (one.isdisjoint(other) or one <= other or other <= one)


def _search(
    left: frozenset[int], at_odds: dict[int, frozenset[int]], weights: Sequence[float], least: float
) -> tuple[float, frozenset[int] | None]:
    """The best family of those left, if it weighs more than `least`."""
    worst = max(left, key=lambda k: (len(at_odds[k] & left), weights[k]), default=None)
    if worst is None or not at_odds[worst] & left:
        total = sum(weights[k] for k in left)
        return (total, left) if total > least or not left else (least, None)
    if _bound(left, at_odds, weights) <= least:
        return least, None
    best: frozenset[int] | None = None
    value, found = _search(left - at_odds[worst] - {worst}, at_odds, weights, least - weights[worst])
    if found is not None and value + weights[worst] > least:
        least, best = value + weights[worst], found | {worst}
    value, found = _search(left - {worst}, at_odds, weights, least)
    if found is not None and value > least:
        least, best = value, found
    return least, best


def _bound(left: frozenset[int], at_odds: dict[int, frozenset[int]], weights: Sequence[float]) -> float:
    """No family weighs more: of a group whose sets are all at odds with each other one at most is in it."""
    total, waiting = 0.0, sorted(left, key=lambda k: -weights[k])
    while waiting:
        first = waiting.pop(0)
        total += weights[first]
        group = [first]
        for k in list(waiting):
            if all(j in at_odds[k] for j in group):
                group.append(k)
                waiting.remove(k)
    return total
