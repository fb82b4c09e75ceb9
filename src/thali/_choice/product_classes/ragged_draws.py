"""Recorded posterior draws of product classes, as ragged arrays."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray


MAX_CHAIN_DRAWS = 400  # of longer chains every second draw is kept, or every fourth, and so on


def choose_spacing(draws: int) -> int:
    """Return how far apart kept draws are, so that at most MAX_CHAIN_DRAWS remain."""
    spacing = 1
    while draws // spacing > MAX_CHAIN_DRAWS:
        spacing *= 2
    return spacing


class Particles(NamedTuple):
    """D draws (or particles) of product classes, equally many per group, as ragged arrays.

    The classes of draw d are rows first_class[d] to first_class[d + 1]; the features of person n in
    it are entries first_owned[d N + n] to first_owned[d N + n + 1]. Levels are in the natural order
    of the data.
    """

    group: np.ndarray  # (D,) chain, or group of particles, of a draw
    a: np.ndarray  # (D,) shape of the values
    sigma: np.ndarray  # (D,) share of it that is stable between tasks
    alpha: np.ndarray  # (D,) expected number of classes a person uses
    log_likelihood: np.ndarray  # (D,) of all tasks, lapse included
    lapse: float
    beta: float
    # (L + 1,) levels of attribute i are columns offset[i] to offset[i + 1] of `member`
    offset: np.ndarray
    monotone: np.ndarray  # (L,) 0 free, 1 increasing, -1 decreasing in natural order
    first_class: np.ndarray  # (D + 1,)
    active: np.ndarray  # (classes, L) bool
    member: np.ndarray  # (classes, levels) bool; all True for an inactive attribute
    # (classes,) -1 no monotone attribute is active, 0 better levels liked, 1 worse ones disliked
    polarity: np.ndarray
    n_owners: np.ndarray  # (classes,)
    n_negative: np.ndarray  # (classes,) owners who dislike it
    first_owned: np.ndarray  # (D N + 1,)
    owned_class: np.ndarray  # (features,) counted from 0 within the draw
    owned_sign: np.ndarray  # (features,) 0 liked, 1 disliked
    owned_log_theta: np.ndarray  # (features,)

    @property
    def n_draws(self) -> int:
        """Number of draws D over all groups."""
        return len(self.group)

    @property
    def n_groups(self) -> int:
        """Number of chains, or of groups of particles."""
        return int(self.group.max(initial=0)) + 1

    @property
    def n_respondents(self) -> int:
        """Number of respondents N."""
        return (len(self.first_owned) - 1) // max(1, self.n_draws)

    def to_dataset(self) -> "xarray.Dataset":
        """Return the draws as an xarray dataset of plain arrays."""
        import xarray

        variables = {name: (dims, getattr(self, name)) for name, dims in _DIMENSIONS.items()}
        for name in _MASKS:
            variables[name] = _DIMENSIONS[name], getattr(self, name).astype(np.int8)
        return xarray.Dataset(
            variables, attrs={"lapse": float(self.lapse), "beta": float(self.beta)}
        )


_DIMENSIONS = {
    "group": ("draw_of_all",),
    "a": ("draw_of_all",),
    "sigma": ("draw_of_all",),
    "alpha": ("draw_of_all",),
    "log_likelihood": ("draw_of_all",),
    "offset": ("attribute_end",),
    "monotone": ("attribute",),
    "first_class": ("draw_end",),
    "active": ("class", "attribute"),
    "member": ("class", "level"),
    "polarity": ("class",),
    "n_owners": ("class",),
    "n_negative": ("class",),
    "first_owned": ("person_end",),
    "owned_class": ("owned",),
    "owned_sign": ("owned",),
    "owned_log_theta": ("owned",),
}
_MASKS = ("active", "member")  # stored as int8, because netCDF has no booleans


def read_particles(group: "xarray.Dataset | Mapping[Any, Any]") -> Particles:
    """Return the draws that `Particles.to_dataset` stored."""
    arrays = {name: np.array(group[name]) for name in _DIMENSIONS}
    for name in _MASKS:
        arrays[name] = arrays[name].astype(bool)
    attributes: Any = getattr(group, "attrs", {})
    return Particles(lapse=float(attributes["lapse"]), beta=float(attributes["beta"]), **arrays)


def concatenate_draws(parts: Sequence[Particles]) -> Particles:
    """Concatenate recorded draws of the same data and model."""
    if len(parts) == 1:
        return parts[0]
    first_part = parts[0]
    end_fields = ("first_class", "first_owned")
    shared_fields = ("lapse", "beta", "offset", "monotone")
    joined_fields = {
        name: np.concatenate([getattr(p, name) for p in parts])
        for name in Particles._fields
        if name not in (*end_fields, *shared_fields)
    }
    for name in end_fields:
        end_pieces = [np.zeros(1, np.int64)]
        n_before = 0
        for p in parts:
            part_ends = getattr(p, name)
            end_pieces.append(part_ends[1:] + n_before)
            n_before += part_ends[-1]
        joined_fields[name] = np.concatenate(end_pieces)
    return Particles(**joined_fields, **{name: getattr(first_part, name) for name in shared_fields})
