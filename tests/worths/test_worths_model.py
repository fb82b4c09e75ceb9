"""`th.BradleyTerryLuce` through its front door: exact values, an oracle, runs that go on, and what
is refused."""

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said, warned
from quadrature import BLUR, posterior, summarise_log_odds
from scipy.special import expit, gammaln, logit
from scipy.stats import norm
from scipy.stats import t as student

import thali as th
from thali._worths.posterior_density import Density, DistinctComparisons
from thali._worths.set_choice_density import ChoiceSetDensity, count_distinct_answers
from thali.errors import ArgumentError, DataError, EstimateWarning

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]
QUIET = {"random_seed": 1, "progressbar": False}
TWO = th.PairedComparisons([[0, 9], [1, 0]], labels=["a", "b"])
TIED = th.PairedComparisons([[0, 3], [1, 0]], labels=["a", "b"], ties=[[0, 4], [4, 0]])
THREE = th.PairedComparisons([[0, 3, 2], [1, 0, 4], [1, 0, 0]], labels=["a", "b", "c"])
RANKED = th.Choices.from_rankings(
    [["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"], ["a", "b", "c"]]
)
CASES = {"two": TWO, "two with ties": TIED, "three": THREE, "rankings": RANKED}
KNOWN = [
    pytest.param("two", None, marks=pytest.mark.long),
    ("two", 3.0),
    pytest.param("two with ties", None, marks=pytest.mark.long),
    pytest.param("three", None, marks=pytest.mark.long),
    ("rankings", None),
]


def exact(data, spread):
    """The log evidence with coefficients, and draws of the log odds of the first option over
    others, with weights."""
    if isinstance(data, th.Choices):
        density = ChoiceSetDensity(count_distinct_answers(data, 0.0, False), 3)
    else:
        cells, zero = data.cells, np.zeros(len(data.cells.first), int)
        counts = cells.wins, cells.losses, cells.tied
        rows = DistinctComparisons(
            cells.first, cells.second, zero, zero, cells.x, *counts, 0.0, bool(data.n_ties)
        )
        density = Density(rows, data.n_options)

    def quantity(points, spreads):
        return np.array([points[0] - points[k] for k in range(1, density.n_options)])

    evidence, values, weights = posterior(density, quantity, (spread, None, None))
    return evidence + data.questions().log_coefficients().sum(), values, weights


@pytest.mark.long
@pytest.mark.exact
@pytest.mark.parametrize("method", ["laplace", pytest.param("mcmc", marks=pytest.mark.long)])
@pytest.mark.parametrize(("name", "spread"), KNOWN)
def test_probabilities_and_ends_of_intervals_against_quadrature(name, spread, method):
    data = CASES[name]
    evidence, values, weights = exact(data, spread)
    model = th.BradleyTerryLuce(method, spread, people="independent")
    model.fit(data, draws=10_000 if method == "laplace" else 5_000, **QUIET)
    others = [(data.labels[0], other) for other in data.labels[1:]]
    expected = summarise_log_odds(values, weights)
    error = 4.0 * 0.3 / np.sqrt(40_000) + (0.0 if method == "laplace" else 0.01)
    np.testing.assert_allclose(model.predict_proba(others), expected[:, 0], atol=0.005 + error)
    draws = model.posterior_["posterior"]["log_worth"].values.reshape(-1, data.n_options)
    blurred = expit(
        draws[:, :1]
        - draws[:, 1:]
        + BLUR * np.random.default_rng(2).normal(size=(len(draws), len(others)))
    )
    ends = np.quantile(blurred, [0.055, 0.945], axis=0).T
    np.testing.assert_allclose(ends, expected[:, 1:], atol=0.005 + 2 * error)
    found = model.log_evidence()
    assert found.usable and found.value == pytest.approx(evidence, abs=0.03)


