"""Comparison of models by their evidence: posterior probabilities and Bayes factors."""

import math
import os
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import positive
from thali._data.groups import GroupedData
from thali._data.judged import Judged
from thali._data.kinds import CHOICES
from thali._inference.parts import Batch, Record, run_serially
from thali._inference.progress import Progress
from thali._inference.threads import has_workers, run_all
from thali._inference.warn import warn
from thali._labels import shorten
from thali._model.evidence import EvidenceRun, refuse_other_fit
from thali._model.run_by_chains import RunByChains
from thali._model.saved import decoded, encoded, packed
from thali._posterior.evidence import LogEvidence
from thali.errors import (
    Argument,
    ArgumentError,
    ConvergenceWarning,
    Fact,
    IncompleteWarning,
    InPython,
    InterruptedWarning,
    Message,
    ThaliError,
)

from .engine import ignore_sigint
from .job import BY_EVIDENCE, Fit, key_of, opened_job
from .scorer import BASE
from .table import NOT_RUN

if TYPE_CHECKING:
    import pandas


# Finds the evidence of every model of a comparison, here in turn or on the workers of joblib, and
# records it


class EvidenceTask(NamedTuple):
    """The model whose evidence is to be found, with its seed. It travels to other processes."""

    place: Fit
    model: Any
    data: Any
    how: EvidenceRun
    home: int  # the process that asks


_MAX_NAMED = 5
_RUN = ("draws", "tune", "chains", "thin", "sensitivity")  # what of a run determines the evidence


def compare_by_evidence(
    named: dict[str, Any],
    data: Any,
    how: EvidenceRun,
    prior_odds: Mapping[str, float] | None,
    job: Any,
) -> "pandas.DataFrame":
    """The table of `thali.compare` with ``by="evidence"``."""
    odds = _checked_odds(prior_odds, named)
    for name, model in named.items():
        _check(name, model, data)
    base = log_evidence_of_guessing(data)
    settings = {name: getattr(how, name) for name in _RUN}
    source = packed({"base": base})
    with opened_job(job, BY_EVIDENCE, named, settings, data, how.random_seed, source) as (
        folder,
        seed,
    ):
        places = places_of(named)
        if folder is not None:
            folder.plan({key_of(place): place[0] for place in places}, "models")
        spread = len(named) > 1 and has_workers()
        how = how._replace(cores=how.cores or 1, progressbar=False) if spread else how
        tasks = [
            EvidenceTask(place, named[place[0]], data, how._replace(random_seed=seed), os.getpid())
            for place, seed in zip(places, seed.spawn(len(named)), strict=True)
        ]
        batch = Batch(tasks, lambda task: key_of(task.place), _found, _record_of, folder)
        interrupted = batch.finish(
            Progress(False, "", len(tasks)),
            lambda record: record["seconds"],
            partial(run_all, cores=None) if spread else run_serially,
        )
        if interrupted and not batch.records:
            raise KeyboardInterrupt
        table = table_of_evidence(named, batch.records, base, odds)
    table.attrs["interrupted"] = interrupted
    go_on = InPython("set job=FOLDER to be able to resume", "add --out DIR to be able to resume")
    warn_of_evidence(table, go_on if job is None else f"repeat the call to resume from '{job}'")
    return table


def table_of_evidence(
    names: Iterable[str],
    records: Mapping[str, Record],
    base: float | None,
    odds: Mapping[str, float] | None = None,
) -> "pandas.DataFrame":
    """The table of the models that are in the records; `odds`: before the data, None: equal."""
    places = places_of(names)
    found: dict[str, LogEvidence] = {
        place[0]: decoded(records[key_of(place)]["evidence"], {})
        for place in places
        if key_of(place) in records
    }
    missing = {name: NOT_RUN for name, _ in places if name not in found}
    prior = np.array([1.0 if odds is None else odds[name] for name in found])
    return evidence_table(found, prior / prior.sum(), base, missing)


def warn_of_evidence(table: "pandas.DataFrame", go_on: str | Fact) -> None:
    """What a reader of the table must know besides."""
    found, missing = table.attrs["evidence"], table.attrs["missing"]
    if waiting := list(missing["model"]):
        interrupted = table.attrs["interrupted"]
        kind = InterruptedWarning if interrupted else IncompleteWarning
        warn(
            kind(
                f"{'Stopped early: the' if interrupted else 'The'} evidence for"
                f" {shorten(waiting, _MAX_NAMED)} is not available yet, and the"
                " probabilities cover only the other models; ",
                go_on,
                ".",
            )
        )
    if unusable := [name for name, each in found.items() if not each.usable]:
        warn(ConvergenceWarning(*Message(*_unusable(unusable, found)).parts))


def places_of(names: Iterable[str]) -> list[Fit]:
    """Every model with its place, which decides about its seed."""
    return [(name, number) for number, name in enumerate(names)]


def _record_of(task: EvidenceTask, given: Any) -> Record:
    """Return what a task left, or raise that its process died."""
    if isinstance(given, BaseException):
        raise given
    return given


