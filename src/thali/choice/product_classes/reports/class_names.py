"""Classes of products in words: "price <= 150 & zoom = yes"."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from thali.data.experiments.scheme import Scheme

_PRODUCT, _NO_CHOICE = "any product", "no choice"


def class_name(
    active: np.ndarray, member: np.ndarray, scheme: "Scheme", monotone: np.ndarray, never_missing: np.ndarray
) -> str:
    """What the products of a class have in common."""
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
