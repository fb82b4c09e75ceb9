"""Skeleton of a model: the mean of numbers whose standard deviation is known.

y_i ~ Normal(mu, sd), mu flat. Copy this file to `src/thali/WING/NAME/model.py`, replace the
mathematics, write `src/thali/WING/NAME/spec.py` with a `ModelSpec`, name it in `MODELS` of
`src/thali/_lazy_imports.py` and the class in `src/thali/__init__.pyi`. Imports that are slow (xarray,
pandas, numba, SciPy) stand inside functions.
"""

from typing import Any

import numpy as np

from thali._argument_checks import check_integer, check_positive
from thali._inference.random_seeds import spawn_generators
from thali._model.base import Job, SampledModel
from thali.errors import DataError


class KnownSpread(SampledModel):
    """The public class. The constructor stores its arguments and does nothing else."""

    def __init__(self, sd: float = 1.0):
        self.sd = sd

    def fit(self, data, draws: int = 1000, chains: int = 4, random_seed=None):
        """Check all arguments and data, make a `Job`, and have it carried out."""
        return self._run_job(self._job(data, draws, chains, random_seed))

    def _job(self, data, draws, chains, random_seed) -> Job:
        values = np.asarray(data, float)
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise DataError(
                f"data must be a one-dimensional array of finite numbers; got {values.tolist()}."
            )
        sd = check_positive("sd", self.sd, "the standard deviation of a number")
        draws, chains = check_integer("draws", draws, 1), check_integer("chains", chains, 1)
        # one stream a chain: the draws do not depend on the number of cores
        rngs = spawn_generators(random_seed, chains)

        def work() -> dict[str, Any]:
            mu = np.stack(
                [rng.normal(values.mean(), sd / np.sqrt(values.size), draws) for rng in rngs]
            )
            return {
                "posterior_": _tree(mu, values),
                "_interrupted_": False,
                "mean_": float(mu.mean()),
            }

        return Job(work, draws=draws)

    def _get_quantities(self) -> dict[str, np.ndarray]:
        """The rows of `summary`, as arrays (chain, draw)."""
        return {"mu": self._require_posterior()["posterior"]["mu"].values}


def _tree(mu: np.ndarray, values: np.ndarray):
    """The posterior in the ArviZ schema."""
    import xarray

    from thali._posterior.datatree_files import build_tree, describe_origin

    posterior = xarray.Dataset({"mu": (("chain", "draw"), mu)})
    return build_tree(
        {"posterior": posterior, "observed_data": xarray.Dataset({"y": ("row", values)})},
        describe_origin(),
    )
