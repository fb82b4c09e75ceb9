"""Findings as a page: one HTML file that needs nothing from anywhere, made by the templates in
page/."""

import base64
import contextlib
import html
import io
import itertools
import re
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from thali._described import Facts
from thali._digits import PAGE_MARKS
from thali._inference.warn import warn_of_loss
from thali._labels import printable
from thali._model.aliases import normalise_name
from thali._model.common_findings import has_draws
from thali._model.finding import (
    ANSWERS,
    CHAPTERS,
    DATA,
    METHODS,
    MISSES,
    PAGE,
    STATISTICS,
    Finding,
    Findings,
    Picture,
)
from thali._model.references import list_references
from thali._model.registry import find_spec
from thali._model.versions import describe_versions, format_report_footer
from thali._page import markup, policy
from thali.errors import Words

from .figures import Figures
from .readable import readable

if TYPE_CHECKING:
    import jinja2
    import pandas

    from thali._model.base import Model


# What a report consists of: a cover, an answer, chapters of sections, before any of it is HTML ----


class PageTable(NamedTuple):
    """A table of the answer."""

    title: str
    frame: "pandas.DataFrame"  # its index is shown if it has a name
    is_pictured: bool = False  # and then folded


class Section(NamedTuple):
    """A part of a report under a heading of its own; what is empty is not shown."""

    title: str
    sentences: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[PageTable, ...] = ()
    simulator: Any = None  # the market of a finding's `widget`
    facts: Facts = ()  # names and values
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
    """What the author of a report calls it, "" being what thali calls it; and its data and day, ""
    being unknown."""

    title: str = ""
    author: str = ""
    question: str = ""
    data: str = ""
    date: str = ""


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
    ANSWERS: "Results",
    MISSES: "Model checks",
    DATA: "Data",
    METHODS: "Methods",
    STATISTICS: "Statistical details",
}
_ORDER = {True: 0, None: 1, False: 2}  # of findings that lead, may lead, leave that to others
SETTINGS, REFERENCES = "Settings and versions", "References"


def document_of(
    model: "Model", findings: Findings, command: str, words: Words, cover: Cover
) -> Document:
    """The report of a model; `command` is what was typed, "" if that is not known."""
    cover = cover._replace(date=_date(model) or cover.date)
    facts = (fit_in_words(model),)
    run = Section(
        SETTINGS, facts=(*_run(model), *describe_versions()), code=command or model._format_python()
    )
    return _document(
        list(findings.select_surface(PAGE)),
        words,
        facts,
        run,
        format_report_footer(_date(model)),
        cover,
    )


def document_of_answer(
    findings: Findings,
    command: str,
    words: Words,
    cover: Cover,
    about: str = "",
    settings: Facts = (),
) -> Document:
    """The report of anything else that has findings; `about`: what it is of, `settings`: those it
    was made with."""
    run = Section(SETTINGS, facts=(*settings, *describe_versions()), code=command)
    return _document(
        list(findings.select_surface(PAGE)),
        words,
        (about,) if about else (),
        run,
        format_report_footer(),
        cover,
    )


def _document(
    shown: list[Finding],
    words: Words,
    facts: tuple[str, ...],
    run: Section,
    made: str,
    cover: Cover,
) -> Document:
    asked = " ".join(
        sentence
        for found in shown
        if found.key == "asked"
        for sentence in found.format_sentences(words)
    )
    # which the question that leads says in short
    is_title = not cover.title and asked.endswith("?")
    run = run._replace(title="", facts=(*run.facts, *[("Question", asked)] * is_title))
    shown = [found for found in shown if found.key != "asked"]
    lead = _lead(shown)
    lights = tuple(
        Light(found.good, found.headline, found.question)
        for found in shown
        if found.good is not None
    )
    cited = list_references(text for found in shown for text in (found.sentence, *found.notes))
    chapters = [
        Chapter(_TITLES[name], sections)
        for name in CHAPTERS
        if (sections := _sections([found for found in shown if found.chapter == name], lead, words))
    ]
    chapters.append(Chapter(SETTINGS, (run,)))
    chapters += [Chapter(REFERENCES, (Section("", entries=cited),))] if cited else []
    return Document(
        title=cover.title or lead.question,
        question=cover.question or asked * (not is_title),
        facts=(cover.data, cover.date, *facts, cover.author),
        lead=Section(lead.question, tuple(lead.format_sentences(words)[:1]), _pictures(lead)),
        lights=lights,
        chapters=tuple(chapters),
        made=made,
    )


