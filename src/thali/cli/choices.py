"""`thali fit` of paired comparisons: the model that was asked for, and its answer."""

from thali.cli.files import Answer, drawn
from thali.cli.tempering import parse_tempering


def make(settings: dict):
    """The model with these settings, which are the options of all models."""
    import thali

    own = {name: settings[name] for name in ("aspects", "unique", "lapse", "alpha", "sampler")}
    tempering = parse_tempering(settings["tempering"])
    if tempering is not None:
        own["tempering"] = tempering
    return thali.EliminationByAspects(**own)


def answer(model, settings: dict, random_seed: int | None) -> Answer:
    """What is printed and written of a fitted model."""
    from thali.cli.report_choices import report

    summary, features, check = model.summary(), model.features(), model.check(random_seed or 0)
    return Answer(
        text=report(model, summary, features, check),
        tables={
            "summary": summary.rename_axis("quantity"),
            "features": features.assign(members=features["members"].map("; ".join)),
            "unique_weights": model.unique_weights(),
            "check": check,
        },
        pictures=drawn(model, "paired comparisons") | {"check": lambda plots: plots.check(check)},
    )
