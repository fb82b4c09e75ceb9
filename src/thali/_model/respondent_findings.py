"""Findings about respondents of whom each has individual parameters: what each prefers, and what
that depends on."""

from typing import TYPE_CHECKING, Any

from thali._digits import format_number, format_percent
from thali._labels import list_names
from thali._people.columns import RespondentCovariates

from .finding import Brief, Finding, Picture, Text
from .phrases import phrase

if TYPE_CHECKING:
    import pandas

SENTENCES = {
    "individuals": "Most preferred option among {number} respondents: {options}.",
    "effects": "Clear effects on {what}s: {effects}.",
    "effects.number": "× {ratio} for {of} per unit of '{column}'",
    "effects.label": "× {ratio} for {of} ({label} relative to {first} in '{column}')",
    "effects.none": "No {what} clearly increases or decreases with {columns} (probability ≥ 0.95).",
    "effects.title": "Effects of respondent characteristics on {what}s",
}
NAMED, SURE = 3, 0.95  # effects and options that a sentence names; probability of a clear effect


def individuals_finding(
    table: "pandas.DataFrame", population: "pandas.DataFrame", title: str, caption: str
) -> Finding:
    """Return what each respondent prefers, a row a respondent and option, beside the population."""
    preferred: Any = table["mean"].unstack("option").idxmax(axis=1)
    first = preferred.value_counts(sort=True)
    shares = [
        f"{option} ({format_percent(count / first.sum())})"
        for option, count in first.head(NAMED).items()
    ]
    sentence = phrase(
        SENTENCES, "individuals", number=f"{first.sum():,}", options=list_names(shares)
    )
    picture = Picture("individuals", caption, table, {"population": population})
    return Finding(sentence, title=title, table=table, picture=picture)


def effects_finding(table: Any, known: RespondentCovariates, what: str, note: str) -> Finding:
    """Return how parameters of respondents, called `what`, depend on columns: the clearest effects,
    and all."""
    sure = table[(table["above_0"] - 0.5).abs() >= SURE - 0.5]
    largest = sure["mean"].abs().sort_values(ascending=False, kind="stable").index[:NAMED]
    named = [
        _effect(known, name, of, format_number(float(table["ratio"][name, of])))
        for name, of in largest
    ]
    sentence = phrase(SENTENCES, "effects.none", what=what, columns=list_names(known.sources))
    if named:
        sentence = phrase(
            SENTENCES, "effects", what=what, effects=list_names(list(map(str, named)))
        )
    title = str(phrase(SENTENCES, "effects.title", what=what))
    return Finding(sentence, title=title, table=table, notes=(note,), brief=Brief("Effects"))


def _effect(known: RespondentCovariates, name: str, of: str, ratio: str) -> Text:
    """Describe the effect of one covariate on one parameter."""
    label = known.label(name)
    if label is None:
        return phrase(SENTENCES, "effects.number", of=of, column=name, ratio=ratio)
    names = dict(zip(("column", "label", "first"), label, strict=True))
    return phrase(SENTENCES, "effects.label", of=of, ratio=ratio, **names)
