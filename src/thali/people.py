"""How respondents differ: the values of the argument `people` of models.

Individuals     each respondent has individual weights about common ones
LatentClasses   each respondent is in one of several classes, which the model finds
Groups          the data are a mapping of groups, which share features
"""

from ._people import __all__, __dir__, __getattr__  # noqa: F401