def _lead(shown: list[Finding]) -> Finding:
    """The finding that answers what was asked: one that says so, else the first with a sentence and
    a picture."""
    answers = [found for found in shown if found.chapter == ANSWERS and found.good is None] or shown
    return min(
        answers, key=lambda found: (_ORDER[found.leads], not (found.sentence and found.picture))
    )


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
    sentences = found.format_sentences(words)
    if found.key == "methods":
        sentences = [" ".join(sentences)]
    table = found.main_table
    tables = (
        ()
        if table is None or not len(table)
        else (PageTable(found.title, table, found.picture is not None),)
    )
    return Section(found.question, tuple(sentences), _pictures(found), tables, found.widget)


def fit_in_words(model: "Model") -> str:
    """The model and its data."""
    return f"{_name(model)} of {model._fitted_to_}"


def _name(model: Any) -> str:
    """The model as a heading."""
    spec = find_spec(model)
    if spec is None:
        return type(model).__name__
    names = [alias for alias in spec.aliases if normalise_name(alias) == normalise_name(spec.name)]
    return names[0] if names else spec.name.replace("-", " ").capitalize()


def _run(model: "Model") -> tuple[tuple[str, str], ...]:
    """What the model and the run were."""
    facts = [("Model", " ".join(model._format_call().split()))]
    facts += [
        (name.replace("_", " ").capitalize(), _number(name, value))
        for name, value in model._get_run_settings().items()
    ]
    return tuple(facts)


def _number(name: str, value: int) -> str:
    """A setting as it is read; a seed as it is typed."""
    return str(value) if name == "random_seed" else f"{value:,}"


def _date(model: Any) -> str:
    """The day of the draws."""
    return str(model.posterior_.attrs["created_at"])[:10] if has_draws(model) else ""


# A report as one HTML file that needs nothing from anywhere ---------------------------------------


# Pictures as part of a page: SVG of the same bytes for the same answer, or PNG where that is
# smaller


MAX_SVG = 150_000  # bytes; larger ones become PNG
_DOTS, _COLOURS = 110, 64  # per inch, of a PNG
_FONTS = "'DejaVu Sans', Verdana, 'Noto Sans', sans-serif"


Made = TypeVar("Made")


def attempted(what: str, make: Callable[[], Made]) -> Made | None:
    """What `make` returns; None and a warning that names `what` if it fails, so that nothing else
    is lost with it."""
    try:
        return make()
    except Exception as error:  # whatever it is: the rest of the answer is worth more
        warn_of_loss(f"{what} could not be made", error)
        return None


class PagePicture(NamedTuple):
    """A picture as the page shows it."""

    content: str  # HTML
    caption: str
    number: int  # on the page, from 1


def drawn(figures: Figures, picture: Picture, number: int) -> PagePicture:
    """The picture with that number on the page."""
    svg = figures.saved(picture, "svg").decode()
    if len(svg) <= MAX_SVG:
        content = _inline(svg, picture.caption, f"p{number}-")
    else:
        png = base64.b64encode(_few_colours(figures.saved(picture, "png", _DOTS))).decode()
        content = f'<img src="data:image/png;base64,{png}" alt="{html.escape(picture.caption)}">'
    return PagePicture(content, picture.caption, number)


