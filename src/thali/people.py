"""How respondents differ: the values of the argument `people` of models.

Individuals     each respondent has individual worths around common ones
LatentClasses   each respondent is in one of several classes, which the model finds
Groups          the data are a mapping of groups
"""

import lazy_loader

from . import _people

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(_people.__name__, str(_people.__file__))
