"""What every classifier shares: what it refuses and how, data frames, labels, and scikit-learn's
tools and checks."""

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers.sentences import refused, warned
from sklearn.base import clone, is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

import thali as th
from thali.errors import DataError, DataWarning, NotFittedError, ThaliError

pytestmark = pytest.mark.fit

RNG = np.random.default_rng(1)
X = RNG.normal(size=(12, 2))
Y = np.arange(12) % 2
FRAME = pd.DataFrame(X, columns=["width", "height"])
# Checks of scikit-learn that cannot apply, and why.
CANNOT_APPLY = {
    "check_array_api_input": "asks for arrays of other libraries, and SciPy's switch for them is"
    " off"
}


def build_quick_model():
    """Build a classifier that is fitted quickly."""
    return th.SparseMultinomialLogit(method="map", eta=0.1)


def build_sparse_logit(**arguments):
    return th.SparseMultinomialLogit(
        **({"draws": 30, "tune": 30, "chains": 1, "random_state": 1} | arguments)
    )


def build_plackett_luce(**arguments):
    short = {"draws": 30, "tune": 30, "chains": 1, "random_state": 1}
    return th.PlackettLuceRegression(**(short | arguments))


def replace_entry(value, dtype=float):
    changed = X.astype(dtype)
    changed[3, 1] = value
    return changed


BAD = [
    (replace_entry(np.nan), Y, ("row 3", "column 1")),
    (replace_entry(-np.inf), Y, ("row 3", "column 1")),
    (X * [[np.nan, 1.0]], Y, ("column 0", "11 more")),
    (FRAME.assign(height=[None] + [1.0] * 11), Y, ("row 0", "column 'height'")),
    (FRAME.assign(height=pd.array([pd.NA] + [1] * 11, "Int64")), Y, ("row 0", "column 'height'")),
    (FRAME.assign(height=["tall"] * 12), Y, ("Row 0", "column 'height'", "'tall'")),
    (FRAME.assign(height=pd.date_range("2020", periods=12)), Y, ("column 'height'",)),
    (replace_entry({"foo": 1}, object), Y, ("'foo'",)),
    (X[0], Y, ("got shape", "(2,)")),
    (X[None], Y, ("got shape", "(1, 12, 2)")),
    ([[1.0], [1.0, 2.0]], [0, 1], ("must have rows",)),
    (np.empty((12, 0)), Y, ("0 feature", "shape=(12")),
    (np.empty((0, 2)), [], ("X has no rows",)),
    (X + 1j, Y, ("data not supported",)),
    (X, Y[:11], ("12 rows", "11 labels")),
    (X, None, ("but the target",)),
    (X, np.zeros((12, 2)), ("got shape", "(12, 2)")),
    (X, [1] * 12, ("classifier requires at",)),
    (X[:1], ["a"], ("only one class, 'a'",)),
    (X, ["a", 1] * 6, ("'a'", "number); convert them")),
    (X, [True, 2] * 6, ("types, True (boolean)",)),
    (X, ["a", None] * 6, ("row 1",)),
    (X, pd.array(["a", pd.NA] * 6, "string"), ("row 1",)),
    (X, [0, np.nan] * 6, ("row 1",)),
    (X, [0, np.inf] * 6, ("Input y contains infinity",)),
    (X, X[:, 0], ("row 0",)),
    (X, [{1}, {2}] * 6, ("strings, integers",)),
    (X, Y + 1j, ("data not supported",)),
]


@pytest.mark.parametrize(("covariates", "labels", "facts"), BAD)
def test_bad_input_is_refused(covariates, labels, facts):
    model = build_quick_model()
    made = {**vars(model)}
    with refused(DataError, *facts) as failure:
        model.fit(covariates, labels)
    assert isinstance(failure.value, ThaliError) and len(str(failure.value)) < 300
    assert vars(model) == made


