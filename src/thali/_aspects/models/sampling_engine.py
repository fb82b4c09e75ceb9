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
    import pandas

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

    def options_of_fit(self, model: "LatentFeatures") -> list[str]:
        """Return the option labels of the fit; [] if its data have none."""
        return model._view.labels

    def covariates(self, model: "LatentFeatures") -> tuple[str, ...]:
        """Return names of the comparison covariates that the fit used."""
        return model._view.covariates

    def covariate_effects(self, model: "LatentFeatures", ci: float) -> "pandas.DataFrame":
        """Return a table of covariates' effects on the log odds of the first option, per unit."""
        from thali._model.covariate_effects import tabulate_effects

        posterior = model._view
        return tabulate_effects(posterior.covariates, posterior.coefficients, ci)

    def predict_proba(
        self, model: "LatentFeatures", sets: Any, return_se: bool = False, covariates: Any = None
    ) -> Any:
        """Return posterior mean choice probabilities, including lapses."""
        return model._data_results.predict_proba(sets, return_se, covariates)

    def predict_outcomes(
        self, model: "LatentFeatures", pairs: Any, covariates: Any = None
    ) -> "pandas.DataFrame":
        """Return posterior mean probabilities of win, tie and loss for each pair."""
        return model._data_results.predict_outcomes(pairs, covariates)

    def predict_left_out(self, model: "LatentFeatures", part: Any) -> Any:
        """Return the prediction of every draw for held-out data."""
        return model._data_results.predict_held_out(part)

    def log_predictive(self, model: "LatentFeatures", choices: Any) -> "pandas.Series":
        """Return the joint log predictive probability of each new respondent's choices."""
        return model._data_results.log_predictive(choices)


FEATURE_SAMPLING = FeatureSamplingEngine()
