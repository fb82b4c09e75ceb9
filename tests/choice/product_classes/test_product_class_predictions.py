"""Predictions of product classes: against the naive copy, against closed forms, and what must hold
of any."""

import numpy as np
import pandas as pd
import pytest
from helpers.naive import product_classes as naive
from helpers.naive.product_classes import random_particles
from helpers.product_class_answers import choice_probabilities, probabilities_of_parts
from helpers.product_class_fits import drawn, experiment, fitted, single
from helpers.sentences import refused
from helpers.terminals import narrow

from thali._choice.product_classes.ragged_draws import concatenate_draws
from thali._choice.product_classes.reports.choice_probabilities import (
    predict_tasks,
    simulate_share_draws,
)
from thali._inference.random_seeds import spawn_generators
from thali.errors import ArgumentError, DataError

LEVELS, DIRECTIONS = [4, 3, 2, 5], [-1, 0, 1, 0]


def one_task(draws, products, person=0, **settings):
    products = np.array(products)
    rows = np.arange(len(products))
    return choice_probabilities(
        draws,
        products,
        rows,
        np.array([0, len(rows)]),
        np.array([0, 1]),
        np.array([person]),
        **settings,
    )


def random_tasks(seed, levels=LEVELS):
    rng = np.random.default_rng(seed)
    products = np.column_stack([rng.integers(0, number, 12) for number in levels])
    products[rng.random(products.shape) < 0.1] = -1
    return products, rng.integers(0, 12, 18), np.array([0, 3, 5, 9, 12, 18]), np.array([0, 2, 3, 5])


# against the naive copy ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))]
)
# values of the second are far below the range of floats
@pytest.mark.parametrize("shape", [None, 0.01])
def test_probabilities_are_those_of_the_naive_copy(seed, shape):
    rng = np.random.default_rng(seed)
    draws = random_particles(rng, LEVELS, DIRECTIONS, 6, draws=3, groups=2, alpha=3.0, a=shape)
    products, rows, first_row, first_task = random_tasks(seed)
    people = np.array([2, -1, 4])
    found = choice_probabilities(
        draws, products, rows, first_row, first_task, people, repeats=3, random_seed=seed, cores=2
    )
    wanted = []
    for unit, decisions in enumerate(spawn_generators(seed, 3)):
        tasks = [
            products[rows[first_row[t] : first_row[t + 1]]]
            for t in range(*first_task[unit : unit + 2])
        ]
        wanted += naive.choice_probabilities(decisions, draws, int(people[unit]), tasks, 3)
    np.testing.assert_allclose(found, np.concatenate(wanted), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.add.reduceat(found, first_row[:-1]), 1.0, rtol=0, atol=1e-12)


def test_cores_have_no_influence():
    draws = random_particles(np.random.default_rng(5), LEVELS, DIRECTIONS, 6, draws=10, alpha=3.0)
    parts = (*random_tasks(5), np.array([0, -1, 3]))
    one, several = (
        choice_probabilities(draws, *parts, cores=cores, random_seed=3) for cores in (1, 4)
    )
    np.testing.assert_array_equal(one, several)
    assert np.any(one != choice_probabilities(draws, *parts, random_seed=4))


# intervals: the probability in each draw ----------------------------------------------------------


@pytest.mark.parametrize("repeats", [1, 7])
def test_probabilities_of_draws_are_the_parts_of_those_of_all(repeats):
    draws = random_particles(
        np.random.default_rng(5), LEVELS, DIRECTIONS, 6, draws=5, groups=2, alpha=3.0
    )
    # whose occasions are drawn in the same order
    people = np.array([0, -1, 3] if repeats == 1 else [0, 1, 3])
    asked = (*random_tasks(5), people)
    by_draw = probabilities_of_parts(draws, *asked, by_draw=True, repeats=repeats, random_seed=3)
    assert by_draw.shape == (10, 18)
    np.testing.assert_allclose(
        by_draw.mean(axis=0),
        choice_probabilities(draws, *asked, repeats=repeats, random_seed=3),
        rtol=0,
        atol=1e-12,
    )


