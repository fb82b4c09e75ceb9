"""Natural logarithm for vector instructions."""

from typing import Any

import numpy as np

from thali._compile.jit import vectorised

LN2 = 0.6931471805599453
_SQRT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
_SHIFT = np.int64(52)


@vectorised
def fast_log(x: Any) -> Any:
    """Return the natural logarithm of a positive normal number, with error 1e-14.

    x = 2^k r with r in [sqrt(1/2), sqrt(2)); log r = 2 artanh((r - 1)/(r + 1)) by its series.
    """
    bits = np.float64(x).view(np.int64)
    k = (bits - _SQRT_HALF) >> _SHIFT
    r = np.int64(bits - (k << _SHIFT)).view(np.float64)
    t = (r - 1.0) / (r + 1.0)
    z = t * t
    p = 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    p = p * z + 2.0
    return k * LN2 + p * t
