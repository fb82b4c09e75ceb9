"""Groups of people in models of features: data of common weights are pooled, all else is refused."""

import pandas as pd
import pytest
from helpers.problems import random_comparisons
from helpers.sentences import refused
from helpers.set_problems import random_choices

import thali as th
from thali._data.grouped_data import GroupedData
from thali.errors import ArgumentError, DataError

RUN = {"draws": 12, "tune": 3, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
COMMON = th.people.Groups("common")
UNEQUAL = (
    th.people.Individuals(),
    th.people.LatentClasses(2),
    th.people.Groups(),
    th.people.Groups("similar"),
)
DATA = {
    "pairs": (
        th.EliminationByAspects,
        {"a": random_comparisons(3, 1), "b": random_comparisons(3, 2)},
    ),
    "sets": (
        th.EliminationByAspects,
        {"a": random_choices(3, (2, 3), 1), "b": random_choices(4, (2, 3), 2)},
    ),
    "triplets": (
        th.AdditiveClustering,
        {"a": th.Triplets([list("abc"), list("abd")]), "b": th.Triplets([list("cda")])},
    ),
}
pytestmark = [
    pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning"),
    pytest.mark.usefixtures("uncompiled"),
]


@pytest.mark.long
@pytest.mark.fit
@pytest.mark.parametrize("name", DATA)
def test_common_weights_are_those_of_the_pooled_data(name, tmp_path):
    model, data = DATA[name]
    together = model(people=COMMON).fit(data, **RUN)
    pooled = model().fit(GroupedData(data).pooled(), **RUN)
    for part in ("posterior", "latent_features"):
        assert together.posterior_[part].equals(pooled.posterior_[part])
    assert not hasattr(together, "of_group") and not hasattr(together, "respondents")
    together.save(tmp_path / "fit.nc")
    assert th.load(tmp_path / "fit.nc").summary().equals(pooled.summary())


@pytest.mark.parametrize("people", UNEQUAL, ids=repr)
def test_people_of_unequal_weights_are_refused_in_favour_of_worths(people):
    for model, data in DATA.values():
        for given in (data, GroupedData(data).pooled()):
            with refused(ArgumentError, "people", repr(people), "BradleyTerryLuce"):
                model(people=people).fit(given, **RUN)


def test_groups_are_common_or_refused():
    for model, data in DATA.values():
        for people in (None, "independent", "adjusted"):
            with refused(DataError, "2 groups", f"people={COMMON!r}"):
                model(people=people).fit(data, **RUN)
        with refused(DataError, f"people={COMMON!r}", "by_group"):
            model(people=COMMON).fit(next(iter(data.values())), **RUN)


def test_best_and_worst_of_groups_are_not_joined_with_choices():
    rows = {f"item{k}": [str(k)] for k in range(4)} | {"best": ["0"], "worst": ["3"]}
    best_worst = th.Choices.from_best_worst(pd.DataFrame(rows))
    with refused(DataError, "best-worst choices and"):
        th.EliminationByAspects(people=COMMON).fit(
            {"a": best_worst, "b": random_choices(3, (2, 3), 1)}, **RUN
        )
