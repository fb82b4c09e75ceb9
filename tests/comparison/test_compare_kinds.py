"""`thali.compare` on every kind of data besides pairs of draws: classifiers, similarities, maximum
likelihood."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, says, warned
from helpers.short_comparisons import folds_of, sentences
from helpers.tiny_models import TINY
from joblib import parallel_config
from scipy import stats
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import thali as th
from thali._data.kinds import (
    CHOICES,
    CLASSES,
    EXPERIMENTS,
    PAIRS,
    SIMILARITIES,
    TRIPLETS,
)
from thali._model.registry import SPECS
from thali.errors import ArgumentError, DataError, IncompleteWarning, ThaliWarning

QUIET = {"progressbar": False, "cores": 1, "random_seed": 4}
SHORT = {"draws": 20, "tune": 10, "chains": 2, "thin": 1}


def compare(*given, **changed):
    """A comparison without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        return th.compare(*given, **(QUIET | changed))


# classifiers --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [31, 20, 9])
    X = (
        rng.normal(size=(60, 3))
        + np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 0.0], [1.5, 1.5, 0.0]])[codes]
    )
    shuffled = rng.permutation(60)
    return X[shuffled], np.array(["fern", "moss", "reed"])[codes[shuffled]]


def classifiers():
    return {"PL": th.PlackettLuceRegression(method="map", a=1.1), "logistic": LogisticRegression()}


@pytest.mark.parametrize("folds", [None, 4])
def test_scores_of_rows_are_those_of_scikit_learn_on_the_same_split(rows, folds):
    X, y = rows
    table = th.compare(classifiers(), rows, folds=folds, **QUIET)
    split = PredefinedSplit(folds_of(y, folds or 5, 4))
    others = {"BASE": DummyClassifier(strategy="prior"), **classifiers()}
    assert list(table.index) == list(others)
    for name, model in others.items():
        p = cross_val_predict(model, X, y, cv=split, method="predict_proba")
        classes, truth = np.unique(y, return_inverse=True)
        assert table.loc[name, "log_loss"] == pytest.approx(log_loss(y, p), rel=1e-9)
        assert table.loc[name, "accuracy"] == pytest.approx(
            accuracy_score(y, classes[p.argmax(axis=1)]), rel=1e-12
        )
        brier = ((p - np.eye(3)[truth]) ** 2).sum(axis=1)
        assert table.loc[name, "brier"] == pytest.approx(brier.mean(), rel=1e-9)
        each = -np.log(p[np.arange(60), truth])
        assert table.loc[name, "log_loss_se"] == pytest.approx(
            each.std(ddof=1) / np.sqrt(60), rel=1e-9
        )
        assert table.attrs["rows"][name].sort_index().to_numpy() == pytest.approx(each, rel=1e-9)
    best = table.loc[["PL", "logistic"], "log_loss"].idxmin()
    assert table.attrs["best"] == best and f"{best!r} predicts held-out rows best" in " ".join(
        sentences(table)
    )
    assert (table["rows"] == 60).all()


def test_frames_and_arrays_of_rows_are_alike(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["u", "v", "w"], index=np.arange(60)[::-1])
    labels = pd.Series(y, index=frame.index)
    one, other = (th.compare(classifiers(), data, **QUIET) for data in (rows, (frame, labels)))
    pd.testing.assert_frame_equal(
        one.drop(columns="seconds"), other.drop(columns="seconds"), check_exact=True
    )


def test_draws_of_classifiers_depend_on_the_seed_alone(rows, tmp_path):
    models = {"logit": th.SparseMultinomialLogit(), "PL": th.PlackettLuceRegression()}
    job = tmp_path / "job"
    table = compare(models, rows, folds=2, job=job, **SHORT)
    assert not any(hasattr(model, "classes_") for model in models.values())
    with parallel_config("threading", n_jobs=2):
        at_once = compare(models, rows, folds=2, cores=None, **SHORT)
    pd.testing.assert_frame_equal(
        table.drop(columns="seconds"), at_once.drop(columns="seconds"), check_exact=True
    )
    again = compare(models, rows, folds=2, job=job, random_seed=None, **SHORT)
    pd.testing.assert_frame_equal(table, again, check_exact=True)
    other = compare(models, rows, folds=2, random_seed=5, **SHORT)
    assert (other["log_loss"] != table["log_loss"])[["logit", "PL"]].all()
    X, y = rows
    held = folds_of(y, 2, 4) == 0
    seed = np.random.SeedSequence(4).spawn(2)[0]
    fit = th.SparseMultinomialLogit(
        **{name: SHORT[name] for name in SHORT.keys() - {"thin"}}, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThaliWarning)
        p = fit.fit(X[~held], y[~held], thin=SHORT.get("thin")).predict_proba(X[held])
    expected = -np.log(p[np.arange(held.sum()), np.searchsorted(fit.classes_, y[held])])
    assert table.attrs["rows"]["logit"][np.flatnonzero(held)].to_numpy() == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.fit
