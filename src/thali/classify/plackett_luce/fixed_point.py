"""The published rule for a < 1, normalised to total weight one."""

from typing import Any

import numpy as np

from thali.errors import DataError

_CONVERGED = 1e-12  # change of a weight in a step, relative to the total, at which the rule has converged


def fixed_point(data: Any, weights: np.ndarray, a: float, max_passes: int, tolerance: float = _CONVERGED) -> Any:
    """Repeat λ ← max(λ R − (1 − a), 0) / s, divided by its sum.

    The density of λ is unbounded where a weight is zero, so this is no ascent to a maximum: its limit depends on the
    start, and a weight that is zero stays zero. Without the division the total would shrink in every step, by
    1 − m (1 − a) / n with m weights left, whatever b is, and underflow in the end.
    """
    converged, passes = False, 0
    while passes < max_passes and not converged:
        sums = data.statistics(weights, weights.sum(axis=0))
        passes += 1
        counts = weights * sums.R - (1.0 - a)
        updated = np.where(counts > 0.0, counts, 0.0) / np.where(sums.s > 0.0, sums.s, 1.0)
        if not (updated.sum(axis=1) > 0.0).all():
            raise DataError(
                f"With a = {a:g} the rule for sparse weights sets all weights of a class to zero at once: every one "
                f"explains fewer than 1 − a = {1.0 - a:g} rows. Choose a nearer to 1, or a = 1."
            )
        updated /= updated.sum()
        converged = bool(np.abs(updated - weights).max() <= tolerance)
        weights = updated
    return weights, data.statistics(weights, weights.sum(axis=0)), passes + 1, converged
