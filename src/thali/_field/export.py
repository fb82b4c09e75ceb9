"""`export`: the same study for jsPsych and PsychoPy."""

import base64
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from thali._inference.files import write_together
from thali._inference.seeds import spawn_generators
from thali._labels import is_number, listed
from thali.errors import Argument, ArgumentError, DataError

from .asked import CHOICE, PAIRS, RANKING, RATINGS
from .collect import CATCH, MAIN, PART, PRACTICE, TASK, TRIAL, VERSION
from .questionnaire import Planned, columns_answered, columns_shown, planned_of, rendered
from .study import RANDOM

# What jsPsych's page loads: each file as npm has it, with its SHA-384.
_FROM = "https://unpkg.com/"
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
_TO_BE_RUN = re.compile(r"^\s*[\[({$=]")  # what PsychoPy would run where a label begins so
_UNSAFE = re.compile(r"[^\w.-]+")  # in the name of a file
# What PsychoPy takes for no value, as pandas does by which it reads: importConditions of
# psychopy/data/utils.py.
_MISSING = frozenset(
    "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a"
    "|nan|null".split("|")
)

Files = Mapping[str, bytes]


class Exported(NamedTuple):
    """A study for another tool."""

    files: Files  # by name
    sentence: str  # what it asks, and how it is used


class _Shown(NamedTuple):
    """A trial as it is shown: everything is in its order."""

    part: str
    shown: tuple[Any, ...]  # labels, or the cells of each product
    none: bool
    held_out: bool
    answer: int | None  # the place of what is right


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
    """Write a study for another tool, which asks what `questionnaire` would ask.

    "jspsych": `index.html`, an experiment for jsPsych 8 with all that a questionnaire has but going
    on after a reload; "psychopy": `trials.csv` and `practice.csv`, conditions files that loops of
    the Builder read, with the pictures. Of several versions each has files of its own for PsychoPy,
    whose names end in their numbers. What comes back is read by `thali fit`.

    Parameters
    ----------
    design, kind, title, words, study
        As for `questionnaire`.
    folder : str or Path
        Where the files are written.
    to : {"jspsych", "psychopy"}
    random_seed : int, optional
        Decides parts of the tasks as for `questionnaire`, and, for PsychoPy, the order of trials
        and the places of options, which are the same for all people who have a version.

    Returns
    -------
    str
        What the files ask, and how they are used.

    Raises
    ------
    ArgumentError
        If there is no such tool.
    DataError
        As `questionnaire`; if the tool has no such question, or would run what a label holds.
    """
    found = exported(design, to, kind, title, words, study, random_seed)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_together(folder, found.files)
    return found.sentence


def exported(
    design: Any,
    to: str,
    kind: str | None,
    title: str | None,
    words: Mapping[str, str] | None,
    study: Any,
    random_seed: Any,
) -> Exported:
    """The files of a study for a tool, and a sentence about them."""
    if to not in TOOLS:
        raise ArgumentError(
            Argument("to"), f" must be {' or '.join(map(repr, TOOLS))}; got {to!r}."
        )
    planned = planned_of(design, kind, title, words, study, random_seed)
    if to == "psychopy":
        _refuse(planned)
    found = TOOLS[to](planned, spawn_generators(random_seed, 2)[1])
    return found._replace(sentence=f"{planned.sentence} {found.sentence}")


def _refuse(planned: Planned) -> None:
    """What PsychoPy, which runs no script of thali, cannot ask, or would run."""
    kind, study = planned.asked.kind, planned.study
    if kind == RANKING:
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
    has_pictures = ["picture" in option for option in planned.data["options"]]
    if any(has_pictures) and not all(has_pictures):
        raise DataError(
            "A PsychoPy component shows either pictures or text; give all options a picture, or"
            " none."
        )
    labels = [option["label"] for option in planned.data["options"]]
    is_numbered = kind not in (CHOICE, RATINGS)
    if is_numbered and (meant := [label for label in labels if label in _keys(planned)]):
        raise DataError(
            f"PsychoPy records the position of the chosen option, such as {meant[0]!r}, which is"
            " also the name of an option; rename the option."
        )
    if not any(has_pictures):
        _refuse_misread(planned, labels)
    texts = [*labels, *planned.asked.attributes]
    extras = planned.data["practice"], planned.data["catch"]
    texts += [
        cell
        for tasks in (*planned.data["versions"], *extras)
        for task in tasks
        for cell in _cells(task["shown"])
    ]
    if unsafe := [text for text in texts if _TO_BE_RUN.search(text)]:
        raise DataError(f"psychopy would execute part of {unsafe[0]!r}; rephrase it.")


