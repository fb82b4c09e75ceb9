"""K-means (Lloyd 1982), with starts that are spread out (Arthur & Vassilvitskii 2007)."""

import numpy as np

_STARTS = 20
_MOST_PASSES = 100


def centres_of(points: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """The best of several runs: centres (K, F) that leave the least sum of squared distances."""
    found = [_moved(points, _spread(points, number, rng)) for _ in range(_STARTS)]
    return min(found, key=lambda centres: distances(points, centres).min(axis=1).sum())


def _moved(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Centres moved to the means of their points until no point changes; one without points stays."""
    nearest = None
    for _ in range(_MOST_PASSES):
        before, nearest = nearest, distances(points, centres).argmin(axis=1)
        if before is not None and np.array_equal(nearest, before):
            break
        counts = np.bincount(nearest, minlength=len(centres))
        sums = np.stack([np.bincount(nearest, column, len(centres)) for column in points.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances, shape (points, centres)."""
    return np.maximum((points**2).sum(axis=1)[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1), 0.0)


def _spread(points: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Points drawn one after the other, each in proportion to the squared distance from those before."""
    centres = points[[rng.integers(len(points))]]
    for _ in range(number - 1):
        away = distances(points, centres).min(axis=1)
        total = away.sum()
        drawn = rng.choice(len(points), p=away / total if total > 0.0 else None)
        centres = np.vstack([centres, points[drawn]])
    return centres
