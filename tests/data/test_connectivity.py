"""Options that comparisons connect, and whether wins lead from each option to every other, as SciPy
finds them."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import thali as th
from thali.errors import DataError


def random_wins(rng):
    """Counts of a few wins among up to 25 options, everybody of whom is compared."""
    n = int(rng.integers(2, 25))
    counts = np.zeros((n, n), int)
    np.add.at(counts, tuple(rng.integers(n, size=(2, int(rng.integers(n, 4 * n))))), 1)
    np.fill_diagonal(counts, 0)
    return counts


def chain(n, order):
    """Each option once over the next one of an order."""
    counts = np.zeros((n, n), int)
    counts[order[:-1], order[1:]] = 1
    return counts


def graphs():
    rng = np.random.default_rng(1)
    yield from (random_wins(rng) for _ in range(200))
    for order in (np.arange(400), np.arange(400)[::-1], rng.permutation(400)):
        yield chain(400, order)


def test_groups_are_those_of_scipy():
    numbers = set()
    for counts in graphs():
        if not counts.any():
            continue
        data = th.PairedComparisons(counts)
        count, group = connected_components(counts, directed=False)
        found = {frozenset(map(int, labels)) for labels in data.components()}
        assert found == {
            frozenset(np.flatnonzero(group == number).tolist()) for number in range(count)
        }
        numbers.add(count)
    assert len(numbers) > 3


def test_a_finite_estimate_needs_wins_from_every_option_to_every_other():
    rng, outcomes = np.random.default_rng(2), set()
    for _ in range(60):
        counts = random_wins(rng)
        if not counts.any():
            continue
        outcomes.add(
            strong := connected_components(counts, directed=True, connection="strong")[0] == 1
        )
        if strong:
            assert np.isfinite(
                th.paired.thurstone(th.PairedComparisons(counts)).table.to_numpy(float)
            ).all()
        else:
            with pytest.raises(DataError, match="No finite estimate"):
                th.paired.thurstone(th.PairedComparisons(counts))
    assert outcomes == {False, True}
