"""What is kept of a fit: the tree, its file, its summary, its features, its predictions."""

import dataclasses
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from posterior_cases import chain, comparisons, features_of
from scipy.special import betaln
from scipy.stats import binom

from thali.data.pairs import PairedComparisons
from thali.errors import ArgumentError, DataError
from thali.posterior.columns import columns_of, iterate_features
from thali.posterior.features import features_table
from thali.posterior.probabilities import (
    BLOCK,
    advantage_blocks,
    advantages,
    lapsing,
    mean_probabilities,
    pair_probabilities,
)
from thali.posterior.store import load, pair_index, save, to_datatree
from thali.posterior.summary import summarise, text_histogram, verdict

LAPSE = 0.01


def tree_of(chains, data, lapse=LAPSE, unique=True, learned_alpha=True, **attrs):
    return to_datatree(chains, data, lapse=lapse, unique=unique, learned_alpha=learned_alpha, attrs=attrs)


def naive_probability(features, unique_weights, i, j, lapse):
    """Görür, Jäkel & Rasmussen (2006), eq. 1, one feature after the other."""
    of_i, of_j = unique_weights[i], unique_weights[j]
    for owners, weight in features:
        if i in owners and j not in owners:
            of_i += weight
        if j in owners and i not in owners:
            of_j += weight
    p = 0.5 if of_i + of_j == 0 else of_i / (of_i + of_j)
    return (1 - lapse) * p + lapse / 2


@pytest.fixture(scope="module")
def small():
    """5 options, 3 chains of 40 draws, some pairs never compared."""
    data = comparisons(5, share=0.5, labels=["tea", "coffee", "milk", "água", "Wasser, still"])
    chains = [chain(5, draws=40, seed=seed, common=[(0, 2), (1, 3, 4)]) for seed in range(3)]
    return chains, data, tree_of(chains, data, thali_model=json.dumps({"aspects": "ibp"}))


@pytest.fixture(scope="module")
def large():
    """70 options have 2,415 pairs: too many for dense features."""
    data = comparisons(70, share=0.1)
    chains = [chain(70, draws=15, seed=seed, common=[(3, 50, 69)]) for seed in range(2)]
    return chains, data, tree_of(chains, data)


# --- probabilities ---


@pytest.mark.parametrize("lapse", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("unique", [True, False])
def test_probabilities_are_those_of_the_paper(lapse, unique):
    draws = chain(4, draws=60, unique=unique)
    tree = tree_of([draws], comparisons(4), lapse=lapse)
    i, j = np.triu_indices(4, k=1)
    expected = [
        [naive_probability(features, unique_weights, a, b, lapse) for a, b in zip(i, j, strict=True)]
        for features, unique_weights in zip(features_of(draws), draws.unique_weights, strict=True)
    ]
    np.testing.assert_allclose(
        tree["posterior"].to_dataset()["choice_probability"].values[0], expected, rtol=1e-13
    )


def test_few_pairs_of_many_options_agree_with_all_pairs():
    rng = np.random.default_rng(0)
    features, weights = rng.random((3, 7, 20)) < 0.4, rng.gamma(1.0, size=(3, 7))
    unique_weights = rng.gamma(1.0, size=(3, 20))
    i, j = np.triu_indices(20, k=1)
    together = advantages(features, weights, unique_weights, i, j)
    for pair in range(0, len(i), 17):
        alone = advantages(features, weights, unique_weights, i[pair : pair + 1], j[pair : pair + 1])
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_allclose(a[:, pair], b[:, 0], rtol=1e-13)


def test_option_without_an_advantage_has_exactly_none():
    """1e-17 instead of 0 on both sides would give anything instead of one half."""
    rng = np.random.default_rng(1)
    features = np.zeros((50, 300, 4), dtype=bool)
    features[:, :, :2] = (rng.random((50, 300)) < 0.6)[:, :, None]  # options 0 and 1 own the same features
    features[:, :, 2] = True  # option 2 owns them all
    weights, nothing = rng.gamma(1.0, size=(50, 300)), np.zeros((50, 4))
    for pairs in ([(0, 1), (0, 2)], [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)]):
        first, second = np.transpose(pairs)
        ij, ji = advantages(features, weights, nothing, first, second)
        assert not ij[:, :2].any()
        assert not ji[:, 0].any()
        assert (ji[:, 1] > 0).all()
        probabilities = pair_probabilities(features, weights, nothing, first, second)
        np.testing.assert_array_equal(probabilities[:, :2], np.tile([0.5, 0.0], (50, 1)))


