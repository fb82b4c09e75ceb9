"""Comparison of models by log evidence: posterior probabilities and Bayes factors."""

import math
import os
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._argument_checks import check_positive
from thali._data.base_classes import Judged
from thali._data.kinds import CHOICES
from thali._inference.numerics.weight_shares import compute_shares, scale_to_maximum
from thali._inference.progress_display import Progress
from thali._inference.resumable_tasks import Batch, Record, run_serially
from thali._inference.threads_and_processes import has_workers, run_all
from thali._inference.user_warnings import warn
from thali._labels import shorten
from thali._model.evidence_arguments import EvidenceRun
from thali._model.markov_chain_model import MarkovChainModel
from thali._model.model_files import decode_object, encode_arrays, encode_object
from thali._posterior.log_evidence import LogEvidence
from thali.errors import (
    Argument,
    ArgumentError,
    ConvergenceWarning,
    Fact,
    IncompleteWarning,
    InterruptedWarning,
    ThaliError,
    prefix_errors,
)

from .held_out_fits import ignore_sigint
from .job_folder import BY_EVIDENCE, Fit, advise_resuming, format_fit_key, open_job
from .score_table import NOT_RUN
from .scorer import BASE

if TYPE_CHECKING:
    import pandas


# Computation of the evidence of each model, in this process or on the workers of joblib -----------


class EvidenceTask(NamedTuple):
    """A model whose evidence a worker process computes, with data and seed."""

    fit: Fit
    model: Any
    data: Any
    run: EvidenceRun
    main_process: int  # the id of the main process


_MAX_NAMED = 5
_RUN = ("draws", "tune", "chains", "thin", "sensitivity")  # settings that determine the evidence


def compare_by_evidence(
    models: dict[str, Any],
    data: Any,
    run: EvidenceRun,
    prior_odds: Mapping[str, float] | None,
    job: str | os.PathLike[str] | None,
) -> "pandas.DataFrame":
    """Compare models by evidence; return the table of `thali.compare`."""
    odds = _check_odds(prior_odds, models)
    for name, model in models.items():
        _check_model(name, model, data)
    guessing_evidence = compute_guessing_evidence(data)
    settings = {name: getattr(run, name) for name in _RUN}
    encoded_source = encode_arrays({"base": guessing_evidence})
    with open_job(job, BY_EVIDENCE, models, settings, data, run.random_seed, encoded_source) as (
        folder,
        seed,
    ):
        fit_keys = number_models(models)
        if folder is not None:
            folder.plan({format_fit_key(fit): fit[0] for fit in fit_keys}, "models")
        run_tasks = run_serially
        if len(models) > 1 and has_workers():
            run_tasks = partial(run_all, cores=None)
            run = run._replace(cores=run.cores or 1, progressbar=False)
        tasks = [
            EvidenceTask(fit, models[fit[0]], data, run._replace(random_seed=fit_seed), os.getpid())
            for fit, fit_seed in zip(fit_keys, seed.spawn(len(models)), strict=True)
        ]
        batch = Batch(
            tasks, lambda task: format_fit_key(task.fit), _compute_evidence, _check_outcome, folder
        )
        is_interrupted = batch.finish(
            Progress(False, "", len(tasks)),
            lambda record: record["seconds"],
            run_tasks,
        )
        if is_interrupted and not batch.records:
            raise KeyboardInterrupt
        table = build_table_of_records(models, batch.records, guessing_evidence, odds)
    table.attrs["interrupted"] = is_interrupted
    warn_about_evidence(table, advise_resuming(job))
    return table


def build_table_of_records(
    model_names: Iterable[str],
    records: Mapping[str, Record],
    guessing_evidence: float | None,
    odds: Mapping[str, float],
) -> "pandas.DataFrame":
    """Build the evidence table from stored records of the models.

    `odds` are the prior odds; None means equal odds.
    """
    evidence_by_name: dict[str, LogEvidence] = {}
    missing_reasons = {}
    for fit_key in number_models(model_names):
        if format_fit_key(fit_key) in records:
            evidence_by_name[fit_key[0]] = decode_object(
                records[format_fit_key(fit_key)]["evidence"], {}
            )
        else:
            missing_reasons[fit_key[0]] = NOT_RUN
    prior_odds = np.array([odds[name] for name in evidence_by_name])
    return build_evidence_table(
        evidence_by_name, prior_odds / prior_odds.sum(), guessing_evidence, missing_reasons
    )


