"""Birth and death of features that several groups share.

In each group the weight of a new column is either a draw from its prior or, with probability
`carved`, uniform below the smallest unique weight c of the owners, whose unique weights fall by it.
The choice is random for births and deaths equally, so that it cancels. A carved birth contributes c
p(w) to the ratio, and its death the reverse.
"""

import math
from typing import Any

from thali._compile.jit import scalar

from ..chain_state import (
    accept_move,
    count_groups,
    count_options,
    min_over_owners,
    replica,
    subtract_from_owners,
)
from ..group_state import (
    KAPPA,
    append_proposed_column,
    copy_proposed_pattern,
    draw_new_slopes,
    expected_weight,
    remove_group_column,
    select_group,
)
from ..kernel_operations import (
    apply_compensated_weight,
    apply_weight,
    delta_compensated_weight,
    delta_weight,
    draw_pattern,
    log_rate,
)
from .births_and_splits import choose_row, log_birth_ratio
from .group_weight_density import draw_gamma, log_gamma, log_owner_ratio

CARVED, WEIGHT = range(2)  # positions in State.block


@scalar
def propose_group_birth_or_death(
    rng: Any, model: Any, caches: Any, states: Any, base: Any, rate: Any, carved: Any
) -> None:
    """Propose to add a feature to all groups, or to remove a random one.

    `rate` is the total arrival rate of all patterns, per unit of alpha.
    """
    first_group = replica(states, 0)
    is_birth = rng.random() < 0.5
    k = choose_row(rng, first_group, is_birth)
    if k < 0:
        return
    if is_birth:
        copy_proposed_pattern(
            states, draw_pattern(model.prior, rng, first_group, k, 1, count_options(first_group))
        )
        if model.similar:
            base.v[k] = draw_gamma(rng, model.shape, model.shape / model.rate)
        else:
            base.v[k] = model.shape / model.rate
        draw_new_slopes(rng, model, base, k)
    ratio = log_birth_ratio(first_group, rate, is_birth)
    gain = 0.0
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        b.block[CARVED] = 0.0
        if model.unique and rng.random() < carved:
            b.block[CARVED] = 1.0
        d = -b.w[k]
        if b.block[CARVED] == 0.0:
            if is_birth:
                d = draw_gamma(rng, base.real[KAPPA], expected_weight(base, k, g))
            gain += delta_weight(likelihood, c, b, k, b.m[k], d)
        else:
            min_unique = min_over_owners(b.s, b, k)
            if is_birth:
                d = rng.random() * min_unique
                if not 0.0 < d < min_unique:
                    return
            log_proposal_ratio = math.log(min_unique - min(d, 0.0))
            log_proposal_ratio += log_gamma(base.real[KAPPA], expected_weight(base, k, g), abs(d))
            if not is_birth:
                log_proposal_ratio = -log_proposal_ratio
            ratio += log_proposal_ratio
            ratio += log_owner_ratio(base, g, b, k, d)
            gain += delta_compensated_weight(likelihood, c, b, k, b.m[k], d)
        b.block[WEIGHT] = d
    if not accept_move(rng, first_group, ratio, gain):
        return
    for g in range(count_groups(states)):
        likelihood, c, b = select_group(model, caches, states, g)
        d = b.block[WEIGHT]
        if b.block[CARVED] == 0.0:
            apply_weight(likelihood, c, b, k, b.m[k], d)
        else:
            apply_compensated_weight(likelihood, c, b, k, b.m[k], d)
            subtract_from_owners(b.s, b, k, d)
        if is_birth:
            b.w[k] = d
    if is_birth:
        append_proposed_column(states, log_rate(model.prior, first_group, k, first_group.m[k]))
    else:
        remove_group_column(states, base, k)
