"""What thali raises and warns with.

::

    ThaliError
    ├── DataError            (a ValueError)      the data cannot be used
    ├── ArgumentError        (a ValueError)      an argument of a model or function cannot be used
    └── NotFittedError       (an AttributeError) a fitted attribute was asked for before fit

    ThaliWarning             (a UserWarning)
    ├── DataWarning          the data can be used, but not for everything
    ├── EstimateWarning      an estimate is not what its name promises
    ├── ConvergenceWarning   the chains do not agree, or hold too few effective draws
    ├── IncompleteWarning    a part of a comparison failed; the rest was kept
    └── InterruptedWarning   a run was stopped early; what it had drawn was kept

Every message is one sentence or two: what was given and where, what is expected, how to mend it.
The command line prints the message of a ThaliError and exits with 2; it never shows a traceback for one.
"""


class ThaliError(Exception):
    """Base of every error that thali raises on purpose."""


class DataError(ThaliError, ValueError):
    """The data cannot be used as given."""


class ArgumentError(ThaliError, ValueError):
    """An argument is outside what it may be."""


class NotFittedError(ThaliError, AttributeError):
    """A fitted attribute was asked for before `fit`."""


class ThaliWarning(UserWarning):
    """Base of every warning that thali gives on purpose."""


class DataWarning(ThaliWarning):
    """The data can be used, but some question about them has no answer."""


class EstimateWarning(ThaliWarning):
    """An estimate is poorly defined for this model."""


class ConvergenceWarning(ThaliWarning):
    """The chains do not agree yet, or hold too few effective draws."""


class IncompleteWarning(ThaliWarning):
    """A part of the work failed and the rest was kept."""


class InterruptedWarning(ThaliWarning):
    """The run was stopped early and what it had drawn was kept."""
