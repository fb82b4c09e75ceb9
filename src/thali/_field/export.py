"""`export`: write a study for jsPsych and PsychoPy."""

import base64
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thali._inference.files import write_together
from thali._inference.seeds import spawn_generators
from thali._labels import is_number, list_names
from thali.errors import Argument, ArgumentError, DataError

from .collect import CATCH, MAIN, PART, PRACTICE, TASK, TRIAL, VERSION
from .questionnaire import (
    SurveyPlan,
    list_answer_columns,
    list_shown_columns,
    plan_survey,
    render_page,
)
from .study import RANDOM
from .survey import CHOICE, PAIRS, RANKING, RATINGS

# Files that the jsPsych page loads from npm, with their SHA-384.
_CDN = "https://unpkg.com/"
_STYLES = {
    "jspsych@8.3.0/css/jspsych.css": (
        "+gGUkbtw2BJWSroKW2jzIEXGe7KxdycJ0Bo+CqzpIOSBHOYEHHRWETaV+v2mpdWX"
    )
}
_SCRIPTS = {
    "jspsych@8.3.0/dist/index.browser.min.js": (
        "PPMNzYQfqrWFhrOxhpwxXmKK+LDH//fBCLsvA/JIRHOfiuOcZ2j8wJhqo87V4R4B"
    ),
    "@jspsych/plugin-html-button-response@2.1.0/dist/index.browser.min.js": (
        "tPGtXEC8xEbInWvarnxvJ3fyzeXwRDS0QjGUts+TGQ9I8OCxiqsv9lxTS3mEN6um"
    ),
    "@jspsych/plugin-survey-html-form@2.1.0/dist/index.browser.min.js": (
        "60fiNESvg3n32x9sx0QAOyIlVkUgaC20Fsuo/ROTm0DeXCwEfaJ0FfE674kO0F9n"
    ),
}
_EXECUTED_START = re.compile(r"^\s*[\[({$=]")  # PsychoPy executes labels with this start
_UNSAFE_CHARACTERS = re.compile(r"[^\w.-]+")  # in file names
# PsychoPy reads these as missing values, as pandas does: importConditions in
# psychopy/data/utils.py.
_MISSING = frozenset(
    "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a"
    "|nan|null".split("|")
)

Files = Mapping[str, bytes]


class ExportedStudy(NamedTuple):
    """The files of a study for another tool, and how to use them."""

    files: Files  # by name
    sentence: str  # tasks and use


class _OrderedTrial(NamedTuple):
    """A trial with its options in the order of presentation."""

    part: str
    shown: tuple[Any, ...]  # labels, or the cells of each product
    none: bool
    held_out: bool
    answer: int | None  # index of the correct answer


def export(
    design: Any,
    folder: str | Path,
    to: str,
    kind: str | None = None,
    title: str | None = None,
    words: Mapping[str, str] | None = None,
    study: Any = None,
    random_seed: Any = 0,
) -> str:
    """Write a study for jsPsych or PsychoPy, with the same tasks as `questionnaire`.

    "jspsych": `index.html`, an experiment for jsPsych 8 with all features of a questionnaire except
    continuing after a reload. "psychopy": `trials.csv` and `practice.csv`, conditions files for
    loops of the Builder, and the pictures; each of several versions has separate files, numbered at
    the end of their names. `thali fit` reads the answers of both tools.

    Parameters
    ----------
    design, kind, title, words, study
        As for `questionnaire`.
    folder : str or Path
        Folder for the files.
    to : {"jspsych", "psychopy"}
    random_seed : int, optional
        Decides the tasks of each version as for `questionnaire` and, for PsychoPy, the order of
        trials and options, which is the same for all respondents with one version.

    Returns
    -------
    str
        Description of the tasks and of the use of the files.

    Raises
    ------
    ArgumentError
        If the tool is unknown.
    DataError
        As `questionnaire`; or if the tool lacks this kind of question, or would execute a label.
    """
    exported_study = build_export(design, to, kind, title, words, study, random_seed)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_together(folder, exported_study.files)
    return exported_study.sentence


