"""The latent-class logit of choice experiments."""

from typing import Any

from thali.errors import Message
from thali.model.latent_class.choice import FOLDS
from thali.model.references import Cite
from thali.model.settings import Settings

from ..content import Content, listed, number
from ..document import Section, Table
from .choices import study_of
from .segments import with_segments
from .shared import missed_choices


def content(model: Any, settings: Settings) -> Content:
    """What a fitted model says."""
    return Content(
        question=(
            "Which segments of people are there, how large is each, what does each prefer, and what share would each"
            " product of a market have?",
        ),
        answer=_answer(model, settings),
        misses=missed_choices(model.check(settings.random_seed)),
        methods=_methods(model),
    )


def _answer(model: Any, settings: Settings) -> Section:
    shares = listed([f"{100 * size:.0f} %" for size in model.sizes_])
    row = model.choice_.loc[model.n_classes_]
    sentences = [
        f"There are {model.n_classes_} classes of people, with {shares} of them."
        if model.n_classes_ > 1
        else "One class holds everybody.",
        f"The best maximum of the likelihood (logarithm {model.log_likelihood_:.2f}, BIC {model.bic_:.2f}) was found by"
        f" {int(row['times_found'])} of {int(row['starts'])} starts.",
    ]
    if model.n_classes_ > 1:
        sentences.append(f"Entropy R²: {number(model.entropy_r2_)} (1: everybody belongs to one class for certain).")
    tables = [
        Table("Classes: sizes and coefficients", model.class_table().rename_axis("coefficient")),
        Table("Estimates and standard errors", model.summary()),
        Table("Probability of each respondent's class", model.membership_.rename(columns=lambda k: f"class {k}")),
    ]
    if len(model.choice_) > 1:
        tables.insert(0, Table("Numbers of classes", model.choice_))
    study = study_of(model, settings)
    answer = Section("The answer", (*sentences, *study.sentences), study.pictures, (*tables, *study.tables))
    held = model.membership_.to_numpy().argmax(axis=1)  # whose classes are the segments, if each holds somebody
    return with_segments(answer, model, settings, model.n_classes_ if 1 < model.n_classes_ == len(set(held)) else None)


def _methods(model: Any) -> tuple[str | Message, ...]:
    criterion = "BIC" if model.choose == "bic" else f"the log-likelihood of people left out in {FOLDS} parts"
    several = f" The number of classes was chosen by {criterion}." if len(model.choice_) > 1 else ""
    return (
        Message(
            "Choices were modelled by a latent-class logit ",
            Cite("kamakura1989"),
            ", fitted by maximum likelihood over all tasks of a person: expectation and maximisation from many starts,"
            f" then Newton's method; standard errors are those of the observed information.{several}",
        ),
    )
