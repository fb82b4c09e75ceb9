"""`questionnaire`: a study as one HTML file that collects and saves answers."""

import hashlib
import itertools
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from thali._data.choices.best_worst_tables import are_rank_rows
from thali._data.column_roles import CHOSEN, RESPONDENT_OF_TASKS, SIDES, TIE_WORDS, simplify_name
from thali._data.column_roles import TASK as TASK_OF_TABLES
from thali._data.experiments.product_encoding import HELD_OUT
from thali._html_page import build_policy, encode_json, mark_as_html
from thali._inference.checksummed_files import atomic_write
from thali._inference.random_seeds import RandomSeed
from thali._inference.replaced_files import check_replaced
from thali._labels import escape_unprintable, format_plural, shorten, suggest
from thali.errors import DataError

from .answer_collection import PART, PASSED, PERSON, PLANNED, SEED, STARTED, STUDY, TIE, VERSION
from .questionnaire_tasks import (
    BEST,
    BEST_WORST,
    CHOICE,
    ODD,
    OFFERED_NONE,
    PAIRS,
    RANKING,
    RATINGS,
    QuestionnaireTask,
    Survey,
    build_survey,
)
from .study_settings import ASKED, RANDOM, ExtraTrial, StudyDescription, read_study, remove_query

MAX_PAGE = 20_000_000  # bytes
_SIDES = {name for pair in SIDES for name in pair}
_RESERVED_NAMES = {
    "option",
    "object",
    *(word for role in (CHOSEN, RESPONDENT_OF_TASKS, TASK_OF_TABLES) for word in role.synonyms),
}


def questionnaire(
    design: Any,
    path: str | Path | None = None,
    kind: str | None = None,
    title: str | None = None,
    words: Mapping[str, str] | None = None,
    study: StudyDescription | Mapping[str, Any] | str | Path | None = None,
    random_seed: RandomSeed = 0,
) -> str:
    """Write a questionnaire as one self-contained HTML file.

    Options are sufficient: the page has a start button, the trials, and an end where the respondent
    saves the answers as a CSV file that `thali fit` reads. Each respondent gets a random name and
    seed; the seed is stored with every answer and decides the version, the order of trials and the
    sides of options. Answers stay in the browser until they are saved, even if the page is closed.
    They are sent only to the address in the study, if there is one.

    Parameters
    ----------
    design : sequence of str, DataFrame or path
        Options; a table with a column option; or a design, as from `designs.pairs`,
        `designs.triplets`, `designs.sets`, `designs.choice` and `paired.pair_design`. A path names
        a text with one option per line, a table, or the folder of a design.
    path : str or Path, optional
        The file to write.
    kind : str, optional
        "pairs", "best" of a set, "best-worst", "ranking", "odd-one-out", "ratings" of the
        similarity of pairs, or "choice" among products. Default: choice for a design with products,
        else pairs. Without a design, each respondent answers all pairs up to 100 (ratings: up to
        60; triplets: up to 40), or else a balanced subset; sets have 4 options, and each option
        appears 3 times; up to 7 options are ranked in a single task.
    title : str, optional
        Title of the page.
    words : mapping, optional
        Texts that replace the defaults, such as {"question": "Which is sweeter?"}.
    study : path or mapping, optional
        A `study.toml`, or a mapping with the same layout, with all other settings; see the guide
        to questionnaires.
    random_seed : int, optional
        Decides the tasks of each version, where there are too many for one respondent.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ArgumentError
        If the design does not fit the kind.
    DataError
        If options, products or the study cannot be used.

    Examples
    --------
    >>> page = questionnaire(["tea", "milk", "juice"], title="Drinks")
    >>> "default-src 'none'" in page, "https:" in page
    (True, False)
    """
    page = build_page(design, kind, title, words, study, random_seed)
    if path is not None:
        check_replaced(Path(path), [design, study])
        atomic_write(Path(path), page.text.encode())
    return page.text


class QuestionnairePage(NamedTuple):
    """HTML of a questionnaire, and a sentence on its tasks."""

    text: str  # HTML
    sentence: str  # kind and number of questions


