"""The posterior density of log worths and of the parameter of ties, with its first and second derivatives."""

from typing import NamedTuple

import numpy as np

from thali.data.pairs import PairedComparisons


class Density(NamedTuple):
    r"""The density of log worths :math:`u`, of which only differences count, and of the log :math:`\tau` of nu.

    .. math::
        \tilde p = (1 - \varepsilon) \frac{1}{1 + e^{u_j - u_i}} + \frac{\varepsilon}{2}, \qquad
        r = e^\tau \sqrt{\tilde p (1 - \tilde p)}, \qquad
        P(i), P(\text{tie}), P(j) = \frac{\tilde p, r, 1 - \tilde p}{1 + r}

    Gamma(1, 1) priors of all worths, whose sum tells nothing, leave a flat prior of their shares:

    .. math:: \log p(u, \tau) = \sum_i u_i - n \log \sum_i e^{u_i} + \tau - e^\tau

    A point holds u and, if there are ties, tau at its end; several points are rows.
    """

    first: np.ndarray  # (pairs,)
    second: np.ndarray
    wins: np.ndarray
    losses: np.ndarray
    tied: np.ndarray
    n_options: int
    lapse: float
    has_ties: bool
    has_prior: bool  # False: the likelihood alone

    @property
    def size(self) -> int:
        """Coordinates of a point."""
        return self.n_options + self.has_ties


class Local(NamedTuple):
    """The density at a point."""

    where: np.ndarray
    value: float
    gradient: np.ndarray
    curvature: np.ndarray  # minus the second derivatives; 0 along a common change of all log worths


def density_of(data: PairedComparisons, lapse: float, has_ties: bool, has_prior: bool = True) -> Density:
    """The density that comparisons leave, pairs with as many in a row; ties count only if `has_ties`."""
    tied = data.tied if has_ties else np.zeros(data.n_pairs)
    order = np.argsort(data.wins + data.losses + tied, kind="stable")
    first, second, wins, losses, tied = (
        each[order] for each in (data.first, data.second, data.wins, data.losses, tied)
    )
    return Density(first, second, wins, losses, tied, data.n_options, float(lapse), has_ties, has_prior)


def log_densities(density: Density, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The log of the density with its prior at each row, and the log-likelihood in it, without coefficients."""
    u, log_nu = points[:, : density.n_options], points[:, density.n_options :]
    found = log_likelihoods(density, points)
    top = u.max(axis=1)
    whole = top + np.log(np.exp(u - top[:, None]).sum(axis=1))
    of_worths = u.sum(axis=1) - density.n_options * whole
    return found + of_worths + (log_nu - np.exp(log_nu)).sum(axis=1), found


def log_likelihoods(density: Density, points: np.ndarray) -> np.ndarray:
    """The log-likelihood at each row, without coefficients."""
    from .sums import add_pairs

    u = np.ascontiguousarray(points[:, : density.n_options].T)
    log_nu = points[:, density.n_options :].T
    half, lapse = density.tied / 2.0, density.lapse
    found = log_nu.sum(axis=0) * density.tied.sum()
    if lapse == 0.0:
        own = _along(density.wins + half, density.first, density.second, density.n_options, 0.0)
        own += np.bincount(density.second, density.losses + half, density.n_options)
        found = found + own @ u
    nu = np.exp(log_nu[0]) if density.has_ties else np.zeros(u.shape[1])
    sides = density.first, density.second, density.wins + half, density.losses + half
    add_pairs(*sides, lapse, np.exp(u / 2.0), nu, np.empty_like(nu), found)
    return found


def local(density: Density, point: np.ndarray) -> Local:
    """Value, gradient and curvature at a point."""
    n, i, j = density.n_options, density.first, density.second
    u, log_nu = point[:n], point[n:]
    q, rest = _shares(u[i] - u[j])
    value = float(_terms(density, q, rest, log_nu).sum())
    base, scale = density.lapse / 2.0, 1.0 - density.lapse
    speed = scale * q * rest
    toward, away = speed / (scale * q + base), speed / (scale * rest + base)  # slopes of ln p and of -ln (1 - p)
    lean = rest - q
    bend_toward, bend_away = toward * (lean - toward), -away * (lean + away)  # of ln p and of ln (1 - p)
    slope = density.wins * toward - density.losses * away
    bend = density.wins * bend_toward + density.losses * bend_away
    gradient, curvature = np.zeros(len(point)), np.zeros((len(point), len(point)))
    if density.has_ties:
        total = density.wins + density.losses + density.tied
        ratio = _tie_ratio(density, q, rest, log_nu)
        share, tilt = ratio / (1.0 + ratio), (toward - away) / 2.0
        spread = total * share * (1.0 - share)
        slope = slope + (density.tied - total * share) * tilt
        bend = bend + (density.tied - total * share) * (bend_toward + bend_away) / 2.0 - spread * tilt**2
        gradient[n] = np.sum(density.tied - total * share)
        curvature[n, n] = spread.sum()
        curvature[n, :n] = curvature[:n, n] = _along(spread * tilt, i, j, n)
    gradient[:n] = _along(slope, i, j, n)
    curvature[i, j] = bend
    curvature[:n, :n] += curvature[:n, :n].T
    curvature[np.arange(n), np.arange(n)] = -_along(bend, i, j, n, 1.0)
    found = Local(point, value, gradient, curvature)
    return _with_prior(density, found) if density.has_prior else found


def _with_prior(density: Density, likelihood: Local) -> Local:
    """The density where the likelihood alone is that."""
    from scipy.special import logsumexp

    n, (point, value, gradient, curvature) = density.n_options, likelihood
    u = point[:n]
    whole = logsumexp(u)
    share = np.exp(u - whole)
    value += float(u.sum() - n * whole)
    gradient[:n] += 1.0 - n * share
    curvature[:n, :n] += n * (np.diag(share) - np.outer(share, share))
    if density.has_ties:
        nu = np.exp(point[n])
        value += float(point[n] - nu)
        gradient[n] += 1.0 - nu
        curvature[n, n] += nu
    return Local(point, value, gradient, curvature)


def _along(of_pairs: np.ndarray, i: np.ndarray, j: np.ndarray, n: int, sign: float = -1.0) -> np.ndarray:
    """The sum over the pairs of each option, those in which it stands second with that sign."""
    return np.bincount(i, of_pairs, n) + sign * np.bincount(j, of_pairs, n)


def _shares(difference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probability of the first without lapse, and that of the second, each with all its digits."""
    from scipy.special import expit

    return expit(difference), expit(-difference)


def _terms(density: Density, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray) -> np.ndarray:
    """The log-likelihood of each pair, the last axis."""
    from scipy.special import xlogy

    base, scale = density.lapse / 2.0, 1.0 - density.lapse
    found = xlogy(density.wins, scale * q + base) + xlogy(density.losses, scale * rest + base)
    if density.has_ties:
        ratio = _tie_ratio(density, q, rest, log_nu)
        total = density.wins + density.losses + density.tied
        found = found + xlogy(density.tied, ratio) - total * np.log1p(ratio)
    return found


def _tie_ratio(density: Density, q: np.ndarray, rest: np.ndarray, log_nu: np.ndarray) -> np.ndarray:
    """The odds of a tie."""
    base, scale = density.lapse / 2.0, 1.0 - density.lapse
    return np.exp(log_nu) * np.sqrt((scale * q + base) * (scale * rest + base))
