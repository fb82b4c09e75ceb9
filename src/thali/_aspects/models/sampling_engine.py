"""The `mcmc` method of latent-feature models: jobs, chains and predictions from draws."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thali._inference.markov_chains import FIRST_DRAWS, Run, build_run, choose_recorded_chains
from thali._inference.user_warnings import is_quiet
from thali._model.base import Job
from thali._model.chain_runs import BudgetedRun, Sampling, limit_run, remaining_budget
from thali._model.fitting_methods import PreparedFit, RespondentChainEngine
from thali._posterior.respondent_dependence import Dependence
from thali.errors import ConvergenceWarning, DataWarning, ThaliWarning

from ..draws.posterior_tree import build_datatree
from ..results.saved_posterior_layout import TEMPERED_LATER
from ..samplers.chains import build_chains, count_pilot_sweeps, end_pilot
from ..samplers.sampling_task import FIRST_LEVELS, PreparedChains, build_task

if TYPE_CHECKING:
    import pandas
    import xarray

    from ..samplers.chains import FeatureChain

# draws before the first convergence check of tempered chains, whose draws are far apart
FIRST_TEMPERED_DRAWS = 500
MIN_BUDGET_SHARE = 0.5  # remaining share of the budget required to restart with tempering


class FeatureSamplingEngine(RespondentChainEngine):
    """Fits latent-feature models by Markov chains; predictions average over draws."""

    has_evidence = True

    def job(self, model: Any, data: Any, fit_arguments: Mapping[str, Any]) -> Job:
        """Check a fit and build its job, from the arguments of `fit`."""
        data = model._convert_data(data)
        chain_fit = model._build_fit(data, build_run(**fit_arguments))
        if not is_quiet():
            data.warn_if_unusual()
        return chain_fit.build_job(str(data))

    def prepare(self, model: Any, data: Any, fit_arguments: Mapping[str, Any]) -> PreparedFit:
        """Check a fit and return its sampling task, without drawing."""
        data = model._convert_data(data)
        task_arguments = model._build_prepare_arguments(data)
        task = build_task(data=data, **fit_arguments, **task_arguments)
        lapse = None
        if data.are_choices:
            lapse = float(task_arguments["likelihood"].lapse)
        return PreparedChains(lapse, task=task)

    def sampling(self, model: Any, source: Any, run: Run) -> Sampling[Any]:
        """Return the prepared chains of a fit to these data."""
        task_arguments = model._build_task_arguments(source)
        dependence = model._choose_dependence(source, task_arguments)
        sampling = build_sampling(source, run, task_arguments, dependence)
        return replace(sampling, faster=model._suggest_faster_setting(source))

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        """Return warnings of a finished fit, such as slow swaps of temperatures."""
        from ..results.fit_quality_messages import describe_odd_sigma, describe_slow_swaps

        yield from super().list_warnings(model, job)
        if swap_warning := describe_slow_swaps(model._view):
            yield ConvergenceWarning(swap_warning)
        if swap_warning := describe_odd_sigma(model._view, "sigma_scores_" in vars(model)):
            yield DataWarning(swap_warning)

    def options_of_fit(self, model: Any) -> list[str]:
        """Return the option labels of the fit; [] if its data have none."""
        return model._view.labels

    def covariates(self, model: Any) -> tuple[str, ...]:
        """Return names of the comparison covariates that the fit used."""
        return model._view.covariates

    def covariate_effects(self, model: Any, ci: float) -> "pandas.DataFrame":
        """Return a table of covariates' effects on the log odds of the first option, per unit."""
        from thali._model.covariate_effects import tabulate_effects

        return tabulate_effects(model._view.covariates, model._view.coefficients, ci)

    def predict_proba(
        self, model: Any, sets: Any, return_se: bool = False, covariates: Any = None
    ) -> Any:
        """Return posterior mean choice probabilities, including lapses."""
        return model._data_results.predict_proba(sets, return_se, covariates)

    def predict_outcomes(
        self, model: Any, pairs: Any, covariates: Any = None
    ) -> "pandas.DataFrame":
        """Return posterior mean probabilities of win, tie and loss for each pair."""
        return model._data_results.predict_outcomes(pairs, covariates)

    def predict_left_out(self, model: Any, part: Any) -> Any:
        """Return the prediction of every draw for held-out data."""
        return model._data_results.predict_held_out(part)

    def log_predictive(self, model: Any, choices: Any) -> "pandas.Series":
        """Return the joint log predictive probability of each new respondent's choices."""
        return model._data_results.log_predictive(choices)


