"""Ranks of truths from the prior among draws given data simulated from them (Talts et al. 2018)."""

import numpy as np
import pytest
from people_chains import run_chains, spread_between_people
from people_problems import build_study, draw_variables, simulate_answers
from scipy.stats import kstest

pytestmark = [pytest.mark.long, pytest.mark.study, pytest.mark.fit]

N_DATA_SETS = 200
TAILS = (0.055, 0.945)
DESIGNS = [
    {"rule": "order", "set_size": 2, "has_ties": True, "lapse": 0.01},
    {"rule": "reversed", "set_size": 4, "lapse": 0.05},
    {"rule": "order", "set_size": 5, "depth": 4},
    {"rule": "reversed", "set_size": 3},
]


def rank_truth(seed: int, n_directions: int) -> dict[str, float]:
    """Simulate a truth and data from the prior; returns the shares of draws below the truth."""
    rng = np.random.default_rng(seed)
    study = build_study(rng, n_people=8, n_options=5, n_sets=6, q=1, **DESIGNS[seed % 4])
    truth = draw_variables(rng, study, n_directions)
    study = simulate_answers(rng, study, truth.worths, np.log(truth.nu or 1.0))
    draws = run_chains(study, seed, n_directions, draws=100, tune=20, thin=15)
    population, worths = centre(draws.population), centre(draws.worths)
    true_population, true_worths = centre(truth.population), centre(truth.worths)
    loadings = centre(truth.loadings)
    pairs = {
        "sigma": (np.exp(draws.log_sigma), truth.sigma),
        "s": (np.exp(draws.log_s), truth.s),
        "spread": (spread_between_people(draws), np.sqrt(truth.sigma**2 + (loadings**2).sum() / 4)),
        "worth": (population[..., 0, 0], true_population[0, 0]),
        "effect": (population[..., 1, 1], true_population[1, 1]),
        "individual worth": (worths[..., 0, 2], true_worths[0, 2]),
        "other individual worth": (worths[..., 7, 0], true_worths[7, 0]),
    }
    return {name: float((values < true).mean()) for name, (values, true) in pairs.items()}


@pytest.mark.parametrize("n_directions", [0, 2])
def test_intervals_of_individual_worths_are_calibrated(n_directions):
    """Ranks are uniform; 89 % intervals contain the truth as often as they say."""
    rows = [rank_truth(seed, n_directions) for seed in range(N_DATA_SETS)]
    p_values = {}
    for name in rows[0]:
        ranks = np.array([row[name] for row in rows])
        covered = ((ranks > TAILS[0]) & (ranks < TAILS[1])).mean()
        p_values[name] = kstest(ranks, "uniform").pvalue
        print(
            f"K = {n_directions}: {name:24s} intervals contain {covered:.3f}, p"
            f" {p_values[name]:.3f}"
        )
    assert min(p_values.values()) > 1e-4, p_values


def centre(values: np.ndarray) -> np.ndarray:
    """Subtract the mean over options."""
    return values - values.mean(axis=-1, keepdims=True)
