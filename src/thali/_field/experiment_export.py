"""`export`: files of a study for jsPsych and PsychoPy."""

import base64
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from thali._inference.checksummed_files import write_together
from thali._inference.random_seeds import spawn_generators
from thali._labels import is_number, list_names
from thali.errors import Argument, ArgumentError, DataError

from .answer_collection import CATCH, MAIN, PART, PRACTICE, VERSION
from .questionnaire_page import (
    SurveyPlan,
    list_answer_columns,
    list_shown_columns,
    plan_survey,
    render_page,
)
from .questionnaire_tasks import CHOICE, PAIRS, RANKING, RATINGS
from .study_settings import RANDOM

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
    """Files of a study for another program, and a sentence on their use."""

    files: Files  # by name
    sentence: str  # tasks and use


class _OrderedTrial(NamedTuple):
    """A trial with its options in the order shown."""

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
    """Build a study's files for jsPsych or PsychoPy."""
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
    """Raise if PsychoPy cannot show the study, or would execute a label as code."""
    question_kind = plan.survey.kind
    study = plan.study
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
    options = plan.data["options"]
    n_with_picture = sum("picture" in option for option in options)
    if 0 < n_with_picture < len(options):
        raise DataError(
            "A PsychoPy component shows either pictures or text; give all options a picture, or"
            " none."
        )
    labels = [option["label"] for option in options]
    for label in labels:
        if question_kind not in (CHOICE, RATINGS) and label in _list_answer_keys(plan):
            raise DataError(
                f"PsychoPy records the position of the chosen option, such as {label!r},"
                " which is also the name of an option; rename the option."
            )
    if not n_with_picture:
        _check_labels_kept(plan, labels)
    texts = [*labels, *plan.survey.attributes]
    if question_kind == CHOICE:
        products = [product for task in _list_all_tasks(plan) for product in task["shown"]]
        texts += [cell for product in products for cell in product]
    for text in texts:
        if _EXECUTED_START.search(text):
            raise DataError(f"psychopy would execute part of {text!r}; rephrase it.")


def _list_all_tasks(plan: SurveyPlan) -> list[dict[str, Any]]:
    """Return the tasks of all versions, then practice and catch trials."""
    main_tasks = [task for tasks in plan.data["versions"] for task in tasks]
    return main_tasks + plan.data["practice"] + plan.data["catch"]


def _check_labels_kept(plan: SurveyPlan, labels: list[str]) -> None:
    """Raise if pandas, as used by PsychoPy, would change a label."""
    tasks = _list_all_tasks(plan)
    blank_cells = []
    if len({len(task["shown"]) for task in tasks}) > 1:
        blank_cells = [""]
    label_columns = [
        [product[k] for task in tasks for product in task["shown"]]
        for k in range(len(plan.survey.attributes))
    ]
    for labels_of_column in label_columns or [labels]:
        for text in labels_of_column:
            if text in _MISSING:
                raise DataError(f"PsychoPy reads {text!r} as a missing value; rename it.")
        numeric_texts = [text for text in labels_of_column if is_number(text.replace(",", "."))]
        if numeric_texts and (
            len(numeric_texts) < len(labels_of_column) or any("," in text for text in numeric_texts)
        ):
            raise DataError(
                f"PsychoPy would change the number {numeric_texts[0]!r} among labels of text;"
                " rephrase this label."
            )
        csv_text = pd.DataFrame({"label": labels_of_column + blank_cells}).to_csv(index=False)
        frame = pd.read_csv(io.StringIO(csv_text), skip_blank_lines=False)
        for text, read_cell in zip(labels_of_column, frame["label"].tolist(), strict=False):
            if text != str(read_cell):
                raise DataError(
                    f"PsychoPy would show {text!r} as {str(read_cell)!r}; rephrase this label."
                )


# Trials as they are shown -------------------------------------------------------------------------


def _order_trials(plan: SurveyPlan, rng: np.random.Generator) -> list[list[_OrderedTrial]]:
    """Return each version's trials in the order shown, with catch trials."""
    trials_by_version = []
    for tasks in plan.data["versions"]:
        task_order = np.arange(len(tasks))
        if plan.study.order == RANDOM:
            task_order = rng.permutation(len(tasks))
        trials = [_order_options(plan, tasks[k], MAIN, rng) for k in task_order]
        for task in plan.data["catch"]:
            trials.insert(
                1 + int(rng.integers(len(trials))), _order_options(plan, task, CATCH, rng)
            )
        trials_by_version.append(trials)
    return trials_by_version


def _order_options(
    plan: SurveyPlan, task: Mapping[str, Any], trial_kind: str, rng: np.random.Generator
) -> _OrderedTrial:
    """Return a trial with its options in random or given order."""
    shown_options = task["shown"]
    option_order = np.arange(len(shown_options))
    if plan.study.sides == RANDOM:
        option_order = rng.permutation(len(shown_options))
    ordered_options: list[Any] = [shown_options[k] for k in option_order]
    if plan.survey.kind != CHOICE:
        ordered_options = [plan.data["options"][option]["label"] for option in ordered_options]
    answer_position = None
    if "answer" in task:
        answer_position = option_order.tolist().index(task["answer"])
    return _OrderedTrial(
        trial_kind,
        tuple(ordered_options),
        task.get("none", False),
        task.get("held_out", False),
        answer_position,
    )


def _list_shown_cells(plan: SurveyPlan, trial: _OrderedTrial) -> list[Any]:
    """Return a trial's cells for the columns of shown options."""
    if plan.survey.kind == CHOICE:
        cells: list[Any] = [
            product[k] for k in range(len(plan.survey.attributes)) for product in trial.shown
        ]
        if plan.survey.has_held_out:
            cells.append(int(trial.held_out))
        if plan.survey.has_none:
            cells.append(int(trial.none))
    else:
        cells = [*trial.shown, *[""] * (plan.data["size"] - len(trial.shown))]
    return cells


