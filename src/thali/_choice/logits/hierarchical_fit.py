"""Fit of the hierarchical logit: chains, fitted attributes and draws from the prior."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.markov_chains import FIRST_DRAWS, Run
from thali._inference.random_seeds import build_seed_sequence, spawn_generators
from thali._model.chain_runs import ChainFit
from thali._model.simulated_data import PriorSample, build_predictive_dataset
from thali._posterior.posterior_tree import PosteriorTree

from ..logit_likelihood import choice_probabilities, encode_choices
from .hierarchical_draws import (
    FitArguments,
    TasteScale,
    build_observed_group,
    build_posterior_group,
    build_taste_tree,
    compute_monitored_effects,
)

if TYPE_CHECKING:
    import xarray

    from thali._data.experiments import ChoiceExperiment

    from .hierarchical_logit import HierarchicalLogit
    from .hierarchical_sweep import TasteChain, TasteProblem

MEAN_SD = 10.0  # prior standard deviation of a mean taste
DEFAULT_SCALE = 1.0  # V
DEFAULT_THIN = 2  # sweeps per draw
# size of the tastes in the draws before the first convergence check
_FIRST_CHECK_BYTES = 2**29
_MIN_FIRST_DRAWS = 100  # of a chain before the first convergence check
# seconds of a sweep per person, per pair of columns, per cell of the table
_PERSON_SECONDS = 1.5e-6
_PAIR_SECONDS = 3e-9
_CELL_SECONDS = 1.4e-8


class TasteFit(ChainFit["TasteChain"]):
    """Fit of the hierarchical logit: Gibbs chains of tastes and of their distribution."""

    model: "HierarchicalLogit"
    source: "ChoiceExperiment"

    def prepare(self, run: Run) -> None:
        """Limit the lengths to what the size of the data allows."""
        self.arguments: FitArguments = self.inputs
        n_people = len(self.source.respondents)
        n_columns = len(self.arguments.coding.names)
        draw_bytes = run.chains * n_people * n_columns * np.dtype(float).itemsize
        first_draws, first_thin = _choose_first_draws(run.thin, draw_bytes)
        self.job_settings = run.lengths | {"thin": first_thin}
        if run.thin is None:  # the warm-up is a number of draws, which are now further apart
            run = run._replace(tune=run.tune * DEFAULT_THIN // first_thin)
        sweep_seconds = estimate_sweep_seconds(n_people, len(self.source.row_product), n_columns)
        self.thin = self.set_lengths(run, first_thin, sweep_seconds, first_draws).thin
        self.run = self.run._replace(thin=self.thin)

    @cached_property
    def problem(self) -> "TasteProblem":
        """Data and prior as the kernels read them."""
        from .hierarchical_sweep import build_problem

        coding, scale, covariates, prior = self.arguments
        tasks = encode_choices(self.source, coding)
        scaled_tasks = tasks._replace(matrix=tasks.matrix / coding.scale @ scale.steps)
        return build_problem(
            scaled_tasks, self.source.first_task, prior, scale.sign, covariates.matrix, scale.price
        )

    def build_chains(self, draws: int, seed: np.random.SeedSequence) -> "list[TasteChain]":
        """Return new chains; the second child of the seed is for new respondents."""
        from .hierarchical_sweep import TasteChain

        chain_seed = build_seed_sequence(seed).spawn(2)[0]
        return [
            TasteChain(self.problem, rng, draws, self.run.tune * self.thin, self.thin)
            for rng in spawn_generators(chain_seed, self.run.chains)
        ]

    def build_tree(self, chains: "Sequence[TasteChain]") -> "xarray.DataTree":
        """Return the posterior tree, with the effects whose convergence is checked."""
        import xarray as xr

        attrs = {"thin": self.thin, "tuning_steps": self.run.tune}
        tree = build_taste_tree(chains, self.source.respondents, self.arguments, attrs)
        posterior = tree["posterior"].to_dataset()
        effects = compute_monitored_effects(
            posterior["beta"].values, self.source, self.arguments.coding
        )
        tree["posterior"] = xr.DataTree(posterior.assign(effects))
        return tree

    def build_attributes(
        self, tree: "xarray.DataTree", chains: "Sequence[TasteChain]"
    ) -> dict[str, Any]:
        """Return the coding, the seed of new respondents and the posterior means."""
        return {
            "_new_people_": build_seed_sequence(self.run.random_seed).spawn(2)[1],
            "_scheme_": self.source.scheme,
            "_coding_": self.arguments.coding,
            "_scale_": self.arguments.scale,
            "_covariates_": self.arguments.covariates,
            "_respondents_": self.source.respondents,
            **_compute_posterior_means(tree, self.arguments.scale),
        }


def _choose_first_draws(thin: int | None, draw_bytes: int) -> tuple[int, int]:
    """Return the draws before the first check, and the sweeps per draw of `draw_bytes`."""
    if thin is not None:
        return FIRST_DRAWS, thin
    # large draws are fewer, with more sweeps between them, also in a continued fit
    first_draws = max(_MIN_FIRST_DRAWS, min(FIRST_DRAWS, _FIRST_CHECK_BYTES // draw_bytes))
    return first_draws, DEFAULT_THIN * -(-FIRST_DRAWS // first_draws)


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
    tastes = beta.mean(draw_dims, skipna=False)
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
    task_starts = tasks.first_row[:-1]
    task_of_row = tasks.task_of_row
    person_of_row = data.respondent_of_task[task_of_row]
    n_people = len(data.respondents)
    p = model_matrix.shape[1]
    parameter_draws = []
    choices = []
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
    mean, covariance, beta, log_likelihood = (
        np.asarray(values)[None] for values in zip(*parameter_draws, strict=True)
    )
    posterior_group = build_posterior_group(
        mean, covariance, beta, log_likelihood, data.respondents, fit_arguments
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
