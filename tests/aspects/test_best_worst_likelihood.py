"""Best-worst choices of options that share no aspect: exact probabilities, the sampler, and what a fit answers."""

import math

import matplotlib
import numpy as np
import pytest
from helpers.best_worst_data import RANKING, REVERSED, RULES, best_worst, random_answers, ranked_answers
from helpers.elimination_cases import mean_and_error
from helpers.naive import latent_features as naive
from helpers.naive.latent_features import answer_probabilities
from helpers.sentences import refused

import thali as th
from thali._aspects.operations import log_likelihood, rebuild
from thali._aspects.state import empty_state
from thali._model.predictive_check import check_sentence
from thali.errors import ArgumentError, DataError
from thali.likelihoods import Elimination

matplotlib.use("Agg")

RUN = {"chains": 2, "random_seed": 1, "progressbar": False}
FOUR = [("abcd", "a", "d"), ("abcd", "a", "c"), ("abcd", "b", "a"), ("abc", "a", "c"), ("bd", "d", "b")]


def known(data, weights, lapse, rule):
    return naive.log_likelihood(data, None, None, weights, lapse, best_worst=rule)


@pytest.mark.fit
@pytest.mark.parametrize("lapse", [0.0, 0.07])
@pytest.mark.parametrize("rule", RULES)
def test_probabilities_are_sums_over_all_rankings(rule, lapse):
    data = random_answers(7, range(2, 7), 1, 2, most=3)
    model = th.BradleyTerryLuce(lapse=lapse, best_worst=rule, people="independent")
    model.fit(data, draws=3, chains=2, random_seed=1, progressbar=False)
    weights = np.exp(model.posterior_["posterior"]["log_worth"].values.reshape(-1, 7))
    expected = answer_probabilities(data, weights, lapse, rule).mean(axis=0)
    np.testing.assert_allclose(np.concatenate(model.predict_proba(data)), expected, rtol=1e-12)


@pytest.mark.parametrize("lapse", [0.0, 0.05])
def test_best_and_worst_of_three_are_rankings(uncompiled, lapse):
    data = random_answers(4, (2, 3), 6, 2, most=3)
    ranked = data.as_rankings()
    assert ranked.worst is None
    weights = np.array([0.2, 1.0, 0.7, 3.0])
    by_ranking = naive.log_likelihood(ranked, np.zeros((4, 0)), [], weights, lapse)
    assert known(data, weights, lapse, RANKING) == pytest.approx(by_ranking, rel=1e-12)
    sets, make = Elimination(lapse, best_worst=RANKING).compiled(data)
    cache, state = make(sets), empty_state(4, 4)
    state.s[:4] = weights
    rebuild(sets, cache, state)
    assert log_likelihood(sets, cache, state) == pytest.approx(by_ranking, rel=1e-12)


def quadrature(data, lapse, rule):
    """Posterior means of the shares of four weights, which are uniform on the tetrahedron a priori."""
    grid = (np.arange(70) + 0.5) / 70
    a, b, c = (each.ravel() for each in np.meshgrid(grid, grid, grid))
    density = (1.0 - a) ** 2 * (1.0 - b)
    shares = np.stack([a, (1 - a) * b, (1 - a) * (1 - b) * c, (1 - a) * (1 - b) * (1 - c)], axis=1)
    p = answer_probabilities(data, shares, lapse, rule)
    density = density * np.exp(np.log(p) @ data.questions().counts)
    return density @ shares / density.sum()


