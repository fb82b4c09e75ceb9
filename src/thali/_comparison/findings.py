"""What a comparison of models finds out, by prediction or by evidence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thali._labels import plural
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
from thali._model.wording import phrase

from .by_evidence import EVIDENCE, evidence_sentences
from .scorer import BASE
from .sentences import sentences, unconverged
from .ways import SCORERS

if TYPE_CHECKING:
    import pandas


# The sentences of what comparisons find out, besides those about the orders of models -------------


ENGLISH = {
    "asked": "Each model was fitted without a {part} and scored on how well it predicts that"
    " {part}.",
    "comparison.title": "Scores for predictions of held-out {units} ({count} {units})",
    "comparison.caption": "Score of each {unit} under one model, plotted against its score under"
    " another model.",
    "scores.title": "Scores of the held-out {units}",
    "scores": "Standard errors of differences are based on {count}. A difference is called"
    " established if chance alone would rarely produce one as large (two-sided Student's t"
    " test over independent units, 5 % level).",
    "chains": "The chains disagree on held-out predictions.",
    "evidence.asked": "The evidence of a model is the probability of the data under its prior, with"
    " all parameters integrated out. The evidence depends on the priors, including those that"
    " have almost no effect on the posterior.",
    "evidence.prior": "Prior probabilities of the models: {prior}.",
    "evidence.title": "Evidence and posterior probability of each model",
    "evidence.legend": "log evidence: natural logarithm of the probability of the data, all"
    " parameters integrated out; probability: posterior probability of the model; log BF of"
    " best: log Bayes factor of the best model against the model in the row.",
    "evidence.priors": "Evidence under other priors",
    "temperatures": "Mean log-likelihood along the path from the prior to the posterior, from which"
    " the evidence was computed.",
    "evidence.good": "The evidence is reliable.",
    "evidence.bad": "The evidence is not reliable yet.",
}


def findings_of(table: "pandas.DataFrame") -> Findings:
    """The findings of the table that `thali.compare` returned."""
    return Findings(table, BY_EVIDENCE if table.attrs.get("by") == EVIDENCE else BY_PREDICTION)


# by prediction ------------------------------------------------------------------------------------


@finding("asked", "Research question", SHOWN)
def asked(table: "pandas.DataFrame", settings: None) -> Finding:
    """What was left out."""
    return Finding(phrase(ENGLISH, "asked", part=table.attrs["part"]))


@finding("comparison", "Predictive accuracy", ON_SCREEN)
def comparison(table: "pandas.DataFrame", settings: None) -> Finding:
    """The scores, and what they establish."""
    attrs, found = table.attrs, sentences(table)
    scorer = SCORERS[attrs["scorer"]]
    counted = int(table[scorer.counted].iloc[0])
    of_all = f"{counted:,}" if counted == attrs["units"] else f"{counted:,} of {attrs['units']:,}"
    caption = str(phrase(ENGLISH, "comparison.caption", unit=attrs["unit"]))
    is_drawn = scorer.units == "pairs" and attrs["best"] is not None
    return Finding(
        found[0],
        title=str(phrase(ENGLISH, "comparison.title", units=scorer.called, count=of_all)),
        table=table.rename_axis("model"),
        shown=table[[each for each in scorer.shown if each in table]].rename_axis("model"),
        picture=Picture("comparison", caption, table) if is_drawn else None,
        notes=(scorer.legend.format(unit=attrs["unit"]), *found[1:]),
        brief=Brief(
            "Models",
            table=_of_models(table, scorer.after).filter(
                [scorer.main, "difference", "difference_se"]
            ),
        ),
    )


def _of_models(table: "pandas.DataFrame", after: Sequence[str]) -> "pandas.DataFrame":
    """The rows of models, without those of guessing and of the observed proportions, which come
    last."""
    return table.drop(index=[BASE, *after], errors="ignore").rename_axis("model")


@finding("scores", "Score of each prediction", SHOWN, chapter=STATISTICS)
def scores(table: "pandas.DataFrame", settings: None) -> Finding:
    """The score of each unit."""
    scorer = SCORERS[table.attrs["scorer"]]
    independent = table[f"{scorer.level}s" if scorer.level else scorer.counted]
    return Finding(
        phrase(ENGLISH, "scores", count=plural(int(independent.iloc[0]), table.attrs["unit"])),
        title=str(phrase(ENGLISH, "scores.title", units=scorer.called)),
        table=table.attrs[scorer.units].reset_index(),
    )


@finding("predictions", "Predictions of each model", FILE)
def predictions(table: "pandas.DataFrame", settings: None) -> Finding:
    """What each model predicts for what was left out."""
    attrs = table.attrs
    if "predictions" in attrs:
        return Finding(table=attrs["predictions"].reset_index(drop=True))
    return Finding(table=attrs[SCORERS[attrs["scorer"]].units])


@finding("chains", "Convergence", ON_SCREEN, chapter=STATISTICS)
def chains(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """Whose chains do not agree."""
    if not (sentence := unconverged(table)):
        return None
    return Finding(sentence, good=False, headline=ENGLISH["chains"], brief=Brief("Chains"))


# by evidence --------------------------------------------------------------------------------------


@finding("asked", "Research question", SHOWN)
def asked_for_evidence(table: "pandas.DataFrame", settings: None) -> Finding:
    """What evidence is, and what was known before the data."""
    prior = ", ".join(f"{name} {p:.3g}" for name, p in table.attrs["prior"].items())
    return Finding(
        ENGLISH["evidence.asked"], notes=(phrase(ENGLISH, "evidence.prior", prior=prior),)
    )


@finding("comparison", "Model evidence", ON_SCREEN)
def evidence(table: "pandas.DataFrame", settings: None) -> Finding:
    """The evidence of each model, and their probabilities."""
    found = evidence_sentences(table)
    columns = (
        "log_evidence",
        "std_error",
        "probability",
        "log_bayes_factor",
        "log_bayes_factor_se",
    )
    return Finding(
        found[0],
        title=ENGLISH["evidence.title"],
        table=table.rename_axis("model"),
        shown=table[[*columns, "evidence_against"]].rename_axis("model"),
        notes=(ENGLISH["evidence.legend"], *found[1:]),
        brief=Brief(
            "Models",
            table=table[["log_evidence", "probability", "evidence_against"]].rename_axis("model"),
        ),
    )


@finding("sensitivity", "Sensitivity to the priors")
def sensitivity(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """The evidence under other priors."""
    if "sensitivity" not in table.attrs:
        return None
    found = table.attrs["sensitivity"]
    columns = [
        each
        for each in ("log_evidence", "std_error", "probability", "log_bayes_factor")
        if each in found
    ]
    return Finding(
        title=ENGLISH["evidence.priors"], table=found.reset_index(), shown=found[columns]
    )


@finding("temperatures", "Computation of the evidence", FULL, chapter=STATISTICS)
def temperatures(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """The mean log-likelihood along the temperatures of each model."""
    import pandas as pd

    paths: Any = {
        name: each.path for name, each in table.attrs["evidence"].items() if len(each.path)
    }
    if not paths:
        return None
    joined = pd.concat(paths, names=["model", None]).reset_index(level=0).reset_index(drop=True)
    return Finding(
        title=ENGLISH["temperatures"],
        table=joined,
    )


@finding("convergence", "Reliability of the evidence", ON_SCREEN, chapter=STATISTICS)
def convergence(table: "pandas.DataFrame", settings: None) -> Finding:
    """Whether the evidence of every model is usable."""
    found = table.attrs["evidence"]
    usable = all(each.usable for each in found.values())
    checks = tuple(f"{name}: {each.convergence}" for name, each in found.items())
    headline = ENGLISH["evidence.good" if usable else "evidence.bad"]
    return Finding(
        " ".join(checks),
        good=usable,
        headline=headline,
        brief=Brief("Evidence", headline if usable else None),
    )


BY_PREDICTION = (asked, comparison, scores, predictions, chains)
BY_EVIDENCE = (asked_for_evidence, evidence, sensitivity, temperatures, convergence)
