"""What models of paired comparisons with covariates answer."""

import numpy as np
import pandas as pd
import pytest
from helpers.plain_python import run_as_python
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

RUN = {"draws": 12, "tune": 4, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}
LABELS = list("abcd")


def trials(n, outcomes=("left", "right")):
    rng = np.random.default_rng(5)
    i = rng.integers(0, 4, n)
    sides = np.array(LABELS)[i], np.array(LABELS)[(i + rng.integers(1, 4, n)) % 4]
    frame = pd.DataFrame({"left": sides[0], "right": sides[1], "chosen": rng.choice(outcomes, n)})
    return frame.assign(longer=rng.integers(-1, 2, n))


DATA = th.PairedComparisons.from_trials(trials(60), covariates=["order", "longer"], labels=LABELS)
TIED = th.PairedComparisons.from_trials(
    trials(60, ("left", "right", "tie")), covariates=["order", "longer"], labels=LABELS
)
PRICES = pd.DataFrame({"price": [1002.0, 1000.0, 1001.0, 1000.5]}, index=LABELS)


@pytest.fixture(scope="module")
def model():
    return th.EliminationByAspects().fit(DATA, **RUN)


@pytest.fixture(scope="module")
def tied():
    with run_as_python():  # a specialisation that nothing else needs runs as Python
        return th.EliminationByAspects("unique").fit(TIED, **RUN)


def test_covariate_effects_follow_the_draws(tied, tmp_path, uncompiled):
    model = tied
    rows = list(model.summary().index)
    assert rows[1:4] == ["log_likelihood", "tie", "covariate[order]"] and model._covariates == (
        "order",
        "longer",
    )
    draws = model.posterior_["posterior"]["covariate"].values.reshape(-1, 2)
    effects = model.covariate_effects()
    np.testing.assert_allclose(effects["mean"], draws.mean(axis=0))
    np.testing.assert_allclose(effects["above_0"], (draws > 0).mean(axis=0))
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert again.covariate_effects().equals(effects) and again.check(1).equals(model.check(1))
    again.continue_fit(3, progressbar=False)
    assert again.posterior_["posterior"]["covariate"].shape == (2, 15, 2)
    new = model.posterior_predictive(TIED, random_seed=1)["posterior_predictive"].dataset
    n = TIED.wins + TIED.losses + TIED.tied
    assert set(new.data_vars) == {"wins", "ties"} and (new["wins"] + new["ties"] <= n).all()


def test_predictions_are_for_given_covariates(tied):
    model = tied
    posterior, pairs = model.posterior_["posterior"].dataset, [("a", "b"), ("b", "a"), ("c", "d")]
    p = posterior["choice_probability"].sel(pair="a, b").values
    q, beta = (p - 0.005) / 0.99, posterior["covariate"].values
    eta = beta @ [1.0, -2.0]
    lifted = 0.99 * q / (q + (1 - q) * np.exp(-eta)) + 0.005
    given = {"order": 1, "longer": [-2, 3, 0]}
    found, errors = model.predict_proba(pairs, return_se=True, covariates=given)
    assert found[0] == pytest.approx(lifted.mean()) and (errors > 0).all()
    assert model.predict_proba(pairs)[0] == pytest.approx(p.mean())
    tie = posterior["tie"].values
    r = tie * np.sqrt(lifted * (1 - lifted))
    assert model.predict_outcomes(pairs, given).loc[0, "p_tie"] == pytest.approx(
        (r / (1 + r)).mean()
    )
    for bad, wrong in (({"x": 1}, ("'x'", "'order'", "'longer'")), (3, ("covariates", "must map"))):
        with refused(ArgumentError, *wrong):
            model.predict_proba(pairs, covariates=bad)
    with refused(ArgumentError, "of two options"):
        model.predict_proba([("a", "b", "c")], covariates=given)


def test_the_check_replicates_comparisons_with_their_covariates(model, tied):
    for each, data in ((model, DATA), (tied, TIED)):
        table = each.check(random_seed=1).set_index(["a", "b"]).sort_index()
        if data.n_ties:
            table = table[~table["tied"]]
        cells, labels = data.cells, np.array(data.labels)
        rows = cells.pair == 3
        pair = tuple(labels[[data.first[3], data.second[3]]])
        given = dict(zip(data.covariates.names, cells.x[rows].T, strict=True))
        n = (cells.wins + cells.losses + cells.tied)[rows]
        if data.n_ties:
            p = each.predict_outcomes([pair] * int(rows.sum()), given)["p_a"].to_numpy()
        else:
            p = each.predict_proba([pair] * int(rows.sum()), covariates=given)
        assert table.loc[pair, "predicted"] == pytest.approx(p @ n / n.sum())
        assert table.loc[pair, "n"] == n.sum()


MODELS = {
    "ibp": th.EliminationByAspects(),
    "maximum likelihood": th.EliminationByAspects("unique", method="maximum-likelihood"),
}


@pytest.mark.parametrize("name", MODELS)
def test_covariates_of_options_are_refused(name):
    rows = trials(12).assign(who=list("pqr") * 4)
    data = th.PairedComparisons.from_trials(
        rows, respondent="who", labels=LABELS
    ).with_option_covariates(PRICES)
    with refused(DataError, "'price' describes options", "fit BradleyTerryLuce"):
        MODELS[name].prepare(data)


def test_what_does_not_go_with_covariates():
    with refused(DataError, "'order'", "'longer'"):
        th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Elimination()).fit(DATA)
    likelihood = th.likelihoods.Elimination(covariates=("order", "longer"))
    with refused(ArgumentError, "0.5"):
        th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood, weight_prior=(0.3, 1.0)).fit(
            DATA
        )
    with refused(DataError, "'order'"):
        th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood).fit(DATA.with_covariates([]))
    sets = th.Choices.from_frame(
        pd.DataFrame({"choice_id": [1, 1, 1], "alternative": list("abc"), "chosen": [1, 0, 0]})
    )
    for model in (th.EliminationByAspects(covariates=["order"]),):
        with refused(DataError, "of two options"):
            model.fit(sets)
