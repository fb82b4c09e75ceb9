"""Who ignores what, in the hierarchical logit: the moves by enumeration, the answers by their
draws, mistakes."""

from importlib import import_module
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats.base.array import array_stats
from helpers.experiment_data import simulate_experiment
from helpers.naive.choice_models import hierarchical_log_joint
from helpers.places import PROJECT
from helpers.sentences import refused, said
from helpers.tiny_models import fitted

import thali as th
from thali._choice.logit_likelihood import EncodedTasks
from thali._choice.logits.attendance_moves import (
    flip_attention,
    person_log_likelihood,
    sample_attention,
    sample_ignored_tastes,
    write_heeded_mask,
)
from thali._choice.logits.attribute_non_attendance import Attention, resolve_attention
from thali._choice.logits.hierarchical_draws import (
    TasteDistribution,
    TasteScale,
    draw_new_people,
    list_attributes_near_zero,
)
from thali._choice.logits.hierarchical_moves import write_likelihood_slope
from thali._choice.logits.hierarchical_sweep import (
    TasteChain,
    TastePrior,
    build_problem,
    build_workspace,
    draw_start,
    initialise_state,
)
from thali._choice.product_coding import build_coding
from thali._data.experiments.product_encoding import add_constants
from thali._inference.markov_chains import run_chains
from thali._inference.random_seeds import spawn_generators
from thali._people.respondent_columns import RespondentCovariates
from thali._testing import exact
from thali.errors import ArgumentError, DataError

# Three attributes: one of two coefficients, one of one with a sign, one of one; the fifth is an
# interaction.
OWNED = np.array([[1, 1, 0, 0, 1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 1]], float)
SIGN = np.array([0.0, 0.0, -1.0, 0.0, 0.0])
MEAN = np.array([0.8, -0.5, 0.2, 0.6, 0.3])
COVARIANCE = np.diag([0.5, 0.8, 0.3, 0.6, 0.4]) + 0.1
RATE = np.array([0.7, 0.4, 0.55])
PATTERNS = np.array(list(product([0.0, 1.0], repeat=3)))


@pytest.fixture
def one():
    """A person of five tasks among others, with given tastes, and the naive joint density by what
    is attended to."""
    rng = np.random.default_rng(8)
    first_row = np.arange(11) * 3
    tasks = EncodedTasks(
        rng.normal(size=(30, 5)).round(1), first_row, first_row[:-1] + rng.integers(3, size=10)
    )
    first_task = np.array([0, 5, 10])
    problem = build_problem(tasks, first_task, TastePrior(9.0, 0.5, 1.0), SIGN, None, OWNED)
    state, space = draw_start(problem, rng), build_workspace(problem)
    state.beta[1] = [1.1, -0.4, 0.3, 0.7, -0.2]
    state.mean[0], state.rate[:] = MEAN, RATE
    state.covariance[:], state.precision[:] = COVARIANCE, np.linalg.inv(COVARIANCE)
    initialise_state(problem, state, space)
    rows = [
        (tasks.matrix[a:b], c - a)
        for a, b, c in zip(first_row[5:-1], first_row[6:], tasks.chosen_row[5:], strict=True)
    ]

    def joint(attends, beta):
        more = (9.0, 4.5, 1.0, None, SIGN, [attends], OWNED, RATE)
        return hierarchical_log_joint([rows], [beta], MEAN, COVARIANCE, *more)

    return problem, state, space, joint


def test_all_patterns_of_a_person_by_enumeration(one):
    """Given all else: the matrix of transitions between the eight patterns leaves their
    probabilities as they are."""
    problem, state, space, joint = one
    beta = state.beta[1].copy()
    log_density = np.array([joint(attends, beta) for attends in PATTERNS])
    wanted = np.exp(log_density - log_density.max())
    wanted /= wanted.sum()
    assert wanted[-1] == pytest.approx(0.29093472803, abs=1e-10)  # who attends to all three

    def step(rng, attends):
        state.attends[1] = attends
        write_heeded_mask(problem, state, 1)
        flip_attention(rng, problem, state, space, 1)
        attends[:] = state.attends[1]

    states, matrix = exact.transition_matrix(
        step, PATTERNS[0].copy(), lambda attends: tuple(attends)
    )
    at = [PATTERNS.tolist().index(each.tolist()) for each in states]
    assert len(states) == 8 and matrix.sum(axis=1) == pytest.approx(1.0)
    assert wanted[at] @ matrix == pytest.approx(wanted[at], abs=1e-12)
    assert np.linalg.matrix_power(matrix, 500)[3] == pytest.approx(wanted[at], abs=1e-9)
    assert np.array_equal(state.beta[1], beta)


