"""A likelihood of the user's own, written as plain functions."""

import hashlib
import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from thali._compile.jit import constants_digest, register_user_function
from thali._data.observed import Observed
from thali._model.model_files import NotSaved
from thali.errors import ArgumentError

from .. import operations
from ..weight_priors import EXPONENTIAL, is_positive_prior
from . import full_evaluation, term_sums
from .parameter_priors import (
    FLAT,
    NAMED,
    check_parameters,
    draw_by_slices,
    note_values,
    own_log_prior,
    start_of,
)

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "log_likelihood": ("data", "features", "weights"),
    "of_pair": ("data", "i", "j", "shared", "own_i", "own_j"),
    "of_option": ("data", "i", "own"),
    "simulate": ("data", "features", "weights", "rng"),
    "pointwise": ("data", "features", "weights"),
    "predict": ("data", "features", "weights"),
    "log_prior": ("data",),
}
MIN_ARGUMENTS = {"of_pair": 4}  # also accepted: own_i and own_j may be left out


@dataclass(frozen=True, repr=False)
class Custom:
    r"""A likelihood of your own, for data that are a NamedTuple of yours.

    Experimental: its arguments may change in a later version.

    Write plain Python functions of numbers and arrays; thali compiles them (numba). One function is
    enough: `log_likelihood`, which every move of the sampler then evaluates. Where the likelihood
    is a sum of terms that see the features through sums of weights,

    .. math:: \log P = \text{const} + \sum_i f_i(t_i) + \sum_{i<j} g_{ij}(t_{ij}, t_i, t_j), \qquad
        t_i = \sum_k w_k z_{ik}, \quad t_{ij} = \sum_k w_k z_{ik} z_{jk},

    give the terms as well: a move then evaluates only those that it touches, which is many times as
    fast. `thali.testing.check` compares the two, and the whole with the posterior.

    Parameters
    ----------
    log_likelihood : function (data, features, weights) -> float
        Of all data. `features` is an array (options, K) of 0.0 and 1.0, K is 0 or more and the
        order of the features means nothing; `weights` (K,) are above 0, or of either sign under
        `weight_prior=Normal(...)`. Must be finite for every feature matrix.
    of_pair : function (data, i, j, shared) or (data, i, j, shared, own_i, own_j) -> float, optional
        The term g of the options i < j. `shared` is t_ij; `own_i` and `own_j` are t_i and t_j.
    of_option : function (data, i, own) -> float, optional
        The term f of the option i; `own` is t_i.
    simulate : function (data, features, weights, rng) -> data, optional
        New data of the same design, `data._replace(...)`, drawn with a numpy.random.Generator; not
        compiled. Only `sample_prior`, `posterior_predictive`, `thali.testing.calibrate` and
        `thali.testing.check` need it, the latter two to see whether `log_likelihood` is the density
        of what you have in mind.
    pointwise : function (data, features, weights) -> array, optional
        The log-likelihood of each observation, an array of any shape that sums to `log_likelihood`;
        not compiled. With it the posterior has the group `log_likelihood`, which leave-one-out
        validation needs (`arviz.loo`).
    predict : function (data, features, weights) -> array, optional
        What the model says of data, an array of the same shape for all features; not compiled.
        `model.predict` gives its posterior mean.
    parameters : mapping from name to prior, optional
        Fields of the data, single numbers, that are learned: `Normal(mean, sd)`, `HalfNormal(sd)`,
        `LogNormal(mean, sd)`, `Gamma(shape, rate)` or `Beta(a, b)` of `thali.likelihoods`. All
        functions see the data with their present values in these fields; the values of the data are
        where chains start.
    log_prior : function (data) -> float, optional
        Joint log prior of the parameters, added to the priors above, of which None then stands for
        none.

    Raises
    ------
    ArgumentError
        If something is not a function of these arguments.

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
    parameters: Mapping[str, Any] = field(
        default_factory=dict, hash=False
    )  # its keys are the names that samplers record
    log_prior: Callable[..., Any] | None = None

    unique = False  # no option has a fixed unique feature
    takes_signed_weights = True
    # of the weight prior: for smaller shapes a difference of sums loses tiny weights
    least_shape: ClassVar[float] = 0.5
    tempers = False
    approximate = None  # chains know no other likelihood by which to find their start

    def __post_init__(self) -> None:
        for name, arguments in ARGUMENTS.items():
            function = getattr(self, name)
            if (function is not None or name == "log_likelihood") and not isinstance(
                function, NotSaved
            ):
                _check_signature(name, function, arguments, MIN_ARGUMENTS.get(name, len(arguments)))
        check_parameters(self.parameters, self.log_prior)

    def __repr__(self) -> str:
        shown = [_name_of(self.log_likelihood)]
        shown += [
            f"{name}={_name_of(getattr(self, name))}"
            for name in list(ARGUMENTS)[1:]
            if getattr(self, name)
        ]
        shown += [f"parameters={dict(self.parameters)!r}"] if self.parameters else []
        return f"Custom({', '.join(shown)})"

    def observed(self, data: Any) -> Observed:
        """The data as models take them."""
        return data if isinstance(data, Observed) else Observed(data)

    def check(self, prior: Any, data: Any) -> None:
        """Raise DataError for data of another kind, and ArgumentError if functions were not saved
        with the model."""
        self.observed(data)
        if isinstance(self.log_likelihood, NotSaved):
            raise ArgumentError(
                "This model was loaded from a file, and files do not contain functions, such as"
                f" those of its likelihood {self!r}; pass the functions again with"
                " set_params(likelihood=...)."
            )

    def compiled(self, data: Any, weights: Any = EXPONENTIAL) -> Any:
        """The likelihood of the data, as the samplers read it, and a function that makes a chain's
        cache.

        The functions are tried out at weights from their prior.
        """
        from .validation import try_out

        self.check(None, data)
        observed = self.observed(data)
        start_of(self.parameters, observed.fields, self.log_prior)
        allocates = try_out(self, observed, weights)
        return self._made(observed, allocates, weights), (
            term_sums if self.terms else full_evaluation
        ).empty_cache

    def as_python(self, observed: Observed, weights: Any = EXPONENTIAL) -> Any:
        """The same without trying the functions out, for operations that are called as Python."""
        return self._made(observed, False, weights), (
            term_sums if self.terms else full_evaluation
        ).empty_cache

    def _made(self, observed: Observed, allocates: bool, weights: Any) -> Any:
        """The data and the priors of the parameters as the samplers read them."""
        signed = not is_positive_prior(weights)
        if not self.parameters:
            return self._class(allocates, signed)(observed.fields, observed.n_options)
        fields = observed.fields._replace(
            **{name: float(getattr(observed.fields, name)) for name in self.parameters}
        )
        coded = [
            (FLAT, 0.0, 1.0) if prior is None else prior.coded()
            for prior in self.parameters.values()
        ]
        kind, first, second = (np.array(each) for each in zip(*coded, strict=True))
        return self._class(allocates, signed, type(fields))(
            fields, observed.n_options, kind, first, second
        )

    @property
    def terms(self) -> str:
        """The names of the functions that give terms; empty if `log_likelihood` is alone."""
        return " and ".join(
            name for name in ("of_pair", "of_option") if getattr(self, name) is not None
        )

    def _class(self, allocates: bool, signed: bool, of_data: Any = None) -> Any:
        """The class by which the samplers know these functions, the same for the same ones."""
        key = (
            self.log_likelihood,
            self.of_pair,
            self.of_option,
            allocates,
            signed,
            of_data,
            *self.parameters,
            self.log_prior,
        )
        if key not in _CLASSES:
            source = self._source(allocates, signed, of_data)
            name = f"Custom_{source[:24]}"
            if not source:
                _CLASSES[key] = _class_of(self, allocates, signed, of_data, "Custom", False)
            else:  # functions that were defined once more are the same functions
                made = globals().get(name) or _class_of(
                    self, allocates, signed, of_data, name, True
                )
                _CLASSES[key] = globals()[name] = made
        return _CLASSES[key]

    def _source(self, allocates: bool, signed: bool, of_data: Any) -> str:
        """A hash of all that the class is made of, by which compiled code is found again; "" if
        there is none."""
        functions = (self.log_likelihood, self.of_pair, self.of_option, self.log_prior)
        digests = [
            "none" if function is None else constants_digest(function) for function in functions
        ]
        if "" in digests:
            return ""
        fields = () if of_data is None else of_data._fields
        return hashlib.sha256(
            repr((digests, allocates, signed, fields, tuple(self.parameters))).encode()
        ).hexdigest()

    def at(self, data: Any, values: Mapping[str, float]) -> Any:
        """The data of the user with these values of the parameters."""
        return data._replace(**{name: float(values[name]) for name in self.parameters})

    def held_to(self, data: Any) -> "Custom":
        """The likelihood itself: no prior of it depends on the data."""
        return self

    def prior_parameters(
        self, data: Any, weights: Any, rng: np.random.Generator
    ) -> dict[str, float]:
        """The parameters from their priors."""
        if self.log_prior is not None:
            raise ArgumentError(
                f"Draws from the prior require priors that can be sampled ({NAMED}); log_prior"
                " only defines a density. Use such priors instead of log_prior."
            )
        return {name: prior.draw(rng) for name, prior in self.parameters.items()}

    def log_prior_of_parameters(self, own: Any, data: Any, weights: Any) -> dict[str, np.ndarray]:
        """Log prior densities of the parameters, draw by draw; what `log_prior` adds is not in
        them."""
        return {
            name: p.log_density(own[name]) for name, p in self.parameters.items() if p is not None
        }

    def new_data(self, columns: Any, parameters: Any, data: Any, rng: np.random.Generator) -> Any:
        """Data of the same design, as `simulate` draws them at one draw's features and weights."""
        from .delta_checks import as_seen
        from .simulated_data import SimulatedData
        from .validation import called

        if self.simulate is None or isinstance(self.simulate, NotSaved):
            raise ArgumentError(
                "Simulating data requires a function simulate(data, features, weights, rng); pass"
                " it to Custom(..., simulate=...)."
            )
        owners, weights = columns.dense(0, 1)
        features, weights = owners[0].T.astype(float), weights[0]
        old = self.observed(data).original
        new = Observed(
            self.simulate(self.at(old, parameters), features.copy(), weights.copy(), rng)
        )
        found = called(
            "log_likelihood", self.log_likelihood, new.fields, as_seen(features), weights
        )
        fields = new.fields._asdict()
        kept = {
            f"data.{name}": np.asarray(each)
            for name, each in fields.items()
            if name not in self.parameters
        }
        return SimulatedData(
            self.at(new.original, {name: getattr(old, name) for name in self.parameters}),
            kept,
            found,
        )

    def posterior_part(self, columns: Any, extra: Any, data: Any, shape: Any, dense: Any) -> Any:
        """The part of the posterior tree about the data: the data, and the log-likelihood of each
        if it is known."""
        from .custom_data import build_custom_part, compute_pointwise, depends_on_weights

        observed = self.observed(data)
        sees_single = bool(operations.sees_single(self.as_python(observed)[0]))
        part = build_custom_part(
            observed,
            sees_single,
            tuple(self.parameters),
            depends_on_weights(self, observed, columns, extra),
        )
        if self.pointwise is None or isinstance(self.pointwise, NotSaved) or not dense:
            return part
        return replace(part, pointwise=compute_pointwise(self, observed, columns, shape, extra))


