"""How much one feature explains: the likelihood that it adds, its weight integrated out."""

from typing import Any

import numpy as np

# The integrand of `_log_integral` is followed down to exp(-DEPTH) of its largest value, on so many nodes.
DEPTH = 45.0
NODES = 640
# Elements for which `_log_integral` works at once: 20 MiB.
_GRID_BLOCK = 4096


def log_feature_gain(A: Any, B: Any, sigma2: Any, shape: Any, rate: Any) -> np.ndarray:
    r"""Log of the factor by which a feature raises the likelihood of the similarities, its weight integrated out.

    .. math:: \log \int_0^\infty \mathrm{Gamma}(w; \text{shape}, \text{rate})\,
       \exp\left(\frac{w B - w^2 A / 2}{\sigma^2}\right) dw
    """
    A, B, sigma2, shape, rate = (a.astype(float) for a in np.broadcast_arrays(A, B, sigma2, shape, rate))
    gain = np.zeros(A.shape)
    some = A > 0
    A, B, sigma2, shape, rate = (a[some] for a in (A, B, sigma2, shape, rate))
    z = (B - rate * sigma2) / np.sqrt(A * sigma2)
    integral = np.empty(z.shape)
    for branch, chosen in (
        (_log_integral_1, shape == 1.0),
        (_log_integral_2, shape == 2.0),
        (_log_integral, (shape != 1.0) & (shape != 2.0)),
    ):
        integral[chosen] = branch(z[chosen], shape[chosen])
    gain[some] = shape * (np.log(rate) + 0.5 * np.log(sigma2 / A)) + integral
    return gain


# Each returns the log of the integral over t > 0 of t^(shape - 1) exp(z t - t^2 / 2), divided by Gamma(shape).


def _log_integral_1(z: np.ndarray, _shape: np.ndarray) -> np.ndarray:
    from scipy.special import erfcx, log_ndtr

    below = np.log(np.sqrt(np.pi / 2) * erfcx(-np.minimum(z, 5.0) / np.sqrt(2)))
    return np.where(z < 5, below, 0.5 * z**2 + log_ndtr(z) + 0.5 * np.log(2 * np.pi))


def _log_integral_2(z: np.ndarray, _shape: np.ndarray) -> np.ndarray:
    """log(1 + z M(z)), M the integral for shape 1; below -50 its first terms in 1 / z^2, for there the sum cancels."""
    log_m = _log_integral_1(z, _shape)
    q = 1.0 / np.minimum(z, -50.0) ** 2
    far = np.log(q) + np.log1p(q * (-3.0 + q * (15.0 - 105.0 * q)))
    within = (z >= -50) & (z < 5)
    near = np.log1p(np.where(within, z, 0.0) * np.exp(np.where(within, log_m, 0.0)))
    log_product = np.log(np.maximum(z, 5.0)) + np.maximum(log_m, 0.0)
    high = log_product + np.log1p(np.exp(-log_product))
    return np.where(within, near, np.where(z < 5, far, high))


def _log_integral(z: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """By the trapezoidal rule in log t, around the mode there."""
    from scipy.special import gammaln

    # the mode of t^shape exp(z t - t^2 / 2), without cancellation on either side
    root = np.sqrt(z**2 + 4 * shape)
    t = np.where(z > 0, 0.5 * (z + root), 2 * shape / (root - np.minimum(z, 0.0)))
    top = shape * (np.log(t) - 1.0) + 0.5 * t**2
    total = np.empty(z.shape)
    for start in range(0, z.size, _GRID_BLOCK):
        part = slice(start, start + _GRID_BLOCK)
        steps, width = log_grid(shape[part], t[part])
        # z t = t^2 - shape at the mode
        growth = np.expm1(steps)
        drop = shape[part, None] * (growth - steps) + 0.5 * (t[part, None] * growth) ** 2
        total[part] = np.log(np.exp(-drop).sum(axis=1)) + np.log(width)
    return top + total - gammaln(shape)


def log_grid(shape: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and widths of the trapezoidal rule over d for exp(-shape (e^d - 1 - d) - t^2 (e^d - 1)^2 / 2).

    Whatever falls at least as fast on both sides of 0 may be integrated on them.
    """
    tiny = np.maximum(t, 1e-300)
    reach = np.sqrt(2 * DEPTH) / tiny  # in e^d, where the second term alone is DEPTH
    slow = DEPTH / shape
    high = np.log1p(np.minimum(reach, slow + np.sqrt(slow**2 + 2 * slow)))
    # far to the left the second term stays at t^2 / 2
    left = np.where(reach < 1, np.log1p(-np.minimum(reach, 1 - 1e-12)), -np.inf)
    low = np.maximum(left, -(np.maximum(DEPTH - 0.5 * t**2, 0.0) / shape + 1.0 + 2.0 / (1.0 + 0.1 * t)))
    width = (high - low) / (NODES - 1)
    return low[:, None] + width[:, None] * np.arange(NODES), width
