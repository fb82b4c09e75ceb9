"""`questionnaire`: a study as one HTML file that asks, keeps the answers, and hands them in."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from thali._data.choices.best_worst import are_ranks
from thali._data.experiments.scheme import HELD_OUT
from thali._data.roles import CHOSEN, RESPONDENT_OF_TASKS, SIDES, TIE_WORDS, plain
from thali._data.roles import TASK as TASK_OF_TABLES
from thali._inference.files import atomic_write
from thali._labels import plural, printable, shorten, suggest
from thali._page import as_json, markup, policy
from thali.errors import DataError

from .asked import (
    BEST,
    BEST_WORST,
    CHOICE,
    ODD,
    OFFERED_NONE,
    PAIRS,
    RANKING,
    RATINGS,
    QuestionnaireContent,
    QuestionnaireTask,
    asked_of,
)
from .collect import PART, PASSED, PERSON, PLANNED, SEED, STARTED, STUDY, TASK, TIE, TRIAL, VERSION
from .pictures import picture
from .study import ASKED, RANDOM, Extra, StudyDescription, sends_to, study_of

MAX_PAGE = 20_000_000  # bytes of a page with its pictures
_SIDES = {name for pair in SIDES for name in pair}
_TAKEN = {
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
    study: Any = None,
    random_seed: Any = 0,
) -> str:
    """Write a questionnaire: one HTML file that works anywhere and loads nothing.

    Options alone are enough: the page has a button to start, the trials, and an end where the
    answers are saved as a CSV file that `thali fit` reads. Each person gets a random name and seed,
    which is stored with every answer and decides the version, the order of trials and the sides of
    options. Answers stay in the browser until they are saved, also when the page is closed; they
    are sent nowhere but to the address that the study names, if it names one.

    Parameters
    ----------
    design : sequence of str, mapping, DataFrame or path
        Options; options and the paths of their pictures (None: no picture); a table with the column
        option, and picture; or a design, as `designs.pairs`, `designs.triplets`, `designs.sets`,
        `designs.choice` and `paired.pair_design` lay it out. A path names a text with an option or
        a picture a line, a table, or a folder of pictures.
    path : str or Path, optional
        The file to write.
    kind : str, optional
        "pairs", "best" of a set, "best-worst", "ranking", "odd-one-out", "ratings" of how alike
        pairs are, or "choice" among products. By default pairs, and choice of a design with
        products. Of options alone, each person answers all pairs up to 100 (ratings: up to 60;
        triplets: up to 40), else a balanced part; sets have 4 options, each of which is shown 3
        times; up to 7 options are ranked at once.
    title : str, optional
        What the page is called.
    words : mapping, optional
        Words of the page that replace the usual ones, such as {"question": "Which is sweeter?"}.
    study : path or mapping, optional
        A `study.toml`, or a mapping laid out like one, with all else; see the guide to
        questionnaires.
    random_seed : int, optional
        Decides which part of the tasks each version has, where there are too many for one person.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ArgumentError
        If the design does not go with the kind.
    DataError
        If options, pictures, products or the study cannot be used.

    Examples
    --------
    >>> page = questionnaire(["tea", "milk", "juice"], title="Drinks")
    >>> "default-src 'none'" in page, "https:" in page
    (True, False)
    """
    page = page_of(design, kind, title, words, study, random_seed)
    if path is not None:
        atomic_write(Path(path), page.text.encode())
    return page.text


class Page(NamedTuple):
    """A questionnaire."""

    text: str  # HTML
    sentence: str  # what it asks


def page_of(
    design: Any,
    kind: str | None,
    title: str | None,
    words: Mapping[str, str] | None,
    study: Any,
    random_seed: Any,
) -> Page:
    """The page, and what it asks."""
    planned = planned_of(design, kind, title, words, study, random_seed)
    text = rendered(planned, "questionnaire", style=markup(_file("questionnaire.css")))
    return Page(text, planned.sentence)


class Planned(NamedTuple):
    """What a study asks, however it is shown."""

    asked: QuestionnaireContent
    study: StudyDescription
    data: dict[str, Any]  # what a script reads

    @property
    def sentence(self) -> str:
        """What is asked."""
        return _in_words(self.asked)


def planned_of(
    design: Any,
    kind: str | None,
    title: str | None,
    words: Mapping[str, str] | None,
    study: Any,
    random_seed: Any,
) -> Planned:
    """What a study asks, as `questionnaire` is given it."""
    told = study_of(study)
    own = study_of({"words": words or {}, "language": told.language}).words
    told = replace(told, title=title or told.title, words={**told.words, **own})
    asked = asked_of(design, kind, told.size, told.per_person, random_seed)
    return Planned(asked, told, _data(asked, told, told.all_words(asked.kind)))


def rendered(
    planned: Planned, name: str, loads: tuple[list[str], list[str]] = ([], []), **more: Any
) -> str:
    """The page of that name; `loads`: the addresses of what it loads; `more`: what else its
    template names."""
    _, study, data = planned
    script = _file("shared.js") + _file(f"{name}.js")
    page = printable(
        _template(name).render(
            language=study.language,
            title=data["title"],
            policy=policy([script], sends_to(study.post), loads),
            script_needed=data["words"]["script_needed"],
            data=markup(as_json(data)),
            script=markup(script),
            **more,
        )
    )
    if len(page) > MAX_PAGE:
        raise DataError(
            f"The page with its pictures has {len(page):,} bytes, more than phones can load"
            f" ({MAX_PAGE:,}); use fewer or smaller pictures."
        )
    return page


def _data(
    asked: QuestionnaireContent, study: StudyDescription, words: dict[str, str]
) -> dict[str, Any]:
    """What the script reads."""
    _check(asked, study)
    practice, practised = _extras("practice", study.practice, asked, asked.options)
    catch, labels = _extras("catch", study.catch, asked, practised)
    _refuse_changed(labels)
    pictures = _pictures(asked, study, labels)
    sizes = [len(task.shown) for tasks in asked.versions for task in tasks]
    size = max([*sizes, *(len(each["shown"]) for each in (*practice, *catch))])
    data: dict[str, Any] = {
        "id": _study_id(asked, study, words),
        "kind": asked.kind,
        "title": study.title or words["question"],
        "words": words,
        "options": [
            {"label": label} | ({"picture": pictures[label]} if label in pictures else {})
            for label in labels
        ],
        "versions": [[_trial(task) for task in tasks] for tasks in asked.versions],
        "practice": practice,
        "catch": catch,
        "attributes": asked.attributes,
        "held_out": asked.has_held_out,
        "has_none": asked.has_none,
        "size": size,
        "columns": _told_apart(columns_of(asked, study, size), study),
        "tie": TIE,
        "no_preference": study.no_preference,
        "dual": study.dual,
        "order": study.order == RANDOM,
        "sides": study.sides == RANDOM,
        "breaks": study.breaks or 0,
        "asks_person": study.person == ASKED,
        "post": study.post,
        "show_labels": study.show_labels,
        "questions": [question._asdict() for question in study.questions],
        "scale": {
            "steps": study.scale.steps,
            "low": study.scale.low or words["scale_low"],
            "high": study.scale.high or words["scale_high"],
        },
        **{
            name: _paragraphs(getattr(study, name))
            for name in ("instructions", "consent", "thanks")
        },
    }
    return data | {"build": hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]}


def _check(asked: QuestionnaireContent, study: StudyDescription) -> None:
    """Refuse what goes together with no study of that kind."""
    if study.no_preference and asked.kind != PAIRS:
        raise DataError(
            f"`no_preference` adds a third answer to pairs and does not apply to {asked.kind};"
            " remove it."
        )
    if study.dual and asked.kind != CHOICE:
        raise DataError(
            "`dual` asks whether a product would really be chosen and does not apply to"
            f" {asked.kind}; remove it."
        )
    if study.no_preference and (
        told := [label for label in asked.options if plain(label) in TIE_WORDS]
    ):
        raise DataError(
            f"The option {told[0]!r} would be read as {TIE!r} in a table of pairs; rename it."
        )
    known = {plain(name): name for name in asked.attributes}
    if both := [question.name for question in study.questions if plain(question.name) in known]:
        raise DataError(f"The question {both[0]!r} has the name of an attribute; rename it.")
    if taken := [name for name in asked.attributes if plain(name) in _TAKEN]:
        raise DataError(
            f"The attribute {taken[0]!r} has the name of a column of answers; rename it."
        )
    if asked.kind == BEST and are_ranks(
        [asked.options[k] for k in task.shown] for tasks in asked.versions for task in tasks
    ):
        raise DataError(
            f"The options {shorten(asked.options)} would be read as ranks in a table of sets;"
            " rename them, for instance to 'design 1'."
        )
    if (
        asked.kind == BEST
        and max(len(task.shown) for tasks in asked.versions for task in tasks) == 2
    ):
        raise DataError(
            f"The kind {BEST!r} requires sets of at least 3 options; for 2 options use {PAIRS!r}."
        )
    if asked.kind == PAIRS and all(plain(label) in _SIDES for label in asked.options):
        raise DataError(
            f"The options {shorten(asked.options)} would be read as the two sides of a pair;"
            " rename them, for instance to 'design A'."
        )


def _refuse_changed(labels: tuple[str, ...]) -> None:
    """Refuse options that are read as other numbers, those of practice and catch trials too."""
    from thali._reading.table import as_read

    if changed := [label for label in labels if as_read(label) != label]:
        raise DataError(
            f"The option {changed[0]!r} would be read back as the number {as_read(changed[0])!r};"
            " rename it."
        )


def _extras(
    name: str, extras: tuple[Extra, ...], asked: QuestionnaireContent, labels: tuple[str, ...]
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Trials besides those of the design, and all labels, which may be more than before."""
    found = []
    wanted = len(asked.versions[0][0].shown)
    for extra in extras:
        is_product = isinstance(extra.shown[0], Mapping)
        if is_product != (asked.kind == CHOICE):
            what = (
                "products = [{...}, {...}]" if asked.kind == CHOICE else 'options = ["...", "..."]'
            )
            raise DataError(f"A {name} trial of {asked.kind} requires {what}.")
        if asked.kind in (PAIRS, RATINGS, ODD, CHOICE) and len(extra.shown) != wanted:
            raise DataError(
                f"A {name} trial of {asked.kind} must show {wanted} options or products, like all"
                f" trials; got {len(extra.shown)}."
            )
        if name == "catch" and asked.kind == RATINGS:
            raise DataError(
                "Ratings have no correct answer, so catch trials do not apply; remove them."
            )
        if is_product:
            for attribute in dict.fromkeys(
                attribute for product in extra.shown for attribute in product
            ):
                if attribute not in asked.attributes:
                    raise DataError(
                        f"A product of a {name} trial has {attribute!r}, which is not an attribute"
                        f" of the design.{suggest(attribute, asked.attributes)}"
                    )
            shown: list[Any] = [
                [_cell(product, attribute, name) for attribute in asked.attributes]
                for product in extra.shown
            ]
        else:
            labels = tuple(dict.fromkeys((*labels, *extra.shown)))
            shown = [labels.index(label) for label in extra.shown]
        found.append({"shown": shown} | ({} if extra.answer is None else {"answer": extra.answer}))
    return found, labels