def _found(task: EvidenceTask) -> Record:
    """The evidence of a model, and the CPU seconds that it took."""
    began = time.process_time()
    try:
        with ignore_sigint(task.home):
            evidence = task.model._evidence_of(task.data, task.how)
    except ThaliError as error:
        raise type(error)(f"Model {task.place[0]!r}: ", error) from None
    return {"evidence": encoded(evidence, None), "seconds": time.process_time() - began}


def has_evidence(model: Any) -> bool:
    """Return whether the evidence of a model can be found."""
    return isinstance(model, RunByChains) and model._engine.has_evidence


def _check(name: str, model: Any, data: Any) -> None:
    """Refuse a model without evidence, one that was fitted to other data, and one that cannot be
    fitted to these."""
    if not has_evidence(model):
        raise ArgumentError(
            f"{name!r} is {model!r}, which has no evidence; evidence requires a latent-feature"
            " model fitted by MCMC, or ProductClasses(method='smc'). Compare by prediction, or"
            " remove the model."
        )
    try:
        refuse_other_fit(model, data)
        model._prepare(data)
    except ThaliError as error:
        raise type(error)(f"Model {name!r}: ", error) from None


def _checked_odds(prior_odds: Any, named: Mapping[str, Any]) -> dict[str, float] | None:
    """How probable each model is before the data; None: all alike."""
    if prior_odds is None:
        return None
    if not isinstance(prior_odds, Mapping) or set(prior_odds) != set(named):
        raise ArgumentError(
            Argument("prior_odds"),
            f" must map every model to a positive number, such as {dict.fromkeys(named, 1)}; got"
            f" {prior_odds!r}.",
        )
    return {
        name: positive("prior_odds", prior_odds[name], f"the prior odds of {name!r}")
        for name in named
    }


def _unusable(names: list[str], found: dict[str, LogEvidence]) -> tuple[object, ...]:
    parts: list[object] = []
    for name in names:
        parts += [f"Model {name!r}: ", found[name].convergence.message, " "]
    return tuple(parts[:-1])


EVIDENCE = "evidence"
# Kass & Raftery (1995), section 3.2: twice the logarithm of the Bayes factor, and what it is worth.
_WORDS = (
    (2.0, "not worth a mention"),
    (6.0, "positive"),
    (10.0, "strong"),
    (math.inf, "very strong"),
)


def log_evidence_of_guessing(data: Any) -> float | None:
    """The log-likelihood of guessing: every outcome is equally probable. None where there is no
    such thing."""
    if isinstance(data, Mapping):
        each = [log_evidence_of_guessing(part) for part in GroupedData(data).data]
        known = [value for value in each if value is not None]
        return sum(known) if len(known) == len(each) else None
    if (
        not isinstance(data, Judged)
        or data.worst is not None
        or (data.kind == CHOICES and data.n_ties)
    ):
        return None
    asked = data.questions()
    if asked is None:
        return None
    return float(np.sum(asked.log_coefficients() - asked.totals * np.log(asked.sizes)))


def evidence_table(
    found: dict[str, LogEvidence], prior: np.ndarray, base: float | None, missing: dict[str, str]
) -> "pandas.DataFrame":
    """The table of models with their evidence, prior probabilities, that of guessing, and why
    others are missing."""
    import pandas as pd

    from thali._tables import Table

    names = list(found)
    value = np.array([each.value for each in found.values()])
    error = np.array([each.standard_error for each in found.values()])
    probability, probability_se = posterior_probabilities(value, error, prior)
    best = int(np.argmax(value))
    rows = [] if base is None else [BASE]
    padding = [math.nan] * len(rows)
    values = np.append([] if base is None else [base], value)
    log_factors = values[len(rows) + best] - values
    errors = np.append([0.0] * len(rows), error)
    table = Table(
        {
            "log_evidence": values,
            "std_error": errors,
            "df": [*[math.inf] * len(rows), *(each.df for each in found.values())],
            "probability": [*padding, *probability],
            "probability_se": [*padding, *probability_se],
            "log_bayes_factor": log_factors,
            "log_bayes_factor_se": np.where(log_factors == 0.0, 0.0, np.hypot(errors, error[best])),
            "evidence_against": [
                "" if at == len(rows) + best else words(each) for at, each in enumerate(log_factors)
            ],
            "usable": [*[True] * len(rows), *(each.usable for each in found.values())],
        },
        index=pd.Index([*rows, *names], name="model"),
    )
    table.attrs.update(
        by=EVIDENCE,
        best=names[best],
        evidence=found,
        prior=dict(zip(names, prior.tolist(), strict=True)),
        fits=len(found) + len(missing),
        missing=pd.DataFrame({"model": list(missing), "why": list(missing.values())}),
    )
    if any(each.sensitivity is not None for each in found.values()):
        table.attrs["sensitivity"] = _sensitivity(found, prior)
    return table


