"""How respondents differ: the values of the argument `people` of models.

Individuals     each respondent has individual worths around common ones
"""

import lazy_loader

from . import _people

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_people.__name__, str(_people.__file__))
