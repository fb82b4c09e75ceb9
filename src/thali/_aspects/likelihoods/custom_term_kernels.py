"""Kernel operations of a user-defined likelihood that is a sum of option and pair terms.

A term depends on the features only through sums of weights: own[i] over all features of option i,
and shared[i, j] over the features that i and j share. The sums and the terms are stored, so a
change evaluates only the terms that it affects.
"""

from typing import Any, NamedTuple

import numpy as np

from thali._compile.jit import generic, return_false, return_true, scalar

from .. import kernel_operations
from ..chain_state import (
    COLUMNS,
    FeatureState,
    count_born_columns,
    count_options,
    owns,
    scratch_index,
)
from ..kernel_operations import select_remaining_row


class TermSums(NamedTuple):
    """A chain's cache: weight sums and log-likelihood terms of options and pairs."""

    own_sum: np.ndarray  # (n,) sum of the weights of option i
    own_columns: np.ndarray  # (n,) number of columns in the sum; 0 columns: the sum is exactly 0
    option: np.ndarray  # (n,) term of option i
    shared: np.ndarray  # (n, n) sum of the weights that i and j share; symmetric, 0 on the diagonal
    shared_columns: np.ndarray  # (n, n) number of columns in the sum
    pair: np.ndarray  # (n, n) term of options i and j; symmetric, 0 on the diagonal
    owner: np.ndarray  # (n,) int64 the owners of the open pattern, in any order
    owners: np.ndarray  # (1,) int64 number of owners of the open pattern
    parameters: np.ndarray  # (P,) values of the learned parameters


@generic
def insert_parameters(likelihood: Any, c: Any) -> Any:
    """Return the likelihood with its parameters at the chain's current values.

    By default it has no parameters.
    """


@generic
def starting_parameters(likelihood: Any) -> Any:
    """Return the parameters' starting values as an array; default: empty."""


@insert_parameters.register(object)
def _no_parameters(likelihood: Any, c: TermSums) -> Any:
    """Return the likelihood unchanged: by default, it has no parameters."""
    return likelihood


@starting_parameters.register(object)
def _no_starting_parameters(likelihood: Any) -> Any:
    """Return an empty array: by default, a likelihood has no unknown parameters."""
    return np.zeros(0)


@generic
def pair_term(likelihood: Any, i: Any, j: Any, shared: Any, own_i: Any, own_j: Any) -> Any:
    """Return the user's log-likelihood term of options i < j."""


@generic
def option_term(likelihood: Any, i: Any, own_sum: Any) -> Any:
    """Return the user's log-likelihood term of option i with weight sum `own_sum`."""


@generic
def has_pair_terms(likelihood: Any) -> Any:
    """Return whether the user gave a function of pairs."""


@generic
def has_option_sums_in_pairs(likelihood: Any) -> Any:
    """Return whether the pair function also takes both options' weight sums."""


@generic
def has_signed_sums(likelihood: Any) -> Any:
    """Return whether weights may be negative."""


@generic
def full_log_likelihood(likelihood: Any, features: Any, weights: Any) -> Any:
    """Return the user's log-likelihood of all data, as a function of the whole state.

    `features` has shape (n, K), `weights` (K,).
    """


def make_cache(likelihood: Any) -> TermSums:
    """Make a chain's cache of sums and terms without features, filled later."""
    n = likelihood.n
    n_pair_options = 0
    if has_pair_terms(likelihood):
        n_pair_options = n
    arrays: Any = [
        *np.zeros((3, n)),
        *np.zeros((3, n_pair_options, n_pair_options)),
        np.zeros(n, np.int64),
        np.zeros(1, np.int64),
        np.array(starting_parameters(likelihood)),
    ]
    return TermSums(*arrays)


@scalar
def clean_sum(likelihood: Any, weights: Any, columns: Any) -> Any:
    """Return a sum of weights without rounding error: 0 without features.

    A sum of positive weights that rounding made negative is 0, too.
    """
    if columns <= 0.0:
        return 0.0
    if has_signed_sums(likelihood):
        return weights
    return max(weights, 0.0)