def posterior_probabilities(
    log_evidence: np.ndarray, standard_error: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities of models, and their standard errors by the delta method.

    Examples
    --------
    >>> probability, error = posterior_probabilities(
    ...     np.log([1.0, 3.0]), np.zeros(2), np.array([0.5, 0.5])
    ... )
    >>> probability.round(2).tolist()
    [0.25, 0.75]
    """
    logs = log_evidence + np.log(prior)
    probability = np.exp(logs - logs.max())
    probability /= probability.sum()
    # d p[m] / d log Z[k] = p[m] (1[m = k] - p[k])
    slopes = probability[:, None] * (np.eye(len(prior)) - probability)
    return probability, np.sqrt((slopes**2) @ standard_error**2)


def words(log_bayes_factor: float) -> str:
    """What Kass & Raftery call such evidence against a model.

    Examples
    --------
    >>> words(4.0)
    'strong'
    """
    return next(word for most, word in _WORDS if 2.0 * log_bayes_factor <= most)


def _sensitivity(found: dict[str, LogEvidence], prior: np.ndarray) -> "pandas.DataFrame":
    """Evidence and probabilities with each change of the priors in all models that have such a
    prior."""
    import pandas as pd

    tried = {name: each.sensitivity for name, each in found.items() if each.sensitivity is not None}
    rows = []
    for change in dict.fromkeys(row for each in tried.values() for row in each.index):
        of_models = [
            (name, *map(float, tried[name].loc[change, ["log_evidence", "std_error"]]))
            if name in tried and change in tried[name].index
            else (name, each.value, each.standard_error)
            for name, each in found.items()
        ]
        values, errors = (np.array([row[at] for row in of_models]) for at in (1, 2))
        probability = posterior_probabilities(values, errors, prior)[0]
        log_factors = values.max() - values
        rows += [
            (change, name, value, error, p, log_factor)
            for (name, value, error), p, log_factor in zip(
                of_models, probability, log_factors, strict=True
            )
        ]
    columns = ["prior", "model", "log_evidence", "std_error", "probability", "log_bayes_factor"]
    return pd.DataFrame(rows, columns=columns).set_index(["prior", "model"])


def evidence_sentences(table: "pandas.DataFrame") -> list[str]:
    """What the evidence says, and what it does not: the best model, the others against it, and what
    is not usable."""
    best, found = table.attrs["best"], table.attrs["evidence"]
    row = table.loc[best]
    prior = table.attrs["prior"]
    equal = "equal prior odds" if len(set(prior.values())) == 1 else "these prior odds"
    factors = {
        name: tuple(table.loc[name, ["log_bayes_factor", "log_bayes_factor_se"]]) for name in found
    }
    near = [
        name for name, (factor, error) in factors.items() if name != best and factor < 2.0 * error
    ]
    beside = f", but cannot be distinguished from {shorten(near)}" if near else ""
    sentences = []
    if others := [name for name in factors if name != best]:
        second = min(others, key=lambda name: factors[name])
        what = "support {!r} over {!r}"
        if second in near:
            what = "do not separate {!r} and {!r}"
        elif factors[second][0] < 1.0:  # not worth a mention by Kass & Raftery (1995)
            what = "hardly favour {!r} over {!r}"
        by = "log Bayes factor {:.2f}, SE {:.2f}".format(*factors[second])
        sentences.append(f"The data {what.format(best, second)} ({by}).")
    sentences += [
        f"{best!r} has the highest evidence (log {row['log_evidence']:.2f}, standard error"
        f" {row['std_error']:.2f}) and, with {equal}, a posterior probability of"
        f" {_probability(row['probability'])}{beside}."
    ]
    for name in (name for name in found if name != best):
        other, (factor, error) = table.loc[name], factors[name]
        unsure = ", not distinguishable from 0" if name in near else ""
        sentences.append(
            f"The log Bayes factor of {best!r} over {name!r} is {factor:.2f} (standard error"
            f" {error:.2f}{unsure}); by Kass & Raftery (1995) the evidence against {name!r} is"
            f" {other['evidence_against']}."
        )
    if BASE in table.index and table.loc[BASE, "log_evidence"] > row["log_evidence"]:
        sentences.append(
            f"No model has higher evidence than {BASE}, random guessing (log"
            f" {table.loc[BASE, 'log_evidence']:.2f})."
        )
    if len(missing := table.attrs["missing"]):
        sentences.append(
            f"The evidence for {shorten([*missing['model']])} is not available yet; the"
            " probabilities cover only the other models."
        )
    sentences += [
        f"Model {name!r}: {each.convergence}" for name, each in found.items() if not each.usable
    ]
    if "sensitivity" in table.attrs:
        sentences.append(_how_sensitive(table, best))
    return sentences


def _how_sensitive(table: "pandas.DataFrame", best: str) -> str:
    """Whether another model has the greatest evidence under one of the other priors."""
    other = table.attrs["sensitivity"].groupby(level="prior", sort=False)["log_evidence"].idxmax()
    changed = {change: at[1] for change, at in other.items() if at[1] != best}
    if not changed:
        return (
            f"{best!r} has the highest evidence under each of the {len(other)} other priors tried."
        )
    named = "; ".join(f"{model!r} ({change})" for change, model in changed.items())
    return f"Under other priors another model has the highest evidence: {named}."


def _probability(value: float) -> str:
    return "> 0.999" if value > 0.999 else f"{value:.3f}"