def test_the_log_likelihood_and_its_parts_are_those_of_a_naive_sum():
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"left": rng.permuted(list("abcabc")), "x": rng.normal(size=6)})
    rows["right"] = [("abc"["abc".index(each) - 1]) for each in rows["left"]]
    rows["chosen"] = [left if k % 3 else "tie" for k, left in enumerate(rows["left"])]
    data = th.PairedComparisons.from_trials(
        rows, "left", "right", "chosen", covariates=["x"], labels=list("abc")
    )
    model = th.BradleyTerryLuce(lapse=0.1).fit(data, draws=5, chains=2, **QUIET)
    tree = model.posterior_["posterior"]
    for chain, draw in ((0, 0), (1, 4)):
        at = tree.dataset.isel(chain=chain, draw=draw)
        worth = dict(zip("abc", at["log_worth"].values, strict=True))
        nu, beta, total = float(at["tie"]), float(at["covariate"].item()), 0.0
        for row in rows.itertuples():
            p = 0.9 * expit(worth[row.left] - worth[row.right] + beta * row.x) + 0.05
            tie = nu * np.sqrt(p * (1.0 - p))
            total += np.log((tie if row.chosen == "tie" else p) / (1.0 + tie))
        total += data.questions().log_coefficients().sum()
        assert float(at["log_likelihood"]) == pytest.approx(total, abs=1e-9)
        pointwise = model.posterior_["log_likelihood"]["wins"].values[chain, draw]
        assert pointwise.sum() == pytest.approx(total, abs=1e-9)
        prior = model.posterior_["log_prior"]
        assert float(prior["spread"][chain, draw]) == pytest.approx(
            norm.logpdf(np.log(at["spread"]), np.log(1.3))
        )
        assert float(prior["tie"][chain, draw]) == pytest.approx(norm.logpdf(np.log(nu), 0.0, 2.0))
        assert float(prior["covariate"][chain, draw]) == pytest.approx(norm.logpdf(beta))


@pytest.mark.parametrize("data", [THREE, RANKED], ids=["pairs", "rankings"])
def test_sets_have_lapses_and_best_and_worst(data):
    model = th.BradleyTerryLuce(lapse=0.2).fit(data, draws=100, chains=2, **QUIET)
    worths = np.exp(model.posterior_["posterior"]["log_worth"].values.reshape(-1, 3))
    shares = 0.8 * worths / worths.sum(axis=1, keepdims=True) + 0.2 / 3
    np.testing.assert_allclose(
        model.predict_proba([("a", "b", "c")])[0], shares.mean(axis=0), rtol=1e-12
    )
    pair = 0.8 * worths[:, 0] / worths[:, :2].sum(axis=1) + 0.1
    (found,), (error,) = model.predict_proba([("a", "b")], return_se=True)
    assert found == pytest.approx(pair.mean(), rel=1e-12)
    assert error == pytest.approx(pair.std() / np.sqrt(200), rel=0.4)  # draws are independent


def test_option_covariates_are_in_the_worths():
    data = THREE.with_option_covariates(pd.DataFrame({"price": [3.0, 1.0, 0.0]}, index=list("abc")))
    model = th.BradleyTerryLuce().fit(data, draws=200, chains=2, **QUIET)
    draws = model.posterior_["posterior"]["log_worth"].values.reshape(-1, 3)
    np.testing.assert_allclose(
        model.predict_proba([("a", "b")]), [expit(draws[:, 0] - draws[:, 1]).mean()], rtol=1e-12
    )
    np.testing.assert_allclose(draws.mean(axis=1), 0.0, atol=1e-12)
    assert model.covariate_effects().index.tolist() == ["price"]
    for bad, wrong in (
        ({"price": 1.0}, ("price", "describes options")),
        ({"order": 1}, ("'order'", "'price'")),
    ):
        with refused(ArgumentError, *wrong):
            model.predict_proba([("a", "b")], covariates=bad)
    tree = model.posterior_
    pointwise = tree["log_likelihood"]["wins"].sum("compared_pair")
    np.testing.assert_allclose(pointwise, tree["posterior"]["log_likelihood"], rtol=1e-9)
    new = model.posterior_predictive(data, random_seed=1)["posterior_predictive"][
        "wins"
    ].values.mean((0, 1))
    pairs, n = [("a", "b"), ("a", "c"), ("b", "c")], data.wins + data.losses
    assert (np.abs(new - n * model.predict_proba(pairs)) < 5.0 * np.sqrt(n / 4.0 / 400.0)).all()


