"""A user-defined likelihood, written as plain functions."""

import hashlib
import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from thali._compile.jit import constants_digest, register_answers, register_user_function
from thali._data.custom_data import Observed
from thali._model.model_files import UnsavedFunction
from thali.errors import ArgumentError

from .. import kernel_operations
from ..weight_priors import EXPONENTIAL, GammaWeights, NormalWeights, is_positive_prior
from . import custom_full_evaluation, custom_term_kernels
from .parameter_priors import (
    FLAT,
    PRIOR_NAMES,
    check_parameters,
    draw_parameters_by_slice,
    read_starting_values,
    record_values,
    user_log_prior,
)

if TYPE_CHECKING:
    from ..draws.feature_columns import FeatureColumns
    from ..priors.prior_from_argument import FeaturePrior


ARGUMENTS: dict[str, tuple[str, ...]] = {
    "log_likelihood": ("data", "features", "weights"),
    "of_pair": ("data", "i", "j", "shared", "own_i", "own_j"),
    "of_option": ("data", "i", "own"),
    "simulate": ("data", "features", "weights", "rng"),
    "pointwise": ("data", "features", "weights"),
    "predict": ("data", "features", "weights"),
    "log_prior": ("data",),
}
MIN_ARGUMENTS = {"of_pair": 4}  # own_i and own_j are optional


