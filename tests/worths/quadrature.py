"""Integrals of small densities of worths by sums over grids, which are exact to many digits for
smooth functions."""

import numpy as np
from scipy.special import expit, logsumexp, ndtr
from worth_problems import spreads_of


def axis(sd, finest):
    """Points from -6 to 6 standard deviations, near enough for a normal density and for logistic
    functions."""
    step = min(0.8 * sd, finest)
    return step * np.arange(-np.ceil(6.0 * sd / step), np.ceil(6.0 * sd / step) + 1)


def points_and_logs(density, spreads):
    """Points of a grid, and the log of the density there times the cells.

    Axes are differences from the last option in the first period, their changes, differences from
    the last judge, and log nu. Common levels of worths, of their changes and of log discriminations
    are integrated exactly.
    """
    n, judges, changes = density.n_options, density.n_judges, density.n_periods - 1
    axes = [axis(np.sqrt(2.0) * spreads.worths, 0.25 if n == 2 else 0.4)] * (n - 1)
    axes += [axis(np.sqrt(2.0) * spreads.drift, 0.5) for _ in range(changes * (n - 1))]
    axes += [axis(np.sqrt(2.0) * spreads.judges, 0.35) for _ in range(judges - 1)]
    axes += [axis(2.0, 0.5)] * density.rows.has_ties
    grid = np.stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")])
    worths, rest = grid[: (n - 1) * (changes + 1)], grid[(n - 1) * (changes + 1) :]
    worths = np.cumsum(worths.reshape(changes + 1, n - 1, -1), axis=0)
    worths = np.concatenate([worths, 0.0 * worths[:, :1]], axis=1)
    worths -= worths.mean(axis=1, keepdims=True)
    points = np.zeros((density.size, grid.shape[1]))
    points[density.worths] = worths.reshape(-1, grid.shape[1])
    if judges:
        logs = np.concatenate([rest[: judges - 1], 0.0 * rest[:1]])
        points[density.judges], rest = logs - logs.mean(axis=0), rest[judges - 1 :]
    points[density.nu] = rest
    levels = [spreads.worths / np.sqrt(n)] + [spreads.drift / np.sqrt(n)] * changes
    levels += [spreads.judges / np.sqrt(judges)] * (judges > 0)
    known = sum(0.5 * np.log(2.0 * np.pi) + np.log(each) for each in levels)
    cells = sum(np.log(each[1] - each[0]) for each in axes)
    return points, density.log_densities(points, spreads) + known + cells


def posterior(density, quantity, known, step=0.4):
    """The log evidence, and values of a quantity of points and spreads with their weights; None:
    learned."""
    kinds = density.spread_kinds
    middles = {0: np.log(1.3), 1: -1.5, 2: -1.5}
    ways = []
    for k in range(3):
        if k not in kinds:
            ways.append([np.nan])
        elif known[k] is not None:
            ways.append([np.log(known[k])])
        else:
            most = (3.6 if density.n_options == 2 else 2.8) if k == 0 else 2.4
            ways.append(middles[k] + np.arange(-3.6, most + 0.1, step))
    values, logs = [], []
    for place in np.stack([each.ravel() for each in np.meshgrid(*ways, indexing="ij")]).T:
        spreads = spreads_of(*np.exp(place))
        points, log_p = points_and_logs(density, spreads)
        for k in kinds:
            if known[k] is None:
                log_p = log_p + density.log_spread_prior(k, place[k]) + np.log(step)
        values.append(quantity(points, spreads))
        logs.append(log_p)
    logs = np.concatenate(logs)
    evidence = logsumexp(logs)
    return evidence, np.concatenate(values, axis=1), np.exp(logs - evidence)


# standard deviation of noise, without which sums over grids do not know the ends of intervals
BLUR = 0.4


def mean_and_ends(log_odds, weights):
    """Means of probabilities, and ends of central 89 % intervals of blurred log odds, as
    probabilities."""
    found = []
    for row in log_odds:
        values, place = np.unique(np.round(row, 9), return_inverse=True)
        shares = np.bincount(place, weights)
        at = np.linspace(
            *(np.interp(share, np.cumsum(shares), values) for share in (0.01, 0.99)), 200
        )
        below = ndtr((at[:, None] - values) / BLUR) @ shares
        found.append([expit(values) @ shares, *expit(np.interp([0.055, 0.945], below, at))])
    return np.array(found)
