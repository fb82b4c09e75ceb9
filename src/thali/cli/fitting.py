"""`thali fit`: find the data, fit the model, print what was found, write it down."""

from pathlib import Path

import typer

from thali.cli.boundary import INTERRUPTED, tell
from thali.cli.loading import COLUMNS, find_data, kind_of_data, load_data
from thali.cli.models import (
    CLASSIFIERS,
    PLACKETT_LUCE,
    PRODUCT_CLASSES,
    SIMILARITIES,
    Kind,
    kind_named,
    refuse_options_of_others,
)
from thali.errors import ArgumentError

PAPER = {
    "paired comparisons": "finds too few aspects, because it truncates new ones",
    "similarities": "is not tempered, and stays in one family of features where data have several",
}


def run_fit(
    data_name: str,
    *,
    model_name: str | None,
    settings: dict,
    given: set[str],
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
    model_name : str or None
        As for `models.kind_named`; None is the model for these data, or Plackett-Luce where `--target` was typed, or
        product classes where `--monotone` or `--respondent` was.
    settings : dict
        The options of all models, as the command line has them.
    given : set of str
        The names of those that were typed.
    tree : Path or None
        File of a tree, in place of the features.
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

    named = _named(model_name, given)
    if out is not None:
        check_folder(out)
    found = find_data(data_name)
    kind = named or kind_of_data(found)
    refuse_options_of_others(kind, given, data_name if named is None else None)
    if kind in CLASSIFIERS:
        from thali.cli.classifying import run_classifier

        return run_classifier(found, kind, settings, given, budget, out)
    if kind is PRODUCT_CLASSES:
        from thali.cli.experiments import run_experiment

        return run_experiment(found, settings, given, budget, out)
    if settings["symmetrize"] not in (None, "mean"):
        raise ArgumentError(f"`--symmetrize` must be mean; got {settings['symmetrize']!r}.")
    from thali.cli import choices, similarities

    side = similarities if kind is SIMILARITIES else choices
    if side is choices:
        settings = choices.settled(settings, given)
    data, recognised = load_data(found, kind, settings["symmetrize"], _columns(settings))
    tell(f"{data_name}: {recognised}")
    settings = settings | _features(kind, settings, tree, leaf_length, data.labels)
    model = side.make(settings)
    if settings["sampler"] == "paper":
        tell(f"the published sampler {PAPER[kind.data]}; use it for comparison only.")
    model.fit(data, progressbar=True, **budget)
    if model.interrupted_:
        kept = model.posterior_["posterior"].sizes
        tell(f"stopped by Ctrl-C; kept {kept['chain']} chains of {kept['draw']:,} draws.")
    answer = side.answer(model, settings, budget["random_seed"])
    try:
        if out is not None:
            drawn = hasattr(model, "posterior_")
            write_results(model.posterior_ if drawn else None, answer, out)
            tell(f"wrote {'the posterior, ' if drawn else ''}the tables and the pictures to {out}.")
    finally:  # a full disk must not cost the answer of a long run
        print(answer.text)
    if model.interrupted_:
        raise typer.Exit(INTERRUPTED)


def _named(model_name: str | None, given: set[str]) -> Kind | None:
    """The model that was named, by its name or by an option that tells what the data are."""
    if model_name is not None:
        return kind_named(model_name)
    if "target" in given:
        return PLACKETT_LUCE
    return PRODUCT_CLASSES if {"monotone", "respondent"} & given else None


def _columns(settings: dict) -> dict[str, str]:
    """The columns of a long table of choices that were named."""
    return {role: settings[option] for role, option in COLUMNS.items() if settings[option] is not None}


def _features(kind: Kind, settings: dict, tree: Path | None, leaf_length: float | None, labels) -> dict:
    """The argument for the features, from the option of its name or the tree that takes its place."""
    from thali.cli.aspects import parse_aspects
    from thali.cli.relations import read_tree

    name = kind.features
    if tree is None:
        if leaf_length is not None:
            raise ArgumentError("`--leaf-length` belongs to a tree of groups; name its file with `--tree`.")
        words = ("ibp",) if kind is SIMILARITIES else ("ibp", "unique")
        return {name: parse_aspects(settings[name], labels, f"--{name}", words)}
    if settings[name] != "ibp":
        raise ArgumentError(f"`--tree` takes the place of `--{name}`; give one of the two.")
    found = read_tree(tree, leaf_length)
    found.for_labels(labels)  # every mismatch is named before anything runs
    return {name: found}