def warn_about_evidence(table: "pandas.DataFrame", resume_advice: str | Fact) -> None:
    """Warn about models whose evidence is missing or unreliable."""
    missing_models = table.attrs["missing"]
    if pending_models := list(missing_models["model"]):
        category = IncompleteWarning
        sentence_start = "The"
        if table.attrs["interrupted"]:
            category = InterruptedWarning
            sentence_start = "Stopped early: the"
        warn(
            category(
                f"{sentence_start} evidence for {shorten(pending_models, _MAX_NAMED)} is not"
                " available yet, and the probabilities cover only the other models; ",
                resume_advice,
                ".",
            )
        )
    message_parts: list[object] = []
    for name, evidence in table.attrs["evidence"].items():
        if not evidence.usable:
            message_parts += [f"Model {name!r}: ", evidence.convergence.message, " "]
    if message_parts:
        warn(ConvergenceWarning(*message_parts[:-1]))


def number_models(model_names: Iterable[str]) -> list[Fit]:
    """Return (name, index) of each model; the index determines its seed."""
    return [(name, index) for index, name in enumerate(model_names)]


def _check_outcome(task: EvidenceTask, outcome: Any) -> Record:
    """Return a worker's record; raise the error if its process died."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _compute_evidence(task: EvidenceTask) -> Record:
    """Compute the log evidence of a task's model; return it with CPU seconds."""
    start_seconds = time.process_time()
    with prefix_errors(f"Model {task.fit[0]!r}", kind=ThaliError), ignore_sigint(task.main_process):
        evidence = task.model._compute_log_evidence(task.data, task.run)
    return {
        "evidence": encode_object(evidence, None),
        "seconds": time.process_time() - start_seconds,
    }


def has_evidence(model: MarkovChainModel) -> bool:
    """Return whether `log_evidence` is implemented for a model."""
    return isinstance(model, MarkovChainModel) and model._engine.has_evidence


def _check_model(model_name: str, model: MarkovChainModel, data: Any) -> None:
    """Raise ArgumentError for a model without evidence, or fitted to other data."""
    if not has_evidence(model):
        raise ArgumentError(
            f"{model_name!r} is {model!r}, which has no evidence; evidence requires a"
            " latent-feature model fitted by MCMC, or ProductClasses(method='smc'). Compare by"
            " prediction, or remove the model."
        )
    with prefix_errors(f"Model {model_name!r}", kind=ThaliError):
        model._check_fitted_data(data)
        model.prepare(data)


def _check_odds(
    prior_odds: Mapping[str, float] | None, models: Mapping[str, Any]
) -> dict[str, float]:
    """Return prior odds by model name; equal odds for None."""
    if prior_odds is None:
        return dict.fromkeys(models, 1.0)
    if not isinstance(prior_odds, Mapping) or set(prior_odds) != set(models):
        raise ArgumentError(
            Argument("prior_odds"),
            f" must map every model to a positive number, such as {dict.fromkeys(models, 1)}; got"
            f" {prior_odds!r}.",
        )
    return {
        name: check_positive("prior_odds", prior_odds[name], f"the prior odds of {name!r}")
        for name in models
    }


EVIDENCE = "evidence"
# Kass & Raftery (1995), section 3.2: upper bounds of twice the log Bayes factor, and their words.
_WORDS = (
    (2.0, "not worth a mention"),
    (6.0, "positive"),
    (10.0, "strong"),
    (math.inf, "very strong"),
)


def compute_guessing_evidence(data: Any) -> float | None:
    """Return the log-likelihood if all outcomes are equally probable; None if undefined."""
    if not isinstance(data, Judged) or data.worst is not None:
        return None
    if data.kind == CHOICES and data.n_ties:
        return None
    questions = data.questions()
    if questions is None:
        return None
    log_likelihoods = questions.log_coefficients() - questions.totals * np.log(questions.sizes)
    return float(np.sum(log_likelihoods))


