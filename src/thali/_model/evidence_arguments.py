"""Arguments of `log_evidence` and refusals of fits without it."""

from typing import TYPE_CHECKING, Any, NamedTuple

from thali._argument_checks import check_integer
from thali.errors import ArgumentError, InPython

from .model_files import compute_digest

if TYPE_CHECKING:
    from thali._inference.random_seeds import RandomSeed

    from .markov_chain_model import MarkovChainModel

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


def check_finished(model: "MarkovChainModel") -> None:
    """Raise if the fit was stopped before all its draws."""
    if model._interrupted_:
        raise ArgumentError(
            "The fit was stopped early, so the evidence of the model is not available yet; finish"
            " the fit",
            InPython(" with continue_fit"),
            ", or fit again.",
        )


def check_fitted_data(model: "MarkovChainModel", data: Any) -> None:
    """Raise if `data` are not the data of the fit, or the fit was stopped early."""
    if "_state_" not in vars(model):
        return
    check_finished(model)
    if model._state_.digest != compute_digest(model._convert_data(data)):
        raise ArgumentError(
            "The model was fitted to other data, but evidence is comparable only for the same"
            " data; pass the data of the fit, or an unfitted model."
        )
