"""What a picture is given: a fitted model with its draws, or a table."""

from typing import Any

from thali._posterior.view import Posterior
from thali.errors import NotFittedError, Setting


def posterior_of(model: Any) -> Posterior:
    """The posterior of a fitted model; a NotFittedError names the pictures of one that has no draws."""
    from thali._aspects.maximum_likelihood.answers import is_by_maximum_likelihood

    if is_by_maximum_likelihood(model):
        raise NotFittedError(
            "A maximum-likelihood fit has no draws; use plots.utility_scale, preference_tree or choice_probabilities,"
            " or set ",
            Setting("method", "mcmc"),
            ".",
        )
    return Posterior(model.posterior_)


def is_table(what: Any) -> bool:
    """Whether this is the table that is drawn, and no model that has it."""
    import pandas as pd

    return isinstance(what, pd.DataFrame)


def has_worths(model: Any) -> bool:
    """Whether a model has one worth per option, and so its own ranks, checks and predictions, with draws or without."""
    return hasattr(model, "worths")
