"""Classes of products in words: "price <= 150 & zoom = yes"."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from thali.data.experiment_scheme import Scheme

_PRODUCT, _NO_CHOICE = "any product", "no choice"


def class_name(
    active: np.ndarray, member: np.ndarray, scheme: "Scheme", monotone: np.ndarray, never_missing: np.ndarray
) -> str:
    """What the products of a class have in common.

    Parameters
    ----------
    active : bool array (L,)
    member : bool array (levels,)
        Levels of the attributes, one attribute after the other, in natural order.
    scheme : Scheme
        Names of attributes and levels.
    monotone : int array (L,)
        0 for a free attribute, whose levels are listed; thresholds are told of others.
    never_missing : bool array (L,)
        Attributes that every product has; of the others, levels are listed and not excluded.

    Returns
    -------
    str

    Example
    -------
    >>> from thali.data.experiment_scheme import Attribute, Scheme
    >>> price = Attribute("price", ("100", "150", "200"), "numbers")
    >>> zoom = Attribute("zoom", ("no", "yes"), "given")
    >>> scheme = Scheme("id", "task", None, "choice", (price, zoom))
    >>> held = np.array([True, True, False, False, True])
    >>> class_name(np.array([True, True]), held, scheme, np.array([-1, 1]), np.ones(2, bool))
    'price <= 150 & zoom = yes'
    """
    parts, begin = [], 0
    cuts = {attribute.name: attribute.cuts for attribute in scheme.attributes}
    for i, (name, levels) in enumerate(scheme.levels.items()):
        held = member[begin : begin + len(levels)]
        begin += len(levels)
        if not active[i]:
            continue
        if scheme.has_inside and i == 0:
            parts.append(_PRODUCT if held[1] else _NO_CHOICE)
        else:
            parts.append(f"{name} {_levels(held, levels, cuts.get(name, ()), monotone[i] != 0, never_missing[i])}")
    return " & ".join(parts) or "everything"


def _levels(held: np.ndarray, levels: tuple[str, ...], cuts: tuple[float, ...], ordered: bool, whole: bool) -> str:
    """A threshold where the levels have an order and the set is one end of it, else one level, or a list."""
    number, last = int(held.sum()), len(levels) - 1
    at_start, at_end = bool(held[:number].all()), bool(held[last + 1 - number :].all())
    if cuts and ordered and (at_start or at_end):
        return f"<= {_number(cuts[number - 1])}" if at_start else f"> {_number(cuts[last - number])}"
    names = [level for level, inside in zip(levels, held, strict=True) if inside]
    if number == 1:
        return f"= {names[0]}"
    if ordered and at_start:
        return f"<= {names[-1]}"
    if ordered and at_end:
        return f">= {names[0]}"
    if number == last and whole:
        return f"!= {next(level for level, inside in zip(levels, held, strict=True) if not inside)}"
    return f"in {{{', '.join(names)}}}"


def _number(cut: float) -> str:
    return np.format_float_positional(cut, trim="-")
