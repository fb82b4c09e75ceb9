"""`thali fit`: reads data, fits a model, prints and writes the results."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from thali._data.kinds import CLASSES
from thali._inference.job_folders import read_index
from thali._inference.progress_display import Progress
from thali._labels import format_plural
from thali._model.finding import Findings
from thali._model.finding_settings import AnswerSettings
from thali._model.model_spec import FIT, MODEL, ModelSpec
from thali._posterior.posterior_tree import PosteriorTree
from thali.errors import Argument, ArgumentError

from ...figure_files import Figures
from ..data_loading import find_data, load_data
from ..result_files import (
    build_model_file,
    check_output_folder,
    list_inputs,
    write_findings,
    write_model,
    write_with_fallback,
)
from ..terminal_messages import INTERRUPTED, Terminal, list_report_hints, notify
from .fit_request import (
    FitRequest,
    parse_table_arguments,
    request_default_model,
    request_kind_model,
    request_named_model,
)
from .report import NO_COVER, check_report, write_report
from .resume_status import (
    COMMAND,
    JOB,
    build_job_note,
    check_results_folder,
    format_command,
    open_job,
    refuse_other_results,
)

if TYPE_CHECKING:
    from thali._model.base import Model, SampledModel


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
) -> None:
    """Fit a model to data; print the results, and write them to `out`."""
    # Check options before a large file is read, whatever the data are.
    request = request_named_model(terminal, model_name, typed)
    table_arguments = {}
    if request is None:
        table_arguments = parse_table_arguments(terminal, typed)
    check_output_folder(out)
    inputs = list_inputs(data_name, typed)
    check_report(page, cover, inputs, overwrite)
    named_data = find_data(data_name)
    model_note = ""
    if request is not None:
        data, reading_sentence = load_data(
            named_data, request.spec, request.read_arguments, model_name is not None
        )
    else:
        kind_request = request_kind_model(terminal, named_data, table_arguments, typed)
        data, reading_sentence = load_data(
            named_data, kind_request.spec, kind_request.read_arguments
        )
        request, model_note = request_default_model(terminal, data, typed)
    use_note = ""
    if (use := request.spec.load()._describe_use(data, request.arguments(MODEL))) is not None:
        use_note = f"; {use.render(terminal.words)}"
    data_sentence = f"{data_name}: {reading_sentence}{use_note}{model_note}"
    notify(data_sentence)
    model = _build_model(request, data)
    model._load_findings_module()
    check_results_folder(out, inputs, formats, overwrite)
    settings = model._complete_settings(data, request.settings(named_data, data))
    command = {"data_name": data_name, "model_name": model_name, "typed": typed}
    command |= _list_file_arguments(formats, page, cover)
    # a job that exists is compared with this fit when it is opened
    if not (request.has_cores and out is not None and (out / JOB).exists()):
        refuse_other_results(out, "fit", command)
    output = FitOutput(command, build_job_note("fit", command), out, overwrite, page)
    _fit_model(terminal, request, model, data, output)
    if model._interrupted_:
        _report_early_stop(model, out)
    findings, printed_text = _compute_results(terminal, model, settings, output, data_sentence)
    try:
        try:
            print(printed_text, flush=True)
        finally:  # neither a full disk nor a closed pipe costs the other
            with Figures() as figures:
                _write_results(terminal, model, findings, settings, output, figures)
    except KeyboardInterrupt:
        notify("stopped by Ctrl-C while writing results; files not listed above are missing.")
        raise typer.Exit(INTERRUPTED) from None
    if model._interrupted_ and "max-time" not in request.values:
        raise typer.Exit(INTERRUPTED)


class FitOutput(NamedTuple):
    """Files that a fit writes: folder, formats, report; and its command."""

    command: dict[str, Any]  # the arguments of `run_fit` that repeat it
    note: dict[str, Any]  # the command as a job stores it
    folder: Path | None
    overwrite: bool
    page: Path | None


def _list_file_arguments(
    formats: Sequence[str], page: Path | None, cover: dict[str, str]
) -> dict[str, Any]:
    """Return the output arguments of `run_fit`, with absolute paths."""
    arguments: dict[str, Any] = {"formats": list(formats)}
    if page is not None:
        arguments |= {"page": page.absolute(), "cover": cover}
    return arguments


def _report_early_stop(model: "SampledModel", out_folder: Path | None) -> None:
    """Print how many draws an interrupted fit kept."""
    n_chains, n_draws = PosteriorTree(model.posterior_).shape
    resume_hint = ""
    if out_folder is not None:
        resume_hint = f"; resume with thali resume {out_folder}"
    notify(
        f"stopped early; kept {format_plural(n_chains, 'chain')} of"
        f" {format_plural(n_draws, 'draw')}{resume_hint}. Computing results from"
        " these; press Ctrl-C to skip."
    )


def _compute_results(
    terminal: Terminal,
    model: "Model",
    settings: AnswerSettings,
    output: FitOutput,
    data_sentence: str,
) -> tuple[Findings, str]:
    """Return findings and printed text; on an error or Ctrl-C, save the fit."""
    from thali._model.model_files import build_model_tree

    hints = list_report_hints(output.folder, output.page)
    try:
        with Progress(not terminal.is_quiet, "computing results", 100, "%") as progress:
            findings = model._build_findings(settings)
            if output.folder is not None:
                list(findings)  # compute all findings before files are written
            printed_text = terminal.format_findings(findings, data_sentence, *hints)
            progress.update(100)
        return findings, printed_text
    # save the draws after an error, or Ctrl-C, in the computation of results
    except BaseException as error:
        is_cancelled = isinstance(error, KeyboardInterrupt)
        if is_cancelled and output.folder is None:
            notify("stopped by Ctrl-C while computing results. Nothing was written.")
        elif is_cancelled:
            notify("stopped by Ctrl-C while computing results.")
        if output.folder is not None:
            write_to = partial(write_model, build_model_tree(model))
            written_folder = write_with_fallback(output.folder, write_to)
            notify(
                f"the results could not be computed; the fit is saved in {written_folder} (open it"
                " with thali.load)."
            )
        if is_cancelled:
            raise typer.Exit(INTERRUPTED) from None
        raise


def _write_results(
    terminal: Terminal,
    model: "Model",
    findings: Findings,
    settings: AnswerSettings,
    output: FitOutput,
    figures: Figures,
) -> None:
    """Write folder and report of a fit, as far as requested."""
    if output.folder is not None:
        _write_folder(model, findings, output.folder, output, figures)
    if output.page is not None:
        typed = output.command["typed"]
        seed = model._get_run_settings().get("random_seed")
        if seed is not None and "seed" not in typed:  # it was drawn
            typed = typed | {"seed": seed}
        repeated_command = format_command("fit", output.command | {"typed": typed})
        data_names = [output.command["data_name"]]
        cover = output.command["cover"]
        write_report(
            model, output.page, repeated_command, terminal, settings, figures, cover, data_names
        )


def _write_folder(
    model: "Model", findings: Findings, folder: Path, output: FitOutput, figures: Figures
) -> None:
    """Write model, tables and pictures to a folder; to another if that fails."""
    from thali._model.model_files import build_model_tree

    datatree = build_model_tree(model)
    other_files = build_model_file(datatree)
    if not read_index(folder / JOB):
        other_files[COMMAND] = json.dumps(output.note).encode()
    picture_names: list[str] = []

    def write_to(folder: Path) -> None:
        """Write all files to this folder."""
        picture_names[:] = write_findings(
            findings, folder, output.command["formats"], other_files, figures
        )

    written_folder = write_with_fallback(folder, write_to)
    written_parts = ["the model", "the tables"]
    if "posterior" in datatree.children:
        written_parts[0] = "the posterior"
    if picture_names:
        written_parts.append("the pictures")
    notify(
        f"wrote {', '.join(written_parts[:-1])} and {written_parts[-1]} to the folder"
        f" '{written_folder}'."
    )


def _build_model(request: FitRequest, data: Any) -> Any:
    """Construct the model with its typed arguments and features."""
    arguments = request.arguments(MODEL)
    if request.spec.features:
        arguments |= _parse_features(request.spec, request.values, data.labels)
    return request.spec.load()(**arguments)


def _parse_features(
    spec: ModelSpec, values_by_word: dict[str, Any], labels: tuple[str, ...]
) -> dict[str, Any]:
    """Return the features argument, from --aspects, --features or --tree."""
    from ..model_and_tree_parsers import parse_aspects, read_tree

    features_argument = spec.features
    tree = values_by_word.get("tree")
    leaf_length = values_by_word.get("leaf-length")
    if tree is None:
        if leaf_length is not None:
            raise ArgumentError(
                Argument("leaf_length"),
                " requires a tree of groups; give its file with ",
                Argument("tree"),
                ".",
            )
        allowed_words = next(
            tuple(option.words) for option in spec.options if option.name == features_argument
        )
        if features_argument not in values_by_word:
            return {}
        return {
            features_argument: parse_aspects(
                values_by_word[features_argument], labels, f"--{features_argument}", allowed_words
            )
        }
    if features_argument in values_by_word:
        raise ArgumentError(
            Argument("tree"),
            " and ",
            Argument(features_argument),
            " cannot be combined; remove one.",
        )
    parsed_tree = read_tree(tree, leaf_length)
    parsed_tree.for_labels(labels)  # reports labels that differ before the fit starts
    return {features_argument: parsed_tree}


def _fit_model(
    terminal: Terminal, request: FitRequest, model: Any, data: Any, output: FitOutput
) -> None:
    """Fit the model; a model with chains stores its progress in the output folder."""
    arguments = request.arguments(FIT)
    folder = output.folder
    is_finished = folder is not None and not output.overwrite and _is_finished(folder, output.note)
    if (is_finished or terminal.is_quiet) and "progressbar" in arguments:
        arguments["progressbar"] = False
    fit_inputs = [data]
    if request.spec.data == (CLASSES,):
        fit_inputs = [data.covariates, data.labels]
    if folder is None or not request.has_cores:
        model.fit(*fit_inputs, **arguments)
    else:
        with open_job(folder, output.overwrite, output.note) as job_path:
            model.fit(*fit_inputs, **arguments, job=job_path)
    if is_finished:
        notify(f"this fit is finished; its draws are in {folder} (--overwrite fits again).")


def _is_finished(folder: Path, note: dict[str, Any]) -> bool:
    """Return whether a folder contains the finished results of the same command."""
    job_index = read_index(folder / JOB)
    return (
        job_index is not None
        and job_index["ended"]
        and job_index["command"] == json.loads(json.dumps(note))
    )
