"""The engine of latent-feature models: chains of the sampler for a prior and a likelihood."""

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

# draws of tempered chains, which are far apart, after which they are looked at first
FIRST_TEMPERED = 500
MIN_SHARE = 0.5  # of the budget, with which chains that stay apart begin again with tempering


class ByChains(RespondentChainEngine):
    """Chains of the sampler for the prior and the likelihood; answers are averages over their
    draws."""

    has_evidence = True

    def job(self, model: Any, data: Any, asked: Mapping[str, Any]) -> Job:
        """The fit, checked; `asked` are the arguments of `fit`."""
        data = model._convert_data(data)
        sampling = model._build_sampling(data, build_run(**asked))
        if not is_quiet():
            data.warn_if_unusual()
        return model._build_job(sampling, model._population(data).in_words(data))

    def prepare(self, model: Any, data: Any, asked: Mapping[str, Any]) -> PreparedFit:
        """What `fit` would run, after every check that it makes; nothing is drawn."""
        data = model._convert_data(data)
        parts = model._parts_to_prepare(data)
        task = model._population(data).task(
            data, asked["draws"], asked["tune"], asked["thin"], parts
        )
        lapse = float(parts["likelihood"].lapse) if data.are_choices else None
        return PreparedChains(lapse, task=task)

    def sampling(self, model: Any, source: Any, run: Run) -> Sampling[Any]:
        """What a fit to these data runs."""
        parts = model._parts(source)
        dependence = model._dependence(source, parts)
        sampling = sampling_of_parts(model._population(source), source, run, parts, dependence)
        return replace(sampling, faster=model._quicker(source))

    def list_warnings(self, model: Any, job: Job) -> Iterator[ThaliWarning]:
        from ..answers.fit_quality import describe_odd_sigma, describe_slow_swaps

        yield from super().list_warnings(model, job)
        if sentence := describe_slow_swaps(model._view):
            yield ConvergenceWarning(sentence)
        if sentence := describe_odd_sigma(model._view, "sigma_scores_" in vars(model)):
            yield DataWarning(sentence)

    def options_of_fit(self, model: Any) -> list[str]:
        """The options of the fit; [] where its data have none."""
        return model._view.labels

    def covariates(self, model: Any) -> tuple[str, ...]:
        """The covariates of comparisons that the fit used."""
        return model._view.covariates

    def covariate_effects(self, model: Any, ci: float) -> "pandas.DataFrame":
        """By how much a unit of each covariate changes the log odds."""
        from thali._model.covariates import tabulate_effects

        return tabulate_effects(model._view.covariates, model._view.coefficients, ci)

    def predict_proba(
        self, model: Any, sets: Any, return_se: bool = False, covariates: Any = None
    ) -> Any:
        """Posterior mean choice probabilities, lapse included."""
        return model._data_answers.predict_proba(sets, return_se, covariates)

    def predict_outcomes(
        self, model: Any, pairs: Any, covariates: Any = None
    ) -> "pandas.DataFrame":
        """Posterior mean probabilities of the three outcomes of comparisons that may end in a
        tie."""
        return model._data_answers.predict_outcomes(pairs, covariates)

    def predict_left_out(self, model: Any, part: Any) -> Any:
        """What every draw predicts for data that the model was fitted without."""
        return model._data_answers.predict_held_out(part)

    def log_predictive(self, model: Any, choices: Any) -> "pandas.Series":
        """How probable all choices of a person together are, of whom nothing else is known."""
        return model._data_answers.log_predictive(choices)


def sampling_of_parts(
    population: Any,
    source: Any,
    run: Run,
    parts: dict[str, Any],
    dependence: Dependence | None,
    share: float | None = None,
) -> Sampling[Any]:
    """The run of chains of these parts; `dependence`: what is made of people.

    `share` is what is left of the budget for a run that begins again, with tempering, because
    chains disagreed.
    """
    power = {} if dependence is None or dependence.power == 1.0 else {"power": dependence.power}
    task = population.task(source, run.min_draws, run.tune, run.thin, parts | power)
    asked, is_free, thin = run, run.thin is None, task.thin
    first = task.first_draws(run.chains) if run.draws is None else FIRST_DRAWS
    if is_free and first < FIRST_DRAWS:  # fewer draws, further apart, where they are large
        thin *= -(-FIRST_DRAWS // first)
        run = run._replace(tune=min(run.tune, first) if run.tune <= FIRST_DRAWS else run.tune)
    if run.draws is None and len(task.temperatures) > 1:
        first = min(first, FIRST_TEMPERED)
    # there is something that the budget may shorten
    if run.max_time is None and (run.draws is None or is_free):
        task = task.add_work_counts(run.progressbar)
    bound = limit_run(
        run, thin, task.forecast_sweep_seconds(), first, share=1.0 if share is None else share
    )
    run = bound.run
    task = replace(task, draws=bound.first_draws, tune=run.tune, thin=bound.thin)
    task.pilot = count_pilot_sweeps(task, run.draws is not None) if is_free else 0

    def tree(chains: Sequence["FeatureChain"]) -> "xarray.DataTree":
        attrs: dict[str, Any] = {} if dependence is None else dependence.attributes
        attrs |= {
            "thin": chains[0].thin,
            "tuning_steps": task.tune,
            TEMPERED_LATER: int(share is not None),
        }
        numbers, count = choose_recorded_chains(chains)
        draws = [chains[number].collect_draws(chains[number].first + count) for number in numbers]
        return population.tree(draws, source, parts, task, attrs)

    def tempered(sweeps: int) -> Sampling[Any] | None:
        left = remaining_budget(sweeps, bound.sweep)
        if not task.may_temper or left < MIN_SHARE:
            return None
        return sampling_of_parts(
            population, source, asked, parts | {"tempering": FIRST_LEVELS}, dependence, left
        )

    return Sampling(
        source=source,
        run=run,
        chains=lambda draws, seed: build_chains(replace(task, draws=draws), run.chains, seed),
        tree=tree,
        complete_tree=population.completed,
        build_attributes=lambda tree, chains, seed: {},
        end_pilot=end_pilot,
        is_compiled=task.kernel.is_compiled(task.model),
        with_tempering=tempered,
        settings=bound.settings | {"tune": asked.tune},
        first_draws=bound.first_draws,
        data_max_draws=bound.max_draws,
        forecast=bound.forecast,
        measure_speedup=lambda chains: (
            bound.thin / chains[0].thin / task.compute_cost_ratio(chains)
        ),
    )


BY_CHAINS = ByChains()
