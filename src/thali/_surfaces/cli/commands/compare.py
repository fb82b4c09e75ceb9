"""`thali compare`: leave pairs, choices, tasks or rows out, and say which model predicts them
best."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from thali._data.kinds import CHOICES, EXPERIMENTS, PAIRS, SPECS, DataForm, find_data_spec
from thali._labels import plural
from thali._model.default_models import default_comparison
from thali._model.registry import get_features_argument
from thali._model.spec import DATA, ModelSpec, Option
from thali._posterior.dependence import ADJUSTED
from thali.errors import Argument, ArgumentError

from ..boundary import INTERRUPTED, Terminal, notify
from ..files import check_out
from ..loading import NamedData, find_data, kind_of_data, load
from ..models import model_for
from ..naming_models import parse_models, specs_in
from ..options import COMPARED, by_word, given_of_table
from ..values import value_of
from .jobs import OVERWRITE, job_in, noted

if TYPE_CHECKING:
    import pandas

_RUN = ("draws", "tune", "chains", "thin")
# of latent-feature models; others have defaults of their own
_BUDGET = {"draws": 1000, "tune": 1000, "chains": 4}
# How models are compared, by default.
UNSAID: dict[str, Any] = dict.fromkeys(("leave_out", "folds", "by", "sensitivity"))
_OWN = (
    *(Option(name, "", bool if name == "sensitivity" else str) for name in ("models", *UNSAID)),
    Option("job", "", typed="out"),
)


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
    """Compare models on the data of that name and print the answer."""
    import thali
    from thali._comparison.by_evidence import EVIDENCE, has_evidence
    from thali._comparison.compare import PREDICTION
    from thali._comparison.holdout_schemes import (
        SCHEMES,
        choose_n_folds,
        convert_data,
        count_parts,
        find_data_form,
    )

    specs = specs_in(models or "")
    terminal.know(_known(specs, OVERWRITE))
    values = {word: value_of(_option(word, specs), value) for word, value in typed.items()}
    check_out(out)
    found = find_data(data_name)
    spec = _spec_of_data(found, specs, values)
    data: Any
    data, recognised = load(found, spec, _arguments(spec, values, DATA))
    has_methods = find_data_form(data) == DataForm(PAIRS)
    data, leave_out = convert_data(data, own["leave_out"])
    form = find_data_form(data)
    of_data = find_data_spec(form.kind)
    read = f"{data_name}: {recognised}"
    notify(read)
    _refuse_others(form, has_methods, data_name, typed)
    if leave_out not in (None, *SCHEMES[form]):
        wanted = " or ".join([*SCHEMES[form], *["respondent"] * of_data.by_people])
        raise ArgumentError(
            Argument("leave_out"), f" must be {wanted} for {form}; got {leave_out!r}."
        )
    usual = of_data.compared_by_group if form.has_groups else of_data.compared
    if form == DataForm(CHOICES):
        usual = default_comparison(data, usual)
    named = parse_models(models or usual, values, form, getattr(data, "labels", ()))
    run: dict[str, Any] = {name: values[name] for name in (*_RUN, "cores") if name in values}
    by, folds = own["by"] or PREDICTION, own["folds"]
    if own["by"] is None and leave_out is None and folds is None and len(named) > 1:
        has = [
            has_evidence(model) and getattr(model, "people", None) != ADJUSTED for _, model in named
        ]
        by = EVIDENCE if all(has) else PREDICTION
    if by == PREDICTION and folds is None:
        parts = count_parts(data, leave_out)
        folds = choose_n_folds(len(named), parts)
        number = folds or parts
        several = plural(number, "part")
        notify(
            f"{len(named) * number:,} fits: each model is fitted without each of {several} of the"
            " data."
        )
    if by == PREDICTION and get_features_argument(of_data.kind):
        run = _BUDGET | run
    run |= {
        "by": by,
        "leave_out": leave_out,
        "folds": folds,
        "sensitivity": bool(own["sensitivity"]),
    }
    run["random_seed"] = values.get("seed")
    with contextlib.ExitStack() as stack:
        if out is not None:
            command = {"data_name": data_name, "models": models, "own": own, "typed": typed}
            command["formats"] = list(formats)
            run["job"] = stack.enter_context(job_in(out, overwrite, noted("compare", command)))
        table = thali.compare(named, data, progressbar=not terminal.is_quiet, **run)
    fits = table.attrs["fits"]
    done = (
        f"{fits - len(table.attrs['missing']):,} of {fits:,}"
        f" {'models' if by == EVIDENCE else 'fits'} are"
    )
    _finish(terminal, table, data_name, out, formats, read)
    if table.attrs["interrupted"]:
        if out is not None:
            notify(
                f"stopped by Ctrl-C; {done} in '{out}'; run the same command, or thali resume"
                f" {out}, to continue."
            )
        else:
            notify(f"stopped by Ctrl-C; {done} finished; add --out DIR to be able to resume.")
        raise typer.Exit(INTERRUPTED)


def _finish(
    terminal: Terminal,
    table: "pandas.DataFrame",
    data_name: str,
    out: Path | None,
    formats: Sequence[str],
    read: str,
) -> None:
    """Write the results to the folder, if there is one, and print the answer."""
    from thali._comparison.by_evidence import EVIDENCE
    from thali._comparison.findings import find_comparison_findings

    from ...html import Cover
    from ...report import page_of
    from ..files import write_all, write_findings

    findings = find_comparison_findings(table)
    try:
        if out is not None:
            wrote = (
                f"the tables{' and the pictures' * bool(write_findings(findings, out, formats))}"
            )
            if table.attrs.get("by") == EVIDENCE:
                write_all(
                    out, {"report.html": page_of(table, cover=Cover(data=Path(data_name).name))}
                )
                wrote += " and the report"
            notify(f"wrote {wrote} to the folder '{out}'.")
    finally:  # a full disk must not cost the answer of a long run
        print(
            terminal.text(
                findings, read, "--out DIR (tables, pictures)" if out is None else "thali show DIR"
            )
        )


def _known(specs: list[ModelSpec], *more: Option) -> list[Option]:
    """What messages may name here: the command's own options, and those of the models."""
    return [*_OWN, *more, *(_option(word, specs) for word in COMPARED)]