@pytest.mark.parametrize("attends", PATTERNS.tolist())
def test_the_likelihood_is_the_naive_one(one, attends):
    """And its slope is that of differences: 0 in what is ignored."""
    problem, state, space, joint = one
    beta, slope = state.beta[1].copy(), np.zeros(5)
    everything = joint(np.ones(3), beta) - np.log(RATE).sum()
    state.attends[1] = 1.0
    write_heeded_mask(problem, state, 1)
    all_attended = person_log_likelihood(problem, state, space, 1)
    state.attends[1] = attends
    write_heeded_mask(problem, state, 1)
    found = write_likelihood_slope(problem, state, space, beta, 1, slope)
    given = np.log(np.where(np.array(attends) == 1.0, RATE, 1.0 - RATE)).sum()
    assert found - all_attended == pytest.approx(
        joint(attends, beta) - given - everything, rel=1e-9
    )
    for i in range(5):
        change = 1e-6 * np.eye(5)[i]
        ends = [
            write_likelihood_slope(problem, state, space, beta + way * change, 1, np.zeros(5))
            for way in (1, -1)
        ]
        assert slope[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)
    assert not slope[np.array(attends) @ OWNED < OWNED.sum(axis=0)].any()


class Noise:
    """Standard normal numbers, one of which is 1 and the others 0."""

    def __init__(self, place=-1):
        self.left = place

    def standard_normal(self):
        self.left -= 1
        return float(self.left == -1)


def test_what_is_ignored_comes_from_the_population_given_the_rest(one):
    """A normal: where the noise is 0 the naive density is flat, and its curvature is that of the
    noise's square."""
    problem, state, space, joint = one
    attends = np.array([0.0, 1.0, 1.0])
    state.attends[1] = attends
    write_heeded_mask(problem, state, 1)
    ignored, was = np.array([0, 1, 4]), state.beta[1].copy()
    drawn = []
    for place in (-1, 0, 1, 2):
        state.beta[1] = was
        sample_ignored_tastes(Noise(place), problem, state, space, 1)
        assert np.array_equal(np.delete(state.beta[1], ignored), np.delete(was, ignored))
        drawn.append(state.beta[1].copy())
    steps = np.array(drawn[1:])[:, ignored] - drawn[0][ignored]
    precision = np.linalg.inv(steps.T @ steps)
    for change in np.random.default_rng(2).normal(size=(4, 3)):
        there = drawn[0].copy()
        there[ignored] += change
        assert joint(attends, drawn[0]) - joint(attends, there) == pytest.approx(
            0.5 * change @ precision @ change
        )


def test_a_step_leaves_likelihood_and_slope_as_they_are_of_its_end(one):
    problem, state, space, _ = one
    rng = np.random.default_rng(3)
    for _ in range(20):
        sample_attention(rng, problem, state, space, 1)
        slope = np.zeros(5)
        assert state.log_likelihood[1] == write_likelihood_slope(
            problem, state, space, state.beta[1], 1, slope
        )
        assert np.array_equal(state.slope[1], slope)


