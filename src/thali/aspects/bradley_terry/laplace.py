"""Draws of log worths: Laplace's approximation of their density, corrected where it is not near enough."""

import numpy as np

from .density import Density, log_densities
from .mode import fixed_scale, highest

SYMMETRIC = 0.5  # standard deviation of the log odds up to which turning alone corrects rank probabilities to .01
STEPS, MOST, LENGTH = 10, 20, 0.7  # of the corrections elsewhere: so many for each unit of that, at most, how long
FEW = 20  # options and nu; of so few the corrections are always as many as can be, since they take no time
_PILOT = 200  # draws by which that is decided


class NormalWorths:
    r"""Draws from a density p of log worths and, if there are ties, of the log of nu.

    A deviation from the highest point m of the density is normal with minus the second derivatives there as precision
    H. Each is kept or turned into its opposite by the density itself,

    .. math:: h \sim \mathrm{Normal}(0, H^{-1}), \qquad
        P(m + h) = \frac{p(m + h)}{p(m + h) + p(m - h)} = 1 - P(m - h),

    which gives the draws the skewness of p to first order. Where :math:`\ln p(m + h) - \ln p(m - h)` has a standard
    deviation s above .5, min(10 s, 20) Metropolis steps of each draw follow, which leave p invariant, and 20 of them
    wherever there are 20 coordinates or fewer:

    .. math:: h' = \sqrt{1 - \beta^2} h + \beta \xi, \qquad \xi \sim \mathrm{Normal}(0, H^{-1}), \qquad \beta = .7

    Without a prior the density is a likelihood, and only `mode` and `deviations` mean something: the estimate and its
    errors in large samples, Normal(0, H⁻¹).

    References
    ----------
    Pozza, Durante & Szabo (2024), Skew-symmetric approximations of posterior distributions. Cotter, Roberts, Stuart &
    White (2013), MCMC methods for functions.
    """

    def __init__(self, density: Density) -> None:
        from scipy.linalg import cholesky

        self.density = density
        found = highest(density)
        self.mode = found.where
        self._root = cholesky(fixed_scale(found.curvature, density.n_options))  # upper: H = R'R
        if density.has_prior:
            away = self.deviations(np.random.default_rng(0), _PILOT)
            odds = log_densities(density, self.mode + away)[0] - log_densities(density, self.mode - away)[0]
            asymmetry = float(np.sqrt(np.mean(odds**2)))
            wanted = round(STEPS * asymmetry) if asymmetry > SYMMETRIC else 0
            self.steps = MOST if density.size <= FEW else min(MOST, wanted)

    def draws(self, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
        """So many points, the log worths of each with a sum of 0, and their log-likelihoods without coefficients."""
        here = self.deviations(rng, count)
        value, likelihood = log_densities(self.density, self.mode + here)
        there, mirrored = log_densities(self.density, self.mode - here)
        turned = rng.random(count) * (1.0 + np.exp(there - value)) > 1.0
        here[turned], value[turned], likelihood[turned] = -here[turned], there[turned], mirrored[turned]
        value += self._distance(here)
        for _ in range(self.steps):
            new = np.sqrt(1.0 - LENGTH**2) * here + LENGTH * self.deviations(rng, count)
            there, of_new = log_densities(self.density, self.mode + new)
            there += self._distance(new)
            taken = -rng.standard_exponential(count) < there - value
            here[taken], value[taken], likelihood[taken] = new[taken], there[taken], of_new[taken]
        return self.mode + here, likelihood

    def deviations(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Normal deviations from the mode (draws, coordinates)."""
        from scipy.linalg import solve_triangular

        normal = rng.standard_normal((count, self.density.size))
        found = solve_triangular(self._root, normal.T, check_finite=False).T
        n = self.density.n_options
        found[:, :n] -= found[:, :n].mean(axis=1, keepdims=True)
        return found

    def _distance(self, away: np.ndarray) -> np.ndarray:
        """Minus the log of their normal density, without its constant."""
        return 0.5 * np.square(away @ self._root.T).sum(axis=1)
