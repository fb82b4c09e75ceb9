"""Test a user's functions before a long computation, with clear errors."""

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._compile.jit import compile_separately
from thali.errors import ArgumentError

from ..priors.indian_buffet import IndianBuffet
from .custom_term_checks import arrange_like_samplers, compare_changes, sample_states

if TYPE_CHECKING:
    from thali._data.custom_data import Observed

    from ..weight_priors import GammaWeights, NormalWeights
    from .custom import Custom


N_STATES, MAX_CHANGES, MAX_CALLS = 4, 6, 20  # numbers of tests
MAX_RELATIVE_MISS = (
    1e-6  # allowed error of a sum of terms, as a fraction of the sum of absolute terms
)


def check_functions(
    custom: "Custom",
    observed: "Observed",
    weights: "GammaWeights | NormalWeights",
    checks_terms: bool = True,
) -> bool:
    """Test every function of a `Custom` on the data; return whether one allocates arrays.

    Functions are called as Python and compiled.
    """
    rng = np.random.default_rng(1)
    states = sample_states(IndianBuffet(), observed.n_options, weights, rng, N_STATES)
    data = observed.fields
    allocates, compiled_log_likelihood = _compare_compiled(
        "log_likelihood",
        custom.log_likelihood,
        [(data, arrange_like_samplers(f), w) for f, w in states],
    )
    if custom.of_option is not None:
        option_calls = [
            (data, i, float(f[i] @ w)) for f, w in states for i in range(min(f.shape[0], MAX_CALLS))
        ]
        allocates |= _compare_compiled("of_option", custom.of_option, option_calls)[0]
    if custom.of_pair is not None:
        allocates |= _compare_compiled(
            "of_pair", custom.of_pair, _list_pair_calls(custom, data, states, rng)
        )[0]
    if checks_terms and custom.terms:
        _check_terms(custom, observed, weights, states, compiled_log_likelihood, rng)
    if custom.pointwise is not None:
        for features, feature_weights in states:
            _check_pointwise(custom, observed, features, feature_weights)
    return allocates


def _check_pointwise(
    custom: Any, observed: "Observed", features: np.ndarray, weights: np.ndarray
) -> None:
    """Raise ArgumentError if `pointwise` does not sum to log_likelihood."""
    pointwise_terms = np.asarray(
        custom.pointwise(observed.original, features.copy(), weights.copy()), float
    )
    log_likelihood = call_checked(
        "log_likelihood", custom.log_likelihood, observed.fields, features, weights
    )
    if not abs(pointwise_terms.sum() - log_likelihood) <= MAX_RELATIVE_MISS * (
        np.abs(pointwise_terms).sum() + abs(log_likelihood) + 1.0
    ):
        raise ArgumentError(
            f"`pointwise` must sum to log_likelihood; its {pointwise_terms.size} terms sum to"
            f" {pointwise_terms.sum():.6g}, but log_likelihood is {log_likelihood:.6g}."
        )


def _check_terms(
    custom: "Custom",
    observed: "Observed",
    weights: "GammaWeights | NormalWeights",
    states: Sequence[tuple[np.ndarray, np.ndarray]],
    log_likelihood: Callable[..., Any],
    rng: np.random.Generator,
) -> None:
    """Raise ArgumentError if the terms disagree with log_likelihood."""
    compiled_likelihood, make_cache = custom.build_uncompiled(observed, weights)
    worst_difference = compare_changes(
        compiled_likelihood,
        make_cache,
        lambda f, w: log_likelihood(observed.fields, arrange_like_samplers(f), w),
        states,
        observed.labels,
        rng,
        MAX_CHANGES,
    )
    if not worst_difference.is_rounding:
        raise ArgumentError(
            f"log_likelihood differs from {custom.terms} by {worst_difference.size:.3g}:"
            f" {worst_difference.words}; run thali.testing.check for details."
        )


def _list_pair_calls(
    custom: Any,
    data: Any,
    states: Sequence[tuple[np.ndarray, np.ndarray]],
    rng: np.random.Generator,
) -> list[tuple[Any, ...]]:
    """List argument tuples for test calls of the user's pair function."""
    from inspect import signature

    sees_own = len(signature(getattr(custom.of_pair, "py_func", custom.of_pair)).parameters) == 6
    argument_tuples = []
    for features, weights in states:
        n = features.shape[0]
        index_pairs = np.array(
            [(i, j) for i in range(min(n, 50)) for j in range(i + 1, min(n, 50))]
        ).reshape(-1, 2)
        for i, j in rng.permutation(index_pairs)[:MAX_CALLS].tolist():
            arguments = [data, i, j, float(features[i] * features[j] @ weights)]
            if sees_own:
                arguments += [float(features[o] @ weights) for o in (i, j)]
            argument_tuples.append(tuple(arguments))
    return argument_tuples