def _few_colours(png: bytes) -> bytes:
    """The same picture with a palette, a third of the size or less."""
    from PIL import Image

    content = io.BytesIO()
    picture = (
        Image.open(io.BytesIO(png))
        .convert("RGB")
        .quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    picture.save(content, format="png", optimize=True)
    return content.getvalue()


def _inline(svg: str, caption: str, prefix: str) -> str:
    """The SVG as a part of a page whose other pictures have the same names inside."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(
        r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL
    )
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = svg.replace("url(#", f"url(#{prefix}").replace('href="#', f'href="#{prefix}')
    svg = svg.replace("font-family: 'DejaVu Sans'", f"font-family: {_FONTS}")
    svg = svg.replace("'DejaVu Sans'; ", f"{_FONTS}; ").replace("'DejaVu Sans'\"", f'{_FONTS}"')
    head, rest = svg.split(">", 1)
    width = float(re.search(r'width="([\d.]+)pt"', head)[1]) * 96 / 72  # type: ignore[index]
    height = float(re.search(r'height="([\d.]+)pt"', head)[1]) * 96 / 72  # type: ignore[index]
    view = re.search(r'viewBox="[^"]*"', head)[0]  # type: ignore[index]
    head = (
        f'<svg {view} width="{width:.0f}" height="{height:.0f}" role="img"'
        f' aria-labelledby="{prefix}title" xmlns="http://www.w3.org/2000/svg"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    return f'{head}><title id="{prefix}title">{html.escape(caption)}</title>{rest}'


_LONG = 15  # rows, above which a table is folded
MAX_ROWS = 1_000  # of a table that are shown


class _PageRows(NamedTuple):
    """A table as the page shows it; each cell with its class of style."""

    title: str
    size: str
    head: list[tuple[str, str]]
    rows: list[list[tuple[str, str]]]
    has_index: bool
    is_folded: bool


def rendered(document: Document, figures: Figures | None = None) -> str:
    """The page; the same document gives the same text. `figures`: those that are drawn already."""
    with contextlib.nullcontext(figures) if figures is not None else Figures() as drawing:
        return _rendered(document, drawing)


def _rendered(document: Document, figures: Figures) -> str:
    pictures = itertools.count(1)
    sections = [section for chapter in document.chapters for section in chapter.sections]
    scripts = (
        [_file("market.js") + _file("simulator.js")]
        if any(section.simulator for section in sections)
        else []
    )
    lead = None if document.lead is None else _section(document.lead, "answer", pictures, figures)
    chapters = [_chapter(chapter, pictures, figures) for chapter in document.chapters]
    anchor_of = {
        section["title"]: section["anchor"]
        for chapter in chapters
        for section in chapter["sections"]
    }
    lights = [
        light._asdict() | {"anchor": anchor_of.get(light.where, "")} for light in document.lights
    ]
    return printable(
        _template().render(
            title=" ".join(document.title.split()),
            question=document.question,
            facts=document.facts,
            lead=lead,
            lights=lights,
            chapters=chapters,
            made=document.made,
            style=markup(_file("style.css")),
            script=markup("".join(scripts)),
            policy=policy(scripts),
        )
    )


def _chapter(chapter: Chapter, pictures: Any, figures: Figures) -> dict[str, Any]:
    """What the template needs of a chapter."""
    anchor = _anchor(chapter.title)
    sections = [
        _section(section, f"{anchor}-{number}", pictures, figures)
        for number, section in enumerate(chapter.sections)
    ]
    return {"title": chapter.title, "anchor": anchor, "sections": sections}


def _anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def _section(section: Section, anchor: str, numbers: Any, figures: Figures) -> dict[str, Any]:
    """What the template needs of a section."""
    shown = section._asdict()
    shown["anchor"] = anchor
    pictures = [
        attempted(_named(picture), partial(drawn, figures, picture, next(numbers)))
        for picture in section.pictures
    ]
    shown["pictures"] = [
        picture._replace(content=markup(picture.content))
        for picture in pictures
        if picture is not None
    ]
    shown["tables"] = [_rows(table) for table in section.tables]
    if section.simulator is not None:
        shown["simulator"] = section.simulator._replace(data=markup(section.simulator.data))
    return shown


def _named(picture: Picture) -> str:
    """A picture in a warning."""
    return f"the picture of the report with the caption '{picture.caption}'"


def _rows(table: PageTable) -> _PageRows:
    """The cells of a table as text."""
    frame = table.frame
    shown = readable(frame, PAGE_MARKS, MAX_ROWS)
    kinds = ["text" if is_text else "" for is_text in shown.is_text]
    size = (
        f"{len(frame):,} rows"
        if len(frame) <= MAX_ROWS
        else f"first {MAX_ROWS:,} of {len(frame):,} rows"
    )
    head = list(zip(shown.head, kinds, strict=True))
    rows = [list(zip(row, kinds, strict=True)) for row in shown.rows]
    return _PageRows(
        table.title, size, head, rows, shown.sides > 0, table.is_pictured or len(frame) > _LONG
    )


def _file(name: str) -> str:
    return (files("thali._surfaces") / "page" / name).read_text("utf-8")


def _template() -> "jinja2.Template":
    import jinja2

    loader = jinja2.DictLoader({name: _file(name) for name in ("report.html", "simulator.html")})
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("report.html")
