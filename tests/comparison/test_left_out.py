"""What models predict for data that they were fitted without."""

import numpy as np
import pandas as pd
import pytest
from helpers.problems import random_comparisons, random_similarities
from helpers.sentences import refused

import thali as th
from thali._comparison.pair_holdouts import PairSplitter
from thali._testing.small_models import SMALL_MODELS
from thali.errors import ArgumentError

RUN = {"draws": 8, "tune": 4, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
MODELS = {
    "chains": {"aspects": "unique"},
    "estimate": {"aspects": "unique", "method": "maximum-likelihood"},
}
TRIALS = pd.DataFrame(
    {"first": list("abcabb"), "second": list("bcabaa"), "chosen": list("abcbab"), "size": range(6)}
)


def left(data):
    """The first pair, as a comparison leaves it out."""
    return PairSplitter(data).select_held_out_data(np.array([0]))[0]


def fitted(how, data, **arguments):
    """A model that is fitted in either way."""
    run = RUN if how == "chains" else {}
    return th.EliminationByAspects(**MODELS[how], **arguments).fit(data, **run)


def mean_of(found):
    """Over the draws, if there are any."""
    return found.mean(axis=(0, 1)) if found.ndim == 4 else found


@pytest.mark.parametrize("how", MODELS)
def test_outcomes_of_a_pair_with_ties_are_those_of_predict_outcomes(how, uncompiled):
    data = SMALL_MODELS["elimination-by-aspects, ties"].data()[0]
    model = fitted(how, data)
    found = mean_of(model._predict_left_out(left(data)))
    expected = model.predict_outcomes([("a", "b")])[["p_a", "p_tie", "p_b"]].to_numpy()
    assert found == pytest.approx(expected) and found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("how", MODELS)
def test_covariates_count_cell_by_cell_where_the_model_knows_them(how, uncompiled):
    data = th.PairedComparisons.from_trials(TRIALS, covariates=["order", "size"])
    part = left(data)
    cells = len(part.counts)
    model = fitted(how, data, covariates=["order"])
    found = mean_of(model._predict_left_out(part))
    expected = model.predict_proba(
        [part.pair] * cells, covariates={"order": part.covariates["order"]}
    )
    assert found[:, 0] == pytest.approx(expected) and len(set(expected)) > 1
    without = fitted(how, data, covariates=[])
    found = mean_of(without._predict_left_out(part))
    assert found[:, 0] == pytest.approx(np.repeat(without.predict_proba([part.pair]), cells))


def test_pairs_that_a_model_cannot_predict_are_refused(uncompiled):
    part = left(random_comparisons(3, 1))
    of_objects = th.AdditiveClustering(2, sigma=0.1).fit(random_similarities(4, 1), **RUN)
    with refused(ArgumentError, "held-out data"):
        of_objects._predict_left_out(part)
