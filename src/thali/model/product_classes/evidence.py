"""The log evidence of product classes, which a fit by groups of particles or by annealed chains estimates."""

import math
from typing import Any

import numpy as np

from thali.errors import ArgumentError, Message, Setting
from thali.posterior.evidence import LogEvidence
from thali.posterior.verdict import Verdict

from ..evidence import EvidenceRun, refuse_unfinished
from ..run_by_chains import RunByChains
from .engines.evidence_messages import USABLE


class ClassEvidence(RunByChains):
    """The method `log_evidence` of product classes."""

    log_evidence_: float
    log_evidence_se_: float
    evidence_sd_: float

    def log_evidence(self) -> LogEvidence:
        """The log evidence that the fit estimated: by ``method="smc"``, or by annealed chains that start at the prior.

        Returns
        -------
        LogEvidence
            Whose `.estimates` are those of the groups of particles, or of the chains; there is no `.path`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the fit was stopped early or estimated no evidence.
        """
        import pandas as pd

        from .posterior import trace_of

        self._require_fitted()
        refuse_unfinished(self)
        if not math.isfinite(self.log_evidence_):
            raise ArgumentError(
                "This fit did not estimate the evidence; fit with ", Setting("method", "smc"), ", or with ",
                Setting("start", "prior"), ".",
            )  # fmt: skip
        estimates = np.atleast_2d(trace_of(self.posterior_)["log_evidence"])[:, -1]
        usable = self.evidence_sd_ <= USABLE
        sentence = (
            f"The {len(estimates)} groups agree: " if usable else "The log evidence is not usable: ",
            f"the standard deviation of their estimates is {self.evidence_sd_:.2f} (wanted: at most {USABLE:g})",
            "." if usable else "; take more sweeps at each step, or more particles.",
        )
        facts = {"groups": len(estimates), "sd": self.evidence_sd_}
        verdict = Verdict(usable, facts, Message(*sentence))
        df = float(len(estimates) - 1)
        return LogEvidence(self.log_evidence_, self.log_evidence_se_, df, verdict, estimates, pd.DataFrame())

    def _evidence_of(self, data: Any, how: EvidenceRun) -> LogEvidence:
        return self._engine.evidence_of(self, data, how)
