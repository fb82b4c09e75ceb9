"""Makes the table of a comparison from its job, without the models and the data."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali._inference.parts import JobParts, read_parts
from thali._inference.seeds import decode_seed
from thali._model.saved import unpacked

from .by_evidence import table_of_evidence
from .job import BY_EVIDENCE, BY_PREDICTION, fits_of, key_of
from .table import ScoreTable, comparison_table
from .ways import WAYS, compared_form

if TYPE_CHECKING:
    import pandas


def table_of_job(job: Any) -> "pandas.DataFrame":
    """Return the table of a comparison whose job is finished, or of its finished fits."""
    parts = read_parts(Path(job))
    return TABLES[parts.stamp["kind"]](parts)


def _table_of_predictions(parts: JobParts) -> "pandas.DataFrame":
    settings, source = parts.stamp["settings"], unpacked(parts.source)
    way = WAYS[compared_form(source["data"])][settings["leave_out"]]
    splitter, names = way.splitter(source["data"]), list(parts.stamp["models"])
    left_out = splitter.parts(
        decode_seed(parts.stamp["seed"]), settings["hold_out"], settings["folds"]
    )
    records = {fit: parts.records.get(key_of(fit)) for fit in fits_of(names, len(left_out))}
    table = comparison_table(ScoreTable(splitter, way.scorer, left_out, names, records))
    table.attrs.update(interrupted=False, lapses=source["lapses"])
    return table


def _table_of_evidence(parts: JobParts) -> "pandas.DataFrame":
    """Before the data all models are equally probable."""
    table = table_of_evidence(
        list(parts.stamp["models"]), parts.records, unpacked(parts.source)["base"]
    )
    table.attrs["interrupted"] = False
    return table


# by the kind of job
TABLES = {BY_PREDICTION: _table_of_predictions, BY_EVIDENCE: _table_of_evidence}
