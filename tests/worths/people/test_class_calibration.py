"""Ranks of truths from the prior of latent classes among draws given data simulated from them
(Talts et al. 2018)."""

import math

import numpy as np
import pytest
from class_chains import run_class_chains
from people_problems import build_study, simulate_answers
from scipy.stats import kstest

pytestmark = [pytest.mark.long, pytest.mark.study, pytest.mark.fit]

N_DATA_SETS, N_PEOPLE, N_CLASSES = 200, 12, 2
TAILS = (0.055, 0.945)
DESIGNS = [
    {"rule": "order", "set_size": 2, "n_sets": 10},
    {"rule": "reversed", "set_size": 4, "n_sets": 5, "lapse": 0.05},
    {"rule": "order", "set_size": 5, "depth": 4, "n_sets": 2},
]


def rank_truth(seed: int, is_similar: bool) -> dict[str, float]:
    """Simulate a truth and data from the prior; returns the shares of draws below the truth."""
    rng = np.random.default_rng(seed)
    study = build_study(rng, n_people=N_PEOPLE, n_options=5, q=0, **DESIGNS[seed % 3])
    s = 1.3 * math.exp(rng.normal())
    mean, sigma = np.zeros(5), s
    if is_similar:
        mean, sigma = s * rng.normal(size=5), abs(rng.normal())
    worths = mean + sigma * rng.normal(size=(N_CLASSES, 5))
    worths -= worths.mean(axis=1, keepdims=True)
    class_of = rng.choice(N_CLASSES, N_PEOPLE, p=rng.dirichlet(np.ones(N_CLASSES)))
    study = simulate_answers(rng, study, worths[class_of])
    draws = run_class_chains(study, seed, is_similar, draws=200, tune=200)
    of_people, z = draws.of_people, draws.class_of
    largest = np.stack([(z == g).mean(axis=-1) for g in range(N_CLASSES)]).max(axis=0)
    true_largest = np.bincount(class_of).max() / N_PEOPLE
    pairs = {
        "s": (draws.log_s, np.log(s)),
        "sigma": (draws.log_sigma, np.log(sigma)),
        "worth": (of_people[:, :, 0, 0], worths[class_of[0], 0]),
        "other worth": (of_people[:, :, 7, 3], worths[class_of[7], 3]),
        "apart": (
            np.abs(of_people[:, :, 0] - of_people[:, :, 1]).sum(axis=-1),
            np.abs(worths[class_of[0]] - worths[class_of[1]]).sum(),
        ),
        "largest class": (largest, true_largest),
    }
    found = {}
    for name, (values, true) in pairs.items():  # ties are broken at random
        below, same = (values < true - 1e-12).mean(), (np.abs(values - true) <= 1e-12).mean()
        found[name] = float(below + rng.random() * same)
    return found


@pytest.mark.parametrize("is_similar", [False, True], ids=["free", "similar"])
def test_classes_are_calibrated(is_similar):
    """Ranks are uniform; 89 % intervals contain the truth as often as they say."""
    rows = [rank_truth(seed, is_similar) for seed in range(N_DATA_SETS)]
    p_values = {}
    for name in rows[0]:
        ranks = np.array([row[name] for row in rows])
        covered = ((ranks > TAILS[0]) & (ranks < TAILS[1])).mean()
        p_values[name] = kstest(ranks, "uniform").pvalue
        print(f"{name:14s} intervals contain {covered:.3f}, p {p_values[name]:.3f}")
    assert min(p_values.values()) > 1e-4, p_values