def _refuse_misread(planned: Planned, labels: list[str]) -> None:
    """What would come out of PsychoPy as another text: as pandas reads a column of its files, which
    may be numbers."""
    import pandas as pd

    tasks = (
        [task for tasks in planned.data["versions"] for task in tasks]
        + planned.data["practice"]
        + planned.data["catch"]
    )
    gap = [""] * (len({len(task["shown"]) for task in tasks}) > 1)
    columns = [
        [product[k] for task in tasks for product in task["shown"]]
        for k in range(len(planned.asked.attributes))
    ]
    for column in columns or [labels]:
        if missing := [text for text in column if text in _MISSING]:
            raise DataError(f"PsychoPy reads {missing[0]!r} as a missing value; rename it.")
        numbers = [text for text in column if is_number(text.replace(",", "."))]
        if numbers and (len(numbers) < len(column) or any("," in text for text in numbers)):
            raise DataError(
                f"PsychoPy would change the number {numbers[0]!r} among labels of text; rephrase"
                " this label."
            )
        table = pd.DataFrame({"label": column + gap}).to_csv(index=False)
        as_read = pd.read_csv(io.StringIO(table), skip_blank_lines=False)["label"].tolist()
        changed = [
            (text, str(read))
            for text, read in zip(column, as_read, strict=False)
            if text != str(read)
        ]
        if changed:
            text, read = changed[0]
            raise DataError(f"PsychoPy would show {text!r} as {read!r}; rephrase this label.")


def _cells(shown: Any) -> list[str]:
    """What products are made of; nothing of options."""
    return [cell for product in shown if not isinstance(product, int) for cell in product]


# Trials as they are shown -------------------------------------------------------------------------


def _versions(planned: Planned, rng: np.random.Generator) -> list[list[_Shown]]:
    """The trials of each version, catch trials among them, in the order and with the places that
    everybody has."""
    found = []
    for tasks in planned.data["versions"]:
        order = (
            rng.permutation(len(tasks)) if planned.study.order == RANDOM else np.arange(len(tasks))
        )
        trials = [_shown(planned, tasks[k], MAIN, rng) for k in order]
        for task in planned.data["catch"]:
            trials.insert(1 + int(rng.integers(len(trials))), _shown(planned, task, CATCH, rng))
        found.append(trials)
    return found


def _shown(
    planned: Planned, task: Mapping[str, Any], part: str, rng: np.random.Generator
) -> _Shown:
    """A trial with its options in some order."""
    shown = task["shown"]
    places = rng.permutation(len(shown)) if planned.study.sides == RANDOM else np.arange(len(shown))
    labels = [option["label"] for option in planned.data["options"]]
    cells = tuple(
        tuple(shown[k]) if planned.asked.kind == CHOICE else labels[shown[k]] for k in places
    )
    answer = int(np.flatnonzero(places == task["answer"])[0]) if "answer" in task else None
    return _Shown(part, cells, task.get("none", False), task.get("held_out", False), answer)


def _row(planned: Planned, trial: _Shown) -> dict[str, Any]:
    """What a trial shows, by the columns of `columns_shown`."""
    size = planned.data["size"]
    if planned.asked.kind == CHOICE:
        cells: list[Any] = [
            product[k] for k in range(len(planned.asked.attributes)) for product in trial.shown
        ]
        cells += [int(trial.held_out)] * planned.asked.has_held_out + [
            int(trial.none)
        ] * planned.asked.has_none
    else:
        cells = [*trial.shown, *[""] * (size - len(trial.shown))]
    return dict(zip(columns_shown(planned.asked, size), cells, strict=True))


def _csv(rows: list[dict[str, Any]]) -> bytes:
    import pandas as pd

    return pd.DataFrame(rows).to_csv(index=False).encode()


def _numbered(name: str, number: int, versions: int) -> str:
    """The name of a file of a version."""
    stem, dot, ending = name.partition(".")
    return name if versions == 1 else f"{stem}_{number}{dot}{ending}"