@pytest.mark.fit
def test_a_tiny_problem_agrees_with_quadrature():
    """Two people, one coefficient that they may ignore, within 4 Monte Carlo standard errors."""
    x, df, scale, sd = np.array([0.0, 1.0] * 5), 5.0, 0.6, 1.2
    # chosen: 1 1 1 | 0 1
    tasks = EncodedTasks(x[:, None], np.arange(6) * 2, np.array([1, 3, 5, 6, 9]))
    problem = build_problem(
        tasks, np.array([0, 3, 5]), TastePrior(df, scale, sd), owned=np.ones((1, 1))
    )
    mu, log_variance = (
        np.linspace(-7, 7, 101)[:, None, None],
        np.linspace(-5, 5.5, 101)[None, :, None],
    )
    b = np.linspace(-14, 14, 281)[None, None, :]
    variance = np.exp(log_variance)
    density = np.exp(-0.5 * (b - mu) ** 2 / variance) / np.sqrt(2 * np.pi * variance) * 0.1
    p = 1 / (1 + np.exp(-b))
    population = np.exp(
        -0.5 * (mu / sd) ** 2 - 0.5 * df * log_variance - 0.5 * df * scale / variance
    )[..., 0]
    first, second = (density * p**3).sum(axis=2), (density * p * (1 - p)).sum(axis=2)
    # the integral of theta^k (1 - theta)^(2 - k) is 1/3, 1/6, 1/3 for k = 0, 1, 2 who attend
    cells = {
        (0, 0): 0.5**5 / 3,
        (0, 1): 0.5**3 * second / 6,
        (1, 0): first * 0.5**2 / 6,
        (1, 1): first * second / 3,
    }
    cells = {key: population * value for key, value in cells.items()}
    total = sum(cell.sum() for cell in cells.values())
    wanted = {
        "first attends": (cells[1, 0] + cells[1, 1]).sum() / total,
        "second attends": (cells[0, 1] + cells[1, 1]).sum() / total,
        "theta": sum((1 + sum(key)) / 4 * cell.sum() for key, cell in cells.items()) / total,
        "mean": sum((cell * mu[..., 0]).sum() for cell in cells.values()) / total,
        "log variance": sum((cell * log_variance[..., 0]).sum() for cell in cells.values()) / total,
    }
    assert wanted["first attends"] == pytest.approx(0.61866, abs=1e-5)
    assert wanted["theta"] == pytest.approx(0.51723, abs=1e-5)
    chains = [TasteChain(problem, rng, 2500, 400, 2) for rng in spawn_generators(3, 4)]
    run_chains(chains, 2, SimpleNamespace(note=lambda text: None, update=lambda done: None))
    found = {
        "first attends": [c.record.attends[:, 0, 0] for c in chains],
        "second attends": [c.record.attends[:, 1, 0] for c in chains],
        "theta": [c.record.rate[:, 0] for c in chains],
        "mean": [c.record.mean[:, 0, 0] for c in chains],
        "log variance": [np.log(c.record.covariance[:, 0, 0]) for c in chains],
    }
    for name, draws in found.items():
        draws = np.array(draws, float)
        error = float(array_stats.mcse(draws[None], method="mean")[0])
        assert error < 0.05
        assert abs(draws.mean() - wanted[name]) < 4 * error, (
            name,
            draws.mean(),
            wanted[name],
            error,
        )


# Which coefficients belong to an attribute --------------------------------------------------------


def owned_by_name(attention, data, **coding):
    coded = build_coding(data, **coding)
    found = resolve_attention(attention, data, coded)
    names = np.array(coded.names)
    return {
        name: names[own == 1.0].tolist() for name, own in zip(found.names, found.owned, strict=True)
    }


def test_levels_slopes_pieces_and_interactions_belong_to_an_attribute():
    data = th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=6, n_tasks=6))
    brand = ["brand[B]", "brand[C]"]
    assert owned_by_name(True, data) == {
        "price": ["price[15]", "price[25]"],
        "brand": brand,
        "zoom": ["zoom[yes]"],
    }
    assert (
        owned_by_name(["zoom"], data) == {"zoom": ["zoom[yes]"]} and owned_by_name(None, data) == {}
    )
    pieces = ["price[to 15]", "price[from 15]"]
    assert owned_by_name(["price", "price"], data, knots={"price": [15]}) == {"price": pieces}
    crossed = owned_by_name(True, data, linear="price", interactions=[("price", "zoom")])
    assert crossed == {
        "price": ["price", "price:zoom[yes]"],
        "brand": brand,
        "zoom": ["zoom[yes]", "price:zoom[yes]"],
    }


