"""Estimation of the log evidence by tempered chains, and its sensitivity to the priors."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.mbar import log_mean_exp
from thali._inference.progress_display import Progress, build_duration_warning
from thali._inference.random_seeds import build_seed_sequence
from thali._inference.threads_and_processes import NoProgress, run_in_threads
from thali._model.evidence_arguments import EvidenceRun
from thali._posterior.log_evidence import LogEvidence, estimate_log_evidence
from thali.errors import Argument, DataError

from ..draws.feature_columns import concatenate_chain_columns
from ..kernel_operations import is_scale_free
from ..likelihoods.parameter_priors import Normal
from ..weight_priors import GammaWeights, NormalWeights
from .evidence_chains import PriorLadder, build_ladders, place_first_levels, place_levels
from .sampling_task import Likelihood, build_task, compile_ahead

if TYPE_CHECKING:
    import pandas

    from .chains import SamplingTask

PRIOR_DRAWS = 200  # draws from the prior that place the temperatures of the pilot
# chains of the pilot, which places the temperatures of the run; it has 1 / PILOT_SHARE of its draws
PILOT_CHAINS = 4
PILOT_SHARE = 5


def estimate_evidence(
    task_arguments: dict[str, Any], data: Any, run_settings: EvidenceRun
) -> LogEvidence:
    """Estimate the log evidence by tempered chains from posterior to prior."""
    task = _build_evidence_task(task_arguments, data, run_settings)
    evidence, ladders = _run_ladders(
        task, _build_constant(task_arguments["likelihood"], data), run_settings
    )
    if not run_settings.sensitivity:
        return evidence
    return replace(
        evidence,
        sensitivity=_estimate_sensitivity(evidence, ladders, task_arguments, data, run_settings),
    )


def _build_evidence_task(
    task_arguments: dict[str, Any], data: Any, run_settings: EvidenceRun
) -> "SamplingTask":
    """Check all arguments and build the evidence's sampling task."""
    untempered_arguments: dict[str, Any] = task_arguments | {"tempering": False}
    task = build_task(
        data=data,
        draws=run_settings.draws,
        tune=run_settings.tune,
        thin=run_settings.thin,
        **untempered_arguments,
    )
    # raises for a prior given by its density only, which may be improper
    task_arguments["likelihood"].sample_prior_parameters(
        data, task.model.weights, np.random.default_rng(0)
    )
    return task


def _run_ladders(
    task: "SamplingTask", compute_constant: Callable[[Any], float], run_settings: EvidenceRun
) -> tuple[LogEvidence, list[Any]]:
    """Run tempered chains from posterior to prior; return the log evidence and chains."""
    seeds = build_seed_sequence(run_settings.random_seed).spawn(3)
    n_sweeps = run_settings.chains * (task.tune + task.draws) * task.thin
    warn_duration = build_duration_warning("The log evidence", "fewer ", Argument("draws"))
    with Progress(
        run_settings.progressbar, "log evidence", n_sweeps, "sweeps", warn_duration
    ) as progress:
        compile_ahead(task, progress)
        inverse_temperatures = _place_temperatures(task, run_settings, seeds, progress)
        ladders = build_ladders(task, inverse_temperatures, run_settings.chains, seeds[2])
        run_in_threads(ladders, run_settings.cores, progress)
        progress.note("combining the draws of all temperatures")
        n_accepted = np.sum([chain.ladder.accepted for chain in ladders], axis=0)
        n_tried = np.sum([chain.ladder.tried for chain in ladders], axis=0)
        swap_rates = n_accepted / np.maximum(n_tried, 1.0)
        return estimate_log_evidence(
            inverse_temperatures,
            np.stack([ladder.energies for ladder in ladders]),
            swap_rates,
            compute_constant(ladders[0]),
        ), ladders


