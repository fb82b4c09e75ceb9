"""Comparisons of models on pairs with ties: three outcomes are predicted and scored."""

import numpy as np
import pytest
from helpers.paired_cases import leave_one_out
from helpers.problems import random_comparisons, with_ties
from helpers.sentences import refused
from scipy.stats import multinomial

import thali as th
from thali._comparison.pair_holdouts import score_answers
from thali.errors import ArgumentError, DataError

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
DATA = with_ties(random_comparisons(4, 5, most=9), 1)
RUN = {"cores": 1, "random_seed": 1, "progressbar": False}


def compared(models, data=DATA, **run):
    return th.compare(models, data, **(RUN | run))


def maximum_likelihood(**settings):
    return th.EliminationByAspects("unique", method="maximum-likelihood", **settings)


def test_the_score_is_that_of_three_outcomes():
    table = compared({"ml": maximum_likelihood()})
    counts = np.stack([DATA.wins, DATA.tied, DATA.losses], axis=1)
    n = counts.sum(axis=1)
    expected = {"BASE": np.full((len(n), 3), 1 / 3), "EMP": counts / n[:, None]}
    for name, p in expected.items():
        assert table.loc[name, "nll"] == pytest.approx(-multinomial.logpmf(counts, n, p).mean())
    alone = leave_one_out(maximum_likelihood(), DATA)
    assert (
        table.loc["ml", "nll"]
        == pytest.approx(alone["nll"].mean())
        == pytest.approx(-table.loc["ml", "mean_log_pred"])
    )
    bits = (table.loc["BASE", "nll"] - table.loc["ml", "nll"]) * len(n) / np.log(2) / n.sum()
    assert table.loc["ml", "information"] == pytest.approx(bits)
    np.testing.assert_allclose(table.attrs["predictions"]["observed_tie"], DATA.tied / n)


@pytest.mark.long
def test_draws_are_scored_by_their_mean_and_by_their_likelihood():
    rng, counts = np.random.default_rng(2), np.array([5.0, 2.0, 1.0])
    draws = rng.dirichlet([5, 2, 2], size=(4, 500))
    found = score_answers(counts[None], draws[:, :, None])
    mean = draws.mean(axis=(0, 1))
    assert found.predicted == pytest.approx(mean[0])
    assert found.nll == pytest.approx(-multinomial.logpmf(counts, 8, mean / mean.sum()))
    flat = draws.reshape(-1, 3)
    likelihoods = multinomial.pmf(np.tile(counts, (len(flat), 1)), 8, flat)
    assert found.log_pred == pytest.approx(np.log(likelihoods.mean()))
    # Of independent draws the Monte Carlo errors are those of repetitions.
    again = [
        score_answers(counts[None], rng.dirichlet([5, 2, 2], size=(4, 500, 1))) for _ in range(200)
    ]
    for name in ("nll", "log_pred", "predicted"):
        spread = np.std([getattr(one, name) for one in again])
        assert np.mean([getattr(one, name + "_mcse") for one in again]) == pytest.approx(
            spread, rel=0.3
        )
    still = score_answers(counts[None], np.broadcast_to(mean, (1, 4, 1, 3)))
    assert still.nll_mcse == 0.0 and still.log_pred == pytest.approx(-still.nll)


@pytest.mark.long
@pytest.mark.fit
def test_models_with_draws_predict_ties_even_where_the_others_have_none(uncompiled):
    data = th.PairedComparisons(
        [[0, 3, 2], [1, 0, 2], [1, 2, 0]], ties=[[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    )
    model = th.EliminationByAspects("unique")
    table = compared(
        {"BTL": model, "ml": maximum_likelihood()}, data, draws=30, tune=20, chains=2, thin=1
    )
    # nu is 0 without the one pair
    assert np.isfinite(table.loc["BTL", "nll"]) and table.loc["ml", "nll"] == np.inf
    assert model.ties is None  # the user's own is left alone


def test_models_that_know_no_ties_are_refused():
    for how in ("half", "drop"):
        with pytest.raises(
            ArgumentError, match=f"'x' has `ties='{how}'` and does not predict ties.*without_ties"
        ):
            compared({"x": maximum_likelihood(ties=how)})
        compared({"x": maximum_likelihood(ties=how)}, DATA.without_ties(how))

    class Own:
        def fit(self, data):
            return self

        def predict_proba(self, pairs):
            return np.full(len(pairs), 0.5)

    with refused(ArgumentError, "'x'"):
        compared({"x": Own()})
    open_model = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination())
    with refused(DataError, "'x'", "are ties"):
        compared({"x": open_model})
