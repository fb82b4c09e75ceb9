"""`thali fit` of choices between two options or more: the model that was asked for, and its answer."""

from thali.cli import maximum_likelihood
from thali.cli.files import Answer, drawn
from thali.cli.tempering import parse_tempering
from thali.errors import ArgumentError, DataError


def settled(settings: dict, given: set[str]) -> dict:
    """The settings, those of maximum likelihood in order: known aspects, and nothing that only draws need."""
    method = settings["method"] or "mcmc"
    if method not in ("mcmc", maximum_likelihood.NAME):
        raise ArgumentError(f"`--method` must be mcmc or {maximum_likelihood.NAME}; got {method!r}.")
    if method == "mcmc":
        return settings | {"method": method}
    maximum_likelihood.refuse_options_of_draws(given)
    known = {} if {"aspects", "tree"} & given else {"aspects": "unique"}
    return settings | {"method": method} | known


def make(settings: dict):
    """The model with these settings, which are the options of all models."""
    import thali

    own = {name: settings[name] for name in ("aspects", "unique", "lapse")}
    if settings["method"] == maximum_likelihood.NAME:
        return thali.EliminationByAspects(**own, method=maximum_likelihood.NAME)
    own |= {name: settings[name] for name in ("alpha", "sampler")}
    tempering = parse_tempering(settings["tempering"])
    if tempering is not None:
        own["tempering"] = tempering
    return thali.EliminationByAspects(**own)


def answer(model, settings: dict, random_seed: int | None) -> Answer:
    """What is printed and written of a fitted model."""
    from thali.cli.report_choices import report
    from thali.posterior.check import check_sentence

    if settings["method"] == maximum_likelihood.NAME:
        return maximum_likelihood.answer(model)
    summary, features, ranks = model.summary(), model.features(), model.ranks()
    try:
        check = model.check(random_seed or 0)
        checked, table, picture = check_sentence(check), {"check": check}, {"check": lambda plots: plots.check(check)}
    except DataError as error:  # of fractional counts, which must not cost the rest of the answer
        checked, table, picture = str(error), {}, {}
    return Answer(
        text=report(model, summary, features, checked, ranks),
        tables={
            "summary": summary.rename_axis("quantity"),
            "features": features.assign(members=features["members"].map("; ".join)),
            "unique_weights": model.unique_weights(),
            "ranks": ranks,
            **table,
        },
        pictures=drawn(model, "paired comparisons") | picture,
    )
