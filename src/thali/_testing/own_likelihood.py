"""Three kinds of checks of a user's likelihood, in one table."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thali._aspects.likelihoods.custom import Custom
from thali._aspects.likelihoods.delta_checks import (
    WorstDifference,
    arrange_like_samplers,
    bound_rounding,
    compare_changes,
    sample_states,
)
from thali._aspects.likelihoods.parameter_priors import PRIOR_NAMES
from thali._aspects.likelihoods.validation import call_checked, check_functions
from thali._aspects.priors.ibp import IndianBuffet
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.task import build_task, build_weight_prior
from thali._aspects.state import ALPHA, COLUMNS, MIN_FREE_ROWS, make_empty_state, stack_states
from thali._compile.jit import compile_separately
from thali._described import DescribedObject, Description
from thali.errors import ArgumentError

from .exact import transition_errors

# Joint-distribution test by restarts: features from the prior, data from them, then a few sweeps of
# the sampler
#
# If the sampler leaves the posterior of every data set invariant, features and weights have the
# prior distribution after the sweeps as before, whatever the length of the run and the amount of
# data. The restarts are independent, so that detection of an error does not depend on the mixing of
# a long chain.


SWEEPS_EACH = 20
NAMES = (
    "the log-likelihood",
    "alpha",
    "the number of features",
    "the number of features of one option",
    "the number of features of two",
    "the number of features of the first option",
    "the sum of the weights of shared features",
    "the number of shared features heavier than the mean",
)


def restart_scores(
    prior: Any, likelihood: Any, observed: Any, rounds: int, weight_prior: Any, random_seed: int
) -> dict[Any, Any]:
    """Means of some quantities before and after the sweeps, and the z-scores of their
    differences."""
    settings = {"weight_prior": weight_prior, "alpha": None, "tempering": False}
    task = build_task(prior, likelihood, observed, draws=1, tune=0, thin=10**9, **settings)
    rng = np.random.default_rng(random_seed)
    chain = FeatureChain(task, rng)
    weights = task.model.weights
    empty = np.zeros((observed.n_options, 0)), np.zeros(0)
    start = {name: getattr(observed.fields, name) for name in likelihood.parameters}
    whole, _ = compile_separately(
        likelihood.log_likelihood,
        (
            likelihood.set_parameters(observed.fields, start),
            arrange_like_samplers(empty[0]),
            empty[1],
        ),
    )
    before, after = [], []
    for _ in range(rounds):
        chain.states = stack_states([_from_prior(rng, prior, task.model, observed.n_options)])
        own = likelihood.sample_prior_parameters(observed, weights, rng)
        chain.caches.parameters[0] = list(own.values())
        new = likelihood.simulate(
            likelihood.set_parameters(observed.original, own), *_contents(chain.state), rng
        )
        observed.replace(
            likelihood.set_parameters(new, {name: getattr(observed.original, name) for name in own})
        )
        before.append(_quantities(chain, likelihood, whole, observed.fields, weights.expected()))
        chain.run_until(SWEEPS_EACH)
        after.append(_quantities(chain, likelihood, whole, observed.fields, weights.expected()))
    first, last = np.array(before), np.array(after)
    change = last - first
    error = change.std(0) / np.sqrt(rounds)
    z = np.divide(change.mean(0), error, out=np.zeros(error.size), where=error != 0.0)
    names = (*NAMES, *(f"the parameter {name}" for name in likelihood.parameters))
    return {
        name: tuple(map(float, row))
        for name, *row in zip(names, first.mean(0), last.mean(0), z, strict=True)
    }


def _from_prior(rng: np.random.Generator, prior: Any, model: Any, n: int) -> Any:
    """A state drawn from the prior, alpha from Gamma(1, 1); features that the likelihood ignores
    are only counted."""
    alpha = rng.standard_exponential()
    columns = prior.sample(n, alpha, rng).T
    sizes = columns.sum(1)
    kept = columns[sizes >= model.lo]
    count = len(kept)
    state = make_empty_state(n, 2 * len(columns) + MIN_FREE_ROWS)
    state.Z[:count, :n] = kept
    state.w[:count] = model.weights.random(rng, count)
    state.m[:count] = kept.sum(1)
    state.singles[:] = columns[sizes < model.lo].sum(0)
    state.whole[COLUMNS] = count
    state.real[ALPHA] = alpha
    return state


def _contents(state: Any) -> tuple[np.ndarray, np.ndarray]:
    """The features of the state, options by columns, and their weights: copies."""
    columns = int(state.whole[COLUMNS])
    return state.Z[:columns, :-1].T.copy(), state.w[:columns].copy()


def _quantities(
    chain: Any, likelihood: Any, whole: Any, fields: Any, mean_weight: float
) -> list[float]:
    """The quantities of `NAMES`, and the parameters."""
    state, values = chain.state, chain.caches.parameters[0].tolist()
    fields = likelihood.set_parameters(
        fields, dict(zip(likelihood.parameters, values, strict=True))
    )
    features, weights = _contents(state)
    sizes = features.sum(0)
    shared = weights[sizes > 1]
    return [
        float(whole(fields, arrange_like_samplers(features), weights)),
        float(state.real[ALPHA]),
        sizes.size + state.singles.sum(),
        (sizes == 1).sum() + state.singles.sum(),
        (sizes == 2).sum(),
        features[0].sum() + state.singles[0],
        shared.sum(),
        (shared > mean_weight).sum(),
        *values,
    ]


STATES, CHANGES = 8, 25  # looked at, of each kind and state
LIMIT = 5.0  # standard errors; a correct likelihood exceeds it once in 200,000 checks
# pi P - pi, of probabilities that are at most 1; and what rounding does to a log-likelihood that is
# a sum of half a million terms, relative to it.
EXACT, OF_LEVEL = 1e-12, 1e-11


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    check: str  # "naive", "exact" or "joint"
    compared: str
    error: str  # the largest, with its unit
    result: str  # "right", "WRONG" or "not run"
    words: str = ""  # what is wrong, or why it was not run


@dataclass(frozen=True)
class LikelihoodCheck(DescribedObject):
    """The result of `check`; prints as a table.

    Attributes
    ----------
    ok : bool
        Whether every check was run and found no error; `str` says what was not run, and why.
    checks : tuple of Check
    """

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether everything was checked and is right."""
        return all(line.result == "right" for line in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def _description(self) -> Description:
        return Description("Check of a likelihood", text=str(self))

    def __str__(self) -> str:
        head = ("check", "comparison", "largest error", "result")
        rows = [head, *((c.check, c.compared, c.error, c.result) for c in self.checks)]
        widths = [max(len(row[place]) for row in rows) for place in range(4)]
        lines = [
            "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *(f"{c.check}: {c.words}" for c in self.checks if c.words)])


def check(
    likelihood: Any,
    data: Any,
    weight_prior: Any = (1.0, 1.0),
    rounds: int = 5_000,
    random_seed: int = 1,
) -> LikelihoodCheck:
    """Run every check on your likelihood, print a table and say in words what is wrong.

    - naive: the changes that moves make, by `of_pair` and `of_option`, against differences of
      `log_likelihood`; the order of the features, which must not matter.
    - exact: the transition matrix of the sampler's moves on a few entries, every outcome of every
      random draw followed; it must leave the posterior made of `log_likelihood` as it is, `|pi P -
      pi|` = 0.
    - joint: features from the prior, data from `simulate`, then the sampler: the means of features,
      weights, alpha and log-likelihood over many such rounds must not change. Only this check shows
      whether `log_likelihood` is the density of the data that `simulate` draws. It compiles the
      sampler, as `fit` does, and is left out without `simulate`, and when the others have found
      something.

    Parameters
    ----------
    likelihood : thali.likelihoods.Custom
    data : NamedTuple
        A few options, at least two: the checks are then fast, and with three or fewer, births and
        deaths of features are among the exact checks. The joint check does not use the observed
        values.
    weight_prior : (shape, rate) or thali.likelihoods.Normal
        Of the weights that are tried.
    rounds : int
        Of the joint check.
    random_seed : int

    Returns
    -------
    Checked
        `.ok`, and `.checks`, the lines of the table.

    Raises
    ------
    ArgumentError
        If a function fails, or returns something that is not a finite number.
    DataError
        If the data are no NamedTuple with `labels`.

    References
    ----------
    Geweke (2004), Getting it right: joint distribution tests of posterior simulators; Gandy & Scott
    (2020), Unit testing for MCMC and other Monte Carlo methods.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np, thali as th
    >>> class Ratings(NamedTuple):
    ...     rating: np.ndarray
    ...     labels: list
    >>> def log_likelihood(data, features, weights):
    ...     return -0.5 * np.sum((data.rating - features @ weights) ** 2)
    >>> def of_option(data, i, own):  # the half is missing
    ...     return -((data.rating[i] - own) ** 2)
    >>> wrong = th.likelihoods.Custom(log_likelihood, of_option=of_option)
    >>> found = check(
    ...     wrong, Ratings(np.array([0.5, 2.0, 1.0]), ["tea", "coffee", "milk"])
    ... )  # doctest: +ELLIPSIS
    check  comparison ...
    naive  ... by of_option against differences of log_likelihood ... WRONG
    ...
    >>> found.ok
    False
    """
    if not isinstance(likelihood, Custom):
        raise ArgumentError(
            "check requires a custom likelihood, thali.likelihoods.Custom; got"
            f" {type(likelihood).__name__}."
        )
    observed = likelihood.wrap_data(data)
    if observed.n_options < 2:
        raise ArgumentError("check requires data with at least two options.")
    rng = np.random.default_rng(random_seed)
    weights = build_weight_prior(weight_prior, likelihood)
    states = sample_states(IndianBuffet(), observed.n_options, weights, rng, STATES)
    check_functions(likelihood, observed, weights, checks_terms=False)
    compiled, make_cache = likelihood.build_uncompiled(observed, weights)
    fields = observed.fields

    def whole(features: Any, values: Any) -> Any:
        return call_checked(
            "log_likelihood",
            likelihood.log_likelihood,
            fields,
            arrange_like_samplers(features),
            values,
        )

    lines = [
        *_changes(likelihood.terms, compiled, make_cache, whole, states, observed.labels, rng),
        _order(whole, states, rng),
        *_exact(compiled, make_cache, whole, states, observed.n_options, weights, rng),
    ]
    is_right = all(line.result == "right" for line in lines)
    lines.append(_joint(likelihood, observed, weight_prior, rounds, random_seed, is_right))
    found = LikelihoodCheck(tuple(lines))
    print(found)
    return found


def _result(error: WorstDifference) -> str:
    return "right" if error.is_rounding else "WRONG"


def _changes(
    terms: str,
    compiled: Any,
    make_cache: Any,
    whole: Any,
    states: Any,
    labels: Any,
    rng: np.random.Generator,
) -> list[Check]:
    if not terms:  # each change is then an evaluation of log_likelihood
        return []
    found = compare_changes(compiled, make_cache, whole, states, labels, rng, CHANGES)
    compared = f"{found.count} changes by {terms} against differences of log_likelihood"
    words = (
        ""
        if found.is_rounding
        else f"{terms} disagree with log_likelihood by {found.size:.3g}: {found.words}."
    )
    return [Check("naive", compared, f"{found.size:.2g}", _result(found), words)]


def _order(whole: Any, states: Any, rng: np.random.Generator) -> Check:
    found = WorstDifference()
    for features, weights in states:
        order = rng.permutation(weights.size)
        one, other = whole(features, weights), whole(features[:, order], weights[order])
        found = found.worse(one, other, bound_rounding(None, one), f"{one:.6g} became {other:.6g}")
    words = ""
    if not found.is_rounding:
        words = (
            f"log_likelihood depends on the order of the features: {found.words} after shuffling."
        )
    compared = f"{found.count} feature matrices with shuffled features"
    return Check("naive", compared, f"{found.size:.2g}", _result(found), words)


def _exact(
    compiled: Any,
    make_cache: Any,
    whole: Any,
    states: Any,
    n: int,
    weights: Any,
    rng: np.random.Generator,
) -> list[Check]:
    lines = []
    for move, error in transition_errors(
        compiled, make_cache, whole, states, n, weights, rng
    ).items():
        allowed = EXACT + OF_LEVEL * max(abs(whole(*state)) for state in states)
        words = ""
        if not error <= allowed:
            words = (
                f"{move} do not preserve the posterior: |pi P - pi| is {error:.3g} in"
                " probability, but should be 0."
            )
        result = "right" if error <= allowed else "WRONG"
        lines.append(
            Check(
                "exact",
                f"transition matrix of {move} against the posterior",
                f"{error:.2g}",
                result,
                words,
            )
        )
    return lines


def _joint(
    likelihood: Any, observed: Any, weight_prior: Any, rounds: int, random_seed: int, is_right: bool
) -> Check:
    compared = (
        f"{len(NAMES) + len(likelihood.parameters)} means before and after {SWEEPS_EACH}"
        " sweeps on simulated data"
    )
    if likelihood.log_prior is not None:
        return Check(
            "joint",
            compared,
            "",
            "not run",
            f"log_prior cannot be sampled from; use one of the priors {PRIOR_NAMES}.",
        )
    if likelihood.simulate is None:
        return Check(
            "joint", compared, "", "not run", "give Custom a function simulate to run this check."
        )
    if not is_right:
        return Check("joint", compared, "", "not run", "correct the errors above first.")
    scores = restart_scores(IndianBuffet(), likelihood, observed, rounds, weight_prior, random_seed)
    name, (before, after, z) = max(
        scores.items(), key=lambda item: np.nan_to_num(abs(item[1][2]), nan=np.inf)
    )
    error = f"{abs(z):.1f} standard errors"
    if abs(z) <= LIMIT:
        return Check("joint", compared, error, "right")
    words = (
        f"The mean of {name} was {before:.4g} in simulated data and {after:.4g} after sampling"
        f" given these data, {abs(z):.1f} standard errors apart: log_likelihood is not the density"
        " that simulate draws from."
    )
    return Check("joint", compared, error, "WRONG", words)
