"""The posterior of worths by Laplace's approximation: derivatives, quadrature, agreement with chains."""

import numpy as np
import pandas as pd
import pytest
from helpers.naive import latent_features as naive
from helpers.problems import random_comparisons, with_ties
from helpers.sentences import refused
from scipy.special import logsumexp

import thali as th
from thali._aspects.bradley_terry import BLOCK, NormalWorths, WorthChain, density_of, local, log_densities
from thali.errors import ArgumentError, DataError

pytestmark = pytest.mark.fit  # the sum over pairs is compiled
DATA = with_ties(random_comparisons(5, 3, most=8), 1)
METHODS = ("laplace", "mcmc")


def density(data=DATA, lapse=0.0, ties=True, prior=True):
    return density_of(data, lapse, ties, prior)


def described(data=DATA, seed=6):
    """The same options in comparisons with two covariates, one of which is of options, too."""
    rng = np.random.default_rng(seed)
    first, second = (np.array(data.labels)[rng.permuted(np.tile(np.arange(5), (60, 1)), axis=1)[:, :2]]).T
    rows = pd.DataFrame({"left": first, "right": second, "length": rng.integers(-2, 3, 60)})
    rows["chosen"] = np.where(rng.random(60) < 0.2, "tie", np.where(rng.random(60) < 0.6, first, second))
    pairs = th.PairedComparisons.from_trials(rows, covariates=["length"])
    return pairs.with_option_covariates(pd.DataFrame({"price": [1.0, 2.0, 4.0, 3.0, 0.5]}, index=list(data.labels)))


@pytest.mark.parametrize("lapse", [0.0, 0.07])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("covariates", [False, True])
def test_the_density_is_that_of_the_model(lapse, ties, covariates):
    data = described() if covariates else DATA
    data = data if ties else data.without_ties("drop")
    points = np.random.default_rng(1).normal(size=(4, 5 + ties + 2 * covariates))
    found, likelihood = log_densities(density(data, lapse, ties), points)
    none = np.zeros((5, 0))
    for row, point in enumerate(points):
        u, log_nu, beta = point[:5], point[5 : 5 + ties], point[5 + ties :]
        known = none, np.zeros(0), np.exp(u), lapse, *np.exp(log_nu)
        expected = naive.log_likelihood(data, *known, beta=beta)
        assert likelihood[row] == pytest.approx(expected, rel=1e-12)
        # Dirichlet(1, ..., 1) shares, a Gamma(1, 1) nu and Normal(0, 1) coefficients, in logarithms
        prior = u.sum() - 5 * logsumexp(u) + (log_nu - np.exp(log_nu)).sum() - (beta**2).sum() / 2.0
        assert found[row] == pytest.approx(expected + prior, rel=1e-12)


def test_many_pairs_with_as_few_comparisons():
    data = with_ties(random_comparisons(12, 5, most=2), 2)
    points = np.random.default_rng(4).normal(size=(3, 13))
    _, found = log_densities(density(data), points)
    none = np.zeros((12, 0))
    for value, point in zip(found, points, strict=True):
        known = none, np.zeros(0), np.exp(point[:12]), 0.0, np.exp(point[12])
        assert value == pytest.approx(naive.log_likelihood(data, *known), rel=1e-12)


@pytest.mark.parametrize("lapse", [0.0, 0.07])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("data", [DATA, described()], ids=["", "covariates"])
def test_slopes_and_curvature(lapse, ties, prior, data):
    one = density(data if ties else data.without_ties("half"), lapse, ties, prior)
    point, step = np.random.default_rng(2).normal(size=one.size), 1e-5 * np.eye(one.size)
    found = local(one, point)
    up, down = [local(one, point + d) for d in step], [local(one, point - d) for d in step]
    slopes = [(a.value - b.value) / 2e-5 for a, b in zip(up, down, strict=True)]
    bends = [(b.gradient - a.gradient) / 2e-5 for a, b in zip(up, down, strict=True)]
    np.testing.assert_allclose(found.gradient, slopes, atol=1e-7)
    np.testing.assert_allclose(found.curvature, bends, atol=1e-7)
    value, likelihood = log_densities(one, point[None])
    assert found.value == pytest.approx((value if prior else likelihood)[0], rel=1e-12)


# Choices of either, and what the approximation may lack, in standard deviations: most where one was never beaten, and
# the tail is an exponential one.
@pytest.mark.parametrize(("counts", "lacks"), [((6, 2), 0.01), ((1, 0), 0.03), ((20, 0), 0.1)])
def test_two_options_against_quadrature(counts, lacks):
    one = density(th.PairedComparisons([[0, counts[0]], [counts[1], 0]]), ties=False)
    d = np.linspace(-25, 25, 20_001)  # u = (d, -d) / 2
    log_p, _ = log_densities(one, np.column_stack([d, -d]) / 2)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    points, _ = NormalWorths(one).draws(np.random.default_rng(3), 20_000)
    drawn = points[:, 0] - points[:, 1]
    for of in (np.tanh, lambda x: x, lambda x: x > 1.0, lambda x: x > 0.0):
        expected, sd = p @ of(d), np.sqrt(p @ of(d) ** 2 - (p @ of(d)) ** 2)
        assert abs(of(drawn).mean() - expected) < (5 / np.sqrt(20_000) + lacks) * sd


