"""`thali fit`: find the data, fit the model, print what was found, write it down."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import typer

from thali._labels import plural
from thali.data.kinds import CLASSES
from thali.errors import Argument, ArgumentError
from thali.inference.files import check_place
from thali.model.names import method_meant
from thali.model.spec import DATA, FIT, MODEL, REPORT, ModelSpec, Option

from ..boundary import INTERRUPTED, Terminal, notify
from ..files import check_folder, write_model, write_results
from ..loading import find_data, kind_of_data, load
from ..models import model_implied, model_named, options_of, settings_of_alias
from ..options import by_word, said_of_table
from ..reports import Fitted, report_of
from ..reports.segments import refuse, with_segments
from ..values import value_of
from .jobs import OVERWRITE, as_typed, job_in, noted
from .report import write_report

_OWN = (Option("model", "The name of the model."), OVERWRITE)


def run_fit(
    terminal: Terminal,
    data_name: str,
    model_name: str | None,
    typed: dict[str, Any],
    out: Path | None,
    overwrite: bool = False,
    formats: Sequence[str] = ("csv",),
    page: Path | None = None,
) -> None:
    """Fit a model to the data of that name and print the answer.

    Parameters
    ----------
    terminal : Terminal
    data_name : str
        A bundled data set or a file.
    model_name : str or None
        A name or an alias; None is the model that an option implies, or the first one for these data.
    typed : dict
        The options that were typed, by their words.
    out : Path or None
        Folder for the results, and the job while it runs.
    overwrite : bool
        Whether another job there gives way.
    formats : sequence of str
        Of the tables.
    page : Path or None
        The report; None: none is written.

    Raises
    ------
    ThaliError
        If the data, a name or an argument cannot be used; nothing has been written then.
    typer.Exit
        With 130, after everything was printed and written, if the fit was stopped by Ctrl-C.
    """
    from thali.model.saved import tree_of_model

    spec, alias = (model_implied(typed), "") if model_name is None else model_named(model_name)
    wanted: dict[str, Any] = {}
    # Whatever the data are: options are looked at before a large file is read.
    if spec is None:
        possible = {word: owned[0][1] for word, owned in by_word().items()}
        terminal.know([*_OWN, *possible.values()])
        read = {word: value_of(possible[word], value) for word, value in typed.items()}
        wanted = said_of_table(read)
    asked = None if spec is None else _asked(terminal, spec, alias, typed, None)
    if out is not None:
        check_folder(out)
    if page is not None:
        check_place(page.absolute())
    found = find_data(data_name)
    if asked is None:
        asked = _asked(terminal, kind_of_data(found, wanted=wanted), "", typed, data_name)
    spec, method, values, of = asked.spec, asked.method, asked.values, asked.arguments
    report = report_of(spec, method)
    data, recognised = load(found, spec, of(DATA))
    notify(f"{data_name}: {recognised}")
    model = _made(spec, of(MODEL), values, data)
    fitted = Fitted(spec, method, model, data, of(REPORT), of(FIT) | of(MODEL), terminal.words)
    prepared = report.prepare(fitted)
    refuse(fitted)
    if values.get("sampler") == "paper" and spec.paper:
        notify(f"the published sampler {spec.paper}; use it for comparison only.")
    command = {"data_name": data_name, "model_name": model_name, "typed": typed, "formats": list(formats)}
    command |= {} if page is None else {"page": page.absolute()}
    with _job_in(asked, out, overwrite, command) as job:
        _fit(spec, model, data, of(FIT), job)
    interrupted = getattr(model, "interrupted_", False)
    if interrupted:
        kept = model.posterior_["posterior"].sizes
        more = f"; thali resume {out} goes on" if out is not None else ""
        notify(f"stopped early; kept {plural(kept['chain'], 'chain')} of {plural(kept['draw'], 'draw')}{more}.")
    try:
        answer = with_segments(report.answer(fitted, prepared), fitted)
    except BaseException:  # what was drawn outlives a fault, or Ctrl-C, while answers are computed
        if out is not None:
            write_model(tree_of_model(model), out)
            notify(f"the answers could not be computed; the fit is in {out}, and thali.load reads it.")
        raise
    try:
        if out is not None:
            tree = tree_of_model(model)
            drawn = write_results(tree, answer, out, formats)
            wrote = ["the posterior" if "posterior" in tree.children else "the model", "the tables"]
            wrote += ["the pictures"] * bool(drawn)
            notify(f"wrote {', '.join(wrote[:-1]) + ' and ' if wrote[1:] else ''}{wrote[-1]} to {out}.")
        if page is not None:
            write_report(model, page, as_typed("fit", command | {"typed": _repeatable(model, typed)}), terminal)
    finally:  # a full disk must not cost the answer of a long run
        print(answer.text)
    if (interrupted and "max-time" not in asked.values) or answer.interrupted:
        raise typer.Exit(INTERRUPTED)


def _repeatable(model: Any, typed: dict[str, Any]) -> dict[str, Any]:
    """What was typed, and the seed that was drawn where none was typed."""
    seed = model.run_settings().get("random_seed")
    return typed if seed is None or "seed" in typed else typed | {"seed": seed}


class _Asked(NamedTuple):
    """What was asked for, for one model."""

    spec: ModelSpec
    method: str
    options: dict[str, Option]  # those that were typed, by word
    values: dict[str, Any]  # of these, and of what an alias or a method means, by word

    def arguments(self, to: str) -> dict[str, Any]:
        """The arguments for one place; the progress bar goes with the cores."""
        found = {option.name: self.values[word] for word, option in self.options.items() if option.to == to}
        cores = any(option.name == "cores" and option.to == to for option in self.spec.options_of(self.method))
        return found | ({"progressbar": True} if cores else {})


def _asked(terminal: Terminal, spec: ModelSpec, alias: str, typed: dict[str, Any], data_name: str | None) -> _Asked:
    """The options of the model that were typed; from here on messages know those of this model and method alone."""
    terminal.know([*_OWN, *spec.options])
    if "method" in typed:
        typed = typed | {"method": method_meant(typed["method"])}
    method = typed.get("method", spec.methods[0] if spec.methods else "")
    if spec.methods and method not in spec.methods:
        raise ArgumentError(Argument("method"), f" of {spec.name} must be {' or '.join(spec.methods)}; got {method!r}.")
    options = options_of(spec, typed, data_name)
    terminal.know([*_OWN, *spec.options_of(method)])
    values = {word: value_of(option, typed[word]) for word, option in options.items()}
    values |= settings_of_alias(spec, alias, typed)
    if not {spec.features, "tree"} & set(values):
        values |= spec.methods_mean.get(method, {})
    return _Asked(spec, method, options, values)


def _made(spec: ModelSpec, arguments: dict[str, Any], values: dict[str, Any], data: Any) -> Any:
    """The model with these arguments."""
    if spec.features:
        arguments |= _features(spec, values, data.labels)
    return spec.load()(**arguments)


def _features(spec: ModelSpec, values: dict[str, Any], labels: tuple[str, ...]) -> dict[str, Any]:
    """The argument for the features, from the option of its name or the tree that takes its place."""
    from ..aspects import parse_aspects
    from ..relations import read_tree

    name = spec.features
    tree, leaf_length = values.get("tree"), values.get("leaf-length")
    if tree is None:
        if leaf_length is not None:
            raise ArgumentError("--leaf-length belongs to a tree of groups; name its file with --tree.")
        words = next(tuple(option.words) for option in spec.options if option.name == name)
        return {name: parse_aspects(values[name], labels, f"--{name}", words)} if name in values else {}
    if name in values:
        raise ArgumentError(f"--tree takes the place of --{name}; give one of the two.")
    found = read_tree(tree, leaf_length)
    found.for_labels(labels)  # every mismatch is named before anything runs
    return {name: found}


@contextmanager
def _job_in(asked: _Asked, out: Path | None, overwrite: bool, command: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The argument that says where the job lies, for a model with chains."""
    if out is None or not any(option.name == "cores" for option in asked.spec.options_of(asked.method)):
        yield {}
        return
    with job_in(out, overwrite, noted("fit", command)) as job:
        yield {"job": job}


def _fit(spec: ModelSpec, model: Any, data: Any, arguments: dict[str, Any], job: dict[str, Any]) -> None:
    if spec.data == (CLASSES,):
        model.set_params(**job).fit(data.covariates, data.labels, **arguments)
    else:
        model.fit(data, **arguments, **job)
