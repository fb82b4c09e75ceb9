"""`power`: how often a study of so many people tells utilities from 0, or options apart, by
simulation."""

from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from thali._arguments import whole
from thali._data.connectivity import connected, parted
from thali._inference.indexing import part_bounds
from thali._inference.seeds import build_seed_sequence, spawn_generators
from thali._inference.warn import silence_warnings
from thali._labels import as_label
from thali._printed import Printed
from thali.errors import Argument, ArgumentError

from .check import asked_of, coding_with, tasks_of
from .choice import coefficients
from .sets import sets_in

if TYPE_CHECKING:
    import pandas

    from thali._choice.coding import Coding
    from thali._data.experiments import ChoiceExperiment

_Z = 1.959963984540054  # two-sided, 5 %
_MORE = 10  # people than coefficients, where errors are clustered by person


def power(
    design: Any,
    prior: Any = None,
    respondents: int | None = 100,
    spread: float = 0.0,
    simulations: int = 200,
    interactions: Any = (),
    random_seed: Any = None,
) -> "pandas.DataFrame":
    r"""How often a study with this design tells each utility from 0: choices are simulated, and the
    model fitted.

    .. math:: \beta_n = \beta + \sigma z_n, \quad P(y_{nt} = j) \propto e^{x_{tj}^T \beta_n}; \qquad
        \text{told: } |\hat\beta_k| > c \operatorname{se}(\hat\beta_k), \text{ with the sign of }
        \beta_k

    c is 1.96, or with `spread` that quantile of the t distribution with a degree of freedom less
    than people.

    Every simulated person answers one version of the design, each version in turn, and a
    `MultinomialLogit` is fitted to all of them.

    Of a design of pairs or sets each option has one coefficient, the logarithm of its worth, and
    the best of each set is chosen (Luce's choice rule; of two, Bradley and Terry's). Found is how
    often the first option, the first two and the first three, by their true worths, stand above
    every option that is worse, each by more than 1.96 standard errors of the difference.

    Parameters
    ----------
    design : DataFrame, ChoiceExperiment or PairDesign
        As for `check`; or a design of pairs or sets, as `pairs`, `sets` and `paired.pair_design`
        give it.
    prior : dict or fitted model, optional
        Expected utilities, as for `choice`; of a fitted logit the mean over its draws. Of pairs and
        sets {option: worth}; or a fitted `EliminationByAspects("unique")`, of which each study has
        the worths of one draw; None: each study has worths of its own, from the prior Gamma(1, 1).
    respondents : int, optional
        People of each simulated study. None, of pairs and sets: the number is doubled until the
        first three options are told apart in 80 % of the studies, and searched to a tenth; the
        search ends at 8,000 answers a study.
    spread : float, 0 or above
        The standard deviation σ of every coefficient between people, of pairs and sets of every log
        worth. Those of the levels of one attribute have a correlation of .5, so that the first
        level is a level like the others. Where people differ, the mean is told less often, and the
        standard errors are clustered by person (the sandwich estimate), which takes 10 people more
        than there are coefficients.
    simulations : int
        Studies; the standard error of a power p is sqrt(p (1 - p) / simulations).
    interactions : list of pairs, optional
        Attributes whose levels the model has together; their expected coefficients are 0.
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    pandas.DataFrame
        Index coefficient; `utility`, expected, against the first level; `estimate`, the mean over
        studies; `sd` of the estimates, and the mean `std_error` that the model gives; `power`, the
        part of studies that tell it from 0 with its sign, or, of a utility of 0, from 0 at all
        (which 5 % should). Studies without standard errors tell nothing and are left out of
        `std_error`; `attrs["degenerate"]` is their number. Of pairs and sets: index people, columns
        `first`, `first 2`, `first 3`, the parts of studies that tell these apart.

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
    >>> worths = {"tea": 4.0, "milk": 2.0, "juice": 1.0}
    >>> power(
    ...     th.designs.pairs(list(worths)), worths, respondents=100, simulations=40, random_seed=1
    ... ).columns.tolist()
    ['first', 'first 2']
    """
    import pandas as pd

    number, studies = _people(respondents), whole("simulations", simulations, 2)
    if isinstance(spread, bool) or not isinstance(spread, Real) or not 0.0 <= spread < np.inf:
        raise ArgumentError(
            Argument("spread"),
            f", the standard deviation between respondents, must be >= 0; got {spread!r}.",
        )
    if (sets := sets_in(design.table if isinstance(design, Printed) else design)) is not None:
        if interactions:
            raise ArgumentError(
                Argument("interactions"),
                " require attributes, which options do not have; remove the interactions.",
            )
        return _of_sets(sets, prior, number, float(spread), studies, random_seed)
    if number is None:
        raise ArgumentError(
            Argument("respondents"),
            " can be searched for only in designs of pairs and sets; give a number.",
        )
    tasks, _, _, has_none, drawn, crossed, coding = asked_of(design, prior, None, interactions)
    beta = np.mean([coefficients(utilities, has_none) for utilities in drawn], axis=0)
    if len(beta) > len(coding.names):
        raise ArgumentError(
            Argument("design"),
            " contains products without some attributes, whose choices cannot be simulated; fill"
            " in all attributes.",
        )
    beta = np.append(beta, np.zeros(len(coding.names) - len(beta)))
    _refuse_few(number, len(beta), spread)
    rngs = spawn_generators(random_seed, studies)
    each, mixed = np.tile(beta, (studies, 1)), _levels_alike(coding)
    estimates, covariances = simulated(tasks, coding, crossed, each, number, spread, rngs, mixed)
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    has_errors = np.all(np.isfinite(variances) & (variances > 0.0), axis=1)
    errors = np.sqrt(np.where(has_errors[:, None], variances, np.inf))
    told = np.abs(estimates) > _critical(number, spread) * errors
    right = np.where(beta == 0.0, told, told & (np.sign(estimates) == np.sign(beta)))
    columns = {
        "utility": beta,
        "estimate": estimates.mean(axis=0),
        "sd": estimates.std(axis=0, ddof=1),
    }
    error = errors[has_errors].mean(axis=0) if has_errors.any() else np.nan
    table = pd.DataFrame(
        columns | {"std_error": error, "power": right.mean(axis=0)},
        pd.Index(coding.names, name="coefficient"),
    )
    table.attrs.update(respondents=number, simulations=studies, degenerate=int((~has_errors).sum()))
    return table