def _option(word: str, specs: list[ModelSpec]) -> Option:
    """The option of that word, of one of these models if they have it."""
    owned = by_word()[word]
    return next((option for spec, option in owned if spec in specs), owned[0][1])


def _spec_of_data(found: NamedData, specs: list[ModelSpec], values: dict[str, Any]) -> ModelSpec:
    """The model whose data these are: one that was named, that an option implies, or the first for
    such data."""
    for spec in specs:
        if not get_features_argument(spec.data[0]):
            return spec
    of_experiments = ("attributes", "levels", "none", "bought", "bins", "monotone")
    for each in SPECS:
        if each.by_name in values:
            return model_for(each.kind)
    if set(of_experiments) & set(values):
        return model_for(EXPERIMENTS)
    return model_for(kind_of_data(found, leave_out=True, wanted=given_of_table(values)), values)


def _arguments(spec: ModelSpec, values: dict[str, Any], to: str) -> dict[str, Any]:
    """The arguments for one place that were typed."""
    return {
        option.target: values[option.word]
        for option in spec.options
        if option.to == to and option.word in values
    }


def _refuse_others(
    form: DataForm, has_methods: bool, data_name: str, typed: dict[str, Any]
) -> None:
    """Refuse options that models of such data have not."""
    owners = {word: [spec for spec, option in by_word()[word]] for word in typed}
    for word, of_models in owners.items():
        if not any(form.kind in spec.data for spec in of_models):
            named = " and ".join(dict.fromkeys(data for spec in of_models for data in spec.data))
            raise ArgumentError(
                f"--{word} requires {named}, but {data_name!r} contains {form}; remove --{word}."
            )
    if "method" in typed and not has_methods:
        raise ArgumentError(
            f"--method requires {PAIRS}, but {data_name!r} contains {form}; remove --method."
        )