def test_sparse_matrices_are_refused():
    from scipy.sparse import csr_matrix

    with refused(DataError, "one, which takes"):
        build_plackett_luce().fit(csr_matrix(X), Y)
    with refused(DataError, "which takes 80 GB; pass"):
        build_plackett_luce().fit(csr_matrix((10**6, 10**4)), np.arange(10**6) % 2)


def test_a_class_with_one_member_causes_a_warning():
    with warned(DataWarning, "'c'", "'d'") as said:
        build_quick_model().fit(X, ["a", "b"] * 5 + ["c", "d"])
    assert said[0].filename == __file__


def test_a_column_of_labels_is_accepted_with_a_warning():
    with pytest.warns(DataConversionWarning, match=r"column-vector y .* pass y.ravel\(\)") as said:
        model = build_quick_model().fit(X, Y[:, None])
    assert isinstance(said[0].message, DataWarning) and said[0].filename == __file__
    assert (model.predict(X) == build_quick_model().fit(X, Y).predict(X)).all()


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", "a"] * 6, ["a", "b"]),
        (np.array(["b", "a"] * 6, dtype=object), ["a", "b"]),
        (pd.Series(["b", "a"] * 6, index=range(5, 17)), ["a", "b"]),
        (pd.Categorical(["b", "a"] * 6, categories=["b", "a", "none"]), ["a", "b"]),
        ([True, False] * 6, [False, True]),
        ([7, -3] * 6, [-3, 7]),
        ([1.0, 2.0] * 6, [1.0, 2.0]),
        (np.array([7, -3] * 6, dtype=object), [-3, 7]),
        (pd.array([7, -3] * 6, "Int64"), [-3, 7]),
    ],
)
def test_labels_of_any_kind_come_back(labels, classes):
    model = build_quick_model().fit(np.array([[0.0], [1.0]] * 6), labels)
    assert model.classes_.tolist() == classes
    predicted = model.predict([[0.0], [1.0]])
    assert predicted.tolist() == list(
        labels[:2] if not isinstance(labels, pd.Series) else labels.iloc[:2]
    )
    assert model.score([[0.0], [1.0]] * 6, labels) == 1.0


def test_covariates_of_any_kind_are_the_same():
    expected = build_quick_model().fit(X, Y).predict_proba(X)
    for given in (X.tolist(), FRAME, np.asfortranarray(X), X.astype(object), FRAME.astype(object)):
        assert (build_quick_model().fit(given, Y).predict_proba(given) == expected).all()
    mixed = pd.DataFrame({"a": X[:, 0] > 0, "b": np.arange(12), "c": X[:, 1].astype("float32")})
    assert build_quick_model().fit(mixed, Y).n_features_in_ == 3


def test_warnings_of_every_model_name_the_line_that_fits():
    for model in (
        build_sparse_logit(),
        build_plackett_luce(),
        build_plackett_luce(method="map", a=1.1),
        build_plackett_luce(method="variational"),
    ):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(FRAME, ["a"] * 6 + ["b"] * 5 + ["c"])
        assert any("single row" in str(w.message) for w in said)
        assert {w.filename for w in said} == {__file__}, model


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_prediction_requires_the_columns_of_the_fit(method):
    predict = getattr(build_quick_model().fit(FRAME, Y), method)
    predict(FRAME)
    with refused(DataError, "Feature names must"):
        predict(FRAME[["height", "width"]])
    with refused(DataError, "depth\nFeature names"):
        predict(FRAME.rename(columns={"height": "depth"}))
    with refused(DataError, "yet now missing:\n- height"):
        predict(FRAME[["width"]])
    with refused(DataError, "3 features", "2 features"):
        build_quick_model().fit(X, Y).predict(np.hstack([X, X[:, :1]]))
    with refused(DataError, "X is NaN in row 0"):
        predict(FRAME * np.nan)
    with warned(DataWarning, "feature_names_in_") as said:
        predict(X)
    assert said[0].filename == __file__