def test_constants_and_what_a_product_lacks_are_attended_to_by_all():
    rows = simulate_experiment(n_respondents=6, n_tasks=6)
    rows["zoom"] = np.where(rows["alt"] == 3, "-", rows["zoom"])
    none = (
        rows.drop_duplicates(["id", "task"])
        .drop(columns=["price", "brand", "zoom"])
        .assign(alt=4, choice=0)
    )
    data = th.ChoiceExperiment.from_frame(
        pd.concat([rows, none], ignore_index=True), none="4", missing="-"
    )
    coding = build_coding(data)
    owned = resolve_attention(True, data, coding).owned
    left = [name for name, own in zip(coding.names, owned.T, strict=True) if not own.any()]
    assert left == ["inside", "zoom[missing]"]
    data = add_constants(
        th.ChoiceExperiment.from_frame(simulate_experiment(n_respondents=6, n_tasks=6))
    )
    coding = build_coding(data)
    found = resolve_attention(True, data, coding)
    left = [name for name, own in zip(coding.names, found.owned.T, strict=True) if not own.any()]
    assert found.names == ("price", "brand", "zoom") and left == ["alt[2]", "alt[3]"]


def one_attribute():
    return th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=4, n_tasks=2), attributes=["price"]
    )


def three_attributes():
    frame = simulate_experiment(n_respondents=4, n_tasks=2).assign(age=30)
    return th.ChoiceExperiment.from_frame(frame, attributes=["price", "brand", "zoom"])


def one_zoom():
    """Products have the one zoom that there is, or none."""
    frame = simulate_experiment(n_respondents=4, n_tasks=4)
    levels = {"zoom": ["no", "yes"]}
    return th.ChoiceExperiment.from_frame(
        frame.replace({"zoom": {"no": "-"}}), missing="-", levels=levels
    )


MISTAKES = [
    (one_attribute, {"attention": True}, ("attention",)),
    (one_attribute, {"attention": ["price"]}, ("attention",)),
    (three_attributes, {"attention": ["prise"]}, ("attention", "contains 'prise'", "'price'")),
    (one_zoom, {"attention": ["zoom"]}, ("attention", "contains 'zoom'")),
    (three_attributes, {"attention": ["alt"], "constants": True}, ("attention", "contains 'alt'")),
    (three_attributes, {"attention": []}, ("attention",)),
    (three_attributes, {"attention": True, "by": ["age"]}, ("'age'", "'30'")),
]


@pytest.mark.parametrize(("data", "arguments", "facts"), MISTAKES)
def test_bad_arguments_of_attention_are_refused(data, arguments, facts):
    with refused((ArgumentError, DataError), *facts):
        th.HierarchicalLogit(**arguments).fit(data(), draws=1)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_without_attention_there_is_nothing_to_tell():
    with refused(ArgumentError, "attention=True"):
        fitted("hierarchical-logit").attention()


def test_the_prior_is_narrower_with_attention():
    data = three_attributes()
    for arguments, scale in (
        ({}, 1.0),
        ({"attention": True}, 0.2),
        ({"attention": True, "priors": {"scale": 0.7}}, 0.7),
    ):
        assert th.HierarchicalLogit(**arguments)._resolve_arguments(data).prior.scale == scale


# Answers ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study():
    """Half of the people ignore the price; a fit of few draws, in which they are known as well as
    in a long one."""
    rng = np.random.default_rng(3)
    frame, rows = simulate_experiment(n_respondents=40, n_tasks=12, seed=3), []
    ignores = np.arange(40) % 2 == 0
    for (person, _), products in frame.groupby(["id", "task"], sort=False):
        price, zoom = (
            (products["price"].to_numpy() - 15) / 10,
            (products["zoom"] == "yes").to_numpy(float),
        )
        utility = 2.0 * zoom - 2.5 * price * (not ignores[int(person[1:])])
        chosen = (utility + rng.gumbel(size=3)).argmax()
        rows.append(products.assign(choice=(np.arange(3) == chosen).astype(int)))
    data = th.ChoiceExperiment.from_frame(pd.concat(rows, ignore_index=True))
    model = th.HierarchicalLogit(linear="price", attention=["price", "zoom"])
    with pytest.warns(th.errors.ConvergenceWarning):
        model.fit(data, draws=60, tune=60, chains=2, thin=4, random_seed=1, progressbar=False)
    return model, data, ignores


