"""The skeleton of a population works, from a table to a report."""

import numpy as np
import pandas as pd
import pytest
from population import Everybody

import thali as th
from thali._data.grouped_data import GroupedData
from thali.errors import DataError

RUN = {"draws": 15, "tune": 5, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
ROWS = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "b"), ("b", "c"), ("a", "b")]
pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


class OfEverybody(th.EliminationByAspects):
    """A model that takes the groups of a table for one."""

    def _choose_population(self, data):
        return (
            super()._choose_population(data)
            if isinstance(data, th.PairedComparisons)
            else Everybody()
        )


@pytest.fixture
def groups():
    table = pd.DataFrame(ROWS, columns=["chosen", "rejected"]).assign(sex=list("wmwmmw"))
    return {
        sex: th.PairedComparisons.from_frame(rows, labels=list("abc"))
        for sex, rows in table.groupby("sex")
    }


@pytest.mark.fit
def test_a_fit_is_that_of_the_data_that_it_makes(groups):
    made = OfEverybody(people=th.people.Groups()).fit(groups, **RUN)
    known = th.EliminationByAspects().fit(GroupedData(groups).pooled(), **RUN)
    np.testing.assert_array_equal(made.summary(), known.summary())
    assert made.sample_prior(groups, 2, 1)["prior"]["alpha"].size == 2
    predictive = made.posterior_predictive(groups, random_seed=1)["posterior_predictive"]
    assert predictive["wins"].shape == (2, 15, 3)


@pytest.mark.fit  # draws pictures
def test_it_ends_in_a_report(groups, tmp_path):
    OfEverybody([[1], [1], [0]], people=th.people.Groups()).fit(groups, **RUN).report(
        tmp_path / "report.html"
    )
    assert "3 options, 3 pairs, 6 comparisons" in (tmp_path / "report.html").read_text("utf-8")


def test_what_it_cannot_take_is_refused():
    with pytest.raises(DataError, match="divided into groups"):
        OfEverybody().fit([[0, 1], [1, 0]], **RUN)
