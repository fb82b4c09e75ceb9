"""The check of choice experiments: its numbers against slow ones, and what it calls missed."""

import numpy as np
import pytest
from helpers.product_class_fits import experiment, fitted

from thali._choice.answers.check import LEVEL, PEOPLE, PLACE, check_sentence, choice_check


def at_random(data, draws, seed=1):
    """Choices of alternatives at random."""
    rng = np.random.default_rng(seed)
    return rng.integers(np.diff(data.first_row), size=(draws, data.n_tasks))


def slow(data, chosen):
    """Every number of the table, task by task."""
    shares, of_people, places = {}, {}, {}
    for name, levels in data.levels.items():
        place = data.attributes.index(name)
        for code, level in enumerate(levels):
            own = [
                data.products[data.row_product[data.first_row[t] + chosen[t]]][place] == code
                for t in range(data.n_tasks)
            ]
            shares[LEVEL, f"{name} = {level}"] = np.mean(own)
            by_person = [own[a:b] for a, b in zip(data.first_task[:-1], data.first_task[1:], strict=True)]
            of_people[PEOPLE, f"{name} = {level}"] = np.std([np.mean(part) for part in by_person])
    for place in range(np.diff(data.first_row).max()):
        places[PLACE, f"alternative {place + 1}"] = np.mean(chosen == place)
    return shares | of_people | places


@pytest.mark.parametrize("none", [False, True])
def test_every_number_is_that_of_the_slow_copy(none):
    data = experiment(people=4, tasks=3, none=none)
    replicates = at_random(data, 10)
    table = choice_check(data, replicates).set_index(["what", "of"])
    found, drawn = slow(data, data.chosen), [slow(data, chosen) for chosen in replicates]
    assert sorted(table.index) == sorted(found)
    for key, row in table.iterrows():
        values = [each[key] for each in drawn]
        low, high = np.quantile(values, [0.055, 0.945])
        np.testing.assert_allclose(row[["observed", "predicted"]].astype(float), [found[key], np.mean(values)])
        np.testing.assert_allclose(row[["low", "high"]].astype(float), [low, high], atol=1e-12)
        assert row["missed"] == (not low <= found[key] <= high)


def test_choices_of_the_model_itself_are_seldom_missed_and_others_are():
    data = experiment(people=40, tasks=10)
    missed = [
        choice_check(data.with_choices(at_random(data, 1, seed)[0]), at_random(data, 100, 100 + seed))["missed"].mean()
        for seed in range(10)
    ]
    assert 0.04 < np.mean(missed) < 0.2  # .11 of the numbers, which depend on each other
    first = data.with_choices(np.zeros(data.n_tasks, np.int64))
    table = choice_check(first, at_random(data, 100))
    worst = table.iloc[0]
    assert worst["p_value"] == 0.0 and set(table.loc[table["what"] == PLACE, "missed"]) == {True}
    assert "alternative 1 (observed 1.000" in check_sentence(table[table["what"] == PLACE])
    assert check_sentence(table[~table["missed"]]).startswith("None of ")


def test_product_classes_are_checked():
    model = fitted(experiment(none=True), draws=10)
    table = model.check(random_seed=1)
    assert table.equals(model.check(random_seed=1)) and not table.equals(model.check(random_seed=2))
    assert {"inside = none", "price = 100", "alternative 1"} <= set(table["of"])
