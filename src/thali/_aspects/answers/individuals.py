"""People of whom each has weights of their own: what each prefers, draw by draw."""

from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from thali._data.kinds import PEOPLE
from thali._people.individuals import individuals_table
from thali._people.populations import Individuals
from thali._people.segments import Preferences, spaced_draws
from thali._posterior.interval import tails_of
from thali._posterior.view import Posterior, flat
from thali.errors import Argument, ArgumentError, Setting

from ..draws.columns import columns_of
from ..draws.probabilities import lapsing
from .features import features_table
from .group_posterior import group_weight_draws
from .option_tables import shares_of

if TYPE_CHECKING:
    import pandas

MIN_PRESENT = 0.05  # probability of a feature whose weights are given


def of_everybody(posterior: Posterior, what: str) -> Posterior:
    """The tree itself; an ArgumentError names what was asked for if people have no weights of their
    own."""
    if posterior.population != PEOPLE:
        raise no_individuals(what)
    return posterior


def no_individuals(what: str) -> ArgumentError:
    """The error for an answer of individuals, by its name, where respondents have no individual
    weights."""
    return ArgumentError(
        Argument(what),
        " requires individual weights; refit with ",
        Setting("people", Individuals()),
        ".",
    )


def person_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """Of choices everybody's share of each option, of other data the weight of each feature, with
    intervals."""
    draws, people = posterior.n_draws, posterior.groups
    if posterior.facts.of_choices:
        return individuals_table(
            lambda some: shares_of_people(posterior, some),
            draws,
            people,
            posterior.labels,
            "option",
            ci,
        )
    one = posterior.of_group(people[0])
    found = features_table(one, MIN_PRESENT)["members"].tolist()
    sizes = np.array([len(each) for each in found], int)
    matter = (sizes > 1) & ~one.is_silent(sizes)  # the others are drawn from the prior
    members = list(compress(found, matter))
    weights, present = group_weight_draws(posterior, members)
    drawn = np.full((draws, len(people), len(members)), np.nan)
    for k, (each, there) in enumerate(zip(weights, present, strict=True)):
        drawn[there, :, k] = each[:, there].T
    names = [", ".join(each) for each in members]
    return individuals_table(lambda some: drawn[:, some], draws, people, names, "feature", ci)


def shares_of_people(posterior: Posterior, people: slice) -> np.ndarray:
    r"""Return each option's share in the utilities of some people, (draws, people, options).

    .. math:: U_{ni} \Big/ \sum_j U_{nj}, \qquad U_{ni} = u_{ni} + \sum_k w_{nk} f_{ik}
    """
    columns = columns_of(posterior)
    features, _ = columns.dense(0, columns.n_draws)
    shared, own = weights_of_people(posterior, people, slice(None))
    return shares_of(shared[:, :, : features.shape[1]] @ features + own)


def preferences_of_people(posterior: Posterior) -> Preferences:
    r"""How often everybody prefers each option to another one, all others alike, at evenly spaced
    draws.

    .. math:: v_{ni} = \frac{1}{N - 1} \sum_{j \neq i} \frac{A_{nij}}{A_{nij} + A_{nji}}, \qquad
        A_{nij} = u_{ni} + \sum_k w_{nk} f_{ik} (1 - f_{jk})
    """
    columns, labels = columns_of(posterior), posterior.labels
    draws = spaced_draws(columns.n_draws, len(posterior.groups), len(labels))
    features, _ = columns.take(draws).dense(0, len(draws))
    weights, own = weights_of_people(posterior, slice(None), draws)
    found = np.empty((len(draws), *own.shape[1:]))
    for draw, (has, shared, unique) in enumerate(zip(features, weights, own, strict=True)):
        beats = (shared[:, None, : len(has)] * has.T) @ (~has).astype(float) + unique[:, :, None]
        found[draw] = (lapsing(beats, beats.swapaxes(1, 2), 0.0).sum(axis=2) - 0.5) / (
            len(labels) - 1
        )
    return Preferences(tuple((label,) for label in labels), found, posterior.groups)


def weights_of_people(
    posterior: Posterior, people: slice, draws: np.ndarray | slice
) -> tuple[np.ndarray, np.ndarray]:
    """Of some people and draws the weights of the features, and those that each option has alone; 0
    without any."""
    shared, unique = flat(posterior.group_weights)[draws][:, people], posterior.group_unique
    own = np.zeros((*shared.shape[:2], posterior.n_options))
    return shared, own if unique is None else flat(unique)[draws][:, people]


def population_table(posterior: Posterior, ci: float) -> "pandas.DataFrame":
    """The share of each option by the common weights, with its interval."""
    import pandas as pd

    from thali._tables import Table

    worth = flat(posterior.common_worth)
    low, high = np.quantile(worth, tails_of(ci), axis=0)
    labels = pd.Index(posterior.labels, name="option")
    table = Table({"mean": worth.mean(axis=0), "low": low, "high": high}, labels)
    table.attrs["interval"] = ci
    return table