def _people(respondents: Any) -> int | None:
    """How many people; None: so many as are needed."""
    return None if respondents is None else whole("respondents", respondents, 1)


def _least(p: int, spread: float) -> int:
    """The people that a study needs for standard errors of p coefficients: those of a sandwich have
    its rank."""
    return p + _MORE if spread else 1


def _refuse_few(number: int, p: int, spread: float) -> None:
    """Refuse fewer people than that."""
    if number < (least := _least(p, spread)):
        raise ArgumentError(
            Argument("respondents"),
            f" must be at least {least} if respondents vary; standard errors clustered by"
            f" respondent require {_MORE} more respondents than coefficients ({p}). Got {number}.",
        )


def _critical(number: int, spread: float) -> float:
    """How many standard errors tell an estimate from 0."""
    return float(stdtrit(number - 1, 0.975)) if spread else _Z


def _levels_alike(coding: "Coding") -> np.ndarray:
    """A root of the correlations of coefficients between people: all levels of an attribute differ
    alike."""
    # were the first one the same for everybody, a logit of all answers would find the others better
    # than it is
    own = np.full(len(coding.names), -1)
    begin = 0
    for number, part in enumerate(coding.parts):
        end = begin + part.table.shape[1]
        if part.numbers is None:
            own[begin:end] = number
        begin = end
    together = (own[:, None] == own[None, :]) & (own[:, None] >= 0)
    return np.linalg.cholesky(np.where(np.eye(len(own), dtype=bool), 1.0, 0.5 * together))


