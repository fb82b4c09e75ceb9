"""The report of findings: of a fitted model, a comparison, a test, a leaderboard or a design."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from thali.errors import Words
from thali.model.common_findings import has_draws
from thali.model.finding import PAGE, Finding, Findings
from thali.model.references import cited_in
from thali.model.registry import spec_of
from thali.model.versions import made_by, versions

from .document import Document, Section, Table

if TYPE_CHECKING:
    from thali.model.base import Model

SETTINGS, REFERENCES = "Settings and versions", "References"


def document_of(model: "Model", findings: Findings, command: str, words: Words) -> Document:
    """The report of a model; `command` is what was typed, "" if that is not known."""
    shown = list(findings.of(PAGE))
    title = f"{_name(model)}: {model.fitted_to_}"
    return _document(title, shown, words, _run(model), command or model._as_python(), made_by(_date(model)))


def document_of_answer(findings: Findings, command: str, words: Words) -> Document:
    """The report of anything else that has findings; its title is the first question."""
    shown = list(findings.of(PAGE))
    title = next(found.question for found in shown if found.key != "asked")
    return _document(title, shown, words, (), command, made_by())


def _document(
    title: str, shown: list[Finding], words: Words, run: tuple[tuple[str, str], ...], command: str, made: str
) -> Document:
    answers = [found for found in shown if found.key != "asked" and found.verdict is None]
    lights = [found for found in shown if found.verdict is not None]
    asked = [found for found in shown if found.key == "asked"]
    subtitle = next((each for found in (*answers, *asked) for each in found.sentences(words)), title)
    cited = cited_in(text for found in shown for text in (found.sentence, *found.notes))
    sections = [
        *_sections(asked, words),
        *(_light(found, words) for found in lights),
        *_sections([found for found in shown if found in answers or found.to_read is not None], words),
        Section(SETTINGS, facts=(*run, *versions()), code=command),
        *([Section(REFERENCES, entries=cited)] if cited else []),
    ]
    return Document(title, subtitle, tuple(sections), made)


def _light(found: Finding, words: Words) -> Section:
    """Good news or bad, before the answers: what it is about, and its sentence."""
    said = found.sentences(words)
    return Section(found.question, tuple(said[:1]), good=found.verdict, headline=found.headline)


def _sections(shown: Iterable[Finding], words: Words) -> list[Section]:
    """A section for each question."""
    return [section_of(found, words) for found in shown]


def section_of(found: Finding, words: Words) -> Section:
    """A finding as a part of a page; of one with a verdict what its light does not say."""
    sentences = found.sentences(words)
    if found.key == "methods":
        sentences = [" ".join(sentences)]
    table, title = found.to_read, found.question
    if found.verdict is not None:
        sentences, title = sentences[1:], f"{title} (details)"
    tables = () if table is None or not len(table) else (Table(found.title, table),)
    pictures = () if found.picture is None else (found.picture,)
    return Section(title, tuple(sentences), pictures, tables, found.widget)


def _name(model: Any) -> str:
    """The model as a heading."""
    spec = spec_of(model)
    return (type(model).__name__ if spec is None else spec.name.replace("-", " ")).capitalize()


def _run(model: "Model") -> tuple[tuple[str, str], ...]:
    """What the model and the run were."""
    facts = [("Model", " ".join(repr(model).split()))]
    facts += [
        (name.replace("_", " ").capitalize(), _number(name, value)) for name, value in model.run_settings().items()
    ]
    return tuple(facts)


def _number(name: str, value: int) -> str:
    """A setting as it is read; a seed as it is typed."""
    return str(value) if name == "random_seed" else f"{value:,}"


def _date(model: Any) -> str:
    """The day of the draws."""
    return str(model.posterior_.attrs["created_at"])[:10] if has_draws(model) else ""
