"""The posterior predictive check of choices from sets, its picture, and the picture of
predictions."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from helpers.posterior_cases import model_of, tree_of, written
from helpers.sentences import refused, said
from scipy.stats import binom, chi2

import thali as th
from thali._model.predictive_check import describe_check
from thali.errors import DataError

pytestmark = pytest.mark.fit

matplotlib.use("Agg")

U = np.array([5.0, 3.0, 2.0])
SETS = {("tea", "coffee", "milk"): (90, 60, 50), ("tea", "milk"): (70, 30)}
DRAWS = 20_000


def choices(counts, weights=False):
    rows = [
        (f"{number}.{k}", name, int(j == k), count)
        for number, (offered, counted) in enumerate(counts.items())
        for k, count in enumerate(counted)
        for j, name in enumerate(offered)
    ]
    frame = pd.DataFrame(rows, columns=["choice_id", "alternative", "chosen", "count"])
    return th.Choices(frame, labels=["tea", "coffee", "milk"], weights=weights)


def certain(data, draws=DRAWS):
    """A model whose posterior is sure of the unique weights U."""
    return model_of(
        tree_of([written(np.tile(U, (draws, 1)))], data, lapse=0.0, learned_alpha=False)
    )


def test_replicates_are_multinomial():
    """With one known p every figure of the table has a closed form."""
    data = choices(SETS)
    table = certain(data).check(random_seed=1)
    p = np.concatenate([U / U.sum(), U[[0, 2]] / U[[0, 2]].sum()])
    for row in table.itertuples():
        place = row.offered.split(", ")
        share = U[["tea", "coffee", "milk"].index(row.alternative)] / sum(
            U[["tea", "coffee", "milk"].index(name)] for name in place
        )
        assert row.predicted == pytest.approx(share, abs=1e-12)
        assert row.low * row.n == pytest.approx(binom.ppf(0.055, row.n, share), abs=1)
        assert row.high * row.n == pytest.approx(binom.ppf(0.945, row.n, share), abs=1)
        x = round(row.observed * row.n)
        mid = binom.cdf(x - 1, row.n, share) + binom.pmf(x, row.n, share) / 2
        exact = 2 * min(mid, 1 - mid)
        assert row.p_value == pytest.approx(exact, abs=4 * np.sqrt(1 / DRAWS))
    # Pearson's statistic: 2 degrees of freedom of the triple and 1 of the pair, which variances n p
    # (1 - p) would miss
    n = np.array([200] * 3 + [100] * 2)
    x = np.array([90, 60, 50, 70, 30])
    statistic = ((x - n * p) ** 2 / (n * p)).sum()
    assert table.attrs["p_value"] == pytest.approx(chi2.sf(statistic, 3), abs=0.02)


def test_a_misfit_is_named():
    table = certain(choices({("tea", "coffee", "milk"): (20, 60, 120)})).check(random_seed=1)
    said(describe_check(table), "milk out of", "observed 0.60", "Misfit", "p < 0.001")


def test_fractional_choices_have_no_replicates():
    data = choices({("tea", "coffee", "milk"): (2.5, 1.0, 1.0)}, weights=True)
    with refused(DataError, "'tea'", "2.5"):
        certain(data, 10).check()


def test_pictures_of_the_check_name_alternative_and_set():
    model = certain(choices(SETS), 200)
    axes = th.plots.check(model.check())
    assert any(text.get_text().endswith("out of tea, milk") for text in axes.get_yticklabels())
    axes = model.plot("predictions")
    points = axes.collections[-1].get_offsets()
    assert sorted(points[:, 1]) == pytest.approx(sorted([0.45, 0.3, 0.25, 0.7, 0.3]))
    assert sorted(points[:, 0]) == pytest.approx(sorted([0.5, 0.3, 0.2, 5 / 7, 2 / 7]))
    assert "out of tea, milk" in "".join(text.get_text() for text in axes.get_legend().get_texts())
    matplotlib.pyplot.close("all")
