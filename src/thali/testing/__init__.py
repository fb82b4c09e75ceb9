"""Checks that a sampler is correct, for thali's samplers and likelihoods and for yours.

- `calibrate`: simulation-based calibration of any model, yours or thali's: parameters from the prior, data from them, a
  fit, and the rank of the parameters among its draws.
- `check`: the three below on a likelihood of your own (`thali.likelihoods.Custom`), in one call.
- `exact`: follow both outcomes of every random draw of the real code, and see whether the posterior is left invariant.
- `joint`: alternate between sampler and simulated data; every quantity must keep its prior distribution.
- `naive`: slow and obvious evaluations that fast code must agree with.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
