"""Weights of rows and classes, and what scikit-learn's tools do with a classifier besides fitting
it."""

import math
import warnings

import numpy as np
import pytest
import sklearn
from helpers.sentences import refused, warned
from helpers.sparse_logit_runs import (
    CoefficientChain,
    CoefficientPrior,
    build_coefficient_problem,
    mcse,
)
from scipy.integrate import quad
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import cross_validate
from test_classifier import build_plackett_luce, build_quick_model, build_sparse_logit

import thali._inference.numerics.polya_gamma as polya_gamma
from thali.errors import ArgumentError, DataError, DataWarning

RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 2)).round(1)
X[:6, 0] = 0.0
Y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 40)]
WEIGHT = RNG.integers(0, 4, 40)
ROW = np.repeat(np.arange(40), WEIGHT)

MODELS = {
    "polya-gamma": build_sparse_logit(),
    "normal": build_sparse_logit(method="laplace"),
    "variational normal": build_sparse_logit(method="variational"),
    "auto": build_sparse_logit(method="auto"),
    "maximum": build_sparse_logit(method="map", eta=1.0),
    "gibbs": build_plackett_luce(),
    "hamiltonian": build_plackett_luce(a=1.0),
    "map": build_plackett_luce(method="map", a=1.1),
    "variational": build_plackett_luce(method="variational"),
}


@pytest.mark.first(5)
@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
@pytest.mark.parametrize("name", MODELS)
def test_copies_weights_and_other_orders_give_the_same_fit_to_the_bit(name):
    model, other = clone(MODELS[name]), RNG.permutation(ROW)
    weighted = model.fit(X, Y, sample_weight=WEIGHT).predict_proba(X)
    if name in ("polya-gamma", "gibbs"):
        tree = model.posterior_
        in_all = (tree["log_likelihood"]["label"] * tree["constant_data"]["weight"]).sum("row")
        assert np.allclose(in_all, tree["posterior"]["log_likelihood"])
    assert (model.fit(X[ROW], Y[ROW]).predict_proba(X) == weighted).all()
    copies = X[other]
    copies[::2][copies[::2] == 0.0] = -0.0
    assert np.signbit(copies[copies == 0.0]).any()
    assert (model.fit(copies, Y[other]).predict_proba(X) == weighted).all()


@pytest.mark.fit
@pytest.mark.parametrize("name", ["polya-gamma", "maximum", "map", "variational"])
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_weights_need_not_be_integers(name):
    """And their sums do not depend on the order of rows."""
    rows, shares, other = (
        RNG.permutation(np.repeat(np.arange(40), 9)),
        RNG.random(360),
        RNG.permutation(360),
    )
    p = clone(MODELS[name]).fit(X[rows], Y[rows], sample_weight=shares).predict_proba(X)
    again = (
        clone(MODELS[name])
        .fit(X[rows][other], Y[rows][other], sample_weight=shares[other])
        .predict_proba(X)
    )
    assert np.isfinite(p).all() and (again == p).all()


def test_gibbs_sampling_requires_integer_weights():
    with refused(DataError, "variable per copy"):
        clone(MODELS["gibbs"]).fit(X, Y, sample_weight=np.full(40, 0.5))


def test_copies_that_exceed_memory_are_refused_with_their_size():
    with refused(DataError, "10 rows", "1,600"):
        build_plackett_luce().fit(X, Y, sample_weight=np.full(40, 1e9))


@pytest.mark.parametrize("c", [0.0, 0.05, 0.11, 3.0, 60.0])
def test_polya_gamma_of_any_shape_has_the_right_transform(c):
    r"""E exp(-t PG(b, c)) = (cosh(c/2) / cosh(sqrt(c^2/4 + t/2)))^b."""
    first = polya_gamma.FIRST_TERMS + int(c / math.pi)
    mean, variance = polya_gamma.compute_rest_moments(c, first)
    terms = np.array([polya_gamma.series_denominator(k, c) for k in range(first)])

    def log_cosh(x):
        return x + math.log1p(math.exp(-2 * x)) - math.log(2)

    for t in (0.1, 1.0, 10.0):
        ours = -np.log1p(t / terms).sum() - mean**2 / variance * math.log1p(t * variance / mean)
        assert (
            abs(ours - log_cosh(c / 2) + log_cosh(math.sqrt(c * c / 4 + t / 2)))
            < 1e-11 * t**3 + 1e-13
        )


