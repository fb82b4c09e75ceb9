"""The posterior predictive check of similarities."""

import numpy as np
import pytest
from helpers.additive_fits import made_up
from scipy.stats import chi2, norm

import thali as th
from thali._model.predictive_check import describe_check


def test_the_check_agrees_with_a_slow_evaluation():
    model = made_up(5, draws=40)
    table = model.check(0)
    posterior = model.posterior_["posterior"].dataset
    mu = posterior["similarity"].values.reshape(160, -1)
    sigma, labels = posterior["sigma"].values.ravel(), posterior["option"].values.tolist()
    pairs = [(labels[i], labels[j]) for i in range(5) for j in range(i + 1, 5)]
    observed = model.posterior_["observed_data"]["similarity"].values
    rows = table.set_index(["object", "other"])
    distances = np.zeros(160)
    for pair, (a, b) in enumerate(pairs):
        row = rows.loc[(a, b)]
        below = norm.cdf(observed[pair], mu[:, pair], sigma).mean()
        assert (
            row["p_value"] == pytest.approx(2 * min(below, 1 - below))
            and row["observed"] == observed[pair]
        )
        assert row["predicted"] == pytest.approx(mu[:, pair].mean())
        assert row["missed"] == (not row["low"] <= observed[pair] <= row["high"])
        distances += ((observed[pair] - mu[:, pair]) / sigma) ** 2
    assert table.attrs["p_value"] == pytest.approx(chi2.sf(distances, 10).mean())
    assert table["p_value"].is_monotonic_increasing


@pytest.mark.usefixtures("pictures")
def test_the_sentence_and_picture_name_the_worst_pairs():
    model = made_up(5, draws=40)
    table = model.check(0)
    said = describe_check(table)
    assert "of 10 observed similarities" in said and " and " in said
    ax = th.plots.check(table, max_pairs=3)
    assert ax.get_xlabel() == "similarity\n3 of 10 pairs, worst first"
    assert " and " in ax.get_yticklabels()[0].get_text()


@pytest.mark.fit
def test_numbers_of_judgements_narrow_the_interval():
    few = np.array([[1, 0.5, 0.2], [0.5, 1, 0.4], [0.2, 0.4, 1]])
    many = th.Similarities(few, judgements=np.full((3, 3), 100))
    widths = []
    for data in (th.Similarities(few), many):
        model = made_up(3, draws=200, beside=0.0, common=())
        model.fit(data, draws=200, chains=2)
        table = model.check(1)
        widths.append(float((table["high"] - table["low"]).mean()))
    assert widths[1] < 0.7 * widths[0]