def build_page(
    design: Any,
    question_kind: str | None,
    title: str | None,
    words: Mapping[str, str] | None,
    study: StudyDescription | Mapping[str, Any] | str | Path | None,
    random_seed: RandomSeed,
) -> QuestionnairePage:
    """Build the HTML of a questionnaire, and a sentence on its tasks."""
    plan = plan_survey(design, question_kind, title, words, study, random_seed)
    page = render_page(
        plan, "questionnaire", style=mark_as_html(_read_page_file("questionnaire.css"))
    )
    return QuestionnairePage(page, plan.sentence)


class SurveyPlan(NamedTuple):
    """A survey with settings, texts and data for the page's script."""

    survey: Survey
    study: StudyDescription
    data: dict[str, Any]  # input of the script

    @property
    def sentence(self) -> str:
        """Sentence that describes the survey's tasks."""
        survey = self.survey
        sentence = (
            f"{survey.kind}: {format_plural(len(survey.versions[0]), 'question')} per respondent"
            f" about {shorten(survey.options or survey.attributes, 4)}"
        )
        if len(survey.versions) > 1:
            sentence += f", in {len(survey.versions)} versions assigned at random"
        return f"{sentence}."


def plan_survey(
    design: Any,
    question_kind: str | None,
    title: str | None,
    words: Mapping[str, str] | None,
    study: Any,
    random_seed: RandomSeed,
) -> SurveyPlan:
    """Check design and settings; combine them into a `SurveyPlan`."""
    settings = read_study(study)
    new_words = read_study({"words": words or {}, "language": settings.language}).words
    settings = replace(
        settings, title=title or settings.title, words={**settings.words, **new_words}
    )
    survey = build_survey(design, question_kind, settings.size, settings.per_person, random_seed)
    script_data = _build_script_data(survey, settings, settings.merge_words(survey.kind))
    return SurveyPlan(survey, settings, script_data)


def render_page(
    plan: SurveyPlan, template_name: str, loads: tuple[list[str], list[str]] = ([], []), **more: Any
) -> str:
    """Render the page template `template_name` for a survey.

    `loads`: addresses of scripts and styles that the page loads; `more`: other template variables.
    """
    _, study, data = plan
    script = _read_page_file("shared.js") + _read_page_file(f"{template_name}.js")
    page = escape_unprintable(
        _load_template(template_name).render(
            language=study.language,
            title=data["title"],
            policy=build_policy([script], remove_query(study.post), loads),
            script_needed=data["words"]["script_needed"],
            data=mark_as_html(encode_json(data)),
            script=mark_as_html(script),
            **more,
        )
    )
    if len(page) > MAX_PAGE:
        raise DataError(
            f"The page has {len(page):,} bytes, more than phones can load ({MAX_PAGE:,}); use"
            " fewer tasks or shorter labels."
        )
    return page


def _build_script_data(
    survey: Survey, study: StudyDescription, words: dict[str, str]
) -> dict[str, Any]:
    """Return the JSON data that the page's script reads."""
    _check_settings(survey, study)
    practice_trials, known_labels = _build_extra_trials(
        "practice", study.practice, survey, survey.options
    )
    catch_trials, all_labels = _build_extra_trials("catch", study.catch, survey, known_labels)
    _check_labels_unchanged(all_labels)
    n_shown = [len(task.shown) for task in survey.tasks]
    max_shown = max(
        [*n_shown, *(len(trial["shown"]) for trial in (*practice_trials, *catch_trials))]
    )
    data: dict[str, Any] = {
        "id": _build_study_id(survey, study, words),
        "kind": survey.kind,
        "title": study.title or words["question"],
        "words": words,
        "options": all_labels,
        "versions": [[_build_trial(task) for task in tasks] for tasks in survey.versions],
        "practice": practice_trials,
        "catch": catch_trials,
        "attributes": survey.attributes,
        "held_out": survey.has_held_out,
        "has_none": survey.has_none,
        "size": max_shown,
        "columns": _check_question_names(_list_file_columns(survey, study, max_shown), study),
        "tie": TIE,
        "no_preference": study.no_preference,
        "dual": study.dual,
        "order": study.order == RANDOM,
        "sides": study.sides == RANDOM,
        "breaks": study.breaks or 0,
        "asks_person": study.person == ASKED,
        "post": study.post,
        "questions": [question._asdict() for question in study.questions],
        "scale": {
            "steps": study.scale.steps,
            "low": study.scale.low or words["scale_low"],
            "high": study.scale.high or words["scale_high"],
        },
        **{
            name: _split_paragraphs(getattr(study, name))
            for name in ("instructions", "consent", "thanks")
        },
    }
    return data | {"build": hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]}


