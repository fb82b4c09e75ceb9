"""Choice probabilities of all people in kernels, against plain NumPy, task by task."""

import numpy as np
import pytest

from thali._choice.logits.choice_kernels import (
    TaskColumns,
    add_product_probabilities,
    allocate_utilities,
    write_log_probabilities,
)

FIRST_TASK = np.array([0, 3, 3, 5])  # the second person has no task
FIRST_ROW = np.array([0, 2, 5, 9, 12, 14])
CHOSEN_ROW = np.array([1, 2, 8, 10, 12])
ROW_PRODUCT = np.array([0, 1, 2, 1, 0, 3, 2, 1, 0, 0, 2, 3, 3, 1])
pytestmark = pytest.mark.fit


def make_case(spread):
    """Return tasks, tastes, and log probabilities of all rows by plain NumPy."""
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(14, 4))
    tastes = spread * rng.normal(size=(3, 4))
    tasks = TaskColumns(matrix.T.copy(), FIRST_TASK, FIRST_ROW, CHOSEN_ROW)
    log_probabilities = np.empty(14)
    for person, (first, stop) in enumerate(zip(FIRST_TASK[:-1], FIRST_TASK[1:], strict=True)):
        for task in range(first, stop):
            rows = slice(FIRST_ROW[task], FIRST_ROW[task + 1])
            utilities = matrix[rows] @ tastes[person]
            log_probabilities[rows] = utilities - np.logaddexp.reduce(utilities)
    return tasks, tastes, log_probabilities


@pytest.mark.parametrize("spread", [1.0, 300.0])  # the second: exponentials below the least number
def test_log_probabilities_of_choices_are_those_of_numpy(spread):
    tasks, tastes, expected = make_case(spread)
    found = np.full(5, np.nan)
    write_log_probabilities(tasks, allocate_utilities(tasks), tastes, found)
    np.testing.assert_allclose(found, expected[CHOSEN_ROW], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_probabilities_of_products_are_those_of_numpy(spread):
    tasks, tastes, expected = make_case(spread)
    found = np.ones((2, 4))
    two_draws = np.stack([np.zeros_like(tastes), tastes])
    add_product_probabilities(tasks, allocate_utilities(tasks), two_draws, ROW_PRODUCT, found)
    sums = np.bincount(ROW_PRODUCT, np.exp(expected), minlength=4)
    np.testing.assert_allclose(found[1], 1.0 + sums, rtol=1e-12)
    assert found[0].sum() == pytest.approx(4.0 + 5.0)