@pytest.mark.long
@pytest.mark.fit
def test_who_ignores_the_price_is_found(study):
    model, data, ignores = study
    found = model.attention(ci=0.5)
    attends, rates = (
        model.posterior_["posterior"][name].values for name in ("attends", "attention")
    )
    assert attends.shape == (2, 60, 40, 2) and set(np.unique(attends)) == {0, 1}
    assert found.people.to_numpy() == pytest.approx(attends.mean(axis=(0, 1)))
    assert found.shares["attends"].to_numpy() == pytest.approx(rates.mean(axis=(0, 1)))
    ends = np.quantile(rates[..., 0], [0.25, 0.75])
    assert found.shares.loc["price", ["low", "high"]].tolist() == pytest.approx(ends)
    assert found.shares.attrs["interval"] == 0.5
    assert found.patterns["share"].sum() == pytest.approx(1.0)
    both = attends.all(axis=-1).mean()
    assert found.patterns.loc["everything", "share"] == pytest.approx(both)
    assert set(found.patterns.index) <= {"everything", "price", "zoom", "nothing"}
    assert (
        found.people["price"][~ignores].mean() > 0.9 and found.people["price"][ignores].mean() < 0.2
    )
    assert {"attends[price]", "attends[zoom]"} <= set(model.summary().index) & set(
        model.population().index
    )


@pytest.mark.fit
def test_tastes_are_0_in_the_draws_in_which_a_person_ignores(study):
    model, data, _ = study
    posterior = model.posterior_["posterior"]
    names = posterior["coefficient"].values.tolist()
    beta, attends = posterior["beta"].values, posterior["attends"].values == 1
    assert ((beta[..., names.index("price")] == 0.0) == ~attends[..., 0]).all()
    assert ((beta[..., names.index("zoom[yes]")] == 0.0) == ~attends[..., 1]).all()
    assert (beta[..., names.index("brand[B]")] != 0.0).all()
    likelihood = model.posterior_["log_likelihood"]["chosen"].values.sum(axis=-1)
    assert likelihood == pytest.approx(posterior["log_likelihood"].values)
    p = model.predict_proba(data)[data.first_row[:-1] + data.chosen]
    assert np.log(p).mean() > np.log(1 / 3) + 0.2


@pytest.mark.fit
def test_willingness_to_pay_is_that_of_those_who_attend_to_the_price(study):
    """By hand: in each draw the median over those who attend in it, then the median over draws."""
    model, _, ignores = study
    posterior = model.posterior_["posterior"]
    beta, attends = (
        posterior["beta"].values.reshape(-1, 40, 4),
        posterior["attends"].values[..., 0].reshape(-1, 40) == 1,
    )
    names = posterior["coefficient"].values.tolist()
    slope, zoom = beta[..., names.index("price")], beta[..., names.index("zoom[yes]")]
    with np.errstate(divide="ignore", invalid="ignore"):
        amounts = np.where(
            zoom == 0.0, 0.0, np.where(slope < 0.0, -zoom / slope, np.inf * np.sign(zoom))
        )
    by_hand = [np.median(own[who]) for own, who in zip(amounts, attends, strict=True)]
    table = model.willingness_to_pay("price").set_index("attribute")
    assert table.loc["zoom", "wtp"] == pytest.approx(np.median(by_hand))
    assert 0.0 < table.loc["zoom", "wtp"] < 20.0
    assert table.attrs["attends"] == pytest.approx(attends.mean())
    people = model.willingness_to_pay("price", each_person=True).query("attribute == 'zoom'")
    assert people["attends"].to_numpy() == pytest.approx(attends.mean(axis=0))
    one = int(np.flatnonzero(~ignores)[0])
    assert people["wtp"].iloc[one] == pytest.approx(np.median(amounts[attends[:, one], one]))
    finding = model.findings(price="price")["willingness_to_pay"]
    assert "those who attend" in finding.sentence
    said(finding.title, "those who attend")