def build_evidence_table(
    evidence_by_name: dict[str, LogEvidence],
    prior_probabilities: np.ndarray,
    guessing_evidence: float | None,
    missing_reasons: dict[str, str],
) -> "pandas.DataFrame":
    """Build the table of log evidence, posterior probabilities, Bayes factors.

    `guessing_evidence` is the log evidence of random guessing, `missing_reasons` contains the
    reasons why models have no evidence.
    """
    import pandas as pd

    from thali._exportable_table import Table

    names = list(evidence_by_name)
    rows = {
        name: (evidence.value, evidence.standard_error, evidence.df, evidence.usable)
        for name, evidence in evidence_by_name.items()
    }
    if guessing_evidence is not None:
        rows = {BASE: (guessing_evidence, 0.0, math.inf, True)} | rows
    index = pd.Index(list(rows), name="model")
    table = Table(list(rows.values()), index, ["log_evidence", "std_error", "df", "usable"])
    model_rows = table.loc[names]
    best_name = model_rows["log_evidence"].idxmax()
    table.loc[names, "probability"], table.loc[names, "probability_se"] = (
        compute_posterior_probabilities(
            model_rows["log_evidence"].to_numpy(),
            model_rows["std_error"].to_numpy(),
            prior_probabilities,
        )
    )
    log_factors = model_rows.loc[best_name, "log_evidence"] - table["log_evidence"]
    standard_errors = np.hypot(table["std_error"], model_rows.loc[best_name, "std_error"])
    table["log_bayes_factor"] = log_factors
    table["log_bayes_factor_se"] = np.where(log_factors != 0.0, standard_errors, 0.0)
    table["evidence_against"] = log_factors.map(classify_evidence)
    table.loc[best_name, "evidence_against"] = ""
    table["usable"] = table.pop("usable")
    table.attrs.update(
        by=EVIDENCE,
        best=best_name,
        evidence=evidence_by_name,
        prior=dict(zip(names, prior_probabilities.tolist(), strict=True)),
        fits=len(evidence_by_name) + len(missing_reasons),
        missing=pd.DataFrame(
            {"model": list(missing_reasons), "why": list(missing_reasons.values())}
        ),
    )
    if any(evidence.sensitivity is not None for evidence in evidence_by_name.values()):
        table.attrs["sensitivity"] = _build_sensitivity_table(evidence_by_name, prior_probabilities)
    return table


