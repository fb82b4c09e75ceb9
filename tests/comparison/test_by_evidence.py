"""Comparison by evidence: probabilities, Bayes factors, what is refused."""

import math
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, said, says, warned
from helpers.short_comparisons import sentences
from helpers.watched_runs import find_evidence_by
from scipy import special, stats

import thali as th
from thali._posterior.convergence_check import ConvergenceCheck
from thali._posterior.log_evidence import LogEvidence
from thali.errors import ArgumentError, ConvergenceWarning, DataError, Message

TRIO = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["x", "y", "z"])
OTHERS = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 2, 0]], labels=["x", "y", "z"])


def made_up(value, error, usable=True, sensitivity=None):
    sentence = ConvergenceCheck(
        usable, {}, Message("The chains agree." if usable else "The log evidence is not usable.")
    )
    path = pd.DataFrame(
        {"inverse_temperature": [1.0, 0.1, 0.0], "log_likelihood": [-3.0, -5.0, -9.0]}
    )
    path = path.assign(
        log_likelihood_sd=[0.5, 1.0, 2.0],
        log_evidence=[value, -0.7, 0.0],
        swap_rate=[0.5, 0.4, math.nan],
    )
    return LogEvidence(value, error, 11.0, sentence, np.array([value]), path, sensitivity)


@pytest.fixture
def found(monkeypatch):
    """Evidence by the lapse of the model, in place of any computation."""
    by_lapse = {0.1: made_up(-8.0, 0.1), 0.2: made_up(-5.0, 0.2), 0.3: made_up(-4.0, 0.1)}
    find_evidence_by(monkeypatch, lambda model, data, how: by_lapse[model.lapse])
    return by_lapse


def models():
    return {
        f"lapse {lapse}": th.EliminationByAspects("unique", lapse=lapse)
        for lapse in (0.1, 0.2, 0.3)
    }


def compare(named=None, data=TRIO, **changed):
    return th.compare(
        models() if named is None else named, data, by="evidence", progressbar=False, **changed
    )


def test_the_table_has_evidence_probabilities_and_bayes_factors(found):
    table = compare()
    assert table["log_evidence"].tolist()[1:] == [-8.0, -5.0, -4.0]
    guessing = stats.binom.logpmf([6, 2, 3], [7, 6, 4], 0.5).sum()
    assert table.loc["BASE", "log_evidence"] == pytest.approx(guessing)
    assert table["probability"].sum() == pytest.approx(1.0)
    odds = table.loc["lapse 0.3", "probability"] / table.loc["lapse 0.2", "probability"]
    assert odds == pytest.approx(math.e)
    assert table.loc["lapse 0.1", "log_bayes_factor"] == 4.0
    assert table.loc["lapse 0.2", "log_bayes_factor_se"] == pytest.approx(math.hypot(0.1, 0.2))
    assert table["evidence_against"].tolist()[1:] == ["strong", "not worth a mention", ""]
    sentence = sentences(table)
    says(sentence[0], "support 'lapse 0.3' over 'lapse 0.2'", "log Bayes factor 1.00, SE 0.22")
    assert sentence[1] == (
        "'lapse 0.3' has the highest evidence (log -4.00, standard error 0.10) and, with equal"
        f" prior odds, a posterior probability of {table.loc['lapse 0.3', 'probability']:.3f}."
    )


def test_a_difference_within_the_errors_is_not_told(found):
    found[0.2] = made_up(-4.1, 0.2)
    sentence = sentences(compare())
    says(sentence[0], "do not clearly favour 'lapse 0.3' over 'lapse 0.2'")
    says(sentence[1], "0.2", "but cannot be distinguished")


def test_a_difference_that_is_not_worth_a_mention_supports_nothing(found):
    found[0.2] = made_up(-4.5, 0.2)
    says(sentences(compare())[0], "barely favour 'lapse 0.3' over 'lapse 0.2'")


def test_prior_odds_multiply_the_probabilities(found):
    table = compare(prior_odds={"lapse 0.1": 1, "lapse 0.2": 4, "lapse 0.3": 1})
    assert table.loc["lapse 0.2", "probability"] / table.loc[
        "lapse 0.3", "probability"
    ] == pytest.approx(4 / math.e)


def test_standard_errors_of_probabilities_are_those_of_simulation(found):
    value, error = np.array([-2.0, -2.5, -4.0]), np.array([0.02, 0.01, 0.03])
    found |= {lapse: made_up(*each) for lapse, *each in zip(found, value, error, strict=True)}
    drawn = value + error * np.random.default_rng(0).standard_normal((4000, 3))
    table = compare().iloc[1:]
    assert table["probability"].to_numpy() == pytest.approx(special.softmax(value))
    assert table["probability_se"].to_numpy() == pytest.approx(
        special.softmax(drawn, axis=1).std(axis=0), rel=0.06
    )


def test_words_are_those_of_kass_and_raftery(found):
    twice = (0, 1.9, 2.1, 5.9, 6.1, 9.9, 10.1, 1e9)
    lapses = [k / 100 for k in range(len(twice) + 1)]
    found |= {lapse: made_up(-x / 2, 0.0) for lapse, x in zip(lapses, (0, *twice), strict=True)}
    table = compare(
        {str(lapse): th.EliminationByAspects("unique", lapse=lapse) for lapse in lapses}
    )
    assert table["evidence_against"].tolist()[2:] == [
        *["not worth a mention"] * 2,
        *["positive"] * 2,
        *["strong"] * 2,
        *["very strong"] * 2,
    ]


