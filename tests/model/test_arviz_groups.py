"""What ArviZ looks for in the tree of every model that draws: groups, dimensions, and data that the
draws predict."""

from typing import Any

import arviz_stats
import numpy as np
import pytest
import xarray as xr
from helpers.all_drawn import all_drawn
from helpers.interrupted_fits import Ratings, of_ratings
from helpers.sentences import refused, without_warnings
from helpers.tiny_models import TINY

import thali as th
from thali._posterior import datatree_files
from thali._posterior.datatree_files import to_inference_data
from thali._testing.small_models import SMALL_MODELS
from thali.errors import ArgumentError, DataError, NotFittedError

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore")]

# of people there are no prior densities
DRAWN = [
    name for name, tiny in TINY.items() if tiny.has_chains and not name.endswith("individuals")
]
# Its restarts keep different dimensions after the climb, and a constant of similarities has a flat
# prior: nothing can be drawn from the prior, and densities of restarts cannot be compared.
_WITHOUT_PRIOR = "nonnegative-dimensions", "nonnegative-dimensions, triplets"
# the draws of product classes lack the passing part of the values
WITH_DENSITIES = [name for name in DRAWN if name not in ("product-classes", *_WITHOUT_PRIOR)]
_OF_WORTHS = tuple(
    f"bradley-terry-luce, {people}" for people in ("individuals", "best and worst individuals")
)
_FITTED = {}


def of_models(names):
    """A check of each of these models."""
    return pytest.mark.parametrize("name", names)


def fitted(name):
    """The model after a fit that the checks share."""
    if name not in _FITTED:
        longer = {"draws": 200, "tune": 50}
        _FITTED[name] = TINY[name].build_fitted(**longer)
    return _FITTED[name]


@pytest.mark.long
@of_models([*WITH_DENSITIES, *_WITHOUT_PRIOR])
def test_densities_of_the_draws(name):
    tree = fitted(name).posterior_
    posterior, pointwise = tree["posterior"].dataset, tree["log_likelihood"].dataset
    (variable,) = pointwise.data_vars  # ArviZ's loo needs no name where there is one
    terms = pointwise[variable]
    of_data = tree["observed_data"].dataset[variable].dims
    assert terms.dims == (
        "chain",
        "draw",
        *(("set",) if of_data in (("place",), ("answer",)) else of_data),
    )  # of answers to a set
    np.testing.assert_allclose(
        terms.sum(terms.dims[2:]), posterior["log_likelihood"], rtol=1e-8, atol=1e-8
    )
    if name in _WITHOUT_PRIOR:
        assert "log_prior" not in tree.children
        return
    log_prior, lp = tree["log_prior"].dataset, tree["sample_stats"].dataset["lp"]
    assert set(log_prior.data_vars) <= set(all_drawn(tree).data_vars)
    np.testing.assert_allclose(
        lp, posterior["log_likelihood"] + sum(log_prior.values()), rtol=1e-12
    )
    assert "cannot be compared" in lp.attrs["description"]


# of 400 draws of four sets they are missing
@pytest.mark.first(2)
@of_models([name for name in [*WITH_DENSITIES, *_WITHOUT_PRIOR] if "triplets" not in name])
def test_arviz_loo_and_prior_sensitivity_are_finite(name):
    tree = fitted(name).posterior_
    (variable,) = tree["log_likelihood"].data_vars
    pytest.importorskip("xarray_einstats", reason="ArviZ's statistics need arviz-stats[xarray]")
    assert np.isfinite(arviz_stats.loo(tree).elpd)
    if name in _WITHOUT_PRIOR:
        return
    sensitivity = arviz_stats.psense_summary(tree, var_names=["log_likelihood"])
    assert np.isfinite(sensitivity[["prior", "likelihood"]].to_numpy(float)).all()


@pytest.mark.long
@pytest.mark.first(3)
@of_models(DRAWN)
def test_arviz_summarises_a_fit_and_its_file(name, tmp_path):
    model = fitted(name)
    model.save(tmp_path / "fit.nc")
    with xr.open_datatree(tmp_path / "fit.nc", engine="h5netcdf") as opened:
        stored = opened.load()
    for tree in (model.posterior_, stored):
        groups = tree.children.values()
        assert not [
            name
            for group in groups
            for name, values in group.data_vars.items()
            if values.dtype == bool
        ]
    pytest.importorskip("xarray_einstats", reason="ArviZ's summary needs arviz-stats[xarray]")
    tables = [arviz_stats.summary(tree) for tree in (model.posterior_, stored)]
    assert len(tables[0]) and tables[0].index.tolist() == tables[1].index.tolist()