def test_turning_alone_draws_from_what_it_says():
    """The normal approximation q turned about the mode by the density p: 2 q(x) p(x) / (p(x) + p(-x))."""
    one = density(th.PairedComparisons([[0, 6], [1, 0]]), ties=False)
    worths = NormalWorths(one)
    worths.steps = 0  # of the corrections that follow
    d = np.linspace(-25, 25, 20_001)
    u = np.column_stack([d, -d]) / 2
    ahead, behind = (log_densities(one, worths.mode + sign * u)[0] for sign in (1, -1))
    whitened = np.linalg.solve(worths.inverse_root, u.T)
    p = np.exp(-0.5 * np.square(whitened).sum(axis=0)) / (1 + np.exp(behind - ahead))
    points, _ = worths.draws(np.random.default_rng(5), 20_000)
    drawn, p = (points - worths.mode)[:, 0] - (points - worths.mode)[:, 1], p / p.sum()
    assert abs(drawn.mean() - p @ d) < 5 / np.sqrt(20_000) * drawn.std() < 0.5 * p @ d


@pytest.mark.parametrize("lapse", [0.0, 0.01])
def test_three_options_with_ties_against_quadrature(lapse):
    data = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], ties=[[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    one = density(data, lapse)
    x, y, t = np.meshgrid(np.linspace(-6, 6, 81), np.linspace(-6, 6, 81), np.linspace(-7, 3, 61), indexing="ij")
    grid = np.column_stack([x.ravel(), y.ravel(), -(x + y).ravel(), t.ravel()])
    log_p, _ = log_densities(one, grid)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    points, likelihood = NormalWorths(one).draws(np.random.default_rng(4), 20_000)
    np.testing.assert_allclose(likelihood[:9], log_densities(one, points[:9])[1], rtol=1e-12)
    for of in (
        lambda z: z[:, 0],
        lambda z: z[:, 2],
        lambda z: np.exp(z[:, 3]),
        lambda z: np.heaviside(z[:, 0] - z[:, 1], 0.5),
    ):
        expected, sd = p @ of(grid), np.sqrt(p @ of(grid) ** 2 - (p @ of(grid)) ** 2)
        assert abs(of(points).mean() - expected) < (5 / np.sqrt(20_000) + 0.02) * sd


@pytest.mark.parametrize(("lapse", "tied"), [(0.0, 0), (0.05, 3)])
def test_two_options_with_a_covariate_against_quadrature(lapse, tied):
    """Worths 6 : 2 where x = 0, 3 : 5 where x = -1, and ties."""
    rows = [("a", "b", "a", 0)] * 6 + [("a", "b", "b", 0)] * 2 + [("a", "b", "a", -1)] * 3 + [("a", "b", "b", -1)] * 5
    rows += [("a", "b", "tie", -1)] * tied
    table = pd.DataFrame(rows, columns=["left", "right", "chosen", "length"])
    one = density(th.PairedComparisons.from_trials(table, covariates=["length"]), lapse, tied > 0)
    axes = [np.linspace(-8, 8, 161), *([np.linspace(-7, 3, 81)] if tied else []), np.linspace(-4, 5, 91)]
    d, *rest = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    grid = np.column_stack([d / 2, -d / 2, *rest])
    log_p, _ = log_densities(one, grid)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    points, _ = NormalWorths(one).draws(np.random.default_rng(4), 20_000)
    for of in (
        lambda z: z[:, 0] - z[:, 1],
        lambda z: z[:, -1],
        lambda z: 1.0 * (z[:, -1] > 1.0),
        lambda z: z[:, 0] * z[:, -1],
    ):
        expected, sd = p @ of(grid), np.sqrt(p @ of(grid) ** 2 - (p @ of(grid)) ** 2)
        assert abs(of(points).mean() - expected) < (5 / np.sqrt(20_000) + 0.02) * sd


@pytest.mark.long
def test_the_effects_of_covariates_are_those_of_chains():
    data, settings = described().without_ties("drop"), {"random_seed": 1, "progressbar": False}
    models = [th.EliminationByAspects("unique", method=method).fit(data, 2000, **settings) for method in METHODS]
    one, other = (model.covariate_effects() for model in models)
    np.testing.assert_allclose(one["mean"], other["mean"], atol=0.1 * other["sd"].min())
    np.testing.assert_allclose(one["sd"], other["sd"], rtol=0.08)
    worths = [model.summary()["mean"].filter(like="choice_probability") for model in models]
    np.testing.assert_allclose(*worths, atol=0.01)


def test_without_prior_the_highest_point_is_the_estimate():
    data = random_comparisons(5, 3, most=8)
    weights = th.EliminationByAspects("unique", method="maximum-likelihood").fit(data).weights_.to_numpy()
    mode = NormalWorths(density(data, ties=False, prior=False)).mode
    np.testing.assert_allclose(mode, np.log(weights) - np.log(weights).mean(), atol=1e-7)
    fit = th.paired.davidson(DATA)
    mode = NormalWorths(density(prior=False)).mode
    np.testing.assert_allclose(mode[:5], np.log(fit.weights) - np.log(fit.weights).mean(), atol=1e-6)
    assert np.exp(mode[5]) == pytest.approx(fit.tie, rel=1e-6)


def test_draws_do_not_depend_on_where_the_run_is_sliced():
    worths = NormalWorths(density())

    def run(*stops):
        chain = WorthChain(worths, 2 * BLOCK + 40, np.random.default_rng(5))
        for stop in stops:
            chain.run_to(stop)
            again = WorthChain(worths, 2 * BLOCK + 40, np.random.default_rng(6))
            again.restore(chain.packed())
            again.adopt(chain.drawn(0, chain.recorded))
            chain = again
        chain.run_to(chain.total)
        return chain.record

    weights = run().unique_weights
    assert len(np.unique(weights)) == weights.size  # each block has a stream of its own
    for one, other in zip(run(), run(7, BLOCK, BLOCK + 1, 2 * BLOCK), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_a_longer_fit_equals_one_that_went_on():
    settings = {"chains": 2, "random_seed": 1, "progressbar": False}
    model = th.EliminationByAspects("unique", method="laplace")
    whole = model.fit(DATA, draws=30, **settings).posterior_["posterior"].dataset
    parts = model.fit(DATA, draws=20, **settings).continue_fit(10, progressbar=False).posterior_["posterior"].dataset
    for name in ("unique_weights", "tie", "log_likelihood", "choice_probability"):
        np.testing.assert_array_equal(parts[name], whole[name])
    assert "method='mcmc'" in str(model.convergence())


@pytest.mark.parametrize(
    ("settings", "run", "words"),
    [
        ({"aspects": "ibp"}, {}, ("method='laplace'", "aspects='unique'")),
        ({"aspects": 2}, {}, ("method='laplace'", "aspects='unique'")),
        ({"aspects": "unique", "tempering": 4}, {}, ("tempering", "method='mcmc'")),
        ({"aspects": "unique", "alpha": 1.0}, {}, ("alpha",)),
        ({"aspects": "unique"}, {"thin": 3}, ("thin", "method='mcmc'")),
    ],
)
def test_what_belongs_to_chains_is_refused(settings, run, words):
    with refused(ArgumentError, *words):
        th.EliminationByAspects(method="laplace", **settings).fit(DATA, progressbar=False, **run)


def test_choices_out_of_larger_sets_are_refused():
    choices = th.Choices.from_rankings([["a", "b", "c"], ["c", "a", "b"]])
    with refused(DataError, "paired comparisons"):
        th.EliminationByAspects("unique", method="laplace").fit(choices, progressbar=False)


def rank_probabilities(model):
    table = model.ranks(every_rank=True)
    return table.loc[list(model.posterior_["posterior"]["option"].values), [f"p_{k + 1}" for k in range(len(table))]]


def simulated(n, battles, seed):
    rng = np.random.default_rng(seed)
    u, popular = rng.normal(size=n), rng.pareto(1.5, n) + 0.2
    a, b = rng.choice(n, (2, 3 * battles), p=popular / popular.sum())
    a, b = (each[a != b][:battles] for each in (a, b))
    p = 1 / (1 + np.exp(u[b] - u[a]))
    r = 0.6 * np.sqrt(p * (1 - p))
    outcome = np.where(rng.random(len(a)) < r / (1 + r), 2, np.where(rng.random(len(a)) < p, 0, 1))
    wins, ties = np.zeros((2, n, n))
    np.add.at(wins, (np.where(outcome == 0, a, b)[outcome < 2], np.where(outcome == 0, b, a)[outcome < 2]), 1)
    np.add.at(ties, (a[outcome == 2], b[outcome == 2]), 1)
    return th.PairedComparisons(wins, ties=ties + ties.T)


# The Monte Carlo error of a difference of two of these probabilities is .0035 at most from 40,000 draws each.
@pytest.mark.long
@pytest.mark.parametrize(("n", "battles"), [(12, 132), (60, 2_000), (60, 30_000)])
def test_rank_probabilities_are_those_of_chains(n, battles):
    data, settings = simulated(n, battles, 3), {"draws": 10_000, "random_seed": 1, "progressbar": False}
    one, other = (
        rank_probabilities(th.EliminationByAspects("unique", method=method).fit(data, **settings))
        for method in ("laplace", "mcmc")
    )
    differ = np.abs(one.to_numpy() - other.to_numpy())
    assert differ.max() < 0.02
    assert n == 12 or np.quantile(differ, 0.999) < 0.01  # of few options the quantile is nearly the maximum
