"""Designs for utilities that are uncertain: given with standard deviations, or those of a pilot."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError

pytestmark = pytest.mark.usefixtures("few_starts")
ATTRIBUTES = {"brand": ["A", "B", "C"], "price": [5, 10, 15], "lamp": ["no", "yes"]}
PRIOR = {"brand": [0.0, 0.5, 1.5], "price": -0.3, "lamp": [0.0, 1.0]}
SD = {"brand": 1.0, "price": 0.1, "lamp": [0.0, 0.5]}


def coded(design):
    """Tasks of products coded by indicators: two brands, two prices, the lamp."""
    price = pd.to_numeric(design["price"])
    columns = [
        design["brand"] == "B",
        design["brand"] == "C",
        price == 10,
        price == 15,
        design["lamp"] == "yes",
    ]
    return np.column_stack(columns).astype(float).reshape(design["task"].nunique(), -1, 5)


def d_errors_at(x, betas):
    """The D-error of tasks at each of several utilities, by the covariances of what is chosen."""
    weights = np.exp(np.einsum("taj,dj->dta", x, betas))
    p = weights / weights.sum(axis=2, keepdims=True)
    mean = np.einsum("dta,taj->dtj", p, x)
    information = np.einsum("dta,taj,tak->djk", p, x, x) - np.einsum("dtj,dtk->djk", mean, mean)
    return np.linalg.det(information) ** (-1 / x.shape[2])


def with_none(x):
    """Such tasks with nothing as a further product, told by a column of its own."""
    own = np.zeros((len(x), x.shape[1] + 1, x.shape[2] + 1))
    own[:, :-1, :-1], own[:, -1, -1] = x, 1.0
    return own


def d_errors(design, draws=4_000):
    """Own D-errors of a design at random normal utilities about PRIOR."""
    rng = np.random.default_rng(1)
    slope = rng.normal(-0.3, 0.1, draws)
    beta = [
        rng.normal(0.5, 1, draws),
        rng.normal(1.5, 1, draws),
        5 * slope,
        10 * slope,
        rng.normal(1, 0.5, draws),
    ]
    return d_errors_at(coded(design), np.column_stack(beta))


@pytest.mark.fit
def test_utilities_spread_as_was_given():
    """With nothing to choose, whose utility has a spread of its own; and all alike about 0."""
    rng = np.random.default_rng(1)
    design = th.designs.choice(ATTRIBUTES, 5, 3, random_seed=1)
    alike = th.designs.check(design, prior_sd=0.5).bayesian_d_error
    assert alike == pytest.approx(
        d_errors_at(coded(design), rng.normal(0, 0.5, (4_000, 5))).mean(), rel=0.03
    )
    how = {"prior": PRIOR | {"none": 0.2}, "prior_sd": SD | {"none": 0.3}}
    design = th.designs.choice(ATTRIBUTES, 5, 3, none=True, random_seed=1)
    products = design[design["brand"].notna()]
    slope = rng.normal(-0.3, 0.1, 4_000)
    beta = [
        rng.normal(0.5, 1, 4_000),
        rng.normal(1.5, 1, 4_000),
        5 * slope,
        10 * slope,
        rng.normal(1, 0.5, 4_000),
    ]
    wanted = d_errors_at(
        with_none(coded(products)),
        np.column_stack([*beta, rng.normal(0.2, 0.3, 4_000) - 5 * slope]),
    )
    assert th.designs.check(design, **how).bayesian_d_error == pytest.approx(
        wanted.mean(), rel=0.05
    )


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
    assert (
        "Bayesian D-error" in str(both[1])
        and th.designs.check(certain, PRIOR).bayesian_d_error is None
    )


@pytest.fixture(scope="module")
def pilot():
    design = th.designs.choice(ATTRIBUTES, 20, 3, none=True, versions=4, random_seed=1)
    rng, frame = np.random.default_rng(2), design.rename(columns={"version": "id"})
    utility = frame["brand"].map({"A": 0.0, "B": 0.5, "C": 1.5}).astype(float).fillna(0)
    utility += (
        -0.3 * pd.to_numeric(frame["price"]).fillna(0)
        + (frame["lamp"] == "yes")
        - 3 * frame["brand"].isna()
    )
    noisy = utility + rng.gumbel(size=len(frame))
    frame["choice"] = (
        noisy == noisy.groupby([frame["id"], frame["task"]]).transform("max")
    ).astype(int)
    return th.MultinomialLogit(linear="price", people="independent").fit(
        th.ChoiceExperiment.from_frame(frame.astype(object), none="none")
    )


@pytest.mark.fit
def test_a_pilot_says_how_uncertain_its_utilities_are(pilot):
    design = th.designs.choice(ATTRIBUTES, 5, 2, none=True, prior=pilot, random_seed=1)
    checked = th.designs.check(design, pilot)
    assert np.isfinite(checked.bayesian_d_error) and checked.table.loc["brand[C]", "utility"] > 0.5
    names = ["brand[B]", "brand[C]", "price", "lamp[yes]", "inside"]
    drawn = np.random.default_rng(1).multivariate_normal(
        pilot.coef_[names], pilot.covariance_.loc[names, names], 4_000
    )
    b, c, slope, lamp, inside = drawn.T
    betas = np.column_stack([b, c, 5 * slope, 10 * slope, lamp, -(inside + 5 * slope)])
    wanted = d_errors_at(with_none(coded(design[design["brand"].notna()])), betas).mean()
    assert checked.bayesian_d_error == pytest.approx(wanted, rel=0.1)
    power = th.designs.power(design, pilot, respondents=30, simulations=10, random_seed=1)
    np.testing.assert_allclose(power["utility"], checked.table["utility"])


@pytest.mark.first(1, "attributes2-how2-facts2")
@pytest.mark.fit
@pytest.mark.parametrize(
    ("attributes", "how", "facts"),
    [
        (ATTRIBUTES | {"price": [5, 12]}, {}, ("'price'", "'12'")),
        (ATTRIBUTES | {"size": ["S", "L"]}, {}, ("levels of 'size': 'S' and 'L'",)),
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
        ({"prior_sd": {"zoom": 1.0}}, ("prior_sd", "contains 'zoom'")),
        ({"prior_sd": {"brand": [0.0, 1.0]}}, ("prior_sd", "'brand'", "3 levels")),
        ({"prior_sd": "much"}, ("prior_sd", "'brand'")),
        ({"prior": {"brand": {"Z": 1.0}}}, ("'brand'", "level 'Z'", "'A'", "'B'")),
    ],
)
def test_bad_prior_deviations_are_refused(how, facts):
    with refused(ArgumentError, *facts):
        th.designs.choice(ATTRIBUTES, 8, 3, **how)