def test_a_new_person_of_a_draw_stays_the_same_on_all_occasions():
    draws = random_particles(
        np.random.default_rng(6), LEVELS, DIRECTIONS, 6, draws=60, groups=2, alpha=3.0, a=1e-4
    )
    # what passes is nothing beside what stays
    draws = draws._replace(lapse=0.0, sigma=np.full(120, 0.999))
    asked = (
        np.array([[0, 0, 0, 0], [3, 2, 1, 4]]),
        np.arange(2),
        np.array([0, 2]),
        np.array([0, 1]),
        np.array([-1]),
    )
    p = probabilities_of_parts(draws, *asked, by_draw=True, repeats=50)[:, 0]
    assert np.isin(p, [0.0, 0.5, 1.0]).mean() > 0.95 and p.std() > 0.2


def test_an_interval_holds_the_draws_of_a_persons_probability():
    model = fitted(draws=20, alpha=3.0)
    new = experiment().to_frame().head(12)
    draws, design = drawn(draws=20, alpha=3.0)
    p, se, low, high = model.predict_proba(new, return_se=True, ci=0.8, repeats=50, random_seed=2)
    np.testing.assert_array_equal(
        (p, se), model.predict_proba(new, return_se=True, repeats=50, random_seed=2)
    )
    encoded = design.scheme.encode(new, design.respondents)
    every = predict_tasks(draws, encoded, by_draw=True, repeats=50, random_seed=2)
    np.testing.assert_allclose([low, high], np.quantile(every, [0.1, 0.9], axis=0))
    np.testing.assert_allclose(every.mean(axis=0), p)
    with refused(ArgumentError, "`ci`, the"):
        model.predict_proba(new, ci=1.5)


# closed forms -------------------------------------------------------------------------------------


def test_values_too_small_for_floats_are_compared_all_the_same():
    # e^-2000 against e^-2001: the larger always wins, ε being smaller still with (1 - σ) a near 0
    owned = [(0, -2000.0), (0, -2001.0)]
    draws = single(owned, members=[[1, 0], [0, 1]], a=1e-5, sigma=0.999)
    np.testing.assert_array_equal(one_task(draws, [[0], [1]], repeats=50), [1.0, 0.0])
    draws = single(owned[::-1], members=[[1, 0], [0, 1]], a=1e-5, sigma=0.999)
    np.testing.assert_array_equal(one_task(draws, [[0], [1]], repeats=50), [0.0, 1.0])


def test_small_values_count_beside_large_ones():
    # a class of value near 1 puts the third product last; of the others e^-2000 decides against
    # e^-2001
    owned = [(1, 0.0), (0, -2001.0), (0, -2000.0)]
    members = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    draws = single(owned, members=members, offset=(0, 3), a=1e-5, sigma=0.999)
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]):
        found = one_task(draws, [[level] for level in order], repeats=50)
        assert found[order.index(1)] == 1.0


def test_products_that_no_class_separates_share_the_probability():
    draws = single([(0, 0.0)], members=[[1, 1, 0]], offset=(0, 3), lapse=0.1)
    found = one_task(draws, [[0], [1], [2]])
    np.testing.assert_allclose(found, [0.45 + 0.1 / 3, 0.45 + 0.1 / 3, 0.1 / 3])
    # a missing attribute is in no class that asks for it: so is what lacks it
    np.testing.assert_allclose(
        one_task(draws, [[0], [-1], [-1]]), [0.9 + 0.1 / 3, 0.1 / 3, 0.1 / 3]
    )


def test_a_class_that_is_disliked_repels():
    draws = single([(1, 0.0)], members=[[1, 0]])
    np.testing.assert_array_equal(one_task(draws, [[0], [1]]), [0.0, 1.0])


def test_two_equal_classes_win_as_often():
    # θ of the first beats ε of neither for certain: v1 = .5 + ε1, v2 = 1.5 + ε2, ε ~ Exponential(1)
    draws = single([(0, np.log(0.5)), (0, np.log(1.5))], members=[[1, 0], [0, 1]], a=2.0, sigma=0.5)
    repeats = 40_000
    wanted = 0.5 * np.exp(-1.0)  # P(ε1 > 1 + ε2)
    found = one_task(draws, [[0], [1]], repeats=repeats)[0]
    assert abs(found - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / repeats)


