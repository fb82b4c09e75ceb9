"""`thali compare`: comparison of models by evidence or by held-out predictions."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from thali._data.kinds import CHOICES, EXPERIMENTS, PAIRS, SPECS, find_data_spec
from thali._labels import format_plural, list_names
from thali._model.default_models import choose_model, default_comparison
from thali._model.model_spec import DATA, ModelSpec, Option
from thali._model.registry import get_features_argument
from thali._posterior.respondent_dependence import ADJUSTED
from thali.errors import Argument, ArgumentError

from ..data_loading import NamedData, detect_data_kind, find_data, load_data
from ..model_and_tree_parsers import find_named_specs, parse_models
from ..model_options import COMPARED, COMPARISON, index_options, select_table_arguments
from ..option_parsers import parse_option
from ..result_files import check_output_folder, list_inputs, write_files, write_findings
from ..terminal_messages import INTERRUPTED, Terminal, format_folder_hint, notify
from .resume_status import OVERWRITE, build_job_note, check_results_folder, open_job

if TYPE_CHECKING:
    import pandas

    from thali._data.base_classes import Frozen, Judged

_RUN = ("draws", "tune", "chains", "thin")
# for latent-feature models; other models have separate defaults
_BUDGET = {"draws": 1000, "tune": 1000, "chains": 4}
DEFAULT_SETTINGS: dict[str, Any] = {option.name: None for option in COMPARISON}
_COMMAND_OPTIONS = (Option("models", ""), *COMPARISON, Option("job", "", typed="out"))


def run_compare(
    terminal: Terminal,
    data_name: str,
    models: str | None,
    own: dict[str, Any],
    typed: dict[str, Any],
    out: Path | None,
    overwrite: bool = False,
    formats: Sequence[str] = ("csv",),
) -> None:
    """Compare models on data; print, and write to `out`, the results."""
    import thali
    from thali._comparison import findings  # noqa: F401  # names of files
    from thali._comparison.compare import PREDICTION
    from thali._comparison.holdout_schemes import convert_data, find_compared_kind

    specs = find_named_specs(models or "")
    option_by_word = _find_options(specs)
    compared_options = [option_by_word[word] for word in COMPARED]
    terminal.use_options([*_COMMAND_OPTIONS, OVERWRITE, *compared_options])
    values_by_word = {
        word: parse_option(option_by_word[word], value) for word, value in typed.items()
    }
    check_output_folder(out)
    named_data = find_data(data_name)
    data, reading_sentence = _load_compared_data(named_data, specs, values_by_word)
    has_methods = find_compared_kind(data) == PAIRS
    leave_out = own["leave_out"]
    data = convert_data(data, leave_out)
    data_kind = find_compared_kind(data)
    data_sentence = f"{data_name}: {reading_sentence}"
    notify(data_sentence)
    _check_applicable_options(data_kind, has_methods, data_name, typed)
    _check_leave_out(leave_out, data_kind)
    model_list = models or _find_default_models(data, data_kind)
    named_models = parse_models(model_list, values_by_word, data_kind, getattr(data, "labels", ()))
    criterion = own["by"]
    folds = own["folds"]
    if criterion is None:
        is_plain = leave_out is None and folds is None
        criterion = _choose_criterion([model for _, model in named_models], is_plain)
    if criterion == PREDICTION and folds is None:
        folds = _plan_folds(data, leave_out, len(named_models))
    has_budget = criterion == PREDICTION and get_features_argument(data_kind) != ""
    run_settings = _select_run_settings(values_by_word, has_budget) | {
        "by": criterion,
        "leave_out": leave_out,
        "folds": folds,
        "sensitivity": bool(own["sensitivity"]),
        "random_seed": values_by_word.get("seed"),
    }
    check_results_folder(out, list_inputs(data_name, models, typed), formats, overwrite)
    with contextlib.ExitStack() as stack:
        if out is not None:
            command = {"data_name": data_name, "models": models, "own": own, "typed": typed}
            command["formats"] = list(formats)
            run_settings["job"] = stack.enter_context(
                open_job(out, overwrite, build_job_note("compare", command))
            )
        table = thali.compare(named_models, data, progressbar=not terminal.is_quiet, **run_settings)
    _write_and_print(terminal, table, data_name, out, formats, data_sentence)
    if table.attrs["interrupted"]:
        _report_interruption(table, criterion, out)
        raise typer.Exit(INTERRUPTED)


def _select_run_settings(values_by_word: dict[str, Any], has_budget: bool) -> dict[str, Any]:
    """Return the settings of the runs: those typed, and the budget of latent-feature models."""
    run_settings: dict[str, Any] = {}
    if has_budget:
        run_settings |= _BUDGET
    return run_settings | {
        name: values_by_word[name] for name in (*_RUN, "cores") if name in values_by_word
    }


def _check_leave_out(leave_out: str | None, data_kind: str) -> None:
    """Raise ArgumentError if data of this form cannot be divided by `leave_out`."""
    from thali._comparison.holdout_schemes import SCHEMES

    if leave_out in (None, *SCHEMES[data_kind]):
        return
    scheme_names = list(SCHEMES[data_kind])
    if find_data_spec(data_kind).by_people:
        scheme_names.append("respondent")
    raise ArgumentError(
        Argument("leave_out"),
        f" must be {' or '.join(scheme_names)} for {data_kind}; got {leave_out!r}.",
    )


def _find_default_models(data: "Judged", data_kind: str) -> str:
    """Return the text of --models that is used if none are typed."""
    data_spec = find_data_spec(data_kind)
    if data_kind == CHOICES:
        return default_comparison(data, data_spec.compared)
    return data_spec.compared


def _choose_criterion(models: list[Any], is_plain: bool) -> str:
    """Return "evidence" if all of several models have it, else "prediction"."""
    # `is_plain`: whether the user said nothing about parts of the data to hold out.
    from thali._comparison.by_evidence import EVIDENCE, has_evidence
    from thali._comparison.compare import PREDICTION

    if not is_plain or len(models) < 2:
        return PREDICTION
    for model in models:
        if not has_evidence(model) or getattr(model, "people", None) == ADJUSTED:
            return PREDICTION
    return EVIDENCE


def _plan_folds(data: "Frozen", leave_out: str | None, n_models: int) -> int | None:
    """Return the default number of folds, or None; print how many fits will run."""
    from thali._comparison.holdout_schemes import choose_n_folds, count_parts

    n_data_parts = count_parts(data, leave_out)
    folds = choose_n_folds(n_models, n_data_parts)
    n_parts = folds or n_data_parts
    notify(
        f"{n_models * n_parts:,} fits: each model is fitted without each of"
        f" {format_plural(n_parts, 'part')} of the data."
    )
    return folds


def _report_interruption(
    table: "pandas.DataFrame", criterion: str, out_folder: Path | None
) -> None:
    """Print how many fits of an interrupted comparison are done, and how to resume."""
    from thali._comparison.by_evidence import EVIDENCE

    n_fits = table.attrs["fits"]
    unit_noun = "fits"
    if criterion == EVIDENCE:
        unit_noun = "models"
    progress_text = f"{n_fits - len(table.attrs['missing']):,} of {n_fits:,} {unit_noun} are"
    if out_folder is None:
        notify(f"stopped by Ctrl-C; {progress_text} finished; add --out DIR to be able to resume.")
    else:
        notify(
            f"stopped by Ctrl-C; {progress_text} in '{out_folder}'; run the same command, or thali"
            f" resume {out_folder}, to continue."
        )


def _write_and_print(
    terminal: Terminal,
    table: "pandas.DataFrame",
    data_name: str,
    out_folder: Path | None,
    formats: Sequence[str],
    data_sentence: str,
) -> None:
    """Write the comparison to the folder, if given; print it."""
    from thali._comparison.by_evidence import EVIDENCE
    from thali._comparison.findings import find_comparison_findings

    from ...html_report import Cover
    from ...report import render_report

    findings = find_comparison_findings(table)
    try:
        if out_folder is not None:
            picture_names = write_findings(findings, out_folder, formats)
            written_text = "the tables"
            if picture_names:
                written_text += " and the pictures"
            if table.attrs.get("by") == EVIDENCE:
                write_files(
                    out_folder,
                    {"report.html": render_report(table, cover=Cover(data=Path(data_name).name))},
                )
                written_text += " and the report"
            notify(f"wrote {written_text} to the folder '{out_folder}'.")
    finally:  # a full disk must not cost the answer of a long run
        print(terminal.format_findings(findings, data_sentence, format_folder_hint(out_folder)))


def _find_options(specs: list[ModelSpec]) -> dict[str, Option]:
    """Return the options of all models by word, of one of these models if possible."""
    return {
        word: next((option for spec, option in owned if spec in specs), owned[0][1])
        for word, owned in index_options().items()
    }


def _load_compared_data(
    named_data: NamedData, specs: list[ModelSpec], values_by_word: dict[str, Any]
) -> tuple[Any, str]:
    """Read the data for all models; return them, and how they were read."""
    spec = _choose_data_spec(named_data, specs, values_by_word)
    read_arguments = {
        option.target: values_by_word[option.word]
        for option in spec.options
        if option.to == DATA and option.word in values_by_word
    }
    return load_data(named_data, spec, read_arguments, is_named=True)


def _choose_data_spec(
    named_data: NamedData, specs: list[ModelSpec], values_by_word: dict[str, Any]
) -> ModelSpec:
    """Return the model whose reader and options are used for the data."""
    # A model or option that requires other data decides; otherwise the kind of data.
    for spec in specs:
        if not get_features_argument(spec.data[0]):
            return spec
    experiment_options = ("attributes", "levels", "none", "bought", "bins", "monotone")
    for data_spec in SPECS:
        if data_spec.by_name in values_by_word:
            return choose_model(data_spec.kind)
    if set(experiment_options) & set(values_by_word):
        return choose_model(EXPERIMENTS)
    return choose_model(
        detect_data_kind(
            named_data,
            omits_descriptions=True,
            read_arguments=select_table_arguments(values_by_word),
        ),
        values_by_word,
    )


def _check_applicable_options(
    data_kind: str, has_methods: bool, data_name: str, typed: dict[str, Any]
) -> None:
    """Raise ArgumentError for a typed option of models for other data."""
    specs_by_word = {word: [spec for spec, option in index_options()[word]] for word in typed}
    for word, owner_specs in specs_by_word.items():
        if not any(data_kind in spec.data for spec in owner_specs):
            data_kinds = dict.fromkeys(data for spec in owner_specs for data in spec.data)
            raise ArgumentError(
                f"--{word} applies to {list_names(data_kinds)}, but {data_name!r} contains"
                f" {data_kind}; remove --{word}."
            )
    if "method" in typed and not has_methods:
        raise ArgumentError(
            f"--method requires {PAIRS}, but {data_name!r} contains {data_kind}; remove --method."
        )
