"""Rules of choice, availability, actual shares, elasticities, sources of volume, hold-out tasks:
against own sums."""

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import of_segments, simulate_experiment, with_tastes
from helpers.market_studies import MARKET, encode_products, softmax
from helpers.sentences import refused, said, warned

import thali as th
import thali._choice.reports.people_weights as market
from thali._choice.reports.market_simulator import hash_exponentials
from thali.errors import ArgumentError, DataError, DataWarning

pytestmark = pytest.mark.fit

THESE = {"people": "respondents"}
ACTUAL = {"A": 0.5, "B": 0.2, "C": 0.3}


def utilities(model, market=MARKET):
    """Utilities (draws, people, products) and prices' coefficients (draws, people), by the columns'
    names."""
    beta = model.posterior_["posterior"]["beta"]
    tastes = beta.stack(row=["chain", "draw"]).transpose("row", "respondent", "coefficient")
    names = [str(name) for name in tastes["coefficient"].values]
    x = encode_products(names, market)
    return tastes.values @ x.T, tastes.values[:, :, names.index("price")]


# whose shares -------------------------------------------------------------------------------------


def fixed_posterior(draws, people, sd):
    """A model whose respondents differ by `sd`, and less from draw to draw; and its shares (draws,
    people, 3)."""
    data = th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=people, seed=4), attributes=["price", "brand", "zoom"]
    )
    rng, size = np.random.default_rng(2), np.array([0.1, 1.0, 1.0, 1.0])
    tastes = size * (
        sd * rng.normal(size=(1, people, 4)) + 0.3 * rng.normal(size=(draws, people, 4))
    )
    model = with_tastes(data, tastes, linear="price")
    return model, softmax(utilities(model)[0])


def test_draws_are_thinned_evenly_within_chains(data):
    """Each chain changes halfway: thinned as many draws are before as after that."""
    tastes = np.random.default_rng(5).normal(size=(4, 8, 5))
    few, many = (with_tastes(data, np.repeat(tastes, times, axis=0)) for times in (1, 500))
    found, wanted = (model.attribute_importance()["range_share"] for model in (many, few))
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def compute_share_draws(model, people=None, weights=None, seed=0, change=None):
    return model.market_shares(
        MARKET, change, people, weights, each_draw=True, cores=1, random_seed=seed
    )


def test_the_variance_of_the_market_is_that_of_respondents_and_that_between_them():
    """Var E + E Var: given the p_n of a draw the Bayesian bootstrap has the variance Var_n(p_n) /
    (N + 1)."""
    model, p = fixed_posterior(20_000, 12, 1.0)
    among, between = p.mean(axis=1).var(axis=0), p.var(axis=1).mean(axis=0) / 13
    assert (between > 3 * among).all()
    found = compute_share_draws(model)["share"]
    np.testing.assert_allclose(found.var(), among + between, rtol=5 * np.sqrt(2 / 20_000))
    np.testing.assert_allclose(
        found.mean(), p.mean(axis=(0, 1)), atol=5 * np.sqrt(between.max() / 20_000)
    )
    these = compute_share_draws(model, "respondents")["share"]
    np.testing.assert_allclose(these, p.mean(axis=1), rtol=1e-12)


def test_weights_and_filters_are_kept_in_the_market():
    model, p = fixed_posterior(4_000, 12, 1.0)
    weights = np.array([0.0, 5.0, 1.0, *[0.0] * 9])
    found = compute_share_draws(model, None, weights)["share"]
    # Beta(1, 1) of two respondents, weighted: the mean of 5 e / (5 e + f) by quadrature
    u = (np.arange(100_000) + 0.5) / 100_000
    part = (5 * u / (5 * u + 1 - u)).mean()
    wanted = part * p[:, 1].mean(axis=0) + (1 - part) * p[:, 2].mean(axis=0)
    np.testing.assert_allclose(found.mean(), wanted, atol=5 * 0.5 / np.sqrt(4_000))
    low, high = np.minimum(p[:, 1], p[:, 2]), np.maximum(p[:, 1], p[:, 2])
    # of nobody else
    assert ((found.to_numpy() > low - 1e-12) & (found.to_numpy() < high + 1e-12)).all()
    np.testing.assert_allclose(compute_share_draws(model, ["p7"])["share"], p[:, 7], rtol=1e-12)