def _check_settings(survey: Survey, study: StudyDescription) -> None:
    """Raise DataError if settings do not suit the kind of question."""
    if study.no_preference and survey.kind != PAIRS:
        raise DataError(
            f"`no_preference` adds a third answer to pairs and does not apply to {survey.kind};"
            " remove it."
        )
    if study.dual and survey.kind != CHOICE:
        raise DataError(
            "`dual` asks whether a product would really be chosen and does not apply to"
            f" {survey.kind}; remove it."
        )
    for label in survey.options:
        if study.no_preference and simplify_name(label) in TIE_WORDS:
            raise DataError(
                f"The option {label!r} would be read as {TIE!r} in a table of pairs; rename it."
            )
    plain_attributes = set(map(simplify_name, survey.attributes))
    for question in study.questions:
        if simplify_name(question.name) in plain_attributes:
            raise DataError(
                f"The question {question.name!r} has the name of an attribute; rename it."
            )
    for name in survey.attributes:
        if simplify_name(name) in _RESERVED_NAMES:
            raise DataError(
                f"The attribute {name!r} has the name of a column of answers; rename it."
            )
    if survey.kind == BEST and are_rank_rows(
        [survey.options[k] for k in task.shown] for task in survey.tasks
    ):
        raise DataError(
            f"The options {shorten(survey.options)} would be read as ranks in a table of sets;"
            " rename them, for instance to 'design 1'."
        )
    if survey.kind == BEST and max(len(task.shown) for task in survey.tasks) == 2:
        raise DataError(
            f"The kind {BEST!r} requires sets of at least 3 options; for 2 options use {PAIRS!r}."
        )
    if survey.kind == PAIRS and all(simplify_name(label) in _SIDES for label in survey.options):
        raise DataError(
            f"The options {shorten(survey.options)} would be read as the two sides of a pair;"
            " rename them, for instance to 'design A'."
        )


def _check_labels_unchanged(labels: tuple[str, ...]) -> None:
    """Raise DataError if a label, such as "01", would be read back differently."""
    from thali._reading.table_files import reread_label

    for label in labels:
        if (changed_label := reread_label(label)) != label:
            raise DataError(
                f"The option {label!r} would be read back as the number {changed_label!r}; rename"
                " it."
            )


