"""`thali compare --by evidence`: which model the data support, and how much."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thali.errors import Argument, ArgumentError, Setting

from ..boundary import notify

if TYPE_CHECKING:
    import pandas

OF_PREDICTION = ("leave_out", "folds")  # what a comparison by evidence has not
_HEADINGS = {
    "log_evidence": "log evidence",
    "standard_error": "std. error",
    "probability": "probability",
    "log_bayes_factor": "log BF of best",
    "log_bayes_factor_se": "std. error",
}
_LEGEND = (
    "log evidence: natural logarithm of the probability of the data, all parameters integrated out; probability: of the"
    " model\ngiven the data, all models alike before; log BF of best: log Bayes factor of the best model against this"
    " one.\nEvidence depends on the priors; --sensitivity finds it under others, too."
)


def refuse_prediction(own: dict[str, Any]) -> None:
    """Refuse options that are for a comparison by prediction."""
    for name in OF_PREDICTION:
        if own[name] is not None:
            raise ArgumentError(Argument(name), " is for a comparison by prediction; leave it out.")


def refuse_sensitivity(own: dict[str, Any]) -> None:
    """Refuse the option that is for a comparison by evidence."""
    if own["sensitivity"]:
        raise ArgumentError(Argument("sensitivity"), " goes with ", Setting("by", "evidence"), ".")


def finish_evidence(table: "pandas.DataFrame", out: Path | None, formats: Sequence[str]) -> None:
    """Write the results to the folder, if there is one, and print the answer."""
    try:
        if out is not None:
            _write(table, out, formats)
            notify(f"wrote the table, the temperatures, the pictures and the report to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(report(table))


def report(table: "pandas.DataFrame") -> str:
    """The answer in words and numbers: lines without a final line break."""
    from thali.comparison.by_evidence import evidence_sentences
    from thali.surfaces.aligned import align

    rows = [("", *_HEADINGS.values(), "evidence against")]
    for name, row in table.iterrows():
        cells = (_cell(column, float(row[column])) for column in _HEADINGS)  # type: ignore[arg-type]
        rows.append((str(name), *cells, str(row["evidence_against"])))
    parts = ["Which model the data support\n" + align(rows, left={0, len(_HEADINGS) + 1}), _LEGEND]
    if "sensitivity" in table.attrs:
        parts.append("Under other priors\n" + _sensitivity(table.attrs["sensitivity"]))
    return "\n\n".join([*parts, "\n".join(evidence_sentences(table))])


def _sensitivity(frame: "pandas.DataFrame") -> str:
    from thali.surfaces.aligned import align

    columns = ("log_evidence", "standard_error", "probability", "log_bayes_factor")
    rows = [("", "", *(_HEADINGS[column] for column in columns))]
    for (prior, name), row in frame.iterrows():  # type: ignore[misc]
        rows.append((str(prior), str(name), *(_cell(column, float(row[column])) for column in columns)))  # type: ignore
    return align(rows, left={0, 1})


def _cell(column: str, value: float) -> str:
    if value != value:
        return "-"
    return f"{value:.2g}" if column == "probability" and 0.0 < value < 0.001 else f"{value:.3f}"


def _write(table: "pandas.DataFrame", folder: Path, formats: Sequence[str]) -> None:
    """Write the tables in these formats, all or none; then the pictures and the report."""
    import pandas as pd

    from thali.report.write import page_of

    from ..files import table_files, write_all, write_pictures

    tables: dict[str, Any] = {"comparison": table}
    paths = {name: each.path for name, each in table.attrs["evidence"].items() if len(each.path)}
    if paths:
        tables["temperatures"] = pd.concat(paths, names=["model", None]).reset_index(level=0).reset_index(drop=True)
    if "sensitivity" in table.attrs:
        tables["sensitivity"] = table.attrs["sensitivity"].reset_index()
    write_all(folder, table_files(tables, formats))
    pictures: dict[str, Any] = {"evidence": lambda plots: plots.evidence(table)}
    if paths:
        pictures["temperatures"] = lambda plots: plots.temperatures(table)
    write_pictures(folder, pictures)
    write_all(folder, {"report.html": page_of(table)})