def test_results_before_fit_are_refused():
    for model in (build_quick_model(), build_sparse_logit(), build_plackett_luce()):
        with refused(NotFittedError, "fitted yet; call") as failure:
            model.predict(X)
        assert isinstance(failure.value, SklearnNotFittedError)
        assert type(pickle.loads(pickle.dumps(failure.value))) is NotFittedError


def test_a_failed_fit_deletes_the_previous_fit():
    model = build_quick_model()
    made = vars(model).keys()
    with pytest.raises(DataError):
        model.fit(FRAME, Y).fit(FRAME * np.nan, Y)
    assert vars(model).keys() == made


def test_score_is_the_share_of_right_labels():
    model = build_quick_model().fit(X, Y)
    right = model.predict(X) == Y
    assert model.score(X, Y) == right.mean() and model.score(X, Y.tolist()) == right.mean()
    weight = np.arange(12)
    assert model.score(X, Y, sample_weight=weight) == pytest.approx(
        (right * weight).sum() / weight.sum()
    )
    with refused(DataError, "12 rows but y has shape (3,)"):
        model.score(X, Y[:3])


@pytest.mark.long
def test_scikit_learn_is_not_needed():
    code = (
        "import sys, numpy as np\n"
        "sys.modules['sklearn'] = None\n"
        "import thali\n"
        "model = thali.SparseMultinomialLogit(draws=5, tune=5, chains=1)\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "try: model.predict([[1.0]])\n"
        "except thali.errors.NotFittedError: pass\n"
        "model.fit([[0.0], [1.0], [2.0], [3.0]], ['a', 'b', 'a', 'b'])\n"
        "assert model.predict([[1.0]])[0] in 'ab'\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.first(1)
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    "small, grid",
    [
        (build_sparse_logit, {"eta": [0.5, 500.0], "method": ["polya-gamma", "auto"]}),
        (build_plackett_luce, {"a": [0.05, 50.0], "method": ["gibbs", "map", "variational"]}),
    ],
    ids=["SparseMultinomialLogit", "PlackettLuceRegression"],
)
def test_pipelines_searches_and_copies(small, grid):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    labels = np.where(frame["a"] + 0.3 * rng.normal(size=60) > 0, "yes", "no")
    pipeline = make_pipeline(StandardScaler(), small(standardize=False))
    assert cross_val_score(pipeline, frame, labels, cv=3).mean() > 0.7
    assert cross_val_score(small(), frame, labels, cv=3, scoring="neg_log_loss").mean() > -0.6
    search = GridSearchCV(small(), grid, cv=3, error_score="raise").fit(frame, labels)
    name, values = next(iter(grid.items()))
    assert is_classifier(search.best_estimator_) and search.best_params_[name] == values[0]
    model = small(**{name: 3.0}, random_state=2)
    twin = clone(model)
    assert twin is not model and twin.get_params() == model.get_params()
    assert not hasattr(clone(model.fit(frame, labels)), "classes_")
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.get_params() == model.get_params()
        assert (other.predict_proba(frame) == model.predict_proba(frame)).all()


CHECKED = {
    "maximum of the logit": th.SparseMultinomialLogit(method="map", eta=1.0),
    "map": build_plackett_luce(method="map", a=1.1),
    "SparseMultinomialLogit": build_sparse_logit(),
    "gibbs": build_plackett_luce(),
    "maximum likelihood": build_plackett_luce(method="map", a=1.0),
    "variational": build_plackett_luce(method="variational"),
    "variational normal": build_sparse_logit(method="variational"),
    "auto": build_sparse_logit(method="auto"),
    "laplace": build_sparse_logit(method="laplace"),
}


@pytest.mark.long
@pytest.mark.first(2)
@pytest.mark.parametrize("name", CHECKED)
def test_checks_of_scikit_learn(name):
    model, failures, passed = CHECKED[name], {}, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator, check in estimator_checks_generator(model):
            name = check.func.__name__
            if name in CANNOT_APPLY:
                continue
            try:
                check(estimator)
                passed += 1
            except Exception as failure:
                failures[name] = failure
    assert not failures and passed > 50