def build_export(
    design: Any,
    to: str,
    kind: str | None,
    title: str | None,
    words: Mapping[str, str] | None,
    study: Any,
    random_seed: Any,
) -> ExportedStudy:
    """Build the files of a study for a tool, and a sentence about them."""
    if to not in TOOLS:
        raise ArgumentError(
            Argument("to"), f" must be {' or '.join(map(repr, TOOLS))}; got {to!r}."
        )
    plan = plan_survey(design, kind, title, words, study, random_seed)
    if to == "psychopy":
        _check_psychopy(plan)
    exported_study = TOOLS[to](plan, spawn_generators(random_seed, 2)[1])
    return exported_study._replace(sentence=f"{plan.sentence} {exported_study.sentence}")


def _check_psychopy(plan: SurveyPlan) -> None:
    """Raise if PsychoPy cannot show the study, or would execute a label."""
    question_kind, study = plan.survey.kind, plan.study
    if question_kind == RANKING:
        raise DataError(
            "psychopy does not support rankings; use jspsych, or the kind 'best-worst', which is"
            " almost as informative."
        )
    if study.dual:
        raise DataError(
            'psychopy does not support `dual`; use jspsych, or offer "none of these" as an answer.'
        )
    if study.no_preference:
        raise DataError(
            "PsychoPy records the pressed key, and no key means no preference; remove"
            " `no_preference`."
        )
    has_pictures = ["picture" in option for option in plan.data["options"]]
    if any(has_pictures) and not all(has_pictures):
        raise DataError(
            "A PsychoPy component shows either pictures or text; give all options a picture, or"
            " none."
        )
    labels = [option["label"] for option in plan.data["options"]]
    is_numbered = question_kind not in (CHOICE, RATINGS)
    if is_numbered and (
        ambiguous_labels := [label for label in labels if label in _list_answer_keys(plan)]
    ):
        raise DataError(
            f"PsychoPy records the position of the chosen option, such as {ambiguous_labels[0]!r},"
            " which is also the name of an option; rename the option."
        )
    if not any(has_pictures):
        _check_labels_kept(plan, labels)
    texts = [*labels, *plan.survey.attributes]
    extra_trials = plan.data["practice"], plan.data["catch"]
    texts += [
        cell
        for tasks in (*plan.data["versions"], *extra_trials)
        for task in tasks
        for cell in _list_cells(task["shown"])
    ]
    if executed_texts := [text for text in texts if _EXECUTED_START.search(text)]:
        raise DataError(f"psychopy would execute part of {executed_texts[0]!r}; rephrase it.")


def _check_labels_kept(plan: SurveyPlan, labels: list[str]) -> None:
    """Raise if PsychoPy would change a text when pandas reads its column."""
    import pandas as pd

    tasks = (
        [task for tasks in plan.data["versions"] for task in tasks]
        + plan.data["practice"]
        + plan.data["catch"]
    )
    gap = [""] * (len({len(task["shown"]) for task in tasks}) > 1)
    columns = [
        [product[k] for task in tasks for product in task["shown"]]
        for k in range(len(plan.survey.attributes))
    ]
    for column in columns or [labels]:
        if missing_texts := [text for text in column if text in _MISSING]:
            raise DataError(f"PsychoPy reads {missing_texts[0]!r} as a missing value; rename it.")
        numbers = [text for text in column if is_number(text.replace(",", "."))]
        if numbers and (len(numbers) < len(column) or any("," in text for text in numbers)):
            raise DataError(
                f"PsychoPy would change the number {numbers[0]!r} among labels of text; rephrase"
                " this label."
            )
        table = pd.DataFrame({"label": column + gap}).to_csv(index=False)
        frame = pd.read_csv(io.StringIO(table), skip_blank_lines=False)
        for text, cell in zip(column, frame["label"].tolist(), strict=False):
            if text != str(cell):
                raise DataError(
                    f"PsychoPy would show {text!r} as {str(cell)!r}; rephrase this label."
                )


