"""`thali fit`: read the data, fit a model, print and write the results."""

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
from thali._labels import format_plural
from thali._model.options import TABLE_OPTIONS
from thali._model.settings import AnswerSettings
from thali._model.spec import FIT, MODEL, ModelSpec
from thali.errors import Argument, ArgumentError

from ...figures import Figures
from ..files import (
    build_model_file,
    check_folder,
    write_findings,
    write_model,
    write_slides,
    write_with_fallback,
)
from ..loading import detect_data_kind, find_data, load_data
from ..model_choice import choose_model, find_implied_model, find_model
from ..option_values import parse_option
from ..options import index_options, select_table_arguments
from ..terminal import INTERRUPTED, Terminal, format_folder_hint, notify
from .jobs import COMMAND, JOB, build_job_note, format_command, open_job
from .model_request import COMMAND_OPTIONS, ModelRequest, request_default_model, request_model
from .report import NO_COVER, check_report, write_report


def run_fit(
    terminal: Terminal,
    data_name: str,
    model_name: str | None,
    typed: dict[str, Any],
    out: Path | None,
    overwrite: bool = False,
    formats: Sequence[str] = ("csv",),
    page: Path | None = None,
    cover: dict[str, str] = NO_COVER,
    slides: Path | None = None,
) -> None:
    """Fit a model to data, print the results and write them."""
    from thali._model.model_files import build_model_tree

    from ...html import describe_fit

    spec, alias = (find_implied_model(typed), "") if model_name is None else find_model(model_name)
    read_arguments: dict[str, Any] = {}
    # Check options before a large file is read, whatever the data are.
    if spec is None:
        option_by_name = {
            option_name: owned[0][1] for option_name, owned in index_options().items()
        }
        # of options with equal names, --respondent of tables comes first
        terminal.use_options([*COMMAND_OPTIONS, *TABLE_OPTIONS, *option_by_name.values()])
        read_arguments = select_table_arguments(
            {
                option_name: parse_option(option_by_name[option_name], text)
                for option_name, text in typed.items()
            }
        )
    request = None if spec is None else request_model(terminal, spec, alias, typed, None)
    for option, folder in (("--out", out), ("--slides", slides)):
        if folder is not None:
            check_folder(folder, option)
    check_report(page, cover)
    named_data = find_data(data_name)
    if request is None:
        kind_spec = choose_model(detect_data_kind(named_data, read_arguments=read_arguments), typed)
        # so that options of individuals are accepted with every method
        implied_options = {"people": "individuals"} if kind_spec.method_of_individuals else {}
        request = request_model(terminal, kind_spec, "", implied_options | typed, data_name)
    data, reading_sentence = load_data(
        named_data, request.spec, request.read_arguments, model_name is not None
    )
    model_note = ""
    if spec is None:
        request, model_note = request_default_model(terminal, data, typed)
    spec, values_by_word, select_arguments = request.spec, request.values, request.arguments
    if any(option.name == "constants" for option in spec.options):
        from thali._choice.coding import describe_constants

        constants = describe_constants(data, select_arguments(MODEL).get("constants"))
        reading_sentence += f"; {constants.render(terminal.words)}"
    data_sentence = f"{data_name}: {reading_sentence}{model_note}"
    notify(data_sentence)
    model = _build_model(spec, select_arguments(MODEL), values_by_word, data)
    settings = model._complete_settings(data, request.settings(named_data, data))
    command = {
        "data_name": data_name,
        "model_name": model_name,
        "typed": typed,
        "formats": list(formats),
    }
    command |= {} if page is None else {"page": page.absolute(), "cover": cover}
    command |= {} if slides is None else {"slides": slides.absolute()}
    note = build_job_note("fit", command)
    is_finished = out is not None and not overwrite and _is_finished(out, note)
    arguments = select_arguments(FIT)
    if (is_finished or terminal.is_quiet) and "progressbar" in arguments:
        arguments["progressbar"] = False
    with _open_fit_job(request, out, overwrite, note) as job:
        _fit_model(spec, model, data, arguments, job)
    if is_finished:
        notify(f"this fit is finished; its draws are in {out} (--overwrite fits again).")
    interrupted = model._interrupted_
    if interrupted:
        draw_sizes = model._view.draws.sizes
        resume_hint = f"; resume with thali resume {out}" if out is not None else ""
        notify(
            f"stopped early; kept {format_plural(draw_sizes['chain'], 'chain')} of"
            f" {format_plural(draw_sizes['draw'], 'draw')}{resume_hint}. Computing results from"
            " these; press Ctrl-C to skip."
        )
    try:
        with _open_bootstrap_job(settings, out, overwrite, note) as settings:
            findings = model._build_findings(settings)
            if out is not None:
                list(findings)  # compute all findings before files are written
            answer = terminal.format_findings(findings, data_sentence, *_list_hints(out, page))
    # save the draws after an error, or Ctrl-C, in the computation of results
    except BaseException as error:
        is_cancelled = isinstance(error, KeyboardInterrupt)
        if is_cancelled:
            notify(
                "stopped by Ctrl-C while computing results."
                + (" Nothing was written." if out is None else "")
            )
        if out is not None:
            written_folder = write_with_fallback(out, partial(write_model, build_model_tree(model)))
            notify(
                f"the results could not be computed; the fit is saved in {written_folder} (open it"
                " with thali.load)."
            )
        if is_cancelled:
            raise typer.Exit(INTERRUPTED) from None
        raise

    def write(figures: Figures) -> None:
        if out is not None:
            datatree = build_model_tree(model)
            note_file = {} if read_index(out / JOB) else {COMMAND: json.dumps(note).encode()}
            written_parts = ["the posterior" if "posterior" in datatree.children else "the model"]
            written_parts.append("the tables")

            def write_to(folder: Path) -> None:
                other_files = {**build_model_file(datatree), **note_file}
                written_parts[2:] = ["the pictures"] * bool(
                    write_findings(findings, folder, formats, other_files, figures)
                )

            written_folder = write_with_fallback(out, write_to)
            notify(
                f"wrote {', '.join(written_parts[:-1])} and {written_parts[-1]} to the folder"
                f" '{written_folder}'."
            )
        if page is not None:
            repeated_command = format_command(
                "fit", command | {"typed": _add_random_seed(model, typed)}
            )
            write_report(
                model, page, repeated_command, terminal, settings, figures, cover, [data_name]
            )
        if slides is not None:
            write_slides(findings, slides, terminal, describe_fit(model))

    try:
        try:
            print(answer, flush=True)
        finally:  # neither a full disk nor a closed pipe costs the other
            with Figures() as figures:
                write(figures)
    except KeyboardInterrupt:
        notify("stopped by Ctrl-C while writing results; files not listed above are missing.")
        raise typer.Exit(INTERRUPTED) from None
    is_stopped = any(finding.stopped for finding in findings.select_surface(terminal.surface))
    if is_stopped or (interrupted and "max-time" not in request.values):
        raise typer.Exit(INTERRUPTED)


