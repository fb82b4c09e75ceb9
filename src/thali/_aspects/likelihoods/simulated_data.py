"""Simulation of answers at the features and weights of one posterior draw."""

from typing import Any, NamedTuple

import numpy as np


class SimulatedData(NamedTuple):
    """Simulated answers or similarities, and their log-likelihood."""

    data: Any  # an argument of `fit`
    observed: dict[str, np.ndarray]  # by names in the group observed_data
    log_likelihood: float  # of the simulated data, including all constants


def simulate_answers(
    data: Any, p: np.ndarray, ties: bool, rng: np.random.Generator
) -> SimulatedData:
    """Simulate answers to the questions of `data`, multinomial with probabilities p."""
    questions = data.questions(ties)
    counts = questions.simulate_counts(p, rng)
    log_likelihood = questions.with_counts(counts).log_likelihoods(p).sum()
    return SimulatedData(data.with_answers(counts), {"chosen": counts}, float(log_likelihood))
