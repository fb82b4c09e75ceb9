"""The published Gibbs sampler of Plackett–Luce regression, by the checks of the specification."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from helpers.digests import digests_of, is_same
from helpers.plackett_luce_cases import exponential, joint_scores, scaled, tiny, within
from helpers.plackett_luce_data import frame, problem
from helpers.plackett_luce_runs import fit_gibbs
from helpers.real_data import needs_data
from scipy import special, stats

from papers.plackett_luce_2012_data import published_plackett_luce
from papers.samplers.plackett_luce_2012 import published, published_walk
from thali._classify.plackett_luce.nonnegative_columns import PlackettLuceDesign
from thali._compile.jit import compiled
from thali._testing import small_models
from thali._testing.small_models import SmallModelCase


def test_tiny_quadrature():
    W, codes, K = tiny()
    draws = fit_gibbs(
        W, codes, K, a=0.3, sweep=published, draws=25_000, tune=1000, thin=1, random_seed=2
    )
    weights = [[0.070515, 0.287153, 0.158251], [0.266725, 0.072878, 0.144478]]
    for k in range(2):
        for j in range(3):
            assert within(draws.weights[:, :, k, j], weights[k][j])


@needs_data
@pytest.mark.parametrize(
    ("a", "expected", "near", "length"),
    [
        (1.0, -184.05, 0.1, {}),
        # with a learned it may stay near a = .04 for a hundred thousand sweeps
        pytest.param(None, -184.8, 0.5, {"thin": 100, "chains": 16}, marks=pytest.mark.long),
    ],
)
def test_raw_heart(a, expected, near, length):
    X, y = frame("heart")
    W = PlackettLuceDesign.fit(X.to_numpy(), list(X.columns), standardize=False).apply(X.to_numpy())
    codes = np.unique(y, return_inverse=True)[1]
    lengths = {"draws": 4000, "tune": 1000, "thin": 1, "random_seed": 1} | length
    draws = fit_gibbs(W, codes, 2, a=a, sweep=published, **lengths)
    assert draws.log_likelihood.mean() == pytest.approx(expected, abs=near)
    assert np.isfinite(draws.weights).all()


def test_it_mixes_worse():
    settings = {"draws": 1500, "tune": 500, "thin": 1, "random_seed": 3}
    worst = []
    for sweep in (None, published):
        draws = fit_gibbs(*problem("iris"), sweep=sweep, **settings)
        values = np.stack([np.log(draws.a), draws.log_likelihood])
        worst.append(array_stats.ess(values, method="bulk").min())
    assert worst[0] > 5 * worst[1]


@pytest.mark.parametrize("rounds", [20_000, pytest.param(200_000, marks=pytest.mark.long)])
def test_joint_distribution(rounds):
    W = scaled(exponential([-1.4, -0.6, -0.1, 0.3, 0.9, 1.7, 0.2, -2.0]))
    scores = joint_scores(W, 2, "published", (0.05, 3.0), rounds, 3, published)
    assert len(scores) >= 7 and max(map(abs, scores.values())) < 4.0, scores


LOW, HIGH = math.log(1e-3), math.log(1e2)
LOG_WEIGHTS = np.array([[-30.0, -1.2, -5.0], [-0.5, -14.0, -2.4]])
LOG_MASS = -3.0


@compiled
def moved(rng, starts, log_weights, log_mass, low, high, out):
    for i in range(starts.size):
        out[i], _ = published_walk(rng, starts[i], low, high, 1.5, log_weights, log_mass, 0.1)


def test_the_walk_of_the_shape():
    """Exact draws of a, moved once, are exact draws still; and they have moved."""
    grid = np.linspace(LOW, HIGH, 400_001)
    a, size = np.exp(grid), LOG_WEIGHTS.size
    log_target = size * (a * 0.1 - special.gammaln(a)) + a * (LOG_WEIGHTS + LOG_MASS).sum()
    density = np.exp(log_target - log_target.max())
    cdf = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    cdf /= cdf[-1]
    rng, out = np.random.default_rng(4), np.empty(200_000)
    starts = np.interp(rng.random(200_000), cdf, grid)
    moved(rng, starts, LOG_WEIGHTS, LOG_MASS, LOW, HIGH, out)
    assert (out != starts).mean() > 0.1
    assert stats.kstest(out, lambda x: np.interp(x, grid, cdf)).pvalue > 1e-4


@pytest.mark.usefixtures("uncompiled")
def test_same_seed_same_draws_as_ever():
    kept = json.loads((Path(__file__).parent / "digests.json").read_text("utf-8"))["plackett-luce"]
    run = small_models.CHAINS | {"draws": 3, "tune": 1, "thin": 1, "chains": 2, "cores": 1}

    def make(**arguments):
        return published_plackett_luce("published").make(arguments, None)

    row = SmallModelCase(make, small_models.build_rows, small_models.predict_first_rows, run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = digests_of(row.build_fitted(), row)
    assert found.keys() == kept.keys() and all(is_same(found[key], kept[key]) for key in kept)