@dataclass(frozen=True, repr=False)
class Custom:
    r"""A user-defined likelihood, given as functions of data, features and weights.

    Experimental: its arguments may change in a later version.

    Write plain Python functions of numbers and arrays; thali compiles them (numba). One function is
    enough: `log_likelihood`, which every move of the sampler then evaluates. If the likelihood is a
    sum of terms that depend on the features through sums of weights,

    .. math:: \log P = \text{const} + \sum_i f_i(t_i) + \sum_{i<j} g_{ij}(t_{ij}, t_i, t_j), \qquad
        t_i = \sum_k w_k z_{ik}, \quad t_{ij} = \sum_k w_k z_{ik} z_{jk},

    give the terms as well: a move then evaluates only the affected terms, which is many times as
    fast. `thali.testing.check` compares the terms with `log_likelihood`, and tests the posterior.

    Parameters
    ----------
    log_likelihood : function (data, features, weights) -> float
        The log-likelihood of all data. `features` is an array (options, K) of 0.0 and 1.0 with K >=
        0 features in arbitrary order; `weights` (K,) are positive, or of either sign under
        `weight_prior=Normal(...)`. Must be finite for every feature matrix.
    of_pair : function (data, i, j, shared) or (data, i, j, shared, own_i, own_j) -> float, optional
        The term g of the options i < j. `shared` is t_ij; `own_i` and `own_j` are t_i and t_j.
    of_option : function (data, i, own) -> float, optional
        The term f of the option i; `own` is t_i.
    simulate : function (data, features, weights, rng) -> data, optional
        New data of the same design, `data._replace(...)`, drawn with a numpy.random.Generator; not
        compiled. Only `sample_prior`, `posterior_predictive` and `thali.testing.check` need it; the
        check tests whether `log_likelihood` is the density of these data.
    pointwise : function (data, features, weights) -> array, optional
        The log-likelihood of each observation, an array of any shape that sums to `log_likelihood`;
        not compiled. With it the posterior has the group `log_likelihood`, which leave-one-out
        validation needs (`arviz.loo`).
    predict : function (data, features, weights) -> array, optional
        The prediction of the model, an array of the same shape for all features; not compiled.
        `model.predict` returns its posterior mean.
    parameters : mapping from name to prior, optional
        Fields of the data, single numbers, that are learned: `Normal(mean, sd)`, `HalfNormal(sd)`,
        `LogNormal(mean, sd)`, `Gamma(shape, rate)` or `Beta(a, b)` of `thali.likelihoods`. All
        functions get the data with the current values in these fields; chains start at the values
        in the data.
    log_prior : function (data) -> float, optional
        Joint log prior of the parameters, added to the priors above; a prior may then be None.

    Raises
    ------
    ArgumentError
        If an argument is not a function with the required signature.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np, thali as th
    >>> class Ratings(NamedTuple):
    ...     rating: np.ndarray
    ...     labels: list
    >>> def log_likelihood(data, features, weights):
    ...     return -0.5 * np.sum((data.rating - features @ weights) ** 2)
    >>> def of_option(data, i, own):
    ...     return -0.5 * (data.rating[i] - own) ** 2
    >>> likelihood = th.likelihoods.Custom(log_likelihood, of_option=of_option)
    >>> likelihood
    Custom(log_likelihood, of_option=of_option)
    """

    log_likelihood: Callable[..., Any]
    of_pair: Callable[..., Any] | None = None
    of_option: Callable[..., Any] | None = None
    simulate: Callable[..., Any] | None = None
    pointwise: Callable[..., Any] | None = None
    predict: Callable[..., Any] | None = None
    # its keys are the names of recorded parameters
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    log_prior: Callable[..., Any] | None = None

    unique = False  # no option has a fixed unique feature
    takes_signed_weights = True
    # minimum shape of the weight prior: with smaller shapes a difference of sums loses tiny weights
    min_shape: ClassVar[float] = 0.5
    needs_tempering = False
    approximate = None  # chains need no other likelihood to find their start

    def __post_init__(self) -> None:
        """Raise ArgumentError for functions with other arguments or invalid priors."""
        for function_name, arguments in ARGUMENTS.items():
            function = getattr(self, function_name)
            if (function is not None or function_name == "log_likelihood") and not isinstance(
                function, UnsavedFunction
            ):
                _check_signature(
                    function_name,
                    function,
                    arguments,
                    MIN_ARGUMENTS.get(function_name, len(arguments)),
                )
        check_parameters(self.parameters, self.log_prior)

    def __repr__(self) -> str:
        """Format the likelihood as a call, with the names of its functions."""
        arguments = [_format_name(self.log_likelihood)]
        arguments += [
            f"{name}={_format_name(getattr(self, name))}"
            for name in list(ARGUMENTS)[1:]
            if getattr(self, name)
        ]
        if self.parameters:
            arguments.append(f"parameters={dict(self.parameters)!r}")
        return f"Custom({', '.join(arguments)})"

    def wrap_data(self, data: Any) -> Observed:
        """Return the user's NamedTuple as `Observed`, the data class that models take."""
        if isinstance(data, Observed):
            return data
        return Observed(data)

    def check(self, prior: "FeaturePrior | None", data: Any) -> None:
        """Raise DataError for data of another type, ArgumentError for functions lost in a file.

        Files of models do not contain functions.
        """
        self.wrap_data(data)
        if isinstance(self.log_likelihood, UnsavedFunction):
            raise ArgumentError(
                "This model was loaded from a file, and files do not contain functions, such as"
                f" those of its likelihood {self!r}; pass the functions again with"
                " set_params(likelihood=...)."
            )

    def compiled(
        self, data: "NamedTuple | Observed", weights: GammaWeights | NormalWeights = EXPONENTIAL
    ) -> Any:
        """Return data as kernels read them, and a function that makes a chain's cache.

        The functions are tested at weights from their prior.
        """
        from .user_function_checks import check_functions

        self.check(None, data)
        observed = self.wrap_data(data)
        read_starting_values(self.parameters, observed.fields, self.log_prior)
        allocates_arrays = check_functions(self, observed, weights)
        return self._build_data(observed, allocates_arrays, weights), self._kernel_module.make_cache

    def build_uncompiled(
        self, observed: Observed, weights: GammaWeights | NormalWeights = EXPONENTIAL
    ) -> Any:
        """Return the same pair as `compiled`, without testing the user's functions.

        It is for operations that are called as Python.
        """
        return self._build_data(observed, False, weights), self._kernel_module.make_cache

    def _build_data(
        self, observed: Observed, allocates: bool, weights: GammaWeights | NormalWeights
    ) -> Any:
        """Return the user's data fields and parameter priors as kernels read them."""
        is_signed = not is_positive_prior(weights)
        if not self.parameters:
            return self._get_kernel_data_class(allocates, is_signed)(
                observed.fields, observed.n_options
            )
        fields = observed.fields._replace(
            **{name: float(getattr(observed.fields, name)) for name in self.parameters}
        )
        prior_rows = map(_encode_prior, self.parameters.values())
        prior_codes, first_values, second_values = map(np.array, zip(*prior_rows, strict=True))
        return self._get_kernel_data_class(allocates, is_signed, type(fields))(
            fields, observed.n_options, prior_codes, first_values, second_values
        )

    @property
    def terms(self) -> str:
        """Names of the functions given for pair and option terms; empty without terms."""
        return " and ".join(
            name for name in ("of_pair", "of_option") if getattr(self, name) is not None
        )

    @property
    def _kernel_module(self) -> Any:
        """Module of the kernel operations: a sum of terms, or the full function."""
        if self.terms:
            return custom_term_kernels
        return custom_full_evaluation

    def _get_kernel_data_class(
        self, allocates: bool, is_signed: bool, data_class: type[Any] | None = None
    ) -> Any:
        """Return the NamedTuple class of kernel data for these functions, cached."""
        # Equal functions have the same class.
        class_key = (
            self.log_likelihood,
            self.of_pair,
            self.of_option,
            allocates,
            is_signed,
            data_class,
            *self.parameters,
            self.log_prior,
        )
        if class_key not in _CLASSES:
            source_hash = self._source(allocates, is_signed, data_class)
            class_name = f"Custom_{source_hash[:24]}"
            if not source_hash:
                _CLASSES[class_key] = _make_class(
                    self, allocates, is_signed, data_class, "Custom", False
                )
            else:  # functions that were defined once more are the same functions
                new_class = globals().get(class_name) or _make_class(
                    self, allocates, is_signed, data_class, class_name, True
                )
                _CLASSES[class_key] = globals()[class_name] = new_class
        return _CLASSES[class_key]

    def _source(self, allocates: bool, is_signed: bool, data_class: type[Any] | None) -> str:
        """Return a hash of what defines the kernel class; "" if a function has none."""
        # Compiled code is found again by this hash; it is "" if a function has none.
        functions = (self.log_likelihood, self.of_pair, self.of_option, self.log_prior)
        digests = list(map(_compute_function_digest, functions))
        if "" in digests:
            return ""
        field_types = ()
        if data_class is not None:
            field_types = data_class._fields
        return hashlib.sha256(
            repr((digests, allocates, is_signed, field_types, tuple(self.parameters))).encode()
        ).hexdigest()

    def set_parameters(self, data: NamedTuple, values: Mapping[str, float]) -> Any:
        """Return the user's data with the parameter fields set to these values."""
        return data._replace(**{name: float(values[name]) for name in self.parameters})

    def sample_prior_parameters(
        self,
        data: "NamedTuple | Observed",
        weights: GammaWeights | NormalWeights,
        rng: np.random.Generator,
    ) -> dict[str, float]:
        """Sample the parameters from their priors."""
        if self.log_prior is not None:
            raise ArgumentError(
                f"Draws from the prior require priors that can be sampled ({PRIOR_NAMES});"
                " log_prior only defines a density. Use such priors instead of log_prior."
            )
        return {name: prior.draw(rng) for name, prior in self.parameters.items()}

    def log_parameter_prior(
        self,
        draws: Mapping[str, np.ndarray],
        data: "NamedTuple | Observed",
        weights: GammaWeights | NormalWeights,
    ) -> dict[str, np.ndarray]:
        """Return log prior densities of the parameters per draw, without `log_prior`."""
        return {
            name: p.log_density(draws[name]) for name, p in self.parameters.items() if p is not None
        }

    def simulate_data(
        self,
        feature_columns: "FeatureColumns",
        parameters: Mapping[str, float],
        data: "NamedTuple | Observed",
        rng: np.random.Generator,
    ) -> Any:
        """Simulate data of the same design at one draw's features and weights."""
        from ..draws.posterior_tree import SimulatedData
        from .custom_term_checks import arrange_like_samplers
        from .user_function_checks import call_checked

        if is_unavailable(self.simulate):
            raise ArgumentError(
                "Simulating data requires a function simulate(data, features, weights, rng); pass"
                " it to Custom(..., simulate=...)."
            )
        assert self.simulate is not None
        owners, weights = feature_columns.to_dense(0, 1)
        features = owners[0].T.astype(float)
        weights = weights[0]
        original_data = self.wrap_data(data).original
        simulated_data = Observed(
            self.simulate(
                self.set_parameters(original_data, parameters), features.copy(), weights.copy(), rng
            )
        )
        log_likelihood = call_checked(
            "log_likelihood",
            self.log_likelihood,
            simulated_data.fields,
            arrange_like_samplers(features),
            weights,
        )
        fields = simulated_data.fields._asdict()
        data_arrays = {
            f"data.{name}": np.asarray(field)
            for name, field in fields.items()
            if name not in self.parameters
        }
        return SimulatedData(
            self.set_parameters(
                simulated_data.original,
                {name: getattr(original_data, name) for name in self.parameters},
            ),
            data_arrays,
            log_likelihood,
        )

    def build_posterior_part(
        self,
        feature_columns: "FeatureColumns",
        extra: dict[str, np.ndarray],
        data: "NamedTuple | Observed",
        shape: tuple[int, int],
        dense: bool,
    ) -> Any:
        """Build the part of the posterior tree about the user's data.

        It includes pointwise log-likelihoods if `pointwise` is given.
        """
        from .custom_posterior_parts import build_custom_part, compute_pointwise, depends_on_weights

        observed = self.wrap_data(data)
        sees_single = bool(kernel_operations.sees_single(self.build_uncompiled(observed)[0]))
        data_part = build_custom_part(
            observed,
            sees_single,
            tuple(self.parameters),
            depends_on_weights(self, observed, feature_columns, extra),
        )
        if is_unavailable(self.pointwise) or not dense:
            return data_part
        return replace(
            data_part, pointwise=compute_pointwise(self, observed, feature_columns, shape, extra)
        )


