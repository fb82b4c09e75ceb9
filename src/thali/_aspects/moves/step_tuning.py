"""Step sizes of the random walks, adapted during tuning only."""

import math
from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar

# positions in `step`: the random walk of column weights, the compensated weight move
COLUMN_WEIGHT = 0
COMPENSATED_WEIGHT = 1

ADAPTATION_INTERVAL = 10  # sweeps between two adaptations
UNIQUE_ACCEPTANCE = 0.44  # target acceptance rate of walks of unique weights
MAX_STEP = (5.0, 8.0)  # of the moves of `step`


class Tuning(NamedTuple):
    """Step sizes of random walks, with counts of proposals and acceptances."""

    unique_step: np.ndarray  # (n,)
    unique_tried: np.ndarray
    unique_accepted: np.ndarray
    step: np.ndarray  # (2,) SHARED, COMPENSATED_WEIGHT
    tried: np.ndarray
    accepted: np.ndarray
    target: np.ndarray  # (2,) acceptance rates aimed at


def build_tuning(n_options: int) -> Tuning:
    """Build the initial step sizes for n options."""
    return Tuning(
        unique_step=np.full(n_options, 0.5),
        unique_tried=np.zeros(n_options),
        unique_accepted=np.zeros(n_options),
        step=np.array([0.5, 1.0]),
        tried=np.zeros(2),
        accepted=np.zeros(2),
        target=np.array([0.40, 0.40]),
    )


@scalar
def select_tuning(tuning: Any, t: Any) -> Any:
    """Return views of the step sizes at temperature t."""
    return Tuning(
        tuning.unique_step[t],
        tuning.unique_tried[t],
        tuning.unique_accepted[t],
        tuning.step[t],
        tuning.tried[t],
        tuning.accepted[t],
        tuning.target[t],
    )


def compute_acceptance_rates(tuning: Tuning) -> dict[str, float]:
    """Return the acceptance rate of each move since the last adaptation, by name."""
    counts_by_move = {
        "acceptance_unique_weights": (tuning.unique_accepted.sum(), tuning.unique_tried.sum()),
        "acceptance_weights": (tuning.accepted[COLUMN_WEIGHT], tuning.tried[COLUMN_WEIGHT]),
        "acceptance_compensated_weights": (
            tuning.accepted[COMPENSATED_WEIGHT],
            tuning.tried[COMPENSATED_WEIGHT],
        ),
    }
    return {
        name: float(accepted / tried)
        for name, (accepted, tried) in counts_by_move.items()
        if tried > 0
    }


@scalar
def compute_adaptation_gain(sweep: Any, tune: int) -> Any:
    """Return the Robbins-Monro gain: 0.5 in the first third of tuning, then 0.15."""
    if 3 * sweep < tune:
        return 0.5
    return 0.15


@scalar
def adapt_step_sizes(tuning: Any, sweep: Any, tune: int) -> None:
    """Adapt the log step sizes by one Robbins-Monro step towards target acceptance.

    Steps are larger in the first third of tuning.
    """
    gain = compute_adaptation_gain(sweep, tune)
    for i in range(tuning.unique_step.size):
        if tuning.unique_tried[i] > 0:
            adapted = tuning.unique_step[i] * math.exp(
                gain * (tuning.unique_accepted[i] / tuning.unique_tried[i] - UNIQUE_ACCEPTANCE)
            )
            tuning.unique_step[i] = min(max(adapted, 1e-5), 5.0)
        tuning.unique_tried[i] = 0.0
        tuning.unique_accepted[i] = 0.0
    for j in range(tuning.step.size):
        if tuning.tried[j] > 0:
            adapted = tuning.step[j] * math.exp(
                gain * (tuning.accepted[j] / tuning.tried[j] - tuning.target[j])
            )
            tuning.step[j] = min(max(adapted, 1e-5), MAX_STEP[j])
        tuning.tried[j] = 0.0
        tuning.accepted[j] = 0.0