def _list_hints(out_folder: Path | None, report_file: Path | None) -> list[str]:
    """Return hints about options that show more of a fit."""
    report = [] if report_file is not None else ["--report FILE (a page)"]
    return [*report, format_folder_hint(out_folder)]


def _add_random_seed(model: Any, typed: dict[str, Any]) -> dict[str, Any]:
    """Return the typed options, with the random seed that was drawn."""
    seed = model._get_run_settings().get("random_seed")
    return typed if seed is None or "seed" in typed else typed | {"seed": seed}


def _build_model(
    spec: ModelSpec, arguments: dict[str, Any], values_by_word: dict[str, Any], data: Any
) -> Any:
    """Build the model with its arguments and features."""
    if spec.features:
        arguments |= _parse_features(spec, values_by_word, data.labels)
    return spec.load()(**arguments)


def _parse_features(
    spec: ModelSpec, values_by_word: dict[str, Any], labels: tuple[str, ...]
) -> dict[str, Any]:
    """Return the argument for the features, from their option or from a tree."""
    from ..model_arguments import parse_aspects, read_tree

    name = spec.features
    tree, leaf_length = values_by_word.get("tree"), values_by_word.get("leaf-length")
    if tree is None:
        if leaf_length is not None:
            raise ArgumentError(
                Argument("leaf_length"),
                " requires a tree of groups; give its file with ",
                Argument("tree"),
                ".",
            )
        allowed_words = next(tuple(option.words) for option in spec.options if option.name == name)
        if name not in values_by_word:
            return {}
        return {name: parse_aspects(values_by_word[name], labels, f"--{name}", allowed_words)}
    if name in values_by_word:
        raise ArgumentError(
            Argument("tree"), " and ", Argument(name), " cannot be combined; remove one."
        )
    parsed_tree = read_tree(tree, leaf_length)
    parsed_tree.for_labels(labels)  # reports labels that differ before the fit starts
    return {name: parsed_tree}


@contextmanager
def _open_fit_job(
    request: ModelRequest, out_folder: Path | None, overwrite: bool, command: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Open the job of a fit with chains; yield the argument that names it."""
    if out_folder is None or not any(
        option.name == "cores" for option in request.spec.select_options(request.method)
    ):
        yield {}
        return
    with open_job(out_folder, overwrite, command) as job:
        yield {"job": job}


@contextmanager
def _open_bootstrap_job(
    settings: AnswerSettings, out_folder: Path | None, overwrite: bool, command: dict[str, Any]
) -> Iterator[AnswerSettings]:
    """Open the job of a test by simulated data, if requested; yield the settings."""
    if out_folder is None or not settings.bootstrap:
        yield settings
        return
    with open_job(out_folder, overwrite, command) as job:
        yield replace(settings, job=job)


def _is_finished(out_folder: Path, command: dict[str, Any]) -> bool:
    """Return whether a folder contains the finished job of the same command."""
    index = read_index(out_folder / JOB)
    return (
        index is not None and index["ended"] and index["command"] == json.loads(json.dumps(command))
    )


def _fit_model(
    spec: ModelSpec, model: Any, data: Any, arguments: dict[str, Any], job: dict[str, Any]
) -> None:
    """Fit the model, with covariates and labels for classification."""
    if spec.data == (CLASSES,):
        model.fit(data.covariates, data.labels, **arguments, **job)
    else:
        model.fit(data, **arguments, **job)
