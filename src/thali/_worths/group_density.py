"""Posterior density of worths in several parts of the data, which vary around common worths."""

import numpy as np

from thali._inference.numerics.bordered import Bordered

from .density import DRIFT, WORTHS, Density, DistinctComparisons, Spreads, diagonal_blocks


class GroupDensity(Density):
    r"""The density of log worths L of options in parts, and of the common ones m.

    .. math:: L_{gi} \sim \mathrm{Normal}(m_i, \delta^2), \qquad m_i \sim \mathrm{Normal}(0, s^2)

    log nu and the coefficients of covariates are common. The number of a row's period is that of
    its part, and the standard deviation delta replaces that of the drift, whose prior it has. A
    point contains m behind all else.
    """

    def __init__(self, rows: DistinctComparisons, n_options: int, n_parts: int) -> None:
        super().__init__(rows, n_options, 0, np.ones(n_parts - 1))
        self.common = slice(self.size, self.size + n_options)
        self.size += n_options
        self.is_free = np.ones(self.size, bool)
        self.spread_kinds = WORTHS, DRIFT

    def entry_worths(self, points: np.ndarray) -> np.ndarray:
        return points[self.common]

    def deviations(self, points: np.ndarray) -> np.ndarray:
        """Return log worths minus common log worths, (n_parts, n_options, n_points)."""
        return self.worths_by_period(points) - points[self.common]

    def sum_of_squares(self, points: np.ndarray, k: int) -> np.ndarray:
        if k == DRIFT:
            return (self.deviations(points) ** 2).sum(axis=(0, 1))
        return (points[self.common] ** 2).sum(axis=0)

    def count_spread_coordinates(self, k: int) -> int:
        if k == DRIFT:
            return self.n_options * self.n_periods
        return self.n_options

    def scale_coordinates(self, points: np.ndarray, k: int, factor: np.ndarray) -> np.ndarray:
        """Return points with worths or deviations times a factor."""
        points = super().scale_coordinates(points, k, factor)
        if k == WORTHS:
            points[self.common] *= factor
        return points

    def _add_worths_slope(self, gradient: np.ndarray, points: np.ndarray, spreads: Spreads) -> None:
        """Add the log prior's gradient by deviations and common worths."""
        pull = self.deviations(points) / spreads.drift**2
        gradient[self.worths] -= pull.reshape(-1, points.shape[1])
        gradient[self.common] += pull.sum(axis=0) - points[self.common] / spreads.worths**2

    def prior_curvature(self, spreads: Spreads) -> Bordered:
        """Return the negative Hessian of the log prior, as a bordered matrix."""
        parts, n, precision = self.n_periods, self.n_options, float(spreads.drift) ** -2.0
        border, coordinates = (
            np.zeros((parts * n, self.size - self.worths.stop)),
            np.arange(parts * n),
        )
        border[coordinates, self.common.start - self.worths.stop + coordinates % n] = -precision
        common_precisions = np.full(n, parts * precision + float(spreads.worths) ** -2.0)
        corner = np.diag(np.append(self._prior_precisions(spreads), common_precisions))
        return Bordered(
            diagonal_blocks(np.full((parts, n), precision)),
            np.zeros((parts - 1, n)),
            border,
            corner,
        )
