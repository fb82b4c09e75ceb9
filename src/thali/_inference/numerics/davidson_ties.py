"""Davidson's model of ties; `davidson_likelihood` has its likelihood and derivatives."""

import numpy as np


def compute_win_tie_loss(p: np.ndarray, q: np.ndarray, nu: np.ndarray | float) -> np.ndarray:
    """Return P(win), P(tie), P(loss) along a new last axis, by Davidson's model.

    r = nu sqrt(p q), where q = 1 - p; p, r and q over 1 + r
    """
    r = nu * np.sqrt(p * q)
    return np.stack(np.broadcast_arrays(p, r, q), axis=-1) / (1.0 + r)[..., None]