@scalar
def ordered_pair_term(likelihood: Any, i: Any, j: Any, shared: Any, own_i: Any, own_j: Any) -> Any:
    """Return the user's term of options i and j, whichever index is smaller."""
    if i > j:
        i, j, own_i, own_j = j, i, own_j, own_i
    return pair_term(likelihood, i, j, shared, own_i, own_j)


@scalar
def update_option_sum(likelihood: Any, c: Any, i: Any, d: Any, g: Any) -> None:
    """Update weight sum and term of option i: d more weight, g more features."""
    c.own_columns[i] += g
    c.own_sum[i] = clean_sum(likelihood, c.own_sum[i] + d, c.own_columns[i])
    c.option[i] = option_term(likelihood, i, c.own_sum[i])


@scalar
def update_pair_sum(likelihood: Any, c: Any, i: Any, j: Any, d: Any, g: Any) -> None:
    """Update shared weight and term of (i, j): d more weight, g more features."""
    c.shared_columns[i, j] += g
    c.shared_columns[j, i] = c.shared_columns[i, j]
    c.shared[i, j] = clean_sum(likelihood, c.shared[i, j] + d, c.shared_columns[i, j])
    c.shared[j, i] = c.shared[i, j]
    c.pair[i, j] = ordered_pair_term(likelihood, i, j, c.shared[i, j], c.own_sum[i], c.own_sum[j])
    c.pair[j, i] = c.pair[i, j]


@scalar
def state_log_likelihood(likelihood: Any, b: Any, n_columns: Any) -> Any:
    """Return the user's log-likelihood of the first `n_columns` features."""
    return full_log_likelihood(likelihood, b.Z[:n_columns, : count_options(b)].T, b.w[:n_columns])


@scalar
def _delta_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> Any:
    """Return the change in summed terms if option i joins or leaves feature k."""
    likelihood = insert_parameters(likelihood, c)
    g = 1.0 - 2.0 * b.Z[k, i]
    own_sum = clean_sum(likelihood, c.own_sum[i] + d, c.own_columns[i] + g)
    change = option_term(likelihood, i, own_sum) - c.option[i]
    if has_pair_terms(likelihood):
        for j in range(likelihood.n):
            z = b.Z[k, j]
            if j != i and (has_option_sums_in_pairs(likelihood) or z != 0.0):
                shared = clean_sum(
                    likelihood, c.shared[i, j] + d * z, c.shared_columns[i, j] + g * z
                )
                change += (
                    ordered_pair_term(likelihood, i, j, shared, own_sum, c.own_sum[j])
                    - c.pair[i, j]
                )
    return change


@scalar
def _apply_member(likelihood: Any, c: Any, b: Any, k: Any, i: Any, d: Any) -> None:
    """Update sums and terms: option i joins feature k (d = w[k]) or leaves it (d = -w[k])."""
    likelihood = insert_parameters(likelihood, c)
    g = 1.0 - 2.0 * b.Z[k, i]
    update_option_sum(likelihood, c, i, d, g)
    if has_pair_terms(likelihood):
        for j in range(likelihood.n):
            z = b.Z[k, j]
            if j != i and (has_option_sums_in_pairs(likelihood) or z != 0.0):
                update_pair_sum(likelihood, c, i, j, d * z, g * z)


# While a pattern is open its owners are listed, so that terms of shared sums skip other options.


def _open_members(likelihood: Any, c: TermSums, b: FeatureState, k: int) -> None:
    """List the owners of feature k once, before repeated toggles."""
    n_owners = 0
    for i in range(likelihood.n):
        if owns(b, i, k):
            c.owner[n_owners] = i
            n_owners += 1
    c.owners[0] = n_owners


def _delta_open_member(
    likelihood: Any, c: TermSums, b: FeatureState, k: int, i: int, d: float
) -> Any:
    """Return the change in summed terms of a toggle of i, after `open_members`."""
    likelihood = insert_parameters(likelihood, c)
    if has_option_sums_in_pairs(likelihood):
        return _delta_member(likelihood, c, b, k, i, d)
    g = 1.0 - 2.0 * b.Z[k, i]
    change = (
        option_term(likelihood, i, clean_sum(likelihood, c.own_sum[i] + d, c.own_columns[i] + g))
        - c.option[i]
    )
    if has_pair_terms(likelihood):
        for t in range(c.owners[0]):
            j = c.owner[t]
            if j != i:
                shared = clean_sum(likelihood, c.shared[i, j] + d, c.shared_columns[i, j] + g)
                change += (
                    ordered_pair_term(likelihood, i, j, shared, c.own_sum[i], c.own_sum[j])
                    - c.pair[i, j]
                )
    return change


