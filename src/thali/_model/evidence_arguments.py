"""Arguments of `log_evidence` and refusals of fits without it."""

from typing import TYPE_CHECKING, Any, NamedTuple

from thali._argument_checks import check_integer

if TYPE_CHECKING:
    from thali._inference.random_seeds import RandomSeed

USUAL = {"draws": 1000, "tune": 200, "chains": 12, "thin": 5}  # the defaults of `log_evidence`
MIN_DRAWS = 10


class EvidenceRun(NamedTuple):
    """Checked arguments of `log_evidence`: draws, chains, seed and others."""

    draws: int
    tune: int
    chains: int
    thin: int
    cores: int | None
    random_seed: Any
    progressbar: bool
    sensitivity: bool


def build_evidence_run(
    draws: Any,
    tune: Any,
    chains: Any,
    thin: Any,
    cores: Any,
    random_seed: "RandomSeed",
    progressbar: Any,
    sensitivity: Any,
) -> EvidenceRun:
    """Check the arguments of `log_evidence`; return them as an `EvidenceRun`."""
    if cores is not None:
        cores = check_integer("cores", cores, 1)
    return EvidenceRun(
        check_integer("draws", draws, MIN_DRAWS),
        check_integer("tune", tune, 0),
        check_integer("chains", chains, 1),
        check_integer("thin", thin, 1),
        cores,
        random_seed,
        bool(progressbar),
        bool(sensitivity),
    )
