"""`export`: a study as a page for jsPsych."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from thali._inference.checksummed_files import atomic_write
from thali._inference.random_seeds import RandomSeed
from thali._inference.replaced_files import check_replaced

from .questionnaire_page import QuestionnairePage, plan_survey, render_page
from .study_settings import StudyDescription

# Files that the page loads from npm, with their SHA-384.
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


def export(
    design: Any,
    path: str | Path | None = None,
    kind: str | None = None,
    title: str | None = None,
    words: Mapping[str, str] | None = None,
    study: StudyDescription | Mapping[str, Any] | str | Path | None = None,
    random_seed: RandomSeed = 0,
) -> str:
    """Write a study as an experiment for jsPsych 8, with the same tasks as `questionnaire`.

    The page has all features of a questionnaire except continuing after a reload. It loads jsPsych
    from unpkg.com. `collect` and `thali fit` read the answers.

    Parameters
    ----------
    design, path, kind, title, words, study, random_seed
        As for `questionnaire`.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ArgumentError, DataError
        As `questionnaire`.
    """
    page = build_jspsych_page(design, kind, title, words, study, random_seed)
    if path is not None:
        check_replaced(Path(path), [design, study])
        atomic_write(Path(path), page.text.encode())
    return page.text


def build_jspsych_page(
    design: Any,
    question_kind: str | None,
    title: str | None,
    words: Mapping[str, str] | None,
    study: StudyDescription | Mapping[str, Any] | str | Path | None,
    random_seed: RandomSeed,
) -> QuestionnairePage:
    """Build the HTML of an experiment for jsPsych, and a sentence on its tasks."""
    plan = plan_survey(design, question_kind, title, words, study, random_seed)
    scripts, styles = (
        [(_CDN + file, f"sha384-{digest}") for file, digest in digests.items()]
        for digests in (_SCRIPTS, _STYLES)
    )
    load_addresses = ([address for address, _ in scripts], [address for address, _ in styles])
    page = render_page(plan, "jspsych", load_addresses, scripts=scripts, styles=styles)
    return QuestionnairePage(page, plan.sentence)