@pytest.mark.fit
@pytest.mark.exact
def test_posterior_of_weighted_rows():
    """Against quadrature: weights below 1, between, and above those that are drawn as sums."""
    x, codes = np.array([-1.2, -0.3, 0.4, 0.8, 1.5]), np.array([1, 0, 1, 1, 0])
    counts, eta = np.array([0.4, 2.7, 1.0, 3.0, 25.5]), 2.0

    def density(beta):
        signs = np.where(codes == 1, 1.0, -1.0)
        return math.exp(
            -counts @ np.logaddexp(0, -signs * beta * x) - math.sqrt(eta) * abs(beta) + 17.0
        )

    norm, first, second = (
        quad(lambda b, k=k: b**k * density(b), -12, 6, points=[-2, 0])[0] for k in range(3)
    )
    problem = build_coefficient_problem(
        x[:, None], codes, 2, 0, CoefficientPrior(eta, 1, 1, False), False, counts
    )
    chains = [
        CoefficientChain(problem, eta, np.random.default_rng(seed), 40_000, 1000, 1)
        for seed in range(2)
    ]
    for chain in chains:
        chain.run_until(chain.total)
    beta = np.stack([chain.record.coef[:, 1, 0] for chain in chains])
    assert mcse(beta) < 0.005
    assert abs(beta.mean() - first / norm) < 4.5 * mcse(beta)
    assert abs((beta**2).mean() - second / norm) < 4.5 * mcse(beta**2)


@pytest.mark.fit
def test_weights_that_are_shares_cause_one_warning():
    model = build_sparse_logit(method="map", eta=1.0)
    with warned(DataWarning, "40 rows"):
        model.fit(X, Y, sample_weight=np.full(40, 1 / 40))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y, sample_weight=np.full(40, 0.5))  # half rows, twenty in all
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("default")
        AdaBoostClassifier(model, n_estimators=3, random_state=1).fit(X, Y)
    assert len(given) == 1 and "pass sample_weight *" in str(given[0].message)


BAD = [
    (np.full(40, -1.0), ("sample_weight", "-1", "row 0")),
    (np.full(40, 1e16), ("sample_weight", "16", "row 0", "15")),
    (np.full(40, np.nan), ("sample_weight", "row 0")),
    (np.zeros(40), ("All sample weights",)),
    (np.ones(39), ("40 rows", "got shape", "(39,)")),
    (np.ones((40, 2)), ("got shape (40, 2)",)),
    (["many"] * 40, ("sample_weight",)),
    ((Y != "b") * 1.0, ("class 'b'", "weight 0", "positive weight")),
]


@pytest.mark.parametrize(("weight", "facts"), BAD)
def test_bad_weights_are_refused(weight, facts):
    with refused(DataError, *facts) as failure:
        build_quick_model().fit(X, Y, sample_weight=weight)
    assert isinstance(failure.value, ValueError)


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ({"d": 2.0}, ("class_weight", "'d'", "'a'", "'b'")),
        ({"a": -1.0}, ("class_weight", "'a'", "got -1")),
        ("equal", ("class_weight", "'balanced'", "got 'equal'")),
    ],
)
def test_bad_class_weights_are_refused(given, facts):
    with refused(ArgumentError, *facts):
        build_sparse_logit(class_weight=given).fit(X, Y)
    with refused(DataError, "class 'a'", "weight 0"):
        build_sparse_logit(class_weight={"a": 0}).fit(X, Y)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_weights_of_classes_multiply_those_of_rows():
    factor = {"a": 3, "b": 1, "c": 2}
    by_class = (
        build_sparse_logit(class_weight=factor).fit(X, Y, sample_weight=WEIGHT).predict_proba(X)
    )
    assert (
        build_sparse_logit()
        .fit(X, Y, sample_weight=WEIGHT * [factor[label] for label in Y])
        .predict_proba(X)
        == by_class
    ).all()
    balanced = build_sparse_logit(class_weight="balanced").fit(X, Y, sample_weight=WEIGHT)
    totals = [
        (balanced.posterior_["constant_data"]["weight"].values * (Y[WEIGHT > 0] == k)).sum()
        for k in "abc"
    ]
    assert np.allclose(totals, WEIGHT.sum() / 3)