_CLASSES: dict[tuple[Any, ...], Any] = {}


def _class_of(
    custom: Custom, allocates: bool, signed: bool, of_data: Any, name: str, is_known: bool
) -> Any:
    """A NamedTuple class with the operations that follow from the functions."""
    own = ["kind", "first", "second"] if custom.parameters else []
    cls: Any = namedtuple(name, ["data", "n", *own], module=__name__)
    cls.source = is_known
    cls.allocates = allocates
    for operation, answer in (term_sums if custom.terms else full_evaluation).ANSWERS.items():
        operation.register(cls)(answer)
    term_sums.has_signed_sums.register(cls)(term_sums.yes if signed else term_sums.no)
    log_likelihood = register_user_function(custom.log_likelihood, inline=False)
    term_sums.whole.register(cls)(
        lambda likelihood, features, weights: log_likelihood(likelihood.data, features, weights)
    )
    if custom.terms:
        _register_terms(cls, custom)
    if custom.parameters:
        _register_parameters(cls, custom, of_data)
    return cls


def _register_parameters(cls, custom: Custom, of_data: Any) -> None:
    names = list(custom.parameters)
    term_sums.start.register(cls)(
        lambda likelihood: [getattr(likelihood.data, name) for name in names]
    )
    fields = [
        f"c.parameters[{names.index(name)}]" if name in names else f"likelihood.data.{name}"
        for name in of_data._fields
    ]
    rest = "likelihood.n, likelihood.kind, likelihood.first, likelihood.second"
    # compiled code knows no _replace
    code = f"lambda likelihood, c: cls(of_data({', '.join(fields)}), {rest})"
    term_sums.seen.register(cls)(eval(code, {"__name__": __name__, "cls": cls, "of_data": of_data}))
    operations.draw_parameters.register(cls)(draw_by_slices)
    operations.record_parameters.register(cls)(note_values)
    if custom.log_prior is not None:
        log_prior: Any = register_user_function(custom.log_prior, inline=True)
        own_log_prior.register(cls)(lambda likelihood: log_prior(likelihood.data))


