"""Parameters from the prior, and simulated data: of every model."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused
from scipy import special, stats

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

PAIRS = th.PairedComparisons(
    [[0, 4, 1, 0], [2, 0, 3, 4], [5, 3, 0, 0], [0, 1, 6, 0]], labels="abcd"
)
X = np.random.default_rng(1).normal(size=(9, 2))
LIMIT = 4.5


class Ratings(NamedTuple):
    rating: np.ndarray
    labels: tuple


def log_likelihood(data, features, weights):
    return -0.5 * np.sum((data.rating - features @ weights) ** 2)


def simulate(data, features, weights, rng):
    return data._replace(rating=rng.normal(features @ weights, 1.0))


def experiment():
    return th.ChoiceExperiment.from_frame(
        pd.DataFrame(simulate_experiment(n_respondents=4, n_tasks=3))
    )


def sets():
    frame = pd.DataFrame(
        {"obsID": [1, 1, 1, 2, 2], "alt": list("abcbd"), "choice": [1, 0, 0, 1, 0], "count": 4}
    )
    return th.Choices(frame)


def similarities():
    matrix = th.datasets.numbers().matrix[:5, :5].copy()
    matrix[0, 1] = matrix[1, 0] = np.nan
    return th.Similarities(matrix)


CASES = {
    "pairs": (th.EliminationByAspects(), (PAIRS,)),
    "given": (th.EliminationByAspects([[1], [1], [0], [0]], unique=False, lapse=0.1), (PAIRS,)),
    "tree": (
        th.EliminationByAspects(th.Tree.from_groups({"x": ["a", "b"], "y": ["c", "d"]}), alpha=1.0),
        (PAIRS,),
    ),
    "sets": (th.EliminationByAspects(2), (sets(),)),
    "similarities": (th.AdditiveClustering(), (similarities(),)),
    "fixed sigma": (
        th.LatentFeatureModel(
            th.priors.FiniteFeatures(2), th.likelihoods.Additive(0.1, constant=False)
        ),
        (similarities(),),
    ),
    "own": (
        th.LatentFeatureModel(
            th.priors.IndianBuffet(), th.likelihoods.Custom(log_likelihood, simulate=simulate)
        ),
        (Ratings(np.zeros(3), ("a", "b", "c")),),
    ),
    "Plackett-Luce": (th.PlackettLuceRegression(a_range=(0.01, 10.0)), (X, list("abc") * 3)),
    "sparse": (th.SparseMultinomialLogit(), (X, [1, 2, 3] * 3)),
    "hierarchical": (th.HierarchicalLogit(linear="price"), (experiment(),)),
    "classes": (th.ProductClasses(monotone={"price": "decreasing"}), (experiment(),)),
}


@pytest.mark.long
@pytest.mark.first(7)
@pytest.mark.parametrize("name", CASES)
def test_draws_have_the_schema_of_a_posterior_and_come_from_the_seed(name):
    model, design = CASES[name]
    tree, again, other = (
        model.sample_prior(*design, draws=d, random_seed=s) for d, s in ((6, 1), (4, 1), (4, 2))
    )
    prior, predictive = tree["prior"].to_dataset(), tree["prior_predictive"].to_dataset()
    assert (prior.sizes["chain"], prior.sizes["draw"]) == (1, 6)
    assert all(variable.dims[:2] == ("chain", "draw") for variable in predictive.data_vars.values())
    shorter = again["prior"].to_dataset()["log_likelihood"]
    # a stream of its own for every draw
    assert prior["log_likelihood"].isel(draw=slice(4)).equals(shorter)
    assert not shorter.equals(other["prior"].to_dataset()["log_likelihood"])
    assert np.isfinite(prior["log_likelihood"]).all()
    assert tree.attrs["creation_library"] == "thali"
    if "observed_data" in tree:
        observed = tree["observed_data"].to_dataset()
        assert set(observed.data_vars) == set(predictive.data_vars)
        for variable in observed.data_vars:
            assert predictive[variable].dims == ("chain", "draw", *observed[variable].dims)


def drawn(name, draws=60):
    model, design = CASES[name]
    tree = model.sample_prior(*design, draws=draws, random_seed=3)
    prior = tree["prior"].to_dataset()
    if "prior_latent_features" in tree.children:
        prior = prior.merge(tree["prior_latent_features"].to_dataset())
    return prior.isel(chain=0), tree["prior_predictive"].to_dataset().isel(chain=0)


def test_log_likelihoods_are_those_of_the_simulated_data():
    prior, new = drawn("pairs")
    labels = {label: k for k, label in enumerate("abcd")}
    compared = [  # of all pairs
        k
        for k, (a, b) in enumerate(
            zip(prior["option_a"].values, prior["option_b"].values, strict=True)
        )
        if (PAIRS.counts + PAIRS.counts.T)[labels[a], labels[b]] > 0
    ]
    p = prior["choice_probability"].values[:, compared]
    expected = stats.binom.logpmf(new["wins"].values, PAIRS.wins + PAIRS.losses, p).sum(1)
    np.testing.assert_allclose(prior["log_likelihood"], expected, rtol=1e-10)

    prior, new = drawn("sets")
    p, counts = prior["set_probability"].values, new["chosen"].values
    expected = sum(
        special.gammaln(5) + (special.xlogy(x, q) - special.gammaln(x + 1)).sum(1)
        for x, q in ((counts[:, part], p[:, part]) for part in (slice(2), slice(2, 5)))
    )
    assert (counts[:, :2].sum(1) == 4).all() and sets().start.tolist() == [0, 2, 5]
    np.testing.assert_allclose(prior["log_likelihood"], expected, rtol=1e-9)

    prior, new = drawn("similarities")
    mean = prior["similarity"].values[:, 1:]  # the first pair is not measured
    expected = stats.norm.logpdf(
        new["similarity"].values, mean, prior["sigma"].values[:, None]
    ).sum(1)
    np.testing.assert_allclose(prior["log_likelihood"], expected, rtol=1e-10)

    prior, new = drawn("sparse")
    z = (X - X.mean(0)) / X.std(0)
    for draw in range(60):
        linear = np.zeros((9, 3))
        linear[:, 1:] = z @ prior["coef"].values[draw].T + prior["intercept"].values[draw]
        p = np.exp(linear - np.logaddexp.reduce(linear, axis=1, keepdims=True))
        own = p[np.arange(9), new["label"].values[draw]]
        assert float(prior["log_likelihood"][draw]) == pytest.approx(np.log(own).sum(), abs=1e-9)

    prior, new = drawn("Plackett-Luce")
    z = np.hstack(
        [np.exp((X - X.mean(0)) / X.std(0)), np.exp(-(X - X.mean(0)) / X.std(0)), np.ones((9, 1))]
    )
    for draw in range(60):
        scores = z @ prior["weights"].values[draw].T
        own = (scores / scores.sum(1, keepdims=True))[np.arange(9), new["label"].values[draw]]
        assert float(prior["log_likelihood"][draw]) == pytest.approx(
            np.log(own).sum(), rel=1e-8, abs=1e-8
        )
        np.testing.assert_allclose(
            prior["logit"].values[draw], np.log(own / (1 - own)), rtol=1e-6, atol=1e-6
        )

    frame = experiment().to_frame()
    x = np.column_stack(
        [
            frame["price"].astype(float),
            frame["brand"] == "B",
            frame["brand"] == "C",
            frame["zoom"] == "yes",
        ]
    )
    person = np.repeat(np.arange(4), 9)
    prior, new = drawn("hierarchical")
    assert list(prior["coefficient"].values) == ["price", "brand[B]", "brand[C]", "zoom[yes]"]
    for draw in range(60):
        u = (x * prior["beta"].values[draw][person]).sum(1).reshape(12, 3)
        own = u[np.arange(12), new["chosen"].values[draw]] - np.logaddexp.reduce(u, axis=1)
        assert float(prior["log_likelihood"][draw]) == pytest.approx(own.sum(), rel=1e-8)


def within(values, expected):
    values = np.asarray(values, float)
    return abs(values.mean() - expected) < LIMIT * values.std() / np.sqrt(values.size)


def test_means_are_those_of_the_prior():
    prior, _ = drawn("pairs", 400)
    assert within(prior["alpha"], 1.0) and within(prior["unique_weights"][:, 2], 1.0)
    assert within(prior["n_features"], 25 / 12)  # alpha H_4
    assert within(prior["features"].sum("feature")[:, 1], 1.0)
    prior, _ = drawn("similarities", 250)
    values = similarities().values
    assert within(prior["sigma"] ** -2.0, 2.0 / (0.02 * values.var()))
    assert within(prior["weights"].sum("feature"), 0.1 * (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5))
    assert within(prior["constant"], 0.1) and within(prior["constant"] ** 2, 0.02)
    prior, _ = drawn("hierarchical", 250)
    assert within(prior["mean"][:, 1] ** 2, 100.0)
    # nu V / (nu - p - 1) with nu = 7, p = 4
    assert within(prior["covariance"][:, 1, 1] / 7, 7 / 2 / 7)
    prior, _ = drawn("sparse", 400)
    assert within(prior["eta"], 1.0) and within(prior["intercept"] ** 2, 100.0)
    assert within(prior["eta"] * prior["coef"][:, 0, 1] ** 2, 2.0)
    prior, _ = drawn("Plackett-Luce", 400)
    assert within(np.log(prior["a"]), 0.5 * np.log(0.01 * 10.0))
    assert within(prior["weights"][:, 1, 2], 1 / 15)
    prior, _ = drawn("classes", 250)
    assert (
        within(prior["alpha"], 1.0)
        and within(prior["value_shape"], 1.0)
        and within(prior["stability"], 0.5)
    )
    assert within(prior["classes_per_person"], 1.0) and within(prior["n_classes"], 25 / 12)


def test_models_that_cannot_be_simulated_say_so(uncompiled):
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Custom(log_likelihood))
    with refused(ArgumentError, "requires a function"):
        model.sample_prior(Ratings(np.zeros(3), ("a", "b", "c")))
    weighted = th.PairedComparisons([[0, 1.5], [1, 0]], weights=True)
    with refused(DataError, "unweighted choices"):
        th.EliminationByAspects().sample_prior(weighted)
    with refused(ArgumentError, "1; got", "0"):
        th.EliminationByAspects().sample_prior(PAIRS, draws=0)
    with pytest.raises(DataError, match="one class"):
        th.SparseMultinomialLogit().sample_prior(X, ["a"] * 9)
    with refused(DataError, "2 groups", "each group separately"):
        th.EliminationByAspects().sample_prior({"a": [0, 1], "b": [1, 0]})


@pytest.mark.long
def test_similarities_of_many_judgements_scatter_less():
    """The standard deviation of the mean of n judgements is sigma / sqrt(n), within 5 of its own
    errors."""
    matrix, judged = np.full((3, 3), 0.5), np.array([[0, 100, 1], [100, 0, 4], [1, 4, 0]])
    data = th.Similarities(matrix, list("abc"), sigma=0.5, judgements=judged)
    tree = th.AdditiveClustering().sample_prior(data, draws=2000, random_seed=1)
    noise = tree["prior_predictive"]["similarity"].values - tree["prior"]["similarity"].values
    expected = 0.5 / np.sqrt([100, 1, 4])
    assert np.abs(noise.std(axis=(0, 1)) / expected - 1).max() < 5 / np.sqrt(2 * 2000)
    whole = stats.norm.logpdf(noise, scale=expected).sum(axis=2)
    assert tree["prior"]["log_likelihood"].values == pytest.approx(whole, rel=1e-9)
