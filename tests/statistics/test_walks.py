"""Random walks of weights are accepted with the ratio of the posterior: the very code, run as
Python, step by step."""

import numpy as np
import pytest
from helpers.elimination_moves import start, target
from helpers.problems import FIXED_UNIQUE, NO_UNIQUE, TOTAL_UNIQUE, random_comparisons

import thali as th
import thali._aspects.moves.weight_walks as weights
from thali.priors import FiniteFeatures, IndianBuffet

MATRIX = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]]
PRIORS = {
    "buffet": (IndianBuffet(), FIXED_UNIQUE, 1),
    "sums of unique weights": (IndianBuffet(), TOTAL_UNIQUE, 2),
    "without unique weights": (IndianBuffet(), NO_UNIQUE, 1),
    "finite": (FiniteFeatures(3), FIXED_UNIQUE, 0),
}


class Steps:
    """A stream whose normal numbers are kept."""

    def __init__(self):
        self.rng, self.moves = np.random.default_rng(3), []

    def standard_normal(self):
        self.moves.append(self.rng.normal())
        return self.moves[-1]

    def __getattr__(self, name):
        return getattr(self.rng, name)


def first_tuning(data):
    """The step sizes that a chain begins with."""
    chain = (
        th.EliminationByAspects(tempering=False)
        .prepare(data, 1, 1, 1)
        .task.chain(np.random.default_rng(1))
    )
    return type(chain.tunings)(*(of_levels[0] for of_levels in chain.tunings))


def errors_of(walk, name, beta, accepted, monkeypatch, step_of):
    """Of every acceptance ratio of a pass against a difference of the posterior, plus that of the
    logarithmic scale."""
    prior, unique, lo = PRIORS[name]
    data = random_comparisons(4, seed=3)
    own = [0.5, 1.0, 0.8, 0.9] if unique else None
    at = start(data, MATRIX, [0.3, 0.9, 1.7], own, unique, prior, beta, lo=lo, hi=3)
    (state, cache), rng, tuning = at.pair, Steps(), first_tuning(data)
    ratios, levels, outcomes = [], [], []

    def level():
        return target(at)(at.pair)

    def noted(rng, ratio):
        levels.append(level())
        ratios.append(ratio)
        outcomes.append(accepted)
        return accepted

    monkeypatch.setattr(weights, "accept", noted)
    walk(rng, at.model, cache, state, tuning)
    assert len(ratios) == len(rng.moves) > 0
    differences = np.diff([*levels, level()])
    if not accepted:
        return np.abs(differences)
    return np.abs(ratios - differences - step_of(tuning) * np.array(rng.moves))


@pytest.mark.parametrize("beta", [1.0, 0.4])
@pytest.mark.parametrize("name", PRIORS)
def test_weights_of_columns(name, beta, monkeypatch):
    errors = errors_of(
        weights.walk_column_weights, name, beta, True, monkeypatch, lambda tuning: tuning.step[0]
    )
    assert len(errors) == 3 and errors.max() < 1e-6
    assert not errors_of(weights.walk_column_weights, name, beta, False, monkeypatch, None).any()


@pytest.mark.parametrize("beta", [1.0, 0.4])
@pytest.mark.parametrize("name", [name for name in PRIORS if PRIORS[name][1] != NO_UNIQUE])
def test_unique_weights(name, beta, monkeypatch):
    errors = errors_of(
        weights.walk_unique_weights,
        name,
        beta,
        True,
        monkeypatch,
        lambda tuning: tuning.unique_step,
    )
    assert len(errors) == 4 and errors.max() < 1e-6
    assert not errors_of(weights.walk_unique_weights, name, beta, False, monkeypatch, None).any()