def simulated(
    tasks: "ChoiceExperiment",
    coding: "Coding",
    crossed: Any,
    beta: np.ndarray,  # (studies, p)
    number: int,
    spread: float,
    rngs: list[np.random.Generator],
    mixed: np.ndarray,  # (p, p) what people differ by, from as many numbers that are Normal(0, 1)
) -> tuple[np.ndarray, np.ndarray]:
    """The estimates of each simulated study (studies, p), and their covariances (studies, p, p)."""
    from thali._choice.logit import clustered
    from thali._choice.logit import tasks_of as coded
    from thali._choice.logits.multinomial import MultinomialLogit

    own = _answered(tasks, np.arange(number) % tasks.n_respondents)
    matrix = coding.matrix(own.products)[own.row_product]
    person = np.repeat(own.respondent_of_task, np.diff(own.first_row))
    studies, p = beta.shape
    estimates, covariances = np.empty((studies, p)), np.empty((studies, p, p))
    model = MultinomialLogit(interactions=list(crossed))
    for study, rng in enumerate(rngs):
        drawn = rng.normal(size=(number, p))
        tastes = beta[study] + spread * drawn @ mixed.T
        utility = (matrix * tastes[person]).sum(axis=1) + rng.gumbel(size=len(matrix))
        best = np.maximum.reduceat(utility, own.first_row[:-1])
        chosen = (
            np.flatnonzero(utility == np.repeat(best, np.diff(own.first_row))) - own.first_row[:-1]
        )
        with silence_warnings():
            fitted = model.fit(data := own.with_fields(chosen=chosen))
        estimates[study], covariances[study] = fitted.coef_, fitted.covariance_
        if spread and number > 1:  # answers of one person are alike
            of_people = clustered(
                coded(data, coding), estimates[study], covariances[study], own.first_task
            )
            covariances[study] = of_people * number / (number - 1)
    return estimates, covariances


# Designs of pairs and sets ------------------------------------------------------------------------


_OPTION = "option"  # the one attribute of an option
# options that are to be told apart, how surely, by how many answers
_FIRST, _WANTED, _MAX_ANSWERS = 3, 0.8, 8_000


