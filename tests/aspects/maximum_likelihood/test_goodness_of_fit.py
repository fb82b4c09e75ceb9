"""Tests of fit: chi-square only where G² follows it, else a bootstrap, or the sentence that the
test says nothing."""

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
from helpers.paired_cases import TREE, maximised
from helpers.sentences import refused, said
from scipy.stats import binom, chi2

import thali as th
from thali.errors import ArgumentError, EstimateWarning

pytestmark = pytest.mark.usefixtures("few_replicates")

# Six options compared five times each; G² is 15.6 on 10 degrees of freedom, which chi-square calls
# improbable (.11).
SPARSE = [
    [0, 3, 3, 1, 4, 2],
    [2, 0, 5, 2, 3, 4],
    [2, 0, 0, 3, 1, 4],
    [4, 3, 2, 0, 4, 2],
    [1, 2, 4, 1, 0, 5],
    [3, 1, 1, 3, 0, 0],
]


def once(n=6):
    """Every pair compared once, the later option chosen, but for one circle."""
    counts = np.tril(np.ones((n, n), int), -1)
    counts[0, n - 1], counts[n - 1, 0] = 1, 0
    return counts


@pytest.mark.parametrize("aspects", ["unique", TREE])
def test_chi_square_where_pairs_were_compared_often(aspects):
    model = maximised(aspects)
    found = model.maximum_likelihood.fit_test()
    assert (found.kind, found.samples, found.why) == ("chi-square", 0, "")
    assert (
        model.maximum_likelihood.p_value()
        == found.p_value
        == pytest.approx(
            chi2.sf(model.maximum_likelihood.deviance(), model.maximum_likelihood.df()), rel=1e-9
        )
    )
    assert "degrees of freedom (p " in str(found)


@pytest.mark.exact
@pytest.mark.filterwarnings("ignore::thali.errors.EstimateWarning")
def test_a_bootstrap_is_the_distribution_of_g2():
    """Three options compared four times each: 125 tables, whose G² and probabilities are found one
    by one."""

    @cache
    def fitted(wins):
        (a, b, c), (x, y, z) = wins, (4 - np.array(wins)).tolist()
        return maximised(data=th.PairedComparisons([[0, a, b], [x, 0, c], [y, z, 0]]))

    model = fitted((1, 2, 1))
    p, at_least = model._estimates_.fitted()[::2], 0.0
    for wins in itertools.product(range(5), repeat=3):
        turned = tuple(4 - np.array(wins))  # every choice the other way round, of the same G²
        at_least += np.prod(binom.pmf(wins, 4, p)) * (
            fitted(min(wins, turned)).maximum_likelihood.deviance()
            >= model.maximum_likelihood.deviance() - 1e-6
        )
    found = model.maximum_likelihood.fit_test(samples=600, random_seed=1)
    assert found.kind == "bootstrap" and found.samples == 600
    assert found.p_value == pytest.approx(
        at_least, abs=5 * np.sqrt(at_least * (1 - at_least) / 600)
    )
    assert (
        abs(chi2.sf(model.maximum_likelihood.deviance(), 1) - at_least) > 0.05
    )  # which chi-square misses


@pytest.mark.fit  # for its time
def test_a_bootstrap_where_pairs_were_compared_a_few_times():
    model = maximised(data=th.PairedComparisons(SPARSE))
    found = model.maximum_likelihood.fit_test()
    assert (
        found.kind == "bootstrap"
        and model.maximum_likelihood.p_value() == found.p_value == model.summary().attrs["p_value"]
    )
    many = model.maximum_likelihood.fit_test(samples=299)
    # G² is larger by chance than chi-square says
    assert many.p_value > 1.3 * chi2.sf(
        model.maximum_likelihood.deviance(), model.maximum_likelihood.df()
    )
    said(found, "bootstrap", "too rarely", "chi-square")
    again, other = (
        maximised(data=th.PairedComparisons(SPARSE)).maximum_likelihood.fit_test(random_seed=seed)
        for seed in (0, 1)
    )
    assert again == found and other.p_value != found.p_value
    assert model.maximum_likelihood.fit_test(samples=20, random_seed=3).samples == 20
    with refused(ArgumentError, "samples"):
        model.maximum_likelihood.fit_test(samples=0)


