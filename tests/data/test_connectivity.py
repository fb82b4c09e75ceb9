"""Options that comparisons connect, and whether wins lead from each option to every other, as SciPy finds them."""

import numpy as np
from helpers.sentences import refused
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from thali._data.connectivity import check_finite, group_numbers
from thali.errors import DataError


def random_graphs():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 40))
        first, second = rng.integers(n, size=(2, int(rng.integers(0, 3 * n))))
        yield n, first, second, coo_array((np.ones(len(first)), (first, second)), shape=(n, n))
    for n in (1000, 999):  # long chains, in both directions and in no order
        order = rng.permutation(n)
        for path in (np.arange(n), np.arange(n)[::-1], order):
            yield n, path[:-1], path[1:], coo_array((np.ones(n - 1), (path[:-1], path[1:])), shape=(n, n))


def test_groups_are_those_of_scipy():
    for n, first, second, graph in random_graphs():
        count, group = group_numbers(n, first, second)
        expected, numbers = connected_components(graph, directed=False)
        assert count == expected
        np.testing.assert_array_equal(group, numbers)


def test_a_finite_estimate_needs_wins_from_every_option_to_every_other():
    outcomes = set()
    for n, first, second, graph in random_graphs():
        labels = tuple(f"option {k}" for k in range(n))
        outcomes.add(strong := connected_components(graph, directed=True, connection="strong")[0] == 1)
        if strong:
            check_finite(labels, first, second)
        else:
            with refused(DataError, "finite estimate"):
                check_finite(labels, first, second)
    assert outcomes == {False, True}
