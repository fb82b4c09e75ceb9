"""Joins a prior, a likelihood and a sampler, and runs them: what every latent-feature model
shares."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import is_list, positive, refuse_endless, whole
from thali._inference.chains import Run
from thali._model.engine import Prepared
from thali.errors import Argument, ArgumentError, InPython, Message, Setting, Value

from ..likelihoods.parameters import Gamma, Normal
from ..likelihoods.residuals import empty_cache
from ..operations import draw_weights, sees_full, sees_single
from ..priors.given import Given
from ..state import (
    ALPHA,
    COLUMNS,
    FIXED_UNIQUE,
    NO_UNIQUE,
    ROOM,
    TOTAL_UNIQUE,
    ChainModel,
    FeatureState,
    empty_state,
)
from ..weight_priors import GammaWeights, are_exponential
from .chains import AnnealedChain, SamplingTask, run_chains
from .recommended import conjugate_together
from .tempering import MAX_TEMPERATURES, geometric

if TYPE_CHECKING:
    from .chains import SamplingTask
    from .record import ChainDraws


MAX_EXPECTED = 10_000  # features that the prior may expect: more fill the memory
LEVELS, T_MAX = 8, 10.0  # of the ladder that tempering starts with
# Objects of similarities from which on tempered chains are annealed, their temperatures placed by
# measured swaps, and the memberships of an object in overlapping columns drawn together; of
# triplets from which on chains begin where an approximate likelihood has led.
MIN_ANNEALED = 40
# sweeps a kept draw, unless the user says otherwise: a sweep costs microseconds
THIN, THIN_TEMPERED = 25, 50


def build_task(
    prior: Any,
    likelihood: Any,
    data: Any,
    *,
    weight_prior: Any,
    alpha: Any,
    draws: int,
    tune: int,
    thin: Any,
    tempering: Any = None,
    power: float = 1.0,
    sweep: Any = None,
) -> SamplingTask:
    """Check everything and put it into the form that the chains read; the likelihood is raised to a
    power.

    A kernel `sweep` replaces the one that suits the prior and the likelihood. It has all columns,
    and one temperature.

    How the columns that a single option owns are represented is decided here, once for all
    samplers. Under an infinite prior those that the likelihood does not see are drawn from the
    prior. With exponential weights and a likelihood that sees an option's unique weight, only their
    sum with the fixed unique weight is carried. Otherwise they are columns like any other.
    """
    if hasattr(prior, "for_labels"):
        prior = prior.for_labels(data.labels)
    for part, wanted in ((prior, "sample"), (likelihood, "check")):
        if not hasattr(part, wanted):
            raise ArgumentError(
                f"{part!r} is neither a prior of thali.priors nor a likelihood of"
                " thali.likelihoods; pass one of those."
            )
    weights = weights_of(weight_prior, likelihood)
    if alpha is not None:
        alpha = positive("alpha", alpha, "the concentration of the prior over features")
        if not prior.learns_alpha:
            raise ArgumentError(
                Argument("alpha"),
                " does not apply to given features; leave it ",
                InPython("at None", "out"),
                ".",
            )
        # of a tree it is less
        expected = alpha * float(np.sum(1.0 / np.arange(1, data.n_options + 1)))
        if expected > MAX_EXPECTED:
            raise ArgumentError(
                Setting("alpha", alpha),
                f" implies a prior mean of {expected:,.6g} features; choose a value that implies"
                f" at most {MAX_EXPECTED:,}.",
            )
    draws = whole("draws", draws, 1)
    tune = whole("tune", tune, 0)
    n = data.n_options
    compiled_prior = prior.compiled(n)
    likelihood.check(prior, data)
    compiled_likelihood, make_cache = likelihood.compiled(data, weights)
    explicit = not prior.is_infinite or sweep is not None
    unique = FIXED_UNIQUE if likelihood.unique else NO_UNIQUE
    if unique and are_exponential(weights) and not explicit:
        unique = TOTAL_UNIQUE
    carried = explicit or (unique != TOTAL_UNIQUE and sees_single(compiled_likelihood))
    least = 0 if not prior.is_infinite else 1 if carried else 2
    learned = prior.learns_alpha and alpha is None
    most = n if explicit or sees_full(compiled_likelihood) else n - 1
    model = ChainModel(compiled_prior, compiled_likelihood, weights, least, most, unique, learned)
    start = alpha if alpha is not None else None if learned else float("nan")
    if isinstance(tempering, str):
        tempering = {"auto": None, "off": False}.get(tempering, tempering)
    temperatures, lengthens = _ladder(
        tempering, likelihood.tempers and prior.learns_alpha and sweep is None
    )
    many = (
        n >= MIN_ANNEALED
        and len(temperatures) > 1
        and type(compiled_likelihood) in draw_weights.answers
    )
    kernel = _kernel(prior, model, many) if sweep is None else sweep
    near = None
    if (
        likelihood.approximate is not None
        and prior.learns_alpha
        and MIN_ANNEALED <= n <= MAX_APPROXIMATED
    ):
        near = NearStart(likelihood.approximate)
    if thin is None:
        thin = THIN_TEMPERED if len(temperatures) > 1 else THIN
    thin = whole("thin", thin, 1)
    refuse_endless(draws, tune, 1, thin)
    return SamplingTask(
        kernel,
        model,
        prior,
        make_cache,
        n,
        start,
        draws,
        tune,
        thin,
        tuple(each / power for each in temperatures),
        lengthens,
        many and lengthens,
        tuple(likelihood.parameters),
        may_temper=tempering is None
        and sweep is None
        and prior.learns_alpha
        and len(temperatures) == 1,
        begins=near,
    )


def _ladder(tempering: Any, by_default: bool) -> tuple[tuple[float, ...], bool]:
    """Temperatures to start with, and whether the ladder is lengthened while tuning."""
    if tempering is None:
        return (geometric(LEVELS, T_MAX), True) if by_default else ((1.0,), False)
    count = tempering if isinstance(tempering, int | np.integer) and tempering is not True else None
    if count in (0, 1):  # which False is
        return (1.0,), False
    if count is not None and 1 < count <= MAX_TEMPERATURES:
        return geometric(int(count), T_MAX), True
    if is_list(tempering):
        try:
            given = tuple(map(float, tempering))
        except (TypeError, ValueError):
            given = ()
        if len(given) > 1 and given[0] == 1.0 and all(a < b < math.inf for a, b in pairwise(given)):
            return given, False
    raise ArgumentError(
        Argument("tempering"),
        InPython(" must be None or 'auto', False or 'off'", " must be auto, off"),
        f", a number of temperatures up to {MAX_TEMPERATURES}, or a list of temperatures"
        " increasing from 1; got ",
        Value("tempering", tempering),
        ".",
    )


def _kernel(prior: Any, model: ChainModel, together: bool) -> Any:
    """Return the sweeps that suit the prior and the likelihood."""
    from . import recommended

    if type(model.likelihood) in draw_weights.answers:
        return recommended.conjugate_together if together else recommended.conjugate
    if isinstance(prior, Given) and prior.matrix.shape[1] == 0:
        return recommended.unique_alone
    if not prior.is_infinite:
        return recommended.fixed
    return (
        recommended.infinite_without_unique if model.unique == NO_UNIQUE else recommended.infinite
    )


def weights_of(weight_prior: Any, likelihood: Any) -> Any:
    """The prior of the weights as the samplers read it."""
    if isinstance(weight_prior, Normal):
        if not likelihood.takes_signed_weights:
            raise ArgumentError(
                Argument("weight_prior"),
                f": the weights of {type(likelihood).__name__} are positive and cannot have a"
                " normal prior; give the shape and rate of a Gamma distribution, such as ",
                Value("weight_prior", (1, 1)),
                ".",
            )
        return weight_prior.as_weights()
    if isinstance(weight_prior, Gamma):
        weight_prior = weight_prior.as_weights()
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
    shape = positive(
        Message("The shape in ", Argument("weight_prior")),
        shape,
        "a parameter of a Gamma distribution",
    )
    rate = positive(
        Message("The rate in ", Argument("weight_prior")),
        rate,
        "a parameter of a Gamma distribution",
    )
    if shape < likelihood.least_shape:
        raise ArgumentError(
            "The shape in ",
            Argument("weight_prior"),
            f" must be >= {likelihood.least_shape:g} for {type(likelihood).__name__}, because"
            f" smaller shapes put too many weights near 0; got {shape:g}.",
        )
    return GammaWeights(shape, rate)


def compile_ahead(task: Any, progress: Any) -> None:
    """Compile the sampler of a task, unless it is compiled, so that worker processes find it on the
    disk."""
    if not task.kernel.is_compiled(task.model):
        progress.note("compiling, once")
        task.chain(np.random.default_rng(0)).run_until(0)
        progress.note("")


@dataclass(frozen=True)
class PreparedChains(Prepared):
    """A fit by chains, and what they will run."""

    task: SamplingTask = field(kw_only=True)

    def compile(self, progress: Any) -> None:
        compile_ahead(self.task, progress)


def run(task: SamplingTask, how: Run) -> tuple[list["ChainDraws"], bool]:
    """Run the chains under a progress bar; returns their draws and whether they were
    interrupted."""
    from thali._inference.progress import Progress

    with Progress(
        how.progressbar, "sampling", how.chains * (task.tune + task.draws) * task.thin
    ) as progress:
        return run_chains(task, how.chains, how.cores, how.random_seed, progress)


# Where chains of triplets of many objects begin: where an annealed run ends whose likelihood is
# quick to evaluate
#
# From a prior draw chains find features slowly: a column begins with one object, and few are tried
# in a sweep.


SWEEPS = 300  # of the annealed run; 1,000 end at no better features
MAX_APPROXIMATED = 3000  # objects: the run stores numbers for all pairs


@dataclass(frozen=True)
class NearStart:
    """Gives the state in which a chain begins."""

    # likelihood -> similarities, their prior of weights, the factor of the weights
    approximate: Callable[[Any], Any]

    def __call__(self, rng: np.random.Generator, task: "SamplingTask") -> FeatureState:
        """The features at the end of an annealed run of the approximate likelihood."""
        likelihood, weights, unit = self.approximate(task.model.likelihood)
        model, n = task.model, task.n_options
        run = replace(
            task,
            kernel=conjugate_together,
            model=model._replace(likelihood=likelihood, weights=weights, hi=n),
            make_cache=empty_cache,
            draws=1,
            tune=SWEEPS - 1,
            thin=1,
            temperatures=(1.0,),
            lengthens=False,
            evens=False,
            parameters=("constant", "sigma"),
            pilot=0,
            begins=None,
        )
        chain = AnnealedChain(run, rng)
        chain.run_until(SWEEPS)
        found = chain.state
        count = int(found.whole[COLUMNS])
        kept = np.flatnonzero((found.m[:count] >= model.lo) & (found.m[:count] <= model.hi))
        state = empty_state(n, 4 * kept.size + 2 * ROOM)
        state.Z[: kept.size], state.m[: kept.size] = found.Z[kept], found.m[kept]
        state.w[: kept.size] = unit * found.w[kept]
        state.whole[COLUMNS], state.real[ALPHA] = kept.size, found.real[ALPHA]
        return state
