"""The posterior tree and its file."""

import dataclasses
import json
import math
import os
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.all_drawn import all_drawn
from helpers.posterior_cases import (
    LAPSE,
    chain,
    comparisons,
    features_of,
    iterate_features,
    large_fit,
    model_of,
    small_fit,
    summarise,
    tree_of,
)
from helpers.sentences import refused
from scipy.special import betaln
from scipy.stats import binom

import thali as th
from thali._inference.checksummed_files import compute_seal
from thali._posterior.datatree_files import append_draws, load, save
from thali.errors import DataError


@pytest.fixture(scope="module")
def small():
    return small_fit()


@pytest.fixture(scope="module")
def large():
    return large_fit()


def test_a_saved_model_of_an_unknown_kind_of_data_is_refused(small, tmp_path):
    tree = small[2].copy()
    tree["constant_data"] = tree["constant_data"].to_dataset().assign(kind="ratings of objects")
    model_of(tree).save(tmp_path / "model.nc")
    with pytest.raises(DataError, match=f"{th.__version__}.*'ratings of objects'"):
        th.load(tmp_path / "model.nc")


def test_features_come_back_as_they_were_drawn(small, large):
    for chains, _, tree in (small, large):
        expected = [features for draws in chains for features in features_of(draws)]
        found = list(iterate_features(tree))
        assert len(found) == len(expected)
        for (features, weights), draw in zip(found, expected, strict=True):
            assert [tuple(np.flatnonzero(row)) for row in features] == [
                owners for owners, _ in draw
            ]
            np.testing.assert_array_equal(weights, [weight for _, weight in draw])


