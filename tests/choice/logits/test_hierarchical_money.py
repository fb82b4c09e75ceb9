"""The hierarchical logit in willingness-to-pay space: its likelihood, recovery, answers, bad
input."""

import numpy as np
import pandas as pd
import pytest
from helpers.calibration import calibrate
from helpers.experiment_data import simulate_experiment
from helpers.naive.choice_models import hierarchical_log_joint
from helpers.sentences import refused
from scipy.optimize import minimize
from scipy.special import ndtri
from scipy.stats import qmc

import thali as th
from thali._choice.logit_likelihood import EncodedTasks
from thali._choice.logits.hierarchical_moves import add_curvature, write_likelihood_slope
from thali._choice.logits.hierarchical_sweep import (
    TastePrior,
    build_problem,
    build_workspace,
    draw_start,
    initialise_state,
)
from thali.errors import ArgumentError

MONEY = {"linear": "price", "space": "willingness-to-pay"}
SIGN, PRICE = np.array([0.0, -1.0, 1.0]), 1  # an amount, the price, an amount with a sign


@pytest.fixture
def one():
    """A person of four tasks beside another, and the naive joint density of the tastes of that
    person."""
    rng = np.random.default_rng(8)
    first_row = np.arange(9) * 3
    tasks = EncodedTasks(
        rng.normal(size=(24, 3)).round(1), first_row, first_row[:-1] + rng.integers(3, size=8)
    )
    problem = build_problem(
        tasks, np.array([0, 4, 8]), TastePrior(9.0, 0.5, 1.0), SIGN, None, PRICE
    )
    state, space = draw_start(problem, rng), build_workspace(problem)
    initialise_state(problem, state, space)
    rows = [
        (tasks.matrix[a : a + 3], c - a)
        for a, c in zip(first_row[4:8], tasks.chosen_row[4:], strict=True)
    ]

    def joint(beta):
        more = (np.zeros(3), np.eye(3), 9.0, 4.5, 1.0, None, SIGN, PRICE)
        return hierarchical_log_joint([rows], [beta], *more) + 0.5 * (beta**2).sum()

    return problem, space, joint


def test_the_likelihood_is_the_naive_one_and_so_are_its_slope_and_curvature(one):
    """The curvature is the expected one: that of a likelihood in which each alternative is chosen
    by its probability"""
    problem, space, joint = one
    here, there = np.array([0.6, 0.3, -0.4]), np.array([-1.2, -0.5, 0.2])
    slope = np.zeros(3)
    found = write_likelihood_slope(problem, space, there, 1, np.zeros(3)) - write_likelihood_slope(
        problem, space, here, 1, slope
    )
    assert found == pytest.approx(joint(there) - joint(here), rel=1e-9)
    for i in range(3):
        change = 1e-6 * np.eye(3)[i]
        wanted = (joint(here + change) - joint(here - change)) / 2e-6
        assert slope[i] == pytest.approx(wanted, abs=1e-7)
    curvature = np.zeros((3, 3))
    add_curvature(problem, space, here, 1, curvature)
    x = problem.columns.T[12:].reshape(4, 3, 3)
    s, step = np.exp(here[1]), np.exp(here[2])
    # db / dbeta
    inner = np.array([[s, s * here[0], 0.0], [0.0, -s, 0.0], [0.0, s * step, s * step]])
    p = np.exp(x @ [s * here[0], -s, s * step])
    p /= p.sum(axis=1, keepdims=True)
    plain = sum(x[t].T @ (np.diag(p[t]) - np.outer(p[t], p[t])) @ x[t] for t in range(4))
    assert np.tril(curvature) == pytest.approx(np.tril(inner.T @ plain @ inner), rel=1e-9)


# Answers ------------------------------------------------------------------------------------------


def bought(people, tasks, seed, mean=(-1.9, 12.0, -6.0), sd=(0.4, 5.0, 6.0)):
    """Choices of people whose scale is log-normal and whose amounts for a zoom and a brand are
    normal; these."""
    rng = np.random.default_rng(seed)
    numbers = np.array(mean) + np.array(sd) * rng.normal(size=(people, 3))
    rows = []
    for person, (log_scale, zoom, brand) in enumerate(numbers):
        for task in range(tasks):
            price, has, other = (
                rng.choice([5, 15, 25], size=3),
                rng.integers(2, size=3),
                rng.integers(2, size=3),
            )
            utility = np.exp(log_scale) * (zoom * has + brand * other - price)
            chosen = (utility + rng.gumbel(size=3)).argmax()
            for j in range(3):
                row = dict(id=f"p{person:03}", task=task, alt=j + 1, choice=int(j == chosen))
                rows.append(
                    row
                    | {"price": price[j], "zoom": "no yes".split()[has[j]], "brand": "AB"[other[j]]}
                )
    return pd.DataFrame(rows), numbers


