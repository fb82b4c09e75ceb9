"""What a comparison of models finds out, by prediction or by evidence."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thali._labels import plural
from thali._model.finding import FILE, FULL, ON_SCREEN, SHOWN, STATISTICS, Brief, Finding, Findings, Picture, finding
from thali._model.wording import phrase

from .by_evidence import EVIDENCE, evidence_sentences
from .scorer import BASE
from .sentences import sentences, unconverged
from .ways import SCORERS

if TYPE_CHECKING:
    import pandas


# The sentences of what comparisons find out, besides those about the orders of models ---------------------------------


ENGLISH = {
    "asked": "Models were fitted without a {part}, and scored by how they predict it.",
    "comparison.title": "What each model predicts for {units} that it has not seen ({count} {units})",
    "comparison.caption": "Score of each {unit} by one model against another.",
    "scores.title": "Scores of the {units}",
    "scores": "The standard error of a difference is over {count}. A difference is called established where"
    " chance alone would seldom leave one as large (Student's t test over independent units, 5 %, both sides).",
    "chains": "The chains do not agree on what was left out.",
    "evidence.asked": "The evidence of a model is the probability of the data that its prior gives, all parameters"
    " integrated out. It depends on the priors, also on those that hardly change the posterior.",
    "evidence.prior": "Before the data the models were given the probabilities {prior}.",
    "evidence.title": "Which model the data support",
    "evidence.legend": "log evidence: natural logarithm of the probability of the data, all parameters integrated out;"
    " probability: of the model given the data; log BF of best: log Bayes factor of the best model against this one.",
    "evidence.priors": "Evidence under other priors",
    "temperatures": "Mean log-likelihood from the prior to the posterior, from which the evidence was found.",
    "evidence.good": "The evidence was found.",
    "evidence.bad": "The evidence is not yet sure.",
}


def findings_of(table: "pandas.DataFrame") -> Findings:
    """The findings of the table that `thali.compare` returned."""
    return Findings(table, BY_EVIDENCE if table.attrs.get("by") == EVIDENCE else BY_PREDICTION)


# by prediction ------------------------------------------------------------------------------------------------


@finding("asked", "What was asked?", SHOWN)
def asked(table: "pandas.DataFrame", settings: None) -> Finding:
    """What was left out."""
    return Finding(phrase(ENGLISH, "asked", part=table.attrs["part"]))


@finding("comparison", "Which model predicts best what was left out?", ON_SCREEN)
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
        picture=Picture("comparison", caption, (table,)) if is_drawn else None,
        notes=(scorer.legend.format(unit=attrs["unit"]), *found[1:]),
        brief=Brief(
            "Models", table=_of_models(table, scorer.after).filter([scorer.main, "difference", "difference_se"])
        ),
    )


def _of_models(table: "pandas.DataFrame", after: Sequence[str]) -> "pandas.DataFrame":
    """The rows of models, without those of guessing and of the observed proportions, which come last."""
    return table.drop(index=[BASE, *after], errors="ignore").rename_axis("model")


@finding("scores", "How was each predicted?", SHOWN, chapter=STATISTICS)
def scores(table: "pandas.DataFrame", settings: None) -> Finding:
    """The score of each unit."""
    scorer = SCORERS[table.attrs["scorer"]]
    independent = table[f"{scorer.level}s" if scorer.level else scorer.counted]
    return Finding(
        phrase(ENGLISH, "scores", count=plural(int(independent.iloc[0]), table.attrs["unit"])),
        title=str(phrase(ENGLISH, "scores.title", units=scorer.called)),
        table=table.attrs[scorer.units].reset_index(),
    )


@finding("predictions", "What did each model predict?", FILE)
def predictions(table: "pandas.DataFrame", settings: None) -> Finding:
    """What each model predicts for what was left out."""
    attrs = table.attrs
    if "predictions" in attrs:
        return Finding(table=attrs["predictions"].reset_index(drop=True))
    return Finding(table=attrs[SCORERS[attrs["scorer"]].units])


@finding("chains", "Do the chains agree?", ON_SCREEN, chapter=STATISTICS)
def chains(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """Whose chains do not agree."""
    if not (sentence := unconverged(table)):
        return None
    return Finding(sentence, good=False, headline=ENGLISH["chains"], brief=Brief("Chains"))


# by evidence --------------------------------------------------------------------------------------------------


@finding("asked", "What was asked?", SHOWN)
def asked_for_evidence(table: "pandas.DataFrame", settings: None) -> Finding:
    """What evidence is, and what was known before the data."""
    prior = ", ".join(f"{name} {p:.3g}" for name, p in table.attrs["prior"].items())
    return Finding(ENGLISH["evidence.asked"], notes=(phrase(ENGLISH, "evidence.prior", prior=prior),))


@finding("comparison", "Which model do the data support?", ON_SCREEN)
def evidence(table: "pandas.DataFrame", settings: None) -> Finding:
    """The evidence of each model, and their probabilities."""
    found = evidence_sentences(table)
    columns = ("log_evidence", "standard_error", "probability", "log_bayes_factor", "log_bayes_factor_se")
    return Finding(
        found[0],
        title=ENGLISH["evidence.title"],
        table=table.rename_axis("model"),
        shown=table[[*columns, "evidence_against"]].rename_axis("model"),
        notes=(ENGLISH["evidence.legend"], *found[1:]),
        brief=Brief("Models", table=table[["log_evidence", "probability", "evidence_against"]].rename_axis("model")),
    )


@finding("sensitivity", "And under other priors?")
def sensitivity(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """The evidence under other priors."""
    if "sensitivity" not in table.attrs:
        return None
    found = table.attrs["sensitivity"]
    columns = [each for each in ("log_evidence", "standard_error", "probability", "log_bayes_factor") if each in found]
    return Finding(title=ENGLISH["evidence.priors"], table=found.reset_index(), shown=found[columns])


@finding("temperatures", "How was the evidence found?", FULL, chapter=STATISTICS)
def temperatures(table: "pandas.DataFrame", settings: None) -> Finding | None:
    """The mean log-likelihood along the temperatures of each model."""
    import pandas as pd

    paths: Any = {name: each.path for name, each in table.attrs["evidence"].items() if len(each.path)}
    if not paths:
        return None
    joined = pd.concat(paths, names=["model", None]).reset_index(level=0).reset_index(drop=True)
    return Finding(
        title=ENGLISH["temperatures"],
        table=joined,
    )


@finding("convergence", "Can the evidence be relied on?", ON_SCREEN, chapter=STATISTICS)
def convergence(table: "pandas.DataFrame", settings: None) -> Finding:
    """Whether the evidence of every model is usable."""
    found = table.attrs["evidence"]
    usable = all(each.usable for each in found.values())
    checks = tuple(f"{name}: {each.convergence}" for name, each in found.items())
    headline = ENGLISH["evidence.good" if usable else "evidence.bad"]
    return Finding(
        " ".join(checks), good=usable, headline=headline, brief=Brief("Evidence", headline if usable else None)
    )


BY_PREDICTION = (asked, comparison, scores, predictions, chains)
BY_EVIDENCE = (asked_for_evidence, evidence, sensitivity, temperatures, convergence)