@pytest.mark.exact
@pytest.mark.parametrize("method", ["laplace", pytest.param("mcmc", marks=pytest.mark.long)])
def test_option_covariates_against_an_integral(method):
    """Log odds d = u_a - u_b + beta x are Normal(0, 2 spread² + x²), and E(beta | d) = x d / (2
    spread² + x²)."""
    data, x, spread = (
        TWO.with_option_covariates(pd.DataFrame({"price": [3.0, 1.0]}, index=list("ab"))),
        2.0,
        0.8,
    )
    model = th.BradleyTerryLuce(method, spread).fit(data, draws=5_000, **QUIET)
    variance = 2.0 * spread**2 + x**2
    d = np.linspace(-12.0, 12.0, 2_001)
    density = norm.pdf(d, 0.0, np.sqrt(variance)) * expit(d) ** 9 * expit(-d)
    density /= density.sum()
    assert model.predict_proba([("a", "b")])[0] == pytest.approx(density @ expit(d), abs=0.01)
    effect = model.covariate_effects().loc["price"]
    mean, square = x / variance * (density @ d), (x / variance) ** 2 * (density @ d**2)
    assert effect["mean"] == pytest.approx(mean, abs=0.03)
    known = 1.0 - x**2 / variance  # the variance of beta given d
    assert effect["sd"] == pytest.approx(np.sqrt(known + square - mean**2), rel=0.05)
    assert effect["odds"] == pytest.approx(np.exp(effect["mean"]))
    assert model.convergence() or method == "laplace"


def test_maximum_likelihood_is_the_highest_point_with_its_information():
    model = th.BradleyTerryLuce("ML").fit(TWO)
    table = model.summary()
    assert table.loc["log_worth[a]", "estimate"] - table.loc[
        "log_worth[b]", "estimate"
    ] == pytest.approx(np.log(9))
    assert 2.0 * table.loc["log_worth[a]", "std_error"] == pytest.approx(np.sqrt(10 / 9), rel=1e-6)
    assert model.predict_proba([("a", "b")]) == pytest.approx([0.9])
    expected = gammaln(11) - gammaln(10) + 9 * np.log(0.9) + np.log(0.1)
    assert table.attrs["log_likelihood"] == pytest.approx(expected)
    assert table.attrs["aic"] == pytest.approx(2.0 - 2.0 * expected)
    other = th.EliminationByAspects("unique", method="maximum-likelihood").fit(TIED)
    tied = th.BradleyTerryLuce("ML").fit(TIED)
    np.testing.assert_allclose(
        tied.predict_proba([("a", "b")]), other.predict_proba([("a", "b")]), atol=1e-6
    )
    assert np.exp(tied.summary().loc["log_tie", "estimate"]) == pytest.approx(
        other.maximum_likelihood.tie(), rel=1e-5
    )


def test_maximum_likelihood_is_that_of_other_programs():
    choix = pytest.importorskip("choix")
    model = th.BradleyTerryLuce("ML").fit(RANKED)
    expected = choix.ilsr_rankings(
        3, [["abc".index(x) for x in each] for each in ("abc", "acb", "bac", "abc")]
    )
    found = model.summary()["estimate"].to_numpy()
    np.testing.assert_allclose(found, expected - expected.mean(), atol=1e-6)


@pytest.mark.first(1)
@pytest.mark.parametrize("method", ["laplace", "mcmc"])
def test_a_longer_fit_equals_one_that_went_on(method):
    settings = {"tune": 5, "chains": 2, **QUIET}
    model = th.BradleyTerryLuce(method)
    whole = model.fit(TIED, draws=30, **settings).posterior_["posterior"].dataset
    parts = (
        model.fit(TIED, draws=20, **settings)
        .continue_fit(10, progressbar=False)
        .posterior_["posterior"]
        .dataset
    )
    for name in ("log_worth", "spread", "tie", "log_likelihood", "choice_probability"):
        np.testing.assert_array_equal(parts[name], whole[name])
    assert ("method='mcmc'" in str(model.convergence())) == (method == "laplace")


def test_an_update_is_a_fit_to_all():
    model = th.BradleyTerryLuce().fit(THREE, draws=300, chains=2, **QUIET)
    before = model.predict_proba([("c", "a")])[0]
    model.update(th.PairedComparisons([[0, 0], [6, 0]], labels=["a", "c"]))
    assert repr(model).endswith("17 comparisons>")
    assert model.predict_proba([("c", "a")])[0] > before
    with refused(DataError, "'d'"):
        model.update(th.PairedComparisons([[0, 1], [1, 0]], labels=["a", "d"]))


