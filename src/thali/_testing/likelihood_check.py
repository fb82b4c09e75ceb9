"""`check` of a custom likelihood: changes, moves and joint distribution, in one table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._aspects.chain_state import (
    ALPHA,
    COLUMNS,
    MIN_FREE_ROWS,
    ChainModel,
    FeatureState,
    make_empty_state,
    stack_states,
)
from thali._aspects.likelihoods.custom import Custom
from thali._aspects.likelihoods.custom_term_checks import (
    WorstDifference,
    arrange_like_samplers,
    bound_rounding,
    compare_changes,
    sample_states,
)
from thali._aspects.likelihoods.parameter_priors import PRIOR_NAMES
from thali._aspects.likelihoods.user_function_checks import call_checked, check_functions
from thali._aspects.priors.indian_buffet import IndianBuffet
from thali._aspects.samplers.chains import FeatureChain
from thali._aspects.samplers.sampling_task import build_task, build_weight_prior
from thali._compile.jit import compile_separately
from thali._object_descriptions import Description, PrintedObject
from thali.errors import ArgumentError

from .exact import compute_move_errors

if TYPE_CHECKING:
    from thali._aspects.priors.prior_from_argument import FeaturePrior
    from thali._aspects.weight_priors import GammaWeights, NormalWeights
    from thali._data.custom_data import Observed


# Joint-distribution test by restarts: draw features from the prior, simulate data, run a few sweeps
#
# If the sampler leaves the posterior of every data set invariant, features and weights have the
# prior distribution before and after the sweeps, whatever the length of the run and the amount of
# data. The restarts are independent, so the detection of an error does not depend on the mixing of
# a long chain.


N_SWEEPS = 20
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


def compute_restart_scores(
    prior: "FeaturePrior",
    likelihood: Any,
    observed: "Observed",
    n_rounds: int,
    weight_prior: tuple[float, float],
    random_seed: int,
) -> dict[Any, Any]:
    """Return z-scores of quantities before against after sweeps (Geweke's test)."""
    task = build_task(
        prior,
        likelihood,
        observed,
        draws=1,
        tune=0,
        thin=10**9,
        weight_prior=weight_prior,
        alpha=None,
        tempering=False,
    )
    rng = np.random.default_rng(random_seed)
    chain = FeatureChain(task, rng)
    weights = task.model.weights
    empty_features = np.zeros((observed.n_options, 0)), np.zeros(0)
    start_parameters = {name: getattr(observed.fields, name) for name in likelihood.parameters}
    log_likelihood, _ = compile_separately(
        likelihood.log_likelihood,
        (
            likelihood.set_parameters(observed.fields, start_parameters),
            arrange_like_samplers(empty_features[0]),
            empty_features[1],
        ),
    )
    quantities_before = []
    quantities_after = []

    def compute_state_quantities() -> list[float]:
        """Return the compared quantities of the current state."""
        return _compute_quantities(
            chain, likelihood, log_likelihood, observed.fields, weights.expected()
        )

    for _ in range(n_rounds):
        chain.states = stack_states([_draw_state(rng, prior, task.model, observed.n_options)])
        parameters = likelihood.sample_prior_parameters(observed, weights, rng)
        chain.caches.parameters[0] = list(parameters.values())
        simulated_data = likelihood.simulate(
            likelihood.set_parameters(observed.original, parameters),
            *_copy_features(chain.state),
            rng,
        )
        observed.replace(
            likelihood.set_parameters(
                simulated_data, {name: getattr(observed.original, name) for name in parameters}
            )
        )
        quantities_before.append(compute_state_quantities())
        chain.run_until(N_SWEEPS)
        quantities_after.append(compute_state_quantities())
    quantity_names = (*NAMES, *(f"the parameter {name}" for name in likelihood.parameters))
    return _compare_means(quantity_names, np.array(quantities_before), np.array(quantities_after))


def _compare_means(
    quantity_names: tuple[str, ...], values_before: np.ndarray, values_after: np.ndarray
) -> dict[Any, Any]:
    """Return (mean before, mean after, z-score of the change) by quantity, values (rounds, q)."""
    changes = values_after - values_before
    std_error = changes.std(0) / np.sqrt(len(changes))
    z = np.divide(changes.mean(0), std_error, out=np.zeros(std_error.size), where=std_error != 0.0)
    return {
        name: tuple(map(float, row))
        for name, *row in zip(
            quantity_names, values_before.mean(0), values_after.mean(0), z, strict=True
        )
    }


def _draw_state(
    rng: np.random.Generator, prior: "FeaturePrior", model: ChainModel, n_options: int
) -> Any:
    """Draw a sampler state from the prior, with alpha ~ Gamma(1, 1)."""
    # Features that the likelihood ignores are only counted.
    alpha = rng.standard_exponential()
    columns = prior.sample(n_options, alpha, rng).T
    n_owners = columns.sum(1)
    counted_columns = columns[n_owners >= model.lo]
    n_columns = len(counted_columns)
    state = make_empty_state(n_options, 2 * len(columns) + MIN_FREE_ROWS)
    state.Z[:n_columns, :n_options] = counted_columns
    state.w[:n_columns] = model.weights.random(rng, n_columns)
    state.m[:n_columns] = counted_columns.sum(1)
    state.singles[:] = columns[n_owners < model.lo].sum(0)
    state.whole[COLUMNS] = n_columns
    state.real[ALPHA] = alpha
    return state


def _copy_features(state: FeatureState) -> tuple[np.ndarray, np.ndarray]:
    """Return copies of features (n_options, n_features) and weights of a state."""
    n_columns = int(state.whole[COLUMNS])
    return state.Z[:n_columns, :-1].T.copy(), state.w[:n_columns].copy()


def _compute_quantities(
    chain: FeatureChain,
    likelihood: Custom,
    log_likelihood: Callable[..., Any],
    fields: Any,
    mean_weight: float,
) -> list[float]:
    """Return the compared quantities `NAMES` and the parameters of a state."""
    state = chain.state
    parameter_values = chain.caches.parameters[0].tolist()
    fields = likelihood.set_parameters(
        fields, dict(zip(likelihood.parameters, parameter_values, strict=True))
    )
    features, weights = _copy_features(state)
    n_owners = features.sum(0)
    shared_weights = weights[n_owners > 1]
    return [
        float(log_likelihood(fields, arrange_like_samplers(features), weights)),
        float(state.real[ALPHA]),
        n_owners.size + state.singles.sum(),
        (n_owners == 1).sum() + state.singles.sum(),
        (n_owners == 2).sum(),
        features[0].sum() + state.singles[0],
        shared_weights.sum(),
        (shared_weights > mean_weight).sum(),
        *parameter_values,
    ]


N_STATES, N_CHANGES = 8, 25  # numbers of states, and of changes of each kind and state
LIMIT = 5.0  # standard errors; a correct likelihood exceeds it once in 200,000 checks
# Tolerance of pi P - pi for probabilities up to 1, and relative rounding error of a log-likelihood
# that is a sum of half a million terms.
ABSOLUTE = 1e-12
RELATIVE = 1e-11


@dataclass(frozen=True)
class Check:
    """One line of the table: what was checked, error and verdict."""

    check: str  # "naive", "exact" or "joint"
    compared: str
    error: str  # the largest error, with its unit
    result: str  # "right", "WRONG" or "not run"
    words: str = ""  # the error, or why the check was not run


@dataclass(frozen=True, repr=False)
class LikelihoodCheck(PrintedObject):
    """The result of `check`; prints as a table.

    Attributes
    ----------
    ok : bool
        Whether every check was run and found no error; `str` reports skipped checks.
    checks : tuple of Check
    """

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check was run and found no error."""
        return all(line.result == "right" for line in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def _description(self) -> Description:
        import pandas as pd

        checks = pd.DataFrame(
            [(c.check, c.compared, c.error, c.result) for c in self.checks],
            columns=["check", "comparison", "largest error", "result"],
        )
        words = "\n".join(f"{c.check}: {c.words}" for c in self.checks if c.words)
        return Description("Check of a likelihood", table=checks, text=words)


def check(
    likelihood: Custom,
    data: Any,
    weight_prior: tuple[float, float] = (1.0, 1.0),
    rounds: int = 5_000,
    random_seed: int = 1,
) -> LikelihoodCheck:
    """Run every check on a custom likelihood, and print a table of errors.

    - naive: changes by moves, from `of_pair` and `of_option`, are compared with differences of
      `log_likelihood`; the order of the features must have no effect.
    - exact: the transition matrix of the sampler's moves on a few entries, with every outcome of
      every random draw, must leave the posterior of `log_likelihood` unchanged, `|pi P - pi|` = 0.
    - joint: features are drawn from the prior, data from `simulate`, then the sampler runs; the
      means of features, weights, alpha and log-likelihood over many rounds must not change. Only
      this check shows whether `log_likelihood` is the density of the data that `simulate` draws. It
      compiles the sampler, as `fit` does, and is skipped without `simulate`, and after errors in
      the other checks.

    Parameters
    ----------
    likelihood : thali.likelihoods.Custom
    data : NamedTuple
        A few options, at least two, so that the checks are fast; with three or fewer, the exact
        checks include births and deaths of features. The joint check does not use the observed
        values.
    weight_prior : (shape, rate) or thali.likelihoods.Normal
        Prior of the weights.
    rounds : int
        Number of rounds of the joint check.
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
        If the data are not a NamedTuple with `labels`.

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
    Check of a likelihood
    ...
    naive ... by of_option against differences of log_likelihood ... WRONG
    ...
    >>> found.ok
    False
    """
    if not isinstance(likelihood, Custom):
        raise ArgumentError(
            "check requires a custom likelihood, thali.likelihoods.Custom; got"
            f" {type(likelihood).__name__}."
        )
    wrapped_data = likelihood.wrap_data(data)
    if wrapped_data.n_options < 2:
        raise ArgumentError("check requires data with at least two options.")
    rng = np.random.default_rng(random_seed)
    weights = build_weight_prior(weight_prior, likelihood)
    sampled_states = sample_states(IndianBuffet(), wrapped_data.n_options, weights, rng, N_STATES)
    check_functions(likelihood, wrapped_data, weights, checks_terms=False)
    compiled_likelihood, make_cache = likelihood.build_uncompiled(wrapped_data, weights)
    fields = wrapped_data.fields

    def log_likelihood(features: np.ndarray, feature_weights: np.ndarray) -> Any:
        """Return the user's log-likelihood of these features and weights."""
        return call_checked(
            "log_likelihood",
            likelihood.log_likelihood,
            fields,
            arrange_like_samplers(features),
            feature_weights,
        )

    checks = [
        *_check_changes(
            likelihood.terms,
            compiled_likelihood,
            make_cache,
            log_likelihood,
            sampled_states,
            wrapped_data.labels,
            rng,
        ),
        _check_order(log_likelihood, sampled_states, rng),
        *_check_moves(
            compiled_likelihood,
            make_cache,
            log_likelihood,
            sampled_states,
            wrapped_data.n_options,
            weights,
            rng,
        ),
    ]
    is_right = all(line.result == "right" for line in checks)
    checks.append(
        _check_joint(likelihood, wrapped_data, weight_prior, rounds, random_seed, is_right)
    )
    likelihood_check = LikelihoodCheck(tuple(checks))
    print(likelihood_check)
    return likelihood_check


def _format_result(is_right: bool) -> str:
    """Return "right" or "WRONG", as printed in the table."""
    if is_right:
        return "right"
    return "WRONG"


def _check_changes(
    terms: str,
    compiled: Any,
    make_cache: Callable[..., Any],
    log_likelihood: Callable[..., Any],
    states: Sequence[tuple[np.ndarray, np.ndarray]],
    labels: Sequence[str],
    rng: np.random.Generator,
) -> list[Check]:
    """Return a check that `terms` change as `log_likelihood` does; none without terms."""
    if not terms:  # each change is then an evaluation of log_likelihood
        return []
    difference = compare_changes(
        compiled, make_cache, log_likelihood, states, labels, rng, N_CHANGES
    )
    comparison_text = f"{difference.count} changes by {terms} against differences of log_likelihood"
    fault_text = ""
    if not difference.is_rounding:
        fault_text = (
            f"log_likelihood differs from {terms} by {difference.size:.3g}: {difference.words}."
        )
    result_word = _format_result(difference.is_rounding)
    return [Check("naive", comparison_text, f"{difference.size:.2g}", result_word, fault_text)]


def _check_order(
    log_likelihood: Callable[..., Any],
    states: Sequence[tuple[np.ndarray, np.ndarray]],
    rng: np.random.Generator,
) -> Check:
    """Return a check that the order of features does not change `log_likelihood`."""
    difference = WorstDifference()
    for features, weights in states:
        feature_order = rng.permutation(weights.size)
        original_value = log_likelihood(features, weights)
        shuffled_value = log_likelihood(features[:, feature_order], weights[feature_order])
        difference = difference.worse(
            original_value,
            shuffled_value,
            bound_rounding(None, original_value),
            f"{original_value:.6g} became {shuffled_value:.6g}",
        )
    fault_text = ""
    if not difference.is_rounding:
        fault_text = (
            f"log_likelihood depends on the order of the features: {difference.words} after"
            " shuffling."
        )
    comparison_text = f"{difference.count} feature matrices with shuffled features"
    result_word = _format_result(difference.is_rounding)
    return Check("naive", comparison_text, f"{difference.size:.2g}", result_word, fault_text)


def _check_moves(
    compiled: Any,
    make_cache: Callable[..., Any],
    log_likelihood: Callable[..., Any],
    states: list[Any],
    n_options: int,
    weights: "GammaWeights | NormalWeights",
    rng: np.random.Generator,
) -> list[Check]:
    """Return checks that each sampler move leaves the posterior invariant."""
    checks = []
    for move, error in compute_move_errors(
        compiled, make_cache, log_likelihood, states, n_options, weights, rng
    ).items():
        allowed_error = ABSOLUTE + RELATIVE * max(abs(log_likelihood(*state)) for state in states)
        fault_text = ""
        if not error <= allowed_error:
            fault_text = (
                f"{move} do not preserve the posterior: |pi P - pi| is {error:.3g} in"
                " probability, but should be 0."
            )
        comparison_text = f"transition matrix of {move} against the posterior"
        result_word = _format_result(error <= allowed_error)
        checks.append(Check("exact", comparison_text, f"{error:.2g}", result_word, fault_text))
    return checks


def _check_joint(
    likelihood: Custom,
    observed: "Observed",
    weight_prior: tuple[float, float],
    rounds: int,
    random_seed: int,
    is_right: bool,
) -> Check:
    """Return a check of the joint distribution of features and simulated data."""
    comparison_text = (
        f"{len(NAMES) + len(likelihood.parameters)} means before and after {N_SWEEPS}"
        " sweeps on simulated data"
    )
    if likelihood.log_prior is not None:
        return Check(
            "joint",
            comparison_text,
            "",
            "not run",
            f"log_prior cannot be sampled from; use one of the priors {PRIOR_NAMES}.",
        )
    if likelihood.simulate is None:
        return Check(
            "joint",
            comparison_text,
            "",
            "not run",
            "give Custom a function simulate to run this check.",
        )
    if not is_right:
        return Check("joint", comparison_text, "", "not run", "correct the errors above first.")
    mean_comparisons = compute_restart_scores(
        IndianBuffet(), likelihood, observed, rounds, weight_prior, random_seed
    )
    quantity, (mean_before, mean_after, z) = max(
        mean_comparisons.items(), key=lambda item: np.nan_to_num(abs(item[1][2]), nan=np.inf)
    )
    error_text = f"{abs(z):.1f} standard errors"
    if abs(z) <= LIMIT:
        return Check("joint", comparison_text, error_text, "right")
    fault_text = (
        f"The mean of {quantity} was {mean_before:.4g} in simulated data and {mean_after:.4g}"
        f" after sampling given these data, {abs(z):.1f} standard errors apart: log_likelihood is"
        " not the density that simulate draws from."
    )
    return Check("joint", comparison_text, error_text, "WRONG", fault_text)
