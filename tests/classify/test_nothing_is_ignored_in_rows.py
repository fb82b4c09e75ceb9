"""What rows carry is used or refused by every function of both classifiers that takes them, never
ignored."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

import thali as th
from thali.errors import ThaliError

pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]

RNG = np.random.default_rng(8)
X = pd.DataFrame(RNG.normal(size=(30, 2)).round(2), columns=["width", "height"])
Y = np.array(["a", "b", "c"])[
    (X["width"] + RNG.logistic(size=30) > 0).astype(int) + (X["height"] > 1)
]
WEIGHT = np.arange(30) % 3 + 1.0
MODELS = {
    "sparse logit": lambda **how: th.SparseMultinomialLogit(method="map", eta=1.0, **how),
    "Plackett-Luce": lambda **how: th.PlackettLuceRegression(method="map", a=1.1, **how),
}
# How each function that takes rows is called, of a fitted model.
CALLS = {
    "fit": lambda model, X, y, **how: model.fit(X, y, **how).predict_proba(FIRST),
    "predict": lambda model, X, y: model.predict(X),
    "predict_proba": lambda model, X, y: model.predict_proba(X),
    "predict_log_proba": lambda model, X, y: model.predict_log_proba(X),
    "decision_function": lambda model, X, y: model.decision_function(X),
    "score": lambda model, X, y, **how: model.score(X, y, **how),
    "calibration": lambda model, X, y: model.calibration(X, y, bins=3),
    "sample_prior": lambda model, X, y: model.sample_prior(X, y, draws=2, random_seed=1)[
        "prior_predictive"
    ]["label"],
    "coefficient_path": lambda model, X, y, **how: model.coefficient_path(
        X, y, eta=[1.0, 2.0], **how
    ),
}
FIRST = X.head(3)
OF_LABELS = {
    "fit",
    "score",
    "calibration",
    "coefficient_path",
}  # sample_prior takes from y only which classes there are
AFTER_DRAWS = {"posterior_predictive"}  # of a fit by draws, to the same rows
OTHERS = {"prepare"}
# Rows that differ in one property: for all functions, and for those that look at labels.
ROWS = {
    "a value": X.assign(width=X["width"] - 9.0 * (np.arange(30) < 5)),
    "a gap": X.assign(width=X["width"].where(np.arange(30) != 1)),
    "an infinite value": X.assign(width=X["width"].where(np.arange(30) != 1, np.inf)),
    "text": X.assign(width="wide"),
    "a further column": X.assign(depth=np.sin(np.arange(30.0))),
    "a column less": X[["width"]],
}
LABELS = {
    "a label": np.where(np.arange(30) == 0, "c", Y),
    "a missing label": np.where(np.arange(30) == 0, None, Y),
    "fewer labels": Y[:-1],
}


def format_answer(call, model, *arguments, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(call(model, *arguments, **how))
        except ThaliError as refused:
            return f"refused: {refused}"


def list_public_methods(model):
    methods = inspect.getmembers(type(model), inspect.isfunction)
    takes = (
        (name, inspect.signature(method).parameters)
        for name, method in methods
        if not name.startswith("_")
    )
    return {name: set(parameters) for name, parameters in takes if {"X", "data"} & set(parameters)}


def fit_model(name, **how):
    return MODELS[name](**how).fit(X, Y)


def test_every_function_stands_in_the_table():
    public = set().union(*(list_public_methods(make()) for make in MODELS.values()))
    assert public == set(CALLS) | AFTER_DRAWS | OTHERS


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", CALLS)
def test_columns_of_rows_change_the_result_or_are_refused(name, model):
    if name not in list_public_methods(MODELS[model]()):
        pytest.skip("the other classifier has it")

    def asked(rows=X, labels=Y, **how):
        return format_answer(CALLS[name], fit_model(model), rows, labels, **how)

    before = asked()
    assert not before.startswith("refused"), before
    if name != "sample_prior":  # whose labels need not change with a number
        for said, rows in ROWS.items():
            assert asked(rows) != before, said
    for said in ("a gap", "an infinite value", "text"):
        assert asked(ROWS[said]).startswith("refused"), said
    for said, labels in LABELS.items():
        if name in OF_LABELS and "y" in list_public_methods(MODELS[model]())[name]:
            assert asked(labels=labels) != before, said
    if "sample_weight" in list_public_methods(MODELS[model]())[name]:
        assert asked(sample_weight=WEIGHT) != before
        assert asked(sample_weight=-WEIGHT).startswith("refused")
        assert asked(sample_weight=WEIGHT[:-1]).startswith("refused")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", sorted(set(CALLS) - {"fit", "sample_prior", "coefficient_path"}))
def test_names_of_columns_must_match_the_fit(name, model):
    for frame in (X[["height", "width"]], X.rename(columns={"width": "breadth"})):
        refused = format_answer(CALLS[name], fit_model(model), frame, Y)
        assert refused.startswith("refused") and "feature_names_in_" in refused


@pytest.mark.parametrize("model", MODELS)
def test_class_weights_change_the_fit_or_are_refused(model):
    if "class_weight" not in MODELS[model]().get_params():
        with pytest.raises(TypeError, match="class_weight"):
            MODELS[model](class_weight="balanced")
        return
    before = fit_model(model).predict_proba(X)
    for weight in ("balanced", {"a": 3.0}):
        assert (fit_model(model, class_weight=weight).predict_proba(X) != before).any()
    refused = format_answer(CALLS["fit"], MODELS[model](class_weight={"z": 3.0}), X, Y)
    assert refused.startswith("refused") and "'z'" in refused