def test_chains_of_dependent_answers_have_a_power():
    rows = [(f"p{k}", "a", "b", "ab"[k % 3 == 0]) for k in range(9) for _ in range(6)]
    frame = pd.DataFrame(rows, columns=["person", "left", "right", "choice"])
    data = th.PairedComparisons.from_trials(frame, "left", "right", "choice", respondent="person")
    widths = {}
    for people in ("independent", "adjusted"):
        model = th.BradleyTerryLuce("mcmc", 2.0, people=people)
        table = model.fit(data, draws=150, tune=100, **QUIET).worths()
        widths[people] = (table["high"] - table["low"])["a"]
    assert widths["adjusted"] > 1.5 * widths["independent"]
    said(str(model.findings()["independence"].sentence), "power")


def test_an_estimate_is_the_same_in_every_table():
    """By maximum likelihood: shares at the maximum, and one error and interval for one quantity."""
    rng = np.random.default_rng(1)
    rows = [
        (f"p{k % 9}", *pair, pair[int(rng.random() < 0.4)], rng.normal())
        for k in range(120)
        for pair in [tuple("abcd"[i] for i in rng.choice(4, 2, replace=False))]
    ]
    frame = pd.DataFrame(rows, columns=["person", "left", "right", "choice", "x"])
    model = th.BradleyTerryLuce("maximum-likelihood").fit(
        th.PairedComparisons.from_trials(
            frame, "left", "right", "choice", respondent="person", covariates=["x"]
        )
    )
    worths, summary = model.worths(0.8), model.summary(0.8)
    rows = summary.loc[[f"log_worth[{name}]" for name in worths.index]]
    np.testing.assert_allclose(
        worths[["log_worth", "sd", "low", "high"]],
        rows[["estimate", "std_error", "low", "high"]],
        rtol=1e-12,
    )
    power = np.exp(worths["log_worth"])
    np.testing.assert_allclose(worths["share"], power / power.sum(), rtol=1e-12)
    effect = model.covariate_effects(0.8).loc["x"]
    np.testing.assert_array_equal(
        effect[["mean", "sd", "low", "high"]].astype(float), summary.loc["covariate[x]"]
    )
    assert effect["odds"] == np.exp(effect["mean"]) and 0.0 < effect["above_0"] < 1.0
    best = th.Choices.from_best_worst(
        pd.DataFrame(
            [["a", "b", "c", *pair] for pair in ("ab", "ac", "bc", "cb", "ba", "ab")],
            columns=["item1", "item2", "item3", "best", "worst"],
        )
    )
    model = th.BradleyTerryLuce("maximum-likelihood").fit(best)
    p = np.exp(model.worths()["log_worth"].sort_index())
    p /= p + 2.0
    np.testing.assert_allclose(model.scores()["score"], 100 * p / p.sum(), rtol=1e-9)


@pytest.mark.long
def test_each_option_has_degrees_of_freedom_of_its_own():
    """Two options that one respondent compared often, beside two that all respondents compared."""
    rng = np.random.default_rng(2)
    rows = [
        (f"p{k}", a, b, (a, b)[int(rng.random() < 0.5)])
        for k in range(12)
        for a, b in [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")] * 3
    ]
    rows += [("p0", "c", "d", "cd"[int(rng.random() < 0.5)]) for _ in range(200)]
    frame = pd.DataFrame(rows, columns=["person", "left", "right", "choice"])
    data = th.PairedComparisons.from_trials(frame, "left", "right", "choice", respondent="person")
    model = th.BradleyTerryLuce("maximum-likelihood", people="adjusted").fit(data)
    degrees = dict(zip("abcd", model._estimates_.degrees, strict=True))
    assert degrees["d"] < 0.7 * degrees["a"]
    table = model.summary(0.89)
    reach = (table["high"] - table["estimate"]) / table["std_error"]
    for name, df in degrees.items():
        assert reach[f"log_worth[{name}]"] == pytest.approx(student.ppf(0.945, df), rel=1e-9)
    fit = th.BradleyTerryLuce().fit(data, draws=8_000, **QUIET)
    own = fit._build_problem(data).respondents.variance.degrees
    worths = fit.posterior_["posterior"]["log_worth"].values.reshape(-1, 4)
    for k, df in enumerate(own):
        ends = np.quantile(worths[:, k], [0.055, 0.25, 0.75, 0.945])
        tails = student.ppf([0.75, 0.945], df)
        assert (ends[3] - ends[0]) / (ends[2] - ends[1]) == pytest.approx(
            tails[1] / tails[0], rel=0.12
        )


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"spread": 0.0}, ("spread", "0.0")),
        ({"spread": -1.0}, ("spread", "-1.0")),
        ({"spread": float("nan")}, ("spread", "nan")),
        ({"lapse": 1.0}, ("lapse", "1.0")),
        ({"ties": "third"}, ("ties", "'third'")),
        ({"best_worst": "both"}, ("best_worst", "'both'")),
        ({"method": "gibbs"}, ("method", "'gibbs'")),
        ({"method": "ML", "spread": 2.0}, ("spread", "method='laplace'")),
        (
            {"people": th.people.Individuals(), "method": "laplace"},
            ("Individuals()", "'mcmc'", "'laplace'"),
        ),
        ({"people": "alike"}, ("people", "'alike'")),
    ],
)
def test_settings_out_of_range_are_refused(settings, facts):
    with refused(ArgumentError, *facts):
        th.BradleyTerryLuce(**settings).fit(THREE, progressbar=False)