def test_scenarios_have_the_same_market_and_so_has_the_same_seed():
    model, p = fixed_posterior(400, 12, 1.0)
    same = compute_share_draws(model, change={"price": {"A": 5}})  # it costs 5 already
    assert (same["change"] == 0.0).all(axis=None)
    drawn = compute_share_draws(model, change={"price": {"A": 6}})
    apart = drawn["share"]["A"].var() + drawn["after"]["A"].var()
    assert drawn["change"]["A"].var() < 0.05 * apart
    np.testing.assert_array_equal(drawn["share"], same["share"])
    assert (compute_share_draws(model, seed=1)["share"] != drawn["share"]).all(axis=None)


def test_tables_name_whose_shares_they_have(hierarchical, multinomial):
    market, these = "in the population (estimated from 8 respondents)", "of 8 respondents"

    def whose(people):
        asked = {"people": people}
        yield hierarchical.market_shares(MARKET, **asked)
        yield hierarchical.market_shares(MARKET, each_draw=True, **asked)
        yield hierarchical.demand("price", "B", [10], MARKET, **asked)
        yield hierarchical.elasticities(MARKET, **asked)

    for people, sentence in (
        (None, market),
        ("respondents", these),
        ("new", "among new respondents"),
    ):
        assert {table.attrs["whose"] for table in whose(people)} == {sentence}
    assert hierarchical.market_shares(MARKET, people=["p3"]).attrs["whose"] == "of 1 respondent"
    assert multinomial.market_shares(MARKET).attrs["whose"] == market
    found = hierarchical.findings(market=MARKET)
    assert found["market_shares"].title == f"Shares of preference {market}"
    assert {found[name].table.attrs["whose"] for name in ("demand", "elasticities")} == {market}


# rules --------------------------------------------------------------------------------------------


def test_the_scale_multiplies_utilities(hierarchical):
    u, _ = utilities(hierarchical)
    found = hierarchical.market_shares(MARKET, scale=0.4, **THESE)["share"]
    np.testing.assert_allclose(found, softmax(0.4 * u).mean(axis=(0, 1)), rtol=1e-9)


def test_the_first_choice_is_that_of_the_highest_utility(hierarchical):
    u, _ = utilities(hierarchical)
    wanted = (u == u.max(axis=-1, keepdims=True)).mean(axis=(0, 1))
    how = {"rule": "first-choice", **THESE}
    np.testing.assert_allclose(
        hierarchical.market_shares(MARKET, **how)["share"], wanted, atol=1e-12
    )
    twins = pd.concat([MARKET, MARKET.head(1).assign(product="A again")], ignore_index=True)
    shares = hierarchical.market_shares(twins, **how)["share"]
    np.testing.assert_allclose(shares, [wanted[0] / 2, *wanted[1:], wanted[0] / 2], atol=1e-12)


def test_a_copy_takes_its_randomised_first_choices_from_its_original(hierarchical):
    """And products that share no level have independent errors: a multivariate probit by naive
    simulation."""
    how = {"rule": "randomised-first-choice"}
    alone = hierarchical.market_shares(MARKET, **how)["share"]
    twins = pd.concat([MARKET, MARKET.head(1).assign(product="A again")], ignore_index=True)
    shares = hierarchical.market_shares(twins, **how)["share"]
    np.testing.assert_allclose(shares["A"] + shares["A again"], alone["A"], atol=1e-12)
    rng, (u, _) = np.random.default_rng(1), utilities(hierarchical)
    errors = np.zeros((*u.shape[:2], 100, 3))
    for attribute in ("price", "brand", "zoom"):
        levels, place = np.unique(MARKET[attribute].astype(str), return_inverse=True)
        errors += (
            rng.normal(size=(*u.shape[:2], 100, len(levels)))[..., place] * np.pi / np.sqrt(18.0)
        )
    best = np.argmax(u[:, :, None] + errors, axis=-1)
    wanted = np.array([(best == product).mean() for product in range(3)])
    # whose errors are below .0016; 2^14 occasions of the same errors: .004
    assert len(u) * u.shape[1] * 100 > 1e5
    np.testing.assert_allclose(alone, wanted, atol=0.015)


