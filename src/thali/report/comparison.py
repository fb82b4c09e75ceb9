"""The report of a comparison of models."""

from typing import TYPE_CHECKING

from thali.comparison.sentences import sentences
from thali.comparison.ways import SCORERS

from .answers.shared import picture
from .document import Document, Section, Table
from .settings import made_by, versions

if TYPE_CHECKING:
    import pandas


def document_of(table: "pandas.DataFrame", command: str) -> Document:
    """The report of the table that `thali.compare` returned."""
    found = sentences(table)
    attrs = table.attrs
    scorer = SCORERS[attrs["scorer"]]
    each = attrs[scorer.units]
    finding = f"Score of each {attrs['unit']} by one model against another. {found[0]}"
    pictures = (picture(finding, "comparison", table),) if scorer.units == "pairs" and attrs["best"] is not None else ()
    sure = (
        f"The standard error of a difference is over {attrs['units']:,} {attrs['unit']}s. A difference is called"
        " established where chance alone would seldom leave one as large (Student's t test over independent units, 5 %,"
        " both sides)."
    )
    return Document(
        title="Which model predicts best what was left out?",
        subtitle=found[0],
        sections=(
            Section(
                "What was asked", (f"Models were fitted without a {attrs['part']}, and scored by how they predict it.",)
            ),
            Section("The answer", tuple(found), pictures, (Table("Scores of the models", table.rename_axis("model")),)),
            Section("How sure", (sure,), tables=(Table(f"Score of each {attrs['unit']}", each.reset_index()),)),
            Section("Settings and versions", facts=versions(), code=command),
        ),
        made=made_by(),
    )
