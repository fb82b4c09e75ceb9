"""What models predict for data that they were fitted without."""

import numpy as np
import pytest
from helpers.problems import random_comparisons, random_similarities
from helpers.sentences import refused

import thali as th
from thali._data.pairs.parts import LeftPair
from thali._testing.smallest import SMALLEST
from thali.errors import ArgumentError, NotFittedError

RUN = {"draws": 8, "tune": 4, "chains": 2, "thin": 1, "random_seed": 1, "progressbar": False}
pytestmark = pytest.mark.filterwarnings("ignore::thali.errors.ThaliWarning")
MODELS = {"chains": {"aspects": "unique"}, "estimate": {"aspects": "unique", "method": "maximum-likelihood"}}
TWO, THREE = np.ones((1, 2)), np.ones((1, 3))


def fitted(how, data, **arguments):
    """A model that is fitted in either way."""
    run = RUN if how == "chains" else {}
    return th.EliminationByAspects(**MODELS[how], **arguments).fit(data, **run)


def mean_of(found):
    """Over the draws, if there are any."""
    return found.mean(axis=(0, 1)) if found.ndim == 4 else found


@pytest.mark.parametrize("how", MODELS)
def test_outcomes_of_a_pair_are_those_of_predict_proba(how, uncompiled):
    model = fitted(how, random_comparisons(3, 1))
    found = mean_of(model.predict_left_out(LeftPair(("2", "0"), TWO)))
    assert found.shape == (1, 2) and found.sum() == pytest.approx(1.0)
    assert found[0, 0] == pytest.approx(model.predict_proba([("2", "0")])[0])


@pytest.mark.parametrize("how", MODELS)
def test_outcomes_of_a_pair_with_ties_are_those_of_predict_outcomes(how, uncompiled):
    model = fitted(how, SMALLEST["elimination-by-aspects, ties"].data()[0])
    found = mean_of(model.predict_left_out(LeftPair(("c", "a"), THREE)))
    expected = model.predict_outcomes([("c", "a")])[["p_a", "p_tie", "p_b"]].to_numpy()
    assert found == pytest.approx(expected) and found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("how", MODELS)
def test_covariates_count_cell_by_cell_where_the_model_knows_them(how, uncompiled):
    data, order = SMALLEST["elimination-by-aspects, covariates"].data()[0], np.array([1.0, -1.0])
    part = LeftPair(("a", "b"), np.ones((2, 2)), {"order": order, "unknown": order})
    model = fitted(how, data)
    found = mean_of(model.predict_left_out(part))
    expected = model.predict_proba([("a", "b")] * 2, covariates={"order": order})
    assert found[:, 0] == pytest.approx(expected) and found[0, 0] != found[1, 0]
    without = fitted(how, data, covariates=[])
    found = mean_of(without.predict_left_out(part))
    assert found[:, 0] == pytest.approx(np.repeat(without.predict_proba([("a", "b")]), 2))


def test_similarities_have_a_mean_and_a_standard_deviation_in_every_draw(uncompiled):
    data = random_similarities(4, 1)
    model = th.AdditiveClustering(2, sigma=0.1).fit(data, **RUN)
    mean, deviation = model.predict_left_out(data)
    assert mean.shape == deviation.shape == (2, 8, data.n_pairs) and deviation == pytest.approx(0.1)
    fitted = model.estimate().similarity.to_numpy()[data.first, data.second]
    assert mean.mean(axis=(0, 1)) == pytest.approx(fitted)


def test_bad_input(uncompiled):
    part = LeftPair(("0", "1"), TWO)
    with pytest.raises(NotFittedError):
        th.EliminationByAspects().predict_left_out(part)
    groups = {"women": random_comparisons(3, 1), "men": random_comparisons(3, 2)}
    model = th.EliminationByAspects("unique", people=th.people.Groups()).fit(groups, **RUN)
    with refused(ArgumentError, "predict_left_out", "of_group", "'women'"):
        model.predict_left_out(part)
    assert model.of_group("men").predict_left_out(part).shape == (2, 8, 1, 2)
    of_objects = th.AdditiveClustering(2, sigma=0.1).fit(random_similarities(4, 1), **RUN)
    with refused(ArgumentError, "predict_left_out"):
        of_objects.predict_left_out(part)