def test_data_that_leave_no_estimate_are_refused():
    never = th.PairedComparisons([[0, 3, 2], [1, 0, 4], [0, 0, 0]], labels=["a", "b", "c"])
    with refused(DataError, "never", "c", "method='laplace'"):
        th.BradleyTerryLuce("ML").fit(never)
    with refused(DataError, "never", "a", "b"):
        th.BradleyTerryLuce("ML").fit(
            th.PairedComparisons([[0, 1, 0], [1, 0, 0], [0, 0, 0]], labels=["a", "b", "c"])
        )
    with refused(DataError, "groups"):
        th.BradleyTerryLuce().fit({"one": THREE, "two": THREE}, progressbar=False)
    with refused(DataError, "Similarities"):
        th.BradleyTerryLuce().fit(th.Similarities(np.eye(3)), progressbar=False)


def test_best_and_worst_of_many_options_are_reversed_choices():
    columns = [f"item{k}" for k in range(7)]
    rows = [(*np.roll(list("abcdefg"), k), "abcdefg"[k % 3], "defg"[k % 4]) for k in range(6)]
    data = th.Choices.from_best_worst(pd.DataFrame(rows, columns=[*columns, "best", "worst"]))
    with refused(DataError, "7 options", "best_worst='reversed'"):
        th.BradleyTerryLuce(best_worst="ranking").fit(data, progressbar=False)
    model = th.BradleyTerryLuce().fit(data, draws=300, chains=2, **QUIET)
    worths = model.worths()["log_worth"]
    assert worths["a"] > worths["g"] and model.scores()["score"].sum() == pytest.approx(100.0)


def test_a_spread_that_is_known_is_not_learned():
    model = th.BradleyTerryLuce(spread=0.5).fit(THREE, draws=100, chains=2, **QUIET)
    assert "spread" not in model.summary().index
    assert (model.posterior_["posterior"]["spread"].values == 0.5).all()
    assert abs(logit(model.predict_proba([("a", "b")])[0])) < 1.0


@pytest.mark.first(1)
@pytest.mark.parametrize("lapse", [0.8, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("counts", [(8, 5), (1, 1)])
def test_intervals_are_not_adjusted_by_answers_that_are_lapses(lapse, counts):
    """The likelihood has no maximum where the prior puts the mode."""
    rankings = [order for order, n in zip(("ABC", "BCA"), counts, strict=True) for _ in range(n)]
    data = th.Choices.from_rankings([list(order) for order in rankings])
    with np.errstate(all="raise"), warned(EstimateWarning, "repeated answers", "`lapse`"):
        model = th.BradleyTerryLuce(lapse=lapse).fit(data, **QUIET)
    alone = th.BradleyTerryLuce(lapse=lapse, people="independent").fit(data, **QUIET)
    pd.testing.assert_frame_equal(model.ranks(), alone.ranks())


def test_a_spread_beyond_any_ratio_of_worths_is_refused():
    with refused(ArgumentError, "`spread`", "at most 1000", "10000.0"):
        th.BradleyTerryLuce(spread=1e4).fit(THREE, **QUIET)
    with refused(ArgumentError, "`spread`", "at most 1000"):
        th.leaderboard(THREE, spread=1e5)
    th.BradleyTerryLuce(spread=1000.0).fit(THREE, **QUIET)
