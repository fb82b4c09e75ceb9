"""Finds the evidence of every model of a comparison, one after the other, and records it."""

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._arguments import positive
from thali._labels import shorten
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
from thali.inference.parts import Batch, Record
from thali.inference.progress import Progress
from thali.inference.warn import warn
from thali.model.evidence import EvidenceRun, refuse_other_fit
from thali.model.run_by_chains import RunByChains
from thali.model.saved import decoded, encoded, packed
from thali.posterior.evidence import LogEvidence

from .by_evidence import evidence_table, log_evidence_of_guessing
from .job import BY_EVIDENCE, opened_job
from .shards import ELSEWHERE, Fit, Shard, key_of, share_of
from .table import NOT_RUN

if TYPE_CHECKING:
    import pandas

_MAX_NAMED = 5
_RUN = ("draws", "tune", "chains", "thin", "sensitivity")  # what of a run determines the evidence


def compare_by_evidence(
    named: dict[str, Any],
    data: Any,
    how: EvidenceRun,
    prior_odds: Mapping[str, float] | None,
    job: Any = None,
    shard: Shard | None = None,
) -> "pandas.DataFrame":
    """The table of `thali.compare` with ``by="evidence"``."""
    odds = _checked_odds(prior_odds, named)
    for name, model in named.items():
        _check(name, model, data)
    if shard is not None and shard[1] > len(named):
        raise ArgumentError(
            Argument("shard"),
            f": each shard has a model or more, so that there are {len(named)} at most; got {shard[1]:,}.",
        )
    base = log_evidence_of_guessing(data)
    settings = {name: getattr(how, name) for name in _RUN}
    source = packed({"base": base})
    with opened_job(job, BY_EVIDENCE, named, settings, data, how.random_seed, shard, source) as (folder, seed):
        own = share_of(places_of(named), shard)
        if folder is not None:
            folder.plan({key_of(place): place[0] for place in own}, "models")
        seeds = seed.spawn(len(named))

        def found(place: Fit) -> Record:
            return _found(place[0], named[place[0]], data, how._replace(random_seed=seeds[place[1]]))

        batch = Batch(own, key_of, found, folder=folder)
        interrupted = batch.finish(Progress(False, "", len(own)), lambda record: record["seconds"])
        if interrupted and not batch.records:
            raise KeyboardInterrupt
        table = table_of_evidence(named, batch.records, base, odds, own)
    table.attrs["interrupted"] = interrupted
    kept = InPython("with job=FOLDER it could go on", "with --out DIR it could go on")
    warn_of_evidence(table, kept if job is None else f"the same call goes on from '{job}'")
    return table


def table_of_evidence(
    names: Iterable[str],
    records: Mapping[str, Record],
    base: float | None,
    odds: Mapping[str, float] | None = None,
    own: Iterable[Fit] | None = None,
) -> "pandas.DataFrame":
    """The table of the models that are in the records.

    `odds`: before the data; None: all alike. `own`: what this shard is to find; None: all.
    """
    places = places_of(names)
    found: dict[str, LogEvidence] = {
        place[0]: decoded(records[key_of(place)]["evidence"], {}) for place in places if key_of(place) in records
    }
    mine = {name for name, _ in (places if own is None else own)}
    missing = {name: NOT_RUN if name in mine else ELSEWHERE for name, _ in places if name not in found}
    prior = np.array([1.0 if odds is None else odds[name] for name in found])
    return evidence_table(found, prior / prior.sum(), base, missing)


def warn_of_evidence(table: "pandas.DataFrame", go_on: str | Fact) -> None:
    """What a reader of the table must know besides."""
    found, missing = table.attrs["evidence"], table.attrs["missing"]
    if waiting := list(missing["model"][missing["why"] != ELSEWHERE]):
        interrupted = table.attrs["interrupted"]
        kind = InterruptedWarning if interrupted else IncompleteWarning
        warn(
            kind(
                f"{'Stopped early; the' if interrupted else 'The'} evidence of {shorten(waiting, _MAX_NAMED)} is not "
                "found yet, and the probabilities are those of the other models alone; ",
                go_on,
                ".",
            )
        )
    if unusable := [name for name, each in found.items() if not each.usable]:
        warn(ConvergenceWarning(*Message(*_unusable(unusable, found)).parts))


def places_of(names: Iterable[str]) -> list[Fit]:
    """Every model with its place, which decides about its seed."""
    return [(name, number) for number, name in enumerate(names)]


def _found(name: str, model: Any, data: Any, how: EvidenceRun) -> Record:
    """The evidence of a model, and the CPU seconds that it took."""
    began = time.process_time()
    try:
        evidence = model._evidence_of(data, how)
    except ThaliError as error:
        raise type(error)(f"Model {name!r}: ", error) from None
    return {"evidence": encoded(evidence, None), "seconds": time.process_time() - began}


def _check(name: str, model: Any, data: Any) -> None:
    """Refuse a model without evidence, one that was fitted to other data, and one that cannot be fitted to these."""
    if not (isinstance(model, RunByChains) and model._engine.has_evidence):
        raise ArgumentError(
            f"{name!r} is {model!r}, whose evidence is not known; evidence is for the latent-feature "
            "models by MCMC and for ProductClasses(method='smc'). Compare by prediction, or leave it out."
        )
    try:
        refuse_other_fit(model, data)
        model.prepare(data)
    except ThaliError as error:
        raise type(error)(f"Model {name!r}: ", error) from None


def _checked_odds(prior_odds: Any, named: Mapping[str, Any]) -> dict[str, float] | None:
    """How probable each model is before the data; None: all alike."""
    if prior_odds is None:
        return None
    if not isinstance(prior_odds, Mapping) or set(prior_odds) != set(named):
        raise ArgumentError(
            Argument("prior_odds"),
            f" must be a mapping from the name of every model to a number above 0, such as "
            f"{dict.fromkeys(named, 1)}; got {prior_odds!r}.",
        )
    return {name: positive("prior_odds", prior_odds[name], f"that of {name!r}") for name in named}


def _unusable(names: list[str], found: dict[str, LogEvidence]) -> tuple[object, ...]:
    parts: list[object] = []
    for name in names:
        parts += [f"{name}: ", found[name].verdict.message, " "]
    return tuple(parts[:-1])