def test_new_people_ignore_as_often_as_the_population_does():
    """Of one draw 20,000 times over, within 4 standard errors; whoever attends has tastes of the
    population."""
    many = (1, 20_000)
    posterior = xr.Dataset(
        {
            "mean": (("chain", "draw", "coefficient"), np.tile([1.0, -0.5], (*many, 1))),
            "covariance": (
                ("chain", "draw", "c", "d"),
                np.tile([[2.0, -0.6], [-0.6, 0.5]], (*many, 1, 1)),
            ),
            "attention": (("chain", "draw", "attribute"), np.tile([0.3, 0.8], (*many, 1))),
        }
    )
    scale = TasteScale(("a", "b"), np.zeros(2), np.eye(2), np.ones(2))
    attention = Attention(("a", "b"), np.eye(2))
    people = RespondentCovariates((), np.ones((5, 1)), np.zeros(0), np.zeros(0), (), ())
    tastes = draw_new_people(TasteDistribution(posterior, scale, people, attention), 3)
    n = len(tastes)
    assert np.abs((tastes != 0.0).mean(axis=0) - [0.3, 0.8]).max() < 4 * 0.5 / np.sqrt(n)
    both = tastes[(tastes != 0.0).all(axis=1)]
    assert len(both) / n == pytest.approx(0.24, abs=4 * 0.43 / np.sqrt(n))
    assert np.abs(both.mean(axis=0) - [1.0, -0.5]).max() < 4 * np.sqrt(2.0 / len(both))


@pytest.mark.fit
def test_markets_and_segments_integrate_over_who_attends(study):
    """The share among respondents is that of their tastes with what they ignore; new people ignore,
    too."""
    model, _, _ = study
    market = pd.DataFrame(
        {"price": [5, 25], "brand": "A", "zoom": ["no", "yes"]}, index=["plain", "dear"]
    )
    posterior = model.posterior_["posterior"]
    beta, names = posterior["beta"].values, posterior["coefficient"].values.tolist()
    utility = 20 * beta[..., names.index("price")] + beta[..., names.index("zoom[yes]")]
    share = (1 / (1 + np.exp(-utility))).mean()
    assert model.market_shares(market, people="respondents")["share"]["dear"] == pytest.approx(
        share, rel=1e-9
    )
    assert model.market_shares(market, people="new")["share"]["dear"] == pytest.approx(
        share, abs=0.1
    )
    assert "market" in model.findings().keys() and len(model.respondents.segments(2).sizes) == 2


@pytest.mark.fit
def test_demand_and_the_best_products_are_sums_over_draws(study):
    """By hand, by the tastes of each respondent in each draw, 0 where the person ignores: to
    1e-6."""
    model, _, _ = study
    posterior = model.posterior_["posterior"]
    beta, names = (
        posterior["beta"].values.reshape(-1, 40, 4),
        posterior["coefficient"].values.tolist(),
    )
    slope, zoom, b = (beta[..., names.index(name)] for name in ("price", "zoom[yes]", "brand[B]"))
    market = pd.DataFrame(
        {"price": [5, 25], "brand": ["A", "B"], "zoom": ["no", "yes"]}, index=["plain", "dear"]
    )

    def shares(utility, *others):
        return 1.0 / (1.0 + sum(np.exp(other - utility) for other in others))

    found = model.demand("price", "dear", [5, 15, 25], market, people="respondents")[
        "share"
    ].to_numpy()
    wanted = [shares(at * slope + zoom + b, 5 * slope).mean() for at in (5, 15, 25)]
    assert found == pytest.approx(wanted, rel=1e-6)
    space = {"price": [5, 15, 25], "brand": ["A", "B"], "zoom": ["no", "yes"]}
    worth = {
        (price, brand, has): (price - 4 * (has == "yes"))
        * shares(
            price * slope + (brand == "B") * b + (has == "yes") * zoom,
            5 * slope,
            25 * slope + zoom + b,
        ).mean()
        for price, brand, has in product(*space.values())
    }
    table = model.best_products(
        space, market, costs={"zoom": {"no": 0, "yes": 4}}, price="price", people="respondents"
    )
    lines = list(table[list(space)].itertuples(index=False, name=None))
    assert lines == sorted(worth, key=worth.get)[::-1][:5]
    assert table["profit"].to_numpy() == pytest.approx([worth[line] for line in lines], rel=1e-6)


