"""The report of findings: of a fitted model, a comparison, a test, a leaderboard or a design."""

from typing import TYPE_CHECKING, Any, NamedTuple

from thali.errors import Words
from thali.model.common_findings import has_draws
from thali.model.finding import ANSWERS, CHAPTERS, DATA, METHODS, MISSES, PAGE, STATISTICS, Finding, Findings, Picture
from thali.model.references import cited_in
from thali.model.registry import spec_of
from thali.model.versions import made_by, versions

if TYPE_CHECKING:
    import pandas

    from thali.model.base import Model


# What a report consists of: a cover, an answer, chapters of sections, before any of it is HTML ------------------------


class Table(NamedTuple):
    """A table of the answer."""

    title: str
    frame: "pandas.DataFrame"  # its index is shown if it has a name


class Section(NamedTuple):
    """A part of a report under a heading of its own; what is empty is not shown."""

    title: str
    sentences: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    simulator: Any = None  # the market of a finding's `widget`
    facts: tuple[tuple[str, str], ...] = ()  # names and values
    code: str = ""
    entries: tuple[str, ...] = ()  # a list, such as of references


class Chapter(NamedTuple):
    """Sections under one heading."""

    title: str
    sections: tuple[Section, ...]


class Light(NamedTuple):
    """Good news or bad about the answer, in a line."""

    is_good: bool
    headline: str
    where: str  # the title of the section that says more


class Cover(NamedTuple):
    """What the author of a report calls it; "" is what thali calls it."""

    title: str = ""
    author: str = ""
    question: str = ""


class Document(NamedTuple):
    """A report."""

    title: str
    question: str  # that was asked
    facts: tuple[str, ...]  # in a line below the title: the model, the data, the author
    lead: Section | None  # the answer to it
    lights: tuple[Light, ...]
    chapters: tuple[Chapter, ...]
    made: str  # when and by what


_TITLES = {
    ANSWERS: "Answers",
    MISSES: "What the model misses",
    DATA: "The data",
    METHODS: "Methods",
    STATISTICS: "For the statistician",
}
_ORDER = {True: 0, None: 1, False: 2}  # of findings that lead, may lead, leave that to others
SETTINGS, REFERENCES = "Settings and versions", "References"


def document_of(model: "Model", findings: Findings, command: str, words: Words, cover: Cover) -> Document:
    """The report of a model; `command` is what was typed, "" if that is not known."""
    facts = (f"{_name(model)} of {model.fitted_to_}",)
    run = Section(SETTINGS, facts=(*_run(model), *versions()), code=command or model._as_python())
    return _document(list(findings.of(PAGE)), words, facts, run, made_by(_date(model)), cover)


def document_of_answer(findings: Findings, command: str, words: Words, cover: Cover) -> Document:
    """The report of anything else that has findings."""
    run = Section(SETTINGS, facts=versions(), code=command)
    return _document(list(findings.of(PAGE)), words, (), run, made_by(), cover)


def _document(
    shown: list[Finding], words: Words, facts: tuple[str, ...], run: Section, made: str, cover: Cover
) -> Document:
    asked = [sentence for found in shown if found.key == "asked" for sentence in found.sentences(words)]
    shown = [found for found in shown if found.key != "asked"]
    lead = _lead(shown)
    lights = tuple(Light(found.verdict, found.headline, found.question) for found in shown if found.verdict is not None)
    cited = cited_in(text for found in shown for text in (found.sentence, *found.notes))
    chapters = [
        Chapter(_TITLES[name], sections)
        for name in CHAPTERS
        if (sections := _sections([found for found in shown if found.chapter == name], lead, words))
    ]
    chapters.append(Chapter(SETTINGS, (run._replace(title=""),)))
    chapters += [Chapter(REFERENCES, (Section("", entries=cited),))] if cited else []
    return Document(
        title=cover.title or lead.question,
        question=cover.question or " ".join(asked),
        facts=(*facts, *([cover.author] if cover.author else [])),
        lead=Section(lead.question, tuple(lead.sentences(words)[:1]), _pictures(lead)),
        lights=lights,
        chapters=tuple(chapters),
        made=made,
    )


def _lead(shown: list[Finding]) -> Finding:
    """The finding that answers what was asked: one that says so, else the first with a sentence and a picture."""
    answers = [found for found in shown if found.chapter == ANSWERS and found.verdict is None] or shown
    return min(answers, key=lambda found: (_ORDER[found.leads], not (found.sentence and found.picture)))


def _pictures(found: Finding) -> tuple[Picture, ...]:
    return () if found.picture is None else (found.picture,)


def _sections(shown: list[Finding], lead: Finding, words: Words) -> tuple[Section, ...]:
    """A section for each finding; of the one that leads what does not stand there yet."""
    sections = [section_of(found, words) for found in shown]
    rest = [
        section._replace(sentences=section.sentences[1:], pictures=()) if found is lead else section
        for found, section in zip(shown, sections, strict=True)
    ]
    return tuple(section for section in rest if any(section[1:]))


def section_of(found: Finding, words: Words) -> Section:
    """A finding as a part of a page."""
    sentences = found.sentences(words)
    if found.key == "methods":
        sentences = [" ".join(sentences)]
    table = found.to_read
    tables = () if table is None or not len(table) else (Table(found.title, table),)
    return Section(found.question, tuple(sentences), _pictures(found), tables, found.widget)


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
