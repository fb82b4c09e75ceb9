"""Weights that make respondents a sample of their population: the Bayesian bootstrap."""

import numpy as np

from thali._inference.random_seeds import RandomSeed, build_seed_sequence, spawn_generators
from thali._labels import format_plural

RESPONDENTS = "respondents"  # the argument `people` of tables about the respondents themselves


def draw_exponentials(n_draws: int, n_respondents: int, random_seed: RandomSeed) -> np.ndarray:
    """Draw standard exponentials (draws, respondents) from a separate random stream.

    Divided by their sum they are weights of the Bayesian bootstrap, Dirichlet(1, ..., 1) (Rubin
    1981).
    """
    return spawn_generators(build_seed_sequence(random_seed).spawn(1)[0], 1)[
        0
    ].standard_exponential((n_draws, n_respondents))


def describe_population(n_respondents: int) -> str:
    """Return words for the population of which the respondents are a sample."""
    return f"in the population (estimated from {format_plural(n_respondents, 'respondent')})"


def describe_sample(n_respondents: int) -> str:
    """Return words for the respondents themselves."""
    return f"of {format_plural(n_respondents, 'respondent')}"
