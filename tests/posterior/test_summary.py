"""The summary, the convergence check of it, and the histogram in text."""

import dataclasses
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base.array import array_stats
from helpers.posterior_cases import chain, comparisons, convergence, small_fit, summarise, tree_of
from helpers.sentences import said

from thali.errors import ArgumentError


@pytest.fixture(scope="module")
def small():
    return small_fit()


COLUMNS = ["mean", "sd", "low", "high", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"]


def test_summary_has_the_documented_rows_and_columns(small):
    chains, data, tree = small
    summary = summarise(tree)
    pairs = [
        f"choice_probability[{data.labels[i]}, {data.labels[j]}]"
        for i, j in zip(data.first, data.second, strict=True)
    ]
    assert summary.index.to_list() == ["n_features", "alpha", "log_likelihood", *pairs]
    assert summary.columns.to_list() == COLUMNS
    alpha = np.stack([draws.alpha for draws in chains])
    assert summary.loc["alpha", "mean"] == pytest.approx(alpha.mean(), rel=1e-12)
    assert summary.loc["alpha", "sd"] == pytest.approx(alpha.std(ddof=1), rel=1e-12)
    np.testing.assert_allclose(
        summary.loc["alpha", ["low", "high"]].astype(float),
        np.quantile(alpha, [0.055, 0.945]),
        rtol=1e-2,
    )
    # ArviZ's own function, and ArviZ's default quantiles.
    tails = [array_stats.ess(alpha, method="quantile", prob=quantile) for quantile in (0.11, 0.89)]
    assert summary.loc["alpha", "ess_tail"] == pytest.approx(min(tails), rel=1e-12)
    last = f"{data.labels[data.first[-1]]}, {data.labels[data.second[-1]]}"
    probability = tree["posterior"]["choice_probability"].sel(pair=last).values
    assert summary.iloc[-1]["mean"] == pytest.approx(probability.mean(), rel=1e-12)


def test_alpha_is_a_row_only_if_it_was_learned(small):
    chains, data, _ = small
    assert "alpha" not in summarise(tree_of(chains, data, learned_alpha=False)).index


@pytest.mark.parametrize("n_options, rows", [(60, 3 + 59), (61, 3 + 2 * 61)])
def test_choice_probabilities_are_rows_up_to_sixty_options(n_options, rows):
    tree = tree_of([chain(n_options, draws=8)], comparisons(n_options, share=0.0))
    assert len(summarise(tree)) == rows


def test_independent_draws_are_found_efficient_and_agreeing():
    tree = tree_of([chain(3, draws=1000, seed=seed) for seed in range(4)], comparisons(3))
    summary = summarise(tree)
    assert np.min(summary["ess_bulk"]) > 3000
    assert np.max(summary["r_hat"]) < 1.005
    np.testing.assert_allclose(summary["mcse_mean"], summary["sd"] / math.sqrt(4000), rtol=0.1)
    ok, sentence = convergence(summary)
    assert ok
    said(sentence, "4 chains", "1.00")


def test_constant_quantities_are_quiet_and_ignored():
    """Given aspects: the number of features never changes, and 0.1 * 3000 / 3000 is not 0.1."""
    chains = [chain(3, draws=1000, seed=seed, mean_features=0.0) for seed in range(3)]
    chains = [dataclasses.replace(draws, alpha=np.full(1000, 0.1)) for draws in chains]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summary = summarise(tree_of(chains, comparisons(3)))
    assert summary.loc["alpha", ["mean", "sd", "mcse_mean", "low", "high"]].to_list() == [
        0.1,
        0,
        0,
        0.1,
        0.1,
    ]
    assert summary.loc[["alpha", "n_features"], "r_hat"].isna().all()
    assert convergence(summary)[0]


def test_everything_constant_is_no_disagreement():
    draws = chain(2, draws=10, mean_features=0.0)
    still = {
        name: np.repeat(getattr(draws, name)[:1], 10, axis=0)
        for name in ("alpha", "log_likelihood", "unique_weights")
    }
    summary = summarise(tree_of([dataclasses.replace(draws, **still)] * 2, comparisons(2)))
    agrees, sentence = convergence(summary)
    said(sentence, "2 chains")
    assert agrees


def test_chains_that_stand_still_in_different_places_are_caught():
    chains = [chain(3, draws=500, seed=seed) for seed in range(2)]
    chains = [
        dataclasses.replace(draws, alpha=np.full(500, 1.0 + seed))
        for seed, draws in enumerate(chains)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ok, sentence = convergence(tree_of(chains, comparisons(3)))
    assert not ok
    said(sentence, "100", "do not agree")
    said(sentence, "stay in different")
    assert sentence.endswith("refit with `tempering=8`.")
    bare = [chain(3, draws=500, seed=seed, mean_features=0.0) for seed in range(2)]
    bare = [
        dataclasses.replace(none, alpha=some.alpha) for none, some in zip(bare, chains, strict=True)
    ]
    sentence = convergence(tree_of(bare, comparisons(3)))[1]
    # nothing is learned that could be tempered
    assert "plot('trace')" in sentence and "tempering" not in sentence


def test_one_shifted_chain_is_caught_and_named():
    chains = [chain(3, draws=500, seed=seed) for seed in range(4)]
    chains[2] = dataclasses.replace(chains[2], log_likelihood=chains[2].log_likelihood + 1.0)
    ok, sentence = convergence(tree_of(chains, comparisons(3)))
    assert not ok
    said(sentence, "4 chains", "log_likelihood", "1.0")
    said(sentence, "500", "tempering=8")
    ladder = {"temperature": np.geomspace(1.0, 10.0, 8), "swap_rate": np.full(7, 0.3)}
    tempered = [dataclasses.replace(drawn, stats=ladder) for drawn in chains]
    sentence = convergence(tree_of(tempered, comparisons(3)))[1]
    said(sentence, "500")
    assert "tempering" not in sentence


def test_too_few_draws_are_told_how_many_to_take():
    summary = pd.DataFrame(
        {"sd": 1.0, "r_hat": 1.001, "ess_bulk": 900.0, "ess_tail": [300.0, 90.0]}, index=["x", "y"]
    )
    summary.attrs.update(chains=4, draws=1000)
    agrees, sentence = convergence(summary)
    said(sentence, "ess_tail of y is 90", "400", "draws=4500` (now 1000)")
    assert not agrees


def test_one_chain_is_never_enough():
    summary = summarise(tree_of([chain(3, draws=500)], comparisons(3)))
    assert np.isnan(summary["r_hat"]).all()
    ok, sentence = convergence(summary)
    assert not ok
    said(sentence, "The single chain")
    said(sentence, "with one chain")
    ok, sentence = convergence(summarise(tree_of([chain(3, draws=30)], comparisons(3))))
    assert not ok
    said(sentence, "The single chain")


def test_a_few_draws_are_too_few_to_judge():
    for draws in (1, 3):
        assert not convergence(summarise(tree_of([chain(3, draws=draws)], comparisons(3))))[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            summary = summarise(
                tree_of([chain(3, draws=draws, seed=seed) for seed in range(2)], comparisons(3))
            )
        ok, sentence = convergence(summary)
        assert not ok
        assert "cannot be assessed with" in sentence


def test_a_frame_of_unknown_origin_is_refused(small):
    summary = summarise(small[2])
    summary.attrs.clear()
    with pytest.raises(ArgumentError, match="attrs"):
        convergence(summary)
