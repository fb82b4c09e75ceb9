"""Permutations of people among groups."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thali.aspects.maximum_likelihood.estimates import Estimates
from thali.aspects.maximum_likelihood.goodness import FitTest, samples_for
from thali.aspects.maximum_likelihood.maximum import highest
from thali.data.pairs import PairedComparisons
from thali.inference.seeds import streams


def permutation_test(
    groups: Sequence[PairedComparisons], together: Estimates, statistic: float, df: int, random_seed: Any
) -> FitTest:
    """Whether groups of people differ by more than groups of the same sizes into which people fall at random.

    p = (1 + permutations with a statistic at least as large) / (1 + permutations); the answers of a person stay
    together, whatever they have to do with each other.
    """
    of_people, sizes = _tallies(groups, together.data), []
    for group in groups:
        assert group.answers is not None
        sizes.append(len(np.unique(group.answers.subject)))
    pose, start = together.pose, np.log(np.maximum(together.weights, 1e-3 * together.weights.max()))
    samples = samples_for(pose.work * len(groups))
    rng, reached = streams(random_seed, 1)[0], 0
    ends = np.cumsum(sizes)[:-1]
    for _ in range(samples):
        parts = np.split(rng.permutation(len(of_people)), ends)
        poses = (pose.with_counts(of_people[part].sum(axis=0)) for part in parts)
        value = 2.0 * (sum(highest(each, start, together.maximum.beta) for each in poses) - together.maximum.value)
        reached += value >= statistic - 1e-5 * max(1.0, statistic)  # which equal groups reach, rounding aside
    return FitTest(statistic, df, (1 + reached) / (1 + samples), samples, people=len(of_people), is_permutation=True)


def _tallies(groups: Sequence[PairedComparisons], pooled: PairedComparisons) -> np.ndarray:
    """Choices of either side of each pair of the pooled data by each person, group after group."""
    place = {pair: k for k, pair in enumerate(zip(pooled.first.tolist(), pooled.second.tolist(), strict=True))}
    found = []
    for group in groups:
        assert group.answers is not None
        each = group.answers
        at = np.array([place[pair] for pair in zip(group.first.tolist(), group.second.tolist(), strict=True)])
        there, row = np.unique(each.subject, return_inverse=True)
        tally = np.zeros((len(there), len(place), 2))
        tally[row, at[each.pair], 0] = each.wins
        tally[row, at[each.pair], 1] = each.losses
        found.append(tally.reshape(len(there), -1))
    return np.concatenate(found)
