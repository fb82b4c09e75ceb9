"""The `mcmc` method of latent-feature models: jobs, chains and predictions from draws."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from thali._inference.markov_chains import Run
from thali._model.base import Job
from thali._model.fitting_methods import PreparedFit, RespondentChainEngine
from thali.errors import ConvergenceWarning, DataWarning, ThaliWarning

from ..samplers.sampling_task import PreparedChains, build_task
from .feature_fit import FeatureFit

if TYPE_CHECKING:
    from ..results.posterior_results import PosteriorResults
    from .base_model import LatentFeatures


class FeatureSamplingEngine(RespondentChainEngine):
    """Fits latent-feature models by Markov chains; predictions average over draws."""

    has_evidence = True
    fit_class = FeatureFit

    def prepare(self, model: "LatentFeatures", data: Any, run: Run) -> PreparedFit:
        """Check a fit and return its sampling task, without drawing."""
        data = model._convert_data(data)
        task_arguments = model._build_prepare_arguments(data)
        task = build_task(
            data=data,
            draws=run.requested_or_first_draws,
            tune=run.tune,
            thin=run.thin,
            **task_arguments,
        )
        lapse = None
        if data.are_choices:
            lapse = float(task_arguments["likelihood"].lapse)
        return PreparedChains(lapse, task=task)

    def list_warnings(self, model: "LatentFeatures", job: Job) -> Iterator[ThaliWarning]:
        """Return warnings of a finished fit, such as slow swaps of temperatures."""
        from ..results.fit_quality_messages import describe_odd_sigma, describe_slow_swaps

        yield from super().list_warnings(model, job)
        posterior = model._view
        if swap_warning := describe_slow_swaps(posterior):
            yield ConvergenceWarning(swap_warning)
        if swap_warning := describe_odd_sigma(posterior, "sigma_scores_" in vars(model)):
            yield DataWarning(swap_warning)

    def get_results(self, model: "LatentFeatures") -> "PosteriorResults":
        """Return the results of the draws."""
        return model._data_results


FEATURE_SAMPLING = FeatureSamplingEngine()
