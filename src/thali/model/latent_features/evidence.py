"""The log evidence of a fitted latent-feature model."""

from typing import Any

from thali.errors import ArgumentError, ConvergenceWarning
from thali.inference.warn import warn
from thali.posterior.evidence import LogEvidence

from ..evidence import EvidenceRun, refuse_unfinished
from ..sampling import refuse_changed


def evidence_of_fit(model: Any, how: EvidenceRun) -> LogEvidence:
    """The evidence for the data of the fit, which must be whole and that of the model as it is."""
    refuse_unfinished(model)
    if "_state_" not in vars(model):
        raise ArgumentError("The evidence needs the data of the fit, and this model has none; fit it to them.")
    refuse_changed(model)
    data = model._data_of_fit()
    found = model._population(data).evidence(data, model._evidence_parts(data), how)
    if not found.usable:
        warn(ConvergenceWarning(found.verdict.message))
    return found