@pytest.mark.long
@pytest.mark.fit
def test_who_attends_at_another_prior_size_is_the_fit_with_that_size(study):
    model, data, _ = study
    run = {"draws": 60, "tune": 60, "chains": 2, "random_seed": 1, "progressbar": False}
    model = th.HierarchicalLogit(linear="price", attention=["price", "zoom"])
    with pytest.warns(th.errors.ConvergenceWarning):
        model.fit(data, **run)
    with pytest.warns(th.errors.ConvergenceWarning):
        other = th.HierarchicalLogit(
            linear="price", attention=["price", "zoom"], priors={"scale": 3.0}
        ).fit(data, **run)
    with pytest.warns(th.errors.ConvergenceWarning):
        found = model.attention_by_scale(3.0, ci=0.5, progressbar=False)
    columns = ["attends", "low", "high"]
    pd.testing.assert_frame_equal(
        found[columns], model.attention(0.5).shares[columns], check_like=True
    )
    wanted = other.attention(0.5).shares[columns].to_numpy()
    assert found[[f"{name}_other" for name in columns]].to_numpy() == pytest.approx(wanted)
    assert found.attrs["scales"] == (0.2, 3.0)
    note = str(model.findings(ci=0.5, attention_scale=3.0)["attention"].notes[-1])
    off = np.abs(found["attends_other"] - found["attends"])
    assert ("has little influence" in note) == (
        off.max() <= 0.1
    ) and "with 3 instead of 0.2" in note
    with refused(ArgumentError, "scale"):
        model.attention_by_scale(0)


@pytest.mark.fit
def test_the_picture_shows_what_was_found(study, pictures):
    model, _, _ = study
    found = model.attention()
    ax = th.plots.attention(found)
    assert [text.get_text() for text in ax.get_yticklabels()] == found.shares[
        "attends"
    ].sort_values().index.tolist()
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert points.get_xdata() == pytest.approx(np.sort(found.shares["attends"]))
    assert len(ax.patches) == 2 * 25


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_who_ignores_price_and_zoom_is_found_in_a_study(monkeypatch):
    """150 people; benchmarks/attribute_attention.py has 400, and figures: within three standard deviations of
    the posterior."""
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    study = import_module("attribute_attention")
    data, tastes, attends = study.simulated(150, 5, study.IGNORED["45 % and 25 %"])
    model, _ = study.fitted(data, 1, 500, linear="price", attention=True)
    found, sample = model.summary(), dict(zip(study.NAMES, attends.mean(axis=0), strict=True))
    for name, part in sample.items():
        row = found.loc[f"attends[{name}]"]
        assert abs(row["mean"] - part) < 3 * row["sd"] + 0.02, name
    assert ((model.attention().people["price"] > 0.5) == attends[:, 0]).mean() > 0.85
    truth = np.median(
        -(tastes * attends)[attends[:, 0], 1:] / (tastes[attends[:, 0], :1] / 50.0), axis=0
    )
    assert model.willingness_to_pay("price")["wtp"].to_numpy() == pytest.approx(truth, rel=0.25)


@pytest.mark.fit
def test_what_is_hardly_told_from_indifference_is_said(study):
    """Zoom is liked by all; a taste whose mean is near 0 among people who differ is named."""
    model, _, _ = study
    posterior = model.posterior_["posterior"].dataset
    assert list_attributes_near_zero(posterior, model._build_taste_distribution()) == []
    wide = posterior.assign(covariance=100 * posterior["covariance"])
    assert list_attributes_near_zero(wide, model._build_taste_distribution()) == ["price", "zoom"]
    notes = " ".join(map(str, model.findings()["attention"].notes))
    assert "Refit with `attention_scale=1" in notes
    said(notes, "distinguish ignoring an attribute")
    sentence = model.findings()["attention"].sentence
    assert (
        sentence.startswith("Attribute non-attendance: price ignored by ") and "zoom by" in sentence
    )
    methods = " ".join(
        map(str, [model.findings()["methods"].sentence, *model.findings()["methods"].notes])
    )
    assert "price and zoom" in methods