def test_what_is_not_always_there_is_weighted_by_occasions(hierarchical):
    u, _ = utilities(hierarchical)
    given = {"A": 0.5, "C": 0.2}
    wanted = np.zeros(3)
    for there, part in (([0, 1, 2], 0.1), ([0, 1], 0.4), ([1, 2], 0.1), ([1], 0.4)):
        wanted[there] += part * softmax(u[:, :, there]).mean(axis=(0, 1))
    found = hierarchical.market_shares(MARKET, availability=given, **THESE)["share"]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    alone = hierarchical.market_shares(MARKET.head(2), availability={"A": 0.5, "B": 0.5})["share"]
    assert alone.sum() == pytest.approx(0.75)  # on a quarter of the occasions there is nothing


def test_constants_meet_the_actual_shares_in_every_draw(multinomial, hierarchical):
    after = {"price": {"A": 15}}
    for model in (multinomial, hierarchical):
        draws = model.market_shares(MARKET, after, actual=ACTUAL, each_draw=True)
        np.testing.assert_allclose(
            draws["share"], np.tile([*ACTUAL.values()], (len(draws), 1)), rtol=1e-7
        )
    # closed form of one taste: odds change by what the utility changes
    table = multinomial.market_shares(MARKET, after, actual=ACTUAL)
    odds = np.array([*ACTUAL.values()]) * np.exp([10 * multinomial.coef_["price"], 0.0, 0.0])
    np.testing.assert_allclose(table["after"], odds / odds.sum(), rtol=1e-7)
    assert "treated as known" in table.attrs["notes"][0]


# the page -----------------------------------------------------------------------------------------


def weigh_as_the_page(monkeypatch):
    """Let tables draw the market as the page does, so that both have the same shares."""
    monkeypatch.setattr(
        market, "draw_exponentials", lambda draws, people, seed: hash_exponentials(draws, people)
    )


@pytest.mark.first(4)
@pytest.mark.parametrize(
    "how",
    [
        {"scale": 0.4},
        {"rule": "first-choice"},
        {"availability": {"A": 0.4, "C": 0.7}},
        {"actual": ACTUAL, "scale": 1.5},
        {"actual": {"A": 0.4, "B": 0.2, "C": 0.4}, "availability": {"A": 0.6, "B": 0.5}},
    ],
)
def test_the_simulator_has_the_shares_that_were_asked_for(
    multinomial, hierarchical, how, monkeypatch
):
    weigh_as_the_page(monkeypatch)
    for model in (hierarchical, multinomial):
        found = model.findings(market=MARKET, **how)["market"]
        table = model.market_shares(MARKET, **how)
        np.testing.assert_allclose(found.table["share"], table["share"], atol=2e-4)
        if model is hierarchical:  # whose page has all draws
            np.testing.assert_allclose(found.table["share_low"], table["share_low"], atol=4e-4)
    words = " ".join(map(str, found.notes))
    assert ("constant of the product above" in words) == ("actual" in how)
    assert ("multiplied by" in words) == ("scale" in how)
    assert ("not always available" in words) == ("availability" in how)


def test_what_the_simulator_cannot_do_is_said(hierarchical, monkeypatch):
    weigh_as_the_page(monkeypatch)
    with warned(DataWarning, "uses the logit rule"):
        found = hierarchical.findings(market=MARKET, rule="randomised-first-choice")["market"]
    assert "uses the logit rule" in str(found.notes[0])
    np.testing.assert_allclose(
        found.table["share"], hierarchical.market_shares(MARKET)["share"], atol=2e-4
    )


def test_elasticities_are_found_where_shares_jump(hierarchical):
    found = hierarchical.findings(market=MARKET, rule="first-choice")["elasticities"]
    wanted = hierarchical.elasticities(MARKET, "price", change=0.1, rule="first-choice")
    np.testing.assert_array_equal(found.table["elasticity"], wanted["elasticity"])
    said(found.title, "arc elasticity")


def test_elasticities_are_the_derivatives(multinomial, hierarchical):
    table = multinomial.elasticities(MARKET)
    p, price = (
        multinomial.market_shares(MARKET)["share"].to_numpy(),
        MARKET["price"].to_numpy(float),
    )
    wanted = multinomial.coef_["price"] * price[:, None] * (np.eye(3) - p[:, None])
    np.testing.assert_allclose(table["elasticity"], wanted.ravel(), rtol=1e-6)
    u, slope = utilities(hierarchical)
    p = softmax(u)
    by_draw = (
        np.einsum("dn,dnj,dnjk->djk", slope, p, np.eye(3) - p[:, :, None])
        / p.sum(axis=1)[:, :, None]
    )
    wanted = by_draw.mean(axis=0).T * price[:, None]  # row: whose price, column: whose share
    np.testing.assert_allclose(
        hierarchical.elasticities(MARKET, **THESE)["elasticity"],
        wanted.ravel(),
        rtol=1e-6,
        atol=1e-7,
    )


