"""`thali compare`: leave pairs or choices out, and say which model predicts them best."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from thali.cli.boundary import INTERRUPTED, tell
from thali.cli.loading import find_data, kind_of_data, load_data
from thali.cli.models import CHOICES
from thali.cli.text import align, number
from thali.errors import ArgumentError, DataError

if TYPE_CHECKING:
    import pandas

_HEADINGS = {
    "nll": "score",
    "nll_mcse": "MC error",
    "information": "bits",
    "mean_log_pred": "log pred.",
    "mean_log_pred_mcse": "MC error",
    "difference": "to best",
    "difference_se": "std. error",
    "r_hat": "R-hat",
}
_CHOICE_HEADINGS = {
    "log_score": "log score",
    "log_score_se": "std. error",
    "hit_rate": "hits",
    "hit_rate_se": "std. error",
    "difference": "to best",
    "difference_se": "std. error",
}


def run_compare(
    data_name: str, *, models: str, settings: dict, tree: Path | None, budget: dict, out: Path | None
) -> None:
    """Compare models on the data of that name and print the answer.

    Parameters
    ----------
    data_name : str
        A bundled data set or a file.
    models : str
        What `--models` says.
    settings : dict
        The arguments that all models share: unique, lapse, alpha.
    tree : Path or None
        File of the tree that models named tree have.
    budget : dict
        The further arguments of `compare`.
    out : Path or None
        Folder for the results.

    Raises
    ------
    ThaliError
        If the data, a name or an argument cannot be used; nothing has been written then.
    typer.Exit
        With 130, after everything was printed and written, if Ctrl-C stopped the run.
    """
    import thali
    from thali.cli.files import check_folder

    if out is not None:
        check_folder(out)
    found = find_data(data_name)
    if kind_of_data(found, leave_out=True) is not CHOICES:
        raise DataError(
            f"{data_name} holds similarities, and `thali compare` scores predictions of choices alone; fit"
            f" similarities with `thali fit {data_name}`."
        )
    data, recognised = load_data(found, CHOICES)
    tell(f"{data_name}: {recognised}")
    paired = isinstance(data, thali.PairedComparisons)
    named = parse_models(models, settings, data.labels, tree)
    if tree is not None and not any(isinstance(model.aspects, thali.Tree) for _, model in named):
        raise ArgumentError(
            "`--tree` gives a tree, but no model of `--models` is tree; add tree, or leave out `--tree`."
        )
    if paired:
        tell(f"{len(named):,} x {data.n_pairs:,} fits, each without one pair.")
    table = thali.compare(named, data, progressbar=True, **budget)
    try:
        if out is not None:
            (_write if paired else _write_choices)(table, out)
            what = ", every pair's scores and the picture" if paired else " and every choice's scores"
            tell(f"wrote the table{what} to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(report(table) if paired else report_choices(table))
    if table.attrs["interrupted"]:
        missing, fits = len(table.attrs["missing"]), len(named) * (data.n_pairs if paired else budget["folds"] or 1)
        if budget["checkpoint"]:
            kept = f"{fits - missing:,} of {fits:,} fits are in '{budget['checkpoint']}'; the same command goes on"
        else:
            kept = f"{fits - missing:,} of {fits:,} fits are finished; with --checkpoint FILE it could go on"
        tell(f"stopped by Ctrl-C; {kept}.")
        raise typer.Exit(INTERRUPTED)


def parse_models(text: str, settings: dict, labels: tuple[str, ...], tree: Path | None = None) -> list[tuple[str, Any]]:
    """The models that `--models` names, by name.

    Parameters
    ----------
    text : str
        Items between commas, each what `--aspects` takes, or "tree", or "tree:" and a leaf length; with `NAME=`
        before it or not.
    settings : dict
        The arguments that all models share; alpha goes to those that have one.
    labels : tuple of str
        The options of the data.
    tree : Path, optional
        File of the tree.

    Returns
    -------
    list of (name, model)
        A word or number is its own name, a file goes by its name without folder and ending.

    Example
    -------
    >>> parse_models("BTL=unique, 3", {"lapse": 0.0, "alpha": 1.0}, ("a", "b"))  # doctest: +NORMALIZE_WHITESPACE
    [('BTL', EliminationByAspects(aspects='unique', lapse=0.0)),
     ('3', EliminationByAspects(aspects=3, lapse=0.0, alpha=1.0))]
    """
    import thali
    from thali.cli.aspects import parse_aspects

    named = []
    for item in (part.strip() for part in text.split(",")):
        name, equals, aspects = (part.strip() for part in item.partition("="))
        if not equals or Path(item).is_file():  # whose name may hold an equals sign
            name, aspects = Path(item).stem if Path(item).is_file() else item, item
        if not name or not aspects:
            raise ArgumentError(f"`--models` needs models between commas, such as unique,3,ibp; got {text!r}.")
        if aspects == "tree" or aspects.startswith("tree:"):
            parsed = _tree(aspects, tree)
        else:
            parsed = parse_aspects(aspects, labels, "--models")
        learns_alpha = parsed == "ibp" or isinstance(parsed, int | thali.Tree)
        own = settings if learns_alpha else settings | {"alpha": None}
        named.append((name, thali.EliminationByAspects(parsed, **own)))
    return named


def _tree(item: str, path: Path | None):
    """The tree of "tree" or "tree:0.5"."""
    from thali.cli.relations import read_tree

    if path is None:
        raise ArgumentError(f"`--models` names {item!r}; say with `--tree FILE` which tree that is.")
    _, colon, length = item.partition(":")
    try:
        return read_tree(path, float(length) if colon else None)
    except ValueError as error:
        if isinstance(error, ArgumentError | DataError):
            raise
        raise ArgumentError(f"`--models`: a leaf length must follow 'tree:', not {length!r}.") from None


def report(table: "pandas.DataFrame") -> str:
    """The answer in words and numbers: the table, what it establishes, and whether the chains agree.

    Parameters
    ----------
    table : pandas.DataFrame
        As `thali.compare` returns it.

    Returns
    -------
    str
        Lines without a final line break.
    """
    from thali.leave_out.table import sentences, unconverged

    pairs = int(table["pairs"].iloc[0])
    of_all = "" if pairs == len(table.attrs["pairs"]) else f" of {len(table.attrs['pairs']):,}"
    parts = [
        f"What each model predicts for pairs that it has not seen ({pairs:,}{of_all} pairs)\n"
        + _aligned(table, _HEADINGS),
        "score: mean over pairs of -ln Binomial(observed | n, posterior mean), smaller is better; bits: information per"
        " comparison above guessing;\nlog pred.: mean of the log of the posterior mean of the binomial; to best: score"
        " minus that of the best model, with its standard error over pairs.",
        "\n".join(sentences(table)),
    ]
    if sentence := unconverged(table):
        parts.append(f"WARNING: {sentence}".replace("more draws and tune", "larger --draws and --tune"))
    return "\n\n".join(parts)


def report_choices(table: "pandas.DataFrame") -> str:
    """The same of choices out of sets.

    Parameters
    ----------
    table : pandas.DataFrame
        As `thali.compare` returns it.

    Returns
    -------
    str
    """
    from thali.leave_out.table import sentences

    count, of_all = int(table["tasks"].iloc[0]), len(table.attrs["tasks"])
    told = f"{count:,}" if count == of_all else f"{count:,} of {of_all:,}"
    return "\n\n".join(
        [
            f"What each model predicts for choices that it has not seen ({told} choices)\n"
            + _aligned(table, _CHOICE_HEADINGS),
            "log score: mean over choices of the log of the predicted probability, larger is better; to best: log score"
            f"\nminus that of the best model; standard errors are over {table.attrs['unit']}s.",
            "\n".join(sentences(table)),
        ]
    )


def _aligned(table: "pandas.DataFrame", headings: dict[str, str]) -> str:
    """The columns with headings, a row a model."""
    rows = [("", *headings.values())]
    for name, row in table.iterrows():
        cells = (_cell(column, float(row[column])) for column in headings)  # type: ignore[arg-type]
        rows.append((str(name), *cells))
    return align(rows, left={0})


def _cell(column: str, value: float) -> str:
    if column == "information" and value == value:
        return f"{value:.4f}"
    return number("mcse" if column.endswith("mcse") else column, value)


def _write(table: "pandas.DataFrame", folder: Path) -> None:
    """Write comparison.csv, predictions.csv and comparison.png, all or none."""
    from thali.cli.files import csv, png, write_all

    contents = {"comparison.csv": csv(table), "predictions.csv": csv(table.attrs["predictions"], index=False)}
    if table["pairs"].iloc[0] > 0:
        contents["comparison.png"] = png(lambda plots: plots.comparison(table))
    write_all(folder, contents)


def _write_choices(table: "pandas.DataFrame", folder: Path) -> None:
    """Write comparison.csv and predictions.csv, the log score of every choice, both or none."""
    from thali.cli.files import csv, write_all

    write_all(folder, {"comparison.csv": csv(table), "predictions.csv": csv(table.attrs["tasks"])})
