"""What holds of every model of thali, whatever it is a model of: one table of models, one of
checks."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from helpers import watched_runs
from helpers.compiled_code import compile_by
from helpers.pages import Page, notebook
from helpers.sentences import refused
from helpers.tiny_models import TINY, fitted, of_models

import thali as th
from thali._data.kinds import CHOICES, CLASSES, EXPERIMENTS, PAIRS, SIMILARITIES, TRIPLETS
from thali._inference.threads_and_processes import SlicedWork
from thali._model.registry import SPECS
from thali.errors import ArgumentError, DataError, InterruptedWarning

pytestmark = [
    pytest.mark.fit,
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("few_replicates"),
]

COLUMNS = ["mean", "sd", "low", "high", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"]
NAMES = list(TINY)
SPEC_OF = {name: spec for name in NAMES for spec in SPECS if spec.name == name.partition(",")[0]}
DRAWN = [name for name in NAMES if TINY[name].has_chains]

PAIR_GROUPS, BEST_AND_WORST = "pair groups", "best and worst"
SIZE_OF = {  # of the data of `TINY`
    PAIRS: "3 options, 3 pairs, 13 comparisons",
    PAIR_GROUPS: "2 groups (women: 13 comparisons, men: 12 comparisons), 3 options",
    BEST_AND_WORST: "4 options, 4 sets of 3 options, 4 answers (a best and a worst option each)",
    CHOICES: "3 options, 3 sets of 2 to 3 options, 8 choices",
    SIMILARITIES: "4 objects, 6 similarities",
    TRIPLETS: "4 objects, 4 sets of 3 pairs, 5 answers",
    EXPERIMENTS: "6 respondents, 24 tasks of 3 alternatives",
    CLASSES: "20 rows, 2 covariates, 2 classes",
    "individuals": "3 options, 3 pairs, 13 comparisons, 4 respondents",
    "aged individuals": "3 options, 3 pairs, 12 comparisons, 4 respondents",
    "best and worst individuals": "4 options, 1 set of 4 options, 6 answers (a best and a worst option each), 3"
    " respondents",
}
_KINDS = {  # by the end of a row's name
    "triplets": TRIPLETS,
    "groups": PAIR_GROUPS,
    "best and worst": BEST_AND_WORST,
    "individuals": "individuals",
    "aged individuals": "aged individuals",
    "choices": CHOICES,
    "best and worst individuals": "best and worst individuals",
}


def draws_of(model):
    """Every variable of the posterior that has draws."""
    posterior = model.posterior_["posterior"].dataset
    return {
        name: values.values for name, values in posterior.data_vars.items() if "draw" in values.dims
    }


def same(a, b):
    return a.keys() == b.keys() and all(
        np.array_equal(a[k], b[k], equal_nan=a[k].dtype.kind == "f") for k in a
    )


def test_every_model_has_a_row():
    assert {spec.name for spec in SPEC_OF.values()} == {spec.name for spec in SPECS}
    assert set(SPEC_OF) == set(NAMES)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_every_method_of_the_spec_has_an_engine(spec):
    model = spec.load()
    assert tuple(model._ENGINES) == (spec.methods or ("",))


@of_models(NAMES)
def test_a_method_leaves_what_its_engine_says(name):
    model = fitted(name)
    assert hasattr(model, "posterior_") == TINY[name].has_chains


@pytest.mark.first(5)
@of_models(NAMES, is_shared=True)
def test_fit_returns_the_model(name):
    model = TINY[name].model()
    assert TINY[name].fit(model) is model


@of_models(DRAWN)
def test_the_summary_has_the_columns_of_arviz(name):
    summary = fitted(name).summary()
    assert list(summary.columns) == COLUMNS
    assert len(summary) and summary["mean"].notna().all()


@of_models(DRAWN)
def test_the_convergence_check_says_whether_chains_agree(name):
    convergence = fitted(name).convergence()
    assert isinstance(convergence.agrees, bool) and bool(convergence) == convergence.agrees
    assert "\n" not in str(convergence) and len(str(convergence)) > 20


@of_models(NAMES)
def test_print_and_notebooks_say_what_was_fitted_to_what_and_how_well(name):
    fresh, model = TINY[name].model(), fitted(name)
    assert str(fresh) == repr(fresh)
    page = Page(notebook(fresh))
    assert not page.faults and page.text == f"{fresh!r}Not fitted yet."
    page, lines = Page(notebook(model)), str(model).splitlines()
    call = repr(type(model)(**model.get_params()))
    is_classifier = hasattr(model, "classes_")  # whose representation is that of scikit-learn
    assert repr(model.convergence()) == str(model.convergence())
    assert not page.faults and 3 <= len(lines) <= 6
    assert lines[0] == call and lines[-1] == str(model.convergence())
    kind = _KINDS.get(name.rpartition(", ")[2], SPEC_OF[name].data[0])
    size = SIZE_OF[kind]
    size += dict(
        covariates=", 1 covariate", people=", 4 respondents", classes=", 4 respondents"
    ).get(name.rpartition(", ")[2], "")
    told = [call, size, str(model.convergence())]
    assert all(each in shown for each in told for shown in (page.text, str(model)))
    assert repr(model) == (call if is_classifier else f"<{call} fitted to {size}>")
    assert ("thali-good" in page.classes) == model.convergence().good
    assert ("2 chains of" in str(model)) == TINY[name].has_chains


@pytest.mark.first(1)
@of_models(DRAWN)
def test_a_loaded_model_is_not_compiled_again(name, tmp_path, monkeypatch):
    model = fitted(name)
    TINY[name].predict(model)
    model.save(tmp_path / "model.nc")
    compiled = []
    compile_by(
        monkeypatch,
        lambda compile_it, self, types: compiled.append(self) or compile_it(self, types),
    )
    again = th.load(tmp_path / "model.nc")
    TINY[name].predict(again)
    again.continue_fit(1, progressbar=False)
    assert [each.py_func.__qualname__ for each in compiled] == []


@pytest.mark.first(3, "hierarchical-logit", "latent-class-logit, columns of people")
@of_models(NAMES, is_shared=True)
def test_a_saved_model_answers_as_before(name, tmp_path):
    model = fitted(name)
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc")
    assert type(again) is type(model) and repr(again) == repr(model) and str(again) == str(model)
    assert again.summary().equals(model.summary())
    np.testing.assert_array_equal(TINY[name].predict(again), TINY[name].predict(model))


@pytest.mark.long
@of_models(
    [n for n in NAMES if hasattr(m := TINY[n].model(), "tempering") and m._engine.has_evidence]
)
def test_log_evidence_is_equal_after_loading(name, tmp_path):
    how = {"draws": 10, "tune": 5, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
    if name == "additive-clustering":  # whose sigma is known
        model = th.AdditiveClustering(sigma=0.1).fit(*TINY[name].data(), **TINY[name].run)
    else:
        model = fitted(name)
    found = model.log_evidence(**how)
    model.save(tmp_path / "model.nc")
    again = th.load(tmp_path / "model.nc").log_evidence(cores=1, **how)
    assert np.isfinite(found.value)
    assert again.value == found.value


def test_product_classes_have_evidence_only_where_the_fit_estimates_it():
    with refused(ArgumentError, "did not estimate"):
        fitted("product-classes").log_evidence()


@of_models(NAMES, is_shared=True)
def test_a_pickled_model_answers_as_before(name):
    again = pickle.loads(pickle.dumps(fitted(name)))
    assert again.summary().equals(fitted(name).summary())
    np.testing.assert_array_equal(TINY[name].predict(again), TINY[name].predict(fitted(name)))


@of_models(DRAWN, is_shared=True)
def test_the_same_seed_gives_the_same_draws_on_any_number_of_cores(name):
    one, two = (draws_of(TINY[name].build_fitted(cores=cores)) for cores in (1, 2))
    assert same(one, draws_of(fitted(name))) and same(one, two)
    assert not same(one, draws_of(TINY[name].build_fitted(random_seed=2)))


@of_models(DRAWN, is_shared=True)
def test_an_interrupted_fit_keeps_whole_sweeps(name, monkeypatch):
    """Ctrl-C comes when four fifths of the sweeps are done; whatever runs then takes its time to
    end."""
    run_slice, lock = SlicedWork.run_slice, threading.Lock()
    sliced, pressed = [0], [None]

    def counted(chain):
        run_slice(chain)
        with lock:
            sliced[0] += 1
            is_time = sliced[0] == pressed[0]
        if is_time:
            os.kill(os.getpid(), signal.SIGINT)
        if pressed[0] and sliced[0] >= pressed[0]:
            time.sleep(0.05)

    watched_runs.cut_slices(monkeypatch)  # a sweep a slice
    run_slice = watched_runs.run_slices_by(monkeypatch, counted)
    whole = draws_of(TINY[name].build_fitted(cores=1))
    sliced[0], pressed[0] = 0, int(0.8 * sliced[0])
    with pytest.warns(InterruptedWarning):
        model = TINY[name].build_fitted(cores=1)
    part = draws_of(model)
    count = next(iter(part.values())).shape[1]
    assert 0 < count < next(iter(whole.values())).shape[1]
    if TINY[name].keeps_beginning:  # features are as many as the draws that are kept need
        kept = {k: v[:, :count, ...] for k, v in whole.items() if v.shape[2:] == part[k].shape[2:]}
        assert kept and same({k: part[k] for k in kept}, kept)
    assert len(model.summary())


@of_models(NAMES, is_shared=True)
def test_bad_data_are_refused_before_any_sweep(name, monkeypatch):
    watched_runs.forbid_sweeps(monkeypatch)
    with pytest.raises(DataError) as error:
        TINY[name].fit(TINY[name].model(), TINY[name].bad_data)
    assert "\n" not in str(error.value)


@of_models(NAMES)
def test_arguments_are_kept_as_scikit_learn_keeps_them(name):
    sklearn_base = pytest.importorskip("sklearn.base")
    model = fitted(name)
    copy = sklearn_base.clone(model)
    assert repr(copy) == repr(type(model)(**model.get_params())) and not hasattr(copy, "posterior_")
    assert copy.set_params(**model.get_params()) is copy
    assert copy.get_params().keys() == model.get_params().keys()
    with pytest.raises(ArgumentError, match="no parameter `no_such`"):
        copy.set_params(no_such=1)


@of_models(NAMES)
def test_the_repr_makes_the_model_again(name):
    model = TINY[name].model()
    names = {
        name: getattr(home, name)
        for home in (th, th.priors, th.likelihoods, th.people)
        for name in dir(home)
    }
    assert repr(eval(repr(model), names)) == repr(model)


@of_models([name for name in NAMES if not TINY[name].has_chains])
def test_estimates_are_compared_by_what_they_predict(name):
    table = th.compare(
        {"it": TINY[name].model()}, *TINY[name].data(), random_seed=1, cores=1, progressbar=False
    )
    assert list(table.index)[:2] == ["BASE", "it"] and np.isfinite(table.loc["it"].iloc[0])


@pytest.mark.first(1)
@of_models([name for name in NAMES if TINY[name].pictures], is_shared=True)
def test_the_pictures_of_a_model_draw_it(name):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pictures = [each.picture.name for each in fitted(name).findings() if each.picture]
    assert set(TINY[name].pictures) <= set(pictures)
    for picture in pictures:
        drawn = fitted(name).plot(picture)
        assert all(ax.has_data() or ax.texts for ax in np.atleast_1d(drawn)), picture
        pyplot.close("all")


def levels_of(name):
    """The levels of each attribute of the data of a model."""
    (data,) = TINY[name].data()
    return {name: list(levels) for name, levels in data.scheme.levels.items()}


@pytest.mark.first(2)
@of_models([name for name in NAMES if SPEC_OF[name].data == (EXPERIMENTS,)])
def test_models_of_choice_experiments_answer_alike(name):
    model = fitted(name)
    levels = levels_of(name)
    market = pd.DataFrame(
        {"product": ["A", "B"], **{key: [own[0], own[-1]] for key, own in levels.items()}}
    )
    table = model.market_shares(
        market, change={"price": levels["price"][0]}, people=["p0", "p2"], ci=0.5
    )
    assert (
        table["share"].sum() == pytest.approx(1.0)
        and (table["share_low"] <= table["share_high"]).all()
    )
    assert model.market_shares(market, people="new")["share"].sum() == pytest.approx(1.0)
    assert len(model.demand("price", "A", levels["price"], market)) == len(levels["price"])
    importance = model.attribute_importance()
    assert importance["importance"].between(0, 1).all() and importance[
        "range_share"
    ].sum() == pytest.approx(1.0)
    assert model.level_effects(ci=0.95)[["low", "effect", "high"]].stack().between(0, 1).all()
    assert set(model.willingness_to_pay("price")["attribute"]) == {"brand", "zoom"}
    assert model.findings()["market"].widget


@of_models(
    [name for name in NAMES if SPEC_OF[name].data == (EXPERIMENTS,) and "multinomial" not in name]
)
def test_models_that_know_their_respondents_group_them_alike(name):
    model = fitted(name)
    found = model.respondents.segments()
    assert (
        len(found)
        == found.by_number["stability"].index[found.by_number["stability"] == found.stability][0]
    )
    assert (
        found.sizes["share"].sum() == pytest.approx(1.0) and found.sizes["respondents"].sum() == 6
    )
    assert list(found.assignment.index) == [f"p{person}" for person in range(6)]
    assert len(found.profiles) == len(found) * sum(map(len, levels_of(name).values()))
    by_attribute = found.profiles.groupby(["segment", "attribute"])["preferred"].mean()
    assert by_attribute.to_numpy() == pytest.approx(0.5)  # what one level gains another one loses
