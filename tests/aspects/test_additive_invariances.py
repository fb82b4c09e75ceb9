"""What must not matter to additive clustering: units and the diagonal."""

import numpy as np
import pytest
from helpers.additive_runs import one_run, task
from helpers.problems import random_similarities
from helpers.same_draws import same

import thali as th

pytestmark = pytest.mark.fit


def square(data):
    matrix = np.full((data.n_options, data.n_options), np.nan)
    matrix[data.first, data.second] = matrix[data.second, data.first] = data.values
    return matrix


@pytest.mark.parametrize("shape", [1.0, 2.0])
@pytest.mark.parametrize("sigma", [0.125, None])
def test_units_do_not_matter(sigma, shape):
    data = random_similarities(5, 5, missing=0.2)
    other = th.Similarities(4.0 * square(data))
    a = one_run(task(data, sigma, weight_prior=(shape, 8.0)))
    b = one_run(task(other, 4.0 * sigma if sigma else None, weight_prior=(shape, 2.0)))
    for name in ("alpha", "log_likelihood", "n_features", "sizes", "owners"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert np.array_equal(4.0 * a.weights, b.weights)
    for name in ("constant", "sigma"):
        assert np.array_equal(4.0 * a.extra[name], b.extra[name])


def test_the_diagonal_of_similarities_is_ignored():
    matrix = square(random_similarities(5, 5))
    runs = []
    for diagonal in (0.0, 1.0, -50.0, np.nan, np.arange(5.0)):
        np.fill_diagonal(matrix, diagonal)
        runs.append(one_run(task(th.Similarities(matrix))))
    assert all(same(runs[0], run) for run in runs[1:])
