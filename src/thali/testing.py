"""Checks that a sampler is correct, for thali's samplers and likelihoods and for yours.

Experimental: names and arguments may change in a later version.

- `calibrate`: simulation-based calibration of any model, yours or thali's: parameters from the
  prior, data from them, a fit, and the rank of the parameters among its draws.
- `check`: a likelihood of your own (`thali.likelihoods.Custom`) against its definition, by the
  transition matrices of the moves, and by a joint-distribution test, in one call.
- `exact`: follow both outcomes of every random draw of the real code, and see whether the posterior
  is left invariant.
"""

import lazy_loader

from . import _testing

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_testing.__name__, str(_testing.__file__))
