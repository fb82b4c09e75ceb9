"""The log evidence, by chains from the posterior to the prior, and how it depends on the priors."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._inference.mbar import log_mean_exp
from thali._inference.progress import Progress, build_duration_warning
from thali._inference.seeds import build_seed_sequence
from thali._inference.threads import run_in_threads
from thali._inference.warn import warn
from thali._model.evidence import EvidenceRun, check_finished
from thali._model.sampling import check_unchanged
from thali._posterior.evidence import LogEvidence, along_temperatures
from thali.errors import Argument, ArgumentError, ConvergenceWarning, DataError

from ..draws.columns import columns_of_chains
from ..likelihoods.parameter_priors import Normal
from ..operations import is_scale_free
from ..samplers.prior_ladder import PriorLadder, build_ladders, place_first_levels, place_levels
from ..samplers.task import build_task, compile_ahead
from ..weight_priors import GammaWeights, NormalWeights

if TYPE_CHECKING:
    import pandas

    from ..samplers.chains import SamplingTask

LOOKED_AT = 200  # draws from the prior, by which the temperatures of the pilot are placed
PILOTS, SHARE = 4, 5  # chains by which those of the run are placed; a fifth of its draws


def evidence_of_fit(model: Any, how: EvidenceRun) -> LogEvidence:
    """The evidence for the data of the fit, which must be whole and that of the model as it is."""
    check_finished(model)
    if "_state_" not in vars(model):
        raise ArgumentError(
            "The evidence requires the data of the fit, which this model lacks; fit the model"
            " again."
        )
    check_unchanged(model)
    data = model._get_fit_data()
    found = model._population(data).evidence(data, model._evidence_parts(data), how)
    if not found.usable:
        warn(ConvergenceWarning(found.convergence.message))
    return found


def task_of(parts: dict[str, Any], data: Any, how: EvidenceRun) -> "SamplingTask":
    """What the chains run, after every check."""
    of_run = {"draws": how.draws, "tune": how.tune, "thin": how.thin}
    task = build_task(data=data, **of_run, **parts | {"tempering": False})
    # refuses a prior that is a density alone, which may be improper
    parts["likelihood"].sample_prior_parameters(data, task.model.weights, np.random.default_rng(0))
    return task


def run_ladders(
    task: Any, constant: Callable[[Any], float], how: EvidenceRun, made_of: Any = PriorLadder
) -> tuple[LogEvidence, list[Any]]:
    """Place the temperatures, run the ladders, of the class `made_of`, and combine their draws."""
    seeds = build_seed_sequence(how.random_seed).spawn(3)
    total = how.chains * (task.tune + task.draws) * task.thin
    say = build_duration_warning("The log evidence", "fewer ", Argument("draws"))
    with Progress(how.progressbar, "log evidence", total, "sweeps", say) as progress:
        compile_ahead(task, progress)
        beta = _levels(task, how, seeds, progress, made_of)
        ladders = build_ladders(task, beta, how.chains, seeds[2], made_of)
        run_in_threads(ladders, how.cores, progress)
        progress.note("combining the draws of all temperatures")
        swaps = [
            np.sum([getattr(each.ladder, name) for each in ladders], axis=0)
            for name in ("accepted", "tried")
        ]
        rates = swaps[0] / np.maximum(swaps[1], 1.0)
        return along_temperatures(beta, _energies(ladders), rates, constant(ladders[0])), ladders


def _levels(
    task: Any, how: EvidenceRun, seeds: Sequence[Any], progress: Progress, made_of: Any
) -> np.ndarray:
    """Inverse temperatures from 1 to 0, placed by short runs."""

    def energies(draws: int, tune: int, beta: np.ndarray, chains: int, seed: Any) -> np.ndarray:
        short = build_ladders(
            replace(task, draws=draws, tune=tune, thin=1), beta, chains, seed, made_of
        )
        progress.note("placing the temperatures")
        run_in_threads(short, how.cores, _Quiet())
        return _energies(short)

    of_prior = energies(LOOKED_AT, 0, np.array([1.0, 0.0]), 1, seeds[0])[0, :, -1]
    if not np.isfinite(of_prior).any():
        raise DataError(
            f"None of {LOOKED_AT} draws from the prior gives the data a positive likelihood, so"
            " the evidence cannot be computed; check the likelihood, or choose priors that match"
            " the data."
        )
    beta, draws = place_first_levels(of_prior), max(LOOKED_AT, how.draws // SHARE)
    return place_levels(beta, energies(draws, draws, beta, PILOTS, seeds[1]))


class _Quiet:
    """Shows nothing."""

    def update(self, done: int) -> None:
        pass


def _energies(ladders: Sequence[Any]) -> np.ndarray:
    """Log-likelihoods (chains, draws, temperatures)."""
    return np.stack([each.energies for each in ladders])


def constant_of(likelihood: Any, data: Sequence[Any]) -> Callable[[PriorLadder], float]:
    """A function of a ladder: what the log-likelihood of the samplers leaves out, of these data
    together."""

    def constant(ladder: PriorLadder) -> float:
        drawn = ladder.collect_draws(1)
        columns = columns_of_chains([drawn], 1)
        parts = [
            likelihood.build_posterior_part(columns, drawn.extra, each, (1, 1), False)
            for each in data
        ]
        return float(sum(part.log_constant for part in parts))

    return constant


# How the log evidence depends on the priors: each halved and doubled ------------------------------


FACTORS = 0.5, 2.0


def sensitivity_of(
    found: LogEvidence,
    ladders: Sequence[PriorLadder],
    parts: dict[str, Any],
    data: Any,
    how: EvidenceRun,
) -> "pandas.DataFrame":
    """The log evidence under each change of the priors, a row each."""
    import pandas as pd

    rows = {}
    if ladders[0].task.model.learn_alpha:
        for factor in FACTORS:
            change, error = _reweighted([each.draws.alpha for each in ladders], factor)
            rows[f"rate of alpha x {factor:g}"] = (
                found.value + change,
                math.hypot(found.standard_error, error),
            )
    for name, changed in _changes(parts, ladders[0].task.model, data):
        other = run_ladders(
            task_of(changed, data, how), constant_of(changed["likelihood"], [data]), how
        )[0]
        rows[name] = other.value, other.standard_error
    table = pd.DataFrame(rows, ["log_evidence", "std_error"]).T.rename_axis("prior")
    return table.assign(difference=table["log_evidence"] - found.value)


def _reweighted(alpha: Sequence[np.ndarray], rate: float) -> tuple[float, float]:
    """The change of the log evidence if alpha ~ Gamma(1, rate), from E[rate exp(-(rate - 1)
    alpha)], and its error."""
    logs = math.log(rate) - (rate - 1.0) * np.array(alpha)
    change = log_mean_exp(logs)
    of_chain = np.exp(logs - change).mean(axis=1)
    return change, float(of_chain.std(ddof=1) / math.sqrt(len(of_chain))) if len(
        of_chain
    ) > 1 else math.nan


def _changes(parts: dict[str, Any], model: Any, data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names of changes of the priors of weights and sigma, and the parts with each."""
    likelihood = parts["likelihood"]
    for name, prior in _weight_priors(model, likelihood.min_shape):
        yield name, parts | {"weight_prior": prior}
    # of a likelihood whose own priors have a scale
    scaled_priors = getattr(likelihood, "scaled_priors", None)
    if scaled_priors is not None:
        for name, scaled in scaled_priors(data, FACTORS):
            yield name, parts | {"likelihood": scaled}


def _weight_priors(model: Any, least_shape: float) -> Iterator[tuple[str, Any]]:
    """Other priors of the weights, by name."""
    weights = model.weights
    for factor in FACTORS:
        if isinstance(weights, NormalWeights):
            yield f"sd of weights x {factor:g}", Normal(weights.mean, weights.sd * factor)
        elif weights.shape * factor >= least_shape:  # at the same mean
            yield f"shape of weights x {factor:g}", (weights.shape * factor, weights.rate * factor)
    if isinstance(weights, GammaWeights) and not is_scale_free(model.likelihood):
        for factor in FACTORS:
            yield f"mean of weights x {factor:g}", (weights.shape, weights.rate / factor)
