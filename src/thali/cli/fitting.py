"""`thali fit`: find the data, fit the model, print what was found, write it down."""

from pathlib import Path

import typer

from thali.cli.boundary import INTERRUPTED, tell
from thali.errors import ArgumentError, DataError

MODELS = ("elimination-by-aspects",)


def run_fit(
    data_name: str,
    *,
    model_name: str,
    settings: dict,
    tree: Path | None,
    leaf_length: float | None,
    budget: dict,
    out: Path | None,
) -> None:
    """Fit a model to the data of that name and print the answer.

    Parameters
    ----------
    data_name : str
        A bundled data set or a file.
    model_name : str
        One of `MODELS`; capitals, hyphens and underscores do not matter.
    settings : dict
        The model's arguments, as the command line has them.
    tree : Path or None
        File of a tree, in place of the aspects.
    leaf_length : float or None
        Of the tree, if the file holds groups.
    budget : dict
        The arguments of `fit`: draws, tune, chains, thin, cores, random_seed.
    out : Path or None
        Folder for the results.

    Raises
    ------
    ThaliError
        If the data, a name or an argument cannot be used; nothing has been written then.
    typer.Exit
        With 130, after everything was printed and written, if the fit was stopped by Ctrl-C.
    """
    from thali.cli.files import check_folder, write_results
    from thali.cli.relations import read_tree
    from thali.cli.report import report

    _check_model(model_name)
    if out is not None:
        check_folder(out)
    data, recognised = load_data(data_name)
    tell(f"{data_name}: {recognised}")
    if tree is not None:
        if settings["aspects"] != "ibp":
            raise ArgumentError("`--tree` takes the place of `--aspects`; give one of the two.")
        settings = settings | {"aspects": read_tree(tree, leaf_length)}
        settings["aspects"].for_labels(data.labels)  # every mismatch is named before anything runs
    elif leaf_length is not None:
        raise ArgumentError("`--leaf-length` belongs to a tree of groups; name its file with `--tree`.")
    model = _elimination_by_aspects(settings, data.labels)
    if settings["sampler"] == "paper":
        tell("the published sampler finds too few aspects, because it truncates new ones; use it for comparison only.")
    model.fit(data, progressbar=True, **budget)
    if model.interrupted_:
        kept = model.posterior_["posterior"].sizes
        tell(f"stopped by Ctrl-C; kept {kept['chain']} chains of {kept['draw']:,} draws.")
    summary, features, check = model.summary(), model.features(), model.check(budget["random_seed"] or 0)
    try:
        if out is not None:
            write_results(model, summary, features, check, out)
            tell(f"wrote the posterior, the tables and the pictures to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(report(model, summary, features, check))
    if model.interrupted_:
        raise typer.Exit(INTERRUPTED)


def load_data(name: str):
    """The data of that name, and a sentence that says what they were recognised as.

    Parameters
    ----------
    name : str
        A bundled data set or a file; where a name is both, it is the bundled one ("./name" is the file).

    Returns
    -------
    data : PairedComparisons
    recognised : str

    Raises
    ------
    DataError
        If there is neither, or the file cannot be read as paired comparisons.
    """
    from thali import datasets
    from thali.data.check import suggest

    bundled = {record.name: record for record in datasets.catalogue()}
    if name in bundled:
        data, record = datasets.load(name), bundled[name]
        return data, f"bundled data set, {record.description}; {record.source}"
    if not Path(name).exists() and not Path(name).suffix and "/" not in name and "\\" not in name:
        raise DataError(
            f"There is no file and no bundled data set {name!r}; bundled are {', '.join(bundled)}."
            f"{suggest(name, list(bundled))}"
        )

    from thali.data.tables import read_comparisons

    return read_comparisons(name)


def _check_model(name: str) -> None:
    if name.lower().replace("_", "").replace("-", "") not in {known.replace("-", "") for known in MODELS}:
        raise ArgumentError(f"`--model` must be {' or '.join(MODELS)}; got {name!r}.")


def _elimination_by_aspects(settings: dict, labels: tuple[str, ...]):
    import thali
    from thali.cli.aspects import parse_aspects

    if isinstance(settings["aspects"], str):
        settings = settings | {"aspects": parse_aspects(settings["aspects"], labels)}
    return thali.EliminationByAspects(**settings)
