"""Construction of sampling tasks from prior, likelihood, data and sampler settings."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from thali._argument_checks import check_integer, check_positive, check_run_length, is_list
from thali._model.fitting_methods import PreparedFit
from thali.errors import Argument, ArgumentError, InPython, Message, Setting, Value

from ..chain_state import (
    ALPHA,
    COLUMNS,
    FIXED_UNIQUE,
    MIN_FREE_ROWS,
    NO_UNIQUE,
    TOTAL_UNIQUE,
    ChainModel,
    FeatureState,
    make_empty_state,
)
from ..kernel_operations import draw_weights, sees_full, sees_single
from ..likelihoods.parameter_priors import Gamma, Normal
from ..likelihoods.similarity_residuals import make_residual_cache
from ..priors.given_features import Given
from ..weight_priors import GammaWeights, is_exponential_prior
from .chains import AnnealedChain, SamplingTask
from .default_sweeps import sweep_conjugate_jointly
from .tempering import MAX_TEMPERATURES, space_temperatures

if TYPE_CHECKING:
    from thali._inference.progress_display import Progress

    from ..likelihoods.additive import Additive
    from ..likelihoods.custom import Custom
    from ..likelihoods.elimination import Elimination
    from ..likelihoods.most_similar_pair import MostSimilarPair
    from ..priors.prior_from_argument import FeaturePrior


Likelihood: TypeAlias = "Elimination | Additive | MostSimilarPair | Custom"
MAX_EXPECTED = 10_000  # features that the prior may expect: more fill the memory
FIRST_LEVELS, FIRST_HOTTEST = 8, 10.0  # initial levels and hottest temperature of a ladder
# With at least this number of objects, tempered chains of similarities are annealed, place
# temperatures by measured swaps, and draw memberships of an object in overlapping columns jointly;
# chains of triplets begin at the end of a run with an approximate likelihood.
MIN_ANNEALED = 40
# default sweeps per recorded draw: a sweep costs microseconds
DEFAULT_THIN = 25
DEFAULT_THIN_TEMPERED = 50


def build_task(
    prior: Any,
    likelihood: "Likelihood",
    data: Any,
    *,
    weight_prior: tuple[float, float],
    alpha: float | None,
    draws: int,
    tune: int,
    thin: int | None,
    tempering: str | int | Sequence[float] | None = None,
    power: float = 1.0,
    sweep: Callable[..., Any] | None = None,
) -> SamplingTask:
    """Check all arguments of a fit and build its sampling task.

    The likelihood is raised to `power`. A kernel `sweep` replaces the one that suits the prior and
    the likelihood; it includes all columns, and has one temperature.
    """
    if hasattr(prior, "for_labels"):
        prior = prior.for_labels(data.labels)
    _check_parts(prior, likelihood)
    n_options = data.n_options
    compiled_weight_prior = build_weight_prior(weight_prior, likelihood)
    if alpha is not None:
        alpha = _check_alpha(alpha, prior, n_options)
    draws = check_integer("draws", draws, 1)
    tune = check_integer("tune", tune, 0)
    learns_alpha = prior.learns_alpha and alpha is None
    has_own_sweep = sweep is not None
    model, make_cache = _build_model(
        prior, likelihood, data, compiled_weight_prior, has_own_sweep, learns_alpha
    )
    if alpha is None and not learns_alpha:
        alpha = float("nan")
    if isinstance(tempering, str):
        tempering = {"auto": None, "off": False}.get(tempering, tempering)
    may_temper = prior.learns_alpha and not has_own_sweep
    temperatures, lengthens = _choose_temperatures(
        tempering, likelihood.needs_tempering and may_temper
    )
    updates_jointly = _needs_joint_updates(model, n_options, len(temperatures))
    if sweep is None:
        sweep = _choose_kernel(prior, model, updates_jointly)
    thin = _check_thin(thin, len(temperatures) > 1)
    check_run_length(draws, tune, 1, thin)
    return SamplingTask(
        sweep,
        model,
        prior,
        make_cache,
        n_options,
        alpha,
        draws,
        tune,
        thin,
        tuple(each / power for each in temperatures),
        lengthens,
        updates_jointly and lengthens,
        tuple(likelihood.parameters),
        may_temper=may_temper and tempering is None and len(temperatures) == 1,
        sample_start=_choose_start(prior, likelihood, n_options),
    )


def _check_parts(prior: "FeaturePrior", likelihood: "Likelihood") -> None:
    """Raise ArgumentError unless these are a prior and a likelihood of this package."""
    for component, method in ((prior, "sample"), (likelihood, "check")):
        if not hasattr(component, method):
            raise ArgumentError(
                f"{component!r} is neither a prior of thali.priors nor a likelihood of"
                " thali.likelihoods; pass one of those."
            )


def _check_alpha(alpha: Any, prior: "FeaturePrior", n_options: int) -> float:
    """Return alpha; raise if the prior has none, or if alpha implies too many features."""
    alpha = check_positive("alpha", alpha, "the concentration of the prior over features")
    if not prior.learns_alpha:
        raise ArgumentError(
            Argument("alpha"),
            " does not apply to given features or to a prior without concentration; leave it ",
            InPython("at None", "out"),
            ".",
        )
    # an upper bound for a phylogenetic prior
    expected_features = alpha * float(np.sum(1.0 / np.arange(1, n_options + 1)))
    if expected_features > MAX_EXPECTED:
        raise ArgumentError(
            Setting("alpha", alpha),
            f" implies a prior mean of {expected_features:,.6g} features; choose a value that"
            f" implies at most {MAX_EXPECTED:,}.",
        )
    return alpha


def _check_thin(thin: int | None, tempers: bool) -> int:
    """Return the sweeps per recorded draw, with a default if `thin` is None."""
    if thin is None and tempers:
        return DEFAULT_THIN_TEMPERED
    if thin is None:
        return DEFAULT_THIN
    return check_integer("thin", thin, 1)


def _build_model(
    prior: "FeaturePrior",
    likelihood: "Likelihood",
    data: Any,
    weight_prior: Any,
    has_custom_sweep: bool,
    learns_alpha: bool,
) -> tuple[ChainModel, Callable[..., Any]]:
    """Build the compiled model, and the function that makes a chain's cache."""
    # Under an infinite prior, single-option columns that the likelihood does not see are drawn from
    # the prior. With exponential weights and a likelihood that sees an option's unique weight, the
    # state has only their sum with the fixed unique weight. Otherwise they are ordinary columns.
    n_options = data.n_options
    has_all_columns = has_custom_sweep or not prior.is_infinite
    compiled_prior = prior.compiled(n_options)
    likelihood.check(prior, data)
    compiled_likelihood, make_cache = likelihood.compiled(data, weight_prior)
    unique_mode = NO_UNIQUE
    if likelihood.unique:
        unique_mode = FIXED_UNIQUE
        if is_exponential_prior(weight_prior) and not has_all_columns:
            unique_mode = TOTAL_UNIQUE
    min_owners = 2
    if not prior.is_infinite:
        min_owners = 0
    elif has_all_columns or (unique_mode != TOTAL_UNIQUE and sees_single(compiled_likelihood)):
        min_owners = 1
    max_owners = n_options
    if not (has_all_columns or sees_full(compiled_likelihood)):
        max_owners -= 1
    return ChainModel(
        compiled_prior,
        compiled_likelihood,
        weight_prior,
        min_owners,
        max_owners,
        unique_mode,
        learns_alpha,
    ), make_cache