@pytest.mark.long
@pytest.mark.first(5)
@of_models([*DRAWN, *_OF_WORTHS])
def test_posterior_predictive_adds_a_group(name):
    model, design = fitted(name), TINY[name].data()
    before = model.posterior_.copy(deep=True)
    tree, again = (model.posterior_predictive(*design, random_seed=5) for _ in range(2))
    assert set(tree.children) == {*before.children, "posterior_predictive"}
    assert model.posterior_.identical(before)
    observed, drawn = tree["observed_data"].dataset, tree["posterior_predictive"].dataset
    assert set(drawn.data_vars) == set(observed.data_vars)
    sizes = [tree["posterior"].sizes[dim] for dim in ("chain", "draw")]
    for variable, values in observed.items():
        assert (
            drawn[variable].dims == ("chain", "draw", *values.dims)
            and drawn[variable].dtype == values.dtype
        )
        assert [*drawn[variable].shape[:2]] == sizes
    xr.testing.assert_identical(drawn.load(), again["posterior_predictive"].dataset.load())
    other = model.posterior_predictive(*design, random_seed=6)["posterior_predictive"].dataset
    assert not other.identical(drawn)


def test_data_whose_reliability_is_unknown_are_those_of_the_fit():
    model = fitted("additive-clustering")
    assert np.isnan(model.posterior_["constant_data"]["reliability"].item())
    tree = model.posterior_predictive(*TINY["additive-clustering"].data(), random_seed=1)
    assert set(tree["posterior_predictive"].data_vars) == set(tree["observed_data"].data_vars)


@pytest.mark.first(8)
@of_models([name for name in [*DRAWN, *_OF_WORTHS] if name not in _WITHOUT_PRIOR])
def test_sample_prior_has_the_variables_of_the_posterior(name):
    tree = TINY[name].model().sample_prior(*TINY[name].data(), draws=3, random_seed=1)
    fit = fitted(name).posterior_
    assert set(tree["prior_predictive"].data_vars) == set(fit["observed_data"].data_vars)
    prior, posterior = tree["prior"].dataset, fit["posterior"].dataset
    assert {n: v.dims for n, v in prior.items()} == {n: v.dims for n, v in posterior.items()}
    assert ("prior_latent_features" in tree) == ("latent_features" in fit)
    xr.testing.assert_identical(
        tree["observed_data"].to_dataset(), fit["observed_data"].to_dataset()
    )


@of_models(_WITHOUT_PRIOR)
def test_without_a_prior_none_is_drawn(name):
    with refused(ArgumentError, "sample_prior requires a prior", "NonnegativeDimensions has none"):
        TINY[name].model().sample_prior(*TINY[name].data(), draws=3)


@pytest.mark.first(1, "hierarchical-logit")
@of_models(["product-classes", "hierarchical-logit", "plackett-luce", "sparse-logit"])
def test_predicted_data_are_as_frequent_as_predicted_probabilities(name):
    """Of each alternative or class within 5 standard errors; draws of a chain are correlated, hence
    the effective n."""
    model, design = fitted(name), TINY[name].data()
    group = model.posterior_predictive(*design, random_seed=7)["posterior_predictive"].dataset
    drawn = next(iter(group.values())).values
    drawn = drawn.reshape(-1, drawn.shape[2])
    probability = model.predict_proba(*design[:1])
    probability = probability.reshape(drawn.shape[1], -1)
    shares = np.stack([(drawn == k).mean(axis=0) for k in range(probability.shape[1])], axis=1)
    error = np.sqrt(probability * (1 - probability) / len(drawn)) + 0.5 / len(drawn)
    assert np.abs(shares - probability).max() > 0
    assert (np.abs(shares - probability) / error).max() < 5


def test_predicted_counts_are_binomial():
    model, (data,) = fitted("elimination-by-aspects"), TINY["elimination-by-aspects"].data()
    tree = model.posterior_predictive(data, random_seed=7)
    p = tree["posterior"]["choice_probability"].values.reshape(-1, 3)
    wins, n = tree["posterior_predictive"]["wins"].values.reshape(-1, 3), data.wins + data.losses
    assert (wins <= n).all()
    score = ((wins - n * p) / np.sqrt(n * p * (1 - p))).mean(axis=0) * np.sqrt(len(p))
    assert np.abs(score).max() < 5
    losses = tree["constant_data"]["losses"].values
    np.testing.assert_array_equal(tree["observed_data"]["wins"].values + losses, n)