_CLASSES: dict[tuple[Any, ...], Any] = {}


def is_unavailable(function: Callable[..., Any] | None) -> bool:
    """Return whether a function was not given, or was lost when loaded from a file."""
    return function is None or isinstance(function, UnsavedFunction)


def _encode_prior(prior: Any) -> tuple[int, float, float]:
    """Return a parameter's prior as (code, first, second parameter) for compiled code."""
    if prior is None:
        return FLAT, 0.0, 1.0
    return prior.encode()


def _compute_function_digest(function: Callable[..., Any] | None) -> str:
    """Return a hash of a function's bytecode and constants; "" if it has none."""
    if function is None:
        return "none"
    return constants_digest(function)


def _make_class(
    custom: Custom,
    allocates: bool,
    is_signed: bool,
    data_class: type[Any] | None,
    name: str,
    is_known: bool,
) -> Any:
    """Make a NamedTuple class of kernel data and register its operations."""
    field_names = ["data", "n"]
    if custom.parameters:
        field_names += ["kind", "first", "second"]
    cls: Any = namedtuple(name, field_names, module=__name__)
    cls.source = is_known
    cls.allocates = allocates
    for kernel_operation, operation_function in custom._kernel_module.OPERATIONS.items():
        kernel_operation.register(cls)(operation_function)
    register_answers(cls, {custom_term_kernels.has_signed_sums: is_signed})
    log_likelihood = register_user_function(custom.log_likelihood, inline=False)
    custom_term_kernels.full_log_likelihood.register(cls)(
        lambda likelihood, features, weights: log_likelihood(likelihood.data, features, weights)
    )
    if custom.terms:
        _register_terms(cls, custom)
    if custom.parameters:
        _register_parameters(cls, custom, data_class)
    return cls


