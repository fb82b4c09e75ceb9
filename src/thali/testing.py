"""Correctness checks of your own likelihoods.

Experimental: names and arguments may change in a later version.

- `check`: compare a custom likelihood (`thali.likelihoods.Custom`) with its definition, by the
  transition matrices of the moves and by a joint-distribution test.
"""

import lazy_loader

from . import _testing

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_testing.__name__, str(_testing.__file__))
