"""What must not matter to additive clustering: units, the diagonal, names; and data that say
nothing."""

import math
from contextlib import nullcontext
from itertools import combinations

import numpy as np
import pytest
from helpers.additive_cases import _mean_and_error, case_named, far_off
from helpers.additive_runs import WEIGHT_PRIOR, by_general_moves, fit, one_run, task
from helpers.problems import alternating_similarities, random_similarities
from helpers.same_draws import same
from scipy import stats

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


def test_names_of_the_objects_do_not_matter():
    """E4b with its objects in another order has the posterior of E4b with its objects renamed."""
    case = case_named("E4b")
    new = (2, 0, 3, 1)  # where each object goes
    matrix = np.zeros((4, 4))
    matrix[np.ix_(new, new)] = case["similarities"]

    def renamed(name):
        kind, bracket, rest = name.partition("(" if "(" in name else "[")
        if not bracket:
            return name
        moved = sorted(str(new[int(x)]) for x in rest if x.isdigit())
        return f"{kind}({''.join(moved)})" if bracket == "(" else f"{kind}[{', '.join(moved)}]"

    expected = {renamed(name): value for name, value in case["expected"].items()}
    assert expected != case["expected"] and len(expected) == len(case["expected"])
    other = {"similarities": matrix.tolist(), "model": case["model"], "expected": expected}
    tree = fit(other, 8, draws=4_000, tempering=False)
    assert far_off(tree, other) == {}
    assert far_off(tree, case)


def features_by_size(draws, n):
    """For every draw, columns by number of owners (draws, n + 1) and columns of one owner by owner
    (draws, n)."""
    draw = np.repeat(np.arange(draws.alpha.size), draws.n_features)
    by_size = np.zeros((draws.alpha.size, n + 1))
    np.add.at(by_size, (draw, draws.sizes), 1)
    alone = np.zeros((draws.alpha.size, n))
    first = np.concatenate([[0], np.cumsum(draws.sizes)[:-1]])
    single = draws.sizes == 1
    np.add.at(alone, (draw[single], draws.owners[first[single]]), 1)
    return by_size, alone


@pytest.mark.parametrize(
    "sampler, thin", [("conjugate", 4), pytest.param("infinite", 4, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("n, alpha", [(5, 1.5)])
def test_data_that_say_nothing_leave_the_prior(sampler, thin, n, alpha):
    """With sigma = 1e6: Poisson(alpha H_n) columns, Poisson(alpha / m) of m owners, Poisson(alpha /
    n) of i alone."""
    with by_general_moves() if sampler == "infinite" else nullcontext():
        draws = one_run(task(alternating_similarities(n, 1.0), 1e6, alpha, 2, 40_000, 100, thin))
    by_size, alone = features_by_size(draws, n)
    means = {"columns": (draws.n_features, alpha * sum(1.0 / m for m in range(1, n + 1)))}
    means |= {f"of {m} owners": (by_size[:, m], alpha / m) for m in range(1, n + 1)}
    means |= {f"of {i} alone": (alone[:, i], alpha / n) for i in range(n)}
    for name, (counts, mean) in means.items():  # the mean, the variance, and the chance of none
        for what, values, expected in (
            ("mean", counts, mean),
            ("square", counts**2, mean + mean**2),
            ("none", counts == 0, math.exp(-mean)),
        ):
            found, error, _ = _mean_and_error(np.asarray(values)[None], expected)
            assert abs(found - expected) < 5.0 * error, (name, what, found, expected, error)
    for i, j in combinations(range(n), 2):
        assert abs(np.corrcoef(alone[:, i], alone[:, j])[0, 1]) < 5.0 / math.sqrt(draws.alpha.size)
    weights = draws.weights[draws.sizes == 1]
    assert abs(weights.mean() * WEIGHT_PRIOR[1] - 1.0) < 5.0 / math.sqrt(weights.size)
    assert stats.kstest(weights, stats.expon(scale=1.0 / WEIGHT_PRIOR[1]).cdf).pvalue > 1e-6
