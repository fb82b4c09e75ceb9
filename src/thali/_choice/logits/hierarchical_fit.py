"""Fit of the hierarchical logit: chains, fitted attributes and draws from the prior."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.markov_chains import FIRST_DRAWS, Run
from thali._inference.random_seeds import build_seed_sequence, spawn_generators
from thali._model.chain_runs import Sampling, limit_run
from thali._model.simulated_data import PriorSample, build_predictive_dataset
from thali._posterior.posterior_tree import PosteriorTree

from ..logit_likelihood import choice_probabilities, encode_choices
from .hierarchical_draws import (
    FitArguments,
    TasteScale,
    build_observed_group,
    build_posterior_group,
    build_tree,
    compute_monitored_effects,
)

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment

    from .hierarchical_sweep import TasteChain

MEAN_SD = 10.0  # prior standard deviation of a mean taste
DEFAULT_SCALE = 1.0  # V
DEFAULT_THIN = 2  # sweeps per draw
# size of the tastes in the draws before the first convergence check
_FIRST_CHECK_BYTES = 2**29
_MIN_FIRST_DRAWS = 100  # of a chain before the first convergence check
# seconds of a sweep per person, per pair of columns, per cell of the table
_PERSON_SECONDS, _PAIR_SECONDS, _CELL_SECONDS = 1.5e-6, 3e-9, 1.4e-8


def build_sampling(
    source: "ChoiceExperiment", run: Run, fit_arguments: FitArguments
) -> Sampling[Any]:
    """Return `Sampling` of a fit: its chains, and how draws become fitted attributes."""
    import xarray as xr

    from .hierarchical_sweep import TasteChain, build_problem

    coding, scale, covariates, prior = fit_arguments
    n_people, n_columns = len(source.respondents), len(coding.names)
    draw_bytes = run.chains * n_people * n_columns * np.dtype(float).itemsize  # of a draw
    first_draws, first_thin = _choose_first_draws(run.thin, draw_bytes)
    run_settings = {"draws": run.draws, "tune": run.tune, "chains": run.chains, "thin": first_thin}
    tune_draws = run.tune  # in draws
    if run.thin is None:
        tune_draws = run.tune * DEFAULT_THIN // first_thin
    sweep_seconds = estimate_sweep_seconds(n_people, len(source.row_product), n_columns)
    run_limit = limit_run(run._replace(tune=tune_draws), first_thin, sweep_seconds, first_draws)
    run, thin = run_limit.run._replace(thin=run_limit.thin), run_limit.thin

    @cache
    def build_chain_problem() -> Any:
        """Return data and prior as the kernels read them."""
        tasks = encode_choices(source, coding)
        scaled_tasks = tasks._replace(matrix=tasks.matrix / coding.scale @ scale.steps)
        return build_problem(
            scaled_tasks, source.first_task, prior, scale.sign, covariates.matrix, scale.price
        )

    def build_chains(draws: int, seed: np.random.SeedSequence) -> "list[TasteChain]":
        """Return chains of the hierarchical logit from this seed."""
        return [
            TasteChain(build_chain_problem(), rng, draws, run.tune * thin, thin)
            for rng in spawn_generators(build_seed_sequence(seed).spawn(2)[0], run.chains)
        ]

    def convert_to_tree(chains: "Sequence[TasteChain]") -> "xarray.DataTree":
        """Return the posterior tree of these chains."""
        tree_attributes = {"thin": thin, "tuning_steps": run.tune * thin}
        tree = build_tree(chains, source.respondents, fit_arguments, tree_attributes)
        posterior = tree["posterior"].to_dataset()
        effects = compute_monitored_effects(posterior["beta"].values, source, coding)
        tree["posterior"] = xr.DataTree(posterior.assign(effects))
        return tree

    return Sampling(
        source,
        run,
        build_chains,
        convert_to_tree,
        lambda tree, chains, seed: _build_attributes(tree, source, fit_arguments, seed),
        settings=run_settings,
        first_draws=run_limit.first_draws,
        data_max_draws=run_limit.max_draws,
        forecast=run_limit.forecast,
    )


def _choose_first_draws(thin: int | None, draw_bytes: int) -> tuple[int, int]:
    """Return the draws before the first check, and the sweeps per draw of `draw_bytes`."""
    if thin is not None:
        return FIRST_DRAWS, thin
    # large draws are fewer, with more sweeps between them, also in a continued fit
    first_draws = max(_MIN_FIRST_DRAWS, min(FIRST_DRAWS, _FIRST_CHECK_BYTES // draw_bytes))
    return first_draws, DEFAULT_THIN * -(-FIRST_DRAWS // first_draws)


def _build_attributes(
    tree: "xarray.DataTree",
    source: "ChoiceExperiment",
    fit_arguments: FitArguments,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the fitted attributes by name, from the tree of draws."""
    return {
        "_new_people_": build_seed_sequence(seed).spawn(2)[1],
        "_scheme_": source.scheme,
        "_coding_": fit_arguments.coding,
        "_scale_": fit_arguments.scale,
        "_covariates_": fit_arguments.covariates,
        "_respondents_": source.respondents,
        **_compute_posterior_means(tree, fit_arguments.scale),
    }


