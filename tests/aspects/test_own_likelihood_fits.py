"""Likelihoods of one's own, compiled: the page in docs, the built-in one written again, its
posterior and its speed."""

import contextlib
import dataclasses
import io
import re
import sys
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest
from helpers.additive_cases import far_off
from helpers.additive_quadrature import three_objects
from helpers.all_drawn import all_drawn
from helpers.cpu_time import time_ratio
from helpers.places import PROJECT
from helpers.sentences import refused

import thali as th
import thali._aspects.samplers.default_sweeps as recommended
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task
from thali.errors import ArgumentError, ThaliError
from thali.likelihoods import Additive

PAGE = PROJECT / "docs" / "tutorials" / "your_own_likelihood.md"
pytestmark = [pytest.mark.fit, pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")]


CODE = re.findall(r"```{code-cell}\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def example():
    """The functions and the data of the page.

    They are of a module with a file, so that its compiled code is kept.
    """
    module = ModuleType("page")
    module.__file__ = str(PAGE)
    sys.modules["page"] = module
    try:
        for code in (CODE[0], CODE[1].partition("th.testing.check")[0]):
            exec(compile(code, str(PAGE), "exec"), vars(module))
        yield vars(module)
    finally:
        del sys.modules["page"]


@pytest.fixture(scope="module")
def page(example):
    """Everything that the first example of the page defines, and what each block printed."""
    printed = []
    for code in CODE[1:4]:  # the noisy or: check, planted error, fit
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), example)
        printed.append(out.getvalue().rstrip())
    return example, printed


@pytest.fixture(scope="module")
def model(example):
    """A short fit of the example."""
    fitted = th.LatentFeatureModel(th.priors.IndianBuffet(), example["noisy_or"])
    return fitted.fit(example["data"], draws=30, tune=50, random_seed=1, progressbar=False)


@pytest.mark.long
def test_the_example_passes_and_a_planted_error_is_named(page, capsys):
    names, (right, wrong, _) = page
    assert right.count("right") == 5 and "WRONG" not in right and "not run" not in right
    assert re.search(
        r"^naive: log_likelihood differs from of_pair by [\d.]+: ", wrong, re.MULTILINE
    )
    assert re.search(
        r"^exact: toggles do not preserve the posterior: .* is [\d.e-]+ in", wrong, re.MULTILINE
    )
    careless = th.likelihoods.Custom(names["log_likelihood"], of_pair=names["careless"])
    assert not th.testing.check(careless, names["data"]).ok


@pytest.mark.parametrize(
    ("options", "factor", "rounds"),
    [(3, 2.0, 100), pytest.param(6, 1.2, 600, marks=pytest.mark.long)],
)
def test_a_likelihood_that_simulate_does_not_draw_from_is_found_by_the_joint_check(
    options, factor, rounds, example, uncompiled
):
    def louder(data, features, weights, rng):
        return example["simulate"](data, features, factor * weights, rng)

    design = example["design"]
    data = design._replace(yes=design.yes[:options, :options], labels=design.labels[:options])
    found = th.testing.check(
        dataclasses.replace(example["noisy_or"], simulate=louder), data, rounds=rounds
    )
    assert [c.check for c in found.checks if c.result == "WRONG"] == ["joint"]
    assert "standard errors apart: log_likelihood" in found.checks[-1].words
    assert float(found.checks[-1].error.split()[0]) > 5.0


@pytest.mark.usefixtures("pictures")
def test_a_fitted_model_stores_its_own_log_likelihood(example, model, tmp_path):
    assert {"n_features", "alpha", "log_likelihood", "presence[bank, money, loan]"} <= set(
        model.summary().index
    )
    data = example["data"]
    posterior = all_drawn(model.posterior_)
    features, weights = posterior["features"].values[2, 7].T, posterior["weights"].values[2, 7]
    whole = example["log_likelihood"](data, features, weights)
    assert float(posterior["log_likelihood"][2, 7]) == pytest.approx(whole, rel=1e-12)
    np.testing.assert_array_equal(model.posterior_["observed_data"]["data.yes"], data.yes)
    assert [t.get_text() for t in model.plot("features").get_yticklabels()] == list(data.labels)
    for ask in (
        lambda: model.predict_proba([("bank", "loan")]),
        model.ranks,
        model.check,
        model.unique_weights,
    ):
        with refused(ArgumentError, "does not know"):
            ask()
    with refused(ThaliError, "'ranks'"):
        model.plot("ranks")


def test_a_saved_model_answers_but_for_fit(example, model, tmp_path, uncompiled):
    model.save(tmp_path / "words.nc")
    again = th.load(tmp_path / "words.nc")
    assert repr(again) == repr(model)
    assert again.features().equals(model.features())
    assert again.summary().equals(model.summary())
    again.save(tmp_path / "twice.nc")
    assert repr(th.load(tmp_path / "twice.nc")) == repr(model)
    with refused(ArgumentError, "set_params(likelihood=...)"):
        again.fit(example["data"])
    again.set_params(likelihood=example["noisy_or"]).fit(
        example["data"], draws=5, tune=5, chains=1, progressbar=False
    )


class Judged(NamedTuple):
    """Similarities."""

    value: np.ndarray
    sigma: float
    labels: tuple