def test_other_data_are_refused():
    model = fitted("elimination-by-aspects")
    other = th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 3, 0]], labels=list("abc"))
    renamed = th.PairedComparisons([[0, 3, 1], [2, 0, 4], [1, 2, 0]], labels=list("abd"))
    for data in (other, renamed):
        with refused(DataError, "requires the data"):
            model.posterior_predictive(data)
    X, y = TINY["sparse-logit"].data()
    with refused(DataError, "requires the data"):
        fitted("sparse-logit").posterior_predictive(X, y[::-1])
    with pytest.raises(NotFittedError):
        th.EliminationByAspects().posterior_predictive(other)
    with refused(ArgumentError, "method='gibbs'"):
        th.PlackettLuceRegression(method="map", a=1.1).fit(X, y).posterior_predictive(X, y)


def test_large_groups_are_left_out(monkeypatch):
    model = fitted("sparse-logit")  # shared: fitted before the limit is lowered
    monkeypatch.setattr(datatree_files, "MAX_POINTWISE", 100)
    X, y = TINY["sparse-logit"].data()
    for name in ("sparse-logit", "plackett-luce", "hierarchical-logit"):
        assert "log_likelihood" not in TINY[name].build_fitted().posterior_.children
    with pytest.raises(DataError, match="more than|the limit is 100"):
        model.posterior_predictive(X, y)


def test_without_the_old_arviz_there_is_no_inference_data(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ArgumentError, match="requires ArviZ before 1.0"):
        fitted("sparse-logit").to_inference_data()
    monkeypatch.setitem(sys.modules, "arviz", type(sys)("arviz"))
    sys.modules["arviz"].__version__ = "1.3.0"
    with refused(ArgumentError, "InferenceData"):
        to_inference_data(fitted("sparse-logit").posterior_)


def test_the_old_arviz_is_given_no_empty_arrays(monkeypatch):
    import sys

    arviz: Any = type(sys)("arviz")
    arviz.InferenceData = lambda attrs, **groups: groups
    monkeypatch.setitem(sys.modules, "arviz", arviz)
    groups = fitted("bradley-terry-luce").to_inference_data()
    assert "latent_features" not in groups and "choice_probability" in groups["posterior"]
    assert all(values.size for group in groups.values() for values in group.variables.values())
    # given aspects are as many in every draw, and have no concentration
    model = SMALL_MODELS["elimination-by-aspects, given"].build_fitted()
    posterior = model.to_inference_data()["posterior"]
    assert not {"alpha", "n_features"} & set(posterior.data_vars)
    assert "log_likelihood" in posterior


def test_rows_of_a_classifier_have_the_dimension_row():
    for name in ("sparse-logit", "plackett-luce"):
        tree = fitted(name).posterior_
        assert tree["observed_data"]["label"].dims == ("row",)
        assert tree["constant_data"]["classes"].values.tolist() == ["no", "yes"]
    assert fitted("plackett-luce").posterior_["posterior"]["logit"].dims == ("chain", "draw", "row")


def by_option(data, features, weights):
    return -0.5 * (data.rating - features @ weights) ** 2


def too_few(data, features, weights):
    return by_option(data, features, weights)[1:]


def test_a_likelihood_of_ones_own_has_a_term_for_each_observation(uncompiled):
    data = Ratings(np.array([0.0, 1.0, 2.5]), ("a", "b", "c"))
    run = {"draws": 20, "tune": 5, "thin": 1, "chains": 2, "random_seed": 1, "progressbar": False}

    def fitted(pointwise):
        likelihood = th.likelihoods.Custom(of_ratings, pointwise=pointwise)
        return th.LatentFeatureModel(th.priors.IndianBuffet(), likelihood).fit(data, **run)

    with without_warnings():
        tree = fitted(by_option).posterior_
        assert tree["log_likelihood"]["observations"].shape == (2, 20, 3)
        np.testing.assert_allclose(
            tree["log_likelihood"]["observations"].sum("observation_0"),
            tree["posterior"]["log_likelihood"],
        )
        assert "log_likelihood" not in fitted(None).posterior_.children
        with refused(ArgumentError, "log_likelihood", "2 terms"):
            fitted(too_few)