def test_the_fit_test_is_unavailable_for_few_or_fractional_counts():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimateWarning)
        single = maximised(data=th.PairedComparisons(once()))
    halves = maximised(data=th.paired.half_wins(20 * once(), np.triu(np.ones((6, 6)), 1)))
    chain = maximised(data=th.PairedComparisons([[0, 60, 0], [20, 0, 50], [0, 50, 0]]))
    for model, why in (
        (single, "1.00 times"),
        (halves, "half wins"),
        (chain, "as many free weights"),
    ):
        found = model.maximum_likelihood.fit_test(samples=50)
        assert (
            found.kind == "none"
            and np.isnan(found.p_value)
            and np.isnan(model.maximum_likelihood.p_value())
        )
        said(found, "not available", why)


def test_with_one_game_per_cell_only_the_order_is_tested():
    """The model cannot be tested, the order can."""
    forward, backward = once(8), once(8).T.copy()
    backward[2, 1], backward[1, 2] = 1, 0
    found = th.paired.order_effect(forward, backward)
    assert found.table["test"].tolist() == ["none", "chi-square", "chi-square", "bootstrap"]
    assert (
        np.isnan(found.table.loc["model", "p_value"])
        and found.table.loc["imbalance", "p_value"] == 1.0
    )
    said(found.note, "1.00 times", "order and effect", "7 comparisons")
    groups = th.paired.group_test([SPARSE, 8 * np.array(SPARSE)])
    assert groups.table["test"].tolist() == ["chi-square", "bootstrap", *["chi-square"] * 3]
    said(
        groups.note,
        "'group 1' and 'group 2'",
        "do not differ significantly",
        "0.00 on 5",
        "p = 1.000",
    )


@pytest.mark.fit
def test_thurstone_and_davidson_use_the_bootstrap_for_sparse_data():
    assert th.paired.thurstone(th.datasets.celebrities()).p_value == pytest.approx(4.1e-7, rel=0.01)
    sparse = th.paired.thurstone(SPARSE, samples=199)
    assert "parametric bootstrap" in sparse.note and sparse.p_value > 1.3 * chi2.sf(
        sparse.deviance, sparse.df
    )
    other = maximised(data=th.PairedComparisons(SPARSE)).maximum_likelihood.fit_test(samples=199)
    assert sparse.p_value == pytest.approx(other.p_value, abs=0.15)
    ties = np.triu(np.arange(36).reshape(6, 6) % 3, 1)
    with_ties = th.paired.davidson(SPARSE, ties, samples=99, random_seed=2)
    assert (
        "from 99 parametric bootstrap samples)" in with_ties.note and 0.01 <= with_ties.p_value <= 1
    )
    many = th.paired.davidson(200 * np.array(SPARSE), 200 * ties)
    assert "bootstrap" not in many.note and many.p_value == pytest.approx(
        chi2.sf(many.deviance, many.df)
    )
    assert "not available" in th.paired.thurstone([[0, 1, 0], [0, 0, 1], [1, 0, 0]]).note


def test_no_standard_error_where_all_weights_but_one_vanish(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.csv").write_text("x,a,b\na,0,3\nb,0,0\n")
    result = run("fit", "one.csv", "--method", "maximum-likelihood")
    assert result.code == 0 and "inf" not in result.out


@pytest.mark.long
def test_the_choice_of_chi_square_keeps_the_size_of_the_test():
    """Where chi-square is used a test at .05 rejects at most .06 of true models; so does a
    bootstrap."""
    rng = np.random.default_rng(1)
    w = np.exp(np.linspace(-0.5, 0.5, 6))
    for times, wanted, most in ((20, "chi-square", 0.06), (6, "bootstrap", 0.06)):
        rejected = []
        for number in range(1500 if wanted == "chi-square" else 200):
            counts = np.zeros((6, 6), int)
            for i, j in itertools.combinations(range(6), 2):
                counts[i, j] = rng.binomial(times, w[i] / (w[i] + w[j]))
                counts[j, i] = times - counts[i, j]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EstimateWarning)
                found = maximised(data=th.PairedComparisons(counts)).maximum_likelihood.fit_test(
                    None if times > 9 else 199, number
                )
            rejected.append(found.p_value <= 0.05)
        assert np.mean(rejected) < most + 4.5 * np.sqrt(0.06 * 0.94 / len(rejected))
