"""The operations that a prior and a likelihood implement.

Moves use these operations only, not the classes of models. `b` is the state, `c` the cache of the
likelihood, `k` the row number of a pattern, `m` its number of owners, `i` an option, `d` a signed
weight. A move changes the measure that puts weight w[k] on pattern k and s[i] on the pattern {i}. A
`delta_*` operation returns the change in the log-likelihood before the state is changed; the
`apply_*` operation of the same name then updates the cache, again before the state is changed.
"""

from typing import Any

import numpy as np

from thali._compile.jit import generic, register_answers, scalar

from .state import ALPHA, COLUMNS

# --------------------------------------------------------------------------------------------------
# priors


@generic
def log_rate(prior: Any, b: Any, k: Any, m: Any) -> None:
    """Return the log arrival rate of the pattern in row k.

    With a fixed number of columns it is a log probability.
    """


@generic
def open_column(prior: Any, b: Any, k: Any) -> None:
    """Prepare for toggles of options of the pattern in row k; default: nothing."""


@generic
def log_rate_after_toggle(prior: Any, b: Any, k: Any, i: Any, m: Any) -> None:
    """Return the log arrival rate of the open pattern after toggling option i.

    It then has m owners.
    """


@generic
def record_toggle(prior: Any, b: Any, k: Any, i: Any) -> None:
    """Record that option i of the open pattern is about to be toggled permanently.

    The default does nothing.
    """


@generic
def rate_by_size_range(prior: Any, lo: Any, hi: Any) -> None:
    """Return the arrival rate of patterns with lo to hi owners, per alpha; default: 0."""


@generic
def rate_single(prior: Any, i: Any) -> None:
    """Return the arrival rate of the pattern {i}, per alpha; default: 0."""


@generic
def draw_pattern(prior: Any, rng: Any, b: Any, k: Any, lo: Any, hi: Any) -> None:
    """Draw a pattern with lo to hi owners into row k; return its size.

    Patterns are drawn in proportion to their rates.
    """


@generic
def is_exchangeable(prior: Any) -> None:
    """Return whether the rate depends only on the number of owners.

    The rates are then stored in b.by_size.
    """


@generic
def keeps_empty(prior: Any) -> None:
    """Return whether the number of columns is fixed, so empty columns remain."""


@generic
def may_flip(prior: Any) -> None:
    """Return whether ownership is random."""


@generic
def set_alpha(prior: Any, b: Any, alpha: Any) -> None:
    """Store the concentration in b.real[ALPHA] and update dependent rates."""


@scalar
def fill_rates(prior: Any, b: Any) -> None:
    """Fill the log rates of all columns, and the other rates that follow from alpha."""
    set_alpha(prior, b, b.real[ALPHA])
    for k in range(b.whole[COLUMNS]):
        b.log_rate[k] = log_rate(prior, b, k, b.m[k])


@generic
def draw_alpha(prior: Any, rng: Any, b: Any, columns: Any, rate: Any) -> None:
    """Draw alpha given the columns, under its Gamma(1, 1) prior; return it.

    For an infinite prior, `columns` columns have arrived at `rate` per unit of alpha.
    """


@rate_by_size_range.register(object)
def _no_arrivals(prior: Any, lo: Any, hi: Any) -> Any:
    """Return 0: by default, no new columns arrive."""
    return 0.0


@rate_single.register(object)
def _no_single_arrivals(prior: Any, i: Any) -> Any:
    """Return 0: by default, no new columns arrive."""
    return 0.0


@open_column.register(object)
def _prepare_nothing(prior: Any, b: Any, k: Any) -> None:
    """Do nothing: by default, toggles of a pattern require no preparation."""
    pass


@log_rate_after_toggle.register(object)
@scalar
def log_rate_after_flip(prior: Any, b: Any, k: Any, i: Any, m: Any) -> Any:
    """Return `log_rate_after_toggle` for a pattern that may not be open."""
    b.Z[k, i] = 1.0 - b.Z[k, i]
    rate = log_rate(prior, b, k, m)
    b.Z[k, i] = 1.0 - b.Z[k, i]
    return rate


@record_toggle.register(object)
def _record_no_toggle(prior: Any, b: Any, k: Any, i: Any) -> None:
    """Do nothing: by default, no stored sums change with the open pattern."""
    pass


# --------------------------------------------------------------------------------------------------
# likelihoods


@generic
def sees_full(likelihood: Any) -> None:
    """Return whether the likelihood depends on columns that all options own."""


@generic
def sees_single(likelihood: Any) -> None:
    """Return whether the likelihood depends on single-owner columns; default: True."""


@generic
def sums_duplicates(likelihood: Any) -> None:
    """Return whether duplicate columns affect the likelihood only by their weight sum.

    The default is True.
    """


