"""The engine of latent-feature models: chains of the sampler."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thali._inference.chains import FIRST_DRAWS, Run, build_run, choose_recorded_chains
from thali._inference.warn import is_quiet
from thali._model.base import Job
from thali._model.engine import PreparedFit, RespondentChainEngine
from thali._model.run_budget import limit_run, remaining_budget
from thali._model.sampling import Sampling
from thali._posterior.dependence import Dependence
from thali.errors import ConvergenceWarning, DataWarning, ThaliWarning

from ..answers.stored_layout import TEMPERED_LATER
from ..samplers.chains import build_chains, count_pilot_sweeps, end_pilot
from ..samplers.task import FIRST_LEVELS, PreparedChains

if TYPE_CHECKING:
    import pandas
    import xarray

    from ..samplers.chains import FeatureChain

# draws before the first convergence check of tempered chains, whose draws are far apart
FIRST_TEMPERED_DRAWS = 500
MIN_BUDGET_SHARE = 0.5  # remaining share of the budget required to restart with tempering


class FeatureSamplingEngine(RespondentChainEngine):
    """Engine that runs chains of the sampler; results are averages over their draws."""

    has_evidence = True

    def job(self, model: Any, data: Any, fit_arguments: Mapping[str, Any]) -> Job:
        """Check a fit and build its job; `asked` are the arguments of `fit`."""
        data = model._convert_data(data)
        sampling = model._build_sampling(data, build_run(**fit_arguments))
        if not is_quiet():
            data.warn_if_unusual()
        return model._build_job(sampling, model._population(data).describe_data(data))

    def prepare(self, model: Any, data: Any, fit_arguments: Mapping[str, Any]) -> PreparedFit:
        """Check a fit and return its sampling task, without drawing."""
        data = model._convert_data(data)
        parts = model._parts_to_prepare(data)
        task = model._population(data).build_task(
            data, fit_arguments["draws"], fit_arguments["tune"], fit_arguments["thin"], parts
        )
        lapse = float(parts["likelihood"].lapse) if data.are_choices else None
        return PreparedChains(lapse, task=task)

    def sampling(self, model: Any, source: Any, run: Run) -> Sampling[Any]:
        """Build the sampling of a fit to these data."""
        parts = model._parts(source)
        dependence = model._dependence(source, parts)
        sampling = build_sampling(model._population(source), source, run, parts, dependence)
        return replace(sampling, faster=model._quicker(source))

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        from ..answers.fit_quality import describe_odd_sigma, describe_slow_swaps

        yield from super().list_warnings(model, job)
        if sentence := describe_slow_swaps(model._view):
            yield ConvergenceWarning(sentence)
        if sentence := describe_odd_sigma(model._view, "sigma_scores_" in vars(model)):
            yield DataWarning(sentence)

    def options_of_fit(self, model: Any) -> list[str]:
        """Return the options of the fit; [] if its data have none."""
        return model._view.labels

    def covariates(self, model: Any) -> tuple[str, ...]:
        """Return the covariates of comparisons that the fit used."""
        return model._view.covariates

    def covariate_effects(self, model: Any, ci: float) -> "pandas.DataFrame":
        """Return the change of the log odds per unit of each covariate."""
        from thali._model.covariates import tabulate_effects

        return tabulate_effects(model._view.covariates, model._view.coefficients, ci)

    def predict_proba(
        self, model: Any, sets: Any, return_se: bool = False, covariates: Any = None
    ) -> Any:
        """Return posterior mean choice probabilities, including lapses."""
        return model._data_answers.predict_proba(sets, return_se, covariates)

    def predict_outcomes(
        self, model: Any, pairs: Any, covariates: Any = None
    ) -> "pandas.DataFrame":
        """Return posterior mean probabilities of win, tie and loss for each pair."""
        return model._data_answers.predict_outcomes(pairs, covariates)

    def predict_left_out(self, model: Any, part: Any) -> Any:
        """Return the prediction of every draw for held-out data."""
        return model._data_answers.predict_held_out(part)

    def log_predictive(self, model: Any, choices: Any) -> "pandas.Series":
        """Return the joint log predictive probability of each new respondent's choices."""
        return model._data_answers.log_predictive(choices)


def build_sampling(
    population: Any,
    source: Any,
    run: Run,
    parts: dict[str, Any],
    dependence: Dependence | None,
    share: float | None = None,
) -> Sampling[Any]:
    """Build the run of chains for these parts; `dependence` describes heterogeneity.

    `share` is the remaining share of the budget for a run that restarts with tempering, because its
    chains disagreed.
    """
    power = {} if dependence is None or dependence.power == 1.0 else {"power": dependence.power}
    task = population.build_task(source, run.min_draws, run.tune, run.thin, parts | power)
    requested_run, is_free, thin = run, run.thin is None, task.thin
    first_draws = task.first_draws(run.chains) if run.draws is None else FIRST_DRAWS
    if is_free and first_draws < FIRST_DRAWS:  # large draws: fewer, with a larger interval
        thin *= -(-FIRST_DRAWS // first_draws)
        run = run._replace(tune=min(run.tune, first_draws) if run.tune <= FIRST_DRAWS else run.tune)
    if run.draws is None and len(task.temperatures) > 1:
        first_draws = min(first_draws, FIRST_TEMPERED_DRAWS)
    # only then may the budget shorten the run
    if run.max_time is None and (run.draws is None or is_free):
        task = task.add_work_counts(run.progressbar)
    bound = limit_run(
        run, thin, task.forecast_sweep_seconds(), first_draws, share=1.0 if share is None else share
    )
    run = bound.run
    task = replace(task, draws=bound.first_draws, tune=run.tune, thin=bound.thin)
    task.pilot = count_pilot_sweeps(task, run.draws is not None) if is_free else 0

    def tree(chains: Sequence["FeatureChain"]) -> "xarray.DataTree":
        attrs: dict[str, Any] = {} if dependence is None else dependence.attributes
        attrs |= {"thin": chains[0].thin, "tuning_steps": task.tune}
        attrs[TEMPERED_LATER] = int(share is not None)
        recorded, n_draws = choose_recorded_chains(chains)
        draws = [chains[i].collect_draws(chains[i].first + n_draws) for i in recorded]
        return population.build_tree(draws, source, parts, task, attrs)

    def tempered(sweeps: int) -> Sampling[Any] | None:
        """Build the restart with tempering; None if it does not apply."""
        share = remaining_budget(sweeps, bound.sweep)
        if not task.may_temper or share < MIN_BUDGET_SHARE:
            return None
        tempered_parts = parts | {"tempering": FIRST_LEVELS}
        return build_sampling(population, source, requested_run, tempered_parts, dependence, share)

    return Sampling(
        source=source,
        run=run,
        chains=lambda draws, seed: build_chains(replace(task, draws=draws), run.chains, seed),
        tree=tree,
        complete_tree=population.complete_tree,
        build_attributes=lambda tree, chains, seed: {},
        end_pilot=end_pilot,
        is_compiled=task.kernel.is_compiled(task.model),
        with_tempering=tempered,
        settings=bound.settings | {"tune": requested_run.tune},
        first_draws=bound.first_draws,
        data_max_draws=bound.max_draws,
        forecast=bound.forecast,
        measure_speedup=lambda chains: (
            bound.thin / chains[0].thin / task.compute_cost_ratio(chains)
        ),
    )


FEATURE_SAMPLING = FeatureSamplingEngine()
