"""Kernel operations (generic functions) that every prior and every likelihood implements.

Moves use these operations only, not the classes of models. `b` is the state, `c` the cache of the
likelihood, `k` the row number of a pattern, `m` its number of owners, `i` an option, `d` a signed
weight. A move changes the measure that puts weight w[k] on pattern k and s[i] on the pattern {i}. A
`delta_*` operation returns the change in the log-likelihood before the state is changed; the
`apply_*` operation of the same name then updates the cache, again before the state is changed.
"""

from typing import Any

import numpy as np

from thali._compile.jit import generic, register_answers, scalar

from .chain_state import (
    ALPHA,
    COLUMNS,
    FeatureState,
    count_options,
    owns,
    scratch_index,
    toggle_owner,
)

# --------------------------------------------------------------------------------------------------
# priors


@generic
def log_rate(prior: Any, b: Any, k: Any, m: Any) -> Any:
    """Return the prior's log rate (or probability) of the feature in row k with m owners.

    With a fixed number of columns it is a log probability.
    """


@generic
def open_column(prior: Any, b: Any, k: Any) -> None:
    """Prepare the prior for repeated toggles of owners of row k; default: nothing."""


@generic
def log_rate_after_toggle(prior: Any, b: Any, k: Any, i: Any, m: Any) -> Any:
    """Return the prior's log rate of the feature in row k after toggling option i.

    It then has m owners.
    """


@generic
def record_toggle(prior: Any, b: Any, k: Any, i: Any) -> None:
    """Update what `open_column` prepared, before option i is toggled for good.

    The default does nothing.
    """


@generic
def rate_by_size_range(prior: Any, lo: Any, hi: Any) -> Any:
    """Return the prior's total rate of features with lo to hi owners, per alpha."""


@generic
def rate_single(prior: Any, i: Any) -> Any:
    """Return the prior's rate of features that only option i owns, per alpha."""


@generic
def draw_pattern(prior: Any, rng: Any, b: Any, k: Any, lo: Any, hi: Any) -> Any:
    """Draw a set of lo to hi owners from the prior into row k; return its size.

    Patterns are drawn in proportion to their rates.
    """


@generic
def is_exchangeable(prior: Any) -> Any:
    """Return whether the prior depends on owners only through their number.

    The rates are then stored in b.by_size.
    """


@generic
def keeps_empty(prior: Any) -> Any:
    """Return whether features without owners remain, as their number is fixed."""


@generic
def may_flip(prior: Any) -> Any:
    """Return whether the prior leaves ownership random."""


@generic
def set_alpha(prior: Any, b: Any, alpha: Any) -> None:
    """Store the concentration alpha in the state and update rates that depend on it."""


@scalar
def fill_rates(prior: Any, b: Any) -> None:
    """Fill the prior's log rates of all features, and other rates that depend on alpha."""
    set_alpha(prior, b, b.real[ALPHA])
    for k in range(b.whole[COLUMNS]):
        b.log_rate[k] = log_rate(prior, b, k, b.m[k])


@generic
def draw_alpha(prior: Any, rng: Any, b: Any, columns: Any, rate: Any) -> Any:
    """Draw alpha given the features, under its Gamma(1, 1) prior; return it.

    For an infinite prior, `columns` columns have arrived at `rate` per unit of alpha.
    """


@rate_by_size_range.register(object)
def _no_arrivals(prior: Any, lo: int, hi: int) -> Any:
    """Return 0: by default, no new features arrive."""
    return 0.0


@rate_single.register(object)
def _no_single_arrivals(prior: Any, i: int) -> Any:
    """Return 0: by default, no new features of one owner arrive."""
    return 0.0


@open_column.register(object)
def _prepare_nothing(prior: Any, b: FeatureState, k: int) -> None:
    """Do nothing: by default, toggles of owners need no preparation."""
    pass


@log_rate_after_toggle.register(object)
@scalar
def log_rate_after_flip(prior: Any, b: Any, k: Any, i: Any, m: Any) -> Any:
    """Return the log rate of feature k after toggling i, without prior `open_column`."""
    toggle_owner(b, k, i)
    rate = log_rate(prior, b, k, m)
    toggle_owner(b, k, i)
    return rate