def _list_cells(shown_options: Any) -> list[str]:
    """Return the levels of products; [] for options."""
    return [cell for product in shown_options if not isinstance(product, int) for cell in product]


# Trials as they are shown -------------------------------------------------------------------------


def _order_trials(plan: SurveyPlan, rng: np.random.Generator) -> list[list[_OrderedTrial]]:
    """Return the trials of each version in order of presentation, catch trials included."""
    versions = []
    for tasks in plan.data["versions"]:
        order = np.arange(len(tasks))
        if plan.study.order == RANDOM:
            order = rng.permutation(len(tasks))
        trials = [_order_options(plan, tasks[k], MAIN, rng) for k in order]
        for task in plan.data["catch"]:
            trials.insert(
                1 + int(rng.integers(len(trials))), _order_options(plan, task, CATCH, rng)
            )
        versions.append(trials)
    return versions


def _order_options(
    plan: SurveyPlan, task: Mapping[str, Any], trial_part: str, rng: np.random.Generator
) -> _OrderedTrial:
    """Return a trial with its options in random or given order."""
    shown_options = task["shown"]
    option_order = np.arange(len(shown_options))
    if plan.study.sides == RANDOM:
        option_order = rng.permutation(len(shown_options))
    labels = [option["label"] for option in plan.data["options"]]
    cells = tuple(
        tuple(shown_options[k]) if plan.survey.kind == CHOICE else labels[shown_options[k]]
        for k in option_order
    )
    answer = int(np.flatnonzero(option_order == task["answer"])[0]) if "answer" in task else None
    return _OrderedTrial(
        trial_part, cells, task.get("none", False), task.get("held_out", False), answer
    )


def _build_row(plan: SurveyPlan, trial: _OrderedTrial) -> dict[str, Any]:
    """Return the shown options of a trial by column."""
    size = plan.data["size"]
    if plan.survey.kind == CHOICE:
        cells: list[Any] = [
            product[k] for k in range(len(plan.survey.attributes)) for product in trial.shown
        ]
        cells += [int(trial.held_out)] * plan.survey.has_held_out + [
            int(trial.none)
        ] * plan.survey.has_none
    else:
        cells = [*trial.shown, *[""] * (size - len(trial.shown))]
    return dict(zip(list_shown_columns(plan.survey, size), cells, strict=True))


def _format_csv(rows: list[dict[str, Any]]) -> bytes:
    """Return rows as CSV."""
    import pandas as pd

    return pd.DataFrame(rows).to_csv(index=False).encode()


def _name_version_file(name: str, number: int, versions: int) -> str:
    """Return a file name with the number of its version, if there are several."""
    stem, dot, ending = name.partition(".")
    return name if versions == 1 else f"{stem}_{number}{dot}{ending}"


# Tools --------------------------------------------------------------------------------------------


def _export_jspsych(plan: SurveyPlan, rng: np.random.Generator) -> ExportedStudy:
    """Build the jsPsych page."""
    addresses = [
        [(_CDN + file, f"sha384-{digest}") for file, digest in digests.items()]
        for digests in (_SCRIPTS, _STYLES)
    ]
    loads = ([address for address, _ in addresses[0]], [address for address, _ in addresses[1]])
    page = render_page(plan, "jspsych", loads, scripts=addresses[0], styles=addresses[1])
    instructions = (
        "Open index.html; it loads jsPsych 8 from unpkg.com. Merge the returned files with thali"
        " field collect."
    )
    return ExportedStudy({"index.html": page.encode()}, instructions)


