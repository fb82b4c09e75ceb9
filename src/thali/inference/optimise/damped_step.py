"""The damped step of all maximisers with second derivatives."""

import numpy as np


def damped_step(curve: np.ndarray, damping: np.ndarray, gradient: np.ndarray) -> np.ndarray | None:
    """The step, or None where the damped curvature is not positive."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    if not len(gradient):
        return gradient
    damped = curve.copy()
    damped[np.diag_indices_from(damped)] += damping
    try:
        return cho_solve(cho_factor(damped, check_finite=False), gradient, check_finite=False)
    except LinAlgError:
        return None