def estimate_sweep_seconds(n_people: int, n_rows: int, n_columns: int) -> float:
    """Return the expected CPU time of a sweep in seconds; see `benchmarks/run_time_forecast.py`."""
    return (
        n_people * (_PERSON_SECONDS + _PAIR_SECONDS * n_columns**2)
        + _CELL_SECONDS * n_columns * n_rows
    )


def _compute_posterior_means(tree: "xarray.DataTree", scale: "TasteScale") -> dict[str, Any]:
    """Return posterior means as fitted attributes, by name."""
    import pandas

    posterior = PosteriorTree(tree).draws
    draw_dims = ["chain", "draw"]
    beta = posterior["beta"]
    if scale.price >= 0:
        beta = beta.copy(data=scale.convert_tastes(beta.values))
    tastes = beta.mean(draw_dims)
    respondent_index, coefficient_index = (
        pandas.Index(tastes[dimension].values, name=dimension)
        for dimension in ("respondent", "coefficient")
    )
    if scale.price >= 0:
        coefficient_index = coefficient_index.where(
            np.arange(len(coefficient_index)) != scale.price,
            f"scale[{coefficient_index[scale.price]}]",
        )
    has_sign = np.abs(scale.steps) @ (scale.sign != 0.0) > 0.0
    people_means = tastes.mean("respondent").values
    mean_coefficients = np.where(has_sign, people_means, posterior["mean"].mean(draw_dims))
    return {
        "coef_": pandas.Series(mean_coefficients, coefficient_index, name="coef"),
        "individual_": pandas.DataFrame(tastes.values, respondent_index, coefficient_index),
    }


# Draws from the prior of the hierarchical logit, and choices simulated at each of them ------------


def sample_taste_prior(
    fit_arguments: FitArguments, data: "ChoiceExperiment", rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Draw parameters from the prior and choices in all tasks, once per generator."""
    from scipy.stats import invwishart

    coding, scale, covariates, prior = fit_arguments
    tasks = encode_choices(data, coding)
    model_matrix = tasks.matrix / coding.scale @ scale.steps
    task_starts, task_of_row = tasks.first_row[:-1], tasks.task_of_row
    person_of_row = data.respondent_of_task[task_of_row]
    n_people, p = len(data.respondents), model_matrix.shape[1]
    parameter_draws, choices = [], []
    for rng in rngs:
        population_means = prior.mean_sds(scale.sign) * rng.standard_normal(
            (covariates.matrix.shape[1], p)
        )
        covariance = np.reshape(
            invwishart.rvs(prior.df, prior.df * prior.scale * np.eye(p), random_state=rng), (p, p)
        )
        beta = (
            covariates.matrix @ population_means
            + rng.standard_normal((n_people, p)) @ np.linalg.cholesky(covariance).T
        )
        beta = scale.apply_signs(beta)
        utility = (model_matrix * beta[person_of_row]).sum(axis=1)
        # the largest is the choice of a logit
        noisy_utility = utility + rng.gumbel(size=utility.size)
        choice = np.array([part.argmax() for part in np.split(noisy_utility, task_starts[1:])])
        log_probabilities = np.log(choice_probabilities(utility, task_of_row)[task_starts + choice])
        parameter_draws.append((population_means, covariance, beta, log_probabilities.sum()))
        choices.append(choice)
    arrays = [np.asarray(values)[None] for values in zip(*parameter_draws, strict=True)]
    posterior_group = build_posterior_group(
        *arrays, respondents=data.respondents, fit_arguments=fit_arguments
    )
    posterior_group = posterior_group.assign(
        compute_monitored_effects(posterior_group["beta"].values, data, coding)
    )
    data_groups = {"observed_data": build_observed_group(data.chosen)}
    predictive_group = build_predictive_dataset(
        data_groups["observed_data"], posterior_group, {"chosen": np.array(choices)[None]}
    )
    return PriorSample(
        posterior_group,
        predictive_group,
        [(data.with_fields(chosen=choice),) for choice in choices],
        data_groups,
    )
