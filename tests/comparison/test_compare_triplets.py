"""Triplets of which sets are left out."""

import numpy as np
import pytest
from helpers.sentences import refused

import thali as th
from thali.errors import ArgumentError, DataError

DATA = th.datasets.triplets(6, 60, random_seed=2, n_features=2, share_of_owners=0.4).data


class Guess:
    """A model of somebody else, which knows nothing."""

    def fit(self, data, random_seed=None):
        return self

    def predict_proba(self, sets):
        return [np.full(size, 1.0 / size) for size in sets.sizes]


def test_every_answer_is_left_out_with_its_set():
    fitted, asked = [], []

    class Watching(Guess):
        def fit(self, data, random_seed=None):
            fitted.append(data)
            return self

        def predict_proba(self, sets):
            asked.append(sets)
            return super().predict_proba(sets)

    table = th.compare({"it": Watching()}, DATA, folds=3, random_seed=1, cores=1, progressbar=False)
    named = table.attrs["answers"].index
    assert len(named) == 60 and named.get_level_values("set").nunique() == DATA.n_sets
    assert sum(test.n_sets for test in asked) == DATA.n_sets and len(fitted) == 3
    for train, test in zip(fitted, asked, strict=True):
        assert train.n_answers + test.n_answers == 60 and train.labels == DATA.labels
    counts = DATA.counts.astype(int)
    most_similar = [
        sorted((DATA.labels[i], DATA.labels[j]))
        for i, j in zip(DATA.first, DATA.second, strict=True)
    ]
    wanted = sorted(pair for pair, n in zip(most_similar, counts, strict=True) for _ in range(n))
    assert sorted(sorted(pair) for _, *pair in named) == wanted


class Sure(Guess):
    """By the order of labels some pairs are likelier."""

    def predict_proba(self, sets):
        odds = 1.0 + (sets.first + 2 * sets.second) % 5
        return [each / each.sum() for each in np.split(odds, np.cumsum(sets.sizes)[:-1])]


def test_scores_are_those_of_the_probabilities():
    table = th.compare({"it": Sure()}, DATA, folds=3, random_seed=1, cores=1, progressbar=False)
    p = np.concatenate(Sure().predict_proba(DATA))
    named = np.repeat(np.arange(len(p)), DATA.counts.astype(int))
    assert table.loc["it", "log_score"] == pytest.approx(np.log(p[named]).mean())
    best = p.reshape(-1, 3)
    is_best = np.isclose(best, best.max(axis=1, keepdims=True))
    hits = (is_best / is_best.sum(axis=1, keepdims=True)).ravel()[named]  # which likely ones share
    assert table.loc["it", "hit_rate"] == pytest.approx(hits.mean())
    assert table.loc["BASE", "log_score"] == pytest.approx(-np.log(3.0))
    assert (table["answers"] == 60).all() and (table["sets"] == DATA.n_sets).all()


def test_models_that_cannot_predict_triplets_are_refused():
    with refused(ArgumentError, "requires paired"):
        th.compare({"EBA": th.EliminationByAspects()}, DATA)
    with pytest.raises(ArgumentError, match="`leave_out` must be"):
        th.compare({"it": th.AdditiveClustering()}, DATA, leave_out="pair")
    with pytest.raises(DataError, match="fractional weights"):
        th.compare({"it": th.AdditiveClustering()}, DATA.with_answers(DATA.counts / 2))