def _export_psychopy(plan: SurveyPlan, rng: np.random.Generator) -> ExportedStudy:
    """Build the PsychoPy conditions files and pictures."""
    files: dict[str, bytes] = {}
    pictures = {}
    for option in plan.data["options"]:
        if "picture" in option:
            image_type, _, encoded_image = option["picture"].partition(";base64,")
            ending = (
                image_type.removeprefix("data:image/").removesuffix("+xml").replace("jpeg", "jpg")
            )
            if ending == "svg":
                raise DataError(
                    f"PsychoPy does not support SVG; save the picture of {option['label']!r} as"
                    " PNG."
                )
            name = f"{_UNSAFE_CHARACTERS.sub('_', option['label'])}.{ending}"
            if name in files:
                raise DataError(
                    f"The pictures of two options would both be called {name!r}; rename the"
                    " options."
                )
            pictures[option["label"]], files[name] = name, base64.b64decode(encoded_image)
    names = {
        name: re.sub(r"\W", "_", name)
        for name in list_shown_columns(plan.survey, plan.data["size"])
    }
    if invalid_names := [
        name
        for name, variable_name in names.items()
        if not variable_name.isidentifier() or list(names.values()).count(variable_name) > 1
    ]:
        raise DataError(
            f"The column {invalid_names[0]!r} is not a valid variable name in PsychoPy; rename the"
            " attribute."
        )
    versions = _order_trials(plan, rng)
    practice = [_order_options(plan, task, PRACTICE, rng) for task in plan.data["practice"]]
    has_catch = bool(plan.data["catch"])
    number_column = TASK if plan.survey.kind == CHOICE else TRIAL

    def table(trials: list[_OrderedTrial], version: int | None) -> bytes:
        rows = []
        for number, trial in enumerate(trials, start=1):
            cells = {
                names[name]: pictures.get(cell, cell)
                for name, cell in _build_row(plan, trial).items()
            }
            leading_cells = {
                PART: trial.part,
                **({} if version is None else {VERSION: version}),
                number_column: number,
            }
            correct = "" if trial.answer is None else _list_answer_keys(plan)[trial.answer]
            rows.append({**leading_cells, **cells, **({"correct": correct} if has_catch else {})})
        return _format_csv(rows)

    for number, trials in enumerate(versions, start=1):
        files[_name_version_file("trials.csv", number, len(versions))] = table(
            trials, number if len(versions) > 1 else None
        )
    if practice:
        files["practice.csv"] = table(practice, None)
    answers = list_answer_columns(plan.survey.kind, plan.study, plan.data["size"])
    keys = _list_answer_keys(plan)
    no_choice = ""
    if plan.survey.has_none:
        keys.append(none := str(len(keys) + 1))
        text = plan.data["words"]["none"]
        no_choice = f", where {none} means {text!r} (thali fit --none {none})"
    component = f"a Keyboard with the keys {list_names(keys)}"
    if plan.survey.kind == RATINGS:
        component = "a Slider"
    instructions = (
        f"Loop over the rows of the file; each response component, called {list_names(answers)}, is"
        f" {component}{no_choice}."
    )
    return ExportedStudy(files, instructions + _describe_omissions(plan))


def _list_answer_keys(plan: SurveyPlan) -> list[str]:
    """List the keys that answer a trial."""
    size = plan.data["size"]
    return ["left", "right"] if plan.survey.kind == PAIRS else [str(k + 1) for k in range(size)]


def _describe_omissions(plan: SurveyPlan) -> str:
    """Describe the settings that the files do not contain."""
    names = [
        name
        for name in ("consent", "instructions", "questions", "thanks")
        if getattr(plan.study, name)
    ]
    if not names:
        return ""
    return f" Not exported: {list_names(names)} of the study; add them by hand."


TOOLS: dict[str, Callable[[SurveyPlan, np.random.Generator], ExportedStudy]] = {
    "jspsych": _export_jspsych,
    "psychopy": _export_psychopy,
}
