"""The verbs that a prior and a likelihood answer. The moves are written against these and know no class of model.

`b` is the bag, `c` the likelihood's own cache, `k` the row number of a pattern, `m` its number of owners, `i` an
option, `d` a signed weight. Everything a move does is a change of the measure that puts weight w[k] on pattern k and
s[i] on the pattern {i}. A `delta_*` verb returns the change of the log-likelihood, evaluated before anything is
changed; the `apply_*` verb of the same name then updates the cache, again before the bag is changed.
"""

from thali._jit import generic, scalar

# ------------------------------------------------------------------------------------------------------------- priors


@generic
def log_rate(prior, b, k, m):
    """Log arrival rate of the pattern in row k (log probability, for a fixed number of columns)."""


@generic
def open_column(prior, b, k):
    """Get ready for toggles of the pattern in row k, one option after the other; default: nothing to do."""


@generic
def log_rate_toggled(prior, b, k, i, m):
    """Log arrival rate of the open pattern in row k after a toggle of option i, which leaves it with m owners."""


@generic
def toggled(prior, b, k, i):
    """Option i of the open pattern is about to be toggled for good; default: nothing to do."""


@generic
def rate_between(prior, lo, hi):
    """Total arrival rate of the patterns with lo to hi owners, per unit of alpha."""


@generic
def rate_single(prior, i):
    """Arrival rate of the pattern {i}, per unit of alpha."""


@generic
def draw_pattern(prior, rng, b, k, lo, hi):
    """Draw a pattern with lo to hi owners, in proportion to its rate, into row k; returns its number of owners."""


@generic
def is_exchangeable(prior):
    """Whether the rate depends on the number of owners alone, and is then found in b.by_size."""


@generic
def keeps_empty(prior):
    """Whether the number of columns is fixed, so that a column may lose its last owner and stay."""


@generic
def may_flip(prior):
    """Whether ownership is random at all."""


@generic
def set_alpha(prior, b, alpha):
    """Note a new concentration: b.real[ALPHA], and the rates that depend on it."""


@generic
def draw_alpha(prior, rng, b, columns, rate):
    """Draw alpha given the columns, under its Gamma(1, 1) prior, and return it.

    An infinite prior has seen `columns` columns arrive at `rate` per unit of alpha.
    """


@open_column.register(object)
def _open_nothing(prior, b, k):
    pass


@log_rate_toggled.register(object)
@scalar
def log_rate_flipped(prior, b, k, i, m):
    """log_rate_toggled of a pattern that need not be open."""
    b.Z[k, i] = 1.0 - b.Z[k, i]
    rate = log_rate(prior, b, k, m)
    b.Z[k, i] = 1.0 - b.Z[k, i]
    return rate


@toggled.register(object)
def _note_nothing(prior, b, k, i):
    pass


# -------------------------------------------------------------------------------------------------------- likelihoods


@generic
def sees_full(likelihood):
    """Whether a column that all options own matters."""


@generic
def sees_single(likelihood):
    """Whether a column that only one option owns matters; default: yes."""


@generic
def sums_duplicates(likelihood):
    """Whether columns with the same owners act only through the sum of their weights; default: yes."""


@generic
def cache_at(likelihood, caches, t):
    """The cache at place t of stacked ones."""


@generic
def is_scale_free(likelihood):
    """Whether a common factor on all weights leaves the likelihood unchanged."""


@generic
def delta_own(likelihood, c, b, i, d, columns):
    """s[i] += d, by so many columns more or fewer."""


@generic
def delta_member(likelihood, c, b, k, i, d):
    """Option i joins pattern k (d = w[k]) or leaves it (d = -w[k])."""


@generic
def is_quick(likelihood):
    """Whether delta_joined costs no more than a random number, so that it needs no coin of the prior's; default: no."""


@generic
def open_members(likelihood, c, b, k):
    """Get ready for toggles of the owners of pattern k, one option after the other; default: nothing to do."""


@generic
def delta_joined(likelihood, c, b, k, i, d):
    """delta_member of the open pattern; default: delta_member."""


@generic
def apply_joined(likelihood, c, b, k, i, d):
    """apply_member of the open pattern; default: apply_member."""


@generic
def delta_weight(likelihood, c, b, k, m, d):
    """The weight of pattern k grows by d; in row K a column is born, and -w[k] is the death of one."""


@generic
def delta_pool(likelihood, c, b, i, k, d):
    """Mass d leaves {i} and pattern k and arrives at the pattern of both: option i joins column k and pays for it.

    Row k may be real-valued where `delta_block` or `delta_transfer` is left at its default.
    """


