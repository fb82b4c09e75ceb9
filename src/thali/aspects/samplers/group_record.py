"""The record of a chain of groups: that of `record`, with a weight for each group wherever that has one."""

from typing import Any

import numpy as np

from thali.compile.jit import scalar

from ..group_stacked import group_at
from ..group_state import KAPPA
from ..operations import cache_at, log_likelihood, note_parameters
from ..state import ALPHA, COLUMNS, replica
from .record import DRAW, FEATURE, OWNER, Record, add_owner, empty_record


def empty_group_record(draws: int, n: int, groups: int, parameters: int, people: int = 0) -> Record:
    """Room for all draws; the last of the extra parameters is kappa, those before are group after group."""
    made = empty_record(draws, n, people=people)
    return made._replace(
        unique_weights=np.zeros((draws, groups, n)),
        weights=np.zeros((made.weights.size, groups)),
        extra=np.zeros((draws, groups * parameters + 1)),
    )


@scalar
def has_room(b: Any, out: Any) -> Any:
    """Whether the columns of the current state fit into the rest of the record."""
    owners = 0
    for k in range(b.whole[COLUMNS]):
        owners += b.m[k]
    return (
        out.used[FEATURE] + b.whole[COLUMNS] <= out.weights.shape[0] and out.used[OWNER] + owners <= out.owners.shape[0]
    )


@scalar
def record(model: Any, caches: Any, states: Any, base: Any, out: Any) -> None:
    """Record the states of all groups."""
    first = replica(states, 0)
    n, groups = first.Z.shape[1] - 1, states.w.shape[0]
    draw, before = out.used[DRAW], out.used[FEATURE]
    for k in range(first.whole[COLUMNS]):
        if first.m[k] > 0:
            for g in range(groups):
                out.weights[out.used[FEATURE], g] = states.w[g, k]
            out.sizes[out.used[FEATURE]] = first.m[k]
            out.used[FEATURE] += 1
            for i in range(n):
                if first.Z[k, i] != 0.0:
                    add_owner(out, i)
    out.n_features[draw] = out.used[FEATURE] - before
    out.alpha[draw] = first.real[ALPHA]
    out.log_likelihood[draw] = 0.0
    each = (out.extra.shape[1] - 1) // groups
    for g in range(groups - 1, -1, -1):
        likelihood, b = group_at(model.likelihood, g), replica(states, g)
        c = cache_at(likelihood, caches, g)
        for i in range(n):
            out.unique_weights[draw, g, i] = b.s[i]
        out.log_likelihood[draw] += log_likelihood(likelihood, c, b)
        note_parameters(likelihood, c, b, out.extra, draw)  # at the front, where those of group 0, the last, stay
        for p in range(each):
            out.extra[draw, g * each + p] = out.extra[draw, p]
    out.extra[draw, out.extra.shape[1] - 1] = base.real[KAPPA]
    out.used[DRAW] = draw + 1
