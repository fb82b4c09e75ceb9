"""ProductClasses: its arguments, what it refuses, its posterior, saved and loaded."""

import re
import warnings
from copy import deepcopy
from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers.product_class_fits import (
    ATTRIBUTES,
    MONOTONE,
    drawn,
    engine_result,
    experiment,
    fitted,
    hold,
)
from helpers.sentences import refused, said

import thali
from thali._choice.logit_likelihood import parse_directions
from thali._inference.markov_chains import Run
from thali.errors import ArgumentError, DataError

RUN = ("draws", "tune", "chains", "thin", "sweeps_per_step")
BAD_ARGUMENTS = [
    ({"lapse": 1.0}, r"must be in \[0, 1\); got 1.0"),
    (
        {"sweeps_per_step": 5},
        r"`sweeps_per_step` requires `method='smc'`; got `method='mcmc'`\. Remove `sweeps",
    ),
    ({"method": "smc", "chains": 1}, "`chains=1` is a single group; use at least"),
    ({"method": "smc", "draws": 1}, "`draws` must be an integer >= 2; got 1"),
    (
        {"method": "smc", "tune": 5},
        r"`tune` requires `method='mcmc'`; got `method='smc'`\. Remove `tune`",
    ),
    ({"method": "smc", "thin": 5}, "`thin` requires `method='mcmc'`"),
]


@pytest.mark.parametrize(("arguments", "messages"), BAD_ARGUMENTS)
def test_bad_arguments_are_refused_before_anything_runs(arguments, messages):
    run = {name: value for name, value in arguments.items() if name in RUN}
    model = thali.ProductClasses(
        **{name: value for name, value in arguments.items() if name not in RUN}
    )
    # as scikit-learn has it, not by the constructor
    with pytest.raises(ArgumentError, match=messages) as error:
        model.fit(experiment(), progressbar=False, **run)
    assert str(error.value).count(". ") <= 1


BAD_MONOTONE = [
    ({"prize": "decreasing"}, "no attribute 'prize'.*Did you mean 'price'"),
    ({"price": "down"}, "must be 'increasing' or 'decreasing'; got 'down'"),
    (
        [("price", "decreasing"), ("price", "increasing")],
        "'price' is given as both increasing and decreasing",
    ),
    ({"price": ["increasing", "decreasing"]}, "direction of 'price'"),
]


@pytest.mark.parametrize(("monotone", "messages"), BAD_MONOTONE)
def test_bad_directions_are_refused(monotone, messages):
    with pytest.raises(ArgumentError, match=messages):
        thali.ProductClasses(monotone).fit(experiment(), progressbar=False)


def test_levels_without_an_order_cannot_be_monotone():
    frame = experiment().to_frame().astype({"zoom": str})
    data = thali.ChoiceExperiment.from_frame(
        frame, levels={k: v for k, v in ATTRIBUTES.items() if k != "zoom"}
    )
    with refused(ArgumentError, "'zoom'", "'no'", "'yes'"):
        thali.ProductClasses({"zoom": "increasing"}).fit(data, progressbar=False)
    assert parse_directions("monotone", [("price", "decreasing")], data) == {"price": "decreasing"}
    with refused(ArgumentError, "levels of 'inside'"):
        parse_directions("monotone", {"inside": "increasing"}, experiment(none=True))


# dominated choices --------------------------------------------------------------------------------


def build_experiment(rows, **options):
    frame = pd.DataFrame(rows, columns=["id", "task", "alt", "choice", "price", "brand", "zoom"])
    levels = {"price": [1, 2, 3], "brand": ["A", "B"], "zoom": [0, 1]}
    return thali.ChoiceExperiment.from_frame(frame, levels=levels, **options)