def test_a_pipeline_of_scikit_learn_is_a_model():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(60, 2)) * [1.0, 1000.0]
    y = np.where(x[:, 0] + rng.normal(size=60) > 0, "yes", "no")
    scaled = make_pipeline(StandardScaler(), th.PlackettLuceRegression(method="map", a=1.1))
    models = {"scaled": scaled, "logistic": make_pipeline(StandardScaler(), LogisticRegression())}
    table = th.compare(models, (x, y), **QUIET)
    assert np.isfinite(table.loc[["scaled", "logistic"], "log_loss"]).all()


class Sure(LogisticRegression):
    """Knows every class, and is often wrong."""

    def predict_proba(self, X):
        return np.eye(3)[np.zeros(len(X), int)]


def test_a_class_of_probability_0_is_told(rows):
    table = th.compare({"sure": Sure(), "logistic": LogisticRegression()}, rows, **QUIET)
    assert table.loc["sure", "log_loss"] == np.inf and np.isnan(table.loc["sure", "log_loss_se"])
    says(sentences(table), "29", "60 rows")
    assert any("infinite score" in said for said in sentences(table))


class Odd(LogisticRegression):
    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


def test_a_classifier_that_fails_costs_no_other(rows):
    with warned(IncompleteWarning, "5", "10 fits"):
        table = th.compare({"odd": Odd(), "logistic": LogisticRegression()}, rows, **QUIET)
    assert np.isnan(table.loc["odd", "log_loss"]) and table.loc["logistic", "log_loss"] > 0


@pytest.mark.parametrize(
    ("changed", "facts"),
    [
        ({"folds": 61}, ("folds", "2 to 60", "61")),
        ({"folds": 1}, ("folds", "2 to 60")),
        ({"folds": 2.5}, ("folds", "2 to 60")),
        ({"hold_out": 3}, ("hold_out", "covariates and classes")),
        ({"leave_out": "pair"}, ("leave_out", "'row'", "'pair'")),
    ],
)
def test_bad_arguments_leave_no_folder_behind(rows, changed, facts, tmp_path):
    with refused(ArgumentError, *facts):
        th.compare(classifiers(), rows, job=tmp_path / "job", **(QUIET | changed))
    assert not list(tmp_path.iterdir())


def test_rows_and_classes_must_match(rows):
    with refused(DataError, "got shapes", "60", "3", "59"):
        th.compare(classifiers(), (rows[0], rows[1][1:]), **QUIET)


# similarities -------------------------------------------------------------------------------------

TRIO = th.Similarities(
    [[0, 0.8, 0.3], [0.8, 0, 0.45], [0.3, 0.45, 0]],
    list("abc"),
    judgements=[[0, 2, 1], [2, 0, 4], [1, 4, 0]],
)
SHARED = {"a": ["f"], "b": ["f"], "c": []}


