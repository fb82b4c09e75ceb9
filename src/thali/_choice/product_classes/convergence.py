"""What the convergence check of product classes says beside R-hat and effective sample size of
shares and effects."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali._posterior.summary import bulk_and_r_hat
from thali._posterior.view import PosteriorTree

if TYPE_CHECKING:
    pass

INTERPRETABLE = 1.05  # R-hat of a or sigma up to which it can be interpreted
_CERTAIN = 0.99  # probability of Student's t beyond which a gain counts
_LEAST_GAIN, _LEAST_DRAWS = 1.0, 5  # nats, and draws of a quarter


class LikelihoodGain(NamedTuple):
    """How much the mean log-likelihood of the last quarter of the draws exceeds that of the
    third."""

    gain: float
    error: float  # standard error over chains


def climb_of(posterior: PosteriorTree) -> LikelihoodGain | None:
    """Return the gain of chains that still climb towards the posterior; None for others."""
    from scipy.special import stdtrit

    values = posterior.log_likelihood
    chains, quarter = len(values), values.shape[1] // 4
    if chains < 2 or quarter < _LEAST_DRAWS:
        return None
    gains = values[:, -quarter:].mean(axis=1) - values[:, -2 * quarter : -quarter].mean(axis=1)
    climb = LikelihoodGain(float(gains.mean()), float(gains.std(ddof=1)) / math.sqrt(chains))
    return (
        climb
        if climb.gain > max(_LEAST_GAIN, stdtrit(chains - 1, _CERTAIN) * climb.error)
        else None
    )


def parameter_r_hats(posterior: PosteriorTree) -> np.ndarray:
    """Return the R-hat of a and of sigma."""
    return bulk_and_r_hat(
        np.stack([posterior.draws[name].values for name in ("value_shape", "stability")])
    )[1]


def remarks_on(posterior: PosteriorTree, agrees: bool) -> tuple[str, ...]:
    """Return sentences on predictions, and on a and sigma where their chains differ."""
    sentences = []
    difference = float(posterior.stats.get("prediction_difference", math.nan))
    if math.isfinite(difference):
        sentences.append(
            f" Predictions of another run would differ by {difference:.3f} (root mean square)."
        )
    largest = float(parameter_r_hats(posterior).max())
    if largest > INTERPRETABLE:
        others = (
            "; they agree on shares, effects and predictions"
            if agrees
            else ", so do not interpret them"
        )
        sentences.append(
            f" The chains disagree on the parameters a and sigma (R-hat {largest:.2f}){others}."
        )
    return tuple(sentences)


def parameters_fact(posterior: PosteriorTree) -> tuple[str, str]:
    """Return the posterior means of a and sigma with their R-hat, or that these cannot be
    interpreted."""
    r_hats = parameter_r_hats(posterior)
    means = ", ".join(
        f"{float(posterior.draws[name].mean()):.2f}" for name in ("value_shape", "stability")
    )
    values = "not interpretable" if r_hats.max() > INTERPRETABLE else means
    return "a, sigma", f"{values} (R-hat {', '.join(f'{r_hat:.2f}' for r_hat in r_hats.tolist())})"
