"""Where everybody has weights of their own: predictions for a new person, and all that a person
left out answered."""

import copy

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from helpers.all_drawn import all_drawn
from helpers.kind_problems import answered, random_answers
from helpers.plain_python import run_as_python
from helpers.sentences import refused, warned
from scipy import integrate, stats

import thali as th
from thali.errors import ArgumentError, DataError, DataWarning

RUN = {"draws": 12, "tune": 4, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = [
    pytest.mark.fit,
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


def of_one(*answers, labels="xy"):
    """Comparisons as choices, in which these rows (person, a, b, chosen) are everything."""
    return th.Choices.from_comparisons(answered(list(answers), list(labels)))


ALL = [[1], [1]]  # an aspect of all options, on which no choice depends


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(1)
    rows = [(f"p{k % 5}", "x", "y", rng.choice(["x", "y"])) for k in range(20)]
    with run_as_python():
        return th.EliminationByAspects(ALL, people=th.people.Individuals()).fit(
            answered(rows, list("xy")), **RUN
        )


TWO = of_one(("n", "x", "y", "x"), ("n", "x", "y", "x"), ("n", "x", "y", "y"), ("m", "x", "y", "y"))


def by_quadrature(model, what):
    """The mean over draws and new people of a function of the probability of the first of two
    options."""
    posterior, total = all_drawn(model.posterior_), []
    common, kappas = (
        posterior["common_unique_weights"].values.reshape(-1, 2),
        posterior["kappa"].values.ravel(),
    )
    for (a, b), kappa in zip(common, kappas, strict=True):
        share = stats.beta(kappa, kappa)  # of the first of two independent Gamma(kappa)

        def of_share(t, a=a, b=b, share=share):
            return what(0.99 * a * t / (a * t + b * (1 - t)) + 0.005) * share.pdf(t)

        total.append(integrate.quad(of_share, 0, 1, limit=200)[0])
    return float(np.mean(total))


def repeated(model, times):
    """The model with every draw so many times, of which each has new people."""
    many, groups = copy.copy(model), {}
    for name, node in model.posterior_.children.items():
        data = node.to_dataset()
        groups[name] = xr.concat([data] * times, "draw") if "draw" in data.dims else data
    many.posterior_ = xr.DataTree.from_dict(groups)
    many.posterior_.attrs = model.posterior_.attrs
    return many


@pytest.mark.long
def test_all_choices_of_a_new_person_together(model):
    # 6,000 people: an error far below the tolerance
    found = repeated(model, 250).log_predictive(TWO)
    assert found.name == "log_predictive" and found.index.name == "respondent"
    expected = {
        "n": np.log(by_quadrature(model, lambda p: p**2 * (1 - p))),
        "m": np.log(by_quadrature(model, lambda p: 1 - p)),
    }
    assert found.to_dict() == pytest.approx(expected, abs=0.03)


def test_predictions_are_means_over_new_people(model):
    expected = by_quadrature(model, lambda p: p)
    many = repeated(model, 20)
    p, errors = many.predict_proba([("x", "y"), ("y", "x")], return_se=True)
    assert p == pytest.approx([expected, 1 - expected], abs=0.003) and (errors > 0).all()
    ((of_a, of_b),) = many.predict_proba(TWO)
    assert [of_a, of_b] == pytest.approx([expected, 1 - expected], abs=0.003)


def test_a_person_is_not_the_population(model):
    posterior = all_drawn(model.of_group("p0").posterior_)
    assert "common_worth" not in posterior and "common_weights" not in posterior
    assert not model.of_group("p0").ranks().equals(model.ranks())


def test_impossible_answers_have_probability_0():
    """Without unique aspects, for which the chains have weights that count nowhere."""
    model = th.EliminationByAspects(
        [[1, 1], [0, 1]], unique=False, lapse=0.0, people=th.people.Individuals()
    )
    model.fit(answered([("p", "x", "y", "x"), ("q", "x", "y", "x")], list("xy")), **RUN)
    assert model.log_predictive(of_one(("m", "x", "y", "y"), ("n", "x", "y", "x"))).tolist() == [
        -np.inf,
        0.0,
    ]
    assert (model.posterior_["posterior"]["population_probability"] == 1.0).all()


def test_people_left_out_by_every_model_of_people():
    data = random_answers(8, 3, 5, seed=1)
    ways = {
        "independent": {},
        "adjusted": {"people": "adjusted"},
        "random": {"people": th.people.Individuals()},
        "classes": {"people": th.people.LatentClasses(2)},
    }
    models = {name: th.EliminationByAspects([[1]] * 3, **own) for name, own in ways.items()}
    table = th.compare(models, data, leave_out="respondent", folds=2, cores=1, **RUN)
    assert np.isfinite(table["together"]).all() and table.attrs["missing"].empty
    tasks, together = table.attrs["tasks"], table.attrs["together"]
    assert not np.allclose(together["random"], tasks["random"])
    # the draws are adjusted, and the score is of the likelihood itself
    model = th.EliminationByAspects("unique", people="adjusted").fit(data, **RUN)
    assert model.posterior_.attrs["people_effect"] > 1.0
    p = model.posterior_["posterior"]["choice_probability"].values.reshape(-1, 3)
    new = of_one(("n", "a", "b", "a"), ("n", "a", "b", "a"), ("n", "b", "c", "c"), labels="abc")
    assert model.log_predictive(new)["n"] == pytest.approx(
        np.log((p[:, 0] ** 2 * (1 - p[:, 2])).mean())
    )


def test_bad_input_is_refused(model):
    with refused(ArgumentError, "'mine'", "leave_out='respondent'"):
        th.compare({"mine": model}, random_answers(4, 3, 5, seed=1), **RUN)
    with refused(ArgumentError, "of individual respondents"):
        model.predict_proba([("x", "y")], covariates={"order": 1})


@pytest.mark.parametrize(
    ("people", "named"), [(th.people.Individuals(), "Respondent"), (th.people.Groups(), "Group")]
)
def test_an_error_about_one_person_calls_it_a_person(people, named):
    rows = [("Anna", "tea", "milk", "rum", "tea"), ("Ben", "tea", "milk", "rum", "milk")]
    frame = pd.DataFrame(rows, columns=["person", "option1", "option2", "option3", "best"])
    data, aspects = (
        th.Choices.from_best_worst(frame),
        {"tea": ["hot"], "milk": ["hot", "white"], "rum": ["strong"]},
    )
    model = th.EliminationByAspects(aspects, unique=False, lapse=0.0, people=people)
    with refused(DataError, f"{named} 'Anna'", "'tea'", "'milk'"):
        model.fit(
            data if isinstance(people, th.people.Individuals) else data.by_respondent(), **RUN
        )


def test_covariates_do_not_count_where_people_are_left_out():
    prices = pd.DataFrame({"price": [1.0, 2.0, 4.0]}, index=list("abc"))
    data = random_answers(6, 3, 5, seed=1).with_option_covariates(prices)
    model = th.BradleyTerryLuce("maximum-likelihood")
    with warned(DataWarning, "'price'"):
        th.compare(
            {"mine": model},
            data,
            leave_out="respondent",
            folds=2,
            cores=1,
            random_seed=1,
            progressbar=False,
        )
