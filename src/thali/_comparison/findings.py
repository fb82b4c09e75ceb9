"""Findings of a comparison of models."""

from typing import TYPE_CHECKING, Any

from thali._labels import format_plural
from thali._model.finding import (
    FILE,
    FULL,
    ON_SCREEN,
    SHOWN,
    STATISTICS,
    Brief,
    Finding,
    Findings,
    Picture,
    finding,
)

from .by_evidence import EVIDENCE, describe_evidence
from .holdout_schemes import SCORERS
from .scorer import BASE
from .sentences import describe_comparison, describe_disagreement

if TYPE_CHECKING:
    import pandas


def find_comparison_findings(table: "pandas.DataFrame") -> Findings:
    """Return the findings of a table from `thali.compare`."""
    if table.attrs.get("by") == EVIDENCE:
        return Findings(table, BY_EVIDENCE)
    return Findings(table, BY_PREDICTION)


# by prediction ------------------------------------------------------------------------------------


@finding("asked", "Research question", SHOWN)
def asked(table: "pandas.DataFrame", settings: None) -> Finding:
    """Report which parts of the data were held out."""
    part = table.attrs["part"]
    return Finding(
        f"Each model was fitted without a {part} and scored on how well it predicts that {part}."
    )


@finding("comparison", "Predictive accuracy", ON_SCREEN)
def comparison(table: "pandas.DataFrame", settings: None) -> Finding:
    """Report the scores of models and which differences are established."""
    attrs = table.attrs
    sentences = describe_comparison(table)
    scorer = SCORERS[attrs["scorer"]]
    n_counted = int(table[scorer.counted].iloc[0])
    if n_counted == attrs["units"]:
        count_text = f"{n_counted:,}"
    else:
        count_text = f"{n_counted:,} of {attrs['units']:,}"
    caption = (
        f"Score of each {attrs['unit']} under one model, plotted against its score under another"
        " model."
    )
    picture = None
    if scorer.units == "pairs" and attrs["best"] is not None:
        picture = Picture("comparison", caption, table)
    return Finding(
        sentences[0],
        title=f"Scores for predictions of held-out {scorer.called} ({count_text} {scorer.called})",
        table=table.rename_axis("model"),
        shown=table[[name for name in scorer.shown if name in table]].rename_axis("model"),
        picture=picture,
        notes=(scorer.legend.format(unit=attrs["unit"]), *sentences[1:]),
        brief=Brief(
            "Models",
            table=table.drop(index=[BASE, *scorer.after], errors="ignore")
            .rename_axis("model")
            .filter([scorer.main, "difference", "difference_se"]),
        ),
    )


@finding("scores", "Score of each prediction", SHOWN, chapter=STATISTICS)
def scores(table: "pandas.DataFrame", settings: None) -> Finding:
    """Report the score of each held-out unit by each model."""
    scorer = SCORERS[table.attrs["scorer"]]
    count_column = scorer.counted
    if scorer.level:
        count_column = f"{scorer.level}s"
    count_text = format_plural(int(table[count_column].iloc[0]), table.attrs["unit"])
    return Finding(
        f"Standard errors of differences are based on {count_text}. A difference is called"
        " established"
        " if chance alone would rarely produce one as large (two-sided Student's t test over"
        " independent units, 5 % level).",
        title=f"Scores of the held-out {scorer.called}",
        table=table.attrs[scorer.units].reset_index(),
    )


@finding("predictions", "Predictions of each model", FILE)
def predictions(table: "pandas.DataFrame", settings: None) -> Finding:
    """Report each model's prediction of each held-out unit."""
    attrs = table.attrs
    if "predictions" in attrs:
        return Finding(table=attrs["predictions"].reset_index(drop=True))
    return Finding(table=attrs[SCORERS[attrs["scorer"]].units])


@finding("chains", "Convergence", ON_SCREEN, chapter=STATISTICS)
def chains(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """Report the models whose chains disagree; None if there are none."""
    if not (sentence := describe_disagreement(table)):
        return None
    return Finding(
        sentence,
        good=False,
        headline="The chains disagree on held-out predictions.",
        brief=Brief("Chains"),
    )


# by evidence --------------------------------------------------------------------------------------


@finding("asked", "Research question", SHOWN)
def asked_for_evidence(table: "pandas.DataFrame", settings: None) -> Finding:
    """Report what evidence means, and the prior probabilities."""
    prior_text = ", ".join(f"{name} {p:.3g}" for name, p in table.attrs["prior"].items())
    return Finding(
        "The evidence of a model is the probability of the data under its prior, with all"
        " parameters integrated out. The evidence depends on the priors, including those that have"
        " almost no effect on the posterior.",
        notes=(f"Prior probabilities of the models: {prior_text}.",),
    )


@finding("comparison", "Model evidence", ON_SCREEN)
def evidence(table: "pandas.DataFrame", settings: None) -> Finding:
    """Report log evidence and probability of each model."""
    sentences = describe_evidence(table)
    shown_columns = [
        *("log_evidence", "std_error", "probability"),
        *("log_bayes_factor", "log_bayes_factor_se", "evidence_against"),
    ]
    table = table.rename_axis("model")
    return Finding(
        sentences[0],
        title="Evidence and posterior probability of each model",
        table=table,
        shown=table[shown_columns],
        notes=(
            "log evidence: natural logarithm of the probability of the data, all parameters"
            " integrated out; probability: posterior probability of the model; log BF of best: log"
            " Bayes factor of the best model against the model in the row.",
            *sentences[1:],
        ),
        brief=Brief("Models", table=table[["log_evidence", "probability", "evidence_against"]]),
    )


@finding("sensitivity", "Sensitivity to the priors")
def sensitivity(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """Report evidence and probabilities under other priors."""
    if "sensitivity" not in table.attrs:
        return None
    sensitivity_table = table.attrs["sensitivity"]
    shown_columns = sensitivity_table.filter(
        ["log_evidence", "std_error", "probability", "log_bayes_factor"]
    )
    return Finding(
        title="Evidence under other priors",
        table=sensitivity_table.reset_index(),
        shown=shown_columns,
    )


@finding("temperatures", "Computation of the evidence", FULL, chapter=STATISTICS)
def temperatures(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """Report each model's mean log-likelihood at each temperature."""
    import pandas as pd

    path_by_model: Any = {
        name: evidence.path
        for name, evidence in table.attrs["evidence"].items()
        if len(evidence.path)
    }
    if not path_by_model:
        return None
    path_table = (
        pd.concat(path_by_model, names=["model", None]).reset_index(level=0).reset_index(drop=True)
    )
    return Finding(
        title="Mean log-likelihood along the path from the prior to the posterior, from which the"
        " evidence was computed.",
        table=path_table,
    )


@finding("convergence", "Reliability of the evidence", ON_SCREEN, chapter=STATISTICS)
def convergence(table: "pandas.DataFrame", settings: None) -> Finding:
    """Report whether the evidence of every model is reliable."""
    evidence_by_name = table.attrs["evidence"]
    is_usable = all(log_evidence.usable for log_evidence in evidence_by_name.values())
    check_texts = [
        f"{name}: {log_evidence.convergence}" for name, log_evidence in evidence_by_name.items()
    ]
    headline = "The evidence is not reliable yet."
    brief = Brief("Evidence")
    if is_usable:
        headline = "The evidence is reliable."
        brief = Brief("Evidence", headline)
    return Finding(" ".join(check_texts), good=is_usable, headline=headline, brief=brief)


BY_PREDICTION = (asked, comparison, scores, predictions, chains)
BY_EVIDENCE = (asked_for_evidence, evidence, sensitivity, temperatures, convergence)