@pytest.mark.first(1)
@pytest.mark.fit
@pytest.mark.parametrize("rule", RULES)
def test_the_posterior_of_four_options_is_that_of_quadrature(rule):
    data = best_worst(FOUR, "abcd")
    expected = quadrature(data, 0.01, rule)
    model = th.EliminationByAspects("unique", best_worst=rule)
    model.fit(data, draws=1500, tune=200, thin=4, **RUN)
    weights = model.posterior_["posterior"]["unique_weights"].values
    for mean, draws in zip(expected, np.moveaxis(weights / weights.sum(axis=2, keepdims=True), 2, 0), strict=True):
        found, error = mean_and_error(draws)
        assert error < 0.015 and abs(found - mean) < 4.5 * error, (found, mean, error)


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_what_a_fit_answers(uncompiled, pictures, tmp_path):
    data = random_answers(5, (2, 4, 5), 3, 4, most=3)
    for rule in RULES:
        model = th.EliminationByAspects("unique", best_worst=rule).fit(data, draws=10, tune=4, thin=1, **RUN)
        weights = model.posterior_["posterior"]["unique_weights"].values.reshape(-1, 5)
        p, errors = model.predict_proba(data, return_se=True)
        assert [len(each) for each in p] == (data.sizes * (data.sizes - 1)).tolist() == [len(e) for e in errors]
        mean = answer_probabilities(data, weights, 0.01, rule).mean(axis=0)
        np.testing.assert_allclose(np.concatenate(p), mean)
        assert model.predict_proba([["0", "1", "2"]])[0].shape == (3,)
        names = [f"{what}[{label}]" for what in ("worth", "rank") for label in data.labels]
        assert list(model.summary().index) == ["n_features", "log_likelihood", *names]
        table = model.check(random_seed=1)
        assert len(table) == 10 and "named the" in th.plots.check(table).get_yticklabels()[0].get_text()
        best = table[table["named"] == "best"].set_index("option").loc[list(data.labels)]
        times = np.bincount(data.members, data.counts, 5)
        np.testing.assert_allclose(best["observed"] * best["n"], times)
        assert check_sentence(table)
        assert "of 10" not in model.plot("predictions").get_xlabel()
        model.save(tmp_path / "model.nc")
        again = th.load(tmp_path / "model.nc")
        assert again.get_params() == model.get_params() and again.summary().equals(model.summary())
        np.testing.assert_array_equal(np.concatenate(again.predict_proba(data)), np.concatenate(p))
        prior = model.sample_prior(data, draws=4, random_seed=1)
        assert prior["prior_predictive"]["chosen"].sizes["answer"] == len(mean)
    model.report(tmp_path / "report.html")
    assert "options that differ most" in (tmp_path / "report.html").read_text()


@pytest.mark.unit
def test_simulated_answers_have_the_frequencies_of_the_formula():
    data, rng = best_worst([("abcd", "a", "d", 40_000)], "abcd"), np.random.default_rng(2)
    weights = np.array([[0.5, 1.0, 2.0, 0.2]])
    for rule in RULES:
        likelihood = Elimination(0.05, shared=False, best_worst=rule)
        part = type("Columns", (), {"unique_weights": weights, "n_draws": 1})
        new = likelihood.new_data(part, {}, data, rng)
        p = answer_probabilities(data, weights, 0.05, rule)[0]
        np.testing.assert_allclose(new.observed["chosen"] / 40_000, p, atol=5 * 0.5 / 200)
        assert new.data.worst is not None and new.data.counts.sum() == 40_000
        coefficient = math.lgamma(40_001) - sum(math.lgamma(n + 1) for n in new.observed["chosen"])
        assert new.log_likelihood == pytest.approx(coefficient + known(new.data, weights[0], 0.05, rule))


@pytest.mark.long
def test_worths_are_recovered():
    worth = np.random.default_rng(7).gamma(1.0, size=8)
    data = ranked_answers(worth, (3, 4, 5, 6), 400, 1)
    model = th.EliminationByAspects("unique").fit(data, **RUN)
    worths = model.summary().loc[[f"worth[{label}]" for label in data.labels]]
    truth = worth / worth.sum()
    assert (np.abs(worths["mean"] - truth) < 4.5 * worths["sd"]).all()


MISTAKES = [
    (
        "ibp",
        RANKING,
        "Best and worst were chosen from 'a', 'b', 'c' and 'd', but with shared aspects best-worst choices are limited "
        "to sets of three options; set `aspects='unique'` for sets of 4 options.",
    ),
    (
        2,
        REVERSED,
        "Best and worst were chosen from 'a', 'b', 'c' and 'd', but with shared aspects best-worst choices are limited "
        "to sets of three options; set `aspects='unique'` for sets of 4 options.",
    ),
    ("unique", "maxdiff", "`best_worst` must be 'ranking' or 'reversed'; got 'maxdiff'."),
]


@pytest.mark.unit
@pytest.mark.parametrize(("aspects", "rule", "sentence"), MISTAKES)
def test_what_is_refused(aspects, rule, sentence):
    with pytest.raises((ArgumentError, DataError)) as caught:
        th.EliminationByAspects(aspects, best_worst=rule).fit(best_worst(FOUR, "abcd"))
    assert str(caught.value) == sentence


@pytest.mark.unit
def test_larger_sets_are_refused_by_ranking_and_three_by_differences_with_shared_aspects():
    seven = best_worst([("abcdefg", "a", "g"), ("abc", "a", "b")], "abcdefg")
    with refused(DataError, "7 options", "6", "best_worst='reversed'"):
        th.EliminationByAspects("unique").fit(seven)
    three = best_worst([("abc", "a", "b"), ("abd", "a", "b")], "abcd")
    th.EliminationByAspects("ibp").prepare(three)
    with refused(DataError, "aspects='unique'", "best_worst='ranking'"):
        th.EliminationByAspects("ibp", best_worst="reversed").fit(three)
