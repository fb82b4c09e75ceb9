"""The most probable features, as the best of several annealed runs: one answer in seconds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.data.kinds import SIMILARITIES, TRIPLETS
from thali.errors import Argument, ArgumentError, Setting
from thali.inference.chains import Run
from thali.inference.seeds import streams
from thali.model.sampling import Sampling

from ..answers.set_search import Best, Problem, evidence_of, feature_sets, search
from ..answers.stored_layout import POINT, REACHED, RESTARTS, STARTED_ANEW
from ..draws.columns import Columns, columns_of_chains
from ..likelihoods.residuals import CONSTANT, VARIANCE, lay_out
from ..operations import is_exchangeable, keeps_empty
from ..samplers.annealed import AnnealedChain
from ..samplers.chains import Chain
from ..samplers.recommended import conjugate_together
from ..samplers.record import ChainDraws
from ..state import ALPHA, COLUMNS
from . import point_of_triplets
from .climb import Landscape, climbed

if TYPE_CHECKING:
    import xarray

    from ..samplers.chains import Task

FOR_EACH_CHAIN = 5  # annealed runs for each chain that `fit` would run
SWEEPS = 2000  # of each
NEAR = 1.0  # nats below the best answer: a run that ends there has reached it


def sampling_of_point(source: Any, run: Run, parts: dict[str, Any], task: "Task") -> Sampling[Chain]:
    """The annealed runs for these data, and their best end as a posterior of a single draw."""
    for name in ("sampler", "tempering"):
        if parts[name] is not None:
            raise ArgumentError(Argument(name), " belongs to ", Setting("method", "mcmc"), "; leave it out.")
    runs_of, best = _OF_KIND[source.kind]
    task, kind, runs = runs_of(task, run.chains)

    def tree(chains: Sequence[Chain]) -> "xarray.DataTree":
        from ..draws.tree import to_datatree

        draw, reached = best(chains, source, parts, task)
        attrs = {"thin": 1, "tuning_steps": task.tune, STARTED_ANEW: 0, POINT: 1}
        attrs |= {RESTARTS: len(chains), REACHED: reached}
        learned = task.model.learn_alpha
        return to_datatree([draw], source, parts["likelihood"], learned_alpha=learned, attrs=attrs, task=task)

    return Sampling(
        source=source,
        run=run,
        chains=lambda draws, seed: [kind(task, rng) for rng in streams(seed, runs)],
        tree=tree,
        found=lambda tree, chains, seed: {},
        is_compiled=task.kernel.is_compiled(task.model),
        most=1,
        first_draws=1,
    )


def _runs_of(task: "Task", chains: int) -> tuple["Task", type[Chain], int]:
    """What an annealed run of similarities carries out, its kind, and how many there are."""
    task = replace(task, kernel=conjugate_together, draws=1, tune=SWEEPS, thin=1, pilot=0)
    task = replace(task, temperatures=(1.0,), lengthens=False, evens=False)
    return task, AnnealedChain, FOR_EACH_CHAIN * chains


def best_end(chains: Sequence[Chain], data: Any, parts: dict[str, Any], task: "Task") -> tuple[ChainDraws, int]:
    """The most probable set of features in which one of the chains ended, and how many chains reached as probable ones.

    Each end is first improved by a climb, if the prior is one for which a climb is quick.
    """
    ended = [chain for chain in chains if chain.recorded]
    sigma2 = float(np.mean([chain.cache.real[VARIANCE] for chain in ended]))
    alpha = float(np.mean([chain.state.real[ALPHA] for chain in ended]))
    constant = np.array([chain.cache.real[CONSTANT] for chain in ended])
    shape, rate = parts["weight_prior"]
    found = [_end(chain) for chain in ended]
    if is_exchangeable(task.model.prior):
        value, measured, _ = lay_out(data)
        state = ended[0].state
        log_rate, keeps = state.by_size.copy(), bool(keeps_empty(task.model.prior))
        log_alpha = 0.0 if keeps else float(np.log(alpha))
        at = Landscape(value, measured, log_rate, log_alpha, sigma2, float(shape), float(rate), keeps)
        found = [climbed(*each, float(w0), at) for each, w0 in zip(found, constant, strict=True)]
    columns = _columns(found, data.n_options)
    likelihood = parts["likelihood"]
    problem = Problem(
        first=data.first,
        second=data.second,
        values=data.values,
        judgements=data.judgements,
        n=data.n_options,
        sigma2=sigma2,
        alpha=alpha,
        prior=task.prior,
        shape=float(shape),
        rate=float(rate),
        constant=constant,
        with_constant=bool(likelihood.constant),
    )
    sets = feature_sets(columns, data.n_options)
    best = search("map-features", sets, problem)
    evidence = evidence_of(sets, problem, np.arange(len(sets.counts)))
    reached = int(sum(evidence[int(number)] > evidence[best.number] - NEAR for number in sets.of_draw))
    return _draw(best, sets.patterns, data, alpha, sigma2, likelihood.first_variance(data)), reached


def _end(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Owners and weights of the features that two objects or more own."""
    b = chain.state
    count = int(b.whole[COLUMNS])
    shared = b.m[:count] >= 2
    return b.Z[:count, :-1][shared].astype(bool), b.w[:count][shared].copy()


def _columns(found: list[tuple[np.ndarray, np.ndarray]], n: int) -> Columns:
    """The features of every run as those of draws."""
    ends = [
        ChainDraws(
            alpha=np.ones(1),
            log_likelihood=np.zeros(1),
            unique_weights=np.zeros((1, n)),
            n_features=np.array([len(owners)]),
            weights=weights,
            sizes=owners.sum(1).astype(np.int64),
            owners=np.nonzero(owners)[1].astype(np.int32),
        )
        for owners, weights in found
    ]
    return columns_of_chains(ends, 1)


def _draw(
    best: Best, patterns: np.ndarray, data: Any, alpha: float, sigma2: float, first_variance: float
) -> ChainDraws:
    """The answer as the only draw of a chain; copies of a feature share its weight."""
    owners = np.repeat(patterns[best.patterns], best.copies, axis=0)
    weights = np.repeat(best.weights / best.copies, best.copies)
    inside = (owners[:, data.first] & owners[:, data.second]).astype(float)
    rest = data.values - best.constant - weights @ inside
    squares = float(data.judgements @ rest**2)
    return ChainDraws(
        alpha=np.array([alpha]),
        log_likelihood=np.array([-0.5 * (squares / sigma2 + data.n_pairs * np.log(sigma2 / first_variance))]),
        unique_weights=np.zeros((1, data.n_options)),
        n_features=np.array([len(owners)]),
        weights=weights,
        sizes=owners.sum(1).astype(np.int64),
        owners=np.nonzero(owners)[1].astype(np.int32),
        extra={"constant": np.array([best.constant]), "sigma": np.array([np.sqrt(sigma2)])},
    )


# Of each kind of data what an annealed run carries out, and how the best end is found.
_OF_KIND = {
    SIMILARITIES: (_runs_of, best_end),
    TRIPLETS: (point_of_triplets.runs_of, point_of_triplets.best_state),
}
