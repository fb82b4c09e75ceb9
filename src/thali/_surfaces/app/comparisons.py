"""Which models the app compares on each kind of data, and what it takes over from the study."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from thali._data.kinds import SIMILARITIES
from thali._model.default_models import list_offers
from thali._model.registry import get_features_argument
from thali.errors import Argument, ArgumentError

from . import english
from .fields import GROUP
from .studies import COMPARE, EVIDENCE, FIT, StudyFolder


class Compared(NamedTuple):
    """A model that may be compared."""

    name: str  # what it is called, also in the report
    item: str  # as `thali compare --models` has it
    ticked: tuple[str, ...]  # the runs that have it unless somebody chooses


_BOTH = (COMPARE, EVIDENCE)
OF_ASPECTS = (
    Compared("Bradley-Terry-Luce", "BTL", _BOTH),
    Compared("shared aspects", "ibp", _BOTH),
    Compared("three shared aspects", "3", (EVIDENCE,)),
    Compared("six shared aspects", "6", ()),
)
OF_GROUPS = (
    Compared("Bradley-Terry-Luce with the same worths", "common:BTL", (COMPARE,)),
    Compared("Bradley-Terry-Luce with worths by group", "free:BTL", (COMPARE,)),
    Compared("shared aspects with the same weights", "common", (EVIDENCE,)),
    Compared("shared aspects with weights by group", "free", (EVIDENCE,)),
    Compared("shared aspects with similar weights", "similar", ()),
)
_OF_FEATURES_BY_GROUP = (
    Compared("features with the same weights", "common", _BOTH),
    Compared("features with weights by group", "free", _BOTH),
    Compared("features with similar weights", "similar", ()),
)
_OF_FEATURES = (
    Compared("any number of features", "ibp", _BOTH),
    Compared("four features", "4", (EVIDENCE,)),
    Compared("eight features", "8", (EVIDENCE,)),
)
_SLOW = ("latent-class-logit", "product-classes")
_OF_MODELS = ("monotone", "ties")  # what is taken over from the fit


def candidates(study: StudyFolder) -> tuple[Compared, ...]:
    """The models that may be compared on these data."""
    kind = _kind(study)
    if features := get_features_argument(kind):
        alone, by_group = (
            (OF_ASPECTS, OF_GROUPS)
            if features == "aspects"
            else (_OF_FEATURES, _OF_FEATURES_BY_GROUP)
        )
        return by_group if has_groups(study) else alone
    names = [offer.name for offer in list_offers(kind)]
    return tuple(
        Compared(english.title(name), name, () if name in _SLOW else (COMPARE,)) for name in names
    )


def has_evidence(study: StudyFolder) -> bool:
    """Whether models of such data are compared by evidence."""
    return bool(get_features_argument(_kind(study)))


def has_groups(study: StudyFolder) -> bool:
    """Whether people are divided into groups."""
    return GROUP in study.typed


def ticked(study: StudyFolder, run: str) -> list[str]:
    """The names of the models that are chosen: those that were compared, or else the usual ones."""
    before: list[str] = study.read(run).get("names", [])
    fitted = study.read(FIT).get("model", "") if run == COMPARE else ""
    return before or [
        each.name for each in candidates(study) if run in each.ticked or each.item == fitted
    ]


def asked_to_compare(
    study: StudyFolder, run: str, names: Sequence[str], sensitivity: bool = False
) -> dict[str, Any]:
    """What is asked for to compare these models by what they predict, or by their evidence."""
    chosen = [each for each in candidates(study) if each.name in names]
    if not chosen:
        raise ArgumentError(Argument("models"), " must have at least one model selected; got none.")
    typed = _taken_over(study)
    if run == EVIDENCE and _kind(study) == SIMILARITIES:
        typed = {"sigma": "learned"} | typed  # which is not chosen by the same data
    listed = ",".join(f"{each.name}={each.item}" for each in chosen)
    asked = {"models": listed, "names": [each.name for each in chosen], "typed": typed, "paths": []}
    return asked | ({"sensitivity": sensitivity} if run == EVIDENCE else {})


def _kind(study: StudyFolder) -> str:
    return study.read("reading").get("kind", "")


def _taken_over(study: StudyFolder) -> dict[str, Any]:
    """What was typed about the table, and some of what was typed about the fit."""
    typed, fitted = study.typed, study.read(FIT).get("typed", {})
    return {
        word: value
        for word, value in (fitted | typed).items()
        if word in typed or word in _OF_MODELS
    }