def build_sampling(
    source: Any,
    run: Run,
    task_arguments: dict[str, Any],
    dependence: Dependence | None,
    budget_share: float = 1.0,
    is_restart: bool = False,
) -> Sampling[Any]:
    """Return the prepared chains of a fit with these task arguments.

    A run whose chains disagreed restarts with tempering, in the remaining share of its budget.
    """
    powered_arguments, attributes = task_arguments, {}
    if dependence is not None:
        powered_arguments = task_arguments | {"power": dependence.power}
        attributes = dependence.attributes
    task, budgeted_run = _plan_run(
        build_task(
            data=source,
            draws=run.min_draws,
            tune=run.tune,
            thin=run.thin,
            **powered_arguments,
        ),
        run,
        budget_share,
    )

    def tree(chains: Sequence["FeatureChain"]) -> "xarray.DataTree":
        """Return the posterior tree of these chains."""
        attrs = attributes | {"thin": chains[0].thin, "tuning_steps": task.tune}
        attrs[TEMPERED_LATER] = int(is_restart)
        recorded_indices, n_draws = choose_recorded_chains(chains)
        draws = [chains[i].collect_draws(chains[i].first + n_draws) for i in recorded_indices]
        return build_datatree(
            draws,
            source,
            task_arguments["likelihood"],
            is_alpha_learned=task.model.learn_alpha,
            attrs=attrs,
            task=task,
        )

    def build_tempered_restart(sweeps: int) -> Sampling[Any] | None:
        """Return a restart with tempering after the first sweeps, or None."""
        budget_share = remaining_budget(sweeps, budgeted_run.sweep)
        if not task.may_temper or budget_share < MIN_BUDGET_SHARE:
            return None
        return build_sampling(
            source,
            run,
            task_arguments | {"tempering": FIRST_LEVELS},
            dependence,
            budget_share,
            is_restart=True,
        )

    return Sampling(
        source=source,
        run=budgeted_run.run,
        chains=lambda draws, seed: build_chains(replace(task, draws=draws), run.chains, seed),
        tree=tree,
        build_attributes=lambda tree, chains, seed: {},
        end_pilot=end_pilot,
        is_compiled=task.kernel.is_compiled(task.model),
        with_tempering=build_tempered_restart,
        settings=budgeted_run.settings | {"tune": run.tune},
        first_draws=budgeted_run.first_draws,
        data_max_draws=budgeted_run.max_draws,
        forecast=budgeted_run.forecast,
        measure_speedup=lambda chains: (
            budgeted_run.thin / chains[0].thin / task.compute_cost_ratio(chains)
        ),
    )


def _plan_run(task: Any, run: Run, budget_share: float) -> tuple[Any, BudgetedRun]:
    """Return the task with its run length, and the run within its time budget."""
    is_thin_free, first_draws = run.thin is None, FIRST_DRAWS
    if run.draws is None and len(task.temperatures) > 1:
        first_draws = min(first_draws, FIRST_TEMPERED_DRAWS)
    # only then may the budget shorten the run
    if run.max_time is None and (run.draws is None or is_thin_free):
        task = task.add_work_counts(run.progressbar)
    budgeted_run = limit_run(
        run, task.thin, task.forecast_sweep_seconds(), first_draws, budget_share=budget_share
    )
    task = replace(
        task, draws=budgeted_run.first_draws, tune=budgeted_run.run.tune, thin=budgeted_run.thin
    )
    if is_thin_free:
        task.pilot = count_pilot_sweeps(task, budgeted_run.run.draws is not None)
    return task, budgeted_run


FEATURE_SAMPLING = FeatureSamplingEngine()
