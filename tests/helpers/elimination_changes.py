"""Changes of the state of an elimination model, by the library and in plain arrays."""

from thali.aspects import operations
from thali.aspects.state import COLUMNS
from thali.compile.jit import scalar

OWN, MEMBER, WEIGHT, COMPENSATED_MEMBER, COMPENSATED_WEIGHT, SCALE = range(6)


@scalar
def change(rng, model, c, b, which, i, k, d, commit):
    """Evaluate one change and, if asked to, make it in the cache; returns its delta."""
    m = b.m[k]
    delta = 0.0
    if which == OWN:
        delta = operations.delta_own(model.likelihood, c, b, i, d, 0.0)
        if commit:
            operations.apply_own(model.likelihood, c, b, i, d, 0.0)
    elif which == MEMBER:
        delta = operations.delta_member(model.likelihood, c, b, k, i, d)
        if commit:
            operations.apply_member(model.likelihood, c, b, k, i, d)
    elif which == WEIGHT:
        delta = operations.delta_weight(model.likelihood, c, b, k, m, d)
        if commit:
            operations.apply_weight(model.likelihood, c, b, k, m, d)
    elif which == COMPENSATED_MEMBER:
        delta = operations.delta_compensated_member(model.likelihood, c, b, i, k, d)
        if commit:
            operations.apply_compensated_member(model.likelihood, c, b, i, k, d)
    elif which == COMPENSATED_WEIGHT:
        delta = operations.delta_compensated_weight(model.likelihood, c, b, k, m, d)
        if commit:
            operations.apply_compensated_weight(model.likelihood, c, b, k, m, d)
    else:
        operations.apply_scale(model.likelihood, c, b, d)
    return delta


def changed(which, matrix, weights, unique, i, k, d):
    """The same change made to plain arrays."""
    matrix, weights, unique = matrix.copy(), weights.copy(), unique.copy()
    if which == OWN:
        unique[i] += d
    elif which == MEMBER:
        matrix[i, k] = d > 0
    elif which == WEIGHT:
        weights[k] += d
    elif which == COMPENSATED_MEMBER:  # i joins or leaves k and pays from, or into, its unique weight
        matrix[i, k] = d > 0
        unique[i] -= d
    elif which == COMPENSATED_WEIGHT:
        weights[k] += d
        unique[matrix[:, k]] -= d
    else:
        weights, unique = weights * d, unique * d
    return matrix, weights, unique


def write_back(state, matrix, weights, unique):
    columns = int(state.whole[COLUMNS])
    state.Z[:columns, :-1] = matrix.T
    state.w[:columns] = weights
    state.m[:columns] = matrix.sum(0)
    state.s[:-1] = unique