def test_a_new_person_owns_what_the_buffet_serves():
    """One owner of {A} who likes it, β = 1: the new person owns it with probability 1/2, with an
    even urn 2/3 liked."""
    draws = single([(0, 0.0)], members=[[1, 0]], alpha=1e-12)
    repeats = 40_000
    found = one_task(draws, [[0], [1]], person=-1, repeats=repeats)[0]
    wanted = 0.5 * 2 / 3 + 0.5 * 0.5  # likes {A}; owns nothing and is indifferent; else dislikes it
    assert abs(found - wanted) < 4 * 0.5 / np.sqrt(repeats)


def test_people_are_exchangeable():
    """Draws from the prior say the same of a person in them and of a new one."""
    levels, directions = [3, 2], [1, 0]
    draws = random_particles(
        np.random.default_rng(2), levels, directions, 3, draws=1500, alpha=1.5, a=1.0, sigma=0.4
    )
    products = [[2, 0], [1, 1], [0, 1]]
    repeats = 4
    known = one_task(draws, products, person=2, repeats=repeats)
    new = one_task(draws, products, person=-1, repeats=repeats)
    # 3,000 draws of their own classes each; repetitions of one draw may agree entirely
    assert np.abs(known - new).max() < 4 * np.sqrt(2 * 0.25 / 3000)
    assert known[0] > known[1] + 0.05 and new[0] > new[1] + 0.05


@pytest.mark.parametrize("person", [0, -1])
def test_better_is_never_chosen_less(person):
    """Every draw alone: products that differ in one monotone attribute."""
    rng = np.random.default_rng(8)
    violated = {True: 0, False: 0}
    for seed in range(60):
        for monotone in (True, False):
            directions = [-1, 0, 1, 0] if monotone else [0, 0, 0, 0]
            draws = random_particles(
                np.random.default_rng(seed), LEVELS, directions, 2, draws=1, groups=1, alpha=4.0
            )
            draws = draws._replace(lapse=0.0)
            base = np.array([rng.integers(0, number) for number in LEVELS])
            better, worse = base.copy(), base.copy()
            better[0], worse[0] = 0, 3  # cheaper is better
            found = one_task(draws, [better, worse], person=person, repeats=20, random_seed=seed)
            violated[monotone] += found[0] < 0.5
    assert violated[True] == 0 and violated[False] > 3


# rows and respondents -----------------------------------------------------------------------------


def test_rows_come_back_in_the_order_given():
    model = fitted()
    frame = experiment().to_frame()
    there = model.predict_proba(frame, repeats=400)
    mixed = frame.sample(frac=1.0, random_state=1)
    np.testing.assert_allclose(
        model.predict_proba(mixed, repeats=400), there[mixed.index], atol=0.1
    )
    sums = pd.Series(there).groupby([frame["id"], frame["task"]]).sum()
    np.testing.assert_allclose(sums, 1.0)
    # an unknown respondent is a new person, and each of their tasks is predicted alone
    new = model.predict_proba(frame.assign(id="nobody", task=frame["id"] + frame["task"]))
    np.testing.assert_allclose(pd.Series(new).groupby([frame["id"], frame["task"]]).sum(), 1.0)
    assert np.abs(new - there).max() > 0.05
    without = model.predict_proba(
        frame.drop(columns=["id", "choice"]).assign(task=frame["id"] + frame["task"])
    )
    np.testing.assert_array_equal(without, new)


# markets ------------------------------------------------------------------------------------------

MARKET = pd.DataFrame(
    {
        "product": ["A", "B", "C"],
        "price": ["100", "150", "250"],
        "brand": ["Aika", "Bora", "Bora"],
        "zoom": ["no", "yes", "yes"],
        "battery": ["4 h", "4 h", "12 h"],
    }
)


