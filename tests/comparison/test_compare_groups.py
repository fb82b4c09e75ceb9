"""Models of groups of people compared by the pairs that one group compared."""

import numpy as np
import pytest
from helpers.problems import random_comparisons
from helpers.short_comparisons import sentences

import thali as th
from thali._comparison.pair_holdouts import PairSplitter
from thali._comparison.splitter import GroupSplitter
from thali._data.grouped_data import GroupedData
from thali.errors import DataError


@pytest.fixture
def data():
    return GroupedData({"women": random_comparisons(3, 1), "men": random_comparisons(3, 2)})


def test_each_pair_of_each_group_is_left_out_once(data):
    splitter = GroupSplitter(PairSplitter, data)
    parts = splitter.list_parts(np.random.SeedSequence(1), None, None)
    assert len(parts) == sum(each.n_pairs for each in data.data)
    for part in parts:
        (rest,), ((group, (left,)),) = (
            splitter.select_training_data(part),
            splitter.select_held_out_data(part).items(),
        )
        other = next(name for name in data if name != group)
        assert rest[other] == data[other] and rest[group].n_pairs == data[group].n_pairs - 1
        i, j = (data.labels.index(label) for label in left.pair)
        assert left.counts.tolist() == [[data[group].counts[i, j], data[group].counts[j, i]]]
        assert rest[group].counts[i, j] == 0
    folds = splitter.list_parts(np.random.SeedSequence(1), None, 3)
    assert sorted(np.concatenate([splitter.list_units(part) for part in folds])) == list(range(6))


def test_a_group_with_one_pair_cannot_lose_it(data):
    alone = th.PairedComparisons([[0, 1], [2, 0]])
    with pytest.raises(DataError, match="Group 'b' compared only one pair"):
        GroupSplitter(PairSplitter, GroupedData({"a": data["men"], "b": alone}))


@pytest.mark.long
def test_models_are_scored_by_group(data, uncompiled):
    models = {
        "common": th.EliminationByAspects([[1], [1], [0]], people=th.people.Groups("common")),
        "similar": th.BradleyTerryLuce(people=th.people.Groups("similar")),
    }
    settings = dict(draws=8, tune=4, chains=2, thin=1, cores=1, random_seed=1, progressbar=False)
    table = th.compare(models, dict(data), **settings)
    assert table.loc["common", "pairs"] == 6 and set(table.attrs["predictions"]["group"]) == {
        "women",
        "men",
    }
    assert " by women" in " ".join(sentences(table)) or " by men" in " ".join(sentences(table))
