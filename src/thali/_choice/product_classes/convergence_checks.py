"""Convergence checks of product classes: climbing chains, predictions, parameters a and sigma."""

import math
from typing import NamedTuple

import numpy as np

from thali._posterior.posterior_tree import PosteriorTree
from thali._posterior.summary_table import compute_ess_and_r_hat

INTERPRETABLE = 1.05  # R-hat of a or sigma up to which it can be interpreted
_CONFIDENCE = 0.99  # probability of Student's t beyond which a gain counts
_MIN_GAIN, _MIN_DRAWS = 1.0, 5  # nats, and draws of a quarter


class LikelihoodGain(NamedTuple):
    """Mean log-likelihood gain of chains late in the run, with standard error."""

    gain: float
    error: float  # standard error over chains


def estimate_climb(posterior: PosteriorTree) -> LikelihoodGain | None:
    """Return the log-likelihood gain of chains if they still climb, else None."""
    from scipy.special import stdtrit

    log_likelihoods = posterior.log_likelihood
    n_chains = len(log_likelihoods)
    quarter_length = log_likelihoods.shape[1] // 4
    if n_chains < 2 or quarter_length < _MIN_DRAWS:
        return None
    gain_by_chain = log_likelihoods[:, -quarter_length:].mean(axis=1) - log_likelihoods[
        :, -2 * quarter_length : -quarter_length
    ].mean(axis=1)
    climb = LikelihoodGain(
        float(gain_by_chain.mean()), float(gain_by_chain.std(ddof=1)) / math.sqrt(n_chains)
    )
    is_climbing = climb.gain > max(_MIN_GAIN, stdtrit(n_chains - 1, _CONFIDENCE) * climb.error)
    if not is_climbing:
        return None
    return climb


def parameter_r_hats(posterior: PosteriorTree) -> np.ndarray:
    """Return R-hat of the parameters a and sigma, shape (2,)."""
    return compute_ess_and_r_hat(
        np.stack([posterior.draws[name].values for name in ("value_shape", "stability")])
    )[1]


def format_chain_remarks(posterior: PosteriorTree, agrees: bool) -> tuple[str, ...]:
    """Return sentences on prediction differences and on R-hat of a and sigma."""
    sentences = []
    prediction_difference = float(posterior.stats.get("prediction_difference", math.nan))
    if math.isfinite(prediction_difference):
        sentences.append(
            " Predicted choice probabilities would differ from those of another run by about"
            f" {prediction_difference:.3f} (root mean square)."
        )
    largest_r_hat = float(parameter_r_hats(posterior).max())
    if largest_r_hat > INTERPRETABLE:
        advice = ", so do not interpret them"
        if agrees:
            advice = "; they agree on shares, effects and predictions"
        sentences.append(f" The chains disagree on the parameters a and sigma{advice}.")
    return tuple(sentences)


def describe_parameters(posterior: PosteriorTree) -> tuple[str, str]:
    """Return a label, and text with posterior means of a and sigma.

    Means are omitted if R-hat is too large to interpret them.
    """
    r_hats = parameter_r_hats(posterior)
    estimates_text = "not interpretable"
    if not r_hats.max() > INTERPRETABLE:
        posterior_means = [
            float(posterior.draws[name].mean()) for name in ("value_shape", "stability")
        ]
        estimates_text = ", ".join(f"{mean:.2f}" for mean in posterior_means)
    return "a, sigma", estimates_text
