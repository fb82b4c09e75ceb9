"""Where chains of triplets of many objects begin: where an annealed run ends whose likelihood is quick to evaluate.

From a prior draw chains find features slowly: a column begins with one object, and few are tried in a sweep.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..likelihoods.residuals import empty_cache
from ..state import ALPHA, COLUMNS, ROOM, State, empty_state
from .annealed import AnnealedChain
from .recommended import conjugate_together

if TYPE_CHECKING:
    from .chains import Task

SWEEPS = 300  # of the annealed run; 1,000 end at no better features
MOST = 3000  # objects: the run stores numbers for all pairs


@dataclass(frozen=True)
class NearStart:
    """Gives the state in which a chain begins."""

    approximate: Callable[[Any], Any]  # likelihood -> similarities, their prior of weights, the factor of the weights

    def __call__(self, rng: np.random.Generator, task: "Task") -> State:
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
        chain.run_to(SWEEPS)
        found = chain.state
        count = int(found.whole[COLUMNS])
        kept = np.flatnonzero((found.m[:count] >= model.lo) & (found.m[:count] <= model.hi))
        state = empty_state(n, 4 * kept.size + 2 * ROOM)
        state.Z[: kept.size], state.m[: kept.size] = found.Z[kept], found.m[kept]
        state.w[: kept.size] = unit * found.w[kept]
        state.whole[COLUMNS], state.real[ALPHA] = kept.size, found.real[ALPHA]
        return state
