"""Fit of the hierarchical logit: chains, fitted attributes and draws from the prior."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.markov_chains import FIRST_DRAWS, Run
from thali._inference.numerics.weight_shares import divide_positive
from thali._inference.random_seeds import build_seed_sequence, spawn_generators
from thali._model.chain_runs import Sampling, limit_run
from thali._model.simulated_data import PriorSample, build_predictive_dataset
from thali._posterior.posterior_tree import PosteriorTree

from ..logit_likelihood import choice_probabilities, encode_choices
from .attention import Attention
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
DEFAULT_SCALE, DEFAULT_ATTENTION_SCALE = 1.0, 0.2  # V: wide tastes hide inattention
# sweeps per draw: shares of attentive people mix more slowly than tastes
DEFAULT_THIN, DEFAULT_ATTENTION_THIN = 2, 4
# size of the tastes in the draws before the first convergence check
_FIRST_CHECK_BYTES = 2**29
_MIN_FIRST_DRAWS = 100  # of a chain before the first convergence check
# seconds of a sweep per person, per pair of columns, per cell of the table
_PERSON_SECONDS, _PAIR_SECONDS, _CELL_SECONDS = 1.5e-6, 3e-9, 1.4e-8
_ATTENTION_SECONDS = 2e-8  # per row and attribute that may be ignored


def build_sampling(source: "ChoiceExperiment", run: Run, parts: FitArguments) -> Sampling[Any]:
    """Return the prepared chains of a fit, with the conversion of draws to attributes."""
    import xarray as xr

    from .hierarchical_sweep import TasteChain, build_problem

    coding, scale, covariates, attention, prior = parts
    n_people, columns = len(source.respondents), len(coding.names)
    default_thin = DEFAULT_THIN
    if attention.names:
        default_thin = DEFAULT_ATTENTION_THIN
    size = run.chains * n_people * columns * np.dtype(float).itemsize  # of a draw
    first_draws, first_thin = _choose_first_draws(run.thin, default_thin, size)
    settings = {"draws": run.draws, "tune": run.tune, "chains": run.chains, "thin": first_thin}
    tune = run.tune  # in draws
    if run.thin is None:
        tune = run.tune * default_thin // first_thin
    sweep = estimate_sweep_seconds(n_people, len(source.row_product), columns, len(attention.names))
    bound = limit_run(run._replace(tune=tune), first_thin, sweep, first_draws)
    run, thin = bound.run._replace(thin=bound.thin), bound.thin

    @cache
    def build_chain_problem() -> Any:
        """Return data and prior as the kernels read them."""
        tasks = encode_choices(source, coding)
        scaled = tasks._replace(matrix=tasks.matrix / coding.scale @ scale.steps)
        problem_parts: tuple[Any, ...] = covariates.matrix, attention.owned, scale.price
        if attention.people is not None:
            problem_parts = *problem_parts, attention.people.matrix
        return build_problem(scaled, source.first_task, prior, scale.sign, *problem_parts)

    def build_chains(draws: int, seed: np.random.SeedSequence) -> "list[TasteChain]":
        """Return chains of the hierarchical logit from this seed."""
        return [
            TasteChain(build_chain_problem(), rng, draws, run.tune * thin, thin)
            for rng in spawn_generators(build_seed_sequence(seed).spawn(2)[0], run.chains)
        ]

    def convert_to_tree(chains: "Sequence[TasteChain]") -> "xarray.DataTree":
        """Return the posterior tree of these chains."""
        attrs = {"thin": thin, "tuning_steps": run.tune * thin}
        tree = build_tree(chains, source.respondents, parts, attrs)
        posterior = tree["posterior"].to_dataset()
        effects = compute_monitored_effects(posterior["beta"].values, source, coding)
        tree["posterior"] = xr.DataTree(posterior.assign(effects))
        return tree

    return Sampling(
        source,
        run,
        build_chains,
        convert_to_tree,
        lambda tree, chains, seed: _build_attributes(tree, source, parts, seed),
        settings=settings,
        first_draws=bound.first_draws,
        data_max_draws=bound.max_draws,
        forecast=bound.forecast,
    )


def _choose_first_draws(thin: int | None, default_thin: int, size: int) -> tuple[int, int]:
    """Return the draws before the first check, and the sweeps per draw of `size` bytes."""
    if thin is not None:
        return FIRST_DRAWS, thin
    # large draws are fewer, with more sweeps between them, also in a continued fit
    first_draws = max(_MIN_FIRST_DRAWS, min(FIRST_DRAWS, _FIRST_CHECK_BYTES // size))
    return first_draws, default_thin * -(-FIRST_DRAWS // first_draws)


def _build_attributes(
    tree: "xarray.DataTree",
    source: "ChoiceExperiment",
    parts: FitArguments,
    seed: np.random.SeedSequence,
) -> dict[str, Any]:
    """Return the fitted attributes by name, from the tree of draws."""
    return {
        "_new_people_": build_seed_sequence(seed).spawn(2)[1],
        "_scheme_": source.scheme,
        "_coding_": parts.coding,
        "_scale_": parts.scale,
        "_covariates_": parts.covariates,
        "_respondents_": source.respondents,
        "_looking_": parts.attention.people,
        **_posterior_means(tree, parts.scale, parts.attention),
    }


def estimate_sweep_seconds(
    n_people: int, n_rows: int, n_columns: int, n_ignorable: int = 0
) -> float:
    """Return the expected CPU time of a sweep in seconds; see `benchmarks/run_time_forecast.py`."""
    return (
        n_people * (_PERSON_SECONDS + _PAIR_SECONDS * n_columns**2)
        + (_CELL_SECONDS * n_columns + _ATTENTION_SECONDS * n_ignorable) * n_rows
    )


def _posterior_means(
    tree: "xarray.DataTree", scale: "TasteScale", attention: Attention
) -> dict[str, Any]:
    """Return posterior means as fitted attributes, by name."""
    import pandas

    posterior = PosteriorTree(tree).draws
    over = ["chain", "draw"]
    beta = posterior["beta"]
    if scale.price >= 0:
        beta = beta.copy(data=scale.convert_tastes(beta.values))
    tastes = beta.mean(over)
    people, names = (
        pandas.Index(tastes[dim].values, name=dim) for dim in ("respondent", "coefficient")
    )
    if scale.price >= 0:
        names = names.where(np.arange(len(names)) != scale.price, f"scale[{names[scale.price]}]")
    has_sign = np.abs(scale.steps) @ (scale.sign != 0.0) > 0.0
    people_means = tastes.mean("respondent").values
    if attention.names:  # mean over attentive people
        heeding = attention.is_heeded(posterior["attends"].values).mean(axis=(0, 1, 2))
        people_means = divide_positive(people_means, heeding)
    means = np.where(has_sign, people_means, posterior["mean"].mean(over))
    return {
        "coef_": pandas.Series(means, names, name="coef"),
        "individual_": pandas.DataFrame(tastes.values, people, names),
    }


# Draws from the prior of the hierarchical logit, and choices simulated at each of them ------------


def sample_taste_prior(
    parts: FitArguments, data: "ChoiceExperiment", rngs: Sequence[np.random.Generator]
) -> PriorSample:
    """Draw parameters from the prior and choices in all tasks, once per generator."""
    from scipy.stats import invwishart

    coding, scale, covariates, attention, prior = parts
    tasks = encode_choices(data, coding)
    matrix = tasks.matrix / coding.scale @ scale.steps
    starts, task_of_row = tasks.first_row[:-1], tasks.task_of_row
    person_of_row = data.respondent_of_task[task_of_row]
    n_people, p = len(data.respondents), matrix.shape[1]
    n_columns = 0
    if attention.people is not None:
        n_columns = len(attention.people.names)
    draws, chosen = [], []
    for rng in rngs:
        mean = prior.mean_sds(scale.sign) * rng.standard_normal((covariates.matrix.shape[1], p))
        covariance = np.reshape(
            invwishart.rvs(prior.df, prior.df * prior.scale * np.eye(p), random_state=rng), (p, p)
        )
        beta = (
            covariates.matrix @ mean
            + rng.standard_normal((n_people, p)) @ np.linalg.cholesky(covariance).T
        )
        beta = scale.apply_signs(beta)
        rate = rng.random(len(attention.names))
        effect = rng.standard_normal((n_columns, len(rate)))
        attends = rng.random((n_people, len(rate))) < attention.attention_rates(rate, effect)
        heeded = np.where(attention.is_heeded(attends), beta, 0.0)
        utility = (matrix * heeded[person_of_row]).sum(axis=1)
        noisy_utility = utility + rng.gumbel(
            size=utility.size
        )  # the largest is the choice of a logit
        choice = np.array([part.argmax() for part in np.split(noisy_utility, starts[1:])])
        terms = np.log(choice_probabilities(utility, task_of_row)[starts + choice])
        draws.append((mean, covariance, beta, terms.sum(), rate, effect, attends))
        chosen.append(choice)
    arrays = [np.asarray(values)[None] for values in zip(*draws, strict=True)]
    group = build_posterior_group(*arrays, respondents=data.respondents, parts=parts)
    group = group.assign(compute_monitored_effects(group["beta"].values, data, coding))
    fixed = {"observed_data": build_observed_group(data.chosen)}
    predictive = build_predictive_dataset(
        fixed["observed_data"], group, {"chosen": np.array(chosen)[None]}
    )
    return PriorSample(
        group, predictive, [(data.with_fields(chosen=choice),) for choice in chosen], fixed
    )
