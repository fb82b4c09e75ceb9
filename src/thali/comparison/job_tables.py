"""What the job of a comparison holds, of either kind, and the table of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thali.errors import Fact
from thali.inference.parts import Record
from thali.inference.seeds import seed_of_json

from .engine import warn_of
from .evidence_engine import places_of, table_of_evidence, warn_of_evidence
from .job import BY_EVIDENCE, BY_PREDICTION
from .shards import Fit, fits_of, key_of
from .table import Scores, comparison_table
from .ways import WAYS, kind_of

if TYPE_CHECKING:
    import pandas


class OfJob(ABC):
    """What a job holds, from its stamp and what is stored beside the records."""

    unit: str
    fits: list[Fit]  # all that belong to it

    @abstractmethod
    def __init__(self, stamp: Mapping[str, Any], source: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def table(self, records: Mapping[str, Record]) -> "pandas.DataFrame":
        """The table of what the records hold."""

    @abstractmethod
    def warn(self, table: "pandas.DataFrame", go_on: Fact) -> None:
        """What a reader of the table must know besides."""

    @abstractmethod
    def called(self, fit: Fit) -> str:
        """What was found of one of its fits, in messages."""


class Predictions(OfJob):
    """The scores of predictions."""

    unit = "fits"

    def __init__(self, stamp: Mapping[str, Any], source: Mapping[str, Any]) -> None:
        settings = stamp["settings"]
        way = WAYS[kind_of(source["data"])][settings["leave_out"]]
        self._splitter, self._scorer = way.splitter(source["data"]), way.scorer
        seed = seed_of_json(stamp["seed"])
        self._parts = self._splitter.parts(seed, settings["hold_out"], settings["folds"])
        self._names, self._lapses = list(stamp["models"]), source["lapses"]
        self.fits = fits_of(self._names, len(self._parts))

    def table(self, records: Mapping[str, Record]) -> "pandas.DataFrame":
        """The table of what the records hold."""
        found = {fit: records.get(key_of(fit)) for fit in self.fits}
        table = comparison_table(Scores(self._splitter, self._scorer, self._parts, self._names, found))
        table.attrs.update(interrupted=False, lapses=self._lapses)
        return table

    def warn(self, table: "pandas.DataFrame", go_on: Fact) -> None:
        """What a reader of the table must know besides."""
        warn_of(table, self._splitter, go_on)

    def called(self, fit: Fit) -> str:
        """What was found of one of its fits, in messages."""
        return f"scores of {fit[0]!r} for part {fit[1] + 1}"


class Evidence(OfJob):
    """The evidence of models."""

    unit = "models"

    def __init__(self, stamp: Mapping[str, Any], source: Mapping[str, Any]) -> None:
        self._names, self._base = list(stamp["models"]), source["base"]
        self.fits = places_of(self._names)

    def table(self, records: Mapping[str, Record]) -> "pandas.DataFrame":
        """The table of what the records hold; before the data all models are alike."""
        table = table_of_evidence(self._names, records, self._base)
        table.attrs["interrupted"] = False
        return table

    def warn(self, table: "pandas.DataFrame", go_on: Fact) -> None:
        """What a reader of the table must know besides."""
        warn_of_evidence(table, go_on)

    def called(self, fit: Fit) -> str:
        """What was found of one of its fits, in messages."""
        return f"evidence of {fit[0]!r}"


OF_KIND: dict[str, type[OfJob]] = {BY_PREDICTION: Predictions, BY_EVIDENCE: Evidence}