@pytest.fixture(scope="module")
def study():
    frame, numbers = bought(40, 12, seed=1)
    data = th.ChoiceExperiment.from_frame(frame)
    model = th.HierarchicalLogit(**MONEY)
    with pytest.warns(th.errors.ConvergenceWarning):
        model.fit(data, draws=60, tune=60, chains=2, random_seed=1, progressbar=False)
    return model, data, numbers


@pytest.mark.fit
def test_amounts_are_the_parameters_of_the_population(study):
    """Draw by draw: the amounts of people are their coefficients over that of the price; their
    population's mean is that of who is asked, within the error of so many people."""
    model = study[0]
    posterior = model.posterior_["posterior"]
    beta, mean = posterior["beta"].values, posterior["mean"].values
    assert (beta[..., 0] < 0.0).all()
    amounts = -beta[..., 1:] / beta[..., :1]
    assert model.coef_.index.tolist() == ["scale[price]", "zoom[yes]", "brand[B]"]
    assert model.coef_.iloc[1:].to_numpy() == pytest.approx(mean[..., 1:].mean(axis=(0, 1)))
    assert model.coef_.iloc[0] == pytest.approx(-beta[..., 0].mean())
    assert model.individual_.iloc[:, 1:].to_numpy() == pytest.approx(amounts.mean(axis=(0, 1)))
    assert model.individual_["scale[price]"].to_numpy() == pytest.approx(
        -beta[..., 0].mean(axis=(0, 1))
    )
    rows = model.population()
    names = ["ln scale[price]", "zoom[yes]", "brand[B]"]
    assert rows.index.tolist() == [f"{of}[{name}]" for of in ("mean", "sd") for name in names] + [
        "log_likelihood"
    ]
    pay = model.willingness_to_pay("price", ci=0.5)
    assert pay["wtp"].to_numpy() == pytest.approx(
        np.median(np.median(amounts, axis=2), axis=(0, 1))
    )
    sd = rows.loc[["sd[zoom[yes]]", "sd[brand[B]]"], "mean"].to_numpy()
    assert (
        np.abs(pay["wtp"] - model.coef_.iloc[1:].to_numpy()) < 4.5 * sd * np.sqrt(np.pi / 2 / 40)
    ).all()
    people = model.willingness_to_pay("price", each_person=True)
    own = people[people["attribute"] == "zoom"]["wtp"].to_numpy()
    assert own == pytest.approx(np.median(amounts[..., 0], axis=(0, 1)))


@pytest.mark.fit
def test_units_of_money_multiply_the_amounts(study):
    """In cents for euros: the draws are the same but for their units."""
    model = study[0]
    cents = bought(40, 12, seed=1)[0].assign(price=lambda rows: rows["price"] * 100)
    with pytest.warns(th.errors.ConvergenceWarning):
        again = th.HierarchicalLogit(**MONEY).fit(
            th.ChoiceExperiment.from_frame(cents),
            draws=60,
            tune=60,
            chains=2,
            random_seed=1,
            progressbar=False,
        )
    wanted = model.coef_ * [0.01, 100, 100]
    assert again.coef_.to_dict() == pytest.approx(wanted.to_dict(), rel=1e-6)
    sds = [f"sd[{name}]" for name in ("ln scale[price]", "zoom[yes]", "brand[B]")]
    ratio = again.population().loc[sds, "mean"] / model.population().loc[sds, "mean"]
    assert ratio.to_numpy() == pytest.approx([1, 100, 100], rel=1e-6)


@pytest.mark.long
@pytest.mark.fit
def test_predictions_follow_the_draws(study):
    model, data, _ = study
    beta = model.posterior_["posterior"]["beta"].values.reshape(-1, 40, 3)
    tasks = pd.DataFrame(
        {"id": "p003", "task": 1, "price": [5, 25], "zoom": ["no", "yes"], "brand": ["A", "B"]}
    )
    p = 1.0 / (1.0 + np.exp(-(beta[:, 3] @ [20.0, 1.0, 1.0])))
    assert model.predict_proba(tasks)[1] == pytest.approx(p.mean())
    methods = " ".join(
        str(each) for f in model.findings() if f.key == "methods" for each in f.notes
    )
    assert "willingness-to-pay space" in methods


