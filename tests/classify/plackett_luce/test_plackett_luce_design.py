"""How covariates become W, warnings about their scale, and the classifier around the fit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.plackett_luce_data import frame
from helpers.sentences import refused, said, warned, without_warnings

import thali as th
import thali._classify.plackett_luce.posterior_mode as pl_map
from thali._classify.plackett_luce.nonnegative_columns import PlackettLuceDesign
from thali.errors import ArgumentError, ConvergenceWarning, DataError, DataWarning

X = np.array([[-1.4, 3.0], [-0.6, 1.0], [-0.1, 2.5], [0.3, 0.5], [0.9, 2.0], [1.7, 0.0]])
Y = ["no", "no", "yes", "no", "yes", "yes"]


def build_model(**arguments):
    return th.PlackettLuceRegression(**{"method": "map", "a": 1.1, **arguments})


@pytest.mark.parametrize("standardize", [False, True])
def test_exponential_columns_follow_their_definition(standardize):
    design = PlackettLuceDesign.fit(X, ["x", "y"], "exponential", standardize)
    z = (X - X.mean(axis=0)) / X.std(axis=0) if standardize else X
    expected = np.column_stack([np.exp(z), np.exp(-z), np.ones(len(X))])
    assert design.columns == ("exp(x)", "exp(y)", "exp(-x)", "exp(-y)", "1")
    np.testing.assert_allclose(
        design.apply(X), expected / expected.max(axis=1, keepdims=True), rtol=1e-13
    )
    np.testing.assert_allclose(np.exp(design.compute_logs(X)), design.apply(X), rtol=1e-13)
    # the scale is remembered
    np.testing.assert_allclose(design.apply(X[3:]), design.apply(X)[3:], rtol=1e-13)


def test_importances_are_the_shares_of_the_weights_of_columns_that_name_a_covariate():
    data = np.column_stack([X, np.full(len(X), 2.0), [0.2, -0.1, 0.5, 0.9, -1.0, 0.0]])
    frame = pd.DataFrame(data, columns=["x", "y", "same", "z"])
    with without_warnings():
        fitted = build_model(transform="exponential-pairs").fit(frame, [0, 1, 0, 1, 0, 1])
    total = dict.fromkeys(frame, 0.0)
    for column, weight in fitted.weights_.sum(axis=0).items():
        named = [name for name in "xyz" if name in column.replace("exp", "")]
        for name in named:
            total[name] += weight / len(named)
    expected = np.array(list(total.values())) / sum(total.values())
    np.testing.assert_allclose(fitted.feature_importances_, expected)


def test_exponential_pairs_follow_their_definition():
    data = np.column_stack([X, [0.2, -0.1, 0.5, 0.9, -1.0, 0.0]])
    design = PlackettLuceDesign.fit(data, ["x", "y", "z"], "exponential-pairs", standardize=False)
    assert design.columns[6:] == (
        *(
            "exp(x + y)",
            "exp(-(x + y))",
            "exp(x + z)",
            "exp(-(x + z))",
            "exp(y + z)",
            "exp(-(y + z))",
        ),
        "1",
    )
    x, y, z = data.T
    columns = [x, y, z, -x, -y, -z, x + y, -x - y, x + z, -x - z, y + z, -y - z, 0 * x]
    expected = np.exp(np.column_stack(columns))
    np.testing.assert_allclose(
        design.apply(data), expected / expected.max(axis=1, keepdims=True), rtol=1e-13
    )


def test_a_function_returns_the_columns():
    fitted = build_model(
        transform=lambda x: np.column_stack([np.exp(x[:, 0]), np.ones(len(x))])
    ).fit(X, Y)
    same = build_model(
        transform=lambda x: pd.DataFrame({"grows": np.exp(x[:, 0]), "one": 1.0})
    ).fit(X, Y)
    assert set(fitted.support_["column"]) <= {"w0", "w1"}
    assert set(same.support_["column"]) <= {"grows", "one"}
    assert fitted.objective_ == same.objective_


def test_untransformed_inputs_keep_their_columns():
    counts = np.array([[3.0, 1.0], [2.0, 0.0], [0.0, 4.0], [1.0, 3.0], [1.0, 5.0], [2.0, 1.0]])
    fitted = build_model(transform=None).fit(counts, Y)
    assert set(fitted.support_["column"]) == {"x0", "x1"}
    np.testing.assert_allclose(
        fitted.predict_proba(counts)[:, 0],
        counts @ fitted.weights_[0] / (counts @ fitted.weights_.sum(axis=0)),
        rtol=1e-12,
    )


@pytest.mark.parametrize(
    "arguments, data, facts",
    [
        ({"transform": None}, X, ("-1.4", "row 0", "column 'x0'", "transform='exponential'")),
        (
            {"transform": None},
            np.abs(X) * (np.arange(6) != 3)[:, None],
            ("zero everywhere in row 3",),
        ),
        ({"transform": lambda x: x}, X, ("-1", "row 0", "column 'w0'")),
        ({"transform": lambda x: x[:2] ** 2}, X, ("returned shape (2, 2) for 6 rows",)),
        ({"transform": lambda x: x[:, 0]}, X, ("row of X",)),
        ({"transform": lambda x: np.full((len(x), 1), np.nan)}, X, ("is nan in row 0",)),
        ({}, X * 0.0 + 2.5, ("column 'x0'", "2.5")),
    ],
)
def test_data_that_cannot_be_transformed(arguments, data, facts):
    with refused(DataError, *facts):
        build_model(**arguments).fit(data, Y)


def test_an_argument_that_cannot_be_used():
    fitted = build_model(a=None)
    with refused(ArgumentError, "a=1", "requires a number"):
        fitted.fit(X, Y)
    assert not [name for name in vars(fitted) if name.endswith("_")]


def test_iris_a_thousand_times_as_large():
    data, labels = frame("iris")
    with pytest.warns(DataWarning) as messages:
        fitted = build_model(standardize=False).fit(data * 1000.0, labels)
    assert abs(fitted.log_likelihood_ - -164.7918) < 5e-5
    said(messages[0].message, "'exp(sepal_length)'", "150", "150 rows")
    said(messages[1].message, "9 columns")
    assert "standardize=True" in str(messages[0].message)
    assert all(warning.filename == __file__ for warning in messages)


def test_raw_wine_gives_the_known_likelihood():
    data, labels = frame("wine")
    for a in (0.9, 1.0, 1.1):
        with warned(DataWarning, "'exp(proline)' of W"):
            fitted = build_model(standardize=False, a=a).fit(data, labels)
        assert abs(fitted.log_likelihood_ - -193.3148) < 1e-4
        assert np.isfinite(fitted.predict_proba(data)).all()


def test_standardised_data_do_not_warn():
    data, labels = frame("wine")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_model().fit(data, labels)


def test_a_constant_covariate_that_is_not_standardised_warns():
    with warned(DataWarning, "Constant covariates: 'x1'") as messages:
        build_model(standardize=False).fit(X * [1.0, 0.0] + 0.5, Y)
    assert messages[0].filename == __file__


@pytest.mark.parametrize("constant", [0.0, 2.5, -1e-300])
@pytest.mark.parametrize("transform", ["exponential", "exponential-pairs"])
def test_a_constant_covariate_does_not_change_the_fit(transform, constant):
    more = np.insert(X, 1, constant, axis=1)
    with warned(DataWarning, "column 1") as messages:
        with_it = build_model(transform=transform).fit(more, Y)
    assert [each.filename for each in messages] == [__file__]
    without = build_model(transform=transform).fit(X, Y)
    assert np.array_equal(with_it.weights_, without.weights_)
    assert with_it.n_features_in_ == 3 and not any("x1" in column for column in with_it.weights_)
    for new in (-1e308, -1.0, constant, 7.0, 1e308):
        more[:, 1] = new
        assert np.array_equal(with_it.predict_proba(more), without.predict_proba(X))


def test_a_function_gets_zeros_for_a_constant_covariate():
    seen = []

    def transform(x):
        seen.append(x[:, 1].copy())
        return np.exp(x)

    more = X * [1.0, 0.0] + [0.0, 3.0]
    with warned(DataWarning, "in predictions"):
        fitted = build_model(transform=transform).fit(more, Y)
    fitted.predict_proba(X)
    assert not np.concatenate(seen).any()


def test_fitted_attributes_have_labels_and_sum_to_one():
    data, labels = frame("iris")
    fitted = build_model(a=1.0).fit(data, labels)
    assert isinstance(fitted.weights_, pd.DataFrame)
    assert fitted.weights_.index.tolist() == fitted.classes_.tolist() == [0, 1, 2]
    assert set(fitted.support_["column"]) <= set(fitted.weights_)
    assert abs(fitted.weights_.to_numpy().sum() - 1.0) < 1e-12
    assert fitted.support_["column"].tolist() == [
        "exp(-sepal_width)",
        "exp(petal_width)",
        "exp(-petal_length)",
    ]
    assert fitted.support_["class"].tolist() == [1, 2, 0]
    assert (fitted.a_, fitted.objective_) == (1.0, fitted.log_likelihood_)
    assert fitted._n_passes_ >= fitted.n_iter_ > 0
    own = fitted.predict_proba(data)[np.arange(150), labels]
    assert abs(np.log(own).sum() - fitted.log_likelihood_) < 1e-9
    assert isinstance(build_model().fit(X, Y).weights_, np.ndarray)


def test_a_row_far_outside_is_predicted_by_logarithms():
    fitted = build_model(a=1.0, standardize=False).fit(X[:, :1], Y)
    # exp(800) leaves no float for the column of ones
    fitted.weights_ = np.array([[0.0, 0.0, 0.25], [0.0, 0.0, 0.75]])
    np.testing.assert_allclose(fitted.predict_proba([[800.0]]), [[0.25, 0.75]], rtol=1e-12)


def test_a_row_without_weights_gets_the_class_frequencies():
    fitted = build_model(transform=None).fit(
        np.abs(X) + 0.1, ["no", "no", "yes", "yes", "yes", "yes"]
    )
    fitted.weights_ = np.array([[0.5, 0.0], [0.5, 0.0]])
    with warned(DataWarning, "rows are zero"):
        np.testing.assert_allclose(fitted.predict_proba([[0.0, 1.0]]), [[1 / 3, 2 / 3]], rtol=1e-12)


def test_weights_that_have_not_converged_warn(monkeypatch):
    monkeypatch.setattr(
        pl_map.maximise_class_weights, "__kwdefaults__", {"start": None, "max_passes": 3}
    )
    with warned(ConvergenceWarning, "PlackettLuceRegression") as messages:
        fitted = build_model().fit(X, Y)
    assert "converged after 3" in str(fitted.convergence()) and "3 sweeps" in str(
        fitted.convergence()
    )
    assert messages[0].filename == __file__
