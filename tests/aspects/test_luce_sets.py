"""Sets of options that share no aspect: Luce's choice rule, against the recursion and by brute force."""

import numpy as np
import pytest
from helpers.sentences import refused

import thali as th
import thali._aspects.likelihoods.set_draws as set_draws
from thali.errors import ArgumentError
from thali.likelihoods import Elimination

RUN = {"chains": 2, "random_seed": 1, "progressbar": False}


def ranked(n, people, seed):
    rng = np.random.default_rng(seed)
    worth = rng.gamma(1.0, size=n)
    return th.Choices.from_rankings(
        [[f"o{k}" for k in np.argsort(-(np.log(worth) + rng.gumbel(size=n)))] for _ in range(people)]
    )


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_the_draws_are_those_of_the_recursion(uncompiled):
    data = ranked(5, 6, 2)
    model = th.EliminationByAspects("unique").fit(data, draws=30, tune=10, thin=1, **RUN)
    slow = th.LatentFeatureModel(th.priors.Given(np.zeros((5, 0))), Elimination())
    slow.fit(data, draws=30, tune=10, thin=1, **RUN)
    found, expected = (m.posterior_["posterior"].dataset for m in (model, slow))
    for name in ("unique_weights", "log_likelihood", "set_probability", "choice_probability"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
    names = [f"{what}[{label}]" for what in ("worth", "rank") for label in data.labels]
    assert list(model.summary().index) == ["n_features", "log_likelihood", *names]


@pytest.mark.fit
def test_the_posterior_of_three_options_is_that_of_quadrature():
    """Weights are Gamma(1, 1), so that the shares of three are uniform on the triangle."""
    data = th.Choices.from_rankings([["a", "b", "c"]] * 4 + [["b", "a", "c"]] * 2 + [["c", "a", "b"]])
    grid = (np.arange(400) + 0.5) / 400
    a, b = (each.ravel() for each in np.meshgrid(grid, grid))
    a, b = a, (1.0 - a) * b  # with density 1 - a
    weights = np.stack([a, b, 1.0 - a - b], axis=1)
    terms = set_draws.luce_probabilities(weights, data.start, data.members, 0.01)
    density = (1.0 - weights[:, 0]) * np.exp((data.counts * np.log(terms)).sum(axis=1))
    mean = density @ weights / density.sum()
    model = th.EliminationByAspects("unique").fit(data, draws=1500, tune=200, thin=4, **RUN)
    summary = model.summary().loc[[f"worth[{label}]" for label in data.labels]]
    off = (summary["mean"].to_numpy() - mean) / summary["mcse_mean"].to_numpy()
    assert np.abs(off).max() < 4.5 and summary["mcse_mean"].max() < 0.01


def test_probabilities_of_many_draws_with_weights_of_zero():
    random = np.random.default_rng(2)
    data, weights = ranked(6, 40, 3), random.gamma(1.0, 1.0, (1000, 6))
    weights[:500, random.permutation(6)[:4]] = 0.0
    weights[7] = 0.0
    assert weights.size < set_draws.AT_HAND < 1000 * len(data.members)  # several blocks
    found = set_draws.luce_probabilities(weights, data.start, data.members, 0.03)
    for draw in (0, 7, 499, 500, 999):
        for begin, end in zip(data.start[:-1], data.start[1:], strict=True):
            own = weights[draw, data.members[begin:end]]
            share = own / own.sum() if own.any() else np.full(len(own), 1.0 / len(own))
            np.testing.assert_allclose(found[draw, begin:end], 0.97 * share + 0.03 / len(own), rtol=1e-14)


def test_larger_sets_than_the_recursion_has_room_for():
    """Seventy options, where masks of 64 bits hold 63."""
    weights = np.arange(1.0, 71.0)
    found = set_draws.luce_probabilities(weights[None], np.array([0, 70]), np.arange(70), 0.1)[0]
    np.testing.assert_allclose(found, 0.9 * weights / weights.sum() + 0.1 / 70)
    data = ranked(70, 1, 1)
    Elimination(shared=False).check(th.priors.Given(np.zeros((70, 0))), data)


def test_shared_false_is_for_unique_aspects_alone():
    for prior, unique in ((th.priors.IndianBuffet(), True), (th.priors.Given(np.eye(3)), True)):
        with refused(ArgumentError, "only unique aspects"):
            Elimination(unique=unique, shared=False).check(prior, ranked(3, 2, 1))
