"""What was asked of `thali fit`: the options of one model that were typed, and what they are."""

from pathlib import Path
from typing import Any, NamedTuple

from thali._data.kinds import EXPERIMENTS
from thali._labels import as_label, plural
from thali._model.aliases import normalise_method
from thali._model.default_models import WORTHS, choose_default_model, count_median_tasks
from thali._model.registry import SPECS
from thali._model.settings import AnswerSettings
from thali._model.spec import DATA, FIT, MODEL, PEOPLE_VALUE, REPORT, ModelSpec, Option
from thali._people.populations import Groups, Individuals, individuals_required
from thali.errors import Argument, ArgumentError, DataError, Setting

from ..boundary import Terminal
from ..loading import NamedData, load_held_out
from ..models import options_of, settings_of_alias
from ..values import value_of
from .jobs import OVERWRITE

LABELS = {WORTHS: "Bradley-Terry-Luce worths"}
FOLDS = 5  # of the cross-validation, unless others are typed
OWN = (Option("model", "Name of the model."), OVERWRITE)  # of every model


class ModelRequest(NamedTuple):
    """What was asked for, for one model."""

    spec: ModelSpec
    method: str
    options: dict[str, Option]  # those that were typed, by word
    values: dict[str, Any]  # of these, and of what an alias or a method means, by word

    def arguments(self, to: str) -> dict[str, Any]:
        """The arguments for one place; the progress bar goes with the cores."""
        found = {
            option.target: self.values[word]
            for word, option in self.options.items()
            if option.to == to
        }
        if to == MODEL and any(option.type == PEOPLE_VALUE for option in self.spec.options):
            found = with_people(found, "group" in self.options)
        cores = to == FIT and any(
            option.name == "cores" for option in self.spec.select_options(self.method)
        )
        return found | ({"progressbar": True} if cores else {})

    @property
    def of_data(self) -> dict[str, Any]:
        """What is said of the table: which of its rows are fitted included."""
        return self.arguments(DATA) | {
            word: value for word, value in self.values.items() if word == "holdouts"
        }

    @property
    def without_holdouts(self) -> "ModelRequest":
        """The same, but for the tasks that are held out."""
        options, values = (
            {word: value for word, value in each.items() if word != "holdouts"}
            for each in (self.options, self.values)
        )
        return self._replace(options=options, values=values)

    def settings(self, found: NamedData | None, data: Any, folder: Path = Path()) -> AnswerSettings:
        """The settings of the answer; `found`: its table, `data`: of the fit, `folder`: where the
        command was typed."""
        from thali._choice.answers.market import restore_saved_table
        from thali._reading.table import load

        wanted = {
            "random_seed": self.values.get("seed", 0),
            "cores": self.values.get("cores"),
        } | self.arguments(REPORT)
        if any(option.name == "folds" for option in self.spec.options):
            wanted.setdefault("folds", FOLDS)
        if "market" in wanted:
            wanted["market"] = restore_saved_table(
                data.scheme, load(folder / wanted["market"]).frame
            )
        if "holdouts" in wanted and found is not None:
            wanted["holdouts"] = load_held_out(found, self.spec, self.of_data, data.scheme)
        if "actual" in wanted:
            wanted["actual"] = _amounts_in(folder / wanted["actual"])
        return AnswerSettings(**wanted)


def with_people(arguments: dict[str, Any], has_groups: bool) -> dict[str, Any]:
    """The arguments of a model with one value for `people`, made of --people, --by and --group."""
    by, people = arguments.pop("by", None), arguments.get("people")
    if by is None:
        return arguments | ({"people": Groups()} if has_groups and people is None else {})
    if not isinstance(people, Individuals | None):
        raise individuals_required("by")
    return arguments | {"people": Individuals(by)}


def _amounts_in(file: Path) -> dict[str, float]:
    """Label -> number, from a table of these two columns."""
    from thali._reading.table import load, prefix_errors

    frame = load(file).frame
    with prefix_errors(str(file)):
        if frame.shape[1] != 2 or frame.iloc[:, 1].dtype.kind not in "iuf":
            raise DataError(
                "A table of actual shares needs two columns: the product and its share, a number."
            )
        labels = frame.iloc[:, 0].map(as_label).tolist()
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise DataError(
                f"A table of actual shares must list each product once; {twice[0]!r} is listed"
                " twice."
            )
    return dict(zip(labels, map(float, frame.iloc[:, 1]), strict=True))


def asked_of(
    terminal: Terminal, spec: ModelSpec, alias: str, typed: dict[str, Any], data_name: str | None
) -> ModelRequest:
    """The options of the model that were typed; from here on messages know those of this model and
    method alone."""
    terminal.know([*OWN, *spec.options])
    if "method" in typed:
        typed = typed | {"method": normalise_method(typed["method"])}
    method = spec.choose_method(typed)
    if spec.methods and method not in spec.methods:
        sentence = [
            Argument("method"),
            f" of {spec.name} must be one of {', '.join(spec.methods)}; got {method!r}",
        ]
        models = [
            other.name for other in SPECS if method in other.methods and spec.data[0] in other.data
        ]
        if models:
            sentence += [", which requires ", Setting("model", models[0])]
        raise ArgumentError(*sentence, ".")
    options = options_of(spec, typed, data_name)
    terminal.know([*OWN, *spec.select_options(method)])
    values = {word: value_of(option, typed[word]) for word, option in options.items()}
    values |= settings_of_alias(spec, alias, typed)
    if not {spec.features, "tree"} & set(values):
        values |= spec.methods_mean.get(method, {})
    return ModelRequest(spec, method, options, values)


def asked_by_default(
    terminal: Terminal, data: Any, typed: dict[str, Any]
) -> tuple[ModelRequest, str]:
    """Return what was asked of the model that data get unless one is named, and a clause that names
    it and others."""
    offer, settings, others = choose_default_model(data, typed)
    clause = f"; {LABELS.get(offer.name, offer.name.replace('-', ' '))}"
    clause += " with individual scores" * ("people" in settings)
    if offer.kind == EXPERIMENTS:
        n_tasks = count_median_tasks(data)
        clause += f" ({plural(data.n_respondents, 'respondent')}, {n_tasks:g} tasks each)"
    if others:
        clause += f" (alternative: --model {' or '.join(others)})"
    return asked_of(terminal, offer.spec, offer.name, typed | settings, None), clause