def _apply_open_member(
    likelihood: Any, c: TermSums, b: FeatureState, k: int, i: int, d: float
) -> None:
    """Update sums, terms and owners after a toggle of i, following `open_members`."""
    _apply_member(likelihood, c, b, k, i, d)
    n_owners = c.owners[0]
    if not owns(b, i, k):
        c.owner[n_owners] = i
        c.owners[0] = n_owners + 1
    else:
        for t in range(n_owners):
            if c.owner[t] == i:
                c.owner[t] = c.owner[n_owners - 1]
        c.owners[0] = n_owners - 1


def _delta_weight(likelihood: Any, c: TermSums, b: FeatureState, k: int, m: int, d: float) -> Any:
    """Return the change in summed terms if the weight of feature k grows by d."""
    likelihood = insert_parameters(likelihood, c)
    g = count_born_columns(b, k, d)
    change = 0.0
    for i in range(likelihood.n):
        z = b.Z[k, i]
        own_i = clean_sum(likelihood, c.own_sum[i] + d * z, c.own_columns[i] + g * z)
        if z != 0.0:
            change += option_term(likelihood, i, own_i) - c.option[i]
        if has_pair_terms(likelihood) and (has_option_sums_in_pairs(likelihood) or z != 0.0):
            for j in range(i):
                y = b.Z[k, j]
                if z * y != 0.0 or (has_option_sums_in_pairs(likelihood) and z + y != 0.0):
                    shared = clean_sum(
                        likelihood, c.shared[i, j] + d * z * y, c.shared_columns[i, j] + g * z * y
                    )
                    own_j = clean_sum(likelihood, c.own_sum[j] + d * y, c.own_columns[j] + g * y)
                    change += (
                        ordered_pair_term(likelihood, i, j, shared, own_i, own_j) - c.pair[i, j]
                    )
    return change


def _apply_weight(likelihood: Any, c: TermSums, b: FeatureState, k: int, m: int, d: float) -> None:
    """Update the option and pair sums in the cache `c`: the weight of feature k grows by d."""
    likelihood = insert_parameters(likelihood, c)
    g = count_born_columns(b, k, d)
    for i in range(likelihood.n):
        if owns(b, i, k):
            update_option_sum(likelihood, c, i, d, g)
    if has_pair_terms(likelihood):
        for i in range(likelihood.n):
            z = b.Z[k, i]
            if has_option_sums_in_pairs(likelihood) or z != 0.0:
                for j in range(i):
                    y = b.Z[k, j]
                    if z * y != 0.0 or (has_option_sums_in_pairs(likelihood) and z + y != 0.0):
                        update_pair_sum(likelihood, c, i, j, d * z * y, g * z * y)


# Column k loses the owners of its partner, which takes over their weight, or the reverse: d is the
# change of the weight that each of them shares with the remaining owners of k. All other sums are
# unchanged, but their numbers of columns change.


@scalar
def transfer_sign(b: Any, partner: Any) -> Any:
    """Return 1 if the scratch row has the partner's owners, else -1.

    Column k becomes the scratch row.
    """
    scratch_row = scratch_index(b)
    for i in range(b.Z.shape[1]):
        if owns(b, i, partner) and not owns(b, i, scratch_row):
            return -1.0
    return 1.0


def _delta_transfer(
    likelihood: Any, c: TermSums, b: FeatureState, k: int, partner: int, d: float
) -> Any:
    """Return the change in the terms if k gets the scratch row's owners and w[partner] -= d."""
    likelihood = insert_parameters(likelihood, c)
    change = 0.0
    if has_pair_terms(likelihood):
        g = transfer_sign(b, partner)
        remaining_row = select_remaining_row(b, k, g)
        for i in range(likelihood.n):
            if owns(b, i, partner):
                for j in range(likelihood.n):
                    if owns(b, j, remaining_row):
                        shared = clean_sum(
                            likelihood, c.shared[i, j] + d, c.shared_columns[i, j] + g
                        )
                        change += (
                            ordered_pair_term(likelihood, i, j, shared, c.own_sum[i], c.own_sum[j])
                            - c.pair[i, j]
                        )
    return change