@record_toggle.register(object)
def _record_no_toggle(prior: Any, b: FeatureState, k: int, i: int) -> None:
    """Do nothing: by default, a toggle changes no stored sums of the prior."""
    pass


# --------------------------------------------------------------------------------------------------
# likelihoods


@generic
def sees_full(likelihood: Any) -> Any:
    """Return whether the likelihood depends on features that all options own."""


@generic
def sees_single(likelihood: Any) -> Any:
    """Return whether the likelihood depends on features of one owner; default: True."""


@generic
def sums_duplicates(likelihood: Any) -> Any:
    """Return whether features with equal owners matter only by their summed weight.

    The default is True.
    """


@generic
def select_cache(likelihood: Any, caches: Any, t: Any) -> Any:
    """Return views of the likelihood cache at temperature t."""


@generic
def is_scale_free(likelihood: Any) -> Any:
    """Return whether multiplying all weights leaves the likelihood unchanged."""


@generic
def delta_unique(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    """Return the log-likelihood change if option i's unique weight s[i] grows by d."""


@generic
def delta_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Return the log-likelihood change if option i joins or leaves feature k.

    d is w[k] or -w[k].
    """


@generic
def is_quick(likelihood: Any) -> Any:
    """Return whether `delta_open_member` is as cheap as drawing a random number.

    It then needs no early rejection. The default is False.
    """


@generic
def open_members(likelihood: Any, c: Any, b: Any, k: Any) -> None:
    """Prepare the cache for repeated toggles of owners of row k; default: nothing."""


@generic
def delta_open_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Return the log-likelihood change of a toggle of i, after `open_members`."""


@generic
def apply_open_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Update the cache after a toggle of option i, following `open_members`."""


@generic
def weight_gradient(likelihood: Any, c: Any, b: Any, k: Any, i: Any) -> Any:
    """Return the log-likelihood slope by a weight that i shares with owners of k.

    Only the sampler `sweep_conjugate` needs it.
    """


@generic
def weight_curvature(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, i: Any) -> Any:
    """Return minus the cross derivative by weights of features k and `partner`.

    It is defined if the log-likelihood is quadratic.
    """


@generic
def delta_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    """Return the log-likelihood change if the weight of feature k grows by d.

    Row K is the birth of a column; d = -w[k] is a death.
    """


@generic
def delta_compensated_member(likelihood: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> Any:
    """Return the log-likelihood change if option i joins feature k and s[i] falls by d.

    Mass d moves from {i} and from pattern k to their union. Row k may be real-valued if
    `delta_block` or `delta_transfer` has its default.
    """


@generic
def delta_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> Any:
    """Return the log-likelihood change if option i's memberships in `code` are flipped.

    Columns b.order[t] are flipped for the bits t < size of code, and s[i] -= mass. The default is
    delta_compensated_member of the scratch row, which contains the signed sum of these columns; it
    is valid for likelihoods that depend on the measure only by sums over pairs.
    """


@generic
def delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> Any:
    """Return the log-likelihood change if feature k takes or loses owners of `partner`.

    Column k loses or gains the owners of `partner`, and w[partner] -= d with d = +-w[k]. The
    default is delta_compensated_member of each of these owners and the other owners of k; it is
    valid for the same likelihoods as the default of `delta_block`.
    """


@generic
def delta_compensated_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> Any:
    """Return the log-likelihood change if w[k] grows by d and owners' s[i] fall by d."""


@generic
def apply_unique(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    """Update the cache: option i's unique weight s[i] grows by d."""


@generic
def apply_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Update the cache: option i joins or leaves feature k."""


@generic
def apply_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """Update the cache: the weight of feature k grows by d."""


@generic
def apply_compensated_member(likelihood: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    """Update the cache: option i joins feature k and s[i] falls by d."""


@generic
def apply_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    """Update the cache: option i's memberships in `code` are flipped."""


@generic
def apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> None:
    """Update the cache: feature k takes or loses the owners of `partner`."""


@generic
def apply_compensated_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """Update the cache: w[k] grows by d and owners' s[i] fall by d."""


@generic
def apply_copies(likelihood: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    """Update the cache: the weight of feature k is divided among `extra` more copies.

    A negative number removes columns. The default does nothing.
    """


@generic
def apply_scale(likelihood: Any, c: Any, b: Any, factor: Any) -> None:
    """Multiply all weights in the cache by the factor; default: nothing."""


@generic
def rebuild_cache(likelihood: Any, c: Any, b: Any) -> None:
    """Fill the likelihood's cache from features and weights of the state."""


@generic
def log_likelihood(likelihood: Any, c: Any, b: Any) -> Any:
    """Return the log-likelihood of all data, without constants, in full precision."""


@generic
def draw_weights(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw every feature weight from its full conditional (conjugate likelihoods).

    Only the sampler `sweep_conjugate` needs it.
    """


@generic
def draw_parameters(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw the likelihood's own parameters given all else; default: none."""


@generic
def record_parameters(likelihood: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """Write the likelihood's parameters into row `draw` of `extra`; default: none."""


register_answers(object, {sees_single: True, sums_duplicates: True, is_quick: False})


@open_members.register(object)
def _open_no_members(likelihood: Any, c: Any, b: FeatureState, k: int) -> None:
    """Do nothing: by default, toggles of owners need no preparation of the cache."""
    pass


@delta_open_member.register(object)
@scalar
def _delta_any_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Default of `delta_open_member`: call `delta_member`."""
    return delta_member(likelihood, c, b, k, i, d)


@apply_open_member.register(object)
@scalar
def _apply_any_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Default of `apply_open_member`: call `apply_member`."""
    apply_member(likelihood, c, b, k, i, d)


@delta_block.register(object)
@scalar
def _delta_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> Any:
    """Default of `delta_block`: change if option i gains the signed sum of features."""
    return delta_compensated_member(likelihood, c, b, i, scratch_index(b), 1.0)


@apply_block.register(object)
@scalar
def _apply_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    """Default of `apply_block`: call `apply_compensated_member` for the summed features."""
    apply_compensated_member(likelihood, c, b, i, scratch_index(b), 1.0)


@scalar
def select_remaining_row(b: Any, k: Any, d: Any) -> Any:
    """Return the row with owners of k that are not owners of its transfer partner.

    It is k, if k gains the partner's owners (d > 0), else the scratch row, which lacks them.
    """
    if d > 0.0:
        return k
    return scratch_index(b)


@delta_transfer.register(object)
@scalar
def _delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> Any:
    """Default of `delta_transfer`: sum `delta_compensated_member` over moved owners."""
    remaining_row = select_remaining_row(b, k, d)
    change = 0.0
    for i in range(count_options(b)):
        if owns(b, i, partner):
            change += delta_compensated_member(likelihood, c, b, i, remaining_row, d)
    return change


@apply_transfer.register(object)
@scalar
def _apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, partner: Any, d: Any) -> None:
    """Default of `apply_transfer`: call `apply_compensated_member` for moved owners."""
    remaining_row = select_remaining_row(b, k, d)
    for i in range(count_options(b)):
        if owns(b, i, partner):
            apply_compensated_member(likelihood, c, b, i, remaining_row, d)


@apply_scale.register(object)
def _apply_no_scale(likelihood: Any, c: Any, b: FeatureState, factor: float) -> None:
    """Do nothing: by default, the cache does not depend on the scale of weights."""
    pass


@apply_copies.register(object)
def _apply_no_copies(likelihood: Any, c: Any, b: FeatureState, k: int, extra: int) -> None:
    """Do nothing: by default, the cache ignores how many copies share a weight."""
    pass


@draw_parameters.register(object)
def _draw_no_parameters(likelihood: Any, rng: np.random.Generator, c: Any, b: FeatureState) -> None:
    """Do nothing: by default, the likelihood has no parameters of its own."""
    pass


@record_parameters.register(object)
def _record_no_parameters(
    likelihood: Any, c: Any, b: FeatureState, extra: np.ndarray, draw: int
) -> None:
    """Do nothing: by default, the likelihood has no parameters to record."""
    pass


# --------------------------------------------------------------------------------------------------
# changes of unique weights, for likelihoods that have none


def _no_unique_change(likelihood: Any, c: Any, b: FeatureState, i: int, d: float) -> Any:
    """Return minus infinity: a model without unique weights cannot change them."""
    return -np.inf


def _no_change(likelihood: Any, c: Any, b: FeatureState, x: int, y: int, d: float) -> Any:
    """Return minus infinity: a model without unique weights cannot compensate."""
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
