"""How the log evidence depends on the priors: each halved and doubled."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.mbar import log_mean
from thali.model.evidence import EvidenceRun
from thali.posterior.evidence import LogEvidence

from ..likelihoods.additive import Additive
from ..likelihoods.parameters import Normal
from ..operations import is_scale_free
from ..samplers.prior_ladder import PriorLadder
from ..weight_priors import GammaWeights, NormalWeights
from .evidence_run import constant_of, run_ladders, task_of

if TYPE_CHECKING:
    import pandas

FACTORS = 0.5, 2.0


def sensitivity_of(
    found: LogEvidence, ladders: Sequence[PriorLadder], parts: dict[str, Any], data: Any, how: EvidenceRun
) -> "pandas.DataFrame":
    """The log evidence under each change of the priors, a row each."""
    import pandas as pd

    rows = {}
    if ladders[0].task.model.learn_alpha:
        for factor in FACTORS:
            change, error = _reweighted([each.draws.alpha for each in ladders], factor)
            rows[f"rate of alpha x {factor:g}"] = found.value + change, math.hypot(found.standard_error, error)
    for name, changed in _changes(parts, ladders[0].task.model, data):
        other = run_ladders(task_of(changed, data, how), constant_of(changed["likelihood"], [data]), how)[0]
        rows[name] = other.value, other.standard_error
    table = pd.DataFrame(rows, ["log_evidence", "standard_error"]).T.rename_axis("prior")
    return table.assign(difference=table["log_evidence"] - found.value)


def _reweighted(alpha: Sequence[np.ndarray], rate: float) -> tuple[float, float]:
    """The change of the log evidence if alpha has the prior Gamma(1, rate), and its standard error over chains.

    It is the logarithm of the posterior mean of rate exp(-(rate - 1) alpha).
    """
    logs = math.log(rate) - (rate - 1.0) * np.array(alpha)
    change = log_mean(logs)
    of_chain = np.exp(logs - change).mean(axis=1)
    return change, float(of_chain.std(ddof=1) / math.sqrt(len(of_chain))) if len(of_chain) > 1 else math.nan


def _changes(parts: dict[str, Any], model: Any, data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names of changes of the priors of weights and sigma, and the parts with each."""
    likelihood = parts["likelihood"]
    for name, prior in _weight_priors(model, likelihood.least_shape):
        yield name, parts | {"weight_prior": prior}
    if isinstance(likelihood, Additive) and likelihood.fixed_sigma(data) is None:
        for factor in FACTORS:
            scaled = replace(likelihood, variance=factor * likelihood.first_variance(data))
            yield f"mean of sigma squared x {factor:g}", parts | {"likelihood": scaled}


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
