"""Findings that effects and marginal means of a conjoint experiment report."""

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from thali._inference.index_arithmetic import argsort_descending
from thali._labels import has_repeats
from thali._model.finding import (
    DATA,
    FULL,
    METHODS,
    ON_SCREEN,
    SHOWN,
    Brief,
    Finding,
    FindingMaker,
    Findings,
    Picture,
    finding,
)
from thali._model.references import Cite
from thali._model.sentence_templates import phrase
from thali._model.software_versions import describe_program
from thali._number_format import format_decimals, format_p_value, format_percent
from thali._posterior.posterior_interval import describe_interval
from thali.errors import cut_middle

if TYPE_CHECKING:
    import pandas as pd

    from .result import ConjointResult

_MAX_ROWS = 10  # levels in a table on one screen
_TABLE_WIDTH = 71  # of 80 columns, beside the label of a finding
_MIN_WIDTH = 9  # of readable names of groups
_INTERVALS = "The complete table has all intervals."
_CORRECTED = "The `corrected` columns of the tables contain estimates without this error."
_SENTENCES = {
    "effects": "Effects are differences in the probability that a profile was chosen, averaged over"
    " the levels of all other attributes that were randomised {source}.",
    "ratings": "Effects are differences in the mean rating of a profile, averaged over the levels"
    " of all other attributes that were randomised {source}.",
    "means": "A marginal mean is the mean outcome of all profiles with a given level {source}.",
    "regression": "Effects were estimated by linear regression on indicators of all levels;"
    " {restrictions}",
    "errors": "Standard errors are clustered by respondent (CR2), and {interval}s use Student's t"
    " with the degrees of freedom of {source}.",
    "weights": "Respondents were weighted ({weights}).",
    "joint": "Differences between groups were tested jointly with an F test with approximate"
    " degrees of freedom {source}.",
    "reliability": "Estimates were also corrected for swapped answers, whose probability was"
    " estimated from a task that was asked twice {source}.",
    "computed": "Computations were done with {program}.",
}


def build_conjoint_findings(result: "ConjointResult") -> Findings:
    """Return all findings of effects or marginal means."""
    if result.has_effects:
        return Findings(result, (amce, marginal_means, *_MAKERS))
    return Findings(result, (marginal_means, *_MAKERS))


def _format_estimate(result: "ConjointResult", row: Mapping[str, Any]) -> str:
    """Return an estimate with its interval: in percentage points, or in units of the rating."""
    estimate = row["estimate"]
    low = row["low"]
    high = row["high"]
    if result.settings["is_choice"]:
        return f"{100 * estimate:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
    return f"{estimate:+.2f} ({low:+.2f} to {high:+.2f})"


def _name_largest(result: "ConjointResult", table: "pd.DataFrame", max_named: int) -> str:
    """Return the levels with the largest effects (or differences), with intervals."""
    known: Any = table[table["df"] > 0]
    largest = known.loc[known["estimate"].abs().sort_values(ascending=False).index[:max_named]]
    texts = []
    for _, row in largest.iterrows():
        text = f"{row['attribute']} {row['level']}"
        if "reference" in row:
            text += f" ({row['group']} - {row['reference']})"
        elif "baseline" in row:
            text += f" against {row['baseline']}"
        if "reference" not in row and "group" in row:
            text += f" ({row['group']})"
        texts.append(f"{text} {_format_estimate(result, row)}")
    return "; ".join(texts)


def _build_screen_table(result: "ConjointResult") -> "tuple[pd.DataFrame, str]":
    """Return a short table, large effects first, in columns of groups, and a sentence on these."""
    import pandas as pd

    names = ["attribute", "level"]
    table: Any = result.table
    short = table[[*names, "estimate", "low", "high"]]
    sentence = ""
    if "group" in table:
        short, sentence = _spread_groups(table)
    elif result.has_effects:
        means = result.marginal_means[["estimate", "low", "high"]]
        means.columns = ["mean", "mean_low", "mean_high"]
        short = pd.concat([short, means], axis=1)
    if result.has_effects and len(short) > _MAX_ROWS:
        sizes = table["estimate"].abs().groupby([table[name] for name in names], sort=False).max()
        order = argsort_descending(sizes.fillna(0.0).to_numpy())
        short = short.iloc[order].reset_index(drop=True)
    short.attrs["interval"] = result.ci
    return short, sentence