def repeat_draw(draws, count):
    """A draw of one person, that many times."""
    assert draws.n_draws == 1
    return concatenate_draws([draws] * count)


@pytest.mark.long
def test_the_population_is_uncertain_after_a_sample():
    """One class, that m of N = 3 respondents own: its share in the population is Beta(m, N + 1 -
    m), and of its owners Beta(1 + liking, 1 + disliking) like it; who does not own it is
    indifferent. Nobody has a class of their own."""
    one = single([(0, 0.0)], members=[[1, 0]], alpha=1e-12)
    people = one._replace(
        n_owners=np.array([2]),
        n_negative=np.array([0]),
        first_owned=np.array([0, 1, 2, 2]),
        owned_class=np.zeros(2, np.int64),
        owned_sign=np.zeros(2, np.int8),
        owned_log_theta=np.zeros(2),
    )
    count = 600
    shares = simulate_share_draws(
        repeat_draw(people, count), [np.array([[0], [1]])], None, random_seed=1
    )[0][:, 0]
    mean, square = (
        0.5 + 0.5 * (2 / 4) * (2 * 3 / 4 - 1),
        (2 * 3 / (4 * 5)) * (4 * (3 * 4 / (4 * 5)) - 4 * 3 / 4 + 1),
    )
    # the last part: 4,000 newcomers
    variance = 0.25 * (square - (2 * mean - 1) ** 2) + mean * (1 - mean) / 4000
    assert abs(shares.mean() - mean) < 4.5 * np.sqrt(variance / count)
    kurtosis = ((shares - mean) ** 4).mean() / variance**2
    assert abs(shares.var() / variance - 1) < 4.5 * np.sqrt((kurtosis - 1) / count)
    # of many respondents the population is known, but for a scatter that their newcomers have
    many = people._replace(
        n_owners=np.array([800]),
        first_owned=np.minimum(np.arange(1001), 800),
        owned_class=np.zeros(800, np.int64),
        owned_sign=np.zeros(800, np.int8),
        owned_log_theta=np.zeros(800),
    )
    wide = simulate_share_draws(
        repeat_draw(many, 400), [np.array([[0], [1]])], None, random_seed=2
    )[0][:, 0].var()
    beta = 0.25 * 0.8 * 0.2 / 1002 + 0.25 * 0.8**2 * 801 / (802**2 * 803)
    assert 0.7 * beta < wide < 1.6 * beta


@pytest.mark.long
def test_newcomers_bring_classes_of_their_own():
    """Nobody owns anything yet, beta = 2: of M newcomers the i-th brings Poisson(alpha beta / (beta
    + N + i)) classes, and two of them own one class in common as the buffet says: by the prior
    simulated person by person."""
    nothing = single([], members=np.empty((0, 2), bool), alpha=1.5, beta=2.0)
    shares = simulate_share_draws(
        repeat_draw(nothing, 600), [np.array([[0], [1]])], None, random_seed=3
    )[0][:, 0]
    assert abs(shares.mean() - 0.5) < 4.5 * shares.std() / np.sqrt(600)
    # P(two newcomers choose the same product) is the mean of s^2 + (1 - s)^2
    same = shares**2 + (1 - shares) ** 2 - 2 * shares * (1 - shares) / (4000 - 1)
    rng, hits, tries = np.random.default_rng(4), 0, 8_000
    for _ in range(tries):
        sides, kept = [], []
        for person in range(2):
            present = 1 + person  # `single` holds a person, who owns nothing
            own = [
                (c, rng.integers(3) < 2 - side)
                for c, side in kept
                if rng.random() * (2 + present) < 1
            ]
            own = [(c, 0 if liked else 1) for c, liked in own]
            fresh = [
                (int(rng.integers(2)), int(rng.integers(2)))
                for _ in range(rng.poisson(3.0 / (2 + present)))
            ]
            kept += fresh
            utility = np.zeros(2)
            for level, side in [*own, *fresh]:
                value = rng.gamma(0.5) + rng.gamma(0.5)
                utility[level] += value if side == 0 else -value
            sides.append(
                int(rng.integers(2)) if utility[0] == utility[1] else int(utility.argmax())
            )
        hits += sides[0] == sides[1]
    error = np.hypot(same.std() / np.sqrt(600), 0.5 / np.sqrt(tries))
    assert abs(same.mean() - hits / tries) < 4.5 * error


