"""The report of a comparison of models."""

from typing import TYPE_CHECKING

from thali.comparison.by_evidence import evidence_sentences
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


def document_of_evidence(table: "pandas.DataFrame", command: str) -> Document:
    """The report of the table that `thali.compare` returned by evidence."""
    said = evidence_sentences(table)
    found, prior = table.attrs["evidence"], table.attrs["prior"]
    asked = (
        "The evidence of a model is the probability of the data that its prior gives, all parameters integrated out. It"
        " depends on the priors, also on those that hardly change the posterior.",
        "Before the data the models were given the probabilities "
        + ", ".join(f"{name} {p:.3g}" for name, p in prior.items())
        + ".",
    )
    pictures = (picture(f"Log evidence with its interval, and posterior probability. {said[0]}", "evidence", table),)
    tables = (Table("Evidence of the models", table.rename_axis("model")),)
    if "sensitivity" in table.attrs:
        tables += (Table("Evidence under other priors", table.attrs["sensitivity"].reset_index()),)
    sure = tuple(f"{name}: {each.verdict}" for name, each in found.items())
    if any(len(each.path) for each in found.values()):
        along = "Mean log-likelihood from the prior to the posterior, from which the evidence was found."
        drawn = (picture(along, "temperatures", table),)
    else:
        drawn = ()
    usable = all(each.usable for each in found.values())
    headline = "The evidence was found." if usable else "The evidence is not yet sure."
    return Document(
        title="Which model do the data support?",
        subtitle=said[0],
        sections=(
            Section("What was asked", asked),
            Section("The answer", tuple(said), pictures, tables),
            Section("How sure", sure, drawn, good=usable, headline=headline),
            Section("Settings and versions", facts=versions(), code=command),
        ),
        made=made_by(),
    )