def _spread_groups(table: Any) -> "tuple[pd.DataFrame, str]":
    """Return a table of levels by groups for a terminal of 80 columns, and a sentence on it."""
    groups = list(table["group"].unique())
    cells = table.assign(text=[_format_cell(row, len(groups)) for _, row in table.iterrows()])
    short = cells.pivot_table("text", ["attribute", "level"], "group", "first", sort=False)[groups]
    cell_width = max(cells["text"].map(len).max(), 36 // len(groups))
    level_width = _TABLE_WIDTH - len(groups) * (cell_width + 2)
    short.index = [cut_middle(" ".join(names), level_width) for names in short.index]
    short.columns = [cut_middle(group, cell_width) for group in groups]
    sentence = _INTERVALS
    if list(short.columns) != groups and (cell_width < _MIN_WIDTH or has_repeats(short.columns)):
        short.columns = [str(k) for k in range(1, len(groups) + 1)]
        legend = ", ".join(f"{k} {name}" for k, name in enumerate(groups, start=1))
        sentence = f"Groups: {legend}. {_INTERVALS}"
    return short.rename_axis("level").reset_index(), sentence


def _format_cell(row: Mapping[str, Any], n_groups: int) -> str:
    """Return an estimate for a narrow column, with its interval if there are two groups."""
    if row.get("baseline") == row["level"]:
        return "base"
    if not row["df"] > 0:  # the data do not identify it
        return "-"
    estimate, low, high = (format_decimals(row[key], 2) for key in ("estimate", "low", "high"))
    if n_groups > 2:
        return estimate
    return f"{estimate} ({low}, {high})"


@finding("amce", "Average marginal component effects", ON_SCREEN)
def amce(result: "ConjointResult", settings: None) -> Finding:
    """Report the effects of levels, with intervals."""
    interval = describe_interval(result.ci)
    sentence = f"Largest effects ({interval}): {_name_largest(result, result.table, 3)}."
    screen_sentence = sentence
    short, group_sentence = _build_screen_table(result)
    if group_sentence or len(result.table) > _MAX_ROWS:  # the table has them first
        screen_sentence = group_sentence
    if len(short) > _MAX_ROWS:  # large effects are first, so the table may end before the baselines
        baselines = ", ".join(result.table.drop_duplicates("attribute")["baseline"])
        screen_sentence = f"Baselines: {baselines}. {group_sentence}".strip()
    return Finding(
        sentence,
        title="Effects of levels against the baseline",
        table=result.table,
        picture=Picture(
            "conjoint_estimates",
            f"Effect of each level on the outcome, with its {interval}; hollow: the baseline.",
            result.table,
            file="amce",
        ),
        brief=Brief("Effects", screen_sentence, table=short),
    )


@finding("marginal_means", "Marginal means", ON_SCREEN)
def marginal_means(result: "ConjointResult", settings: None) -> Finding:
    """Report the mean outcome of profiles with each level."""
    brief = None
    if not result.has_effects:
        short, group_sentence = _build_screen_table(result)
        brief = Brief("Means", group_sentence or _INTERVALS, table=short)
    return Finding(
        title="Mean outcome of the profiles with each level",
        table=result.marginal_means,
        picture=Picture(
            "conjoint_estimates",
            f"Mean outcome of the profiles with each level, with its"
            f" {describe_interval(result.ci)}; dashed: the overall mean.",
            result.marginal_means,
            file="marginal_means",
        ),
        brief=brief,
    )


@finding("amce_differences", "Differences between groups", ON_SCREEN)
def amce_differences(result: "ConjointResult", settings: None) -> Finding | None:
    """Report differences of effects between groups, and their joint test."""
    differences = result.effect_differences
    if differences is None or result.joint_test is None:
        return None
    test = result.joint_test.iloc[0]
    verdict = "too few respondents for a joint test"
    if not math.isnan(test["p_value"]):
        verdict = (
            f"joint test of all differences: F({test['df']:.0f}, {test['df_residual']:.0f}) ="
            f" {format_decimals(test['statistic'], 2)}, {format_p_value(test['p_value'])}"
        )
    sentence = (
        f"Largest difference ({describe_interval(result.ci)}):"
        f" {_name_largest(result, differences, 1)}; {verdict}."
    )
    return Finding(
        sentence,
        title="Differences in effects from the first group",
        table=differences,
        brief=Brief("Groups", sentence),
    )


@finding("mean_differences", "Differences in marginal means between groups", FULL)
def mean_differences(result: "ConjointResult", settings: None) -> Finding | None:
    """Report differences of marginal means between groups."""
    if result.mean_differences is None:
        return None
    return Finding(
        title="Differences in marginal means from the first group", table=result.mean_differences
    )


@finding("measurement_error", "Measurement error", ON_SCREEN)
def measurement_error(result: "ConjointResult", settings: None) -> Finding | None:
    """Report how reliable choices are, and the probability of a swapped answer."""
    if result.reliability is None:
        return None
    row = result.reliability.iloc[0]
    sentence = (
        f"{format_percent(row['reliability'], 1)} of {row['respondents']:,.0f} respondents chose"
        f" the same profile twice, so an answer is swapped with probability"
        f" {row['tau']:.3f} (std. error {row['tau_se']:.3f})."
    )
    return Finding(
        sentence,
        table=result.reliability,
        notes=(_CORRECTED,),
        brief=Brief("Error", f"{sentence} {_CORRECTED}"),
    )


def _report_check(key: str, label: str, result: "ConjointResult", settings: None) -> Finding | None:
    """Report one check of the design."""
    if result.checks is None or key not in result.checks.index:
        return None
    sentence = str(result.checks.loc[key, "result"])
    return Finding(sentence, brief=Brief(label, sentence))


_CHECKS = {
    "balance": ("Balance of the levels", "Balance"),
    "restrictions": ("Levels that never meet", "Levels"),
    "profile_order": ("Order of the profiles", "Order"),
    "task_order": ("Order of the tasks", "Tasks"),
    "one_side": ("Respondents who always choose one side", "Sides"),
}


@finding("data", "Description of the data", SHOWN, chapter=DATA)
def data(result: "ConjointResult", settings: None) -> Finding:
    """Report the size of the data and how they were read."""
    notes = ()
    if result.settings["read_as"]:
        notes = (f"The table was read as {result.settings['read_as']}.",)
    return Finding(f"The estimates are based on {result.size}.", notes=notes)


@finding("methods", "Methods text", SHOWN, chapter=METHODS)
def methods(result: "ConjointResult", settings: None) -> Finding:
    """Report the methods text with citations."""
    facts = result.settings
    notes: list[Any] = []
    if result.checks is not None:
        outcome = "ratings"
        if facts["is_choice"]:
            outcome = "effects"
        notes.append(phrase(_SENTENCES, outcome, source=Cite("hainmueller2014")))
        restrictions = result.checks.loc["restrictions", "result"]
        restrictions = str(restrictions[0].lower() + restrictions[1:])
        notes.append(phrase(_SENTENCES, "regression", restrictions=restrictions))
    notes.append(phrase(_SENTENCES, "means", source=Cite("leeper2020")))
    source = Cite("bell2002", inside=True)
    interval = describe_interval(result.ci)
    notes.append(phrase(_SENTENCES, "errors", interval=interval, source=source))
    if facts["weights"]:
        notes.append(phrase(_SENTENCES, "weights", weights=facts["weights"]))
    if result.joint_test is not None:
        notes.append(phrase(_SENTENCES, "joint", source=Cite("pustejovsky2018")))
    if result.reliability is not None:
        notes.append(phrase(_SENTENCES, "reliability", source=Cite("clayton2023")))
    notes.append(phrase(_SENTENCES, "computed", program=describe_program()))
    return Finding(notes=tuple(notes))


_MAKERS = (
    amce_differences,
    mean_differences,
    measurement_error,
    *(
        FindingMaker(key, question, ON_SCREEN, partial(_report_check, key, label), DATA)
        for key, (question, label) in _CHECKS.items()
    ),
    data,
    methods,
)
