"""Base class of `model.respondents`, the results about respondents."""

from typing import Any


class RespondentResults:
    """Base class of `model.respondents` of fitted models."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __repr__(self) -> str:
        result_names = [name for name in dir(self) if not name.startswith("_")]
        return f"{type(self).__name__}: {', '.join(result_names)}"