def _cell(product: Mapping[str, str], attribute: str, name: str) -> str:
    if attribute not in product:
        raise DataError(
            f"A product of a {name} trial lacks {attribute!r}.{suggest(attribute, tuple(product))}"
        )
    return product[attribute]


def _trial(task: QuestionnaireTask) -> dict[str, Any]:
    found: dict[str, Any] = {"shown": task.shown}
    return (
        found
        | ({"none": True} if task.none else {})
        | ({"held_out": True} if task.held_out else {})
    )


def _pictures(
    asked: QuestionnaireContent, study: StudyDescription, labels: tuple[str, ...]
) -> dict[str, str]:
    """The pictures of the options, as addresses."""
    if unknown := [label for label in study.pictures if label not in labels]:
        raise DataError(
            f"There is a picture of {unknown[0]!r}, which is not an"
            f" option.{suggest(unknown[0], labels)}"
        )
    return {label: picture(file) for label, file in {**asked.pictures, **study.pictures}.items()}


def columns_of(asked: QuestionnaireContent, study: StudyDescription, size: int) -> list[str]:
    """The columns of a file of answers."""
    own = [*columns_shown(asked, size), *columns_answered(asked.kind, study, size)]
    number = TASK if asked.kind == CHOICE else TRIAL
    passed = [PASSED] * bool(study.catch)
    facts = [question.name for question in study.questions]
    return [
        STUDY,
        PERSON,
        SEED,
        STARTED,
        VERSION,
        PART,
        number,
        *own,
        "rt",
        *passed,
        PLANNED,
        *facts,
    ]