def test_new_people_are_of_the_population(study):
    """Amounts of people drawn in one draw: mean and covariance within 4.5 of their errors."""
    model = study[0]
    population, posterior = model._build_taste_distribution(), model.posterior_["posterior"]
    noise = ndtri(qmc.Sobol(3, rng=3).random(2**12).clip(1e-9))
    tastes = population.compute_tastes(np.array([7]), noise[None], np.zeros((1, 2**12), int))[0]
    normal = np.column_stack([np.log(-tastes[:, 0]), -tastes[:, 1:] / tastes[:, :1]])
    mean, covariance = posterior["mean"].values[0, 7], posterior["covariance"].values[0, 7]
    assert (np.abs(normal.mean(axis=0) - mean) < 4.5 * np.sqrt(np.diag(covariance) / 2**12)).all()
    assert np.cov(normal.T) == pytest.approx(
        covariance, rel=0.05, abs=0.05 * np.diag(covariance).max()
    )


def test_a_price_that_people_seek_is_refused():
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=6, n_tasks=6))
    with refused(ArgumentError, "space='willingness-to-pay'", "'price'"):
        th.HierarchicalLogit(**MONEY, signs={"price": "increasing"}).fit(data, draws=1)


@pytest.mark.long
def test_simulated_maximum_likelihood_finds_the_same():
    """300 people: SciPy's BFGS on 256 Sobol points a person, of mean and Cholesky factor; and the
    truth.

    Estimates -1.875, 12.08, -6.84, .443, 4.96, 7.22; posterior means -1.886, 11.86, -6.76, .401,
    4.23, 7.11.
    """
    frame, _ = bought(300, 10, seed=4)
    data = th.ChoiceExperiment.from_frame(frame)
    x = np.column_stack([frame["price"], frame["zoom"] == "yes", frame["brand"] == "B"]).reshape(
        300, 10, 3, 3
    )
    off = (
        x
        - x[
            np.arange(300)[:, None],
            np.arange(10),
            frame["choice"].to_numpy().reshape(300, 10, 3).argmax(axis=2),
        ][:, :, None]
    )  # an alternative less the chosen one
    points = ndtri(qmc.Sobol(3, rng=1).random(2**17)[: 256 * 300].clip(1e-9)).reshape(300, 256, 3)
    units = np.array([1.0, 10.0, 10.0])

    def minus(theta):
        factor = np.zeros((3, 3))
        factor[np.tril_indices(3)] = theta[3:]
        normal = (theta[:3] + points @ factor.T) * units
        s = np.exp(normal[..., 0])
        tastes = np.stack([-s, s * normal[..., 1], s * normal[..., 2]], axis=-1)
        u = np.einsum("ntjk,nrk->nrtj", off, tastes)
        return -np.log(np.exp(-np.log(np.exp(u).sum(axis=3)).sum(axis=2)).mean(axis=1)).sum()

    start = np.array([-2.0, 0.5, -0.5, 0.5, 0.0, 0.5, 0.0, 0.0, 0.5])
    found = minimize(minus, start, method="BFGS", options={"gtol": 0.02})
    factor = np.zeros((3, 3))
    factor[np.tril_indices(3)] = found.x[3:]
    model = th.HierarchicalLogit(**MONEY, priors={"scale": 0.1}).fit(
        data, draws=400, tune=200, random_seed=2, progressbar=False
    )
    rows = model.population().iloc[:6]
    wanted = np.concatenate([found.x[:3] * units, np.sqrt((factor**2).sum(axis=1)) * units])
    off = np.abs(rows["mean"] - wanted) / rows["sd"]
    # of spreads: skewed, and 256 points are noisy
    assert (off[:3] < 0.5).all() and (off[3:] < 1.5).all()
    truth = np.array([-1.9, 12.0, -6.0, 0.4, 5.0, 6.0])
    assert (np.abs(rows["mean"] - truth) < 3.5 * rows["sd"]).all()


@pytest.mark.long
def test_two_hundred_data_sets_are_calibrated():
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=6, n_tasks=6))
    model = th.HierarchicalLogit(**MONEY, priors={"mean_sd": 1.0})
    run = {"draws": 100, "tune": 100, "chains": 1}
    found = calibrate(model, data, 200, random_seed=1, **run)
    print(found)
    assert found.ok
