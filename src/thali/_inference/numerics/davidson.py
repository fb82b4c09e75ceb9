"""The log-likelihood of wins, losses and ties given the log odds of the first of two, with lapse
and ties."""

from typing import NamedTuple, Protocol

import numpy as np


class ChoiceCounts(Protocol):
    """Whatever holds how often either of two was chosen, and neither."""

    @property
    def wins(self) -> np.ndarray:
        """(rows,), or rows by points."""
        ...

    @property
    def losses(self) -> np.ndarray:
        """The same."""
        ...

    @property
    def tied(self) -> np.ndarray:
        """The same."""
        ...

    @property
    def lapse(self) -> float:
        """The share of choices at random."""
        ...

    @property
    def has_ties(self) -> bool:
        """Whether ties are an outcome."""
        ...


class RowDerivatives(NamedTuple):
    """Derivatives of the log-likelihood of each row."""

    slope: np.ndarray  # by the log odds
    bend: np.ndarray  # twice by them
    of_nu: np.ndarray  # by the log of nu; these three are 0 without ties
    spread: np.ndarray  # minus the second derivative by it
    mixed: np.ndarray  # minus that by both


TINY = 1e-300  # stands for a probability of 0


def shares(difference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of the first without lapse, and that of the second, each with all its
    digits."""
    # one exponential, which takes a fifth of the time of two `expit`
    small = np.exp(-np.abs(difference))
    large = 1.0 / (1.0 + small)
    small *= large
    is_first = difference >= 0.0
    return np.where(is_first, large, small), np.where(is_first, small, large)


def terms(rows: ChoiceCounts, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of each row, without coefficients; `log_nu` is empty without
    ties."""
    base, scale = rows.lapse / 2.0, 1.0 - rows.lapse
    sides = (rows.wins, q), (rows.losses, rest)
    first, second = (
        count * np.log(np.maximum(scale * share + base, TINY)) for count, share in sides
    )
    if not rows.has_ties:
        return first + second
    ratio = tie_ratio(rows, q, rest, log_nu)
    total = rows.wins + rows.losses + rows.tied
    return first + second + rows.tied * np.log(np.maximum(ratio, TINY)) - total * np.log1p(ratio)


def tie_ratio(
    rows: ChoiceCounts, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray
) -> np.ndarray:
    """The odds of a tie."""
    base, scale = rows.lapse / 2.0, 1.0 - rows.lapse
    return np.exp(log_nu) * np.sqrt((scale * q + base) * (scale * rest + base))


def slopes(
    rows: ChoiceCounts, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray
) -> RowDerivatives:
    """The derivatives of the log-likelihood of each row."""
    none = np.zeros_like(q)
    if not rows.lapse and not rows.has_ties:
        weight = (rows.wins + rows.losses) * q * rest
        return RowDerivatives(rows.wins * rest - rows.losses * q, -weight, none, none, none)
    seen, seen_rest = _without_lapse(rows, q), _without_lapse(rows, rest)
    toward, away = rest * seen, q * seen_rest  # slopes of ln p and of -ln (1 - p)
    bend_toward = toward * (rest * (1.0 - seen) - q)  # of ln p
    bend_away = away * (q * (1.0 - seen_rest) - rest)  # of ln (1 - p)
    slope = rows.wins * toward - rows.losses * away
    bend = rows.wins * bend_toward + rows.losses * bend_away
    if not rows.has_ties:
        return RowDerivatives(slope, bend, none, none, none)
    total = rows.wins + rows.losses + rows.tied
    ratio = tie_ratio(rows, q, rest, log_nu)
    share, tilt = ratio / (1.0 + ratio), (toward - away) / 2.0
    spread, more = total * share * (1.0 - share), rows.tied - total * share
    bend = bend + more * (bend_toward + bend_away) / 2.0 - spread * tilt**2
    return RowDerivatives(slope + more * tilt, bend, more, spread, spread * tilt)


def _without_lapse(rows: ChoiceCounts, q: np.ndarray) -> np.ndarray:
    """Return the share of an outcome's probability that is no lapse."""
    scaled = (1.0 - rows.lapse) * q
    return scaled / (scaled + rows.lapse / 2.0) if rows.lapse else np.ones_like(q)
