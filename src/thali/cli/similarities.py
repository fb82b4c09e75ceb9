"""`thali fit` of similarities: the model that was asked for, and its answer."""

from typing import TYPE_CHECKING

from thali.cli.files import Answer, drawn
from thali.cli.tempering import parse_tempering
from thali.errors import ArgumentError

if TYPE_CHECKING:
    import pandas

CONSTANT = "additive constant"


def make(settings: dict):
    """The model with these settings, which are the options of all models."""
    import thali
    from thali.posterior.estimators import KINDS

    if settings["estimate"] not in KINDS:
        raise ArgumentError(f"`--estimate` must be one of {', '.join(KINDS)}; got {settings['estimate']!r}.")
    own = {name: settings[name] for name in ("features", "sigma", "alpha", "constant", "sampler")}
    return thali.AdditiveClustering(
        **own,
        weight_prior=parse_weight_prior(settings["weight_prior"]),
        tempering=parse_tempering(settings["tempering"]),
    )


def parse_weight_prior(value: str) -> tuple[float, float]:
    """Shape and rate, from what was typed.

    Raises
    ------
    ArgumentError
        If it is not two numbers with a comma between them; the model checks their range.

    Example
    -------
    >>> parse_weight_prior("1,10")
    (1.0, 10.0)
    """
    try:
        shape, rate = (float(part) for part in value.split(","))
    except ValueError:
        raise ArgumentError(
            f"`--weight-prior` must be the shape and the rate of a Gamma distribution, such as 1,10; got {value!r}."
        ) from None
    return shape, rate


def answer(model, settings: dict, random_seed: int | None) -> Answer:
    """What is printed and written of a fitted model."""
    from thali.cli.report_similarities import report
    from thali.plots.overlap import MOST_OBJECTS

    summary, features, estimate = model.summary(), model.features(), model.estimate(settings["estimate"])
    pictures = drawn(model, "similarities")
    if len(estimate.similarity) <= MOST_OBJECTS:
        pictures["overlap"] = lambda plots: plots.overlap(estimate)
    return Answer(
        text=report(model, summary, features, estimate),
        tables={
            "summary": summary.rename_axis("quantity"),
            "features": features.assign(members=features["members"].map("; ".join)),
            "estimate": _with_constant(estimate, model.constant),
            "similarity": estimate.similarity.rename_axis("object"),
        },
        pictures=pictures,
    )


def _with_constant(estimate, has_constant: bool) -> "pandas.DataFrame":
    """The features of an estimate and, as the last row, the additive constant."""
    table = estimate.features.assign(members=estimate.features["members"].map("; ".join))
    table.insert(0, "term", "feature")
    if has_constant:
        last = {"term": "constant", "members": CONSTANT, "probability": 1.0, "weight": float(estimate.constant)}
        table.loc[len(table)] = [last.get(str(column), float("nan")) for column in table.columns]
    return table