def columns_shown(asked: QuestionnaireContent, size: int) -> list[str]:
    """The columns of what a trial shows."""
    named = {PAIRS: ["left", "right"], RATINGS: ["first", "second"]}
    if asked.kind == CHOICE:
        products = [f"{attribute}_{k + 1}" for attribute in asked.attributes for k in range(size)]
        return [*products, *[HELD_OUT] * asked.has_held_out, *[OFFERED_NONE] * asked.has_none]
    stem = {RANKING: "shown", ODD: "object"}.get(asked.kind, "option")
    return named.get(asked.kind, [f"{stem}{k + 1}" for k in range(size)])


def columns_answered(kind: str, study: StudyDescription, size: int) -> list[str]:
    """The columns of the answers to a trial."""
    ranks = [f"rank{k + 1}" for k in range(size)]
    return {
        PAIRS: ["chosen"],
        BEST: ["best"],
        BEST_WORST: ["best", "worst"],
        RANKING: ranks,
        ODD: ["odd"],
        RATINGS: ["similarity"],
        CHOICE: ["choice", *["preferred"] * study.dual],
    }[kind]


def _told_apart(columns: list[str], study: StudyDescription) -> list[str]:
    """The columns, of which none is called like a question about the person."""
    names = [plain(name) for name in columns]
    if twice := [
        question.name for question in study.questions if names.count(plain(question.name)) > 1
    ]:
        raise DataError(
            f"The question {twice[0]!r} has the name of a column of answers; rename it."
        )
    return columns