def test_unreliable_evidence_is_named(found):
    found[0.2] = made_up(-5.0, 0.2, usable=False)
    with warned(ConvergenceWarning, "0.2"):
        table = compare()
    assert table["usable"].tolist() == [True, True, False, True]
    says(sentences(table), "0.2", "not usable")


def test_sensitivity_names_a_prior_under_which_another_model_is_best(found):
    frame = pd.DataFrame(
        {"log_evidence": [-3.0], "std_error": [0.1], "difference": [2.0]}, index=["alpha x 2"]
    )
    found[0.2] = made_up(-5.0, 0.2, sensitivity=frame)
    table = compare(sensitivity=True)
    assert table.attrs["sensitivity"].loc[("alpha x 2", "lapse 0.2"), "log_bayes_factor"] == 0.0
    assert table.attrs["sensitivity"].loc[("alpha x 2", "lapse 0.3"), "log_evidence"] == -4.0
    said(sentences(table)[-1], "0.2", "Under other priors")


def fitted(data, **run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = th.EliminationByAspects("unique", lapse=0.1)
        return model.fit(data, draws=20, tune=10, chains=2, random_seed=1, progressbar=False, **run)


def test_a_model_of_other_data_is_refused(found):
    with refused(ArgumentError, "'it'"):
        compare({"it": fitted(OTHERS)})
    compare({"it": fitted(TRIO)})


def test_an_interrupted_fit_is_refused(found):
    model = fitted(TRIO)
    model._interrupted_ = True
    with pytest.raises(ArgumentError, match="stopped early"):
        compare({"it": model})
    with pytest.raises(ArgumentError, match="stopped early"):
        model.log_evidence()


def test_changed_parameters_are_refused():
    model = fitted(TRIO).set_params(lapse=0.2)
    with refused(ArgumentError, "`lapse` was changed"):
        model.log_evidence()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"leave_out": "pair"}, ("leave_out",)),
        ({"folds": 3}, ("folds",)),
        ({"draws": 5}, ("draws", "10", "got 5")),
        ({"prior_odds": {"lapse 0.1": 1}}, ("prior_odds",)),
        ({"prior_odds": dict.fromkeys(models(), 0)}, ("positive", "0")),
        ({"named": {"ML": th.EliminationByAspects("unique", method="ML")}}, ("no evidence",)),
        (
            {"named": {"half": th.EliminationByAspects(ties="half")}, "data": "ties"},
            ("predict ties",),
        ),
    ],
)
def test_bad_arguments_of_a_comparison_by_evidence_are_refused(found, changed, sentence):
    if changed.get("data") == "ties":
        changed = changed | {"data": th.PairedComparisons([[0, 1], [2, 0]], ties=[[0, 1], [1, 0]])}
    with refused(ArgumentError, *sentence):
        compare(**changed)


@pytest.mark.parametrize("name", ["prior_odds", "sensitivity"])
def test_arguments_of_evidence_are_not_for_prediction(name):
    with pytest.raises(ArgumentError, match=f"`{name}` requires a comparison with `by='evidence'`"):
        th.compare(models(), TRIO, **{name: {"a": 1}})


def test_sigma_that_data_have_chosen_is_refused():
    similar = th.Similarities(np.random.default_rng(0).random((6, 6)), symmetrize="mean")
    with refused(ArgumentError, "sigma"):
        compare({"it": th.AdditiveClustering()}, similar)


def test_the_report_has_the_evidence_of_each_model(found, tmp_path):
    th.report.report(compare(), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    says(page, "the model; log")
    says(page, "0.3", "highest evidence")


class Counts(NamedTuple):
    """How often each option was seen."""

    seen: np.ndarray
    labels: tuple


def poisson(data, features, weights):
    total = 0.0
    for i in range(len(features)):
        mean = 1e-12
        for k in range(len(weights)):
            mean += features[i, k] * weights[k]
        total += data.seen[i] * math.log(mean) - mean - math.lgamma(data.seen[i] + 1.0)
    return total


def own_models():
    given = th.priors.Given([[1, 0], [0, 1]])
    likelihood = th.likelihoods.Custom(poisson)
    return {
        f"rate {rate}": th.LatentFeatureModel(given, likelihood, weight_prior=(1.0, rate))
        for rate in (1.0, 0.25)
    }


OWN = Counts(np.array([2, 5]), ("tea", "milk"))


@pytest.mark.long  # compiles a likelihood
def test_models_of_your_own_data():
    """The evidence of a Poisson count n whose mean is exponential with rate r is r / (1 + r)^(n +
    1)."""
    table = compare(own_models(), OWN, draws=100, tune=50, cores=1, random_seed=1)
    assert list(table.index) == ["rate 1.0", "rate 0.25"]  # nothing is known of guessing
    for rate, row in zip((1.0, 0.25), table.itertuples(), strict=True):
        exact = sum(math.log(rate) - (n + 1) * math.log1p(rate) for n in OWN.seen)
        assert row.usable and row.std_error < 0.1
        assert abs(row.log_evidence - exact) < 4.5 * row.std_error
    assert table["probability"].sum() == pytest.approx(1.0)
    says(sentences(table)[1], "0.25")


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"BTL": th.EliminationByAspects()}, ("'BTL'", "LatentFeatureModel")),
        ({}, ("'mine'", "LatentFeatureModel")),
    ],
)
def test_other_models_of_your_own_data_are_refused(named, sentence):
    with pytest.raises(ArgumentError) as raised:
        compare(named, OWN)
    said(str(raised.value), *sentence)


def test_your_own_data_are_not_left_out():
    with pytest.raises(DataError, match="got Counts"):
        th.compare(own_models(), OWN)