def additive(data, features, weights):
    total = 0.0
    for i in range(len(features)):
        for j in range(i):
            residual = data.value[i, j]
            for k in range(len(weights)):
                residual -= weights[k] * features[i, k] * features[j, k]
            total -= 0.5 * (residual / data.sigma) ** 2
    return total


def additive_pair(data, i, j, shared):
    residual = (data.value[i, j] - shared) / data.sigma
    return -0.5 * residual * residual


OWN = th.likelihoods.Custom(additive, of_pair=additive_pair)


@pytest.mark.long
def test_additive_similarity_written_by_a_user_has_the_exact_posterior():
    similarities = [[1.0, 0.8, 0.3], [0.8, 1.0, 0.45], [0.3, 0.45, 1.0]]
    rates = dict.fromkeys([(0, 1), (0, 2), (1, 2)], 1.0 / 6.0) | {(0, 1, 2): 1.0 / 3.0}
    exact = three_objects(similarities, 0.2, 1.5, (1.0, 4.0), rates, constant=False)
    expected = {name: value for name, value in exact.items() if name.startswith(("P(", "E w("))}
    assert len(expected) == 8
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), OWN, alpha=1.5, weight_prior=(1.0, 4.0))
    data = Judged(np.array(similarities), 0.2, tuple("012"))
    model.fit(data, draws=8_000, tune=200, thin=10, random_seed=31, progressbar=False)
    assert far_off(model.posterior_, {"model": {"features": "told"}, "expected": expected}) == {}
    # features of one object are drawn from the prior: each object has Poisson(alpha / 3) of them
    alone = (model.posterior_["latent_features"]["features"].values.sum(-1) == 1).sum(-1)
    assert abs(alone.mean() - 1.5) < 5.0 * np.sqrt(1.5 / alone.size)


SETTINGS = {"weight_prior": (1.0, 10.0), "alpha": None, "draws": 1, "tune": 0, "thin": 10**9}


def tasks():
    numbers = th.datasets.numbers()
    value = np.nan_to_num(numbers.matrix)
    own = OWN.wrap_data(Judged(value, 0.05, numbers.labels))
    prior = th.priors.IndianBuffet()
    return (
        build_task(prior, Additive(0.05, constant=False), numbers, **SETTINGS, tempering=False),
        build_task(prior, OWN, own, **SETTINGS, tempering=False),
    )


@pytest.mark.long
def test_a_sweep_takes_less_than_three_times_as_long():
    builtin, own = tasks()
    builtin.kernel = recommended.sweep_infinite_without_unique
    chains = [FeatureChain(task, np.random.default_rng(1)) for task in (builtin, own)]
    for chain in chains:
        chain.run_until(2_000)
    builtin_runs, own_runs = (
        lambda chain=chain: chain.run_until(chain.sweeps + 2_000) for chain in chains
    )
    assert time_ratio(own_runs, builtin_runs) < 3.0


@pytest.mark.long
def test_functions_that_make_no_arrays_are_compiled_without_reference_counting():
    task = tasks()[1]
    kernel = recommended.sweep_infinite_without_unique
    assert kernel.dispatcher(task.model).targetoptions.get("_nrt") is False

    def allocates(data, features, weights):
        return -float(np.sum(np.zeros(3) + len(weights)))

    made, _ = th.likelihoods.Custom(allocates).compiled(Judged(np.zeros((2, 2)), 1.0, ("a", "b")))
    model = task.model._replace(likelihood=made)
    assert kernel.dispatcher(model).targetoptions.get("_nrt", True) is True


class Rated(NamedTuple):
    """Ratings of things."""

    rating: np.ndarray
    labels: tuple


def counted(data, features, weights):
    total = 0.0
    for i in range(len(features)):
        total -= (data.rating[i] - features[i].sum()) ** 2
    return total


def weighted(data, features, weights):
    total = 0.0
    for i in range(len(features)):
        total -= (data.rating[i] - (features[i] * weights).sum()) ** 2
    return total


@pytest.mark.first(1)
@pytest.mark.usefixtures("uncompiled", "pictures")
@pytest.mark.parametrize("log_likelihood, has_weights", [(counted, False), (weighted, True)])
def test_weights_that_a_likelihood_ignores_are_not_shown(log_likelihood, has_weights, tmp_path):
    model = th.LatentFeatureModel(th.priors.IndianBuffet(), th.likelihoods.Custom(log_likelihood))
    data = Rated(np.array([1.0, 3.0, 2.0]), ("tea", "milk", "cola"))
    model.fit(data, draws=10, tune=5, thin=1, chains=2, random_seed=1, progressbar=False)
    model.save(tmp_path / "model.nc")
    for found in (model, th.load(tmp_path / "model.nc")):
        for table in (found.features(), found.features(similar=0.5)):
            assert len(table) and {"members", "probability"} <= set(table)
            assert (
                len({"weight", "weight_low", "weight_high"}.intersection(table)) == 3 * has_weights
            )
    drawn = th.plots.features(model.features()).figure.axes
    said = [each.get_ylabel() + each.get_xlabel() for each in drawn]
    assert any("weight" in words for words in said) == has_weights