def _build_extra_trials(
    trial_kind: str, extra_trials: tuple[ExtraTrial, ...], survey: Survey, labels: tuple[str, ...]
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return practice or catch trials for the script, and all labels so far."""
    trials = []
    n_shown = len(survey.versions[0][0].shown)
    for extra_trial in extra_trials:
        is_product = isinstance(extra_trial.shown[0], Mapping)
        if is_product != (survey.kind == CHOICE):
            required_form = 'options = ["...", "..."]'
            if survey.kind == CHOICE:
                required_form = "products = [{...}, {...}]"
            raise DataError(f"A {trial_kind} trial of {survey.kind} requires {required_form}.")
        if survey.kind in (PAIRS, RATINGS, ODD, CHOICE) and len(extra_trial.shown) != n_shown:
            raise DataError(
                f"A {trial_kind} trial of {survey.kind} must show {n_shown} options or products,"
                f" like all trials; got {len(extra_trial.shown)}."
            )
        if trial_kind == "catch" and survey.kind == RATINGS:
            raise DataError(
                "Ratings have no correct answer, so catch trials do not apply; remove them."
            )
        if is_product:
            for attribute in itertools.chain(*extra_trial.shown):
                if attribute not in survey.attributes:
                    raise DataError(
                        f"A product of a {trial_kind} trial has {attribute!r}, which is not an"
                        f" attribute of the design.{suggest(attribute, survey.attributes)}"
                    )
            shown_options: list[Any] = [
                [_find_cell(product, attribute, trial_kind) for attribute in survey.attributes]
                for product in extra_trial.shown
            ]
        else:
            labels = tuple(dict.fromkeys((*labels, *extra_trial.shown)))
            shown_options = [labels.index(label) for label in extra_trial.shown]
        trial: dict[str, Any] = {"shown": shown_options}
        if extra_trial.answer is not None:
            trial["answer"] = extra_trial.answer
        trials.append(trial)
    return trials, labels


def _find_cell(product: Mapping[str, str], attribute: str, name: str) -> str:
    """Return a product's level of an attribute; raise if it is missing."""
    if attribute not in product:
        raise DataError(
            f"A product of a {name} trial lacks {attribute!r}.{suggest(attribute, tuple(product))}"
        )
    return product[attribute]


def _build_trial(task: QuestionnaireTask) -> dict[str, Any]:
    """Return a task as dict for the page's script."""
    trial: dict[str, Any] = {"shown": task.shown}
    if task.none:
        trial["none"] = True
    if task.held_out:
        trial["held_out"] = True
    return trial


def _list_file_columns(survey: Survey, study: StudyDescription, size: int) -> list[str]:
    """Return the column names of an answer file."""
    columns = [
        *(STUDY, PERSON, SEED, STARTED, VERSION, PART, survey.number_column),
        *_list_shown_columns(survey, size),
        *_list_answer_columns(survey.kind, study, size),
        "rt",
    ]
    if study.catch:
        columns.append(PASSED)
    return [*columns, PLANNED, *(question.name for question in study.questions)]


def _list_shown_columns(survey: Survey, size: int) -> list[str]:
    """Return the names of columns with the shown options."""
    columns_of_kind = {PAIRS: ["left", "right"], RATINGS: ["first", "second"]}
    if survey.kind == CHOICE:
        columns = [f"{attribute}_{k + 1}" for attribute in survey.attributes for k in range(size)]
        if survey.has_held_out:
            columns.append(HELD_OUT)
        if survey.has_none:
            columns.append(OFFERED_NONE)
        return columns
    stem = {RANKING: "shown", ODD: "object"}.get(survey.kind, "option")
    return columns_of_kind.get(survey.kind, [f"{stem}{k + 1}" for k in range(size)])


def _list_answer_columns(question_kind: str, study: StudyDescription, size: int) -> list[str]:
    """Return the names of columns with the answers to a trial."""
    if question_kind == CHOICE and study.dual:
        return ["choice", "preferred"]
    return {
        PAIRS: ["chosen"],
        BEST: ["best"],
        BEST_WORST: ["best", "worst"],
        RANKING: [f"rank{k + 1}" for k in range(size)],
        ODD: ["odd"],
        RATINGS: ["similarity"],
        CHOICE: ["choice"],
    }[question_kind]


def _check_question_names(columns: list[str], study: StudyDescription) -> list[str]:
    """Return the columns; raise if a question has the name of one of them."""
    plain_columns = [simplify_name(name) for name in columns]
    for question in study.questions:
        if plain_columns.count(simplify_name(question.name)) > 1:
            raise DataError(
                f"The question {question.name!r} has the name of a column of answers; rename it."
            )
    return columns


def _build_study_id(survey: Survey, study: StudyDescription, words: dict[str, str]) -> str:
    """Return the study's title with a hash of its questions and texts."""
    product_levels: list[Any] = []
    if survey.kind == CHOICE:
        product_levels = sorted({product for task in survey.tasks for product in task.shown})
    scale = None
    if survey.kind == RATINGS:
        scale = [study.scale.steps, study.scale.low, study.scale.high]
    answer_settings = [words["question"], scale, study.no_preference, study.dual]
    digest_source = json.dumps(
        [survey.kind, survey.options, survey.attributes, product_levels, answer_settings]
    )
    plain_title = (
        unicodedata.normalize("NFKD", study.title).encode("ascii", "ignore").decode().lower()
    )
    slug = re.sub(r"[^a-z0-9]+", "-", plain_title).strip("-")[:40] or survey.kind
    return f"{slug}-{hashlib.sha256(digest_source.encode()).hexdigest()[:8]}"


def _split_paragraphs(text: str) -> list[str]:
    """Split a text at blank lines into one-line paragraphs."""
    return [
        " ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()
    ]


def _read_page_file(name: str) -> str:
    """Return the text of a file in the page's folder."""
    return (files("thali._field") / "page" / name).read_text("utf-8")


def _load_template(name: str) -> Any:
    """Load a jinja2 template of the page."""
    import jinja2

    return jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        _read_page_file(f"{name}.html")
    )
