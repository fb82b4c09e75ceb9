"""Data of groups of people that are simulated, at draws from the prior and at those of a fit."""

import math

import numpy as np
import pytest
from helpers.problems import random_comparisons, random_similarities
from helpers.sentences import refused
from helpers.set_problems import random_choices

import thali as th
from thali.errors import DataError

RUN = {"draws": 8, "tune": 2, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
LIMIT = 4.5
TIED = th.PairedComparisons(
    [[0, 3, 1], [2, 0, 4], [1, 1, 0]], ties=[[0, 2, 0], [2, 0, 1], [0, 1, 0]]
)
PAIRS = {"a": random_comparisons(3, 1), "b": random_comparisons(3, 2)}
CASES = {
    "pairs": (th.EliminationByAspects(people=th.people.Groups("similar"), tempering=False), PAIRS),
    "ties": (
        th.EliminationByAspects([[1], [1], [0]], people=th.people.Groups()),
        {"a": TIED, "b": random_comparisons(3, 4)},
    ),
    "sets": (
        th.EliminationByAspects(2, tempering=False, people=th.people.Groups()),
        {"a": random_choices(3, (2, 3), 1), "b": random_choices(3, (3,), 2)},
    ),
    "objects": (
        th.AdditiveClustering(2, people=th.people.Groups()),
        {"a": random_similarities(4, 1), "b": random_similarities(4, 2)},
    ),
}
EVERY = [pytest.param(name, marks=pytest.mark.fit) if name == "sets" else name for name in CASES]
pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


def assert_mean(values, mean, variance):
    assert abs(np.mean(values) - mean) < LIMIT * math.sqrt(variance / np.size(values))


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("weights", ["free", "similar"])
def test_parameters_are_those_of_the_prior(weights):
    tree = th.EliminationByAspects(people=th.people.Groups(weights)).sample_prior(
        PAIRS, draws=600, random_seed=1
    )
    prior = tree["prior"].dataset
    assert_mean(prior["alpha"], 1.0, 1.0)
    harmonic = 1.0 + 1 / 2 + 1 / 3  # alpha times it is the mean number of columns
    assert_mean(prior["n_features"], harmonic, harmonic + harmonic**2)
    if weights == "similar":
        assert_mean(prior["kappa"], 20.0, 200.0)
    unique = prior["group_unique_weights"].values  # shares: of three weights and the columns
    assert np.all(unique.sum(axis=-1) <= 1.0 + 1e-9)
    together = np.corrcoef(unique[0, :, 0, 0], unique[0, :, 1, 0])[0, 1]
    assert (together > 0.6) == (weights == "similar")


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("name", EVERY)
def test_simulated_data_can_be_fitted_and_have_the_design(name):
    model, data = CASES[name]
    tree = model.sample_prior(data, draws=3, random_seed=1)
    fitted = model.fit(data, **RUN)
    observed, simulated = fitted.posterior_["observed_data"], tree["prior_predictive"]
    assert set(simulated.data_vars) == set(observed.data_vars)
    for each in observed.data_vars:
        assert simulated[each].shape == (1, 3, *observed[each].shape)
    found = th.testing.calibrate(
        model, data, 2, draws=2, tune=0, thin=1, chains=1, cores=1, random_seed=1, progressbar=False
    )
    assert len(found.ranks) == 2 and any("[b]" in name for name in found.table.index)


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("name", EVERY)
def test_replicates_of_a_fit_are_those_of_each_group(name):
    model, data = CASES[name]
    fitted = model.fit(data, **RUN)
    found = fitted.posterior_predictive(data, random_seed=1)["posterior_predictive"].dataset
    observed = fitted.posterior_["observed_data"].dataset
    for each in observed.data_vars:
        assert found[each].shape == (2, RUN["draws"], *observed[each].shape)
    with refused(DataError, "was fitted to"):
        fitted.posterior_predictive({"b": data["b"], "a": data["a"]}, random_seed=1)


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_replicates_have_the_chosen_probability():
    data = {
        "a": th.PairedComparisons([[0, 900], [100, 0]]),
        "b": th.PairedComparisons([[0, 200], [800, 0]]),
    }
    model = th.EliminationByAspects([[1], [0]], people=th.people.Groups()).fit(
        data, **RUN | {"draws": 100, "tune": 100}
    )
    wins = model.posterior_predictive(data, random_seed=1)["posterior_predictive"]["wins"]
    np.testing.assert_allclose(wins.mean(("chain", "draw")), [900, 200], atol=25)
