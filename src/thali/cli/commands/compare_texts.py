"""How the tables of `thali compare` are printed: headings and legends."""

from typing import NamedTuple


class Text(NamedTuple):
    """How a table of one kind is printed."""

    unit: str
    count: str  # the column that counts the units
    headings: dict[str, str]
    legend: str


_DIFFERENCE = {"difference": "to best", "difference_se": "std. error"}
TEXTS = {
    "BinomialScorer": Text(
        "pairs",
        "pairs",
        {
            "nll": "score",
            "nll_mcse": "MC error",
            "information": "bits",
            "mean_log_pred": "log pred.",
            "mean_log_pred_mcse": "MC error",
            **_DIFFERENCE,
            "r_hat": "R-hat",
        },
        "score: mean over pairs of -ln Binomial(observed | n, posterior mean), smaller is better; bits: information per"
        " comparison above guessing;\nlog pred.: mean of the log of the posterior mean of the binomial; to best: score"
        " minus that of the best model, with its standard error over pairs.",
    ),
    "ChoiceScorer": Text(
        "choices",
        "tasks",
        {
            "log_score": "log score",
            "log_score_se": "std. error",
            "hit_rate": "hits",
            "hit_rate_se": "std. error",
            **_DIFFERENCE,
        },
        "log score: mean over choices of the log of the predicted probability, larger is better; to best: log score"
        "\nminus that of the best model; standard errors are over {unit}s.",
    ),
    "ClassScorer": Text(
        "rows",
        "rows",
        {
            "log_loss": "log loss",
            "log_loss_se": "std. error",
            "accuracy": "right",
            "accuracy_se": "std. error",
            "brier": "Brier",
            **_DIFFERENCE,
        },
        "log loss: mean over rows of -ln of the predicted probability of the class, smaller is better; right: share of"
        " rows whose most\nprobable class is theirs; Brier: mean squared distance of the probabilities from 0 and 1; to"
        " best: log loss minus that of the best\nmodel. BASE: the proportions of the classes, and the largest class, of"
        " the other rows.",
    ),
    "GaussianScorer": Text(
        "similarities",
        "pairs",
        {
            "log_score": "log score",
            "log_score_se": "std. error",
            "log_score_mcse": "MC error",
            "squared_error": "sq. error",
            **_DIFFERENCE,
            "r_hat": "R-hat",
        },
        "log score: mean over pairs of objects of the log of the predictive density, larger is better; sq. error: mean"
        " squared distance of\nsimilarities from their predictions; to best: log score minus that of the best model."
        " BASE: one normal distribution for all.",
    ),
    "TripletScorer": Text(
        "answers",
        "answers",
        {
            "log_score": "log score",
            "log_score_se": "std. error",
            "log_score_mcse": "MC error",
            "hit_rate": "hits",
            "hit_rate_se": "std. error",
            **_DIFFERENCE,
        },
        "log score: mean over answers of the log of the predicted probability of the pair named, larger is better;"
        " hits: share of\nanswers that name the most probable pair; to best: log score minus that of the best model;"
        " standard errors are over sets.\nBASE: guessing.",
    ),
}

_CHOICES = TEXTS["ChoiceScorer"]
_PEOPLE = _CHOICES._replace(
    headings=_CHOICES.headings | {"together": "together", "together_se": "std. error"},
    legend=_CHOICES.legend
    + "\ntogether: log of the probability of all choices of a person together, summed over people and divided by the"
    " number of choices.",
)
TEXTS |= {"GroupChoiceScorer": _CHOICES, "GroupGaussianScorer": TEXTS["GaussianScorer"]}
TEXTS |= {"PeopleScorer": _PEOPLE, "GroupPeopleScorer": _PEOPLE}