def test_an_arc_is_by_the_middle_of_both_ends(multinomial, data):
    table = multinomial.elasticities(MARKET, change=-0.2)
    before, after = (
        multinomial.market_shares(each)["share"]
        for each in (MARKET, MARKET.assign(price=[4, 15, 25]))
    )
    wanted = (after - before) / (after + before) * 9 / -1
    np.testing.assert_allclose(table.head(3)["elasticity"], wanted, rtol=1e-9)
    assert table.head(3)[["from", "to"]].to_numpy().tolist() == [[5.0, 4.0]] * 3
    levels = th.MultinomialLogit().fit(data)  # a coefficient for each price
    table = levels.elasticities(MARKET)
    assert table.groupby("changed")[["from", "to"]].first().to_numpy().tolist() == [
        [5, 15],
        [15, 25],
        [25, 15],
    ]
    before, after = (
        levels.market_shares(each)["share"] for each in (MARKET, MARKET.assign(price=[15, 15, 25]))
    )
    np.testing.assert_allclose(
        table.head(3)["elasticity"], (after - before) / (after + before) * 2, rtol=1e-9
    )


def test_the_reach_of_a_line_is_who_likes_one_of_it_better_than_nothing(hierarchical, multinomial):
    """Without that option: who would choose one of it more often than chance."""
    u, _ = utilities(hierarchical)
    likes = softmax(u) > 1 / 3
    table = hierarchical.respondents.reach(MARKET, size=2)
    by_line = table.set_index("members")["reach"]
    for one, other in (("A", "B"), ("A", "C"), ("B", "C")):
        places = ["ABC".index(one), "ABC".index(other)]
        assert by_line[(one, other)] == pytest.approx(likes[:, :, places].any(axis=2).mean())
    some = hierarchical.respondents.reach(MARKET, size=2, people=["p0", "p1"])
    assert some.attrs["people"] == 2
    with refused(ArgumentError, "same tastes"):
        _ = multinomial.respondents
    with refused(ArgumentError, "people"):
        hierarchical.respondents.reach(MARKET, people="new")


def test_nothing_is_what_a_line_is_held_against():
    frame, _ = of_segments(people=12, tasks=6, seed=3, none=True)
    data = th.ChoiceExperiment.from_frame(
        frame, attributes=["price", "brand", "zoom"], none={"brand": "none"}
    )
    model = th.LatentClassLogit(2, linear="price").fit(data, random_seed=1, progressbar=False)
    market = pd.concat(
        [MARKET, pd.DataFrame({"product": ["nothing"], "brand": ["none"]})], ignore_index=True
    )
    shares = model.market_shares(market, each_draw=True)["share"]
    table = model.respondents.reach(market, size=2, top=3)
    assert set(table["members"].explode()) == {"A", "B", "C"} and len(shares)
    assert (np.diff(table["reach"]) <= 0).all() and table["reach"].between(0, 1).all()
    with warned(DataWarning, "Add a no-choice row"):
        model.respondents.reach(MARKET, size=2)


# tasks held out -----------------------------------------------------------------------------------


def test_hold_out_tasks_are_scored_by_person(hierarchical, data):
    fixed = data.take(data.first_task[:-1])
    table = hierarchical.holdouts(fixed)
    p = hierarchical.predict_proba(fixed)
    chosen = fixed.first_row[:-1] + fixed.chosen
    assert table.attrs["log_score"] == pytest.approx(np.log(p[chosen]).mean())
    best = [np.isclose(own, own.max(), rtol=1e-9) for own in np.split(p, fixed.first_row[1:-1])]
    # like products share a hit
    hits = [own[k] / own.sum() for own, k in zip(best, fixed.chosen, strict=True)]
    assert table.attrs["hit_rate"] == pytest.approx(np.mean(hits))
    # one task a person
    assert table.attrs["hit_rate_se"] == pytest.approx(np.std(hits, ddof=1) / np.sqrt(8))
    of_task = table.groupby("task")
    np.testing.assert_allclose(of_task[["observed", "predicted"]].sum(), 1.0)
    same = table[table["task"] == 1]
    assert same["choices"].nunique() == 1
    twice = th.MultinomialLogit(linear="price").fit(data).holdouts(data)
    assert twice["choices"].sum() == data.n_alternatives


