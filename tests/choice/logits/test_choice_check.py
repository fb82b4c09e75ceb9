"""The check of choice experiments: its numbers against slow ones, and what it calls missed."""

import numpy as np
import pytest
from helpers.product_class_fits import experiment, fitted

LEVEL, PLACE, PEOPLE = "share of level", "share of position", "heterogeneity between respondents"


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
            by_person = [
                own[a:b] for a, b in zip(data.first_task[:-1], data.first_task[1:], strict=True)
            ]
            of_people[PEOPLE, f"{name} = {level}"] = np.std([np.mean(part) for part in by_person])
    for place in range(np.diff(data.first_row).max()):
        places[PLACE, f"alternative {place + 1}"] = np.mean(chosen == place)
    return shares | of_people | places


@pytest.mark.first(1)
@pytest.mark.parametrize("none", [False, True])
def test_every_number_is_that_of_the_slow_copy(none):
    """Observed ones exactly; predicted ones are the means of probabilities, up to five errors of
    100 draws."""
    data = experiment(people=4, tasks=3, none=none)
    model = fitted(data, draws=100, alpha=3.0)
    table = model.check().set_index(["measure", "category"])
    found = slow(data, data.chosen)
    assert sorted(table.index) == sorted(found)
    chances = model.predict_proba(data)
    for key, row in table.iterrows():
        what, of = key
        assert row["observed"] == pytest.approx(found[key], abs=1e-12)
        assert row["missed"] == (not row["low"] <= row["observed"] <= row["high"])
        assert 0.0 <= row["p_value"] <= 1.0 and row["low"] <= row["high"]
        if what == PEOPLE:
            continue
        place = np.arange(len(chances)) - np.repeat(data.first_row[:-1], np.diff(data.first_row))
        if what == PLACE:
            held = place == int(of.split()[1]) - 1
        else:
            name, level = of.split(" = ")
            codes = data.products[data.row_product][:, data.attributes.index(name)]
            held = codes == data.levels[name].index(level)
        assert abs(row["predicted"] - chances[held].sum() / data.n_tasks) < 5 * 0.5 / np.sqrt(
            12 * 100
        )


def chooses_at_random(data):
    """A model of people who care about nothing, with 100 draws."""
    return fitted(data, draws=100, groups=1, alpha=1e-9)


@pytest.mark.long
def test_choices_of_the_model_itself_are_seldom_missed_and_others_are():
    data = experiment(people=40, tasks=10)
    missed = []
    for seed in range(10):
        model = chooses_at_random(data.with_fields(chosen=at_random(data, 1, seed)[0]))
        missed.append(model.check(random_seed=seed)["missed"].mean())
        found = model.findings()["check"]
        assert str(found.sentence).startswith(
            f"{found.table['missed'].sum()} of {len(found.table)} "
        )
    assert 0.04 < np.mean(missed) < 0.2  # .11 of the numbers, which depend on each other
    model = chooses_at_random(data.with_fields(chosen=np.zeros(data.n_tasks, np.int64)))
    table = model.check()
    assert table["p_value"].iloc[0] == 0.0 and set(
        table.loc[table["measure"] == PLACE, "missed"]
    ) == {True}
    assert "alternative 1 (observed 1.00," in str(model.findings()["check"].sentence)