def _apply_transfer(
    likelihood: Any, c: TermSums, b: FeatureState, k: int, partner: int, d: float
) -> None:
    """Update sums and terms: k gets the scratch row's owners and w[partner] falls by d."""
    likelihood = insert_parameters(likelihood, c)
    g = transfer_sign(b, partner)
    _apply_copies(likelihood, c, b, partner, g)
    if has_pair_terms(likelihood):
        remaining_row = select_remaining_row(b, k, g)
        for i in range(likelihood.n):
            if owns(b, i, partner):
                for j in range(likelihood.n):
                    if owns(b, j, remaining_row):
                        update_pair_sum(likelihood, c, i, j, d, g)


@scalar
def _apply_copies(likelihood: Any, c: Any, b: Any, k: Any, extra: Any) -> None:
    """Add `extra` copies of feature k to the feature counts of its owners."""
    for i in range(likelihood.n):
        if owns(b, i, k):
            c.own_columns[i] += extra
            if has_pair_terms(likelihood):
                for j in range(likelihood.n):
                    if j != i:
                        c.shared_columns[i, j] += extra * b.Z[k, j]


def _rebuild_cache(likelihood: Any, c: TermSums, b: FeatureState) -> None:
    """Fill the cached sums and terms from features and weights."""
    likelihood = insert_parameters(likelihood, c)
    n = likelihood.n
    for i in range(n):
        total = 0.0
        n_columns = 0.0
        for k in range(b.whole[COLUMNS]):
            total += b.w[k] * b.Z[k, i]
            n_columns += b.Z[k, i]
        c.own_sum[i] = c.own_columns[i] = 0.0
        update_option_sum(likelihood, c, i, total, n_columns)
    if has_pair_terms(likelihood):
        for i in range(n):
            for j in range(i):
                total = 0.0
                n_columns = 0.0
                for k in range(b.whole[COLUMNS]):
                    total += b.w[k] * b.Z[k, i] * b.Z[k, j]
                    n_columns += b.Z[k, i] * b.Z[k, j]
                c.shared[i, j] = c.shared_columns[i, j] = 0.0
                update_pair_sum(likelihood, c, i, j, total, n_columns)


def _select_cache(likelihood: Any, caches: TermSums, t: int) -> Any:
    """Return views of the cache of the replica at temperature t."""
    return TermSums(
        caches.own_sum[t],
        caches.own_columns[t],
        caches.option[t],
        caches.shared[t],
        caches.shared_columns[t],
        caches.pair[t],
        caches.owner[t],
        caches.owners[t],
        caches.parameters[t],
    )


def _current_log_likelihood(likelihood: Any, c: TermSums, b: FeatureState) -> Any:
    """Return the user's log-likelihood of the current state."""
    likelihood = insert_parameters(likelihood, c)
    return state_log_likelihood(likelihood, b, b.whole[COLUMNS])


COMMON_OPERATIONS: dict[Any, Any] = kernel_operations.WITHOUT_UNIQUE | {
    kernel_operations.sees_full: return_true,
    kernel_operations.is_scale_free: return_false,
    kernel_operations.log_likelihood: _current_log_likelihood,
}

OPERATIONS: dict[Any, Any] = COMMON_OPERATIONS | {
    kernel_operations.select_cache: _select_cache,
    kernel_operations.rebuild_cache: _rebuild_cache,
    kernel_operations.delta_member: _delta_member,
    kernel_operations.apply_member: _apply_member,
    kernel_operations.open_members: _open_members,
    kernel_operations.delta_open_member: _delta_open_member,
    kernel_operations.apply_open_member: _apply_open_member,
    kernel_operations.delta_weight: _delta_weight,
    kernel_operations.apply_weight: _apply_weight,
    kernel_operations.delta_transfer: _delta_transfer,
    kernel_operations.apply_transfer: _apply_transfer,
    kernel_operations.apply_copies: _apply_copies,
}