def test_probabilities_of_any_leading_shape_and_of_many_blocks():
    rng = np.random.default_rng(2)
    n = 60
    shape = (2, 2 * BLOCK // (n * n))  # so that there is more than one block
    features, weights = rng.random((*shape, 3, n)) < 0.5, rng.gamma(1.0, size=(*shape, 3))
    unique_weights = rng.gamma(1.0, size=(*shape, n))
    first, second = np.array([0, 5]), np.array([1, 2])
    together = pair_probabilities(features, weights, unique_weights, first, second, LAPSE)
    assert together.shape == (*shape, 2)
    for at in [(0, 0), (1, shape[1] - 1), (0, shape[1] // 2)]:
        one = pair_probabilities(features[at], weights[at], unique_weights[at], first, second, LAPSE)
        np.testing.assert_allclose(together[at], one, rtol=1e-13)


def test_blocks_cover_every_draw_once(monkeypatch, small):
    monkeypatch.setattr("thali.posterior.probabilities.BLOCK", 100)
    _, _, tree = small
    i, j = np.triu_indices(5, k=1)
    seen = np.zeros(120, dtype=int)
    probability = np.empty((120, 10))
    for draws, ij, ji in advantage_blocks(columns_of(tree), i, j):
        seen[draws] += 1
        probability[draws] = lapsing(ij, ji, LAPSE)
    assert (seen == 1).all()
    np.testing.assert_allclose(
        probability.reshape(3, 40, 10), tree["posterior"]["choice_probability"], rtol=1e-13
    )


def test_mean_probabilities_of_dense_and_listed_features(small, large):
    _, _, tree = small
    mean = mean_probabilities(columns_of(tree), np.array([3, 0]), np.array([1, 4]), LAPSE)
    stored = tree["posterior"]["choice_probability"].mean(("chain", "draw")).values
    np.testing.assert_allclose(mean, [1 - stored[5], stored[3]], rtol=1e-12)

    chains, _, tree = large
    expected = [
        naive_probability(features, unique_weights, 50, 4, LAPSE)
        for draws in chains
        for features, unique_weights in zip(features_of(draws), draws.unique_weights, strict=True)
    ]
    mean = mean_probabilities(columns_of(tree), np.array([50]), np.array([4]), LAPSE)
    np.testing.assert_allclose(mean, [np.mean(expected)], rtol=1e-12)


# --- the tree ---


def test_features_come_back_as_they_were_drawn(small, large):
    for chains, _, tree in (small, large):
        expected = [features for draws in chains for features in features_of(draws)]
        found = list(iterate_features(tree))
        assert len(found) == len(expected)
        for (features, weights), draw in zip(found, expected, strict=True):
            assert [tuple(np.flatnonzero(row)) for row in features] == [owners for owners, _ in draw]
            np.testing.assert_array_equal(weights, [weight for _, weight in draw])


def test_small_tree_has_the_documented_shape(small):
    chains, data, tree = small
    posterior = tree["posterior"]
    widest = max(draws.n_features.max() for draws in chains)
    expected = {
        "n_features": ("chain", "draw"),
        "alpha": ("chain", "draw"),
        "log_likelihood": ("chain", "draw"),
        "features": ("chain", "draw", "feature", "option"),
        "weights": ("chain", "draw", "feature"),
        "unique_weights": ("chain", "draw", "option"),
        "choice_probability": ("chain", "draw", "pair"),
    }
    assert {name: posterior[name].dims for name in posterior.data_vars} == expected
    assert dict(posterior.sizes) == {"chain": 3, "draw": 40, "feature": widest, "option": 5, "pair": 10}
    assert posterior["features"].dtype == bool
    assert posterior["option"].values.tolist() == list(data.labels)
    pairs = [(data.labels[i], data.labels[j]) for i in range(5) for j in range(i + 1, 5)]
    stored = zip(posterior["option_a"].values.tolist(), posterior["option_b"].values.tolist(), strict=True)
    assert list(stored) == pairs
    owned = posterior["features"].any("option")
    assert (owned.sum("feature") == posterior["n_features"]).all()
    assert (posterior["weights"].where(~owned, 0) == 0).all()
    np.testing.assert_array_equal(posterior["alpha"], [draws.alpha for draws in chains])
    np.testing.assert_array_equal(
        tree["sample_stats"]["acceptance"], [draws.stats["acceptance"] for draws in chains]
    )
    assert json.loads(tree.attrs["thali_model"]) == {"aspects": "ibp"}
    assert set(tree.children) == {
        "posterior",
        "log_likelihood",
        "observed_data",
        "constant_data",
        "sample_stats",
    }


def test_observed_data_are_those_of_the_compared_pairs(small):
    _, data, tree = small
    assert 0 < data.n_pairs < 10
    observed, constant = tree["observed_data"], tree["constant_data"]
    np.testing.assert_array_equal(observed["wins"], data.wins)
    np.testing.assert_array_equal(observed["losses"], data.losses)
    assert observed["option_a"].values.tolist() == [data.labels[i] for i in data.first]
    assert observed["option_b"].values.tolist() == [data.labels[i] for i in data.second]
    np.testing.assert_array_equal(constant["first"], data.first)
    np.testing.assert_array_equal(constant["second"], data.second)
    assert constant["lapse"] == LAPSE
    assert bool(constant["unique"]) is True


def test_log_likelihoods_have_the_binomial_coefficients(small):
    chains, data, tree = small
    probability = tree["posterior"]["choice_probability"].values[..., pair_index(data.first, data.second, 5)]
    expected = binom.logpmf(data.wins, data.wins + data.losses, probability)
    np.testing.assert_allclose(tree["log_likelihood"]["wins"], expected, rtol=1e-10)
    added = tree["posterior"]["log_likelihood"].values - np.stack([draws.log_likelihood for draws in chains])
    coefficients = sum(
        math.log(math.comb(int(x + y), int(x))) for x, y in zip(data.wins, data.losses, strict=True)
    )
    np.testing.assert_allclose(added, coefficients, rtol=1e-12)


def test_fractional_counts_have_a_coefficient_too(small):
    chains, data, tree = small
    halved = PairedComparisons(data.counts / 2, weights=True)
    pointwise = tree_of(chains, halved)["log_likelihood"]["wins"]
    n, x = (halved.wins + halved.losses), halved.wins
    coefficients = -np.log(n + 1) - betaln(x + 1, n - x + 1)
    np.testing.assert_allclose(
        pointwise - coefficients,
        (tree["log_likelihood"]["wins"] - tree["constant_data"]["log_binomial_coefficient"]) / 2,
    )


def test_no_lapse_and_a_certain_choice_give_no_nan():
    """Option 1 has nothing that option 0 lacks, and was never chosen over it."""
    certain = chain(2, draws=3, mean_features=0.0)
    certain = dataclasses.replace(certain, unique_weights=np.tile([1.0, 0.0], (3, 1)))
    data = PairedComparisons(np.array([[0, 9], [0, 0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = tree_of([certain], data, lapse=0.0)
    np.testing.assert_array_equal(tree["log_likelihood"]["wins"], 0.0)


def test_tiny_reverse_probabilities_keep_their_digits():
    chosen = dataclasses.replace(
        chain(2, draws=1, mean_features=0.0), unique_weights=np.array([[1.0, 1e-30]])
    )
    data = PairedComparisons(np.array([[0, 9], [1, 0]]))
    pointwise = tree_of([chosen], data, lapse=0.0)["log_likelihood"]["wins"]
    np.testing.assert_allclose(pointwise, math.log(1e-30) + math.log(10), rtol=1e-12)


def test_large_tree_lists_owners_instead_of_dense_features(large):
    chains, _, tree = large
    posterior = tree["posterior"]
    assert "log_likelihood" not in tree.children
    assert not {"features", "choice_probability"} & set(posterior.data_vars)
    assert posterior["owners"].dtype == np.int32
    assert (posterior["feature_size"].sum("feature") == (posterior["owners"] >= 0).sum("owner")).all()
    assert posterior["n_features"].values.tolist() == [draws.n_features.tolist() for draws in chains]


@pytest.mark.parametrize("n_options, dense", [(63, True), (64, False)])
def test_two_thousand_pairs_is_the_limit(n_options, dense):
    tree = tree_of([chain(n_options, draws=2)], comparisons(n_options))
    assert ("features" in tree["posterior"]) is ("log_likelihood" in tree.children) is dense


@pytest.mark.parametrize(
    "lengths, kept",
    [((40, 40, 40), (3, 40)), ((40, 30, 35), (3, 30)), ((40, 0, 0), (1, 40)), ((40, 39, 3), (2, 39))],
)
def test_interrupted_chains_keep_the_most_draws(lengths, kept):
    chains = [chain(4, draws=length, seed=seed) for seed, length in enumerate(lengths)]
    tree = tree_of(chains, comparisons(4))
    assert (tree["posterior"].sizes["chain"], tree["posterior"].sizes["draw"]) == kept
    found = iterate_features(tree)
    for draws in chains:
        if len(draws.alpha) >= kept[1]:
            for expected in list(features_of(draws))[: kept[1]]:
                features, weights = next(found)
                assert [tuple(np.flatnonzero(row)) for row in features] == [owners for owners, _ in expected]
                np.testing.assert_array_equal(weights, [weight for _, weight in expected])
    assert next(found, None) is None


def test_no_draw_at_all_is_an_error():
    with pytest.raises(DataError, match="no draw was kept"):
        tree_of([chain(4, draws=0)], comparisons(4))


def test_pair_index_is_row_major():
    i, j = np.triu_indices(9, k=1)
    np.testing.assert_array_equal(pair_index(i, j, 9), np.arange(36))


# --- the file ---


@pytest.mark.parametrize("case", ["small", "large", "no features"])
def test_a_saved_tree_comes_back_identical(case, request, tmp_path):
    if case == "no features":
        tree = tree_of([chain(3, draws=5, mean_features=0.0)], comparisons(3), thali_model="{}" * 50_000)
    else:
        tree = request.getfixturevalue(case)[2]
    save(tree, tmp_path / "posterior.nc")
    assert [file.name for file in tmp_path.iterdir()] == ["posterior.nc"]
    back = load(tmp_path / "posterior.nc")
    assert back.attrs == tree.attrs
    assert set(back.children) == set(tree.children)
    for group in tree.children:
        xr.testing.assert_identical(back[group].to_dataset(), tree[group].to_dataset())
    if "features" in tree["posterior"]:
        assert back["posterior"]["features"].dtype == bool
    pd.testing.assert_frame_equal(summarise(back), summarise(tree))
    pd.testing.assert_frame_equal(features_table(back), features_table(tree))
    save(tree, tmp_path / "posterior.nc")  # the loaded file is closed, so it can be replaced


def test_a_failed_save_leaves_nothing(small, tmp_path, monkeypatch):
    def broken(self, path, **_):
        path.write_bytes(b"half")
        raise RuntimeError("disk")

    monkeypatch.setattr(xr.DataTree, "to_netcdf", broken)
    with pytest.raises(RuntimeError):
        save(small[2], tmp_path / "posterior.nc")
    assert list(tmp_path.iterdir()) == []


def test_bad_places_to_save(small, tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        save(small[2], tmp_path)
    with pytest.raises(DataError, match="no folder"):
        save(small[2], tmp_path / "absent" / "posterior.nc")


def test_bad_files_to_load(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        load(tmp_path / "absent.nc")
    for content in (b"", b"a,b\n1,2\n", b"\x89HDF\r\n\x1a\n" + bytes(100)):
        (tmp_path / "text.nc").write_bytes(content)
        with pytest.raises(DataError, match="not a posterior that thali wrote"):
            load(tmp_path / "text.nc")
    xr.Dataset({"x": 1.0}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(DataError, match="netCDF file, but not a posterior that thali wrote"):
        load(tmp_path / "other.nc")


def test_a_file_of_a_newer_thali_is_refused(small, tmp_path):
    newer = small[2].copy()
    newer.attrs = {**newer.attrs, "thali_schema": 99, "creation_library_version": "9.9"}
    save(newer, tmp_path / "posterior.nc")
    with pytest.raises(DataError, match=r"written by thali 9\.9.*update thali"):
        load(tmp_path / "posterior.nc")


# --- the summary ---

COLUMNS = ["mean", "sd", "eti89_lb", "eti89_ub", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"]


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
        summary.loc["alpha", ["eti89_lb", "eti89_ub"]].astype(float),
        np.quantile(alpha, [0.055, 0.945]),
        rtol=1e-2,
    )
    probability = tree["posterior"]["choice_probability"].values[
        ..., pair_index(data.first[-1], data.second[-1], 5)
    ]
    assert summary.iloc[-1]["mean"] == pytest.approx(probability.mean(), rel=1e-12)


def test_alpha_is_a_row_only_if_it_was_learned(small):
    chains, data, _ = small
    assert "alpha" not in summarise(tree_of(chains, data, learned_alpha=False)).index


@pytest.mark.parametrize("n_options, rows", [(60, 3 + 59), (61, 3)])
def test_choice_probabilities_are_rows_up_to_sixty_options(n_options, rows):
    tree = tree_of([chain(n_options, draws=8)], comparisons(n_options, share=0.0))
    assert len(summarise(tree)) == rows


def test_independent_draws_are_found_efficient_and_agreeing():
    tree = tree_of([chain(3, draws=1000, seed=seed) for seed in range(4)], comparisons(3))
    summary = summarise(tree)
    assert np.min(summary["ess_bulk"]) > 3000
    assert np.max(summary["r_hat"]) < 1.005
    np.testing.assert_allclose(summary["mcse_mean"], summary["sd"] / math.sqrt(4000), rtol=0.1)
    ok, sentence = verdict(summary)
    assert ok
    assert sentence.startswith("The 4 chains agree: R-hat is at most 1.00")


def test_constant_quantities_are_quiet_and_ignored():
    """Given aspects: the number of features never changes, and 0.1 * 3000 / 3000 is not 0.1."""
    chains = [chain(3, draws=1000, seed=seed, mean_features=0.0) for seed in range(3)]
    chains = [dataclasses.replace(draws, alpha=np.full(1000, 0.1)) for draws in chains]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summary = summarise(tree_of(chains, comparisons(3)))
    assert summary.loc["alpha", ["mean", "sd", "mcse_mean", "eti89_lb", "eti89_ub"]].to_list() == [
        0.1,
        0,
        0,
        0.1,
        0.1,
    ]
    assert summary.loc[["alpha", "n_features"], "r_hat"].isna().all()
    assert verdict(summary)[0]


def test_everything_constant_is_no_disagreement():
    draws = chain(2, draws=10, mean_features=0.0)
    still = {
        name: np.repeat(getattr(draws, name)[:1], 10, axis=0)
        for name in ("alpha", "log_likelihood", "unique_weights")
    }
    summary = summarise(tree_of([dataclasses.replace(draws, **still)] * 2, comparisons(2)))
    assert verdict(summary) == (True, "The 2 chains cannot disagree: no quantity ever changes.")


def test_chains_that_stand_still_in_different_places_are_caught():
    chains = [chain(3, draws=500, seed=seed) for seed in range(2)]
    chains = [dataclasses.replace(draws, alpha=np.full(500, 1.0 + seed)) for seed, draws in enumerate(chains)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ok, sentence = verdict(summarise(tree_of(chains, comparisons(3))))
    assert not ok
    assert "do not agree yet: R-hat of alpha is above 100" in sentence
    assert "plots.trace" in sentence


def test_one_shifted_chain_is_caught_and_named():
    chains = [chain(3, draws=500, seed=seed) for seed in range(4)]
    chains[2] = dataclasses.replace(chains[2], log_likelihood=chains[2].log_likelihood + 1.0)
    ok, sentence = verdict(summarise(tree_of(chains, comparisons(3))))
    assert not ok
    assert sentence.startswith("The 4 chains do not agree yet: R-hat of log_likelihood is 1.0")
    assert "(now 500), and raise tune likewise" in sentence


def test_too_few_draws_are_told_how_many_to_take():
    summary = pd.DataFrame(
        {"sd": 1.0, "r_hat": 1.001, "ess_bulk": 900.0, "ess_tail": [300.0, 90.0]}, index=["x", "y"]
    )
    summary.attrs.update(chains=4, draws=1000)
    assert verdict(summary) == (
        False,
        "The 4 chains agree but are too short: ess_tail of y is 90 (wanted: at least 400); "
        "fit again with draws=4500 (now 1000), and raise tune likewise.",
    )


def test_one_chain_is_never_enough():
    summary = summarise(tree_of([chain(3, draws=500)], comparisons(3)))
    assert np.isnan(summary["r_hat"]).all()
    ok, sentence = verdict(summary)
    assert not ok
    assert sentence.startswith("The one chain is long enough")
    assert "with one chain there is no R-hat" in sentence
    ok, sentence = verdict(summarise(tree_of([chain(3, draws=30)], comparisons(3))))
    assert not ok
    assert sentence.startswith("The one chain is too short")


def test_a_few_draws_are_too_few_to_judge():
    for draws in (1, 3):
        assert not verdict(summarise(tree_of([chain(3, draws=draws)], comparisons(3))))[0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            summary = summarise(
                tree_of([chain(3, draws=draws, seed=seed) for seed in range(2)], comparisons(3))
            )
        ok, sentence = verdict(summary)
        assert not ok
        assert "cannot be judged by" in sentence


def test_a_frame_of_unknown_origin_is_refused(small):
    summary = summarise(small[2])
    summary.attrs.clear()
    with pytest.raises(ArgumentError, match="attrs"):
        verdict(summary)


# --- the features ---


@pytest.mark.parametrize("case", ["small", "large"])
def test_features_agree_with_counting(case, request):
    chains, data, tree = request.getfixturevalue(case)
    draws = [features for one in chains for features in features_of(one)]
    table = features_table(tree, min_probability=0.0)
    assert table.columns.to_list() == [
        "members",
        "probability",
        "copies",
        "weight",
        "weight_low",
        "weight_high",
    ]
    assert len(table) == len({owners for features in draws for owners, _ in features})
    assert (np.diff(table["probability"]) <= 0).all()
    assert np.sum(table["copies"]) == pytest.approx(np.mean([len(features) for features in draws]), rel=1e-12)
    for row in table.head(6).to_dict("records"):
        members = tuple(data.labels.index(label) for label in row["members"])
        weights = [[weight for owners, weight in features if owners == members] for features in draws]
        sums = [sum(of_draw) for of_draw in weights if of_draw]
        assert row["probability"] == pytest.approx(len(sums) / len(draws), rel=1e-12)
        assert row["copies"] == pytest.approx(sum(map(len, weights)) / len(draws), rel=1e-12)
        assert row["weight"] == pytest.approx(np.mean(sums), rel=1e-12)
        assert (row["weight_low"], row["weight_high"]) == pytest.approx(
            np.quantile(sums, [0.055, 0.945]), rel=1e-12
        )


def test_improbable_features_are_left_out(small):
    everything = features_table(small[2], min_probability=0.0)
    table = features_table(small[2], min_probability=0.5)
    probable = [row["members"] for row in everything.to_dict("records") if row["probability"] >= 0.5]
    assert list(table["members"]) == probable
    assert {("tea", "milk"), ("coffee", "água", "Wasser, still")} <= set(table["members"])


def test_no_feature_at_all_gives_an_empty_table():
    table = features_table(tree_of([chain(3, draws=5, mean_features=0.0)], comparisons(3)))
    assert len(table) == 0
    assert "members" in table.columns


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_a_probability_outside_its_range_is_refused(small, probability):
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        features_table(small[2], min_probability=probability)


# --- the histogram ---


def test_histogram_groups_many_values():
    lines = text_histogram(np.arange(100), width=10).splitlines()
    assert len(lines) == 20
    assert lines[0] == "  0-4 | ##########   5 %"
    assert lines[-1] == "95-99 | ##########   5 %"


def test_histogram_of_one_value():
    assert text_histogram([7, 7], width=3) == "7 | ###  100 %"


def test_histogram_shows_rare_values():
    lines = text_histogram([0] * 999 + [2], width=3).splitlines()
    assert lines == ["0 | ###  100 %", "1 |       0 %", "2 |      <1 %"]
