"""Table of a comparison from its job folder, without models and data."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from thali._inference.random_seeds import decode_seed
from thali._inference.resumable_tasks import JobParts, read_parts
from thali._model.model_files import decode_arrays

from .by_evidence import build_table_of_records
from .holdout_schemes import SCHEMES, find_compared_kind
from .job_folder import BY_EVIDENCE, BY_PREDICTION
from .score_table import build_comparison_table

if TYPE_CHECKING:
    import pandas


def read_job_table(job: str | os.PathLike[str]) -> "pandas.DataFrame":
    """Return the comparison's table from a job folder; unfinished fits are missing."""
    job_parts = read_parts(Path(job))
    return TABLES[job_parts.stamp["kind"]](job_parts)


def _build_prediction_table(job_parts: JobParts) -> "pandas.DataFrame":
    """Build the table of a comparison by prediction from a job's records."""
    settings = job_parts.stamp["settings"]
    decoded_source = decode_arrays(job_parts.source)
    scheme = SCHEMES[find_compared_kind(decoded_source["data"])][settings["leave_out"]]
    splitter = scheme.splitter(decoded_source["data"])
    model_names = list(job_parts.stamp["models"])
    held_out_parts = splitter.list_parts(
        decode_seed(job_parts.stamp["seed"]), settings["hold_out"], settings["folds"]
    )
    table = build_comparison_table(
        splitter, scheme.scorer, held_out_parts, model_names, job_parts.records
    )
    table.attrs.update(interrupted=False, lapses=decoded_source["lapses"])
    return table


def _build_evidence_table(job_parts: JobParts) -> "pandas.DataFrame":
    """Build the table of the models' log evidence from a job's records."""
    model_names = list(job_parts.stamp["models"])
    table = build_table_of_records(
        model_names,
        job_parts.records,
        decode_arrays(job_parts.source)["base"],
        dict.fromkeys(model_names, 1.0),
    )
    table.attrs["interrupted"] = False
    return table


# by the kind of job
TABLES = {BY_PREDICTION: _build_prediction_table, BY_EVIDENCE: _build_evidence_table}