def test_small_tree_has_the_documented_shape(small):
    chains, data, tree = small
    posterior, latent = tree["posterior"].dataset, tree["latent_features"].dataset
    widest = max(draws.n_features.max() for draws in chains)
    expected = {
        "n_features": ("chain", "draw"),
        "alpha": ("chain", "draw"),
        "log_likelihood": ("chain", "draw"),
        "unique_weights": ("chain", "draw", "option"),
        "choice_probability": ("chain", "draw", "pair"),
    }
    assert {name: posterior[name].dims for name in posterior.data_vars} == expected
    assert {name: latent[name].dims for name in latent.data_vars} == {
        "features": ("chain", "draw", "feature", "option"),
        "weights": ("chain", "draw", "feature"),
    }
    sizes = {"chain": 3, "draw": 40, "option": 5}
    assert dict(posterior.sizes) == sizes | {"pair": 10, "pair_number": 10}
    assert dict(latent.sizes) == sizes | {"feature": widest}
    assert latent["features"].dtype == np.int8
    assert posterior["option"].values.tolist() == list(data.labels)
    pairs = [(data.labels[i], data.labels[j]) for i in range(5) for j in range(i + 1, 5)]
    assert posterior["pair"].values.tolist() == [", ".join(pair) for pair in pairs]
    owned = latent["features"].any("option")
    assert (owned.sum("feature") == posterior["n_features"]).all()
    assert (latent["weights"].where(~owned, 0) == 0).all()
    np.testing.assert_array_equal(posterior["alpha"], [draws.alpha for draws in chains])
    np.testing.assert_array_equal(
        tree["sample_stats"]["acceptance"], [draws.stats["acceptance"] for draws in chains]
    )
    assert json.loads(tree.attrs["thali_model"]) == {"aspects": "ibp"}
    assert set(tree.children) == {
        "posterior",
        "latent_features",
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
    np.testing.assert_array_equal(constant["losses"], data.losses)
    assert observed["option_a"].values.tolist() == [data.labels[i] for i in data.first]
    assert observed["option_b"].values.tolist() == [data.labels[i] for i in data.second]
    np.testing.assert_array_equal(constant["first"], data.first)
    np.testing.assert_array_equal(constant["second"], data.second)
    assert constant["lapse"] == LAPSE
    assert bool(constant["unique"]) is True


def rows_of(first, second, n):
    """The places of pairs in row-major order."""
    order = np.zeros((n, n), int)
    order[np.triu_indices(n, k=1)] = np.arange(n * (n - 1) // 2)
    return order[first, second]


def test_log_likelihoods_have_the_binomial_coefficients(small):
    chains, data, tree = small
    probability = tree["posterior"]["choice_probability"].values[
        ..., rows_of(data.first, data.second, 5)
    ]
    expected = binom.logpmf(data.wins, data.wins + data.losses, probability)
    np.testing.assert_allclose(tree["log_likelihood"]["wins"], expected, rtol=1e-10)
    added = tree["posterior"]["log_likelihood"].values - np.stack(
        [draws.log_likelihood for draws in chains]
    )
    coefficients = sum(
        math.log(math.comb(int(x + y), int(x))) for x, y in zip(data.wins, data.losses, strict=True)
    )
    np.testing.assert_allclose(added, coefficients, rtol=1e-12)


def test_fractional_counts_have_a_coefficient_too(small):
    chains, data, tree = small
    halved = th.PairedComparisons(data.counts / 2, weights=True)
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
    data = th.PairedComparisons(np.array([[0, 9], [0, 0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = tree_of([certain], data, lapse=0.0)
    np.testing.assert_array_equal(tree["log_likelihood"]["wins"], 0.0)


def test_tiny_reverse_probabilities_keep_their_digits():
    chosen = dataclasses.replace(
        chain(2, draws=1, mean_features=0.0), unique_weights=np.array([[1.0, 1e-30]])
    )
    data = th.PairedComparisons(np.array([[0, 9], [1, 0]]))
    pointwise = tree_of([chosen], data, lapse=0.0)["log_likelihood"]["wins"]
    np.testing.assert_allclose(pointwise, math.log(1e-30) + math.log(10), rtol=1e-12)


def test_large_tree_lists_owners_instead_of_dense_features(large):
    chains, _, tree = large
    posterior = all_drawn(tree)
    assert "log_likelihood" not in tree.children
    assert not {"features", "choice_probability"} & set(posterior.data_vars)
    assert posterior["owners"].dtype == np.int32
    assert (
        posterior["feature_size"].sum("feature") == (posterior["owners"] >= 0).sum("owner")
    ).all()
    assert posterior["n_features"].values.tolist() == [
        draws.n_features.tolist() for draws in chains
    ]


@pytest.mark.parametrize("n_options, dense", [(63, True), (64, False)])
def test_two_thousand_pairs_is_the_limit(n_options, dense):
    tree = tree_of([chain(n_options, draws=2)], comparisons(n_options))
    assert ("features" in tree["latent_features"]) is ("log_likelihood" in tree.children) is dense


@pytest.mark.parametrize(
    "lengths, kept",
    [
        ((40, 40, 40), (3, 40)),
        ((40, 30, 35), (3, 30)),
        ((40, 0, 0), (1, 40)),
        ((40, 39, 3), (2, 39)),
    ],
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
                assert [tuple(np.flatnonzero(row)) for row in features] == [
                    owners for owners, _ in expected
                ]
                np.testing.assert_array_equal(weights, [weight for _, weight in expected])
    assert next(found, None) is None


def test_draws_that_are_appended_keep_their_owners():
    """The later ones list more owners or fewer, and what fills up the shorter list is no owner."""
    data = comparisons(70, share=0.1)
    one, other = (
        chain(70, draws=6, seed=seed, mean_features=size) for seed, size in ((1, 2.0), (2, 6.0))
    )
    for parts in ((one, other), (other, one)):
        whole = append_draws(*(tree_of([draws], data) for draws in parts))
        expected = [features for draws in parts for features in features_of(draws)]
        for (features, _), draw in zip(iterate_features(whole), expected, strict=True):
            assert [tuple(np.flatnonzero(row)) for row in features[: len(draw)]] == [
                owners for owners, _ in draw
            ]


def test_no_draw_at_all_is_an_error():
    with pytest.raises(DataError, match="no draws were kept"):
        tree_of([chain(4, draws=0)], comparisons(4))


@pytest.mark.first(1)
@pytest.mark.fit  # for its time
@pytest.mark.parametrize("case", ["small", "large", "no features"])
def test_a_saved_tree_comes_back_identical(case, request, tmp_path):
    if case == "no features":
        tree = tree_of(
            [chain(3, draws=5, mean_features=0.0)], comparisons(3), thali_model="{}" * 50_000
        )
    else:
        tree = request.getfixturevalue(case)[2]
    save(tree, tmp_path / "posterior.nc")
    assert [file.name for file in tmp_path.iterdir()] == ["posterior.nc"]
    back = load(tmp_path / "posterior.nc")
    assert back.attrs == tree.attrs
    assert set(back.children) == set(tree.children)
    for group in tree.children:
        xr.testing.assert_identical(back[group].to_dataset(), tree[group].to_dataset())
    if "features" in tree["latent_features"]:
        assert back["latent_features"]["features"].dtype == np.int8
    pd.testing.assert_frame_equal(summarise(back), summarise(tree))
    save(tree, tmp_path / "posterior.nc")  # the loaded file is closed, so it can be replaced


def test_a_failed_save_leaves_nothing(small, tmp_path, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a variable that cannot be stored")

    monkeypatch.setattr(xr.Dataset, "dump_to_store", broken)
    with pytest.raises(RuntimeError):
        save(small[2], tmp_path / "posterior.nc")
    assert list(tmp_path.iterdir()) == []


def test_bad_files_to_load(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(DataError, match="There is no file"):
        load(tmp_path / "absent.nc")
    for content in (b"", b"a,b\n1,2\n", b"\x89HDF\r\n\x1a\n" + bytes(100)):
        (tmp_path / "text.nc").write_bytes(content)
        with refused(DataError, "not written by thali", "verify=False"):
            load(tmp_path / "text.nc")
        with refused(DataError, "not a posterior"):
            load(tmp_path / "text.nc", verify=False)
    xr.DataTree.from_dict({"posterior": xr.Dataset({"x": 1.0})}).to_netcdf(
        tmp_path / "other.nc", engine="h5netcdf"
    )
    with refused(DataError, "netCDF file, but"):
        load(tmp_path / "other.nc", verify=False)
    with pytest.raises(DataError, match="a folder or a device"):
        load(os.devnull)


def test_other_readers_do_not_see_the_seal(small, tmp_path):
    import h5py

    path, alpha = tmp_path / "posterior.nc", small[2]["posterior"]["alpha"].values
    save(small[2], path)
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["posterior/alpha"][:], alpha)
    with xr.open_dataset(path, group="posterior", engine="h5netcdf") as stored:
        np.testing.assert_array_equal(stored["alpha"], alpha)


def test_netcdf4_does_not_see_the_seal(small, tmp_path):
    netcdf4 = pytest.importorskip("netCDF4")
    save(small[2], tmp_path / "posterior.nc")
    with netcdf4.Dataset(tmp_path / "posterior.nc") as file:
        np.testing.assert_array_equal(
            file["posterior"]["alpha"][:], small[2]["posterior"]["alpha"].values
        )


def test_a_file_that_another_program_rewrote_is_read_when_asked_for(small, tmp_path):
    small[2].to_netcdf(tmp_path / "again.nc", engine="h5netcdf")
    with pytest.raises(DataError, match="verify=False"):
        load(tmp_path / "again.nc")
    xr.testing.assert_identical(
        load(tmp_path / "again.nc", verify=False)["posterior"].to_dataset(),
        small[2]["posterior"].to_dataset(),
    )


def _hostile(file, how, secret):
    """Change an HDF5 file of a posterior to something that must not be read."""
    import h5py

    group = file["posterior"]
    values = group["alpha"][:]
    if how in (
        "nested group",
        "vast",
        "objects",
        "references",
        "opaque",
        "virtual",
        "external array",
    ):
        for reference in ("DIMENSION_LIST",):
            del group["alpha"].attrs[reference]
    if how != "external group":
        del group["alpha"]
    if how == "external link":
        group["alpha"] = h5py.ExternalLink(secret, "/x")
    elif how == "external group":
        file["more"] = h5py.ExternalLink(secret, "/")
    elif how == "soft link":
        group["alpha"] = h5py.SoftLink("/posterior/log_likelihood")
    elif how == "dangling":
        group["alpha"] = h5py.SoftLink("/nowhere")
    elif how == "nested group":
        group["alpha"] = group
    elif how == "vast":
        group.create_dataset("alpha", (10**6, 10**6), chunks=(1000, 1000), dtype=float)
    elif how == "never written":
        group.create_dataset("alpha", (300, 300), dtype=float)
    elif how == "half written":
        group.create_dataset("alpha", (300, 300), chunks=(100, 300), dtype=float)[:100] = 1.0
    elif how == "an attribute of texts":
        group["alpha"] = values
        group["alpha"].attrs["names"] = np.array(["x"] * 65, dtype=object)
    elif how == "one text often":  # 16 bytes stand for each, and say where in the file it is
        names = group.create_dataset(
            "alpha", data=["x" * 10_000, *["y"] * 999], dtype=h5py.string_dtype()
        )
        return names.id.get_offset()
    elif how == "objects":
        group.create_dataset("alpha", values.shape, dtype=h5py.vlen_dtype(float))
    elif how == "references":
        group.create_dataset("alpha", values.shape, dtype=h5py.ref_dtype)
    elif how == "opaque":
        group.create_dataset("alpha", values.shape, dtype="V8")
    elif how == "virtual":
        layout = h5py.VirtualLayout(values.shape, float)
        layout[:] = h5py.VirtualSource(secret, "x", values.shape)
        group.create_virtual_dataset("alpha", layout)
    elif how == "external array":
        group.create_dataset(
            "alpha", values.shape, dtype=float, external=[(secret, 0, h5py.h5f.UNLIMITED)]
        )


HOSTILE = {
    "external link": "is a link",
    "external group": "is a link",
    "soft link": "is a link",
    "dangling": "is a link",
    "nested group": "is not an array",
    "vast": "was never written",
    "never written": "was never written",
    "half written": "was never written",
    "an attribute of texts": "has 65 parts",
    "one text often": "are longer than the file",
    "objects": "contains neither numbers nor text",
    "references": "contains neither numbers nor text",
    "opaque": "contains neither numbers nor text",
    "virtual": "is stored in other files",
    "external array": "is stored in other files",
}


@pytest.mark.parametrize("sealed", [pytest.param(False, marks=pytest.mark.long), True])
@pytest.mark.parametrize(("how", "said"), HOSTILE.items(), ids=HOSTILE)
def test_what_is_no_plain_array_of_this_file_is_not_read(small, tmp_path, how, said, sealed):
    """Neither with a right hash nor without; what another file holds is not read either."""
    import h5py

    secret, path = str(tmp_path / "secret.h5"), tmp_path / "posterior.nc"
    with h5py.File(secret, "w") as file:
        file["x"] = small[2]["posterior"]["alpha"].values
    small[2].to_netcdf(path, engine="h5netcdf")
    with h5py.File(path, "r+") as file:
        where = _hostile(file, how, secret)
    if where is not None:
        with open(path, "r+b") as file:
            file.seek(where)
            one = file.read(16)
            file.seek(where)
            file.write(one * 1000)
    if sealed:
        path.write_bytes(path.read_bytes() + compute_seal(path.read_bytes()))
    with pytest.raises(DataError, match=f"is not a posterior written by thali: .*{said}"):
        load(path, verify=sealed)


def test_a_file_of_a_newer_thali_is_refused(small, tmp_path):
    newer = small[2].copy()
    newer.attrs = {**newer.attrs, "thali_schema": 99, "creation_library_version": "9.9"}
    save(newer, tmp_path / "posterior.nc")
    with refused(DataError, "9.9", "update thali"):
        load(tmp_path / "posterior.nc")


@pytest.mark.long
@pytest.mark.fit  # for its time
def test_files_of_before_hold_booleans(tmp_path):
    tree = tree_of([chain(4, draws=20, seed=seed) for seed in (1, 2)], comparisons(4))
    old = tree.copy(deep=True)
    latent = old["latent_features"].to_dataset()
    old["latent_features"] = latent.assign(features=latent["features"].astype(bool))
    save(old, tmp_path / "old.nc")
    again = load(tmp_path / "old.nc")
    xr.testing.assert_identical(
        again["latent_features"].to_dataset(), tree["latent_features"].to_dataset()
    )
    save(again, tmp_path / "new.nc")
    assert load(tmp_path / "new.nc")["latent_features"]["features"].dtype == np.int8
