"""Correctness checks of models and likelihoods, for thali's and for yours.

Experimental: names and arguments may change in a later version.

- `calibrate`: simulation-based calibration of any model: draw parameters from the prior, simulate
  data, fit, and rank the parameters among the draws.
- `check`: compare a custom likelihood (`thali.likelihoods.Custom`) with its definition, by the
  transition matrices of the moves and by a joint-distribution test.
"""

import lazy_loader

from . import _testing

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_testing.__name__, str(_testing.__file__))