def test_the_sentence_of_tasks_held_out_has_their_numbers(multinomial, data):
    fixed = data.take(data.first_task[:-1])
    scores = multinomial.holdouts(fixed).attrs
    sentence = str(multinomial.findings(holdouts=fixed)["holdouts"].sentence)
    assert f" % (standard error {100 * scores['hit_rate_se']:.1f}), over" in sentence
    errors = f"{scores['log_score']:.3f} per choice ({scores['log_score_se']:.3f})"
    assert f"{errors}, compared with {-np.log(3):.3f} for guessing." in sentence
    # of one person
    alone = str(multinomial.findings(holdouts=data.take([0, 1]))["holdouts"].sentence)
    assert " per choice, compared with -1.099 for" in alone
    said(alone, "choices; log score")
    with refused(DataError, "ChoiceExperiment", "got DataFrame"):
        multinomial.findings(holdouts=MARKET)


# bad questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "facts"),
    [
        ({"rule": "best"}, ("rule",)),
        ({"scale": -1.0}, ("scale", "positive finite")),
        ({"availability": {"A": 0.0}}, ("`availability` of 'A'",)),
        ({"availability": {"Z": 0.5}}, ("product 'Z'",)),
        ({"availability": 0.5}, ("availability",)),
        ({"actual": {"A": 0.5, "B": 0.2}}, ("actual", "'C'")),
        ({"actual": {"A": 0.5, "B": 0.2, "C": 0.4}}, ("`actual` shares must",)),
        ({"actual": {"A": 0.5, "B": 0.5, "C": 0.0}}, ("'C'",)),
        ({"actual": {"A": 0.5, "B": 0.5, "Z": 0.1}}, ("product 'Z'",)),
        ({"actual": ACTUAL, "rule": "first-choice"}, ("logit",)),
    ],
)
def test_bad_share_settings_are_refused(multinomial, asked, facts):
    with refused(ArgumentError, *facts):
        multinomial.market_shares(MARKET, **asked)


def test_elasticities_are_of_the_price_unless_another_attribute_is_named(data):
    market = MARKET.rename(columns={"price": "Cost (EUR)"})
    frame = data.to_frame()
    model = th.MultinomialLogit(linear=["Cost (EUR)"])
    model.fit(th.ChoiceExperiment.from_frame(frame.rename(columns={"price": "Cost (EUR)"})))
    assert model.elasticities(market).attrs["attribute"] == "Cost (EUR)"
    model = th.MultinomialLogit(linear=["level"])
    model.fit(th.ChoiceExperiment.from_frame(frame.rename(columns={"price": "level"})))
    with refused(ArgumentError, "`attribute`", "price or cost", "'level'"):
        model.elasticities(MARKET.rename(columns={"price": "level"}))


def test_bad_settings_of_elasticities_are_refused(multinomial):
    with refused(ArgumentError, "positive", "'brand'", "'A'"):
        multinomial.elasticities(MARKET, "brand")
    with refused(ArgumentError, "no attribute 'size'"):
        multinomial.elasticities(MARKET, "size")
    with refused(ArgumentError, "change", "-1", "got 1"):
        multinomial.elasticities(MARKET, change=1.5)
    with refused(ArgumentError, "change", "rule='first-choice'"):
        multinomial.elasticities(MARKET, rule="first-choice")
    part = {"A": 0.4, "B": 0.5, "C": 0.3}
    with refused(ArgumentError, "79", "share of occasions"):
        multinomial.market_shares(MARKET, availability=part, actual=ACTUAL)
    with refused(ArgumentError, "share of 'A'"):
        multinomial.market_shares(MARKET, availability={"A": 0.4}, actual=ACTUAL)
    with refused(ArgumentError, "below 1", "4 products"):
        five = pd.concat(
            [MARKET, MARKET.assign(product=["D", "E", "F"], price=[6, 16, 24])], ignore_index=True
        )
        limited = dict.fromkeys("ABCDE", 0.5)
        multinomial.market_shares(five, availability=limited, rule="randomised-first-choice")
    with refused(ArgumentError, "cost", "got 'much'"):
        multinomial.demand("price", "B", [5], MARKET, cost="much")
    with refused(DataError, "ChoiceExperiment", "got DataFrame"):
        multinomial.holdouts(MARKET)