def compute_posterior_probabilities(
    log_evidence: np.ndarray, standard_error: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return posterior probabilities of models, and their standard errors.

    Examples
    --------
    >>> probability, error = compute_posterior_probabilities(
    ...     np.log([1.0, 3.0]), np.zeros(2), np.array([0.5, 0.5])
    ... )
    >>> probability.round(2).tolist()
    [0.25, 0.75]
    """
    probabilities = compute_shares(scale_to_maximum(log_evidence + np.log(prior)))
    # d p[m] / d log Z[k] = p[m] (1[m = k] - p[k])
    jacobian = probabilities[:, None] * (np.eye(len(prior)) - probabilities)
    return probabilities, np.sqrt((jacobian**2) @ standard_error**2)


def classify_evidence(log_bayes_factor: float) -> str:
    """Return Kass & Raftery's words for a log Bayes factor, such as "strong".

    Examples
    --------
    >>> classify_evidence(4.0)
    'strong'
    """
    return next(word for bound, word in _WORDS if 2.0 * log_bayes_factor <= bound)


def _build_sensitivity_table(
    evidence_by_name: dict[str, LogEvidence], prior: np.ndarray
) -> "pandas.DataFrame":
    """Build the table of evidence and probabilities under changed priors."""
    # A change applies to all models with such a prior.
    import pandas as pd

    original_evidence = pd.DataFrame(
        [(evidence.value, evidence.standard_error) for evidence in evidence_by_name.values()],
        list(evidence_by_name),
        ["log_evidence", "std_error"],
    )
    evidence_by_change = {
        name: evidence.sensitivity[["log_evidence", "std_error"]]
        for name, evidence in evidence_by_name.items()
        if evidence.sensitivity is not None
    }
    table_by_change = {}
    for prior_change in dict.fromkeys(
        label
        for changed_evidence in evidence_by_change.values()
        for label in changed_evidence.index
    ):
        table = original_evidence.copy()
        for name, changed_evidence in evidence_by_change.items():
            if prior_change in changed_evidence.index:
                table.loc[name] = changed_evidence.loc[prior_change]
        table["probability"], _ = compute_posterior_probabilities(
            table["log_evidence"].to_numpy(), table["std_error"].to_numpy(), prior
        )
        table["log_bayes_factor"] = table["log_evidence"].max() - table["log_evidence"]
        table_by_change[prior_change] = table
    return pd.concat(table_by_change, names=["prior", "model"])


def describe_evidence(table: "pandas.DataFrame") -> list[str]:
    """Return sentences on the best model, the others, and unreliable evidence."""
    best_model = table.attrs["best"]
    evidence_by_name = table.attrs["evidence"]
    best_row = table.loc[best_model]
    odds_text = "these prior odds"
    if len(set(table.attrs["prior"].values())) == 1:
        odds_text = "equal prior odds"
    bayes_factors = {
        name: tuple(table.loc[name, ["log_bayes_factor", "log_bayes_factor_se"]])
        for name in evidence_by_name
        if name != best_model
    }
    close_models = [
        name for name, (bayes_factor, error) in bayes_factors.items() if bayes_factor < 2.0 * error
    ]
    caveat = ""
    if close_models:
        caveat = f", but cannot be distinguished from {shorten(close_models)}"
    sentences = []
    if bayes_factors:
        runner_up = min(bayes_factors, key=lambda name: bayes_factors[name])
        verb = "support {!r} over {!r}"
        if runner_up in close_models:
            verb = "do not clearly favour {!r} over {!r}"
        elif bayes_factors[runner_up][0] < 1.0:  # not worth a mention by Kass & Raftery (1995)
            verb = "barely favour {!r} over {!r}"
        factor_text = "log Bayes factor {:.2f}, SE {:.2f}".format(*bayes_factors[runner_up])
        sentences.append(f"The data {verb.format(best_model, runner_up)} ({factor_text}).")
    sentences.append(
        f"{best_model!r} has the highest evidence (log {best_row['log_evidence']:.2f}, standard"
        f" error {best_row['std_error']:.2f}) and, with {odds_text}, a posterior probability of"
        f" {_format_probability(best_row['probability'])}{caveat}."
    )
    for name, (bayes_factor, error) in bayes_factors.items():
        doubt = ""
        if name in close_models:
            doubt = ", not distinguishable from 0"
        sentences.append(
            f"The log Bayes factor of {best_model!r} over {name!r} is {bayes_factor:.2f}"
            f" (standard error {error:.2f}{doubt}); by Kass & Raftery (1995) the evidence against"
            f" {name!r} is {table.loc[name, 'evidence_against']}."
        )
    if BASE in table.index and table.loc[BASE, "log_evidence"] > best_row["log_evidence"]:
        sentences.append(
            f"No model has higher evidence than {BASE}, random guessing (log"
            f" {table.loc[BASE, 'log_evidence']:.2f})."
        )
    if len(missing_models := table.attrs["missing"]):
        sentences.append(
            f"The evidence for {shorten([*missing_models['model']])} is not available yet; the"
            " probabilities cover only the other models."
        )
    sentences += [
        f"Model {name!r}: {evidence.convergence}"
        for name, evidence in evidence_by_name.items()
        if not evidence.usable
    ]
    if "sensitivity" in table.attrs:
        sentences.append(_describe_sensitivity(table, best_model))
    return sentences


def _describe_sensitivity(table: "pandas.DataFrame", best: str) -> str:
    """Return a sentence on which models are best under other priors."""
    log_evidence = table.attrs["sensitivity"].groupby(level="prior", sort=False)["log_evidence"]
    best_by_prior = {
        prior_change: model for prior_change, (_, model) in log_evidence.idxmax().items()
    }
    other_best = [
        f"{model!r} ({prior_change})"
        for prior_change, model in best_by_prior.items()
        if model != best
    ]
    if not other_best:
        return (
            f"{best!r} has the highest evidence under each of the {len(best_by_prior)} other priors"
            " tried."
        )
    return f"Under other priors another model has the highest evidence: {'; '.join(other_best)}."


def _format_probability(probability: float) -> str:
    """Format a model's probability as text."""
    if probability > 0.999:
        return "> 0.999"
    return f"{probability:.3f}"
