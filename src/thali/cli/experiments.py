"""`thali fit` of a choice experiment: read the table, fit product classes, print and write what was found."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from thali.cli.boundary import INTERRUPTED, tell
from thali.cli.models import PRODUCT_CLASSES
from thali.cli.several import named_values
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from thali.cli.files import Answer
    from thali.cli.loading import Found
    from thali.data.experiment import ChoiceExperiment

_COLUMNS = ("respondent", "task", "alternative", "chosen")
# What other models have, and what takes its place.
_BUDGET = {"draws": "final-sweeps", "tune": "final-sweeps", "chains": "groups", "thin": "final-sweeps"}
_PLACES = {
    "levels= when the data are made": "`--levels`",
    "levels=": "`--levels`",
    "bins=": "`--bins`",
    "none=": "`--none`",
    "attributes=": "`--attributes`",
}


def run_experiment(found: "Found", settings: dict, given: set[str], budget: dict, out: Path | None) -> None:
    """Fit product classes to the table of that name and print the answer.

    Parameters
    ----------
    found : Found
    settings : dict
        The options of all models, as the command line has them.
    given : set of str
        The names of the options that were typed.
    budget : dict
        cores and random_seed, and what other models have besides.
    out : Path or None
        Folder for the results.

    Raises
    ------
    ThaliError
        If the data or an argument cannot be used; nothing has been written then.
    typer.Exit
        With 130, after everything was printed and written, if Ctrl-C stopped the fit.
    """
    from thali.cli.files import write_results

    for name, instead in _BUDGET.items():
        if name in given:
            raise ArgumentError(
                f"`--{name}` means nothing to {PRODUCT_CLASSES}, which has `--{instead}`; leave it out."
            )
    model = make(settings, given)
    with _words_of_the_command_line():
        data = read(found, settings)
        model._checked(data)
        market = None if settings["market"] is None else _market(settings["market"], data)
    tell(f"{found.name}: {data}")
    seed, checkpoint = budget["random_seed"], settings["checkpoint"]
    resume = checkpoint if checkpoint is not None and checkpoint.exists() else None
    model.fit(data, cores=budget["cores"], random_seed=seed, checkpoint=checkpoint, resume=resume)
    if model.interrupted_:
        kept = model.posterior_["posterior"].sizes
        tell(f"stopped by Ctrl-C; kept {kept['chain']} chains of {kept['draw']:,} draws.")
    answered = answer(model, data, market, budget["cores"], seed or 0)
    try:
        if out is not None:
            write_results(model.posterior_, answered, out)
            tell(f"wrote the posterior, the tables and the pictures to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(answered.text)
    if model.interrupted_:
        raise typer.Exit(INTERRUPTED)


def make(settings: dict, given: set[str]) -> Any:
    """The model with these settings, which are the options of all models."""
    import thali

    monotone: dict[str, str] = {}
    for name, direction in named_values("monotone", settings["monotone"]):
        if monotone.get(name, direction) != direction:
            raise ArgumentError(f"`--monotone`: {name!r} cannot be both increasing and decreasing; choose one.")
        monotone[name] = direction
    own = {name: settings[name] for name in ("alpha", "groups", "particles", "final_sweeps")}
    if "lapse" in given:
        own["lapse"] = settings["lapse"]
    if settings["method"] is not None:
        own["method"] = settings["method"]
    return thali.ProductClasses(monotone or None, **own)


def read(found: "Found", settings: dict) -> "ChoiceExperiment":
    """The choice experiment of that file."""
    from thali.data.experiment_file import read_experiment

    if found.bundled is not None:
        raise DataError(f"{found.name} holds no choice experiment, which {PRODUCT_CLASSES} needs; name a file.")
    options: dict[str, Any] = {name: settings[name] for name in _COLUMNS}
    if settings["attributes"] is not None:
        options["attributes"] = [name.strip() for name in settings["attributes"].split(",")]
    if levels := named_values("levels", settings["levels"]):
        options["levels"] = {name: [label.strip() for label in value.split(",")] for name, value in levels}
    if bins := named_values("bins", settings["bins"]):
        options["bins"] = {name: _cuts(name, value) for name, value in bins}
    if settings["none"] is not None:
        column, equals, value = settings["none"].partition("=")
        options["none"] = {column: value} if equals else settings["none"]
    return read_experiment(found.source, **options)


@contextmanager
def _words_of_the_command_line():
    """Errors name options instead of arguments."""
    try:
        yield
    except (DataError, ArgumentError) as error:
        message = str(error)
        for written, typed in _PLACES.items():
            message = message.replace(written, typed)
        raise type(error)(message) from None


def _cuts(name: str, value: str) -> Any:
    """A number of bins, or where they end."""
    try:
        return [float(cut) for cut in value.split(",")] if "," in value or "." in value else int(value)
    except ValueError:
        raise ArgumentError(
            f"`--bins {name}=` takes a number of bins, or two cut points or more between commas; got {value!r}."
        ) from None


def _market(path: Path, data: "ChoiceExperiment") -> Any:
    """The table of products, which the data's levels describe."""
    from thali.data.tables import load
    from thali.product_classes.shares import codes_of, named_market
    from thali.product_classes.study import study_of

    table, study = load(path).frame.reset_index(drop=True), study_of(data)
    codes_of(study, named_market(study, table)[0])
    return table


def answer(model: Any, data: "ChoiceExperiment", market: Any, cores: int | None, seed: int) -> "Answer":
    """What is printed and written of a fitted model."""
    from thali.cli.files import Answer
    from thali.cli.report_experiments import report
    from thali.product_classes.posterior import trace_of

    summary, classes, people = model.summary(), model.classes(), model.people()
    effects = model.level_effects(cores=cores, random_seed=seed)
    importance = model.attribute_importance(cores=cores, random_seed=seed)
    shares = None if market is None else model.market_shares(market, cores=cores, random_seed=seed)
    tables = {
        "summary": summary.rename_axis("quantity"),
        "classes": classes,
        "level_effects": effects,
        "attribute_importance": importance,
        "people": people.rename_axis("respondent"),
    }
    pictures = {
        "classes": lambda plots: plots.classes(model),
        "level_effects": lambda plots: plots.level_effects(effects),
        "attribute_importance": lambda plots: plots.attribute_importance(importance),
        "people": lambda plots: plots.people(people),
    }
    if not len(classes):
        del pictures["classes"]
    if "log_evidence" in trace_of(model.posterior_):
        pictures["evidence_path"] = lambda plots: plots.evidence_path(model)
    if shares is not None:
        tables["market_shares"] = shares
        pictures["market_shares"] = lambda plots: plots.market_shares(shares)
    return Answer(report(model, data, summary, classes, effects, importance, shares), tables, pictures)
