"""R-hat, effective sample sizes and Monte Carlo errors are those of arviz-stats."""

import warnings

import numpy as np
import pytest
from arviz_stats.base.array import array_stats

from thali._posterior import summary_table
from thali._posterior.summary_table import (
    build_summary,
    compute_diagnostics,
    compute_ess_and_r_hat,
    compute_mean_errors,
    compute_mean_mcse,
    compute_tail_ess,
    extend_summary,
    format_main_rows,
)

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 20, 37, 64, 101, 250]


def quantities(chains, draws, rng):
    """Quantities (quantity, chain, draw) of every kind that a posterior can hold."""
    shape = chains, draws
    white, remembering = rng.normal(size=shape), np.zeros(shape)
    memory = rng.uniform(-0.95, 0.99)
    for t in range(draws):
        remembering[:, t] = memory * remembering[:, t - 1] + white[:, t]
    somewhere = rng.integers(chains), rng.integers(draws)
    once, missing, infinite, lost = np.zeros(shape), white.copy(), white.copy(), white.copy()
    once[somewhere], missing[somewhere], infinite[somewhere], lost[somewhere[0]] = (
        1.0,
        np.nan,
        np.inf,
        -np.inf,
    )
    middle = np.zeros(shape)
    middle[:, draws // 2] = 1.0  # which is left out where the number of draws is odd
    return np.stack(
        [
            white,
            remembering,
            1e-9 * remembering,
            1e-17 * remembering,  # less than arviz-stats tells apart
            1e6 + remembering,
            np.exp(5.0 * white),  # a heavy tail
            np.cumsum(white, axis=1),  # a random walk
            white + 3.0 * np.arange(chains)[:, None],  # chains apart
            # chains of different width, which only folding tells apart
            white * 2.0 ** np.arange(chains)[:, None],
            np.round(remembering),  # ties
            rng.integers(3, size=shape).astype(float),
            (white > rng.normal()).astype(float),  # two values
            np.resize([0.0, 1.0], shape),  # in turn; all are as far from the median
            once,
            middle,
            np.full(shape, 0.1),
            np.repeat(rng.normal(size=(chains, 1)), draws, axis=1),  # chains that stand still
            np.repeat(rng.normal(size=(1, draws)), chains, axis=0),  # chains that are the same
            missing,
            np.full(shape, np.nan),
            infinite,
            lost,
        ]
    )


def theirs(draws):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return {
            "ess_bulk": array_stats.ess(draws, method="bulk"),
            "r_hat": array_stats.rhat(draws),
            "ess_tail": array_stats.ess(draws, method="tail", prob=0.89),
            "mcse_mean": array_stats.mcse(draws, method="mean"),
        }


def ours(draws):
    ess, r_hat = compute_ess_and_r_hat(draws)
    return {
        "ess_bulk": ess,
        "r_hat": r_hat,
        "ess_tail": compute_tail_ess(draws, 0.89),
        "mcse_mean": compute_mean_mcse(draws),
    }


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("chains", [2, 1, 3, 4, 5, 8])
def test_diagnostics_are_those_of_arviz_stats(chains):
    rng = np.random.default_rng(chains)
    for draws in [*LENGTHS, *rng.integers(4, 300, size=10)]:
        values = quantities(chains, draws, rng)
        expected, found = theirs(values), ours(values)
        for name, column in expected.items():
            # So many additions change the last digits by no more than a thousand spacings of
            # floats.
            np.testing.assert_allclose(
                found[name], column, rtol=1e-12, atol=0.0, err_msg=f"{name} of {draws} draws"
            )


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_long_chains_and_few_numbers_at_a_time(monkeypatch):
    monkeypatch.setattr(summary_table, "_BLOCK", 30_000)  # three quantities a block
    values = quantities(2, 5003, np.random.default_rng(3))
    for name, column in theirs(values).items():
        np.testing.assert_allclose(ours(values)[name], column, rtol=1e-12, atol=0.0, err_msg=name)


def test_folding_finds_chains_of_different_width():
    white = np.random.default_rng(5).normal(size=(1, 4, 1000))
    assert compute_ess_and_r_hat(white)[1] < 1.01
    assert compute_ess_and_r_hat(white * np.array([1.0, 1.0, 1.0, 4.0])[:, None])[1] > 1.1


def test_no_quantities_and_no_draws():
    for shape in [(0, 4, 100), (3, 4, 0), (3, 1, 3)]:
        assert all(
            np.isnan(column).all() and len(column) == shape[0]
            for column in ours(np.zeros(shape)).values()
        )


def test_lengths_of_the_transform_are_those_of_scipy():
    from scipy.fftpack import next_fast_len

    lengths = [*range(1, 3000), 64_000, 100_003, 128_001]
    assert [summary_table.find_fast_length(n) for n in lengths] == [
        next_fast_len(n) for n in lengths
    ]


def test_constant_quantities_have_no_error_and_no_diagnostics():
    rng = np.random.default_rng(2)
    draws = np.stack([rng.normal(size=(2, 40)), np.full((2, 40), 0.1), rng.normal(size=(2, 40))])
    draws[1, 1] += 1e-18  # less than floats distinguish
    errors, expected = compute_mean_errors(draws), compute_mean_mcse(draws[[0, 2]])
    assert errors.tolist() == [expected[0], 0.0, expected[1]]
    for found, own in zip(compute_diagnostics(draws), compute_ess_and_r_hat(draws), strict=True):
        np.testing.assert_array_equal(found, [own[0], np.nan, own[2]])
    assert np.isnan(compute_mean_errors(draws[:, :, :3])).all()
    assert np.isfinite(compute_mean_errors(draws[:, :, :4])).all()
    assert [each.tolist() for each in compute_diagnostics(np.zeros((0, 2, 40)))] == [[], []]
    steps = np.arange(80.0).reshape(1, 1, 80)  # which one chain cannot compare
    assert compute_diagnostics(steps)[0] < 10.0 and np.isnan(compute_diagnostics(steps)[1])


def test_columns_of_a_summary_are_those_of_the_draws():
    rng = np.random.default_rng(3)
    draws = dict(
        x=rng.normal(size=(3, 50)), y=np.full((3, 50), 0.1), z=rng.gamma(1.0, size=(3, 50))
    )
    summary = build_summary(draws, 0.5)
    for name, each in draws.items():
        row, quantity = summary.loc[name], each[None]
        assert row["mean"] == pytest.approx(each.mean(), rel=1e-12)
        assert row["sd"] == pytest.approx(each.std(ddof=1) if name != "y" else 0.0, rel=1e-12)
        ends = np.quantile(each, [0.25, 0.75])
        np.testing.assert_allclose(row[["low", "high"]].astype(float), ends, rtol=1e-12)
        assert row["ess_bulk"] == compute_ess_and_r_hat(quantity)[0]
        assert row["ess_tail"] == compute_tail_ess(quantity, 0.89)
    assert summary.loc["y", ["mean", "mcse_mean"]].tolist() == [0.1, 0.0]
    assert np.isnan(summary.loc["y", "r_hat"])
    assert summary.loc["x", "r_hat"] == compute_ess_and_r_hat(draws["x"][None])[1]
    assert summary.attrs == {"chains": 3, "draws": 50, "interval": 0.5}
    longer = extend_summary(summary, {"w": draws["x"]})
    assert longer.index.tolist() == ["x", "y", "z", "w"] and longer.attrs == summary.attrs
    assert extend_summary(summary, {}) is summary
    single = build_summary({"x": np.array([[2.0]])})
    assert single.loc["x", "mean"] == 2.0 and single.loc["x", "sd"] == 0.0


def test_the_first_two_rows_that_vary_are_shown():
    rng = np.random.default_rng(4)
    draws = {name: rng.normal(size=(2, 50)) for name in "abc"}
    assert [name for name, _ in format_main_rows(build_summary(draws))] == ["a", "b"]
    still = build_summary({"a": np.ones((2, 50)), "b": draws["b"], "c": draws["c"]})
    assert [name for name, _ in format_main_rows(still)] == ["b"]
