"""A model of ratings: every object has a mean, and all ratings the same standard deviation.

y_i ~ Normal(mu_object(i), sigma^2), p(mu, sigma) proportional to 1 / sigma. Its posterior is drawn
from directly: sigma^2 is the sum of squares over a chi-squared variable, and mu normal about the
means of the objects.
"""

from typing import Any

import numpy as np

from thali._argument_checks import check_integer
from thali._inference.random_seeds import spawn_generators
from thali._model.base import Job, SampledModel
from thali.errors import DataError

from .data import Ratings

CHAINS = 4


class MeanRatings(SampledModel):
    """The mean of the ratings of each object."""

    def __init__(self) -> None:  # which stores its arguments, and does nothing else
        return

    def fit(self, data: Ratings, draws: int = 1000, random_seed: Any = None) -> "MeanRatings":
        """Check all arguments and data, make a `Job`, and have it carried out."""
        return self._run_job(self._job(data, draws, random_seed))

    def _job(self, data: Ratings, draws: int, random_seed: Any) -> Job:
        times = np.bincount(data.object, minlength=len(data.labels))
        if (times == 0).any() or (free := len(data.values) - len(times)) < 1:
            raise DataError("Every object needs a rating, and at least one object needs two.")
        draws, rngs = check_integer("draws", draws, 1), spawn_generators(random_seed, CHAINS)
        means = np.bincount(data.object, data.values) / times
        squares = float(((data.values - means[data.object]) ** 2).sum())

        def work() -> dict[str, Any]:
            sigma = np.sqrt(squares / np.stack([rng.chisquare(free, draws) for rng in rngs]))
            normal = np.stack([rng.normal(size=(draws, len(means))) for rng in rngs])
            mean = means + normal * sigma[..., None] / np.sqrt(times)
            return {"posterior_": _tree(data, mean, sigma), "_interrupted_": False}

        return Job(work, draws=draws, data=str(data))

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """The rows of `summary`, as arrays (chain, draw)."""
        posterior = self._require_posterior()["posterior"]
        means = {
            f"mean[{each}]": posterior["mean"].sel(option=each).values
            for each in posterior["option"].values
        }
        return {**means, "sigma": posterior["sigma"].values}

    def _predict_left_out(self, part: Ratings) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each rating in each draw, (chains, draws, ratings)."""
        posterior = self._require_posterior()["posterior"]
        mean = posterior["mean"].sel(option=[part.labels[k] for k in part.object]).values
        return mean, np.broadcast_to(posterior["sigma"].values[..., None], mean.shape)


def _tree(data: Ratings, mean: np.ndarray, sigma: np.ndarray) -> Any:
    """The posterior in the ArviZ schema; the draws say what the data were."""
    import xarray

    from thali._posterior.datatree_files import build_tree, describe_origin

    coordinates = {"option": list(data.labels)}
    posterior = {"mean": (("chain", "draw", "option"), mean), "sigma": (("chain", "draw"), sigma)}
    groups = {
        "posterior": xarray.Dataset(posterior, coordinates),
        "observed_data": xarray.Dataset(
            {"rating": ("row", data.values), "object": ("row", data.object)}
        ),
    }
    return build_tree(groups, describe_origin())
