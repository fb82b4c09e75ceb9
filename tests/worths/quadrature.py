"""Integrals of small densities of worths by sums over grids, exact to many digits."""

import numpy as np
from scipy.special import expit, logsumexp, ndtr
from worth_problems import build_spreads


def axis(sd, finest):
    """Build points from -6 to 6 standard deviations, with steps fit for smooth functions."""
    step = min(0.8 * sd, finest)
    return step * np.arange(-np.ceil(6.0 * sd / step), np.ceil(6.0 * sd / step) + 1)


def evaluate_grid(density, spreads):
    """Build a grid, and evaluate the log density times the cell size at its points.

    Axes are differences from the last option in the first period, their changes, differences from
    the last judge, and log nu. Common levels of worths, of their changes and of log discriminations
    are integrated exactly.
    """
    n, judges, changes = density.n_options, density.n_judges, density.n_periods - 1
    axes = [axis(np.sqrt(2.0) * spreads.worths, 0.25 if n == 2 else 0.4)] * (n - 1)
    axes += [axis(np.sqrt(2.0) * spreads.drift, 0.5) for _ in range(changes * (n - 1))]
    axes += [axis(np.sqrt(2.0) * spreads.judges, 0.35) for _ in range(judges - 1)]
    axes += [axis(2.0, 0.5)] * density.rows.has_ties
    grid = np.stack([axis_points.ravel() for axis_points in np.meshgrid(*axes, indexing="ij")])
    worths, other_coordinates = grid[: (n - 1) * (changes + 1)], grid[(n - 1) * (changes + 1) :]
    worths = np.cumsum(worths.reshape(changes + 1, n - 1, -1), axis=0)
    worths = np.concatenate([worths, 0.0 * worths[:, :1]], axis=1)
    worths -= worths.mean(axis=1, keepdims=True)
    points = np.zeros((density.size, grid.shape[1]))
    points[density.worths] = worths.reshape(-1, grid.shape[1])
    if judges:
        logs = np.concatenate([other_coordinates[: judges - 1], 0.0 * other_coordinates[:1]])
        points[density.judges], other_coordinates = (
            logs - logs.mean(axis=0),
            other_coordinates[judges - 1 :],
        )
    points[density.nu] = other_coordinates
    levels = [spreads.worths / np.sqrt(n)] + [spreads.drift / np.sqrt(n)] * changes
    levels += [spreads.judges / np.sqrt(judges)] * (judges > 0)
    level_constants = sum(0.5 * np.log(2.0 * np.pi) + np.log(axis_points) for axis_points in levels)
    cells = sum(np.log(axis_points[1] - axis_points[0]) for axis_points in axes)
    return points, density.log_densities(points, spreads) + level_constants + cells


def posterior(density, quantity, fixed, step=0.4):
    """Integrate the posterior; return log evidence, values of a quantity, and weights.

    `fixed`: standard deviations; None: learned.
    """
    spread_kinds = density.spread_kinds
    middles = {0: np.log(1.3), 1: -1.5, 2: -1.5}
    log_axes = []
    for k in range(3):
        if k not in spread_kinds:
            log_axes.append([np.nan])
        elif fixed[k] is not None:
            log_axes.append([np.log(fixed[k])])
        else:
            highest = (3.6 if density.n_options == 2 else 2.8) if k == 0 else 2.4
            log_axes.append(middles[k] + np.arange(-3.6, highest + 0.1, step))
    quantities, logs = [], []
    for logs_of_spreads in np.stack(
        [axis_points.ravel() for axis_points in np.meshgrid(*log_axes, indexing="ij")]
    ).T:
        spreads = build_spreads(*np.exp(logs_of_spreads))
        points, log_p = evaluate_grid(density, spreads)
        for k in spread_kinds:
            if fixed[k] is None:
                log_p = log_p + density.log_spread_prior(k, logs_of_spreads[k]) + np.log(step)
        quantities.append(quantity(points, spreads))
        logs.append(log_p)
    logs = np.concatenate(logs)
    evidence = logsumexp(logs)
    return evidence, np.concatenate(quantities, axis=1), np.exp(logs - evidence)


# standard deviation of noise, without which sums over grids do not know the ends of intervals
BLUR = 0.4


def summarise_log_odds(log_odds, weights):
    """Return means of probabilities, with ends of central 89 % intervals."""
    summaries = []
    for row in log_odds:
        values, value_index = np.unique(np.round(row, 9), return_inverse=True)
        shares = np.bincount(value_index, weights)
        grid = np.linspace(
            *(np.interp(share, np.cumsum(shares), values) for share in (0.01, 0.99)), 200
        )
        below = ndtr((grid[:, None] - values) / BLUR) @ shares
        summaries.append([expit(values) @ shares, *expit(np.interp([0.055, 0.945], below, grid))])
    return np.array(summaries)
