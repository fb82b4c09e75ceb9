"""What must not matter to additive clustering: units, the diagonal, names, cores, slices, room, and the compiler."""

import math
from itertools import combinations

import numpy as np
import pytest
from additive_cases import _mean_and_error, case_named, far_off
from additive_runs import WEIGHT_PRIOR, fit, one_run, task
from problems import alternating_similarities, random_similarities
from scipy import stats

import thali as th
from thali.aspects.samplers import chains, recommended
from thali.aspects.samplers.chains import Chain, run_chains
from thali.aspects.state import COLUMNS, capacity, replica, resized, stack

pytestmark = pytest.mark.fit

FIELDS = ("alpha", "log_likelihood", "n_features", "weights", "sizes", "owners")


class Silent:
    def note(self, text): ...

    def update(self, done): ...


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS) and all(
        np.array_equal(a.extra[name], b.extra[name]) for name in ("constant", "sigma")
    )


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


@pytest.mark.parametrize("sampler, tempering", [(None, 3), ("paper", None)])
def test_the_diagonal_does_not_matter(sampler, tempering):
    matrix = square(random_similarities(5, 5))
    runs = []
    for diagonal in (0.0, 1.0, -50.0, np.nan, np.arange(5.0)):
        np.fill_diagonal(matrix, diagonal)
        runs.append(one_run(task(th.Similarities(matrix), sampler=sampler, tempering=tempering)))
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
    tree = fit(other, 8, tempering=False)
    assert far_off(tree, other) == {}
    assert far_off(tree, case)


def growing(**settings):
    """Two temperatures are too few for these data."""
    return task(random_similarities(6, 6), 0.05, tempering=2, draws=30, tune=150, **settings)


def test_same_seed_same_draws_for_any_number_of_cores():
    runs = [run_chains(growing(), 3, cores, 42, Silent())[0] for cores in (1, 2, 3)]
    assert any(len(draws.stats["swap_rate"]) > 1 for draws in runs[0])  # a ladder has grown
    for run in runs[1:]:
        assert all(same(a, b) for a, b in zip(runs[0], run, strict=True))
    other, _ = run_chains(growing(), 3, 1, 43, Silent())
    assert not any(same(a, b) for a, b in zip(runs[0], other, strict=True))
    assert not same(runs[0][0], runs[0][1])


@pytest.mark.parametrize("settings", [{}, {"sampler": "paper", "tempering": None}])
def test_slices_do_not_matter(settings):
    make = growing if not settings else lambda: task(random_similarities(6, 6), 0.05, **settings)
    whole, sliced = (Chain(make(), np.random.default_rng(3)) for _ in range(2))
    whole.run_to(whole.total)
    for until in range(0, sliced.total + 1, 7):
        sliced.run_to(until)
    sliced.run_to(sliced.total)
    assert same(whole.draws, sliced.draws)
    assert np.array_equal(whole.ladder.beta, sliced.ladder.beta) and np.array_equal(whole.ladder.at, sliced.ladder.at)
    assert whole.ladder.beta.size > 2 or settings


@pytest.mark.parametrize("settings", [{"tempering": 3}, {"tempering": None, "sampler": "paper"}])
def test_room_grows_without_a_trace(settings):
    """Many columns: the states of all replicas and the record have to grow on the way."""
    data = random_similarities(4, 4)
    crowded, roomy = (
        Chain(task(data, 0.3, alpha=40.0, draws=80, **settings), np.random.default_rng(3)) for _ in range(2)
    )
    least = max(int(columns) for columns in crowded.states.whole[:, COLUMNS])
    replicas = [replica(crowded.states, t) for t in range(len(crowded.states.whole))]
    crowded.states = stack([resized(b, least) for b in replicas])
    while capacity(roomy.state) < 2000:
        roomy.states = chains.grown(roomy.states)
    roomy.record = chains.enlarged(chains.enlarged(roomy.record))
    kept = int(crowded.state.whole[COLUMNS])
    assert np.array_equal(roomy.state.Z[:kept], crowded.state.Z[:kept])
    crowded.run_to(crowded.total)
    roomy.run_to(roomy.total)
    assert least < capacity(crowded.state) < 2000
    assert same(crowded.draws, roomy.draws)
    assert 55 < crowded.draws.n_features.mean() < 110  # 40 H_4 = 83 a priori


@pytest.mark.parametrize("settings", [{"tempering": 3}, {"tempering": None, "sampler": "paper"}])
@pytest.mark.parametrize("sigma, shape", [(None, 1.0), (0.1, 2.0)])
def test_python_and_compiled_sweeps_draw_the_same(sigma, shape, settings):
    data = random_similarities(4, 4, missing=0.3)
    made = [task(data, sigma, weight_prior=(shape, 5.0), draws=10, tune=20, thin=2, **settings) for _ in range(2)]
    made[1].kernel = made[1].kernel.python
    a, b = (one_run(each, seed=9) for each in made)
    assert np.array_equal(a.owners, b.owners)
    for name in ("weights", "alpha", "log_likelihood"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-9, abs=1e-9), name
    for name in ("constant", "sigma"):
        assert a.extra[name] == pytest.approx(b.extra[name], rel=1e-9), name


def features_by_size(draws, n):
    """For every draw, columns by number of owners (draws, n + 1) and columns of one owner by owner (draws, n)."""
    draw = np.repeat(np.arange(draws.alpha.size), draws.n_features)
    by_size = np.zeros((draws.alpha.size, n + 1))
    np.add.at(by_size, (draw, draws.sizes), 1)
    alone = np.zeros((draws.alpha.size, n))
    first = np.concatenate([[0], np.cumsum(draws.sizes)[:-1]])
    single = draws.sizes == 1
    np.add.at(alone, (draw[single], draws.owners[first[single]]), 1)
    return by_size, alone


@pytest.mark.parametrize(
    "sampler, thin", [("conjugate", 4), ("published", 8), pytest.param("infinite", 4, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("n, alpha", [(5, 1.5)])
def test_data_that_say_nothing_leave_the_prior(sampler, thin, n, alpha, monkeypatch):
    """With sigma = 1e6: Poisson(alpha H_n) columns, Poisson(alpha / m) of m owners, Poisson(alpha / n) of i alone."""
    if sampler == "infinite":
        monkeypatch.setattr(recommended, "conjugate", recommended.infinite)
    settings = {"sampler": "paper"} if sampler == "published" else {}
    one = task(alternating_similarities(n, 1.0), 1e6, alpha, None if settings else 2, 40_000, 100, thin, **settings)
    draws = one_run(one)
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