def _register_parameters(cls, custom: Custom, data_class: Any) -> None:
    """Register kernel operations that draw and record the user's parameters."""
    parameter_names = list(custom.parameters)
    custom_term_kernels.starting_parameters.register(cls)(
        lambda likelihood: [getattr(likelihood.data, name) for name in parameter_names]
    )
    field_sources = {name: f"likelihood.data.{name}" for name in data_class._fields} | {
        name: f"c.parameters[{p}]" for p, name in enumerate(parameter_names)
    }
    last_fields = "likelihood.n, likelihood.kind, likelihood.first, likelihood.second"
    # compiled code does not support _replace
    constructor_code = (
        f"lambda likelihood, c: cls(data_class({', '.join(field_sources.values())}), {last_fields})"
    )
    custom_term_kernels.insert_parameters.register(cls)(
        eval(constructor_code, {"__name__": __name__, "cls": cls, "data_class": data_class})
    )
    kernel_operations.draw_parameters.register(cls)(draw_parameters_by_slice)
    kernel_operations.record_parameters.register(cls)(record_values)
    if custom.log_prior is not None:
        log_prior: Any = register_user_function(custom.log_prior, inline=True)
        user_log_prior.register(cls)(lambda likelihood: log_prior(likelihood.data))


def _register_terms(cls, custom: Custom) -> None:
    """Register the user's functions of pair and option terms as kernel operations."""
    of_pair: Any = custom.of_pair and register_user_function(custom.of_pair, inline=True)
    of_option: Any = custom.of_option and register_user_function(custom.of_option, inline=True)
    sees_own = (
        of_pair and len(inspect.signature(getattr(of_pair, "py_func", of_pair)).parameters) == 6
    )
    register_answers(
        cls,
        {
            custom_term_kernels.has_pair_terms: bool(of_pair),
            custom_term_kernels.has_option_sums_in_pairs: bool(sees_own),
            # shared sums do not depend on features of a single option
            kernel_operations.sees_single: bool(sees_own or of_option),
        },
    )
    if of_option:
        custom_term_kernels.option_term.register(cls)(
            lambda likelihood, i, own_sum: of_option(likelihood.data, i, own_sum)
        )
    else:
        custom_term_kernels.option_term.register(cls)(lambda likelihood, i, own_sum: 0.0)
    if sees_own:
        custom_term_kernels.pair_term.register(cls)(
            lambda likelihood, i, j, shared, own_i, own_j: of_pair(
                likelihood.data, i, j, shared, own_i, own_j
            )
        )
    elif of_pair:
        custom_term_kernels.pair_term.register(cls)(
            lambda likelihood, i, j, shared, own_i, own_j: of_pair(likelihood.data, i, j, shared)
        )
    else:
        custom_term_kernels.pair_term.register(cls)(
            lambda likelihood, i, j, shared, own_i, own_j: 0.0
        )


def _format_name(function: Callable[..., Any]) -> str:
    """Return the name of a function; its repr if it has none."""
    return getattr(function, "__name__", repr(function))


def _check_signature(
    name: str, function: Any, arguments: tuple[str, ...], min_arguments: int
) -> None:
    """Raise ArgumentError if a function does not have the required arguments."""
    requirement = f"{name} must be a function of ({', '.join(arguments)})"
    if min_arguments < len(arguments):
        requirement += f" or ({', '.join(arguments[:min_arguments])})"
    if not callable(function):
        raise ArgumentError(f"{requirement}; got {function!r}.")
    try:
        parameters = inspect.signature(getattr(function, "py_func", function)).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{requirement}; got {function!r}, whose arguments cannot be determined."
        ) from None
    if any(
        parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY)
        for parameter in parameters
    ) or len(parameters) not in (
        min_arguments,
        len(arguments),
    ):
        signature = ", ".join(str(parameter) for parameter in parameters)
        raise ArgumentError(f"{requirement}; got {_format_name(function)}({signature}).")
