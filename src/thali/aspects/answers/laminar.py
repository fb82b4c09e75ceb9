"""Laminar families: sets of which any two are disjoint, or one holds the other, as the clades of a tree do."""

from collections.abc import Sequence

MOST = 40  # sets among which the best family is found exactly


def best_family(sets: Sequence[frozenset[int]], weights: Sequence[float]) -> tuple[list[int], bool]:
    """The positions of the laminar family with the greatest sum of weights, and whether none can be better.

    Branch and bound up to `MOST` sets, on the set that is at odds with most others: with it, or without. Beyond, the
    best family of the heaviest `MOST`, and after it every set, the heavier the earlier, that agrees with all chosen.
    """
    order = sorted(range(len(sets)), key=lambda k: -weights[k])
    head = order[:MOST]
    at_odds = {k: frozenset(j for j in head if j != k and crosses(sets[k], sets[j])) for k in head}
    chosen = _search(frozenset(head), at_odds, weights, 0.0)[1] or frozenset()
    found = sorted(chosen)
    for k in order[MOST:]:
        if not any(crosses(sets[k], sets[j]) for j in found):
            found.append(k)
    return sorted(found), len(sets) <= MOST


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