# Tools --------------------------------------------------------------------------------------------


def _jspsych(planned: Planned, rng: np.random.Generator) -> Exported:
    addresses = [
        [(_FROM + file, f"sha384-{digest}") for file, digest in own.items()]
        for own in (_SCRIPTS, _STYLES)
    ]
    loads = ([address for address, _ in addresses[0]], [address for address, _ in addresses[1]])
    page = rendered(planned, "jspsych", loads, scripts=addresses[0], styles=addresses[1])
    how = (
        "Open index.html; it loads jsPsych 8 from unpkg.com. Merge the returned files with thali"
        " field collect."
    )
    return Exported({"index.html": page.encode()}, how)


def _psychopy(planned: Planned, rng: np.random.Generator) -> Exported:
    """Conditions files, and the pictures beside them."""
    files: dict[str, bytes] = {}
    pictures = {}
    for option in planned.data["options"]:
        if "picture" in option:
            kind, _, content = option["picture"].partition(";base64,")
            ending = kind.removeprefix("data:image/").removesuffix("+xml").replace("jpeg", "jpg")
            if ending == "svg":
                raise DataError(
                    f"PsychoPy does not support SVG; save the picture of {option['label']!r} as"
                    " PNG."
                )
            name = f"{_UNSAFE.sub('_', option['label'])}.{ending}"
            if name in files:
                raise DataError(
                    f"The pictures of two options would both be called {name!r}; rename the"
                    " options."
                )
            pictures[option["label"]], files[name] = name, base64.b64decode(content)
    names = {
        name: re.sub(r"\W", "_", name)
        for name in columns_shown(planned.asked, planned.data["size"])
    }
    if bad := [
        name
        for name, safe in names.items()
        if not safe.isidentifier() or list(names.values()).count(safe) > 1
    ]:
        raise DataError(
            f"The column {bad[0]!r} is not a valid variable name in PsychoPy; rename the attribute."
        )
    versions = _versions(planned, rng)
    practice = [_shown(planned, task, PRACTICE, rng) for task in planned.data["practice"]]
    has_catch, counted = (
        bool(planned.data["catch"]),
        TASK if planned.asked.kind == CHOICE else TRIAL,
    )

    def table(trials: list[_Shown], version: int | None) -> bytes:
        rows = []
        for number, trial in enumerate(trials, start=1):
            cells = {
                names[name]: pictures.get(cell, cell) for name, cell in _row(planned, trial).items()
            }
            first = {
                PART: trial.part,
                **({} if version is None else {VERSION: version}),
                counted: number,
            }
            correct = "" if trial.answer is None else _keys(planned)[trial.answer]
            rows.append({**first, **cells, **({"correct": correct} if has_catch else {})})
        return _csv(rows)

    for number, trials in enumerate(versions, start=1):
        files[_numbered("trials.csv", number, len(versions))] = table(
            trials, number if len(versions) > 1 else None
        )
    if practice:
        files["practice.csv"] = table(practice, None)
    answers = columns_answered(planned.asked.kind, planned.study, planned.data["size"])
    keys, none = _keys(planned), [planned.data["words"]["none"]] * planned.asked.has_none
    keys += [str(len(keys) + 1)] * len(none)
    part = (
        "a Slider" if planned.asked.kind == RATINGS else f"a Keyboard with the keys {listed(keys)}"
    )
    part += "".join(
        f", where {keys[-1]} means {text!r} (thali fit --none {keys[-1]})" for text in none
    )
    how = (
        f"Loop over the rows of the file; each response component, called {listed(answers)}, is"
        f" {part}."
    )
    return Exported(files, how + _by_hand(planned))


def _keys(planned: Planned) -> list[str]:
    """The keys that answer."""
    size = planned.data["size"]
    return ["left", "right"] if planned.asked.kind == PAIRS else [str(k + 1) for k in range(size)]


def _by_hand(planned: Planned) -> str:
    """A word on what of the study the files do not hold."""
    names = [
        name
        for name in ("consent", "instructions", "questions", "thanks")
        if getattr(planned.study, name)
    ]
    return f" Not exported: {listed(names)} of the study; add them by hand." if names else ""


TOOLS: dict[str, Callable[[Planned, np.random.Generator], Exported]] = {
    "jspsych": _jspsych,
    "psychopy": _psychopy,
}
