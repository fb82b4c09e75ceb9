"""Fits of classifiers whose length and seed the constructor takes, and the other settings of the
run `fit`."""

import inspect
from typing import Any


def fit_rows(model: type[Any], X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> Any:
    """Fit a classifier with settings of its constructor and of `fit`."""
    known = inspect.signature(model).parameters
    made = model(**{name: value for name, value in settings.items() if name in known})
    return made.fit(
        X,
        y,
        sample_weight,
        **{name: value for name, value in settings.items() if name not in known},
    )
