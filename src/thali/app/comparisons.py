"""Which models the app compares on each kind of data, and what it takes over from the study."""

from typing import Any

from thali.data.kinds import CHOICES, PAIRS, SIMILARITIES, TRIPLETS

from .studies import FIT, READ, Study

_BY_ASPECTS, _BY_FEATURES = "Bradley-Terry-Luce=unique,shared aspects=ibp", "additive clustering=ibp"
_ASPECTS, _FEATURES = f"{_BY_ASPECTS},three shared aspects=3", "any number of features=ibp,four=4,eight=8"
# Of each kind of data; models of other data go by their names.
_BY_PREDICTION = {PAIRS: _BY_ASPECTS, CHOICES: _BY_ASPECTS, SIMILARITIES: _BY_FEATURES, TRIPLETS: _BY_FEATURES}
_BY_EVIDENCE = {PAIRS: _ASPECTS, CHOICES: _ASPECTS, SIMILARITIES: _FEATURES, TRIPLETS: _FEATURES}
_OF_MODELS = ("monotone", "ties")  # what is taken over from the fit


def has_evidence(kind: str) -> bool:
    """Whether models of such data are compared by evidence."""
    return kind in _BY_EVIDENCE


def by_prediction(study: Study) -> dict[str, Any]:
    """What is asked for to compare models by what they predict."""
    return {"models": _BY_PREDICTION.get(_kind(study)), "typed": _taken_over(study), "paths": []}


def by_evidence(study: Study, sensitivity: bool) -> dict[str, Any]:
    """What is asked for to compare models by their evidence; sigma is not chosen by the same data."""
    kind = _kind(study)
    own = {"sigma": "learned"} if kind == SIMILARITIES else {}
    asked = {"models": _BY_EVIDENCE[kind], "typed": own | _taken_over(study), "paths": []}
    return asked | {"sensitivity": sensitivity}


def _kind(study: Study) -> str:
    return study.read("reading").get("kind", "")


def _taken_over(study: Study) -> dict[str, Any]:
    """What was said of the table, and some of what was asked of the fit."""
    said, fitted = study.read(READ).get("typed", {}), study.read(FIT).get("typed", {})
    return {word: value for word, value in (fitted | said).items() if word in said or word in _OF_MODELS}