def _place_temperatures(
    task: "SamplingTask",
    run_settings: EvidenceRun,
    seeds: Sequence[Any],
    progress: Progress,
) -> np.ndarray:
    """Choose inverse temperatures from 1 to 0 by short pilot runs."""

    def run_pilot(
        n_pilot_draws: int,
        tune: int,
        inverse_temperatures: np.ndarray,
        chains: int,
        seed: np.random.SeedSequence,
    ) -> np.ndarray:
        """Run short chains at these inverse temperatures; return their log-likelihoods."""
        pilot_ladders = build_ladders(
            replace(task, draws=n_pilot_draws, tune=tune, thin=1),
            inverse_temperatures,
            chains,
            seed,
        )
        progress.note("placing the temperatures")
        run_in_threads(pilot_ladders, run_settings.cores, NoProgress())
        return np.stack([ladder.energies for ladder in pilot_ladders])

    prior_log_likelihoods = run_pilot(PRIOR_DRAWS, 0, np.array([1.0, 0.0]), 1, seeds[0])[0, :, -1]
    if not np.isfinite(prior_log_likelihoods).any():
        raise DataError(
            f"None of {PRIOR_DRAWS} draws from the prior gives the data a positive likelihood, so"
            " the evidence cannot be computed; check the likelihood, or choose priors that match"
            " the data."
        )
    inverse_temperatures = place_first_levels(prior_log_likelihoods)
    n_pilot_draws = max(PRIOR_DRAWS, run_settings.draws // PILOT_SHARE)
    return place_levels(
        inverse_temperatures,
        run_pilot(n_pilot_draws, n_pilot_draws, inverse_temperatures, PILOT_CHAINS, seeds[1]),
    )


def _build_constant(likelihood: Likelihood, data: Any) -> Callable[[PriorLadder], float]:
    """Return a function of a chain: the log-likelihood constant that samplers omit."""

    def compute_constant(ladder: PriorLadder) -> float:
        """Return the log-likelihood constant at the chain's first draw."""
        first_draw = ladder.collect_draws(1)
        feature_columns = concatenate_chain_columns([first_draw], 1)
        posterior_part = likelihood.build_posterior_part(
            feature_columns, first_draw.extra, data, (1, 1), False
        )
        return float(posterior_part.log_constant)

    return compute_constant


# Sensitivity of the log evidence to the priors ----------------------------------------------------


PRIOR_FACTORS = 0.5, 2.0  # of the scale of each prior


def _estimate_sensitivity(
    evidence: LogEvidence,
    ladders: Sequence[PriorLadder],
    task_arguments: dict[str, Any],
    data: Any,
    run_settings: EvidenceRun,
) -> "pandas.DataFrame":
    """Return the log evidence under other priors, one row per changed prior."""
    import pandas as pd

    table_rows = {}
    if ladders[0].task.model.learn_alpha:
        for factor in PRIOR_FACTORS:
            evidence_change, std_error = _reweight_alpha(
                [ladder.draws.alpha for ladder in ladders], factor
            )
            table_rows[f"rate of alpha x {factor:g}"] = (
                evidence.value + evidence_change,
                math.hypot(evidence.standard_error, std_error),
            )
    for prior_name, changed_parts in _list_prior_changes(
        task_arguments, ladders[0].task.model, data
    ):
        changed_evidence = _run_ladders(
            _build_evidence_task(changed_parts, data, run_settings),
            _build_constant(changed_parts["likelihood"], data),
            run_settings,
        )[0]
        table_rows[prior_name] = changed_evidence.value, changed_evidence.standard_error
    sensitivity_table = pd.DataFrame(table_rows, ["log_evidence", "std_error"]).T.rename_axis(
        "prior"
    )
    return sensitivity_table.assign(difference=sensitivity_table["log_evidence"] - evidence.value)


def _reweight_alpha(alpha: Sequence[np.ndarray], rate: float) -> tuple[float, float]:
    """Return the log evidence change if alpha ~ Gamma(1, rate), with its error."""
    # It is log E[rate exp(-(rate - 1) alpha)].
    log_ratios = math.log(rate) - (rate - 1.0) * np.array(alpha)
    evidence_change = log_mean_exp(log_ratios)
    chain_means = np.exp(log_ratios - evidence_change).mean(axis=1)
    if len(chain_means) == 1:
        return evidence_change, math.nan
    return evidence_change, float(chain_means.std(ddof=1) / math.sqrt(len(chain_means)))


def _list_prior_changes(
    task_arguments: dict[str, Any], model: Any, data: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, task arguments) for each alternative prior."""
    likelihood = task_arguments["likelihood"]
    for name, prior in _list_weight_priors(model, likelihood.min_shape):
        yield name, task_arguments | {"weight_prior": prior}
    # only likelihoods whose own priors have a scale define this
    scaled_priors = getattr(likelihood, "scaled_priors", None)
    if scaled_priors is not None:
        for name, likelihood_scaled in scaled_priors(data, PRIOR_FACTORS):
            yield name, task_arguments | {"likelihood": likelihood_scaled}


def _list_weight_priors(model: Any, least_shape: float) -> Iterator[tuple[str, Any]]:
    """Yield (name, prior) for alternative priors of the weights."""
    weight_prior = model.weights
    for factor in PRIOR_FACTORS:
        if isinstance(weight_prior, NormalWeights):
            yield f"sd of weights x {factor:g}", Normal(weight_prior.mean, weight_prior.sd * factor)
        elif weight_prior.shape * factor >= least_shape:  # at the same mean
            yield (
                f"shape of weights x {factor:g}",
                (weight_prior.shape * factor, weight_prior.rate * factor),
            )
    if isinstance(weight_prior, GammaWeights) and not is_scale_free(model.likelihood):
        for factor in PRIOR_FACTORS:
            yield f"mean of weights x {factor:g}", (weight_prior.shape, weight_prior.rate / factor)
