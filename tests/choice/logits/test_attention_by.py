"""Who attends by what people are, in the hierarchical logit: the moves, the answers by their draws,
mistakes."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.experiment_data import simulate_experiment
from helpers.naive.choice_models import hierarchical_log_joint
from helpers.sentences import refused
from scipy.special import expit, logit

import thali as th
from thali._choice.logit_likelihood import EncodedTasks
from thali._choice.logits.attendance_moves import (
    flip_attention,
    move_attention_odds,
    write_heeded_mask,
    write_odds_slope,
)
from thali._choice.logits.attribute_non_attendance import Attention
from thali._choice.logits.hierarchical_draws import TasteDistribution, TasteScale, draw_new_people
from thali._choice.logits.hierarchical_sweep import (
    TastePrior,
    build_problem,
    build_workspace,
    draw_start,
    initialise_state,
)
from thali._people.respondent_columns import RespondentCovariates
from thali._testing import exact
from thali.errors import ArgumentError, DataError

LOOKING = np.array([[1.0, -1.2, 0.3], [1.0, 0.4, -1.1], [1.0, 0.8, 0.8]])
OWNED = np.eye(2)
# of each column, by attribute
RATE, EFFECT = np.array([0.7, 0.4]), np.array([[0.9, -0.4], [-1.3, 0.6]])


@pytest.fixture
def three():
    """Three people of two tasks each, two attributes, and the naive joint density by who attends
    and why."""
    rng = np.random.default_rng(8)
    first_row = np.arange(7) * 3
    tasks = EncodedTasks(
        rng.normal(size=(18, 2)).round(1), first_row, first_row[:-1] + rng.integers(3, size=6)
    )
    problem = build_problem(
        tasks,
        np.array([0, 2, 4, 6]),
        TastePrior(7.0, 0.5, 1.0),
        owned=OWNED,
        attention_covariates=LOOKING,
    )
    state, space = draw_start(problem, rng), build_workspace(problem)
    state.rate[:], state.effect[:], state.attends[:] = RATE, EFFECT, [[1, 0], [1, 1], [0, 1]]
    initialise_state(problem, state, space)
    rows = [
        [(tasks.matrix[3 * t : 3 * t + 3], tasks.chosen_row[t] - 3 * t) for t in (2 * n, 2 * n + 1)]
        for n in range(3)
    ]

    def joint(rate=RATE, effect=EFFECT, attends=None):
        attends = state.attends if attends is None else attends
        more = (7.0, 3.5, 1.0, None, None, attends, OWNED, rate, None, LOOKING[:, 1:], effect)
        return hierarchical_log_joint(rows, state.beta, state.mean, state.covariance, *more)

    return problem, state, space, joint


def test_all_patterns_of_a_person_by_enumeration(three):
    """Given all else, each of three people has odds of their own: transitions leave the naive
    probabilities alone."""
    problem, state, space, joint = three
    patterns = np.array(list(product([0.0, 1.0], repeat=2)))
    for n in range(3):
        was = state.attends.copy()
        log_density = np.array(
            [joint(attends=[*was[:n], pattern, *was[n + 1 :]]) for pattern in patterns]
        )
        wanted = np.exp(log_density - log_density.max())
        wanted /= wanted.sum()

        def step(rng, attends, n=n):
            state.attends[n] = attends
            write_heeded_mask(problem, state, n)
            flip_attention(rng, problem, state, space, n)
            attends[:] = state.attends[n]

        states, matrix = exact.transition_matrix(
            step, patterns[0].copy(), lambda attends: tuple(attends)
        )
        at = [patterns.tolist().index(list(each)) for each in states]
        assert wanted[at] @ matrix == pytest.approx(wanted[at], abs=1e-12)
        assert np.linalg.matrix_power(matrix, 500)[0] == pytest.approx(wanted[at], abs=1e-9)
        state.attends[:] = was
        write_heeded_mask(problem, state, n)


def test_the_density_of_the_odds_is_the_naive_one(three):
    """In logits: times theta (1 - theta); its slope is that of differences."""
    problem, state, space, joint = three

    def naive(odds):
        rate, effect = RATE.copy(), EFFECT.copy()
        rate[1], effect[:, 1] = expit(odds[0]), odds[1:]
        return joint(rate, effect) + np.log(rate[1] * (1.0 - rate[1]))

    def density(odds):
        space.odds[:] = odds
        return write_odds_slope(problem, state, space, 1)

    here, there = np.array([0.3, -0.8, 1.7]), np.array([-4.2, 2.0, 0.1])
    assert density(there) - density(here) == pytest.approx(naive(there) - naive(here), rel=1e-9)
    for place in (here, there):
        density(place)
        slope = space.odds_force.copy()
        ends = [[naive(place + way * step) for way in (1, -1)] for step in 1e-6 * np.eye(3)]
        assert slope == pytest.approx(np.subtract(*np.transpose(ends)) / 2e-6, abs=1e-7)


class Given:
    """Numbers of a trajectory of six steps that is always accepted, from the momentum that is
    given."""

    def __init__(self, momentum):
        self.momentum = list(momentum)

    def standard_normal(self):
        return self.momentum.pop(0)

    def random(self):
        return 0.5

    def standard_exponential(self):
        return 1e9


def test_a_trajectory_turned_about_leads_back(three):
    problem, state, space, _ = three
    move_attention_odds(Given([0.4, -1.1, 0.7]), problem, state, space, 1)
    assert abs(state.effect[:, 1] - EFFECT[:, 1]).min() > 0.05
    move_attention_odds(Given(-space.odds_push), problem, state, space, 1)
    assert [state.rate[1], *state.effect[:, 1]] == pytest.approx([RATE[1], *EFFECT[:, 1]], rel=1e-9)


def test_odds_given_who_attends_by_quadrature():
    """Means of logit theta and of one effect, and of their squares, within 4 standard errors."""
    column, attends = np.array([-1.5, -0.5, 0.0, 0.5, 1.5]), np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    tasks = EncodedTasks(np.zeros((10, 1)), np.arange(6) * 2, np.arange(5) * 2)
    looking = np.column_stack([np.ones(5), column])
    problem = build_problem(
        tasks,
        np.arange(6),
        TastePrior(5.0, 0.6, 1.0),
        owned=np.ones((1, 1)),
        attention_covariates=looking,
    )
    state, space = draw_start(problem, np.random.default_rng(1)), build_workspace(problem)
    state.attends[:, 0] = attends
    a, b = np.linspace(-12, 12, 801)[:, None], np.linspace(-6, 6, 401)[None]
    theta = expit(a[..., None] + b[..., None] * column)
    weight = (
        expit(a)
        * expit(-a)
        * np.exp(-0.5 * b**2)
        * np.where(attends == 1.0, theta, 1.0 - theta).prod(axis=-1)
    )
    weight /= weight.sum()
    wanted = [(weight * value).sum() for value in (a, b, a * a, b * b, a * b)]
    assert wanted[1] == pytest.approx(0.80702, abs=1e-5)
    rng, found = np.random.default_rng(2), []
    for _ in range(3000):
        move_attention_odds(rng, problem, state, space, 0)
        a, b = logit(state.rate[0]), state.effect[0, 0]
        found.append([a, b, a * a, b * b, a * b])
    means = np.array(found).reshape(50, 60, 5).mean(axis=1)  # of batches
    scores = (means.mean(axis=0) - wanted) / (means.std(axis=0, ddof=1) / np.sqrt(50))
    assert np.abs(scores).max() < 4.0, scores


# Answers ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study():
    """Of 60 people the older half mostly ignores the price."""
    rng = np.random.default_rng(3)
    frame, rows = simulate_experiment(n_respondents=60, n_tasks=8, seed=3), []
    age = 20 + np.arange(60)
    looks = rng.random(60) < expit(-0.1 * (age - 50))
    for (person, _), products in frame.groupby(["id", "task"], sort=False):
        price, zoom, n = (
            (products["price"].to_numpy() - 15) / 10,
            products["zoom"] == "yes",
            int(person[1:]),
        )
        chosen = (2.0 * zoom - 2.5 * price * looks[n] + rng.gumbel(size=3)).to_numpy().argmax()
        of_person = {"age": age[n], "sex": "mw"[n % 2]}
        rows.append(products.assign(choice=(np.arange(3) == chosen).astype(int), **of_person))
    table = pd.concat(rows, ignore_index=True)
    data = th.ChoiceExperiment.from_frame(table, attributes=["price", "brand", "zoom"])
    model = th.HierarchicalLogit(
        linear="price", attention=["price", "zoom"], attention_by=["age", "sex"]
    )
    with pytest.warns(th.errors.ConvergenceWarning):
        model.fit(data, draws=60, tune=60, chains=2, thin=4, random_seed=1, progressbar=False)
    return model, data, age


@pytest.mark.long
@pytest.mark.fit
def test_who_looks_at_the_price_is_told_by_age(study):
    """The table is that of the draws; parts of the population are means over the respondents."""
    model, _, age = study
    posterior, found = model.posterior_["posterior"], model.attention(ci=0.5)
    typical, effect = posterior["attention_typical"].values, posterior["attention_effect"].values
    assert posterior["attention_covariate"].values.tolist() == ["age", "sex[w]"]
    columns = np.column_stack([age, np.arange(60) % 2 == 1])
    of_people = expit(logit(typical)[..., None, :] + (columns - columns.mean(axis=0)) @ effect)
    assert posterior["attention"].values == pytest.approx(of_people.mean(axis=2))
    assert found.shares["attends"].to_numpy() == pytest.approx(of_people.mean(axis=(0, 1, 2)))
    table = found.odds.set_index(["attribute", "column"])
    assert table.index.tolist() == [(k, by) for k in ("price", "zoom") for by in ("age", "sex[w]")]
    own = np.exp(effect[:, :, 0, 0].ravel())
    assert table.loc[("price", "age"), ["low", "odds", "high"]].to_list() == pytest.approx(
        np.quantile(own, [0.25, 0.5, 0.75])
    )
    assert found.odds["log_odds"].to_numpy() == pytest.approx(effect.mean(axis=(0, 1)).T.ravel())
    assert model.attention(0.97).odds["high"].iloc[0] < 1.0 and table.attrs["interval"] == 0.5
    rows = [
        "attends[price]",
        "attends[zoom]",
        "attends[price] per age",
        "attends[price] per sex[w]",
    ]
    rows += ["attends[zoom] per age", "attends[zoom] per sex[w]"]
    assert set(rows) <= set(model.summary().index) & set(model.population().index)
    sentence = str(model.findings()["attention_odds"].sentence)
    assert "multiplies the odds" in sentence
    assert "age and sex[w]" in str(model.findings()["methods"])


@pytest.mark.fit
def test_files_hold_by_what_people_attend(study, tmp_path):
    model, data, _ = study
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    pd.testing.assert_frame_equal(again.attention().odds, model.attention().odds)
    market = pd.DataFrame(
        {"price": [5, 25], "brand": "A", "zoom": ["no", "yes"]}, index=["plain", "dear"]
    )
    for people in (None, "new"):
        pd.testing.assert_frame_equal(
            *(each.market_shares(market, people=people) for each in (model, again))
        )


@pytest.mark.fit
def test_densities_of_the_prior_are_those_of_the_draws(study):
    model, _, age = study
    posterior, log_prior = (model.posterior_[name].dataset for name in ("posterior", "log_prior"))
    columns = np.column_stack([age, np.arange(60) % 2 == 1])
    typical, effect = posterior["attention_typical"].values, posterior["attention_effect"].values
    theta = expit(logit(typical)[..., None, :] + (columns - columns.mean(axis=0)) @ effect)
    wanted = np.log(np.where(posterior["attends"].values, theta, 1 - theta)).sum(axis=(2, 3))
    np.testing.assert_allclose(log_prior["attends"], wanted, rtol=1e-9)
    np.testing.assert_allclose(
        log_prior["attention_typical"], np.log(typical * (1 - typical)).sum(axis=2), rtol=1e-9
    )
    standard = effect * columns.std(axis=0)[:, None]
    wanted = -0.5 * (standard**2 + np.log(2 * np.pi)).sum(axis=(2, 3))
    np.testing.assert_allclose(log_prior["attention_effect"], wanted, rtol=1e-9)


def test_new_people_attend_by_what_they_are():
    """Of one draw 20,000 times over: with the column at -1 or 1 as in the data, within 4 standard
    errors."""
    many = (1, 20_000)
    posterior = xr.Dataset(
        {
            "mean": (("chain", "draw", "coefficient"), np.tile([1.0], (*many, 1))),
            "covariance": (("chain", "draw", "c", "d"), np.tile([[2.0]], (*many, 1, 1))),
            "attention_typical": (("chain", "draw", "attribute"), np.tile([0.3], (*many, 1))),
            "attention_effect": (
                ("chain", "draw", "column", "attribute"),
                np.tile([[0.25]], (*many, 1, 1)),
            ),
        }
    )
    # of sd 4: an effect of 1
    people = RespondentCovariates(
        ("age",), np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([4.0]), np.zeros(1), ("",), ("age",)
    )
    attention = Attention(("a",), np.eye(1), people)
    scale = TasteScale(("a",), np.zeros(1), np.eye(1), np.ones(1))
    of_tastes = RespondentCovariates((), np.ones((2, 1)), np.zeros(0), np.zeros(0), (), ())
    population = TasteDistribution(posterior, scale, of_tastes, attention)
    tastes = draw_new_people(population, 3)
    wanted = expit(logit(0.3) + np.array([-1.0, 1.0]))
    assert (tastes != 0.0).mean() == pytest.approx(
        wanted.mean(), abs=4 * 0.5 / np.sqrt(len(tastes))
    )
    draws, like = np.arange(20_000), np.tile([0, 1], (20_000, 1))
    rng = np.random.default_rng(1)
    found = population.compute_tastes(
        draws, rng.normal(size=(20_000, 2, 1)), like, rng.random((20_000, 2, 1))
    )
    assert (found != 0.0).mean(axis=0)[:, 0] == pytest.approx(wanted, abs=4 * 0.5 / np.sqrt(20_000))


def described(**columns):
    return th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=4, n_tasks=2).assign(**columns),
        attributes=["price", "brand", "zoom"],
    )


MISTAKES = [
    ({"attention_by": ["age"]}, ("attention_by", "attention=True")),
    ({"attention": True, "attention_by": ["agee"]}, ("attention_by", "contains 'agee'")),
    ({"attention": True, "attention_by": ["home"]}, ("attention_by", "'home'", "'Ulm'")),
    (
        {"attention": True, "attention_by": ["age", "years"]},
        ("attention_by", "2 covariates", "4 respondents"),
    ),
    ({"attention": True, "attention_by": 3}, ("attention_by", "`data.people`", "got 3")),
]


@pytest.mark.parametrize(("arguments", "facts"), MISTAKES)
def test_bad_columns_of_attention_are_refused(arguments, facts):
    age = np.repeat([20, 30, 40, 60], 6)
    with refused((ArgumentError, DataError), *facts):
        th.HierarchicalLogit(**arguments).fit(
            described(age=age, years=age + 1, home="Ulm"), draws=1
        )


def test_data_that_say_nothing_of_people():
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=4, n_tasks=2))
    with refused(DataError, "attention_by", "'age'"):
        th.HierarchicalLogit(attention=True, attention_by="age").fit(data, draws=1)
