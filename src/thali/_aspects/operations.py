"""The operations that a prior and a likelihood implement. The moves use only these and know no
class of model.

`b` is the state, `c` the cache of the likelihood, `k` the row number of a pattern, `m` its number
of owners, `i` an option, `d` a signed weight. A move changes the measure that puts weight w[k] on
pattern k and s[i] on the pattern {i}. A `delta_*` operation returns the change of the
log-likelihood and is evaluated before anything is changed; the `apply_*` operation of the same name
then updates the cache, again before the state is changed.
"""

from typing import Any

import numpy as np

from thali._compile.jit import generic, scalar

# --------------------------------------------------------------------------------------------------
# priors


@generic
def log_rate(prior: Any, b: Any, k: Any, m: Any) -> None:
    """Log arrival rate of the pattern in row k (log probability, for a fixed number of columns)."""


@generic
def open_column(prior: Any, b: Any, k: Any) -> None:
    """Prepare for toggles of the pattern in row k, one option after the other; default: nothing to
    do."""


@generic
def log_rate_toggled(prior: Any, b: Any, k: Any, i: Any, m: Any) -> None:
    """Log arrival rate of the open pattern in row k after a toggle of option i, with m owners after
    the toggle."""


@generic
def toggled(prior: Any, b: Any, k: Any, i: Any) -> None:
    """Called before option i of the open pattern is toggled permanently; default: nothing to do."""


@generic
def rate_between(prior: Any, lo: Any, hi: Any) -> None:
    """Total arrival rate of the patterns with lo to hi owners, per unit of alpha."""


@generic
def rate_single(prior: Any, i: Any) -> None:
    """Arrival rate of the pattern {i}, per unit of alpha."""


@generic
def draw_pattern(prior: Any, rng: Any, b: Any, k: Any, lo: Any, hi: Any) -> None:
    """Draw a pattern with lo to hi owners into row k, in proportion to its rate; returns its number
    of owners."""


@generic
def is_exchangeable(prior: Any) -> None:
    """Whether the rate depends on the number of owners alone; it is then stored in b.by_size."""


@generic
def keeps_empty(prior: Any) -> None:
    """Whether the number of columns is fixed, so that a column without owners stays."""


@generic
def may_flip(prior: Any) -> None:
    """Whether ownership is random at all."""


@generic
def set_alpha(prior: Any, b: Any, alpha: Any) -> None:
    """Store a new concentration in b.real[ALPHA] and update the rates that depend on it."""


@generic
def draw_alpha(prior: Any, rng: Any, b: Any, columns: Any, rate: Any) -> None:
    """Draw alpha given the columns, under its Gamma(1, 1) prior, and return it.

    For an infinite prior, `columns` columns have arrived at `rate` per unit of alpha.
    """


@open_column.register(object)
def _open_nothing(prior: Any, b: Any, k: Any) -> None:
    pass


@log_rate_toggled.register(object)
@scalar
def log_rate_flipped(prior: Any, b: Any, k: Any, i: Any, m: Any) -> Any:
    """log_rate_toggled of a pattern that need not be open."""
    b.Z[k, i] = 1.0 - b.Z[k, i]
    rate = log_rate(prior, b, k, m)
    b.Z[k, i] = 1.0 - b.Z[k, i]
    return rate


@toggled.register(object)
def _note_nothing(prior: Any, b: Any, k: Any, i: Any) -> None:
    pass


# --------------------------------------------------------------------------------------------------
# likelihoods


@generic
def sees_full(likelihood: Any) -> None:
    """Whether the likelihood depends on a column that all options own."""


@generic
def sees_single(likelihood: Any) -> None:
    """Whether the likelihood depends on a column that only one option owns; default: yes."""


@generic
def sums_duplicates(likelihood: Any) -> None:
    """Whether the likelihood depends on columns with the same owners only by the sum of their
    weights; default: yes."""


@generic
def cache_at(likelihood: Any, caches: Any, t: Any) -> None:
    """Cache number t of stacked caches (one for each temperature)."""


@generic
def is_scale_free(likelihood: Any) -> None:
    """Whether a common factor on all weights leaves the likelihood unchanged."""


