"""The most probable features of triplets that several runs passed through."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..draws.columns import Columns, columns_of_chains
from ..draws.tree import log_prior_of
from ..samplers.annealed import AnnealedChain
from ..samplers.chains import Chain
from ..samplers.record import ChainDraws

if TYPE_CHECKING:
    from ..samplers.chains import Task

FOR_EACH_CHAIN = 2  # annealed runs for each chain that `fit` would run
SWEEPS, LOOKED_AT = 500, 50  # of each run; of these the last ones, among which the best is taken
SWEEPS_NEAR, LOOKED_AT_NEAR = 40, 20  # of a run that begins near features of many objects: one for each chain


def runs_of(task: "Task", chains: int) -> tuple["Task", type[Chain], int]:
    """What a run carries out, its kind, and how many there are where `fit` would run that many chains."""
    near = task.begins is not None
    sweeps, draws = (SWEEPS_NEAR, LOOKED_AT_NEAR) if near else (SWEEPS, LOOKED_AT)
    task = replace(task, draws=draws, tune=sweeps - draws, thin=1, temperatures=(1.0,), lengthens=False, pilot=0)
    return (task, Chain, chains) if near else (task, AnnealedChain, FOR_EACH_CHAIN * chains)


def best_state(chains: Sequence[Chain], data: Any, parts: dict[str, Any], task: "Task") -> tuple[ChainDraws, int]:
    """The state of the largest joint density, and how many runs have the same features in their own best state."""
    found = [_best(chain.draws, data, parts["likelihood"], task) for chain in chains if chain.recorded]
    best = max(found, key=lambda each: each[0])[1]
    wanted = _shared(best)
    return best, sum(_shared(draw) == wanted for _, draw in found)


def _best(draws: ChainDraws, data: Any, likelihood: Any, task: "Task") -> tuple[float, ChainDraws]:
    """The log joint density of the best state of a run, and the state as the only draw of a chain."""
    columns = columns_of_chains([draws], len(draws.alpha))
    prior = log_prior_of(task, likelihood, data, columns, draws.alpha, draws.extra)
    joint = draws.log_likelihood + np.sum([np.broadcast_to(part, draws.alpha.shape) for part in prior.values()], axis=0)
    at = int(np.argmax(joint))
    return float(joint[at]), _alone(draws, columns.at(at), at)


def _alone(draws: ChainDraws, columns: Columns, at: int) -> ChainDraws:
    """One draw of a chain as its only one."""
    return ChainDraws(
        alpha=draws.alpha[at : at + 1],
        log_likelihood=draws.log_likelihood[at : at + 1],
        unique_weights=columns.unique_weights,
        n_features=columns.n_features,
        weights=columns.weights,
        sizes=columns.sizes,
        owners=columns.owners,
        extra={name: values[at : at + 1] for name, values in draws.extra.items()},
    )


def _shared(draw: ChainDraws) -> list[tuple[int, ...]]:
    """The owners of every feature that two objects or more own, in a fixed order."""
    owners = np.split(draw.owners, np.cumsum(draw.sizes)[:-1])
    return sorted(tuple(each.tolist()) for each in owners if len(each) > 1)
