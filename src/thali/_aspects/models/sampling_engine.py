"""The `mcmc` method of latent-feature models: chains, and warnings about them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from thali._model.base import Job
from thali._model.fitting_methods import ChainEngine
from thali._posterior.posterior_tree import Posterior
from thali.errors import ConvergenceWarning, DataWarning, ThaliWarning

from .feature_fit import FeatureFit

if TYPE_CHECKING:
    from .base_model import LatentFeatures


class FeatureSamplingEngine(ChainEngine):
    """Fits latent-feature models by Markov chains; predictions average over draws."""

    has_evidence = True
    fit_class = FeatureFit

    def list_warnings(self, model: "LatentFeatures", job: Job) -> Iterator[ThaliWarning]:
        """Return warnings of a finished fit, such as slow swaps of temperatures."""
        from ..results.fit_quality_messages import describe_odd_sigma, describe_slow_swaps

        posterior = Posterior(model.posterior_)
        if swap_warning := describe_slow_swaps(posterior):
            yield ConvergenceWarning(swap_warning)
        if swap_warning := describe_odd_sigma(posterior, "sigma_scores_" in vars(model)):
            yield DataWarning(swap_warning)


FEATURE_SAMPLING = FeatureSamplingEngine()
