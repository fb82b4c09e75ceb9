"""Newton's method for concave log-likelihoods."""

from collections.abc import Callable

import numpy as np

ROUGH = 1e-8  # gain of a step below which only the value counts; the value may be a limit
Local = tuple[float, np.ndarray, np.ndarray]  # value, gradient, information (minus the Hessian)


def ascend_concave(at: Callable[[np.ndarray], Local], start: np.ndarray, least: float = 1e-13) -> np.ndarray:
    """The maximum, by Newton steps that are halved until they gain, while the predicted gain exceeds the least."""
    here = start
    value, gradient, information = at(here)
    for _ in range(200):
        step = np.linalg.solve(information, gradient)
        if gradient @ step < least:
            return here + step
        for _ in range(60):
            found = at(here + step)
            if found[0] > value or gradient @ step < 1e-9:
                break
            step = step / 2
        here = here + step
        value, gradient, information = found
    return here
