"""`thali fit` of covariates and classes: the model that was asked for, its fit, its cross-validation, its answer."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from thali.cli.boundary import INTERRUPTED, tell
from thali.cli.models import PLACKETT_LUCE, Kind
from thali.errors import ArgumentError, ConvergenceWarning, DataError, ThaliError

if TYPE_CHECKING:
    from thali.cli.covariates import Observations
    from thali.cli.files import Answer
    from thali.cli.loading import Found

TRANSFORMS = {"exponential": "exponential", "exponential-pairs": "exponential-pairs", "none": None}
METHODS = {"plackett-luce": ("gibbs", "map", "variational"), "sparse-logit": ("polya-gamma", "holmes-held")}
# What only methods that draw samples have.
_OF_DRAWS = ("draws", "tune", "chains", "thin", "sampler")
# How advice that names arguments is typed.
_TYPED = (
    (", or pass standardize=False", ""),
    ("method='map' needs a number for a; choose a=1.1", "`--method map` needs `--a`; choose --a 1.1"),
    ("or a=1.0 for", "or --a 1 for"),
    ("; choose transform='exponential' for", "; leave out `--transform none` for"),
    ("Encode categories, for instance with pandas.get_dummies.", "Give each category a column of 0 and 1."),
)


def run_classifier(found: "Found", kind: Kind, settings: dict, given: set[str], budget: dict, out: Path | None) -> None:
    """Fit a classifier to the table of that name and print the answer.

    Parameters
    ----------
    found : Found
    kind : Kind
        One of `models.CLASSIFIERS`.
    settings : dict
        The options of all models, as the command line has them.
    given : set of str
        The names of the options that were typed.
    budget : dict
        draws, tune, chains, thin, cores, random_seed.
    out : Path or None
        Folder for the results.

    Raises
    ------
    ThaliError
        If the data or an argument cannot be used; nothing has been written then.
    typer.Exit
        With 130, after everything was printed and written, if Ctrl-C stopped the fit or the cross-validation.
    """
    from thali.cli.covariates import read_observations
    from thali.cli.cross_validation import STOPPED, cross_validate, fold_of_rows
    from thali.cli.files import write_results

    model = make(kind, settings, given, budget)
    _refuse_bundled(found, kind)
    data = read_observations(found.source, settings["target"])
    tell(f"{found.name}: {data}")
    folds, seed = settings["folds"], budget["random_seed"]
    if folds:
        fold_of_rows(data.labels, folds, 0)  # refused before anything runs
    _fit(model, data)
    stopped = getattr(model, "interrupted_", False)
    if stopped:
        kept = model.posterior_["posterior"].sizes
        tell(f"stopped by Ctrl-C; kept {kept['chain']} chains of {kept['draw']:,} draws, and did not cross-validate.")
    scores = None if stopped or not folds else cross_validate(model, data, folds, seed)
    answered = answer(kind, model, data, scores)
    try:
        if out is not None:
            tree = getattr(model, "posterior_", None)
            write_results(tree, answered, out)
            wrote = ["the posterior"] * (tree is not None) + ["the tables"] + ["the pictures"] * bool(answered.pictures)
            tell(f"wrote {', '.join(wrote[:-1]) + ' and ' if wrote[1:] else ''}{wrote[-1]} to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(answered.text)
    if stopped or (scores is not None and scores.fault == STOPPED):
        raise typer.Exit(INTERRUPTED)


def make(kind: Kind, settings: dict, given: set[str], budget: dict) -> Any:
    """The model with these settings, which are the options of all models.

    Raises
    ------
    ArgumentError
        If there is no such method or transform, or an option was typed that the method does not have.
    """
    import thali

    methods = METHODS[str(kind)]
    method = methods[0] if settings["method"] is None else settings["method"]
    if method not in methods:
        raise ArgumentError(f"`--method` of {kind} must be {' or '.join(methods)}; got {method!r}.")
    if kind is not PLACKETT_LUCE:
        return thali.SparseMultinomialLogit(method=method, progressbar=True, **budget)
    if settings["transform"] not in TRANSFORMS:
        raise ArgumentError(f"`--transform` must be {' or '.join(TRANSFORMS)}; got {settings['transform']!r}.")
    if settings["sampler"] not in ("recommended", "paper"):
        raise ArgumentError(f"`--sampler` must be recommended or paper; got {settings['sampler']!r}.")
    if method != "gibbs" and (typed := [name for name in _OF_DRAWS if name in given]):
        raise ArgumentError(f"`--{typed[0]}` belongs to `--method gibbs`, not to {method}; leave it out.")
    sampler = "paper" if settings["sampler"] == "paper" else None
    transform = TRANSFORMS[settings["transform"]]
    own = dict(method=method, a=settings["a"], transform=transform, sampler=sampler)
    return thali.PlackettLuceRegression(progressbar=True, **own, **budget)


def answer(kind: Kind, model: Any, data: "Observations", scores: Any) -> "Answer":
    """What is printed and written of a fitted model; `scores` are those of the cross-validation, or None."""
    from thali.cli.files import Answer
    from thali.cli.report_classes import importance, report

    summary = model.summary() if hasattr(model, "posterior_") else None
    weights = importance(model)
    tables = {"weights" if kind is PLACKETT_LUCE else "coef": weights}
    if summary is not None:
        tables["summary"] = summary.rename_axis("quantity")
    if scores is not None:
        tables["cross_validation"] = scores.table()
    pictures = {}
    if kind is PLACKETT_LUCE:
        pictures["path"] = lambda plots: plots.path(model, data.covariates, data.labels)
    if data.covariates.shape[1] == 2:
        pictures["decision"] = lambda plots: plots.decision(model, data.covariates, data.labels)
    return Answer(report(kind, model, data, summary, weights, scores), tables, pictures)


def _fit(model: Any, data: "Observations") -> None:
    """Fit, and say what the options are called where advice names arguments."""
    with warnings.catch_warnings():
        if getattr(model, "method", None) in ("map", "variational"):  # there is no verdict on draws in the report
            warnings.simplefilter("always", ConvergenceWarning)
        try:
            model.fit(data.covariates, data.labels)
        except ThaliError as error:
            message = str(error)
            for written, typed in _TYPED:
                message = message.replace(written, typed)
            kind = DataError if isinstance(error, DataError) else ArgumentError
            raise kind(message) from None


def _refuse_bundled(found: "Found", kind: Kind) -> None:
    if found.bundled is not None:
        raise DataError(f"{found.name} holds {found.bundled.kind}, but {kind} needs {kind.data}; name a file.")