def _compare_compiled(
    name: str, function: Callable[..., Any], calls: list[tuple[Any, ...]]
) -> tuple[bool, Any]:
    """Check a user's compiled function; return whether it allocates, and the function."""
    if not calls:
        return False, function
    python_values = [call_checked(name, function, *arguments) for arguments in calls]
    try:
        compiled_function, allocates_arrays = compile_separately(function, calls[-1])
    except TypeError as error:
        raise ArgumentError(f"numba cannot compile {name}: {error}.") from None
    for arguments, python_value in zip(calls, python_values, strict=True):
        compiled_value = float(compiled_function(*arguments))
        if not abs(compiled_value - python_value) <= 1e6 * np.finfo(float).eps * (
            1.0 + abs(python_value)
        ):
            raise ArgumentError(
                f"{name} returns {compiled_value:.6g} when compiled but {python_value:.6g} in"
                f" Python for {_describe(arguments)}; check for out-of-range indices and 64-bit"
                " integer overflow, which numba does not detect."
            )
    return allocates_arrays, compiled_function


def call_checked(name: str, function: Callable[..., Any], *arguments: Any) -> float:
    """Call a user's function in Python on copies of its arguments; return a float.

    ArgumentError: it fails, changes its arguments, or does not return a finite number.
    """
    python_function = getattr(function, "py_func", function)
    argument_copies = tuple(_copy_argument(a) for a in arguments)
    with np.errstate(all="ignore"):
        try:
            returned_value = python_function(*argument_copies)
        except Exception as error:
            raise ArgumentError(
                f"{name} raised {type(error).__name__}: {error} (called with"
                f" {_describe(arguments)})."
            ) from error
    if isinstance(returned_value, np.ndarray) and returned_value.ndim == 0:
        returned_value = returned_value[()]
    if isinstance(returned_value, bool | np.bool_) or not isinstance(returned_value, numbers.Real):
        raise ArgumentError(
            f"{name} must return a number; it returned {_shorten_repr(returned_value)} for"
            f" {_describe(arguments)}."
        )
    for argument, copy in zip(arguments, argument_copies, strict=True):
        for field_name, original_array, copied_array in _iterate_arrays(argument, copy):
            if not np.array_equal(
                original_array, copied_array, equal_nan=original_array.dtype.kind == "f"
            ):
                raise ArgumentError(
                    f"{name} must not modify its arguments, but changed {field_name or 'them'}; let"
                    " the function work on a copy."
                )
    returned_value = float(returned_value)
    if np.isnan(returned_value) or returned_value == np.inf:
        raise ArgumentError(
            f"{name} must return a finite number; it returned {returned_value} for"
            f" {_describe(arguments)}."
        )
    if returned_value == -np.inf:
        raise ArgumentError(
            f"{name} returned -inf for {_describe(arguments)}, so the observations are impossible"
            " there and a sampler could not leave this state; give every observation a small"
            " probability, for instance with a lapse rate."
        )
    return returned_value


def _copy_argument(argument: Any) -> Any:
    """Return a copy of an argument, with its arrays copied."""
    if isinstance(argument, tuple):
        return type(argument)(*(_copy_argument(a) for a in argument))
    if isinstance(argument, np.ndarray):
        return argument.copy()
    return argument


def _iterate_arrays(original: Any, copy: Any) -> Any:
    """Yield (field name, original array, copied array) of an argument."""
    if isinstance(original, tuple):
        field_names = original._fields  # type: ignore[attr-defined]
        for field_name, original_array, copied_array in zip(
            field_names, original, copy, strict=True
        ):
            if isinstance(original_array, np.ndarray):
                yield f"data.{field_name}", original_array, copied_array
    elif isinstance(original, np.ndarray):
        yield "", original, copy


def _describe(arguments: Any) -> str:
    """Return words for a call's arguments after the data, for error messages."""
    if len(arguments) == 3 and isinstance(arguments[1], np.ndarray):
        n_options, n_features = arguments[1].shape
        return f"{n_options} options and {n_features} features"
    argument_names: tuple[str, ...] = ("i", "own")
    if len(arguments) > 3:
        argument_names = ("i", "j", "shared", "own_i", "own_j")
    return ", ".join(
        f"{name}={number:.4g}" for name, number in zip(argument_names, arguments[1:], strict=False)
    )


def _shorten_repr(returned: Any) -> str:
    """Return the repr of a value, cut to 60 characters with its type's name."""
    repr_text = repr(returned).replace("\n", " ")
    if len(repr_text) < 60:
        return repr_text
    return f"{repr_text[:50]}... ({type(returned).__name__})"
