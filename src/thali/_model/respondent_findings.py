"""Findings about individual respondents: preferences, and effects of covariates on parameters."""

from typing import TYPE_CHECKING, Any

from thali._labels import list_names
from thali._number_format import format_number, format_percent
from thali._people.respondent_columns import RespondentCovariates

from .finding import Brief, Finding, Picture

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


def build_individuals_finding(
    table: "pandas.DataFrame", population: "pandas.DataFrame", title: str, caption: str
) -> Finding:
    """Build the finding of preferences per respondent and option, with population means."""
    preferred_options: Any = table["mean"].unstack("option").idxmax(axis=1)
    n_by_option = preferred_options.value_counts(sort=True)
    share_texts = [
        f"{option} ({format_percent(count / n_by_option.sum())})"
        for option, count in n_by_option.head(NAMED).items()
    ]
    sentence = SENTENCES["individuals"].format(
        number=f"{n_by_option.sum():,}", options=list_names(share_texts)
    )
    picture = Picture("individuals", caption, table, {"population": population})
    return Finding(sentence, title=title, table=table, picture=picture)


def build_effects_finding(
    table: Any, covariates: RespondentCovariates, parameter_name: str, note: str
) -> Finding:
    """Build the finding of respondent covariates' effects on the parameters named."""
    clear_effects = table[(table["above_0"] - 0.5).abs() >= SURE - 0.5]
    largest_effects = (
        clear_effects["mean"].abs().sort_values(ascending=False, kind="stable").index[:NAMED]
    )
    effect_texts = [
        _describe_effect(covariates, name, parameter, table["ratio"][name, parameter])
        for name, parameter in largest_effects
    ]
    if effect_texts:
        sentence = SENTENCES["effects"].format(
            what=parameter_name, effects=list_names(effect_texts)
        )
    else:
        sentence = SENTENCES["effects.none"].format(
            what=parameter_name, columns=list_names(covariates.sources)
        )
    title = SENTENCES["effects.title"].format(what=parameter_name)
    return Finding(sentence, title=title, table=table, notes=(note,), brief=Brief("Effects"))


def _describe_effect(
    covariates: RespondentCovariates, name: str, parameter: str, odds_ratio: float
) -> str:
    """Describe the effect of one respondent covariate on one parameter in a sentence."""
    ratio_text = format_number(odds_ratio)
    column_and_labels = covariates.describe_label(name)
    if column_and_labels is None:
        return SENTENCES["effects.number"].format(of=parameter, column=name, ratio=ratio_text)
    column, label, reference_label = column_and_labels
    return SENTENCES["effects.label"].format(
        of=parameter, ratio=ratio_text, column=column, label=label, first=reference_label
    )
