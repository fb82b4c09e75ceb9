"""The models of the command line: their names, their data, and the options that only some of them have."""

from typing import NamedTuple

from thali.data.check import suggest
from thali.errors import ArgumentError


class Kind(NamedTuple):
    """A model as the command line knows it."""

    names: tuple[str, ...]  # the first is the one that is told
    data: str  # what it is fitted to, as `datasets.catalogue` calls it
    features: str  # its argument for the features; "" if it has none
    options: tuple[str, ...]  # that no other model has
    shared: tuple[str, ...]  # that some other model has, too, but not every one

    def __str__(self) -> str:
        return self.names[0]


# Options of `thali fit` that take several values, with or without being repeated: name=value.
SEVERAL = ("monotone", "levels", "bins")

_LATENT = ("alpha", "tempering", "tree", "leaf_length", "sampler")
_CLASSES = ("target", "method", "folds")
_COLUMNS = ("respondent", "task", "alternative", "chosen")
CHOICES = Kind(
    ("elimination-by-aspects", "elimination"),
    "paired comparisons",
    "aspects",
    ("aspects", "unique"),
    (*_LATENT, *_COLUMNS, "lapse", "method"),
)
SIMILARITIES = Kind(
    ("additive-clustering", "additive"),
    "similarities",
    "features",
    ("features", "sigma", "weight_prior", "constant", "symmetrize", "estimate"),
    _LATENT,
)
PLACKETT_LUCE = Kind(("plackett-luce",), "covariates and classes", "", ("a", "transform"), (*_CLASSES, "sampler"))
SPARSE_LOGIT = Kind(("sparse-logit",), "covariates and classes", "", (), _CLASSES)
CLASSIFIERS = (PLACKETT_LUCE, SPARSE_LOGIT)
_TABLE = ("attributes", "levels", "none", "bins")
PRODUCT_CLASSES = Kind(
    ("product-classes",),
    "choice experiments",
    "",
    (*_TABLE, "monotone", "groups", "particles", "final_sweeps", "checkpoint", "market"),
    (*_COLUMNS, "alpha", "lapse", "method"),
)
KINDS = (CHOICES, SIMILARITIES, *CLASSIFIERS, PRODUCT_CLASSES)


def kind_named(name: str) -> Kind:
    """The model of that name; capitals, hyphens and underscores do not matter.

    Raises
    ------
    ArgumentError
        If there is none.

    Example
    -------
    >>> str(kind_named("Additive"))
    'additive-clustering'
    """
    known = {_plain(each): kind for kind in KINDS for each in kind.names}
    if _plain(name) in known:
        return known[_plain(name)]
    told = [each for kind in KINDS for each in kind.names]
    raise ArgumentError(f"`--model` must be {' or '.join(told)}; got {name!r}.{suggest(name, told)}")


def kind_for(data: str) -> Kind:
    """The model of that kind of data."""
    return next(kind for kind in KINDS if kind.data == data)


def refuse_options_of_others(kind: Kind, given: set[str], data_name: str | None = None) -> None:
    """Raise an error if an option was typed that belongs to another model.

    Parameters
    ----------
    kind : Kind
        The model that will be fitted.
    given : set of str
        Names of the options that were typed, as Python has them.
    data_name : str, optional
        The data by which the model was chosen; None if it was named.

    Raises
    ------
    ArgumentError
        Naming the first such option.

    Example
    -------
    >>> refuse_options_of_others(SIMILARITIES, {"draws", "a"})
    Traceback (most recent call last):
    thali.errors.ArgumentError: `--a` belongs to plackett-luce, not to additive-clustering; leave it out.
    """
    for other in KINDS:
        for option in (*other.options, *other.shared):
            if option in given and option not in (*kind.options, *kind.shared):
                owners = " and ".join(str(each) for each in KINDS if option in (*each.options, *each.shared))
                raise ArgumentError(
                    f"`{_spelled(option)}` belongs to {owners}, {_instead(kind, other, option, data_name)}."
                )


def _instead(kind: Kind, other: Kind, option: str, data_name: str | None) -> str:
    mended = f"take `--{kind.features}`" if kind.features and option == other.features else "leave it out"
    if data_name is None:
        return f"not to {kind}; {mended}"
    if other in CLASSIFIERS:
        mended += ", or name the column of classes with `--target`"
    elif other is PRODUCT_CLASSES:
        mended += f", or say --model {other} if they are {other.data}"
    elif kind is CHOICES:
        mended += f", or say --model {other.names[-1]} if they are {other.data}"
    return f"but {data_name} reads as {kind.data}; {mended}"


def _spelled(option: str) -> str:
    """An option as it is typed."""
    return f"--{option}/--no-{option}" if option in ("unique", "constant") else "--" + option.replace("_", "-")


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
