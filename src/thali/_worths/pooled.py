"""The posterior density of worths in several parts of the comparisons, such as languages, about common ones."""

from collections.abc import Callable

import numpy as np

from thali._inference.numerics.bordered import Bordered

from .density import ComparisonRows, Density, Spreads, diagonals


class GroupDensity(Density):
    r"""The density of log worths L of options in parts, and of the log m of common ones: the worths of groups that are
    "similar" (`EliminationByAspects(people=th.people.Groups("similar"))`), but for the prior of s.

    .. math::
        e^{L_{gi}} = e^{m_i} r_{gi}, \qquad e^{m_i} \sim \mathrm{Gamma}(1, 1), \qquad
        r_{gi} \sim \mathrm{Gamma}(\kappa, \kappa), \qquad \kappa = s^{-2}, \quad s \sim \mathrm{HalfNormal}(.5)

    nu and the coefficients of covariates are common. The number of a row's period is that of its part, and s takes the
    place of the drift, whose prior it has: that of those groups hardly lets parts be as alike as many comparisons may
    show. A point holds m behind all else.
    """

    is_normal = False

    def __init__(self, rows: ComparisonRows, n_options: int, n_parts: int) -> None:
        super().__init__(rows, n_options, 0, np.ones(n_parts - 1), np.zeros(n_options, np.int64))
        self.common = slice(self.size, self.size + n_options)
        self.size += n_options
        self.is_free = np.ones(self.size, bool)

    def with_counts(self, wins: np.ndarray, losses: np.ndarray, tied: np.ndarray) -> "GroupDensity":
        """The density that other counts leave."""
        return GroupDensity(self.rows._replace(wins=wins, losses=losses, tied=tied), self.n_options, self.n_periods)

    def log_ratios(self, points: np.ndarray) -> np.ndarray:
        """log r (parts, options, points)."""
        return points[self.worths].reshape(self.n_periods, self.n_options, -1) - points[self.common]

    def log_priors(self, points: np.ndarray, spreads: Spreads) -> np.ndarray:
        common, kappa = points[self.common], spreads.drift**-2.0
        of_common = (common - np.exp(common)).sum(axis=0)
        return of_common + self._of_ratios(self.log_ratios(points), kappa) + self._of_others(points, spreads)

    def _of_ratios(self, log_ratios: np.ndarray, kappa: np.ndarray) -> np.ndarray:
        """The log prior of log r."""
        from scipy.special import gammaln

        known = kappa * np.log(kappa) - gammaln(kappa)
        count = self.n_periods * self.n_options
        return kappa * (log_ratios - np.exp(log_ratios)).sum(axis=(0, 1)) + count * known

    def add_prior_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        pull = spreads.drift**-2.0 * (1.0 - np.exp(self.log_ratios(points)))
        gradient[self.worths] += pull.reshape(-1, points.shape[1])
        gradient[self.common] += 1.0 - np.exp(points[self.common]) - pull.sum(axis=0)
        self._add_other_slopes(gradient, points, spreads)

    def prior_curvature(self, point: np.ndarray, spreads: Spreads) -> Bordered:
        periods, n = self.n_periods, self.n_options
        bend = spreads.drift**-2.0 * np.exp(self.log_ratios(point[:, None])[..., 0])
        border, places = np.zeros((periods * n, self.size - self.worths.stop)), np.arange(periods * n)
        border[places, self.common.start - self.worths.stop + places % n] = -bend.ravel()
        of_common = np.exp(point[self.common]) + bend.sum(axis=0)
        corner = np.diag(np.append(self._corner(point, spreads), of_common))
        return Bordered(diagonals(bend), np.zeros((periods - 1, n)), border, corner)

    def log_spread_given(self, points: np.ndarray, k: int) -> Callable[[np.ndarray], np.ndarray]:
        log_ratios = self.log_ratios(points)
        return lambda log: self.log_spread_prior(k, log) + self._of_ratios(log_ratios, np.exp(-2.0 * log))