@generic
def select_cache(likelihood: Any, caches: Any, t: Any) -> None:
    """Return cache number t of stacked caches, one per temperature."""


@generic
def is_scale_free(likelihood: Any) -> None:
    """Return whether scaling all weights leaves the likelihood unchanged."""


@generic
def delta_unique(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    """Return the log-likelihood change if the unique weight s[i] grows by d."""


@generic
def delta_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Return the log-likelihood change if option i joins pattern k or leaves it.

    d is w[k] or -w[k].
    """


@generic
def is_quick(likelihood: Any) -> None:
    """Return whether `delta_open_member` costs no more than a random number.

    It then needs no early rejection. The default is False.
    """


@generic
def open_members(likelihood: Any, c: Any, b: Any, k: Any) -> None:
    """Prepare for toggles of the owners of pattern k; default: nothing."""


@generic
def delta_open_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Return `delta_member` for the open pattern; default: delta_member."""


@generic
def apply_open_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Apply `apply_member` to the open pattern; default: apply_member."""


@generic
def weight_gradient(likelihood: Any, c: Any, b: Any, k: Any, i: Any) -> None:
    """Return the derivative by a weight that option i shares with pattern k.

    Only the sampler `sweep_conjugate` needs it.
    """


@generic
def weight_curvature(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, i: Any) -> None:
    """Return minus the derivative of `weight_gradient` by another pattern's weight.

    It is defined if the log-likelihood is quadratic.
    """


@generic
def delta_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """Return the log-likelihood change if the weight of pattern k grows by d.

    Row K is the birth of a column; d = -w[k] is a death.
    """


@generic
def delta_compensated_member(likelihood: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    """Return the log-likelihood change if option i joins column k and s[i] falls by d.

    Mass d moves from {i} and from pattern k to their union. Row k may be real-valued if
    `delta_block` or `delta_transfer` has its default.
    """


@generic
def delta_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    """Return the log-likelihood change if several memberships of option i are flipped.

    Columns b.order[t] are flipped for the bits t < size of code, and s[i] -= mass. The default is
    delta_compensated_member of the scratch row, which contains the signed sum of these columns; it
    is valid for likelihoods that depend on the measure only by sums over pairs.
    """


@generic
def delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> None:
    """Return the log-likelihood change if column k becomes the scratch row.

    Column k loses or gains the owners of `partner`, and w[partner] -= d with d = +-w[k]. The
    default is delta_compensated_member of each of these owners and the other owners of k; it is
    valid for the same likelihoods as the default of `delta_block`.
    """


@generic
def delta_compensated_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """Return the log-likelihood change if w[k] grows by d and each owner's s[i] falls by d."""


@generic
def apply_unique(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    """Update the cache as in `delta_unique`."""


@generic
def apply_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Update the cache as in `delta_member`."""


@generic
def apply_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """Update the cache as in `delta_weight`."""


@generic
def apply_compensated_member(likelihood: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    """Update the cache as in `delta_compensated_member`."""


@generic
def apply_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    """Update the cache as in `delta_block`."""


@generic
def apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> None:
    """Update the cache as in `delta_transfer`."""


@generic
def apply_compensated_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """Update the cache as in `delta_compensated_weight`."""


@generic
def apply_copies(likelihood: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    """Divide the weight of pattern k among `extra` additional columns.

    A negative number removes columns. The default does nothing.
    """


@generic
def apply_scale(likelihood: Any, c: Any, b: Any, factor: Any) -> None:
    """Multiply all weights in the cache by the factor; default: nothing."""


@generic
def rebuild_cache(likelihood: Any, c: Any, b: Any) -> None:
    """Fill the cache from the state."""


@generic
def log_likelihood(likelihood: Any, c: Any, b: Any) -> None:
    """Return the log-likelihood of all data in full precision, without constants."""


@generic
def draw_weights(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw the weight of every column exactly from its conditional.

    Only the sampler `sweep_conjugate` needs it.
    """


@generic
def draw_parameters(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw the likelihood's parameters at inverse temperature b.real[BETA]; default: none."""


@generic
def draw_group_parameters(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw the parameters that each of several groups has separately.

    They are the parameters for which a common factor with the weights is not drawn jointly. The
    default is draw_parameters.
    """


@generic
def is_group_scale_free(likelihood: Any) -> None:
    """Return whether scaling weights and parameters leaves the likelihood unchanged.

    The parameters are those of `sum_scaled_priors`. The default is is_scale_free.
    """


@generic
def sum_scaled_priors(likelihood: Any, c: Any) -> None:
    """Return prior sums of the parameters that `apply_scale` scales.

    They are the sum of the shapes of the Gamma priors, and the sum of rate times value; default: 0
    and 0.
    """


@generic
def compute_answer_logs(likelihood: Any, c: Any, b: Any, people: Any, logs: Any) -> None:
    """Fill `logs` with the log probability of each answer in `people`.

    This operation and the next two are used for latent classes only, whose answers change.
    """


@generic
def add_answer(likelihood: Any, c: Any, people: Any, answer: Any, times: Any, log: Any) -> None:
    """Add an answer with log probability `log` to the cache, `times` times.

    A negative number removes answers.
    """


@generic
def clear_answers(likelihood: Any, c: Any) -> None:
    """Set all counts in the cache to 0."""


@generic
def record_parameters(likelihood: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """Write the likelihood's parameters into row `draw` of `extra`; default: none."""


register_answers(object, {sees_single: True, sums_duplicates: True, is_quick: False})


@open_members.register(object)
def _open_no_members(likelihood: Any, c: Any, b: Any, k: Any) -> None:
    """Do nothing: by default, changes of members require no preparation."""
    pass


@delta_open_member.register(object)
@scalar
def _delta_any_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Return the change for a pattern that need not be open."""
    return delta_member(likelihood, c, b, k, i, d)


@apply_open_member.register(object)
@scalar
def _apply_any_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Apply the change to a pattern that need not be open."""
    apply_member(likelihood, c, b, k, i, d)


@delta_block.register(object)
@scalar
def _delta_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> Any:
    """Return the log-likelihood change if option i gains the sum of flipped columns."""
    return delta_compensated_member(likelihood, c, b, i, b.Z.shape[0] - 1, 1.0)


@apply_block.register(object)
@scalar
def _apply_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    """Call `apply_compensated_member` for the scratch row, the signed sum of flipped columns."""
    apply_compensated_member(likelihood, c, b, i, b.Z.shape[0] - 1, 1.0)


@scalar
def select_remaining_row(b: Any, k: Any, d: Any) -> Any:
    """Return the row of the owners of k other than its partner's, in a transfer of weight d.

    It is k, if k gains the partner's owners (d > 0), else the scratch row, which lacks them.
    """
    if d > 0.0:
        return k
    return b.Z.shape[0] - 1


@delta_transfer.register(object)
@scalar
def _delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> Any:
    """Add up `delta_compensated_member` over owners of `partner` that k gains (d > 0) or loses."""
    remaining_row = select_remaining_row(b, k, d)
    change = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[partner, i] != 0.0:
            change += delta_compensated_member(likelihood, c, b, i, remaining_row, d)
    return change


@apply_transfer.register(object)
@scalar
def _apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> None:
    """Call `apply_compensated_member` for owners of `partner` that k gains (d > 0) or loses."""
    remaining_row = select_remaining_row(b, k, d)
    for i in range(b.Z.shape[1] - 1):
        if b.Z[partner, i] != 0.0:
            apply_compensated_member(likelihood, c, b, i, remaining_row, d)


@apply_scale.register(object)
def _apply_no_scale(likelihood: Any, c: Any, b: Any, factor: Any) -> None:
    """Do nothing: by default, the cache does not depend on the scale of the weights."""
    pass


@apply_copies.register(object)
def _apply_no_copies(likelihood: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    """Do nothing: by default, the cache does not depend on the number of duplicate columns."""
    pass


@draw_parameters.register(object)
def _draw_no_parameters(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Do nothing: by default, the likelihood has no unknown parameters."""
    pass


@draw_group_parameters.register(object)
@scalar
def _draw_all_parameters(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw all parameters."""
    draw_parameters(likelihood, rng, c, b)


@is_group_scale_free.register(object)
def _default_group_scale_free(likelihood: Any) -> Any:
    """Return whether the likelihood is scale-free."""
    return is_scale_free(likelihood)


@sum_scaled_priors.register(object)
def _sum_no_priors(likelihood: Any, c: Any) -> Any:
    """Return sums without any parameter."""
    return 0.0, 0.0


@record_parameters.register(object)
def _record_no_parameters(likelihood: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """Do nothing: by default, the likelihood has no unknown parameters."""
    pass


# --------------------------------------------------------------------------------------------------
# changes of unique weights, for likelihoods that have none


def _no_unique_change(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    """Return minus infinity, for a model without unique weights."""
    return -np.inf


def _no_change(likelihood: Any, c: Any, b: Any, x: Any, y: Any, d: Any) -> Any:
    """Return minus infinity, for a model without unique weights."""
    return -np.inf


_COMPENSATED_OPERATIONS = (
    delta_compensated_member,
    apply_compensated_member,
    delta_compensated_weight,
    apply_compensated_weight,
)
_UNIQUE_OPERATIONS = delta_unique, apply_unique
WITHOUT_UNIQUE: dict[Any, Any] = dict.fromkeys(
    _UNIQUE_OPERATIONS, _no_unique_change
) | dict.fromkeys(_COMPENSATED_OPERATIONS, _no_change)