def _of_sets(
    sets: "pandas.DataFrame",
    prior: Any,
    number: int | None,
    spread: float,
    studies: int,
    random_seed: Any,
) -> "pandas.DataFrame":
    """How often the first, the first two and the first three options are told apart from all that
    follow."""
    import pandas as pd

    labels = list(dict.fromkeys(sets[_OPTION]))
    _refuse_parted(sets, labels)
    tasks = tasks_of(sets, {_OPTION: labels})
    crossed, coding = coding_with(tasks, (), [_OPTION])
    seed = build_seed_sequence(random_seed)
    log_worths = _log_worths(prior, labels, studies, np.random.Generator(np.random.PCG64(seed)))
    beta = log_worths[:, 1:] - log_worths[:, :1]
    if number is not None:
        _refuse_few(number, beta.shape[1], spread)
    # each log worth differs, that of the first one too
    mixed = np.linalg.cholesky(np.eye(beta.shape[1]) + 1.0)

    def told(people: int) -> np.ndarray:
        # the same studies, larger
        again = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
        drawn = simulated(
            tasks, coding, crossed, beta, people, spread, spawn_generators(again, studies), mixed
        )
        return np.array(
            [
                told_apart(*study, _critical(people, spread))
                for study in zip(log_worths, *drawn, strict=True)
            ]
        ).mean(axis=0)

    most = max(8, _MAX_ANSWERS * tasks.n_respondents // tasks.n_tasks)
    least = _least(beta.shape[1], spread)
    found = searched(told, least, most) if number is None else {number: told(number)}
    columns = ["first", *(f"first {k}" for k in range(2, min(_FIRST, len(labels) - 1) + 1))]
    table = pd.DataFrame.from_dict(
        dict(sorted(found.items())), orient="index", columns=columns
    ).rename_axis("respondents")
    table.attrs.update(simulations=studies)
    return table


def _refuse_parted(sets: "pandas.DataFrame", labels: list[str]) -> None:
    """Refuse options that no chain of sets connects, whose worths cannot be told apart."""
    import pandas as pd

    place = pd.Index(labels).get_indexer(pd.Index(sets[_OPTION]))
    keys = [name for name in sets if name not in ("alternative", _OPTION)]
    follows = np.diff(sets.groupby(keys).ngroup()) == 0  # the row before it in the same set
    if found := parted(
        "options", connected(labels, place[:-1][follows], place[1:][follows]), "shown together"
    ):
        raise ArgumentError(
            Argument("design"),
            f" does not connect all options, because {found[0].lower()}{found[1:]}",
        )


def searched(told: Callable[[int], np.ndarray], least: int, most: int) -> dict[int, np.ndarray]:
    """Numbers of people, doubled until the first options are told apart often enough, then the
    least such number."""
    found: dict[int, np.ndarray] = {}
    low, high = least - 1, max(8, least)
    while True:
        found[high] = told(high)
        if found[high][-1] >= _WANTED:
            break
        if 2 * high > most:
            return found
        low, high = high, 2 * high
    while high - low > max(1, high // 10):  # so exactly that a tenth of the people does not matter
        middle = (low + high) // 2
        found[middle] = told(middle)
        low, high = (low, middle) if found[middle][-1] >= _WANTED else (middle, high)
    return found


def told_apart(
    log_worths: np.ndarray, estimate: np.ndarray, covariance: np.ndarray, critical: float
) -> list[bool]:
    """Whether the first option, the first two, the first three stand above each that is worse, as
    intervals say."""
    order = np.argsort(-log_worths, kind="stable")
    mean = np.append(0.0, estimate)[order]
    spread = np.pad(covariance, ((1, 0), (1, 0)))[np.ix_(order, order)]
    variance = np.diag(spread)[:, None] + np.diag(spread)[None, :] - 2.0 * spread
    above = mean[:, None] - mean[None, :] > critical * np.sqrt(np.maximum(variance, 0.0))
    # as good ones need not differ
    above |= log_worths[order][:, None] == log_worths[order][None, :]
    each = [bool(above[k, k + 1 :].all()) for k in range(min(_FIRST, len(order) - 1))]
    return [all(each[: k + 1]) for k in range(len(each))]


def _log_worths(
    prior: Any, labels: list[str], studies: int, rng: np.random.Generator
) -> np.ndarray:
    """Log worths of the options in each study: those given, draws of a fitted model, or of its
    prior."""
    from thali._aspects.models.elimination import EliminationByAspects
    from thali._worths.model import BradleyTerryLuce

    if prior is None:
        return np.log(rng.gamma(1.0, size=(studies, len(labels))))
    if isinstance(prior, EliminationByAspects | BradleyTerryLuce):
        if isinstance(prior, EliminationByAspects) and prior.aspects != "unique":
            raise ArgumentError(
                Argument("prior"),
                " must be a model with one worth per option, such as"
                " EliminationByAspects('unique') or BradleyTerryLuce.",
            )
        known = prior._draws.labels if isinstance(prior, BradleyTerryLuce) else prior._view.labels
        missing = [label for label in labels if label not in known]
        if missing:
            raise ArgumentError(
                Argument("prior"), f" has no worth for the option {missing[0]!r}; add it."
            )
        if isinstance(prior, BradleyTerryLuce):
            worths = prior._draws.log_worths
        else:
            worths = np.log(prior._view.unique.reshape(-1, len(known)))
        picked = rng.integers(len(worths), size=studies)
        return worths[picked][:, [known.index(label) for label in labels]]
    if not isinstance(prior, Mapping):
        raise ArgumentError(
            Argument("prior"),
            " for pairs and sets must map options to worths, be a fitted model with one worth per"
            f" option, or None; got {prior!r}.",
        )
    known = {as_label(name): value for name, value in prior.items()}
    worths = np.array(
        [value if isinstance(value := known.get(label), Real) else np.nan for label in labels],
        float,
    )
    if lacking := [
        label for label, worth in zip(labels, worths, strict=True) if not 0.0 < worth < np.inf
    ]:
        raise ArgumentError(
            Argument("prior"), f" must give each option a positive worth; {lacking[0]!r} has none."
        )
    return np.tile(np.log(worths), (studies, 1))


def _answered(tasks: "ChoiceExperiment", versions: np.ndarray) -> "ChoiceExperiment":
    """The tasks of people, each of whom answers a version."""
    of_people = [
        np.arange(*tasks.first_task[[version, version + 1]]) for version in versions.tolist()
    ]
    own = np.concatenate(of_people)
    sizes = np.diff(tasks.first_row)[own]
    rows = np.repeat(tasks.first_row[own] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    rows += np.arange(len(rows))
    return tasks.with_fields(
        respondents=tuple(map(str, range(1, len(versions) + 1))),
        first_task=part_bounds([len(each) for each in of_people]),
        first_row=part_bounds(sizes),
        chosen=tasks.chosen[own],
        row_product=tasks.row_product[rows],
        task_labels=tasks.task_labels[own],
        alternative_labels=tasks.alternative_labels[rows],
        people=None,
    )
