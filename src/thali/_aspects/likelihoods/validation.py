"""Calls a user's functions a few times before a long computation; an error says in one sentence
what is wrong."""

import numbers
from typing import Any

import numpy as np

from thali._compile.jit import compile_separately
from thali.errors import ArgumentError

from ..priors.ibp import IndianBuffet
from .delta_checks import as_seen, compare_changes, states_of

STATES, CHANGES, PAIRS = 4, 6, 20  # tried out
CLOSE = 1e-6  # of the sum of the sizes of terms, by which they may miss the whole


def try_out(custom: Any, observed: Any, weights: Any, compares: bool = True) -> bool:
    """Call every function of a `Custom` on the data, as Python and compiled."""
    rng = np.random.default_rng(1)
    states = states_of(IndianBuffet(), observed.n_options, weights, rng, STATES)
    data = observed.fields
    allocates, whole = _both(
        "log_likelihood", custom.log_likelihood, [(data, as_seen(f), w) for f, w in states]
    )
    if custom.of_option is not None:
        calls = [
            (data, i, float(f[i] @ w)) for f, w in states for i in range(min(f.shape[0], PAIRS))
        ]
        allocates |= _both("of_option", custom.of_option, calls)[0]
    if custom.of_pair is not None:
        allocates |= _both("of_pair", custom.of_pair, _pair_calls(custom, data, states, rng))[0]
    if compares and custom.terms:
        _compare(custom, observed, weights, states, whole, rng)
    if custom.pointwise is not None:
        for features, weights in states:
            _compare_pointwise(custom, observed, features, weights)
    return allocates


def _compare_pointwise(
    custom: Any, observed: Any, features: np.ndarray, weights: np.ndarray
) -> None:
    terms = np.asarray(custom.pointwise(observed.original, features.copy(), weights.copy()), float)
    whole = called("log_likelihood", custom.log_likelihood, observed.fields, features, weights)
    if not abs(terms.sum() - whole) <= CLOSE * (np.abs(terms).sum() + abs(whole) + 1.0):
        raise ArgumentError(
            f"`pointwise` must sum to log_likelihood; its {terms.size} terms sum to"
            f" {terms.sum():.6g}, but log_likelihood is {whole:.6g}."
        )


def _compare(
    custom: Any, observed: Any, weights: Any, states: Any, whole: Any, rng: np.random.Generator
) -> None:
    compiled, make_cache = custom.as_python(observed, weights)
    found = compare_changes(
        compiled,
        make_cache,
        lambda f, w: whole(observed.fields, as_seen(f), w),
        states,
        observed.labels,
        rng,
        CHANGES,
    )
    if not found.is_rounding:
        raise ArgumentError(
            f"{custom.terms} disagree with log_likelihood by {found.size:.3g}: {found.words}; run"
            " thali.testing.check for details."
        )


def _pair_calls(
    custom: Any, data: Any, states: Any, rng: np.random.Generator
) -> list[tuple[Any, ...]]:
    from inspect import signature

    sees_own = len(signature(getattr(custom.of_pair, "py_func", custom.of_pair)).parameters) == 6
    calls = []
    for features, weights in states:
        n = features.shape[0]
        pairs = np.array(
            [(i, j) for i in range(min(n, 50)) for j in range(i + 1, min(n, 50))]
        ).reshape(-1, 2)
        for i, j in rng.permutation(pairs)[:PAIRS].tolist():
            own = [float(features[o] @ weights) for o in (i, j)]
            calls.append(
                (data, i, j, float(features[i] * features[j] @ weights), *(own if sees_own else ()))
            )
    return calls


def _both(name: str, function: Any, calls: list[tuple[Any, ...]]) -> tuple[bool, Any]:
    """Whether the function allocates, and its compiled form, after both forms passed the calls."""
    if not calls:
        return False, function
    values = [called(name, function, *arguments) for arguments in calls]
    try:
        fast, allocates = compile_separately(function, calls[-1])
    except TypeError as error:
        raise ArgumentError(f"numba cannot compile {name}: {error}.") from None
    for arguments, value in zip(calls, values, strict=True):
        again = float(fast(*arguments))
        if not abs(again - value) <= 1e6 * np.finfo(float).eps * (1.0 + abs(value)):
            raise ArgumentError(
                f"{name} returns {again:.6g} when compiled but {value:.6g} in Python for"
                f" {_state(arguments)}; check for out-of-range indices and 64-bit integer"
                " overflow, which numba does not detect."
            )
    return allocates, fast


def called(name: str, function: Any, *arguments: Any) -> float:
    """The value of a user's function, called as Python on copies of the arguments."""
    plain = getattr(function, "py_func", function)
    copies = tuple(_copy(a) for a in arguments)
    with np.errstate(all="ignore"):
        try:
            value = plain(*copies)
        except Exception as error:
            raise ArgumentError(
                f"{name} raised {type(error).__name__}: {error} (called with {_state(arguments)})."
            ) from error
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise ArgumentError(
            f"{name} must return a number; it returned {_short(value)} for {_state(arguments)}."
        )
    for before, after in zip(arguments, copies, strict=True):
        for field, old, new in _arrays(before, after):
            if not np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
                raise ArgumentError(
                    f"{name} must not modify its arguments, but changed {field or 'them'}; let the"
                    " function work on a copy."
                )
    value = float(value)
    if np.isnan(value) or value == np.inf:
        raise ArgumentError(
            f"{name} must return a finite number; it returned {value} for {_state(arguments)}."
        )
    if value == -np.inf:
        raise ArgumentError(
            f"{name} returned -inf for {_state(arguments)}, so the observations are impossible"
            " there and a sampler could not leave this state; give every observation a small"
            " probability, for instance with a lapse rate."
        )
    return value


def _copy(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return type(argument)(*(_copy(a) for a in argument))
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _arrays(before: Any, after: Any) -> Any:
    """Each array of an argument: name of the field of data, as it was, as it is."""
    if isinstance(before, tuple):
        for name, old, new in zip(before._fields, before, after, strict=True):  # type: ignore[attr-defined]
            if isinstance(old, np.ndarray):
                yield f"data.{name}", old, new
    elif isinstance(before, np.ndarray):
        yield "", before, after


def _state(arguments: Any) -> str:
    """The arguments after the data, in words."""
    if len(arguments) == 3 and isinstance(arguments[1], np.ndarray):
        n, columns = arguments[1].shape
        return f"{n} options and {columns} features"
    names = ("i", "j", "shared", "own_i", "own_j") if len(arguments) > 3 else ("i", "own")
    return ", ".join(
        f"{name}={value:.4g}" for name, value in zip(names, arguments[1:], strict=False)
    )


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) < 60 else f"{text[:50]}... ({type(value).__name__})"
