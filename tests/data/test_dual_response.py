"""Dual-response none: a second answer to each task, whether the product chosen would be bought at
all."""

import numpy as np
import pandas as pd
import pytest
from helpers.experiment_data import simulate_experiment
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError


def table(people=20, tasks=6, seed=1, **columns):
    """Choices of three products, and whether they would be bought: dear ones seldom."""
    rows = simulate_experiment(n_respondents=people, n_tasks=tasks, seed=seed)
    rng = np.random.default_rng(seed)
    picked = rows[rows["choice"] == 1].set_index(["id", "task"])["price"]
    buys = (picked + rng.normal(scale=8, size=len(picked)) < 15).astype(int).rename("buy")
    return rows.merge(buys.reset_index(), on=["id", "task"]).assign(**columns)


def test_tasks_are_with_nothing_and_once_more_without_it_where_nothing_is_bought():
    rows = pd.DataFrame(
        {
            "id": 1,
            "task": [1, 1, 2, 2],
            "alt": ["x", "y", "x", "y"],
            "choice": [0, 1, 1, 0],
            "price": [9, 5, 5, 9],
            "buy": ["yes", "yes", "no", "no"],
        }
    )
    data = th.ChoiceExperiment.from_frame(rows, bought="buy")
    assert data.n_tasks == 3 and np.diff(data.first_row).tolist() == [3, 3, 2]
    assert data.alternative_labels.tolist() == ["x", "y", "none", "x", "y", "none", "x", "y"]
    assert data.alternative_labels[data.first_row[:-1] + data.chosen].tolist() == ["y", "none", "x"]
    assert data.task_labels.tolist() == ["1", "2", "2 (forced)"]
    assert data.attributes == ("inside", "price") and data.has_none


def test_a_logit_has_the_log_likelihood_of_both_answers():
    rows = table()
    data = th.ChoiceExperiment.from_frame(rows, bought="buy")
    model = th.MultinomialLogit("price").fit(data)
    given = rows.assign(inside=1.0)
    named = [name.rstrip("]").split("[") for name in model.coef_.index]
    x = np.column_stack(
        [given[a] == level[0] if level else given[a].astype(float) for a, *level in named]
    )
    utility = pd.Series(x @ model.coef_.to_numpy(), rows.index)
    total = 0.0
    for _, own in rows.assign(u=utility).groupby(["id", "task"]):
        # of nothing 1: it lacks everything
        odds, chosen = np.exp(own["u"].to_numpy()), own["choice"].to_numpy() == 1
        total += np.log(odds[chosen].sum() / (1 + odds.sum()))
        if not own["buy"].iloc[0]:
            # e^0 in place of the first factor's e^u_j, and e^u_j / sum
            total += np.log(1 / odds.sum())
    assert total == pytest.approx(model.log_likelihood_, rel=1e-10)


def test_other_tables_say_the_same():
    rows = table(people=5)
    data = th.ChoiceExperiment.from_frame(rows, bought="buy")
    numbered = th.ChoiceExperiment.from_frame(rows.drop(columns="alt"), bought="buy")
    assert numbered.alternative_labels.tolist() == data.alternative_labels.tolist()
    np.testing.assert_array_equal(numbered.chosen, data.chosen)
    wide = rows.pivot(index=["id", "task", "buy"], columns="alt", values=["price", "brand", "zoom"])
    wide.columns = [f"{name}_{alt}" for name, alt in wide.columns]
    picked = (
        rows[rows["choice"] == 1].set_index(["id", "task"])["alt"].rename("choice").reset_index()
    )
    wide = wide.reset_index().merge(picked, on=["id", "task"])
    other = th.ChoiceExperiment.from_wide(wide, bought="buy")
    assert other.n_tasks == data.n_tasks and other.people is None
    first, second = (
        th.MultinomialLogit("price").fit(each).log_likelihood_ for each in (data, other)
    )
    assert first == pytest.approx(second, rel=1e-10)


BAD = {
    "absent": ({"bought": "buys"}, {}, DataError, ("no column 'buys'",)),
    "beside none": ({"bought": "buy", "none": "3"}, {}, ArgumentError, ("already marks tasks",)),
    "a word": (
        {"bought": "buy"},
        {"buy": "perhaps"},
        DataError,
        ("Column 'buy'", "'perhaps'", "task '1'"),
    ),
    "empty": ({"bought": "buy"}, {"buy": None}, DataError, ("Column 'buy'", "task '1'")),
    "differs": ({"bought": "buy"}, {"buy": [0, 1, 1] * 12}, DataError, ("Column 'buy'",)),
    "called none": (
        {"bought": "buy"},
        {"alt": ["a", "b", "none"] * 12},
        DataError,
        ("is already called 'none'",),
    ),
}


@pytest.mark.parametrize(("how", "columns", "kind", "facts"), BAD.values(), ids=BAD)
def test_bad_answers_about_buying_are_refused(how, columns, kind, facts):
    with refused(kind, *facts):
        th.ChoiceExperiment.from_frame(table(people=3, tasks=4, **columns), **how)


def test_everybody_with_one_task_stays_one_respondent():
    rows = table(tasks=1).drop(columns="task")
    data = th.ChoiceExperiment.from_frame(rows, respondent="id", task="id", bought="buy")
    assert data.n_respondents == 20 and data.n_tasks == 20 + int(
        (rows.groupby("id")["buy"].first() == 0).sum()
    )


def test_second_answers_of_wide_tables():
    """Whatever the column is called, it is neither the choice nor an alternative; the first answer
    is a product."""
    wide = pd.DataFrame(
        dict(id=[1, 1, 2], task=[1, 2, 1], price_1=[5, 9, 7], price_2=[9, 5, 6], choice=[1, 2, 2])
    )
    expected = th.ChoiceExperiment.from_wide(wide.assign(buy=[1, 0, 1]), bought="buy")
    assert expected.n_tasks == 4 and expected.has_none
    for name in ("chosen", "price_3"):
        found = th.ChoiceExperiment.from_wide(
            wide.assign(**{name: [1, 0, 1]}), bought=name, chosen="choice"
        )
        assert found.alternative_labels.tolist() == expected.alternative_labels.tolist()
        assert found.chosen.tolist() == expected.chosen.tolist()
    with refused(DataError, "Column 'choice'", "'0'"):
        th.ChoiceExperiment.from_wide(wide.assign(buy=[1, 0, 1], choice=[1, 0, 2]), bought="buy")
