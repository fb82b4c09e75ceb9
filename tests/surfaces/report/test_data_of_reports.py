"""What a report says of the data."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.product_class_fits import experiment
from helpers.tiny_models import TINY

import thali as th
from thali._data.experiments.design import design_of
from thali._data.rows import merged
from thali._model.data_facts import described, facts_of


def test_paired_comparisons():
    data = th.PairedComparisons([[0, 3, 0, 0], [2, 0, 0, 0], [0, 0, 0, 9], [0, 0, 1, 0]], labels=list("abcd"))
    assert dict(facts_of(data)) == {
        "Options": "4: a, b, c and d",
        "Compared pairs": "2 of 6 (33.3 %)",
        "Comparisons": "15",
        "Comparisons of a compared pair": "5 to 10 (median 7.5)",
        "Comparisons of an option": "5 to 10 (median 7.5)",
        "Linked groups of options": "2: no comparison links one with another",
    }
    tied = th.PairedComparisons([[0, 3], [2, 0]], ties=[[0, 5], [5, 0]])
    assert dict(facts_of(tied))["Comparisons"] == "10, 5 of them ties (50 %)"


def test_choices_and_who_made_them():
    import pandas as pd

    rows = {"obsID": [1, 1, 1, 2, 2], "alt": list("abcac"), "choice": [1, 0, 0, 0, 1], "id": [1, 1, 1, 2, 2]}
    found = dict(facts_of(th.Choices.from_frame(pd.DataFrame(rows))))
    assert found["Sets offered"] == "2, of 2 to 3 (median 2.5) options" and found["Choices"] == "2"
    assert found["Who answered"] == "2 respondents"


def test_similarities():
    values = np.array([[np.nan, 0.2, 0.6], [0.2, np.nan, np.nan], [0.6, np.nan, np.nan]])
    found = dict(facts_of(th.Similarities(values, labels=list("abc"), sigma=0.1)))
    assert found["Measured pairs"] == "2 of 3 (66.7 %)"
    assert found["Similarities"] == "0.2 to 0.6 (median 0.4); mean 0.4"
    assert found["Standard deviation given with the data"] == "0.1"


@pytest.mark.parametrize("none", [False, True])
def test_choice_experiments(none):
    data = experiment(none=none)
    found = dict(facts_of(data))
    assert found == dict(facts_of(design_of(data)))
    assert found["Respondents"] == "8" and found["Tasks of a respondent"] == "5, 40 in all"
    if none:
        chosen = data.products[data.row_product[data.first_row[:-1] + data.chosen]][:, 0] == 0
        assert found["No-choice option"] == f"chosen in {100 * chosen.mean():.1f} % of the tasks"
    model = th.MultinomialLogit().fit(data)
    table = model.findings()["levels"].table
    of_price = table[table["attribute"] == "price"]
    assert of_price["times_shown"].sum() == data.n_alternatives - none * data.n_tasks
    chosen = (of_price["times_shown"] * of_price["chosen_where_shown"]).sum()
    real = data.products[data.row_product[data.first_row[:-1] + data.chosen], int(none)] >= 0
    assert chosen == pytest.approx(real.sum())


def test_classes():
    X, y = TINY["plackett-luce"].data()
    data = merged(X.to_numpy(), (np.asarray(y) == "yes").astype(np.int64))
    named = {"classes_": ["no", "yes"], "_column_names": lambda: list(X.columns)}
    model = SimpleNamespace(_data_of_fit=lambda: data, fitted_to_="20 rows", **named)
    assert dict(described(model)) == {
        "Rows": "20",
        "Covariates": "2: height and weight",
        "Rows of a class": f"no: {int((y == 'no').sum())} and yes: {int((y == 'yes').sum())}",
    }
