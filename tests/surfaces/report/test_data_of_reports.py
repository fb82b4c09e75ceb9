"""What a report says of the data."""

import numpy as np
import pytest
from helpers.product_class_fits import experiment
from helpers.product_class_fits import fitted as product_classes
from helpers.tiny_models import TINY, fitted

import thali as th

pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("few_draws"),
]


def facts_of(answer):
    """What the report of an answer says of its data."""
    return th.findings(answer)["data"].table["value"].to_dict()


def board_of(data):
    return th.leaderboard(data, method="laplace", progressbar=False, random_seed=0)


@pytest.mark.fit
def test_a_report_describes_paired_comparisons():
    data = th.PairedComparisons(
        [[0, 3, 0, 0], [2, 0, 0, 0], [0, 0, 0, 9], [0, 0, 1, 0]], labels=list("abcd")
    )
    assert facts_of(board_of(data)) == {
        "Options": "4: a, b, c and d",
        "Compared pairs": "2 of 6 (33.3 %)",
        "Comparisons": "15",
        "Comparisons per compared pair": "5 to 10 (median 7.5)",
        "Comparisons per option": "5 to 10 (median 7.5)",
        "Connected groups of options": "2, with no comparison between groups",
    }
    tied = th.PairedComparisons([[0, 3], [2, 0]], ties=[[0, 5], [5, 0]])
    assert facts_of(board_of(tied))["Comparisons"] == "10, including 5 ties (50 %)"


def test_choices_and_who_made_them():
    import pandas as pd

    rows = dict(
        obsID=[1, 1, 1, 2, 2], alt=list("abcac"), choice=[1, 0, 0, 0, 1], id=[1, 1, 1, 2, 2]
    )
    found = facts_of(board_of(th.Choices.from_frame(pd.DataFrame(rows))))
    assert (
        found["Sets offered"] == "2, each with 2 to 3 (median 2.5) options"
        and found["Choices"] == "2"
    )
    assert found["Respondents"] == "2"


@pytest.mark.fit
def test_a_report_describes_similarities(uncompiled):
    values = np.array([[np.nan, 0.2, 0.6], [0.2, np.nan, np.nan], [0.6, np.nan, np.nan]])
    data = th.Similarities(values, labels=list("abc"), sigma=0.1)
    found = facts_of(
        th.AdditiveClustering(1).fit(
            data, draws=4, tune=4, chains=1, random_seed=1, progressbar=False
        )
    )
    assert found["Measured pairs"] == "2 of 3 (66.7 %)"
    assert found["Similarities"] == "0.2 to 0.6 (median 0.4); mean 0.4"
    assert found["Standard deviation supplied with the data"] == "0.1"


@pytest.mark.fit
@pytest.mark.parametrize("none", [False, True])
def test_a_report_describes_choice_experiments(none):
    data = experiment(none=none)
    model = th.MultinomialLogit().fit(data)
    found = facts_of(model)
    assert found == facts_of(product_classes(data))
    assert found["Respondents"] == "8" and found["Tasks per respondent"] == "5, 40 in total"
    if none:
        chosen = data.products[data.row_product[data.first_row[:-1] + data.chosen]][:, 0] == 0
        assert found["No-choice option"] == f"chosen in {100 * chosen.mean():.1f} % of the tasks"
    table = model.findings()["levels"].table
    of_price = table[table["attribute"] == "price"]
    assert of_price["times_shown"].sum() == data.n_alternatives - none * data.n_tasks
    chosen = (of_price["times_shown"] * of_price["chosen_where_shown"]).sum()
    real = data.products[data.row_product[data.first_row[:-1] + data.chosen], int(none)] >= 0
    assert chosen == pytest.approx(real.sum())


@pytest.mark.fit
def test_a_report_describes_classes():
    _, y = TINY["plackett-luce"].data()
    assert facts_of(fitted("plackett-luce")) == {
        "Rows": "20",
        "Covariates": "2: height and weight",
        "Rows per class": f"no: {int((y == 'no').sum())} and yes: {int((y == 'yes').sum())}",
    }
