"""Numbered attributes with the same levels are no options of a set: products repeat levels."""

import numpy as np
import pandas as pd
import pytest

import thali as th


@pytest.mark.parametrize("stem", ["att", "x"])
def test_levels_that_repeat_in_a_row_are_no_options(stem):
    rng = np.random.default_rng(3)
    first = rng.integers(2, size=(30, 4))
    rows = [
        (person, task, position, *np.array(["a", "b", "c"])[rng.integers(3, size=5)], choice)
        for person in range(30)
        for task in range(4)
        for position in (1, 2)
        for choice in [int(first[person, task] == position - 1)]
    ]
    names = ["id", "task", "profile", *(f"{stem}{k}" for k in range(5)), "choice"]
    data = th.read(pd.DataFrame(rows, columns=names))
    assert isinstance(data, th.ChoiceExperiment)
    assert data.attributes == tuple(names[3:-1])


def test_items_of_a_questionnaire_are_no_comparisons():
    rng = np.random.default_rng(1)
    names = [f"{trait}{k}" for trait in "ACE" for k in range(1, 6)] + ["N1", "N2", "O1", "O2"]
    answers = pd.DataFrame(rng.integers(1, 7, size=(8, len(names))), columns=names)
    answers["O1"] = answers["O2"] % 6 + 1  # never equal
    with pytest.raises(th.errors.DataError):
        th.read(answers)
