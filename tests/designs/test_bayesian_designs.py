"""Designs for utilities that are uncertain: given with standard deviations, or those of a pilot."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali._designs.products import DRAWS, information, informations, prior_draws
from thali.errors import ArgumentError

ATTRIBUTES = {"brand": ["A", "B", "C"], "price": [5, 10, 15], "lamp": ["no", "yes"]}
PRIOR = {"brand": [0.0, 0.5, 1.5], "price": -0.3, "lamp": [0.0, 1.0]}
SD = {"brand": 1.0, "price": 0.1, "lamp": [0.0, 0.5]}
NAMES, LEVELS = list(ATTRIBUTES), list(ATTRIBUTES.values())


def d_errors(design, draws=4_000):
    """Own D-errors of a design at random normal utilities about PRIOR."""
    rng = np.random.default_rng(1)
    columns = [design["brand"] == "B", design["brand"] == "C", design["price"].astype(int) == 10]
    columns += [design["price"].astype(int) == 15, design["lamp"] == "yes"]
    x = np.column_stack(columns).astype(float).reshape(design["task"].nunique(), -1, 5)
    slope = rng.normal(-0.3, 0.1, draws)
    beta = [rng.normal(0.5, 1, draws), rng.normal(1.5, 1, draws), 5 * slope, 10 * slope, rng.normal(1, 0.5, draws)]
    return np.linalg.det(informations(x, np.column_stack(beta)).sum(axis=1)) ** (-1 / 5)


def test_information_of_several_is_that_of_each():
    rng = np.random.default_rng(0)
    matrix, betas = rng.normal(size=(4, 3, 5)), rng.normal(size=(6, 5))
    expected = np.stack([information(matrix, beta) for beta in betas])
    np.testing.assert_allclose(informations(matrix, betas), expected, atol=1e-12)
    np.testing.assert_array_equal(informations(matrix, betas[:1])[0], information(matrix, betas[0]))


def test_draws_have_the_means_and_the_spread_that_were_given():
    drawn = prior_draws(PRIOR | {"none": 0.2}, SD | {"none": 0.3}, NAMES, LEVELS, True, 4096)
    brand, price, lamp, none = (np.array(own) for own in zip(*drawn, strict=True))
    np.testing.assert_allclose(brand.mean(axis=0), PRIOR["brand"], atol=0.02)
    np.testing.assert_allclose(brand.std(axis=0), [0, 1, 1], atol=0.02)
    np.testing.assert_allclose((price[:, 1] - price[:, 0]) / 5, (price[:, 2] - price[:, 1]) / 5)
    np.testing.assert_allclose((price[:, 2] - price[:, 0]).std() / 10, 0.1, atol=0.002)
    np.testing.assert_allclose([lamp[:, 1].std(), none.std(), none.mean()], [0.5, 0.3, 0.2], atol=0.01)
    assert len(prior_draws(PRIOR, None, NAMES, LEVELS, False, DRAWS)) == 1
    alike = prior_draws(None, 0.5, NAMES, LEVELS, False, 4096)
    np.testing.assert_allclose(np.std([own[1] for own in alike], axis=0), [0, 0.5, 0.5], atol=0.01)


@pytest.mark.fit  # takes a second
def test_a_bayesian_design_is_better_on_average():
    how = {"tasks": 4, "alternatives": 3, "random_seed": 1}
    certain = th.designs.choice(ATTRIBUTES, prior=PRIOR, **how)
    bayesian = th.designs.choice(ATTRIBUTES, prior=PRIOR, prior_sd=SD, **how)
    both = [th.designs.check(each, PRIOR, prior_sd=SD) for each in (certain, bayesian)]
    assert both[1].bayesian_d_error < both[0].bayesian_d_error
    own = [d_errors(each) for each in (certain, bayesian)]
    difference = own[0] - own[1]
    assert difference.mean() > 4 * difference.std() / np.sqrt(len(difference))
    assert both[1].bayesian_d_error == pytest.approx(own[1].mean(), rel=0.1)
    assert "Bayesian D-error" in str(both[1]) and th.designs.check(certain, PRIOR).bayesian_d_error is None


@pytest.fixture(scope="module")
def pilot():
    design = th.designs.choice(ATTRIBUTES, 20, 3, none=True, versions=4, random_seed=1)
    rng, frame = np.random.default_rng(2), design.rename(columns={"version": "id"})
    utility = frame["brand"].map({"A": 0.0, "B": 0.5, "C": 1.5}).astype(float).fillna(0)
    utility += -0.3 * pd.to_numeric(frame["price"]).fillna(0) + (frame["lamp"] == "yes") - 3 * frame["brand"].isna()
    noisy = utility + rng.gumbel(size=len(frame))
    frame["choice"] = (noisy == noisy.groupby([frame["id"], frame["task"]]).transform("max")).astype(int)
    return th.MultinomialLogit(linear="price").fit(th.ChoiceExperiment.from_frame(frame.astype(object), none="none"))


@pytest.mark.fit
def test_a_pilot_says_how_uncertain_its_utilities_are(pilot):
    drawn = prior_draws(pilot, None, NAMES, LEVELS, True, DRAWS)
    assert len(drawn) >= DRAWS
    brand = np.array([own[0] for own in drawn])
    sd = np.sqrt(pilot.covariance_.loc["brand[C]", "brand[C]"])
    assert 0.6 < (brand[:, 2] - brand[:, 0]).std() / sd < 1.5
    assert (brand[:, 2] - brand[:, 0]).mean() == pytest.approx(pilot.coef_["brand[C]"], abs=4 * sd / np.sqrt(DRAWS))
    none = np.array([own[3][0] - own[0][0] - own[1][0] - own[2][0] for own in drawn])
    assert none.mean() == pytest.approx(-(pilot.coef_["inside"] + 5 * pilot.coef_["price"]), abs=0.5)
    design = th.designs.choice(ATTRIBUTES, 5, 2, none=True, prior=pilot, random_seed=1)
    checked = th.designs.check(design, pilot)
    assert np.isfinite(checked.bayesian_d_error) and checked.table.loc["brand[C]", "utility"] > 0.5
    power = th.designs.power(design, pilot, respondents=30, simulations=10, random_seed=1)
    np.testing.assert_allclose(power["utility"], checked.table["utility"])


@pytest.mark.fit
@pytest.mark.parametrize(
    ("attributes", "how", "facts"),
    [
        (ATTRIBUTES | {"price": [5, 12]}, {}, ("'price'", "'12'")),
        (ATTRIBUTES | {"size": ["S", "L"]}, {}, ("knows no 'size' of 'S', 'L'",)),
        (ATTRIBUTES, {"prior_sd": 1.0}, ("prior_sd",)),
    ],
)
def test_a_pilot_that_does_not_know_what_is_asked(pilot, attributes, how, facts):
    with refused(ArgumentError, *facts):
        th.designs.choice(attributes, 8, 3, none=True, prior=pilot, **how)


@pytest.mark.parametrize(
    ("how", "facts"),
    [
        ({"prior_sd": -1.0}, ("prior_sd", "'brand'")),
        ({"prior_sd": {"zoom": 1.0}}, ("prior_sd", "names 'zoom'")),
        ({"prior_sd": {"brand": [0.0, 1.0]}}, ("prior_sd", "'brand'", "3 levels")),
        ({"prior_sd": "much"}, ("prior_sd", "'brand'")),
        ({"prior": {"brand": {"Z": 1.0}}}, ("'brand'", "level 'Z'", "'A'", "'B'")),
    ],
)
def test_mistakes(how, facts):
    with refused(ArgumentError, *facts):
        th.designs.choice(ATTRIBUTES, 8, 3, **how)
