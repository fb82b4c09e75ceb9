"""Triplets of which sets are left out."""

import math

import numpy as np
import pytest
from helpers.sentences import refused

import thali as th
from thali._comparison.choices import AnswerScorer, QuestionSplitter
from thali.errors import ArgumentError, DataError

DATA = th.datasets.triplets(6, 60, random_seed=2, n_features=2, share_of_owners=0.4).data
RUN = {"draws": 12, "tune": 8, "thin": 1, "chains": 2, "random_seed": 1, "cores": 1, "progressbar": False}


class Guess:
    """A model of somebody else, which knows nothing."""

    def fit(self, data, random_seed=None):
        return self

    def predict_proba(self, sets):
        return [np.full(size, 1.0 / size) for size in sets.sizes]


def test_every_answer_is_left_out_with_its_set():
    splitter = QuestionSplitter(DATA)
    parts = splitter.parts(np.random.SeedSequence(1), None, 3)
    assert np.stack(parts).sum(axis=0).tolist() == [1] * DATA.n_sets
    assert sorted(np.concatenate([splitter.units(part) for part in parts])) == list(range(60))
    for part in parts:
        (train,), test = splitter.train(part), splitter.test(part)
        assert train.n_answers + test.n_answers == 60 and train.labels == DATA.labels
        named = splitter.labels(splitter.units(part))
        assert len(named) == test.n_answers
        places = np.repeat(np.arange(len(test.counts)), test.counts.astype(int))
        assert named.get_level_values("a").tolist() == [DATA.labels[i] for i in test.first[places]]


def test_guessing_has_the_score_of_the_reference():
    table = th.compare({"guess": Guess()}, DATA, folds=3, random_seed=1, cores=1, progressbar=False)
    assert table.loc["guess", "log_score"] == pytest.approx(-math.log(3.0))
    assert table.loc["BASE", "log_score"] == pytest.approx(-math.log(3.0))
    assert table.loc["guess", "hit_rate"] == pytest.approx(1 / 3)
    assert (table["answers"] == 60).all() and (table["sets"] == DATA.n_sets).all()


def test_scores_are_those_of_the_mean_probabilities(uncompiled):
    model = th.AdditiveClustering().fit(DATA, **RUN)
    found = AnswerScorer().score(model, DATA)
    p = np.concatenate(model.predict_proba(DATA))
    named = np.repeat(np.arange(len(p)), DATA.counts.astype(int))
    assert found["log_score"] == pytest.approx(np.log(p[named]))
    best = p.reshape(-1, 3).argmax(axis=1)
    assert np.mean(found["hits"]) == pytest.approx(np.mean(named % 3 == best[named // 3]))


@pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
def test_models_of_triplets_are_compared(uncompiled):
    models = {"one": th.AdditiveClustering(1), "guess": Guess()}
    table = th.compare(models, DATA, folds=2, **RUN)
    assert table.attrs["best"] in models and np.isfinite(table["log_score"]).all()


def test_what_cannot_be_compared():
    with refused(ArgumentError, "requires paired"):
        th.compare({"EBA": th.EliminationByAspects()}, DATA)
    with pytest.raises(ArgumentError, match="`leave_out` must be"):
        th.compare({"it": th.AdditiveClustering()}, DATA, leave_out="pair")
    with pytest.raises(DataError, match="fractional weights"):
        th.compare({"it": th.AdditiveClustering()}, DATA.with_answers(DATA.counts / 2))
