"""Designs: which options, objects or products to show together.

pairs     pairs of options, all or a balanced subset for each respondent
triplets  sets of three objects
sets      sets of options of any size
choice    a balanced design with little error, for given attributes
check     balance, overlap, expected standard errors, and the required number of respondents
power     how often a study finds that utilities differ from 0, or that options differ
"""

import lazy_loader

from . import _designs

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_designs.__name__, str(_designs.__file__))