@generic
def delta_own(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    """The unique weight s[i] grows by d."""


@generic
def delta_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Option i joins pattern k (d = w[k]) or leaves it (d = -w[k])."""


@generic
def is_quick(likelihood: Any) -> None:
    """Whether delta_joined costs no more than a random number (then it needs no early rejection);
    default: no."""


@generic
def open_members(likelihood: Any, c: Any, b: Any, k: Any) -> None:
    """Prepare for toggles of the owners of pattern k, one option after the other; default: nothing
    to do."""


@generic
def delta_joined(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """delta_member of the open pattern; default: delta_member."""


@generic
def apply_joined(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """apply_member of the open pattern; default: apply_member."""


@generic
def pull_on(likelihood: Any, c: Any, b: Any, k: Any, i: Any) -> None:
    """The derivative of the log-likelihood by a weight that option i would share with the others of
    pattern k; only the sampler `conjugate` needs it."""


@generic
def stiffness_of(likelihood: Any, c: Any, b: Any, k: Any, other: Any, i: Any) -> None:
    """Minus its derivative by the same weight of another pattern; where the log-likelihood is
    quadratic."""


@generic
def delta_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """The weight of pattern k grows by d; row K is the birth of a column, d = -w[k] a death."""


@generic
def delta_compensated_member(likelihood: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    """Mass d moves from {i} and from pattern k to their union: option i joins column k, and s[i]
    falls by d.

    Row k may be real-valued if `delta_block` or `delta_transfer` is left at its default.
    """


@generic
def delta_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    """Option i's ownership of b.order[t] is flipped for the bits t < size of code; s[i] -= mass.

    Default: delta_compensated_member of the scratch row, which holds the signed sum of these
    columns; valid for likelihoods that depend on the measure only by sums over pairs.
    """


@generic
def delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    """Column k becomes the scratch row: it loses or gains the owners of `other`; w[other] -= d, d =
    +-w[k].

    Default: delta_compensated_member of each of these owners and the other owners of k; valid for
    the same likelihoods.
    """


@generic
def delta_compensated_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """The weight of pattern k grows by d, and s[i] falls by d for each of its owners."""


@generic
def apply_own(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    """See delta_own."""


@generic
def apply_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """See delta_member."""


@generic
def apply_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """See delta_weight."""


@generic
def apply_compensated_member(likelihood: Any, c: Any, b: Any, i: Any, k: Any, d: Any) -> None:
    """See delta_compensated_member."""


@generic
def apply_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    """See delta_block."""


@generic
def apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    """See delta_transfer."""


@generic
def apply_compensated_weight(likelihood: Any, c: Any, b: Any, k: Any, m: Any, d: Any) -> None:
    """See delta_compensated_weight."""


@generic
def apply_copies(likelihood: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    """The weight of pattern k is divided among `extra` more columns (fewer if negative); default:
    nothing to do."""


@generic
def apply_scale(likelihood: Any, c: Any, b: Any, factor: Any) -> None:
    """All weights are multiplied by the factor; default: nothing to do."""


@generic
def rebuild(likelihood: Any, c: Any, b: Any) -> None:
    """Fill the cache from the state."""


@generic
def log_likelihood(likelihood: Any, c: Any, b: Any) -> None:
    """Log-likelihood of the whole data in full precision, without constant terms."""


@generic
def draw_weights(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw the weight of every column exactly from its conditional; only the sampler `conjugate`
    needs it."""


@generic
def draw_parameters(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw the likelihood's own parameters at inverse temperature b.real[BETA]; default: it has
    none."""


@generic
def draw_parameters_of_group(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    """Draw those parameters that each of several groups has for itself, where a common factor on
    the weights and on these is drawn apart; default: draw_parameters."""


@generic
def is_scaled_in_groups(likelihood: Any) -> None:
    """Whether a common factor on all weights, and on the parameters of `scaled_parameters`, leaves
    the likelihood unchanged; default: is_scale_free."""


@generic
def scaled_parameters(likelihood: Any, c: Any) -> None:
    """Of parameters to which `apply_scale` applies the factor, too: the sum of the shapes of their
    Gamma priors, and of rate times value; default: there are none."""


@generic
def look_at_answers(likelihood: Any, c: Any, b: Any, people: Any, logs: Any) -> None:
    """The log probability of each answer that `people` gave into `logs`; it and the next two are
    for kinds of people alone, whose answers come and go."""


@generic
def add_answer(likelihood: Any, c: Any, people: Any, answer: Any, times: Any, log: Any) -> None:
    """Count an answer, whose log probability is `log`, so many times more (fewer if negative) in
    the cache."""


@generic
def forget_answers(likelihood: Any, c: Any) -> None:
    """Set all counts in the cache to 0."""


@generic
def note_parameters(likelihood: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    """Write the likelihood's own parameters into row `draw` of `extra`; default: it has none."""


@sees_single.register(object)
def _sees_single(likelihood: Any) -> Any:
    return True


@sums_duplicates.register(object)
def _sums_duplicates(likelihood: Any) -> Any:
    return True


@is_quick.register(object)
def _is_quick(likelihood: Any) -> Any:
    return False


@open_members.register(object)
def _open_no_members(likelihood: Any, c: Any, b: Any, k: Any) -> None:
    pass


@delta_joined.register(object)
@scalar
def _delta_joined(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    return delta_member(likelihood, c, b, k, i, d)


@apply_joined.register(object)
@scalar
def _apply_joined(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    apply_member(likelihood, c, b, k, i, d)


@delta_block.register(object)
@scalar
def _delta_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> Any:
    return delta_compensated_member(likelihood, c, b, i, b.Z.shape[0] - 1, 1.0)


@apply_block.register(object)
@scalar
def _apply_block(likelihood: Any, c: Any, b: Any, i: Any, size: Any, code: Any, mass: Any) -> None:
    apply_compensated_member(likelihood, c, b, i, b.Z.shape[0] - 1, 1.0)


@delta_transfer.register(object)
@scalar
def _delta_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> Any:
    rest = k if d > 0.0 else b.Z.shape[0] - 1
    change = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[other, i] != 0.0:
            change += delta_compensated_member(likelihood, c, b, i, rest, d)
    return change


@apply_transfer.register(object)
@scalar
def _apply_transfer(likelihood: Any, c: Any, b: Any, k: Any, other: Any, d: Any) -> None:
    rest = k if d > 0.0 else b.Z.shape[0] - 1
    for i in range(b.Z.shape[1] - 1):
        if b.Z[other, i] != 0.0:
            apply_compensated_member(likelihood, c, b, i, rest, d)


@apply_scale.register(object)
def _apply_no_scale(likelihood: Any, c: Any, b: Any, factor: Any) -> None:
    pass


@apply_copies.register(object)
def _apply_no_copies(likelihood: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    pass


@draw_parameters.register(object)
def _draw_nothing(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    pass


@draw_parameters_of_group.register(object)
@scalar
def _draw_all_of_group(likelihood: Any, rng: Any, c: Any, b: Any) -> None:
    draw_parameters(likelihood, rng, c, b)


@is_scaled_in_groups.register(object)
def _is_scaled_in_groups(likelihood: Any) -> Any:
    return is_scale_free(likelihood)


@scaled_parameters.register(object)
def _no_scaled_parameters(likelihood: Any, c: Any) -> Any:
    return 0.0, 0.0


@note_parameters.register(object)
def _note_no_parameters(likelihood: Any, c: Any, b: Any, extra: Any, draw: Any) -> None:
    pass


# ------------------------------------------------------------------------------- changes that no
# sampler asks for


def _no_own(likelihood: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    return -np.inf


def _no_change(likelihood: Any, c: Any, b: Any, x: Any, y: Any, d: Any) -> Any:
    return -np.inf


_COMPENSATED = (
    delta_compensated_member,
    apply_compensated_member,
    delta_compensated_weight,
    apply_compensated_weight,
)
_OWN = delta_own, apply_own
WITHOUT_UNIQUE: dict[Any, Any] = dict.fromkeys(_OWN, _no_own) | dict.fromkeys(
    _COMPENSATED, _no_change
)