def _register_terms(cls, custom: Custom) -> None:
    of_pair: Any = custom.of_pair and register_user_function(custom.of_pair, inline=True)
    of_option: Any = custom.of_option and register_user_function(custom.of_option, inline=True)
    term_sums.sees_pairs.register(cls)(term_sums.yes if of_pair else term_sums.no)
    sees_own = of_pair and len(inspect.signature(_plain(of_pair)).parameters) == 6
    term_sums.sees_own.register(cls)(term_sums.yes if sees_own else term_sums.no)
    # shared sums do not depend on a feature that only one option has
    operations.sees_single.register(cls)(term_sums.yes if sees_own or of_option else term_sums.no)
    if of_option:
        term_sums.of_option.register(cls)(
            lambda likelihood, i, own: of_option(likelihood.data, i, own)
        )
    else:
        term_sums.of_option.register(cls)(lambda likelihood, i, own: 0.0)
    if sees_own:
        term_sums.of_pair.register(cls)(
            lambda likelihood, i, j, shared, own_i, own_j: of_pair(
                likelihood.data, i, j, shared, own_i, own_j
            )
        )
    elif of_pair:
        term_sums.of_pair.register(cls)(
            lambda likelihood, i, j, shared, own_i, own_j: of_pair(likelihood.data, i, j, shared)
        )
    else:
        term_sums.of_pair.register(cls)(lambda likelihood, i, j, shared, own_i, own_j: 0.0)


def _plain(function: Any) -> Any:
    return getattr(function, "py_func", function)


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", repr(function))


def _check_signature(name: str, function: Any, arguments: tuple[str, ...], fewest: int) -> None:
    wanted = f"{name} must be a function of ({', '.join(arguments)})"
    if fewest < len(arguments):
        wanted += f" or ({', '.join(arguments[:fewest])})"
    if not callable(function):
        raise ArgumentError(f"{wanted}; got {function!r}.")
    try:
        parameters = inspect.signature(_plain(function)).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{wanted}; got {function!r}, whose arguments cannot be determined."
        ) from None
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in parameters) or len(
        parameters
    ) not in (
        fewest,
        len(arguments),
    ):
        got = ", ".join(str(p) for p in parameters)
        raise ArgumentError(f"{wanted}; got {_name_of(function)}({got}).")
