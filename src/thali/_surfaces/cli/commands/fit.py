"""`thali fit`: find the data, fit the model, print what was found, write it down."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from thali._data.kinds import CLASSES
from thali._inference.jobs import read_index
from thali._labels import plural
from thali._model.options import TABLE_OPTIONS
from thali._model.settings import AnswerSettings
from thali._model.spec import FIT, MODEL, ModelSpec
from thali.errors import Argument, ArgumentError

from ...figures import Figures
from ..boundary import INTERRUPTED, Terminal, notify
from ..files import (
    check_folder,
    model_file,
    write_findings,
    write_model,
    write_slides,
    write_somewhere,
)
from ..loading import find_data, kind_of_data, load
from ..models import model_for, model_implied, model_named
from ..options import by_word, given_of_table
from ..values import value_of
from .asked import OWN, ModelRequest, asked_by_default, asked_of
from .jobs import COMMAND, JOB, as_typed, job_in, noted
from .report import UNTITLED, check_report, write_report


def run_fit(
    terminal: Terminal,
    data_name: str,
    model_name: str | None,
    typed: dict[str, Any],
    out: Path | None,
    overwrite: bool = False,
    formats: Sequence[str] = ("csv",),
    page: Path | None = None,
    cover: dict[str, str] = UNTITLED,
    slides: Path | None = None,
) -> None:
    """Fit a model to the data of that name and print the answer."""
    from thali._model.model_files import build_model_tree

    from ...html import fit_in_words

    spec, alias = (model_implied(typed), "") if model_name is None else model_named(model_name)
    wanted: dict[str, Any] = {}
    # Whatever the data are: options are looked at before a large file is read.
    if spec is None:
        possible = {word: owned[0][1] for word, owned in by_word().items()}
        # who answered is the --respondent of most tables
        terminal.know([*OWN, *TABLE_OPTIONS, *possible.values()])
        read = {word: value_of(possible[word], value) for word, value in typed.items()}
        wanted = given_of_table(read)
    asked = None if spec is None else asked_of(terminal, spec, alias, typed, None)
    for option, folder in (("--out", out), ("--slides", slides)):
        if folder is not None:
            check_folder(folder, option)
    check_report(page, cover)
    found = find_data(data_name)
    if asked is None:
        of_kind = model_for(kind_of_data(found, wanted=wanted), typed)
        # by some method
        possible = {"people": "individuals"} | typed if of_kind.method_of_individuals else typed
        asked = asked_of(terminal, of_kind, "", possible, data_name)
    data, recognised = load(found, asked.spec, asked.of_data, model_name is not None)
    chosen = ""
    if spec is None:
        asked, chosen = asked_by_default(terminal, data, typed)
    spec, values, of = asked.spec, asked.values, asked.arguments
    if any(option.name == "constants" for option in spec.options):
        from thali._choice.coding import describe_constants

        recognised += (
            f"; {describe_constants(data, of(MODEL).get('constants')).render(terminal.words)}"
        )
    read = f"{data_name}: {recognised}{chosen}"
    notify(read)
    model = _made(spec, of(MODEL), values, data)
    settings = model._complete_settings(data, asked.settings(found, data))
    command = {
        "data_name": data_name,
        "model_name": model_name,
        "typed": typed,
        "formats": list(formats),
    }
    command |= {} if page is None else {"page": page.absolute(), "cover": cover}
    command |= {} if slides is None else {"slides": slides.absolute()}
    note = noted("fit", command)
    is_finished = out is not None and not overwrite and _holds_finished(out, note)
    arguments = of(FIT)
    if (is_finished or terminal.is_quiet) and "progressbar" in arguments:
        arguments["progressbar"] = False
    with _job_in(asked, out, overwrite, note) as job:
        _fit(spec, model, data, arguments, job)
    if is_finished:
        notify(f"this fit is finished; its draws are in {out} (--overwrite fits again).")
    interrupted = model._interrupted_
    if interrupted:
        sizes = model._view.draws.sizes
        more = f"; resume with thali resume {out}" if out is not None else ""
        notify(
            f"stopped early; kept {plural(sizes['chain'], 'chain')} of"
            f" {plural(sizes['draw'], 'draw')}{more}. Computing results from these; press Ctrl-C"
            " to skip."
        )
    try:
        with _replicates_in(settings, out, overwrite, note) as settings:
            findings = model._build_findings(settings)
            if out is not None:
                list(findings)  # those that are written, before anything else can fail
            answer = terminal.text(findings, read, *_more(out, page))
    # what was drawn outlives a fault, or Ctrl-C, while answers are computed
    except BaseException as fault:
        stopped = isinstance(fault, KeyboardInterrupt)
        if stopped:
            notify(
                "stopped by Ctrl-C while computing results."
                + (" Nothing was written." if out is None else "")
            )
        if out is not None:
            place = write_somewhere(out, partial(write_model, build_model_tree(model)))
            notify(
                f"the results could not be computed; the fit is saved in {place} (open it with"
                " thali.load)."
            )
        if stopped:
            raise typer.Exit(INTERRUPTED) from None
        raise

    def write(figures: Figures) -> None:
        if out is not None:
            tree = build_model_tree(model)
            noting = {} if read_index(out / JOB) else {COMMAND: json.dumps(note).encode()}
            wrote = ["the posterior" if "posterior" in tree.children else "the model", "the tables"]

            def write_to(folder: Path) -> None:
                others = {**model_file(tree), **noting}
                wrote[2:] = ["the pictures"] * bool(
                    write_findings(findings, folder, formats, others, figures)
                )

            place = write_somewhere(out, write_to)
            notify(
                f"wrote {', '.join(wrote[:-1]) + ' and ' if wrote[1:] else ''}{wrote[-1]} to the"
                f" folder '{place}'."
            )
        if page is not None:
            repeats = as_typed("fit", command | {"typed": _repeatable(model, typed)})
            write_report(model, page, repeats, terminal, settings, figures, cover, [data_name])
        if slides is not None:
            write_slides(findings, slides, terminal, fit_in_words(model))

    try:
        try:
            print(answer, flush=True)
        finally:  # neither a full disk nor a closed pipe costs the other
            with Figures() as figures:
                write(figures)
    except KeyboardInterrupt:
        notify("stopped by Ctrl-C while writing results; files not listed above are missing.")
        raise typer.Exit(INTERRUPTED) from None
    is_stopped = any(found.stopped for found in findings.of(terminal.surface))
    if is_stopped or (interrupted and "max-time" not in asked.values):
        raise typer.Exit(INTERRUPTED)


def _more(out: Path | None, page: Path | None) -> list[str]:
    """What shows more of a fit."""
    report = [] if page is not None else ["--report FILE (a page)"]
    return [*report, "--out DIR (tables, pictures)" if out is None else "thali show DIR"]


def _repeatable(model: Any, typed: dict[str, Any]) -> dict[str, Any]:
    """What was typed, and the seed that was drawn where none was typed."""
    seed = model._get_run_settings().get("random_seed")
    return typed if seed is None or "seed" in typed else typed | {"seed": seed}


def _made(spec: ModelSpec, arguments: dict[str, Any], values: dict[str, Any], data: Any) -> Any:
    """The model with these arguments."""
    if spec.features:
        arguments |= _features(spec, values, data.labels)
    return spec.load()(**arguments)


def _features(spec: ModelSpec, values: dict[str, Any], labels: tuple[str, ...]) -> dict[str, Any]:
    """The argument for the features, from the option of its name or the tree that takes its
    place."""
    from ..naming_models import parse_aspects, read_tree

    name = spec.features
    tree, leaf_length = values.get("tree"), values.get("leaf-length")
    if tree is None:
        if leaf_length is not None:
            raise ArgumentError(
                Argument("leaf_length"),
                " requires a tree of groups; give its file with ",
                Argument("tree"),
                ".",
            )
        words = next(tuple(option.words) for option in spec.options if option.name == name)
        return (
            {name: parse_aspects(values[name], labels, f"--{name}", words)}
            if name in values
            else {}
        )
    if name in values:
        raise ArgumentError(
            Argument("tree"), " and ", Argument(name), " cannot be combined; remove one."
        )
    found = read_tree(tree, leaf_length)
    found.for_labels(labels)  # every mismatch is named before anything runs
    return {name: found}


@contextmanager
def _job_in(
    asked: ModelRequest, out: Path | None, overwrite: bool, command: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The argument that says where the job lies, for a model with chains."""
    if out is None or not any(
        option.name == "cores" for option in asked.spec.select_options(asked.method)
    ):
        yield {}
        return
    with job_in(out, overwrite, command) as job:
        yield {"job": job}


@contextmanager
def _replicates_in(
    settings: AnswerSettings, out: Path | None, overwrite: bool, command: dict[str, Any]
) -> Iterator[AnswerSettings]:
    """The settings with the place of the job of a test by simulated data sets, where one was asked
    for."""
    if out is None or not settings.bootstrap:
        yield settings
        return
    with job_in(out, overwrite, command) as job:
        yield replace(settings, job=job)


def _holds_finished(out: Path, command: dict[str, Any]) -> bool:
    """Whether a folder holds the finished job of the same command."""
    index = read_index(out / JOB)
    return (
        index is not None and index["ended"] and index["command"] == json.loads(json.dumps(command))
    )


def _fit(
    spec: ModelSpec, model: Any, data: Any, arguments: dict[str, Any], job: dict[str, Any]
) -> None:
    if spec.data == (CLASSES,):
        model.fit(data.covariates, data.labels, **arguments, **job)
    else:
        model.fit(data, **arguments, **job)
