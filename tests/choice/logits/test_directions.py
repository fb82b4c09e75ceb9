"""Directions that the choices speak against: z of a multinomial logit, and what a fit says before
it begins."""

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import said, warned

import thali as th
from thali._choice.logit_likelihood import (
    compute_direction_scores,
    describe_contradicted_directions,
)
from thali.errors import DataWarning

RIGHT = {"price": "decreasing", "zoom": "increasing"}
WRONG = {"price": "increasing", "zoom": "decreasing"}


@pytest.fixture(scope="module")
def data():
    return th.ChoiceExperiment.from_frame(simulate_experiment(), levels={"zoom": ["no", "yes"]})


def test_z_of_many_people_is_that_of_the_logit():
    """One task a person: the prior is then weak, and the two standard errors agree."""
    data = th.ChoiceExperiment.from_frame(
        simulate_experiment(n_respondents=4000, n_tasks=1, sd=0.0), levels={"zoom": ["no", "yes"]}
    )
    z = compute_direction_scores(data, ("price", "zoom"))
    plain = th.MultinomialLogit("price").fit(data).summary()["z"]
    assert z["price"] == pytest.approx(plain["price"], rel=0.1) and z["price"] < -15
    assert z["zoom"] == pytest.approx(plain["zoom[yes]"], rel=0.1) and z["zoom"] > 15


def test_tasks_of_a_person_are_no_independent_evidence():
    """The same choices by a tenth of the people, ten times each: z is smaller by the root of
    ten."""
    rows = simulate_experiment(n_respondents=60, n_tasks=4, sd=0.0)
    again = pd.concat([rows.assign(task=rows["task"] + 10 * k) for k in range(10)])
    one, ten = (
        compute_direction_scores(th.ChoiceExperiment.from_frame(f), ("price",))["price"]
        for f in (rows, again)
    )
    assert ten == pytest.approx(one, rel=0.15)


def test_separated_choices_speak(data):
    """Everybody always takes the cheapest, so that the likelihood has no maximum."""
    rows = simulate_experiment(n_respondents=20, n_tasks=5)
    cheapest = rows.groupby(["id", "task"])["price"].transform("idxmin")
    data = th.ChoiceExperiment.from_frame(rows.assign(choice=(rows.index == cheapest).astype(int)))
    assert compute_direction_scores(data, ("price",))["price"] < -4


def test_the_sentence_names_contradicted_directions(data):
    assert (
        describe_contradicted_directions(data, RIGHT)
        == ""
        == describe_contradicted_directions(data, {})
    )
    z = compute_direction_scores(data, ("price", "zoom"))
    said(
        describe_contradicted_directions(data, WRONG),
        "'price'",
        "'zoom'",
        f"{z['price']:.1f}",
        f"{z['zoom']:.1f}",
    )
    assert (
        describe_contradicted_directions(data, {"price": "decreasing", "zoom": "decreasing"}).count(
            "z = "
        )
        == 1
    )


@pytest.mark.long
def test_false_alarms_are_rare():
    """Choices at random: of 200 scores none is beyond 4, and about one in 740 beyond 3 on one
    side."""
    z = []
    for seed in range(100):
        rows = simulate_experiment(n_respondents=20, n_tasks=5, seed=seed)
        chosen = np.random.default_rng(seed).integers(3, size=100)
        rows["choice"] = (np.arange(3) == chosen[:, None]).ravel().astype(int)
        data = th.ChoiceExperiment.from_frame(rows, levels={"zoom": ["no", "yes"]})
        z += compute_direction_scores(data, ("price", "zoom")).values()
    assert 0.8 < np.std(z) < 1.1 and np.abs(z).max() < 4


def test_a_fit_says_it_before_it_begins(data, monkeypatch):
    from thali._model.chain_runs import ChainFit

    class Begun(Exception):
        pass

    def run(*args, **settings):
        raise Begun

    monkeypatch.setattr(ChainFit, "run_to_end", run)
    model = th.ProductClasses(WRONG)
    with warned(DataWarning, "declared for 'price' (increasing") as messages, pytest.raises(Begun):
        model.fit(data)
    assert messages[0].filename == __file__