@pytest.mark.parametrize("new", [False, True])
def test_shares_are_the_mean_of_everybodys_probabilities(new):
    draws, design = drawn(draws=20, alpha=3.0)
    codes = design.scheme.encode(MARKET.drop(columns="product")).products
    shares = simulate_share_draws(draws, [codes], None if new else np.ones(8))[0]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    rows, people = np.tile(np.arange(3), 8), np.full(8, -1) if new else np.arange(8)
    of_people = choice_probabilities(
        draws, codes, rows, np.arange(9) * 3, np.arange(9), people, repeats=500, random_seed=9
    )
    # shares: 4,000 occasions in each of 40 draws, in each another population; predictions: 20,000
    # of each of 8 people
    scatter = shares.std(axis=0, ddof=1) / np.sqrt(40) if new else 0.0
    error = np.hypot(0.5 * np.sqrt(2 / 160_000), scatter)
    assert (np.abs(shares.mean(axis=0) - of_people.reshape(8, 3).mean(axis=0)) < 4.5 * error).all()


def test_a_change_is_told_with_its_posterior():
    model = fitted(draws=20, alpha=3.0)
    table = model.market_shares(MARKET, change={"price": {"C": "100"}})
    assert {"share", "after", "change"} <= set(narrow(table).split())
    assert table.index.tolist() == ["A", "B", "C"]
    np.testing.assert_allclose(table["change"], table["after"] - table["share"])
    np.testing.assert_allclose(table[["share", "after", "change"]].sum(), [1, 1, 0], atol=1e-12)
    # cheaper is never worse, in no draw: the interval cannot reach below 0
    assert table.loc["C", "change"] > 0 and table.loc["C", "change_low"] >= 0
    assert (table.loc[["A", "B"], "change_high"] <= 0).all()
    draws = model.market_shares(MARKET, change={"price": {"C": "100"}}, each_draw=True)
    assert len(draws) == 40 and (draws["change"]["C"] >= 0).all()
    np.testing.assert_allclose(draws["after"].mean(), table["after"])
    low, high = np.quantile(draws["share"]["B"], [0.055, 0.945])
    np.testing.assert_allclose(
        table.loc["B", ["share_low", "share_high"]].astype(float), [low, high]
    )


def test_ways_to_write_a_change():
    model = fitted(draws=4)
    one = model.market_shares(MARKET, change={"price": {"A": "200", "B": "200", "C": "200"}})
    pd.testing.assert_frame_equal(one, model.market_shares(MARKET, change={"price": "200"}))
    pd.testing.assert_frame_equal(one, model.market_shares(MARKET, change={"price": ["200"] * 3}))
    nothing = model.market_shares(MARKET, change={"zoom": ["no", "yes", "yes"]})
    assert (nothing["change"] == 0).all()
    by_index = model.market_shares(MARKET.set_index("product"))
    assert by_index.index.tolist() == ["A", "B", "C"]
    assert model.market_shares(MARKET.drop(columns="product")).index.tolist() == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("change", "messages"),
    [
        ({"colour": "red"}, ("'colour'",)),
        ({"price": {"D": "100"}}, ("no product 'D'",)),
        ({"price": ["100", "150"]}, ("2 levels", "3 products")),
        ({"price": ["100"]}, ("has 1 level for 3 products",)),
        ({"price": "120"}, ("'120'",)),
        ([("price", "100")], ("`change` must map",)),
    ],
)
def test_bad_changes_are_refused(change, messages):
    with refused((ArgumentError, DataError), *messages):
        fitted(draws=2).market_shares(MARKET, change=change)


def test_bad_markets_are_refused():
    model = fitted(draws=2)
    with refused(DataError, "data frame"):
        model.market_shares([1, 2])
    with refused(ArgumentError, "or 'new'"):
        model.market_shares(MARKET, people="all")