# Tools --------------------------------------------------------------------------------------------


def _export_jspsych(plan: SurveyPlan, rng: np.random.Generator) -> ExportedStudy:
    """Build the HTML page that shows the study in jsPsych."""
    addresses = [
        [(_CDN + file, f"sha384-{digest}") for file, digest in digests.items()]
        for digests in (_SCRIPTS, _STYLES)
    ]
    load_addresses = (
        [address for address, _ in addresses[0]],
        [address for address, _ in addresses[1]],
    )
    page = render_page(plan, "jspsych", load_addresses, scripts=addresses[0], styles=addresses[1])
    instructions = (
        "Open index.html; it loads jsPsych 8 from unpkg.com. Merge the returned files with thali"
        " field collect."
    )
    return ExportedStudy({"index.html": page.encode()}, instructions)


def _export_psychopy(plan: SurveyPlan, rng: np.random.Generator) -> ExportedStudy:
    """Build condition files and pictures of the study for PsychoPy."""
    picture_names, file_bytes = _name_pictures(plan)
    variable_names = _name_variables(plan)
    trials_by_version = _order_trials(plan, rng)
    practice_trials = [_order_options(plan, task, PRACTICE, rng) for task in plan.data["practice"]]
    if len(trials_by_version) == 1:
        file_bytes["trials.csv"] = _format_conditions(
            plan, trials_by_version[0], variable_names, picture_names, {}
        )
    else:
        for version_number, trials in enumerate(trials_by_version, start=1):
            file_bytes[f"trials_{version_number}.csv"] = _format_conditions(
                plan, trials, variable_names, picture_names, {VERSION: version_number}
            )
    if practice_trials:
        file_bytes["practice.csv"] = _format_conditions(
            plan, practice_trials, variable_names, picture_names, {}
        )
    return ExportedStudy(file_bytes, _describe_components(plan) + _describe_omissions(plan))


def _name_pictures(plan: SurveyPlan) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the picture file name of each option, and {file name: bytes}."""
    bytes_by_file: dict[str, bytes] = {}
    file_by_label: dict[str, str] = {}
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
            file_name = f"{_UNSAFE_CHARACTERS.sub('_', option['label'])}.{ending}"
            if file_name in bytes_by_file:
                raise DataError(
                    f"The pictures of two options would both be called {file_name!r}; rename the"
                    " options."
                )
            file_by_label[option["label"]] = file_name
            bytes_by_file[file_name] = base64.b64decode(encoded_image)
    return file_by_label, bytes_by_file


def _name_variables(plan: SurveyPlan) -> list[str]:
    """Return the columns of shown options as PsychoPy variable names."""
    shown_columns = list_shown_columns(plan.survey, plan.data["size"])
    variable_names = [re.sub(r"\W", "_", column) for column in shown_columns]
    for column, name in zip(shown_columns, variable_names, strict=True):
        if not name.isidentifier() or variable_names.count(name) > 1:
            raise DataError(
                f"The column {column!r} is not a valid variable name in PsychoPy; rename the"
                " attribute."
            )
    return variable_names


def _format_conditions(
    plan: SurveyPlan,
    trials: list[_OrderedTrial],
    variable_names: list[str],
    picture_names: dict[str, str],
    version_cell: dict[str, int],
) -> bytes:
    """Return trials as bytes of a PsychoPy conditions file."""
    rows = []
    for trial_number, trial in enumerate(trials, start=1):
        row: dict[str, Any] = {
            PART: trial.part,
            **version_cell,
            plan.survey.number_column: trial_number,
        }
        for name, cell in zip(variable_names, _list_shown_cells(plan, trial), strict=True):
            row[name] = picture_names.get(cell, cell)
        if plan.data["catch"]:
            row["correct"] = ""
        if trial.answer is not None:
            row["correct"] = _list_answer_keys(plan)[trial.answer]
        rows.append(row)
    return pd.DataFrame(rows).to_csv(index=False).encode()


def _describe_components(plan: SurveyPlan) -> str:
    """Return text on the loop and components to add in PsychoPy."""
    answer_columns = list_answer_columns(plan.survey.kind, plan.study, plan.data["size"])
    answer_keys = _list_answer_keys(plan)
    no_choice_note = ""
    if plan.survey.has_none:
        answer_keys.append(none_key := str(len(answer_keys) + 1))
        none_text = plan.data["words"]["none"]
        no_choice_note = f", where {none_key} means {none_text!r} (thali fit --none {none_key})"
    component = f"a Keyboard with the keys {list_names(answer_keys)}"
    if plan.survey.kind == RATINGS:
        component = "a Slider"
    return (
        "Loop over the rows of the file; each response component, called"
        f" {list_names(answer_columns)}, is {component}{no_choice_note}."
    )


def _list_answer_keys(plan: SurveyPlan) -> list[str]:
    """Return the keyboard keys that answer a trial."""
    if plan.survey.kind == PAIRS:
        return ["left", "right"]
    return [str(k + 1) for k in range(plan.data["size"])]


def _describe_omissions(plan: SurveyPlan) -> str:
    """Return text on settings that the files leave out; "" if none."""
    omitted_settings = [
        name
        for name in ("consent", "instructions", "questions", "thanks")
        if getattr(plan.study, name)
    ]
    if not omitted_settings:
        return ""
    return f" Not exported: {list_names(omitted_settings)} of the study; add them by hand."


TOOLS: dict[str, Callable[[SurveyPlan, np.random.Generator], ExportedStudy]] = {
    "jspsych": _export_jspsych,
    "psychopy": _export_psychopy,
}
