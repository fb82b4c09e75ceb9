"""How tastes come from numbers that are normally distributed among people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thali.errors import Argument, ArgumentError

from ..coding import Coding
from ..logit import DIRECTIONS

if TYPE_CHECKING:
    import xarray

    from thali.data.experiments import ChoiceExperiment
    from thali.people.columns import Covariates


class TasteScale(NamedTuple):
    r"""Coefficients of utility, b, from normally distributed numbers beta.

    .. math:: b = C f(\beta), \qquad f_k(\beta) = \beta_k \text{ or } \pm e^{\beta_k}

    A number has one coefficient, its slope; the levels of an attribute with a sign have a step each, and C adds those
    up to and including that level.
    """

    names: tuple[str, ...]  # (p,) of beta, such as "brand[sony]", "ln -price", "ln zoom[3] over zoom[2]"
    sign: np.ndarray  # (p,) 1.0, -1.0, or 0.0: any
    steps: np.ndarray  # (p, p) C
    scale: np.ndarray  # (p,) by which columns are divided in the chains

    def tastes(self, normal: np.ndarray) -> np.ndarray:
        """Coefficients of utility (..., p), in the units of the attributes."""
        if not self.sign.any():
            return normal
        with np.errstate(over="ignore"):  # of numbers that have no sign, which may have any size
            signed = np.where(self.sign == 0.0, normal, self.sign * np.exp(normal))
        return signed @ self.steps.T

    def in_units(self, normal: np.ndarray) -> np.ndarray:
        """Means of numbers (..., p) of the chains, in the units of the attributes."""
        return np.where(self.sign == 0.0, normal / self.scale, normal - np.log(self.scale))

    def factors(self) -> np.ndarray:
        """What a difference of such numbers is divided by in the units of the attributes, shape (p,)."""
        return np.where(self.sign == 0.0, self.scale, 1.0)


def taste_scale(coding: Coding, data: "ChoiceExperiment", signs: Mapping[str, str]) -> TasteScale:
    """The scale of tastes whose `signs`, attribute -> direction, are given."""
    p = len(coding.names)
    names, sign, steps = list(coding.names), np.zeros(p), np.eye(p)
    first = 0
    for (attribute, levels), part, seen in zip(data.levels.items(), coding.parts, coding.seen, strict=True):
        columns = part.table.shape[1] - int(f"{attribute}[missing]" in coding.names)
        if attribute in signs and part.numbers is not None:
            way = DIRECTIONS[signs[attribute]] * _order_of_numbers(attribute, part.numbers, levels)
            for k in range(first, first + columns):
                sign[k], names[k] = way, f"ln {'-' if way < 0 else ''}{coding.names[k]}"
        elif attribute in signs:
            way = DIRECTIONS[signs[attribute]]
            shown = [level for level, is_seen in zip(levels, seen[:-1], strict=True) if is_seen]
            for k in range(columns):
                steps[first + k, first : first + k + 1] = 1.0
                over = (shown[k], shown[k + 1])[::way]
                sign[first + k] = way
                names[first + k] = f"ln {attribute}[{over[1]}] over {attribute}[{over[0]}]"
        first += part.table.shape[1]
    return TasteScale(tuple(names), sign, steps, coding.scale)


def _order_of_numbers(attribute: str, numbers: np.ndarray, levels: tuple[str, ...]) -> int:
    """1 or -1: whether the levels, from worst to best, stand by increasing or decreasing numbers."""
    ways = np.unique(np.sign(np.diff(numbers)))
    if len(ways) > 1:
        raise ArgumentError(
            Argument("signs"),
            f": a slope has one sign, and the levels of {attribute!r} are declared in the order {', '.join(levels)}, "
            "which is not that of their numbers; take the attribute out of ",
            Argument("linear"),
            " or declare its levels by size.",
        )
    return int(ways[0]) if len(ways) else 1


class Population:
    r"""The distribution of tastes among people in every draw.

    .. math:: b = C f(\beta), \qquad \beta \sim N(\mu + \Gamma^T z, \Sigma)

    The covariates z of a new person are those of somebody of the data.
    """

    def __init__(self, posterior: "xarray.Dataset", scale: TasteScale, covariates: "Covariates") -> None:
        p = len(scale.names)
        self.scale, self.people = scale, len(covariates.matrix)
        self._means = posterior["mean"].values.reshape(-1, p)
        self._covariances = posterior["covariance"].values.reshape(-1, p, p)
        self._off = covariates.matrix[:, 1:] * covariates.sd
        if covariates.names:
            self._effects = posterior["covariate_effect"].values.reshape(-1, len(covariates.names), p)

    @property
    def draws(self) -> int:
        """Number of draws, of all chains."""
        return len(self._means)

    def tastes(self, draws: np.ndarray, noise: np.ndarray, like: np.ndarray) -> np.ndarray:
        """Tastes of new people.

        Parameters
        ----------
        draws : int array (D,)
            Numbers of draws.
        noise : array (D or 1, M, p)
            Standard normal numbers.
        like : int array (D or 1, M)
            Whose covariates each has.

        Returns
        -------
        array (D, M, p)
        """
        factors = np.linalg.cholesky(self._covariances[draws])
        normal = self._means[draws, None] + noise @ np.swapaxes(factors, 1, 2)
        if self._off.shape[1]:
            normal = normal + self._off[like] @ self._effects[draws]
        return self.scale.tastes(normal)