def dominated(data, monotone):
    """What a model without lapse says of choices that only a lapse explains."""
    model = thali.ProductClasses(monotone, lapse=0.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(
            data, draws=2, tune=1, thin=1, chains=1, cores=1, random_seed=1, progressbar=False
        )
    return [str(each.message) for each in caught if "lapse=0.02" in str(each.message)]


def test_dominated_choices_are_found():
    data = build_experiment(
        [
            ("ann", "t1", "a", 1, 2, "A", 1),  # dearer, else the same
            ("ann", "t1", "b", 0, 1, "A", 1),
            ("ann", "t2", "a", 1, 2, "A", 1),  # dearer, but another brand
            ("ann", "t2", "b", 0, 1, "B", 1),
            ("bob", "t1", "a", 1, 2, "A", 1),  # dearer, but it has a zoom
            ("bob", "t1", "b", 0, 1, "A", 0),
            ("bob", "t2", "a", 0, 1, "B", 1),
            ("bob", "t2", "b", 1, 2, "B", 0),  # dearer and without a zoom
            ("bob", "t3", "a", 1, 2, "A", 1),  # identical
            ("bob", "t3", "b", 0, 2, "A", 1),
        ]
    )
    monotone = {"price": "decreasing", "zoom": "increasing"}
    (sentence,) = dominated(data, monotone)
    said(sentence, "task 't1'", "respondent 'ann'", "task 't2'", "respondent 'bob'")
    assert "'t3'" not in sentence and sentence.endswith("set `lapse=0.02`.")
    assert dominated(data, {"price": "increasing"}) == dominated(data, {}) == []


def test_what_lacks_an_attribute_neither_dominates_nor_is_dominated():
    rows = [
        ("ann", "t1", "a", 1, 2, "A", 1),
        ("ann", "t1", "b", 0, 1, "A", 1),
        ("ann", "t1", "none", 0, 1, "A", 0),
        ("ann", "t2", "a", 0, 1, "B", 1),
        ("ann", "t2", "b", 0, 2, "B", 0),
        ("ann", "t2", "none", 1, 1, "A", 0),
    ]
    (sentence,) = dominated(build_experiment(rows, none="none"), {"price": "decreasing"})
    assert "'t1'" in sentence and "'t2'" not in sentence


def test_dominated_choices_are_named_before_the_run_only_without_lapse():
    data = build_experiment(
        [("ann", "t1", "a", 1, 2, "A", 1), ("ann", "t1", "b", 0, 1, "A", 1)] + _filler()
    )
    for lapse, messages in ((0.0, 1), (0.02, 0)):
        model = thali.ProductClasses({"price": "decreasing"}, lapse=lapse)
        assert len(model._list_data_remarks(data, model._check_fit(data))) == messages


def _filler():
    """A task in which all levels occur."""
    return [("ann", "t9", "a", 1, 1, "A", 0), ("ann", "t9", "b", 0, 3, "B", 1)]


# the posterior ------------------------------------------------------------------------------------


def test_the_tree_holds_what_was_promised():
    model = fitted(draws=7, groups=3)
    draws, _ = drawn(draws=7, groups=3)
    posterior = model.posterior_["posterior"]
    assert (posterior.sizes["chain"], posterior.sizes["draw"]) == (3, 7)
    assert set(posterior.data_vars) == {
        "share",
        "effect",
        "n_classes",
        "classes_per_person",
        "value_shape",
        "stability",
        "alpha",
        "log_likelihood",
    }
    np.testing.assert_array_equal(posterior["value_shape"].values.ravel(), draws.a)
    np.testing.assert_array_equal(posterior["n_classes"].values.ravel(), np.diff(draws.first_class))
    per_person = np.diff(draws.first_owned[::8]) / 8
    np.testing.assert_allclose(posterior["classes_per_person"].values.ravel(), per_person)
    evidence = model.log_evidence()
    assert (evidence.value, evidence.standard_error, evidence.convergence.facts["sd"]) == (
        -90.0,
        0.4,
        0.8,
    )


@pytest.mark.long
def test_the_summary_has_what_is_reported():
    """Shares and level effects, which `level_effects` and predictions give, too, by other random
    numbers."""
    model = fitted(draws=400)
    summary, design = model.summary(), drawn()[1]
    effects = model.level_effects().set_index(["attribute", "level", "over"])["effect"]
    for name in summary.index[summary.index.str.startswith("effect")]:
        attribute, level, other = re.fullmatch(r"effect\[(.*): (.*) over (.*)\]", name).groups()
        assert summary["mean"][name] == pytest.approx(effects[attribute, level, other], abs=0.02)
    p = model.predict_proba(experiment())
    for name in summary.index[summary.index.str.startswith("share")]:
        attribute, level = name[6:-1].split("=")
        place = design.attributes.index(attribute)
        has = design.products[design.row_product, place] == design.scheme.levels[attribute].index(
            level
        )
        assert summary["mean"][name] == pytest.approx(p[has].sum() / len(design.chosen), abs=0.01)
    assert len(summary) == 2 * sum(len(levels) - 1 for levels in design.scheme.levels.values())


@pytest.mark.long
def test_the_convergence_check_names_arguments_that_there_are():
    convergence = fitted(draws=50).convergence()
    sentence = str(convergence)
    assert not convergence.agrees and "draws=" in sentence and "tune" not in sentence
    data = experiment()
    model = hold(thali.ProductClasses(MONOTONE), engine_result(data, draws=200), data)
    model.posterior_["posterior"]["share"].values[0] += 0.5
    convergence = model.convergence()
    sentence = str(convergence)
    assert (
        "average over the chains" in sentence
        and "chains=16" in sentence
        and "plot('trace')" not in sentence
    )
    assert not convergence.agrees


# what a fit can learn nothing from, or cannot end in time -----------------------------------------


def one_task():
    return build_experiment([("ann", "t9", "a", 1, 1, "A", 0), ("ann", "t9", "b", 0, 3, "B", 1)])


def identical_products():
    return build_experiment(
        [("ann", f"t{t}", "ab"[j], int(j == 0), 1 + t, "A", 0) for t in range(3) for j in range(2)]
    )


@pytest.mark.parametrize("method", ["mcmc", "smc"])
@pytest.mark.parametrize(
    ("data", "messages"),
    [(one_task, ("got one",)), (identical_products, ("alternatives of each",))],
)
def test_data_that_say_nothing_are_refused_before_the_run(data, messages, method):
    for ask in (
        thali.ProductClasses(method=method).fit,
        thali.ProductClasses(method=method).prepare,
    ):
        with refused(DataError, *messages):
            ask(data())


def test_an_evidence_that_takes_too_long_is_refused_before_the_run():
    """Of 100 respondents; fewer particles, or more time, make it possible."""
    made = thali.datasets.product_choices(100, 12, random_seed=1)
    with refused(ArgumentError, "method='mcmc'", "max_time"):
        thali.ProductClasses(made.monotone, method="smc").fit(made.data)
    small = thali.datasets.product_choices(10, 12, random_seed=1).data
    for data, run in (
        (small, {}),
        (made.data, {"max_time": 9000.0}),
        (made.data, {"draws": 4, "chains": 2}),
    ):
        model = thali.ProductClasses(method="smc")
        how = {"draws": None, "chains": None, "max_time": None} | run
        engine = model._engine
        asked = engine.check_run(
            Run(
                how["draws"] or engine.default_draws,
                0,
                how["chains"] or engine.default_chains,
                random_seed=1,
                progressbar=False,
                max_time=how["max_time"],
            )
        )
        problem = model._build_problem(data)
        assert engine.build_job(model, data, asked, problem, 80, []).forecast.least > 1.0


# the convergence check ----------------------------------------------------------------------------


@cache
def four_chains():
    """A model of four chains of 400 draws from the prior."""
    data = experiment()
    return hold(thali.ProductClasses(MONOTONE), engine_result(data, draws=400, groups=4), data)


def build_model_with_chains(log_likelihood=0.0, a=0.0, share=0.0):
    """Such a model, to which something is added in its posterior."""
    model = deepcopy(four_chains())
    posterior = model.posterior_["posterior"]
    posterior["log_likelihood"].values[:] += log_likelihood
    posterior["value_shape"].values[:] += a
    posterior["share"].values[:] += share
    return model


def test_chains_that_climb_are_told_from_chains_that_differ():
    """By the rise of the log-likelihood from the third to the last quarter, which longer annealing
    helps."""
    apart = np.array([0.0, 0.1, 0.2, 0.3])[:, None, None]
    rise = np.linspace(0.0, 80.0, 400) + np.array([0.0, 1.0, 2.0, 3.0])[:, None]
    climbing, differing = (
        build_model_with_chains(rise, share=apart).convergence(),
        build_model_with_chains(share=apart).convergence(),
    )
    assert not climbing.agrees and climbing.facts["climb"] == pytest.approx(20.0, abs=1.0)
    assert "are still climbing" in str(climbing)
    assert [str(each) for each in climbing.remedies] == ["`tune=400`"]
    assert "climb" not in differing.facts
    assert "do not agree yet" in str(differing)
    noise = build_model_with_chains(
        np.linspace(0.0, 80.0, 400) * np.array([1.0, -1.0, 2.0, -1.0])[:, None], share=apart
    )
    assert "climb" not in noise.convergence().facts  # some chains rise, others fall
    assert build_model_with_chains(rise).convergence().agrees


def test_a_and_sigma_are_not_interpreted_where_chains_differ():
    good, bad = build_model_with_chains(), build_model_with_chains(a=np.arange(4.0)[:, None])
    assert good.convergence().agrees and "a and sigma" not in str(good.convergence())
    assert re.search(r"a, sigma +\d\.\d\d, \d\.\d\d\n", str(good))
    assert bad.convergence().agrees  # they are not judged, so they have no R-hat
    assert "on the parameters a and sigma; they agree on shares" in str(bad.convergence())
    assert re.search(r"a, sigma +not interpretable\n", str(bad))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::thali.errors.ConvergenceWarning")
def test_the_check_says_how_much_predictions_of_another_run_differ():
    """To within a half of what they differ by."""
    data = experiment(people=20, tasks=8)
    fits = [
        thali.ProductClasses(MONOTONE).fit(
            data, draws=150, tune=40, thin=4, random_seed=seed, progressbar=False
        )
        for seed in range(6)
    ]
    sentence = [float(model.posterior_["sample_stats"]["prediction_difference"]) for model in fits]
    p = np.array([model.predict_proba(data) for model in fits])
    noise = 2.0 * (p * (1.0 - p)).mean() / 5_000  # of the simulation of each, about
    differ = np.sqrt(2.0 * p.var(axis=0, ddof=1).mean() - noise)
    assert 0.67 < np.sqrt(np.mean(np.square(sentence))) / differ < 1.5
    text = str(fits[0].convergence())
    assert f"another run by about {sentence[0]:.3f}" in " ".join(text.split())
