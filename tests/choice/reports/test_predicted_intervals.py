"""Intervals of predicted probabilities: quantiles over own draws."""

import numpy as np
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.market_studies import encode_products, softmax
from helpers.sentences import refused

from thali.errors import ArgumentError

pytestmark = pytest.mark.fit


@pytest.fixture(scope="module")
def new():
    return simulate_experiment(n_respondents=8, seed=3).head(6)


def test_of_a_person_by_the_draws_of_her_tastes(hierarchical, new):
    model = hierarchical
    beta = (
        model.posterior_["posterior"]["beta"]
        .stack(row=["chain", "draw"])
        .transpose("row", "respondent", ...)
    )
    u = (
        beta.sel(respondent=str(new["id"].iloc[0])).values
        @ encode_products(beta["coefficient"].values, new).T
    )
    p = softmax(u.reshape(len(u), 2, 3)).reshape(len(u), 6)
    found, se, low, high = model.predict_proba(new, return_se=True, ci=0.8)
    np.testing.assert_allclose(found, p.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose([low, high], np.quantile(p, [0.1, 0.9], axis=0), rtol=1e-9)
    assert (se < high - low).all() and len(model.predict_proba(new, ci=0.8)) == 3
    of_new = model.predict_proba(new.assign(id="nobody"), ci=0.8)
    assert (of_new[2] - of_new[1]).mean() > (high - low).mean()
    with refused(ArgumentError, "`ci`, the"):
        model.predict_proba(new, ci=2.0)


def test_intervals_of_an_estimate_follow_its_covariance(multinomial, new):
    model = multinomial
    found, low, high = model.predict_proba(new, ci=0.95)
    np.testing.assert_array_equal(found, model.predict_proba(new))
    x = encode_products(model.coef_.index, new)
    slopes = []
    for k in range(x.shape[1]):
        moved = model.coef_.to_numpy() + 1e-5 * (np.arange(x.shape[1]) == k)
        own = softmax((x @ moved).reshape(2, 3)).ravel()
        slopes.append((own - found) / 1e-5)
    sd = np.sqrt(np.einsum("ar,ab,br->r", slopes, model.covariance_.to_numpy(), slopes))
    assert (low < found).all() and (found < high).all()
    np.testing.assert_allclose(high - low, 2 * 1.96 * sd, rtol=0.2)
