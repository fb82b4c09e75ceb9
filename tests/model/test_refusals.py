"""What every model refuses: arguments that are none, data of another kind, questions before its
fit."""

import inspect
import math

import pytest
from helpers import watched_runs
from helpers.sentences import refused
from helpers.tiny_models import TINY, fitted, of_models

from thali._model.registry import SPECS
from thali.errors import ArgumentError, DataError, NotFittedError, ThaliError

pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")


class Nothing:
    """What is no value of any argument."""

    def __repr__(self):
        return "object()"


MODELS = {spec.name: TINY[spec.name] for spec in SPECS}
DATA = {
    "comparisons": "bradley-terry-luce",
    "similarities": "additive-clustering",
    "triplets": "additive-clustering, triplets",
    "an experiment": "multinomial-logit",
}
NONSENSE = (Nothing(), "nonsense", -1.5, 2.5, 0, True, math.nan, math.inf, 1e300)
ANYTHING = {"multinomial-logit": {"random_seed"}}  # which draws nothing
REAL = set("alpha a b eta shape rate spread sigma max_time penalty".split())
TAKEN = {  # values that are none elsewhere
    0: {"lapse", "tune", "tempering", "random_seed", "random_state"},
    True: {"constants"},
    2.5: REAL,
    1e300: REAL,
}
SWITCHES = {"unique", "constant", "standardize", "fit_intercept"}
# in sentences that both have
CALLED = {"aspects": "aspects|features", "features": "aspects|features"}


def arguments_of(name):
    """The arguments of a model and of its fit, but for the data and what takes anything."""
    model = MODELS[name].model()
    every = {*model.get_params(), *inspect.signature(model.fit).parameters}
    return sorted(
        every - {"data", "X", "y", "progressbar", "job", "covariates"} - ANYTHING.get(name, set())
    )


def fit_with(tiny, argument, value):
    """Fit a model with that value of an argument of its constructor or of its fit."""
    model = tiny.model()
    if argument not in model.get_params():
        return tiny.fit(model, **{argument: value})
    return tiny.fit(type(model)(**(model.get_params() | {argument: value})))


@pytest.mark.parametrize(
    ("name", "argument"), [(name, each) for name in MODELS for each in arguments_of(name)]
)
def test_nonsense_is_refused_by_the_name_of_the_argument_before_any_sweep(
    name, argument, monkeypatch
):
    watched_runs.forbid_sweeps(monkeypatch)
    with refused((ArgumentError, DataError)):
        fit_with(MODELS[name], argument, NONSENSE[0])
    for value in NONSENSE:
        if argument in TAKEN.get(value, ()) or (argument in SWITCHES and value in (0, 1)):
            continue
        with pytest.raises((ArgumentError, DataError), match=CALLED.get(argument, argument)):
            fit_with(MODELS[name], argument, value)


@pytest.mark.parametrize("name", MODELS)
def test_data_of_another_kind_are_refused_in_a_sentence(name):
    kinds = next(spec.data for spec in SPECS if spec.name == name)
    for row in DATA.values():
        data = TINY[row].data()
        if len(data) == len(MODELS[name].data()) and getattr(data[0], "kind", None) not in kinds:
            with refused(DataError) as error:
                MODELS[name].model().fit(*data)
            assert any(
                each in str(error.value) for each in (f"got {type(data[0]).__name__}", "group")
            ), error.value


NO_ANSWERS = """
fit prepare from_embedding sample_prior get_params set_params report holdouts coefficient_path get_metadata_routing
set_fit_request set_score_request
""".split()
# look at it
AFTER_DATA = {"elimination-by-aspects, maximum likelihood": ("log_predictive",)}


def ask_without_data(model, name):
    """Ask for a result, with None for every argument that has no default."""
    wanted = inspect.signature(getattr(model, name)).parameters.values()
    given = [
        None for one in wanted if one.default is one.empty and one.kind == one.POSITIONAL_OR_KEYWORD
    ]
    return getattr(model, name)(*given)


@pytest.mark.parametrize("name", TINY)
def test_before_the_fit_there_is_no_answer(name):
    model = TINY[name].model()
    with refused(NotFittedError, "has not been"):
        TINY[name].predict(model)
    for each in dir(type(model)):
        if each.startswith("_") or each in NO_ANSWERS or each in AFTER_DATA.get(name, ()):
            continue
        if not callable(getattr(type(model), each)):
            assert each in ("_interrupted_",) or not hasattr(model, each), each
            continue
        with pytest.raises(NotFittedError, match="been fitted"):
            ask_without_data(model, each)


CONFIGURE = set(
    "prepare from_embedding get_params set_params get_metadata_routing set_fit_request set_score_request".split()
)


def public(names):
    return {name for name in names if not name.startswith("_")}


@pytest.mark.fit
@of_models(TINY)
def test_a_fit_shows_at_most_30_names_and_hides_only_what_it_cannot_answer(name):
    model = fitted(name)
    shown = public(dir(model))
    assert len(shown) <= 30, sorted(shown)
    for each in public(dir(type(model))) - shown - CONFIGURE:
        with pytest.raises(ThaliError, match="require|prior|fitted|fit |no respondent|one group"):
            ask_without_data(model, each)


def test_bad_covariates_and_job_folders_are_refused():
    tiny = MODELS["elimination-by-aspects"]
    with refused(DataError, "3"):
        fit_with(tiny, "covariates", 3)
    with refused(ArgumentError, "job", "3"):
        fit_with(tiny, "job", 3)