def density(left_out):
    """ln of the predictive density of one similarity, and its expectation, by quadrature over
    constant and weight."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    grid, mass = 2.0 * (nodes + 1), 2.0 * weights  # from 0 to 4
    constant, weight = np.meshgrid(grid, grid, indexing="ij")
    mean = {"ab": constant + weight, "ac": constant, "bc": constant}
    sigma = {"ab": 0.2 / np.sqrt(2), "ac": 0.2, "bc": 0.2 / 2}
    value = {"ab": 0.8, "ac": 0.3, "bc": 0.45}
    posterior = np.outer(mass, mass) * np.exp(-3.0 * (constant + weight))
    for pair in value:
        if pair != left_out:
            posterior = posterior * stats.norm.pdf(value[pair], mean[pair], sigma[pair])
    posterior = posterior / posterior.sum()
    predictive = (
        posterior * stats.norm.pdf(value[left_out], mean[left_out], sigma[left_out])
    ).sum()
    return np.log(predictive), (posterior * mean[left_out]).sum()


def test_scores_of_similarities_are_those_of_quadrature():
    model = th.AdditiveClustering(SHARED, sigma=0.2, weight_prior=(1.0, 3.0))
    table = compare({"m": model}, TRIO, leave_out="pair", draws=4000, tune=200, chains=2, thin=5)
    rows = table.attrs["predictions"].set_index(["a", "b"])
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        log_score, mean = density(a + b)
        row = rows.loc[(a, b)]
        assert (
            abs(row["log_score"] - log_score) < 5 * row["log_score_mcse"] + 1e-4
            and row["log_score_mcse"] < 0.05
        )
        assert abs(row["predicted"] - mean) < 5 * row["predicted_mcse"] + 1e-4
    assert table.loc["m", "log_score"] == pytest.approx(rows["log_score"].mean())
    squared = (rows["predicted"] - rows["observed"]) ** 2
    assert table.loc["m", "squared_error"] == pytest.approx(squared.mean())
    assert table.loc["m", "log_score_mcse"] == pytest.approx(
        np.sqrt((rows["log_score_mcse"] ** 2).sum()) / 3
    )


def test_the_reference_of_similarities_is_one_normal_distribution():
    table = compare({"m": th.AdditiveClustering(SHARED)}, TRIO, **SHORT)
    values, n = {"ab": 0.8, "ac": 0.3, "bc": 0.45}, {"ab": 2, "ac": 1, "bc": 4}
    expected, squared = [], []
    for pair in values:
        other = [key for key in values if key != pair]
        mean = sum(n[k] * values[k] for k in other) / sum(n[k] for k in other)
        # one degree of freedom; of a single judgement
        variance = sum(n[k] * (values[k] - mean) ** 2 for k in other)
        expected.append(stats.norm.logpdf(values[pair], mean, np.sqrt(variance / n[pair])))
        squared.append((values[pair] - mean) ** 2)
    assert table.attrs["similarities"]["BASE"].to_numpy() == pytest.approx(expected)
    assert table.attrs["squared_errors"]["BASE"].to_numpy() == pytest.approx(squared)
    assert list(table.columns) == [
        "log_score", "difference", "difference_se", "log_score_se", "log_score_mcse", "squared_error_se",
        "squared_error", "pairs", "r_hat",
    ]  # fmt: skip


def test_pairs_of_objects_are_left_out_one_by_one_or_in_folds(monkeypatch):
    data, seen = th.datasets.numbers(), []

    class Watched(th.AdditiveClustering):
        @functools.wraps(th.AdditiveClustering.fit)  # `compare` passes what its signature takes
        def fit(self, data, **settings):
            seen.append(data)
            return super().fit(data, **settings)

    models = {
        "m": Watched(tempering=False),
        "open": th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Additive()),
    }
    table = compare(models, data, folds=9, **SHORT)
    assert [each.n_pairs for each in seen] == [40] * 9 and (table["pairs"] == 45).all()
    held = [
        set(zip(data.first, data.second, strict=True))
        - set(zip(each.first, each.second, strict=True))
        for each in seen
    ]
    assert len(set.union(*held)) == 45 and all(each.labels == data.labels for each in seen)
    seen.clear()
    table = compare({"m": models["m"]}, TRIO, **SHORT)
    assert [each.n_pairs for each in seen] == [2] * 3 and (table["pairs"] == 3).all()
    assert "held-out similarities best" in sentences(table)[0]
    with refused(DataError, "only one measured pair"):
        th.compare({"m": models["m"]}, TRIO.take(np.array([True, False, False])), **QUIET)


# estimates ----------------------------------------------------------------------------------------


def test_maximum_likelihood_is_compared():
    data = th.datasets.celebrities()
    model = th.EliminationByAspects("unique", method="maximum-likelihood")
    table = th.compare({"ML": model}, data, **QUIET)
    p = []
    for first, second in zip(data.first, data.second, strict=True):
        a, b = data.labels[first], data.labels[second]
        own = th.EliminationByAspects("unique", method="maximum-likelihood").fit(
            data.without_pair(a, b)
        )
        p.append(own.predict_proba([(a, b)])[0])
    nll = -stats.binom.logpmf(data.wins, data.wins + data.losses, p)
    assert table.attrs["pairs"]["ML"].to_numpy() == pytest.approx(nll, rel=1e-6)
    assert table.loc["ML", "mean_log_pred"] == -table.loc["ML", "nll"]
    assert table.loc["ML", "nll_mcse"] == 0 and np.isnan(table.loc["ML", "r_hat"])
    assert table.attrs["lapses"] == {"ML": 0.0}
    unknown = th.EliminationByAspects(method="maximum-likelihood")
    with refused(ArgumentError, "'m'"):
        th.compare({"m": unknown}, data, **QUIET)


# which models -------------------------------------------------------------------------------------

DATA = {
    PAIRS: lambda: TINY["elimination-by-aspects"].data()[0],
    CHOICES: lambda: th.Choices.from_comparisons(DATA[PAIRS]()),
    SIMILARITIES: lambda: TRIO,
    TRIPLETS: lambda: TINY["additive-clustering, triplets"].data()[0],
    EXPERIMENTS: lambda: TINY["multinomial-logit"].data()[0],
    CLASSES: lambda: TINY["plackett-luce"].data(),
}
MODELS = {
    "elimination-by-aspects": th.EliminationByAspects(),
    "bradley-terry-luce": th.BradleyTerryLuce(),
    "additive-clustering": th.AdditiveClustering(),
    "nonnegative-dimensions": th.NonnegativeDimensions(),
    "latent-feature-model": th.LatentFeatureModel(
        th.priors.IndianBuffet(), th.likelihoods.Elimination()
    ),
    "product-classes": th.ProductClasses(),
    "multinomial-logit": th.MultinomialLogit(),
    "latent-class-logit": th.LatentClassLogit(2),
    "hierarchical-logit": th.HierarchicalLogit(),
    "plackett-luce": th.PlackettLuceRegression(),
    "sparse-logit": th.SparseMultinomialLogit(),
}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
@pytest.mark.parametrize("kind", DATA)
def test_every_model_is_compared_on_its_kinds_of_data_alone(spec, kind):
    if kind in spec.data:
        with pytest.raises(ArgumentError) as caught:
            th.compare({"m": MODELS[spec.name]}, DATA[kind](), draws=0)
        assert "these data are" not in str(caught.value)
    else:
        with pytest.raises(
            ArgumentError, match=f"'m' .* requires {spec.data[0]}.*; these data are {kind}"
        ):
            th.compare({"m": MODELS[spec.name]}, DATA[kind]())


def test_groups_are_not_compared_on_together():
    pairs = DATA[PAIRS]()
    for by in ("prediction", "evidence"):
        with refused(DataError, "2 groups", "each group separately"):
            th.compare({"m": th.EliminationByAspects()}, {"w": pairs, "m": pairs}, by=by)


def test_models_of_others_need_what_is_asked_of_them():
    for kind, needed in (
        ("similarities", "AdditiveClustering()"),
        ("covariates and classes", "fit and predict_proba"),
    ):
        with pytest.raises(ArgumentError, match=f"for {kind}, such as") as caught:
            th.compare({"m": object()}, DATA[kind]())
        assert needed in str(caught.value)


def test_the_open_combination_is_compared():
    pairs = th.PairedComparisons([[0, 6, 2], [1, 0, 3], [4, 1, 0]], labels=["x", "y", "z"])
    open_ = th.LatentFeatureModel(
        th.priors.FiniteFeatures(1), th.likelihoods.Elimination(lapse=0.02)
    )
    table = compare({"open": open_, "same": th.EliminationByAspects(1, lapse=0.02)}, pairs, **SHORT)
    assert table.loc["open", "nll"] == table.loc["same", "nll"] and table.attrs["lapses"] == {
        "open": 0.02,
        "same": 0.02,
    }


@pytest.mark.fit
def test_sparse_covariates_are_compared_as_dense_ones():
    X = np.random.default_rng(0).random((60, 4))
    X[X < 0.5] = 0.0
    labels = (X[:, 0] > X[:, 1]).astype(int)
    sparse, dense = (
        th.compare(
            {"MAP": th.SparseMultinomialLogit(method="map", eta=1.0)},
            (covariates, labels),
            folds=3,
            random_seed=1,
            progressbar=False,
        )
        for covariates in (csr_array(X), X)
    )
    assert sparse["log_loss"].to_numpy() == pytest.approx(dense["log_loss"].to_numpy())
