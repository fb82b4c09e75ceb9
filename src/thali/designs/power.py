"""`power`: how often a study of so many people tells each utility from 0, by simulation."""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import whole
from thali.errors import Argument, ArgumentError
from thali.inference.seeds import streams
from thali.inference.warn import without_warnings

from .check import coding_with, tasks_of
from .choice import coefficients
from .products import DRAWS, prior_draws

if TYPE_CHECKING:
    import pandas

    from thali.data.experiments import ChoiceExperiment

_Z = 1.959963984540054  # two-sided, 5 %


def power(
    design: Any,
    prior: Any,
    respondents: int = 100,
    spread: float = 0.0,
    simulations: int = 200,
    interactions: Any = (),
    random_seed: Any = None,
) -> "pandas.DataFrame":
    r"""How often a study with this design tells each utility from 0: choices are simulated, and the model fitted.

    .. math:: \beta_n = \beta + \sigma z_n, \quad P(y_{nt} = j) \propto e^{x_{tj}^T \beta_n}; \qquad
        \text{told: } |\hat\beta_k| > 1.96 \operatorname{se}(\hat\beta_k), \text{ with the sign of } \beta_k

    Every simulated person answers one version of the design, each version in turn, and a `MultinomialLogit` is fitted
    to all of them.

    Parameters
    ----------
    design : DataFrame or ChoiceExperiment
        As for `check`.
    prior : dict or fitted logit
        Expected utilities, as for `choice`; of a fitted logit the mean over its draws.
    respondents : int
        People of each simulated study.
    spread : float, 0 or above
        The standard deviation σ of every coefficient between people. Where people differ, the mean is told less often.
    simulations : int
        Studies; the standard error of a power p is sqrt(p (1 - p) / simulations).
    interactions : list of pairs, optional
        Attributes whose levels the model has together; their expected coefficients are 0.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    pandas.DataFrame
        Index coefficient; `utility`, expected, against the first level; `estimate`, the mean over studies; `sd` of the
        estimates, and the mean `se` that the model gives; `power`, the part of studies that tell it from 0 with its
        sign, or, of a utility of 0, from 0 at all (which 5 % should).

    Raises
    ------
    ArgumentError
        If an argument is outside its range, or the design cannot tell the coefficients apart.
    DataError
        If the design cannot be read as tasks.

    References
    ----------
    Rose & Bliemer (2013), Sample size requirements for stated choice experiments.

    Examples
    --------
    >>> import thali as th
    >>> design = th.designs.choice({"brand": ["A", "B"], "price": [9, 12]}, 8, 2, random_seed=1)
    >>> table = power(design, {"price": -0.2}, respondents=60, simulations=40, random_seed=1)
    >>> bool(table.loc["price[12]", "power"] > 0.9)
    True
    """
    import pandas as pd

    from thali.choice.logits.multinomial import MultinomialLogit

    number, studies = whole("respondents", respondents, 1), whole("simulations", simulations, 2)
    if isinstance(spread, bool) or not isinstance(spread, Real) or not 0.0 <= spread < np.inf:
        raise ArgumentError(
            Argument("spread"), f", the standard deviation between people, must be 0 or more; got {spread!r}."
        )
    tasks = tasks_of(design)
    scheme, has_none = tasks.scheme, bool(tasks.scheme.none)
    names, levels = scheme.names[scheme.has_inside :], list(scheme.levels.values())[scheme.has_inside :]
    crossed, coding = coding_with(tasks, interactions, names)
    own = _answered(tasks, np.arange(number) % tasks.n_respondents)
    drawn = prior_draws(prior, None, names, levels, has_none, DRAWS)
    beta = np.mean([coefficients(utilities, has_none) for utilities in drawn], axis=0)
    if len(beta) > len(coding.names):
        raise ArgumentError(
            Argument("design"), " has products that lack attributes, whose choices cannot be simulated by utilities."
        )
    beta = np.append(beta, np.zeros(len(coding.names) - len(beta)))
    matrix = coding.matrix(own.products)[own.row_product]
    person = np.repeat(own.respondent_of_task, np.diff(own.first_row))
    estimates, errors = np.empty((2, studies, len(beta)))
    model = MultinomialLogit(interactions=list(crossed))
    for study, rng in enumerate(streams(random_seed, studies)):
        tastes = beta + spread * rng.normal(size=(number, len(beta)))
        utility = (matrix * tastes[person]).sum(axis=1) + rng.gumbel(size=len(matrix))
        best = np.maximum.reduceat(utility, own.first_row[:-1])
        chosen = np.flatnonzero(utility == np.repeat(best, np.diff(own.first_row))) - own.first_row[:-1]
        with without_warnings():
            fitted = model.fit(own.with_choices(chosen))
        estimates[study], errors[study] = fitted.coef_, np.sqrt(np.diag(fitted.covariance_))
    told = np.abs(estimates) > _Z * errors
    right = np.where(beta == 0.0, told, told & (np.sign(estimates) == np.sign(beta)))
    columns = {"utility": beta, "estimate": estimates.mean(axis=0), "sd": estimates.std(axis=0, ddof=1)}
    table = pd.DataFrame(
        columns | {"se": errors.mean(axis=0), "power": right.mean(axis=0)}, pd.Index(coding.names, name="coefficient")
    )
    table.attrs.update(respondents=number, simulations=studies)
    return table


def _answered(tasks: "ChoiceExperiment", versions: np.ndarray) -> "ChoiceExperiment":
    """The tasks of people, each of whom answers a version."""
    of_people = [np.arange(*tasks.first_task[[version, version + 1]]) for version in versions.tolist()]
    own = np.concatenate(of_people)
    sizes = np.diff(tasks.first_row)[own]
    rows = np.repeat(tasks.first_row[own] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    rows += np.arange(len(rows))
    return tasks.with_fields(
        respondents=tuple(map(str, range(1, len(versions) + 1))),
        first_task=np.concatenate([[0], np.cumsum([len(each) for each in of_people])]),
        first_row=np.concatenate([[0], np.cumsum(sizes)]),
        chosen=tasks.chosen[own],
        row_product=tasks.row_product[rows],
        task_labels=tasks.task_labels[own],
        alternative_labels=tasks.alternative_labels[rows],
        people=None,
    )