@generic
def delta_block(likelihood, c, b, i, size, code, paid):
    """Option i's ownership of b.order[t] is flipped for the bits t < size of code; s[i] -= paid.

    Default: delta_pool of the scratch row, which holds the signed sum of these columns. This holds for likelihoods that
    see the measure only through sums over pairs.
    """


@generic
def delta_transfer(likelihood, c, b, k, other, d):
    """Column k becomes the scratch row, by losing or taking over the owners of `other`; w[other] -= d, d = +-w[k].

    Default: delta_pool of each of these owners and the other owners of k. This holds for the same likelihoods.
    """


@generic
def delta_carve(likelihood, c, b, k, m, d):
    """The weight of pattern k grows by d, and s[i] falls by d for each of its owners."""


@generic
def apply_own(likelihood, c, b, i, d, columns):
    """See delta_own."""


@generic
def apply_member(likelihood, c, b, k, i, d):
    """See delta_member."""


@generic
def apply_weight(likelihood, c, b, k, m, d):
    """See delta_weight."""


@generic
def apply_pool(likelihood, c, b, i, k, d):
    """See delta_pool."""


@generic
def apply_block(likelihood, c, b, i, size, code, paid):
    """See delta_block."""


@generic
def apply_transfer(likelihood, c, b, k, other, d):
    """See delta_transfer."""


@generic
def apply_carve(likelihood, c, b, k, m, d):
    """See delta_carve."""


@generic
def apply_copies(likelihood, c, b, k, extra):
    """The weight of pattern k is divided among `extra` columns more, or fewer; default: nothing to do."""


@generic
def apply_scale(likelihood, c, b, factor):
    """All weights are multiplied by the factor."""


@generic
def rebuild(likelihood, c, b):
    """Fill the cache from the bag."""


@generic
def log_likelihood(likelihood, c, b):
    """The log-likelihood of the whole data, in full precision, without constant terms."""


@generic
def draw_weights(likelihood, rng, c, b):
    """Draw the weight of every column from its conditional, exactly; needed by the sampler `conjugate` only."""


@generic
def draw_parameters(likelihood, rng, c, b):
    """Draw the likelihood's own parameters, at the temperature 1 / b.real[HEAT]; default: it has none."""


@generic
def note_parameters(likelihood, c, b, extra, draw):
    """Write the likelihood's own parameters into row `draw` of `extra`; default: it has none."""


@sees_single.register(object)
def _sees_single(likelihood):
    return True


@sums_duplicates.register(object)
def _sums_duplicates(likelihood):
    return True


@is_quick.register(object)
def _is_quick(likelihood):
    return False


@open_members.register(object)
def _open_no_members(likelihood, c, b, k):
    pass


@delta_joined.register(object)
@scalar
def _delta_joined(likelihood, c, b, k, i, d):
    return delta_member(likelihood, c, b, k, i, d)


@apply_joined.register(object)
@scalar
def _apply_joined(likelihood, c, b, k, i, d):
    apply_member(likelihood, c, b, k, i, d)


@delta_block.register(object)
@scalar
def _delta_block(likelihood, c, b, i, size, code, paid):
    return delta_pool(likelihood, c, b, i, b.Z.shape[0] - 1, 1.0)


@apply_block.register(object)
@scalar
def _apply_block(likelihood, c, b, i, size, code, paid):
    apply_pool(likelihood, c, b, i, b.Z.shape[0] - 1, 1.0)


@delta_transfer.register(object)
@scalar
def _delta_transfer(likelihood, c, b, k, other, d):
    rest = k if d > 0.0 else b.Z.shape[0] - 1
    change = 0.0
    for i in range(b.Z.shape[1] - 1):
        if b.Z[other, i] != 0.0:
            change += delta_pool(likelihood, c, b, i, rest, d)
    return change


@apply_transfer.register(object)
@scalar
def _apply_transfer(likelihood, c, b, k, other, d):
    rest = k if d > 0.0 else b.Z.shape[0] - 1
    for i in range(b.Z.shape[1] - 1):
        if b.Z[other, i] != 0.0:
            apply_pool(likelihood, c, b, i, rest, d)


@apply_copies.register(object)
def _apply_no_copies(likelihood, c, b, k, extra):
    pass


@draw_parameters.register(object)
def _draw_nothing(likelihood, rng, c, b):
    pass


@note_parameters.register(object)
def _note_no_parameters(likelihood, c, b, extra, draw):
    pass
