"""The engines of product classes: annealed chains, and groups of particles."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import ArgumentError, Message, Setting
from thali.inference.chains import Run as ChainRun
from thali.model.base import Job
from thali.model.engine import Chains
from thali.model.evidence import EvidenceRun, refuse_unfinished
from thali.posterior.evidence import LogEvidence
from thali.posterior.verdict import Verdict

from .arguments import FIRST_SWEEPS
from .engines.path import USABLE

if TYPE_CHECKING:
    from .arguments import Settings


class Annealed(Chains):
    """Independent annealed chains."""

    has_evidence = True
    groups = "chains"  # what several of are run is called, and the argument that says how many
    usual_run = {"sweeps": FIRST_SWEEPS}  # of a comparison
    sentence = "classes.annealed"  # of the methods section

    def job(self, model: Any, data: Any, settings: "Settings", how: ChainRun, remarks: Sequence[str | Message]) -> Job:
        """The fit."""
        return model._job_of(model._sampling(data, how), str(data), remarks)

    def evidence_of(self, model: Any, data: Any, how: EvidenceRun) -> LogEvidence:
        """The log evidence of a fit to these data."""
        raise ArgumentError("the evidence of product classes is estimated with ", Setting("method", "smc"), ".")


class SequentialMonteCarlo(Chains):
    """Sequential Monte Carlo with groups of particles, which estimates the evidence."""

    has_evidence = True
    groups = "islands"
    usual_run: dict[str, Any] = {}
    sentence = "classes.smc"

    def job(self, model: Any, data: Any, settings: "Settings", how: ChainRun, remarks: Sequence[str | Message]) -> Job:
        """The fit."""
        return Job(lambda: model._by_particles(data, settings, how), remarks, data=str(data))

    def evidence_of(self, model: Any, data: Any, how: EvidenceRun) -> LogEvidence:
        """The log evidence of a fit to these data."""
        fresh = type(model)(**model.get_params())
        fresh.fit(data, cores=how.cores, random_seed=how.random_seed, progressbar=how.progressbar)
        return fresh.log_evidence()

    def refuse_to_go_on(self) -> None:
        raise ArgumentError(
            Setting("method", "smc"), " cannot go on, as the evidence belongs to a whole run; fit with more sweeps."
        )


ENGINES = {"annealed": Annealed(), "smc": SequentialMonteCarlo()}


def evidence_of_fit(model: Any) -> LogEvidence:
    """The log evidence that the fit estimated."""
    import pandas as pd

    from .posterior import trace_of

    model._require_fitted()
    refuse_unfinished(model)
    if not math.isfinite(model.log_evidence_):
        raise ArgumentError(
            "This fit did not estimate the evidence; fit with ", Setting("method", "smc"), ", or with ",
            Setting("start", "prior"), ".",
        )  # fmt: skip
    estimates = np.atleast_2d(trace_of(model.posterior_)["log_evidence"])[:, -1]
    usable = model.evidence_sd_ <= USABLE
    sentence = (
        f"The {len(estimates)} groups agree: " if usable else "The log evidence is not usable: ",
        f"the standard deviation of their estimates is {model.evidence_sd_:.2f} (wanted: at most {USABLE:g})",
        "." if usable else "; take more sweeps at each step, or more particles.",
    )
    facts = {"groups": len(estimates), "sd": model.evidence_sd_}
    verdict = Verdict(usable, facts, Message(*sentence))
    df = float(len(estimates) - 1)
    return LogEvidence(model.log_evidence_, model.log_evidence_se_, df, verdict, estimates, pd.DataFrame())
