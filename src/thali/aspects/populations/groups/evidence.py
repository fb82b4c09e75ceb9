"""The log evidence of models of several groups of people."""

from collections.abc import Callable
from typing import Any

from thali.data.groups import Groups
from thali.model.evidence import EvidenceRun
from thali.posterior.evidence import LogEvidence

from ...answers.groups import columns_of_group
from ..evidence import constant_of, run_ladders, task_of
from ..groups_chain import build_group_task
from .prior_ladder import GroupPriorLadder


def evidence_of_groups(groups: Groups, weights: Any, parts: dict[str, Any], how: EvidenceRun) -> LogEvidence:
    """Of free or similar weights."""
    of_run = {"draws": how.draws, "tune": how.tune, "thin": how.thin}
    task = build_group_task(groups, weights=weights, **of_run, **parts | {"sampler": None, "tempering": False})
    return run_ladders(task, constant_of_groups(parts["likelihood"], groups), how, GroupPriorLadder)[0]


def evidence_of_pooled(groups: Groups, pooled: Any, parts: dict[str, Any], how: EvidenceRun) -> LogEvidence:
    """Of common weights, as the probability of the data of each group, not of their sum."""
    return run_ladders(task_of(parts, pooled, how), constant_of(parts["likelihood"], groups.data), how)[0]


def constant_of_groups(likelihood: Any, groups: Groups) -> Callable[[GroupPriorLadder], float]:
    """A function of a ladder: what the log-likelihoods of the samplers leave out."""

    def constant(ladder: GroupPriorLadder) -> float:
        drawn, total = ladder.draws_before(1), 0.0
        for g, data in enumerate(groups.data):
            own = {name: drawn.extra[f"{name} {g}"] for name in likelihood.parameters}
            columns = columns_of_group([drawn], 1, g)
            total += likelihood.posterior_part(columns, own, data, (1, 1), False).log_constant
        return float(total)

    return constant