@pytest.mark.fit
def test_scores_of_decisions_order_rows_as_probabilities_do():
    three, two = build_quick_model().fit(X, Y), build_quick_model().fit(X, Y == "a")
    assert three.decision_function(X).shape == (40, 3) and two.decision_function(X).shape == (40,)
    assert (three.classes_[three.decision_function(X).argmax(axis=1)] == three.predict(X)).all()
    assert ((two.decision_function(X) > 0) == two.predict(X)).all()
    assert np.allclose(two.decision_function(X), np.diff(two.predict_log_proba(X))[:, 0])


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_seeds_are_those_of_scikit_learn_and_of_numpy():
    def draws(state):
        return build_sparse_logit(random_state=state).fit(X, Y).predict_proba(X)

    of_four = draws(4)
    np.testing.assert_array_equal(draws(np.int64(4)), of_four)
    np.testing.assert_array_equal(draws(np.random.SeedSequence(4)), of_four)
    np.testing.assert_array_equal(*(draws(np.random.RandomState(1)) for _ in range(2)))
    assert not np.array_equal(draws(3), of_four)
    for bad in ("one", -3):
        with refused(ArgumentError, "random_state", f"got {bad!r}"):
            draws(bad)
    with pytest.raises(TypeError, match="random_seed"):
        build_sparse_logit(random_seed=1)


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_scikit_learn_selects_covariates_by_their_weights():
    rng = np.random.default_rng(1)
    covariates = rng.normal(size=(120, 4))
    labels = covariates[:, 2] > 0.1
    for model in (
        build_sparse_logit(),
        build_plackett_luce(),
        build_plackett_luce(method="map", a=1.1, transform="exponential-pairs"),
    ):
        assert SelectFromModel(model, max_features=1).fit(
            covariates, labels
        ).get_support().tolist() == [0, 0, 1, 0]
        assert RFE(model, n_features_to_select=1).fit(covariates, labels).ranking_[2] == 1
    shares = build_plackett_luce(method="map", a=1.1).fit(covariates, labels).feature_importances_
    assert shares.sum() == pytest.approx(1.0) and shares.argmax() == 2
    own = build_plackett_luce(method="map", a=1.1, transform=np.exp).fit(covariates, labels)
    assert not hasattr(own, "feature_importances_")


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_metadata_are_routed():
    weight = np.where(WEIGHT, WEIGHT, 1)
    with sklearn.config_context(enable_metadata_routing=True):
        with refused(ValueError, "set as requested"):
            cross_validate(
                build_quick_model(),
                X,
                Y,
                params={"sample_weight": weight},
                cv=2,
                error_score="raise",
            )
        asked = (
            build_quick_model()
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=False)
        )
        routed = cross_validate(
            asked, X, Y, params={"sample_weight": weight}, cv=2, return_estimator=True
        )
        plain = cross_validate(build_quick_model(), X, Y, cv=2, return_estimator=True)
    means = [[each.coef_ for each in found["estimator"]] for found in (routed, plain)]
    assert not np.allclose(means[0], means[1])


@pytest.mark.fit
@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_the_table_of_coefficients_follows_the_draws():
    covariates = np.column_stack([X, np.zeros(40)])
    model = build_sparse_logit(draws=200).fit(covariates, Y)
    table = model.coefficients(0.2)
    draws = (
        model.posterior_["posterior"]["coef"]
        .sel({"class": "c"}, drop=True)
        .sel(covariate="x1")
        .values[0]
    )
    row = table[(table["class"] == "c") & (table["covariate"] == "x1")].iloc[0]
    assert (
        row["probability"] == (np.abs(draws) > 0.2).mean() and row["positive"] == (draws > 0).mean()
    )
    assert row["coef"] == pytest.approx(draws.mean()) and row["sd"] == pytest.approx(
        draws.std(ddof=1)
    )
    assert (
        row["excludes_0"] == (row["low"] > 0 or row["high"] < 0)
        and row["original"] == model.coef_[1, 1]
    )
    assert table["probability"].is_monotonic_decreasing and len(table) == 4
    with refused(ArgumentError, "delta", "got -1"):
        model.coefficients(-1)
