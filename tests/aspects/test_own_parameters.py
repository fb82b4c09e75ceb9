"""Parameters of a likelihood of the user's own: drawn from their posterior, reported, predicted
with."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from helpers.all_drawn import all_drawn
from helpers.elimination_cases import mean_and_error
from helpers.sentences import refused
from scipy import stats

import thali as th
from thali._aspects.chain_state import BETA, COLUMNS, make_empty_state
from thali._aspects.kernel_operations import draw_parameters, rebuild_cache
from thali.errors import ArgumentError, DataError
from thali.likelihoods import Beta, Custom, Gamma, HalfNormal, LogNormal, Normal

pytestmark = [pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


class Line(NamedTuple):
    """Ratings of things, with a covariate."""

    rating: np.ndarray
    age: np.ndarray
    base: float
    slope: float
    noise: float
    labels: tuple


def of_option(data, i, own):
    residual = data.rating[i] - data.base - data.slope * data.age[i] - own
    return -0.5 * residual * residual / data.noise**2 - math.log(data.noise)


def log_likelihood(data, features, weights):
    total = 0.0
    for i in range(len(features)):
        total += of_option(data, i, np.sum(features[i] * weights))
    return total


def simulate(data, features, weights, rng):
    mean = data.base + data.slope * data.age + features @ weights
    return data._replace(rating=rng.normal(mean, data.noise))


def predict(data, features, weights):
    return data.base + data.slope * data.age + features @ weights


def pointwise(data, features, weights):
    residual = data.rating - predict(data, features, weights)
    return -0.5 * (residual / data.noise) ** 2 - math.log(data.noise)


AGE = np.array([-1.0, 0.0, 1.0, 2.0])
DATA = Line(np.array([0.5, 1.0, 2.5, 3.0]), AGE, 0.0, 1.0, 0.5, tuple("abcd"))
PARAMETERS = {"base": Normal(0.5, 1.0), "slope": Normal(0.0, 2.0), "noise": Gamma(3.0, 4.0)}
WHOLE = Custom(
    log_likelihood, simulate=simulate, predict=predict, pointwise=pointwise, parameters=PARAMETERS
)
TERMS = Custom(
    log_likelihood, of_option=of_option, simulate=simulate, predict=predict, parameters=PARAMETERS
)
RUN = {"draws": 12, "tune": 4, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}


def state_without_columns(n, beta):
    state = make_empty_state(n, 4)
    state.real[BETA] = beta
    assert state.whole[COLUMNS] == 0
    return state


@pytest.mark.first(2)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("beta", [1.0, 0.3])
@pytest.mark.parametrize("likelihood", [WHOLE, TERMS], ids=["whole", "terms"])
def test_slices_draw_from_the_posterior_of_the_parameters(likelihood, beta):
    """Without features it is known by a grid over three numbers."""
    made, make_cache = likelihood.build_uncompiled(likelihood.wrap_data(DATA))
    cache, state, rng = make_cache(made), state_without_columns(4, beta), np.random.default_rng(3)
    rebuild_cache(made, cache, state)
    draws = np.empty((800, 3))
    for row in draws:
        draw_parameters(made, rng, cache, state)
        row[:] = cache.parameters
    base, slope = np.meshgrid(np.linspace(-4, 5, 91), np.linspace(-5, 6, 111), indexing="ij")
    noise = np.geomspace(0.02, 6.0, 120)
    residual = DATA.rating - base[..., None] - slope[..., None] * AGE
    square = (residual**2).sum(-1)[..., None]
    # the grid is even in its logarithm
    logs = beta * (-0.5 * square / noise**2 - 4 * np.log(noise)) + np.log(noise)
    logs += (
        stats.norm(0.5, 1.0).logpdf(base)[..., None] + stats.norm(0.0, 2.0).logpdf(slope)[..., None]
    )
    logs += stats.gamma(3.0, scale=0.25).logpdf(noise)
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    grids = (
        base[..., None] + 0 * noise,
        slope[..., None] + 0 * noise,
        np.broadcast_to(noise, weight.shape),
    )
    for name, grid, values in zip(PARAMETERS, grids, draws.T, strict=True):
        for power in (1, 2):
            found, error = mean_and_error((values**power)[None])
            assert abs(found - (grid**power * weight).sum()) < 5 * error + 0.005, (name, power)


class Counts(NamedTuple):
    """How often each of a few things happened, how often it might have, and how long it took."""

    hits: np.ndarray
    of: float
    seconds: np.ndarray
    leak: float
    scale: float
    spread: float
    labels: tuple


def of_counts(data, features, weights):
    hits, n = data.hits.sum(), data.of * len(data.hits)
    total = hits * math.log(data.leak) + (n - hits) * math.log(1.0 - data.leak)
    # exponential
    total -= data.seconds.sum() / data.scale + len(data.seconds) * math.log(data.scale)
    return (
        total
        - 0.5 * (data.seconds**2).sum() / data.spread**2
        - len(data.seconds) * math.log(data.spread)
    )


def more_counts(data, features, weights, rng):
    hits = rng.binomial(int(data.of), data.leak, len(data.hits)).astype(float)
    return data._replace(hits=hits, seconds=rng.exponential(data.scale, len(data.seconds)))


COUNTS = Counts(
    np.array([0.0, 1.0, 0.0]), 5.0, np.array([0.3, 2.0, 1.1]), 0.2, 1.0, 1.0, tuple("abc")
)
BOUNDED = {"leak": Beta(0.5, 3.0), "scale": LogNormal(0.5, 0.8), "spread": HalfNormal(1.5)}
DENSITIES = {
    "leak": stats.beta(0.5, 3.0),
    "scale": stats.lognorm(0.8, scale=math.exp(0.5)),
    "spread": stats.halfnorm(0, 1.5),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_prior_draws_from_its_density(name):
    prior, density, rng = BOUNDED[name], DENSITIES[name], np.random.default_rng(1)
    values = np.array([0.05, 0.5, 0.9])
    assert prior.log_density(values) == pytest.approx(density.logpdf(values))
    assert np.isneginf(prior.log_density(np.array([0.0, -1.0]))).all()
    drawn = np.array([prior.draw(rng) for _ in range(2_000)])
    assert stats.kstest(drawn, density.cdf).pvalue > 1e-4


@pytest.mark.fit  # for its time
@pytest.mark.parametrize("beta", [1.0, 0.0])
def test_slices_of_bounded_parameters_draw_from_their_posterior(beta):
    """The posterior is a product of three, each known by quadrature; at inverse temperature 0 it is
    the prior."""
    likelihood = Custom(of_counts, simulate=more_counts, parameters=BOUNDED)
    made, make_cache = likelihood.build_uncompiled(likelihood.wrap_data(COUNTS))
    cache, state, rng = make_cache(made), state_without_columns(3, beta), np.random.default_rng(3)
    rebuild_cache(made, cache, state)
    draws = np.empty((1_000, 3))
    for row in draws:
        draw_parameters(made, rng, cache, state)
        row[:] = cache.parameters
    x = np.geomspace(1e-9, 60.0, 4_001)
    for name, values in zip(BOUNDED, draws.T, strict=True):
        grid = x / (1.0 + x) if name == "leak" else x
        logs = beta * np.array(
            [of_counts(COUNTS._replace(**{name: each}), None, None) for each in grid]
        )
        weight = np.exp(logs - logs.max()) * DENSITIES[name].pdf(grid) * np.gradient(grid)
        for power in (1, 2):
            found, error = mean_and_error((values**power)[None])
            assert abs(found - (grid**power * weight).sum() / weight.sum()) < 5 * error, (
                name,
                power,
            )


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("likelihood", [WHOLE, TERMS], ids=["whole", "terms"])
def test_every_draw_is_told_with_its_parameters(likelihood, uncompiled, tmp_path):
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood).fit(DATA, **RUN)
    tree = model.posterior_
    posterior, prior = all_drawn(tree), tree["log_prior"].dataset
    predictions = []
    for chain, draw in np.ndindex(2, 12):
        at = posterior.isel(chain=chain, draw=draw)
        own = {name: float(at[name]) for name in PARAMETERS}
        features, weights = at["features"].values.T.astype(float), at["weights"].values
        data = DATA._replace(**own)
        assert float(at["log_likelihood"]) == pytest.approx(log_likelihood(data, features, weights))
        assert float(prior["noise"][chain, draw]) == pytest.approx(
            stats.gamma(3.0, scale=0.25).logpdf(own["noise"])
        )
        assert float(prior["base"][chain, draw]) == pytest.approx(
            stats.norm(0.5, 1.0).logpdf(own["base"])
        )
        predictions.append(predict(data, features, weights))
        if likelihood.pointwise:
            terms = tree["log_likelihood"]["observations"].values[chain, draw]
            assert terms == pytest.approx(pointwise(data, features, weights))
    assert model.predict() == pytest.approx(np.mean(predictions, axis=0))
    older = model.predict(DATA._replace(age=AGE + 1.0))
    assert older == pytest.approx(model.predict() + float(posterior["slope"].mean()))
    assert {"base", "slope", "noise"} <= set(model.summary().index) and "data.base" not in tree[
        "observed_data"
    ]
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.summary().equals(model.summary())
    with refused(ArgumentError, "not contain functions"):
        again.predict()


@pytest.mark.fit
def test_draws_from_the_prior_have_parameters(uncompiled):
    drawn = th.LatentFeatureModel(th.priors.IndianBuffet(), WHOLE).sample_prior(
        DATA, draws=400, random_seed=1
    )
    noise = drawn["prior"]["noise"].values.ravel()
    assert abs(noise.mean() - 0.75) < 5 * math.sqrt(3.0) / 4.0 / 20.0
    assert drawn["prior_predictive"]["data.rating"].shape == (1, 400, 4)


def flat(data):
    return -abs(data.base) if data.slope > 0.0 else -1e3


@pytest.mark.fit
def test_a_joint_log_prior_of_the_user_is_sampled_but_not_simulated(uncompiled):
    parameters = {"base": None, "slope": None, "noise": Gamma(3.0, 4.0)}
    own = Custom(log_likelihood, parameters=parameters, log_prior=flat)
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), own).fit(DATA, **RUN)
    assert (model.posterior_["posterior"]["slope"].values > 0.0).all()
    with refused(ArgumentError, "log_prior"):
        model.sample_prior(DATA, draws=2)
    with refused(ArgumentError, "log_prior"):
        model.log_evidence()


@pytest.mark.long
@pytest.mark.parametrize("likelihood", [WHOLE, TERMS], ids=["whole", "terms"])
def test_the_joint_check_knows_the_parameters(likelihood, capsys):
    small = DATA._replace(rating=DATA.rating[:3], age=AGE[:3], labels=tuple("abc"))
    assert th.testing.check(likelihood, small, rounds=3_000).ok
    assert "11 means before and after" in capsys.readouterr().out


def doubled(data, features, weights, rng):
    return simulate(data._replace(base=1.5 * data.base), features, weights, rng)


@pytest.mark.long
def test_a_parameter_that_simulate_uses_otherwise_is_found(capsys):
    small = DATA._replace(rating=DATA.rating[:3], age=AGE[:3], labels=tuple("abc"))
    wrong = Custom(log_likelihood, simulate=doubled, parameters=PARAMETERS)
    assert not th.testing.check(wrong, small, rounds=3_000).ok


BAD = [
    (lambda: Custom(log_likelihood, parameters=["base"]), ("parameters", "must map")),
    (
        lambda: Custom(log_likelihood, parameters={"base": 1.0}),
        ("'base'", "Normal, HalfNormal, LogNormal, Gamma or"),
    ),
    (lambda: Custom(log_likelihood, parameters={"base": None}), ("None if log_prior", "got None")),
    (lambda: Custom(log_likelihood, parameters={"alpha": Normal()}), ("'alpha'",)),
    (lambda: Custom(log_likelihood, log_prior=flat), ("log_prior", "requires parameters")),
    (lambda: Custom(log_likelihood, predict=flat), ("predict", "(data, features, weights)")),
    (lambda: Normal(0, 0), ("sd", "got 0")),
    (lambda: Normal(math.nan), ("mean", "finite number", "got nan")),
    (lambda: Beta(0.1, 1), ("Beta distribution", "0.5; got 0.1", "got 0.1")),
    (lambda: HalfNormal(0), ("sd", "standard deviation")),
    (lambda: LogNormal(math.inf), ("mean", "finite number")),
    (lambda: Gamma(-1), ("shape", "Gamma distribution")),
]


@pytest.mark.parametrize("make, facts", BAD)
def test_bad_parameters_are_refused(make, facts):
    with refused(ArgumentError, *facts):
        make()


@pytest.mark.parametrize(
    "parameters, data, facts",
    [
        ({"rating": Normal()}, DATA, ("'rating'", "finite number")),
        ({"bass": Normal()}, DATA, ("'base', 'slope' and 'noise'",)),
        (
            {"noise": Gamma()},
            DATA._replace(noise=-1.0),
            ("starts at -1", "Gamma(shape=1.0, rate=1.0)"),
        ),
        ({"base": Normal()}, DATA._replace(base=math.inf), ("finite number",)),
    ],
)
def test_impossible_starting_values_are_refused(parameters, data, facts, uncompiled):
    with refused(ArgumentError, *facts):
        th.LatentFeatureModel(
            th.priors.IndianBuffet(), Custom(log_likelihood, parameters=parameters)
        ).fit(data, **RUN)


@pytest.mark.fit
def test_predictions_that_cannot_be_made(uncompiled):
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), Custom(log_likelihood)).fit(DATA, **RUN)
    with refused(ArgumentError, "predict"):
        model.predict()
    model.set_params(
        likelihood=Custom(log_likelihood, predict=lambda data, features, weights: weights)
    )
    with refused(ArgumentError, "predict"):
        model.predict()
    with refused(DataError, "labels of the fit"):
        model.set_params(likelihood=WHOLE).predict(DATA._replace(labels=tuple("wxyz")))