def _choose_start(
    prior: "FeaturePrior", likelihood: "Likelihood", n_options: int
) -> Callable[..., FeatureState] | None:
    """Return the function that samples initial states; None to sample the prior."""
    if (
        likelihood.approximate is not None
        and prior.learns_alpha
        and MIN_ANNEALED <= n_options <= MAX_APPROXIMATED
    ):
        return partial(sample_approximate_start, likelihood.approximate)
    return None


def _choose_temperatures(
    tempering: str | int | Sequence[float] | None, tempers: bool
) -> tuple[tuple[float, ...], bool]:
    """Return the initial temperatures, and whether tuning may add more."""
    if tempering is None:
        tempering = False
        if tempers:
            tempering = FIRST_LEVELS
    if isinstance(tempering, int | np.integer) and tempering is not True:
        if tempering in (0, 1):  # False equals 0
            return (1.0,), False
        if 1 < tempering <= MAX_TEMPERATURES:
            return space_temperatures(int(tempering), FIRST_HOTTEST), True
    if is_list(tempering):
        try:
            temperatures = tuple(map(float, tempering))
        except (TypeError, ValueError):
            temperatures = ()
        if (
            len(temperatures) > 1
            and temperatures[0] == 1.0
            and all(a < b < math.inf for a, b in pairwise(temperatures))
        ):
            return temperatures, False
    raise ArgumentError(
        Argument("tempering"),
        InPython(" must be 'auto' (or None), 'off' (or False)", " must be auto, off"),
        f", a number of temperatures (at most {MAX_TEMPERATURES}), or an increasing list of"
        " temperatures that starts at 1; got ",
        Value("tempering", tempering),
        ".",
    )


def _needs_joint_updates(model: ChainModel, n_options: int, n_temperatures: int) -> bool:
    """Return whether sweeps draw an object's memberships in overlapping columns jointly."""
    return (
        n_options >= MIN_ANNEALED
        and n_temperatures > 1
        and type(model.likelihood) in draw_weights.answers
    )


