"""Models that the app's comparison page offers for each kind of data."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from thali._data.kinds import SIMILARITIES
from thali._model.default_models import list_offers
from thali._model.registry import get_features_argument
from thali.errors import Argument, ArgumentError

from . import english_texts
from .study_folders import COMPARE, EVIDENCE, FIT, StudyFolder


class ComparisonCandidate(NamedTuple):
    """A model that the comparison page offers, with its name and default."""

    name: str  # also in the report
    model_text: str  # text in `thali compare --models`
    default_runs: tuple[str, ...]  # runs that include the model by default


_BOTH = (COMPARE, EVIDENCE)
ASPECT_CANDIDATES = (
    ComparisonCandidate("Bradley-Terry-Luce", "BTL", _BOTH),
    ComparisonCandidate("shared aspects", "ibp", _BOTH),
    ComparisonCandidate("three shared aspects", "3", (EVIDENCE,)),
    ComparisonCandidate("six shared aspects", "6", ()),
)
_FEATURE_CANDIDATES = (
    ComparisonCandidate("any number of features", "ibp", _BOTH),
    ComparisonCandidate("four features", "4", (EVIDENCE,)),
    ComparisonCandidate("eight features", "8", (EVIDENCE,)),
)
_SLOW_MODELS = ("latent-class-logit", "product-classes")
_SHARED_OPTIONS = ("monotone", "ties")  # options that the comparison inherits from the fit


def list_candidates(study: StudyFolder) -> tuple[ComparisonCandidate, ...]:
    """Return the models that can be compared on a study's data."""
    data_kind = _read_data_kind(study)
    features_argument = get_features_argument(data_kind)
    if features_argument == "aspects":
        return ASPECT_CANDIDATES
    if features_argument:
        return _FEATURE_CANDIDATES
    candidates = []
    for offer in list_offers(data_kind):
        default_runs: tuple[str, ...] = (COMPARE,)
        if offer.name in _SLOW_MODELS:
            default_runs = ()
        model_title = english_texts.find_title(offer.name)
        candidates.append(ComparisonCandidate(model_title, offer.name, default_runs))
    return tuple(candidates)


def has_evidence(study: StudyFolder) -> bool:
    """Return whether the models for a study's data have a log evidence."""
    return bool(get_features_argument(_read_data_kind(study)))


def select_ticked(study: StudyFolder, run: str) -> list[str]:
    """Return names of models to tick: those compared before, else the defaults."""
    compared_names: list[str] = study.read(run).get("names", [])
    fitted_model = ""
    if run == COMPARE:
        fitted_model = study.read(FIT).get("model", "")
    return compared_names or [
        candidate.name
        for candidate in list_candidates(study)
        if run in candidate.default_runs or candidate.model_text == fitted_model
    ]


def build_comparison_request(
    study: StudyFolder, run: str, names: Sequence[str], sensitivity: bool = False
) -> dict[str, Any]:
    """Build the request (a dict) to compare models by prediction or evidence."""
    selected_candidates = [
        candidate for candidate in list_candidates(study) if candidate.name in names
    ]
    if not selected_candidates:
        raise ArgumentError(Argument("models"), " has no model selected; select at least one.")
    typed_options = _select_typed_options(study)
    if run == EVIDENCE and _read_data_kind(study) == SIMILARITIES:
        # a fixed value would be chosen from the same data
        typed_options = {"sigma": "learned"} | typed_options
    model_list = ",".join(
        f"{candidate.name}={candidate.model_text}" for candidate in selected_candidates
    )
    request: dict[str, Any] = {
        "models": model_list,
        "names": [candidate.name for candidate in selected_candidates],
        "typed": typed_options,
        "paths": [],
    }
    if run == EVIDENCE:
        request["sensitivity"] = sensitivity
    return request


def _read_data_kind(study: StudyFolder) -> str:
    """Return the kind of a study's data; "" if they were not read."""
    return study.read("reading").get("kind", "")


def _select_typed_options(study: StudyFolder) -> dict[str, Any]:
    """Return options that the user typed: all on the table, and those of the fit to reuse."""
    table_options = study.typed
    fit_options = study.read(FIT).get("typed", {})
    return {
        word: typed_value
        for word, typed_value in (fit_options | table_options).items()
        if word in table_options or word in _SHARED_OPTIONS
    }