def _study_id(asked: QuestionnaireContent, study: StudyDescription, words: dict[str, str]) -> str:
    """The name of a study in its files: its title, and a digest of what is asked, and in which
    words."""
    products = (
        sorted({product for tasks in asked.versions for task in tasks for product in task.shown})
        if (asked.kind == CHOICE)
        else []
    )
    scale = (
        [study.scale.steps, study.scale.low, study.scale.high] if asked.kind == RATINGS else None
    )
    answers = [words["question"], scale, study.no_preference, study.dual]
    held = json.dumps([asked.kind, asked.options, asked.attributes, products, answers])
    plain_title = (
        unicodedata.normalize("NFKD", study.title).encode("ascii", "ignore").decode().lower()
    )
    slug = re.sub(r"[^a-z0-9]+", "-", plain_title).strip("-")[:40] or asked.kind
    return f"{slug}-{hashlib.sha256(held.encode()).hexdigest()[:8]}"


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _in_words(asked: QuestionnaireContent) -> str:
    """What a page asks, in a sentence."""
    about = shorten(asked.options or asked.attributes, 4)
    versions = len(asked.versions)
    several = f", in {versions} versions assigned at random" if versions > 1 else ""
    return (
        f"{asked.kind}: {plural(len(asked.versions[0]), 'question')} per respondent about"
        f" {about}{several}."
    )


def _file(name: str) -> str:
    return (files("thali._field") / "page" / name).read_text("utf-8")


def _template(name: str) -> Any:
    import jinja2

    return jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        _file(f"{name}.html")
    )