def _choose_kernel(prior: "FeaturePrior", model: ChainModel, updates_jointly: bool) -> Any:
    """Return the sampler kernel that suits the prior and the likelihood."""
    from . import default_sweeps

    if type(model.likelihood) in draw_weights.answers:
        if updates_jointly:
            return default_sweeps.sweep_conjugate_jointly
        return default_sweeps.sweep_conjugate
    if isinstance(prior, Given) and prior.matrix.shape[1] == 0:
        return default_sweeps.sweep_unique_weights
    if not prior.is_infinite:
        return default_sweeps.sweep_fixed
    if model.unique == NO_UNIQUE:
        return default_sweeps.sweep_infinite_without_unique
    return default_sweeps.sweep_infinite


def build_weight_prior(weight_prior: tuple[float, float], likelihood: "Likelihood") -> Any:
    """Return the user's prior of the weights as kernels read it."""
    if isinstance(weight_prior, Normal):
        if not likelihood.takes_signed_weights:
            raise ArgumentError(
                Argument("weight_prior"),
                f": the weights of {type(likelihood).__name__} are positive and cannot have a"
                " normal prior; give the shape and rate of a Gamma distribution, such as ",
                Value("weight_prior", (1, 1)),
                ".",
            )
        return weight_prior.to_weight_prior()
    if isinstance(weight_prior, Gamma):
        weight_prior = weight_prior.to_weight_prior()
    try:
        shape, rate = weight_prior
    except (TypeError, ValueError):
        raise ArgumentError(
            Argument("weight_prior"),
            " must be the shape and rate of a Gamma distribution, such as ",
            Value("weight_prior", (1, 10)),
            "; got ",
            Value("weight_prior", weight_prior),
            ".",
        ) from None
    shape = check_positive(
        Message("The shape in ", Argument("weight_prior")),
        shape,
        "a parameter of a Gamma distribution",
    )
    rate = check_positive(
        Message("The rate in ", Argument("weight_prior")),
        rate,
        "a parameter of a Gamma distribution",
    )
    if shape < likelihood.min_shape:
        raise ArgumentError(
            "The shape in ",
            Argument("weight_prior"),
            f" must be >= {likelihood.min_shape:g} for {type(likelihood).__name__}, because"
            f" smaller shapes put too many weights near 0; got {shape:g}.",
        )
    return GammaWeights(shape, rate)


def compile_ahead(task: SamplingTask, progress: "Progress") -> None:
    """Compile the sampler of a task, so that worker processes load it from disk."""
    if not task.kernel.is_compiled(task.model):
        progress.note("compiling, once")
        task.chain(np.random.default_rng(0)).run_until(0)
        progress.note("")


@dataclass(frozen=True)
class PreparedChains(PreparedFit):
    """A prepared fit by Markov chains, with its sampling task."""

    task: SamplingTask = field(kw_only=True)

    def compile(self, progress: "Progress") -> None:
        """Compile the numba kernels that the prepared fit calls."""
        compile_ahead(self.task, progress)


# Chains of triplets of many objects begin at the end of an annealed run with a fast approximate
# likelihood
#
# From a prior draw chains find features slowly: a new column has one object, and a sweep proposes
# few columns.


APPROXIMATE_SWEEPS = 300  # length of the annealed run; 1,000 sweeps find no better features
MAX_APPROXIMATED = 3000  # objects; the run stores numbers for all pairs


def sample_approximate_start(
    approximate: Callable[[Any], Any], rng: np.random.Generator, task: "SamplingTask"
) -> FeatureState:
    """Sample an initial state by annealing an approximate likelihood.

    `approximate` returns similarities, their prior of weights, and the factor of the weights.
    """
    likelihood, approximate_prior, weight_unit = approximate(task.model.likelihood)
    model = task.model
    n_options = task.n_options
    annealing_task = replace(
        task.shorten(1, APPROXIMATE_SWEEPS - 1),
        kernel=sweep_conjugate_jointly,
        model=model._replace(likelihood=likelihood, weights=approximate_prior, hi=n_options),
        make_cache=make_residual_cache,
        parameters=("constant", "sigma"),
        sample_start=None,
    )
    annealed_chain = AnnealedChain(annealing_task, rng)
    annealed_chain.run_until(APPROXIMATE_SWEEPS)
    annealed_state = annealed_chain.state
    n_columns = int(annealed_state.whole[COLUMNS])
    column_indices = np.flatnonzero(
        (annealed_state.m[:n_columns] >= model.lo) & (annealed_state.m[:n_columns] <= model.hi)
    )
    state = make_empty_state(n_options, 4 * column_indices.size + 2 * MIN_FREE_ROWS)
    state.Z[: column_indices.size], state.m[: column_indices.size] = (
        annealed_state.Z[column_indices],
        annealed_state.m[column_indices],
    )
    state.w[: column_indices.size] = weight_unit * annealed_state.w[column_indices]
    state.whole[COLUMNS], state.real[ALPHA] = column_indices.size, annealed_state.real[ALPHA]
    return state
