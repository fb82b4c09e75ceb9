"""Self-contained HTML reports of findings, from the templates in page/."""

import base64
import html
import io
import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from thali._html_page import build_policy, mark_as_html
from thali._inference.user_warnings import warn_of_failed_part
from thali._labels import escape_unprintable
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
from thali._model.software_versions import describe_versions, format_report_footer
from thali._number_format import PAGE_MARKS
from thali._object_descriptions import Facts
from thali.errors import Words

from .figure_files import Figures
from .text_tables import format_table

if TYPE_CHECKING:
    import jinja2
    import pandas

    from thali._model.base import Model


# Parts of a report: a cover, a result, chapters of sections ---------------------------------------


class PageTable(NamedTuple):
    """A table of a report's section, with its notes."""

    title: str
    frame: "pandas.DataFrame"  # its index is shown if it has a name
    is_pictured: bool = False  # a picture shows it, so it is folded


class Section(NamedTuple):
    """A section of a report: heading, sentences, table, pictures."""

    title: str
    sentences: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[PageTable, ...] = ()
    simulator: Any = None  # the market of a finding's `widget`
    facts: Facts = ()  # name and text
    code: str = ""
    entries: tuple[str, ...] = ()  # a list, such as of references


class Chapter(NamedTuple):
    """A chapter of a report: heading and sections."""

    title: str
    sections: tuple[Section, ...]


class Light(NamedTuple):
    """A line in a report's head that shows whether one check passed."""

    is_good: bool
    headline: str
    where: str  # the title of the section with details


class Cover(NamedTuple):
    """Cover of a report: title, author, question, data, date.

    An empty title or question is replaced by a text of thali; empty data or date are unknown.
    """

    title: str = ""
    author: str = ""
    question: str = ""
    data: str = ""
    date: str = ""


class Document(NamedTuple):
    """Content of a report, ready to be rendered as HTML."""

    title: str
    question: str  # the research question
    facts: tuple[str, ...]  # in a line below the title: the model, the data, the author
    lead: Section | None  # the section that answers the question
    lights: tuple[Light, ...]
    chapters: tuple[Chapter, ...]
    footer: str  # date and version


_TITLES = {
    ANSWERS: "Results",
    MISSES: "Model checks",
    DATA: "Data",
    METHODS: "Methods",
    STATISTICS: "Statistical details",
}
_ORDER = {True: 0, None: 1, False: 2}  # findings that lead, may lead, do not lead
SETTINGS = "Settings and versions"
REFERENCES = "References"


def build_document(
    findings: Findings,
    words: Words,
    description: str,
    settings: Facts,
    command: str,
    date: str,
    cover: Cover,
) -> Document:
    """Build the content of a report from findings and cover.

    `description`: the result as text, or ""; `date`: the day of its draws, or "".
    """
    shown_findings = list(findings.select_surface(PAGE))
    asked_question = " ".join(
        sentence
        for finding in shown_findings
        if finding.key == "asked"
        for sentence in finding.format_sentences(words)
    )
    # the title then is the short form of the question
    shown_question = asked_question
    run_facts = (*settings, *describe_versions())
    if not cover.title and asked_question.endswith("?"):
        shown_question = ""
        run_facts = (*run_facts, ("Question", asked_question))
    shown_findings = [finding for finding in shown_findings if finding.key != "asked"]
    lead_finding = _choose_lead(shown_findings)
    lights = tuple(
        Light(finding.good, finding.headline, finding.question)
        for finding in shown_findings
        if finding.good is not None
    )
    references = list_references(
        text for finding in shown_findings for text in (finding.sentence, *finding.notes)
    )
    chapters = [
        Chapter(_TITLES[name], sections)
        for name in CHAPTERS
        if (
            sections := _build_sections(
                [finding for finding in shown_findings if finding.chapter == name],
                lead_finding,
                words,
            )
        )
    ]
    chapters.append(Chapter(SETTINGS, (Section("", facts=run_facts, code=command),)))
    if references:
        chapters.append(Chapter(REFERENCES, (Section("", entries=references),)))
    return Document(
        title=cover.title or lead_finding.question,
        question=cover.question or shown_question,
        facts=(cover.data, date or cover.date, description, cover.author),
        lead=Section(
            lead_finding.question,
            tuple(lead_finding.format_sentences(words)[:1]),
            _list_pictures(lead_finding),
        ),
        lights=lights,
        chapters=tuple(chapters),
        footer=format_report_footer(date),
    )


def _choose_lead(shown_findings: list[Finding]) -> Finding:
    """Return the finding that answers the main question, shown first."""
    # It is a finding that is marked as such, or else the first with a sentence and a picture.
    lead_candidates = [
        finding for finding in shown_findings if finding.chapter == ANSWERS and finding.good is None
    ] or shown_findings
    return min(
        lead_candidates,
        key=lambda finding: (_ORDER[finding.leads], not (finding.sentence and finding.picture)),
    )


def _list_pictures(finding: Finding) -> tuple[Picture, ...]:
    """Return the finding's picture as a tuple; () without one."""
    if finding.picture is None:
        return ()
    return (finding.picture,)


def _build_sections(
    shown_findings: list[Finding], lead_finding: Finding, words: Words
) -> tuple[Section, ...]:
    """Build a section for each finding; the lead finding's omits what the cover shows."""
    sections = []
    for finding in shown_findings:
        section = build_section(finding, words)
        if finding is lead_finding:
            section = section._replace(sentences=section.sentences[1:], pictures=())
        if any(section[1:]):
            sections.append(section)
    return tuple(sections)


def build_section(finding: Finding, words: Words) -> Section:
    """Build the section of one finding."""
    sentences = finding.format_sentences(words)
    if finding.key == "methods":
        sentences = [" ".join(sentences)]
    main_table = finding.main_table
    page_tables = ()
    if main_table is not None and len(main_table):
        page_tables = (PageTable(finding.title, main_table, finding.picture is not None),)
    return Section(
        finding.question, tuple(sentences), _list_pictures(finding), page_tables, finding.widget
    )


def describe_fit(model: "Model") -> str:
    """Return the model's call and its data as one text."""
    return f"{_format_model_name(model)} of {model._fitted_to_}"


def _format_model_name(model: "Model") -> str:
    """Return the name of a model's class as a heading."""
    spec = find_spec(model)
    if spec is None:
        return type(model).__name__
    for alias in spec.aliases:
        if normalise_name(alias) == normalise_name(spec.name):
            return alias
    return spec.name.replace("-", " ").capitalize()


def list_run_facts(model: "Model") -> tuple[tuple[str, str], ...]:
    """Return (name, text) facts: the model and the settings of its run."""
    return (
        ("Model", " ".join(model._format_call().split())),
        *(
            (name.replace("_", " ").capitalize(), _format_setting(name, setting))
            for name, setting in model._get_run_settings().items()
        ),
    )


def _format_setting(name: str, setting: int) -> str:
    """Return a run setting as text; thousands get commas, seeds do not."""
    if name == "random_seed":
        return str(setting)
    return f"{setting:,}"


def find_fit_date(model: Any) -> str:
    """Return the day on which the draws were made; "" if unknown."""
    if has_draws(model):
        return str(model.posterior_.attrs["created_at"])[:10]
    return ""


# A report as one HTML file ------------------------------------------------------------------------


MAX_SVG = 150_000  # bytes; larger pictures become PNG
_DOTS, _COLOURS = 110, 64  # resolution per inch and colours of a PNG
_FONTS = "'DejaVu Sans', Verdana, 'Noto Sans', sans-serif"


Drawing = TypeVar("Drawing")


def make_or_warn(part_name: str, make: Callable[[], Drawing]) -> Drawing | None:
    """Return `make()`; if it raises, warn and return None.

    `part_name`: the name of the result in the warning.
    """
    try:
        return make()
    except Exception as error:  # any error: the rest of the report is still useful
        warn_of_failed_part(f"{part_name} could not be drawn", error)
        return None


def draw_page_picture(figures: Figures, picture: Picture, picture_number: int) -> dict[str, Any]:
    """Draw a picture as SVG, or as PNG if that is smaller; return its template variables."""
    svg = figures.save(picture, "svg").decode()
    if len(svg) <= MAX_SVG:
        picture_html = _inline_svg(svg, picture.caption, f"p{picture_number}-")
    else:
        png = base64.b64encode(_reduce_colours(figures.save(picture, "png", _DOTS))).decode()
        picture_html = (
            f'<img src="data:image/png;base64,{png}" alt="{html.escape(picture.caption)}">'
        )
    return {
        "content": mark_as_html(picture_html),
        "caption": picture.caption,
        "number": picture_number,
    }


def _reduce_colours(png: bytes) -> bytes:
    """Return a PNG with a reduced colour palette, which is smaller."""
    from PIL import Image

    buffer = io.BytesIO()
    reduced_image = (
        Image.open(io.BytesIO(png))
        .convert("RGB")
        .quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    reduced_image.save(buffer, format="png", optimize=True)
    return buffer.getvalue()


def _inline_svg(svg: str, caption: str, id_prefix: str) -> str:
    """Return an SVG as HTML element whose ids start with `id_prefix`."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(
        r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL
    )
    svg = re.sub(r'\bid="', f'id="{id_prefix}', svg)
    svg = svg.replace("url(#", f"url(#{id_prefix}").replace('href="#', f'href="#{id_prefix}')
    svg = svg.replace("font-family: 'DejaVu Sans'", f"font-family: {_FONTS}")
    svg = svg.replace("'DejaVu Sans'; ", f"{_FONTS}; ").replace("'DejaVu Sans'\"", f'{_FONTS}"')
    svg_head, svg_body = svg.split(">", 1)
    width = float(re.search(r'width="([\d.]+)pt"', svg_head)[1]) * 96 / 72  # type: ignore[index]
    height = float(re.search(r'height="([\d.]+)pt"', svg_head)[1]) * 96 / 72  # type: ignore[index]
    view_box = re.search(r'viewBox="[^"]*"', svg_head)[0]  # type: ignore[index]
    svg_head = (
        f'<svg {view_box} width="{width:.0f}" height="{height:.0f}" role="img"'
        f' aria-labelledby="{id_prefix}title" xmlns="http://www.w3.org/2000/svg"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    return f'{svg_head}><title id="{id_prefix}title">{html.escape(caption)}</title>{svg_body}'


_LONG = 15  # rows; longer tables are folded
MAX_ROWS = 1_000  # maximum rows of a table


def render_document(document: Document, figures: Figures | None = None) -> str:
    """Render a report as one HTML text.

    `figures`: figures drawn so far.
    """
    if figures is not None:
        return _render_template(document, figures)
    with Figures() as figures:
        return _render_template(document, figures)


def _render_template(document: Document, figures: Figures) -> str:
    """Fill the report template with the document and its pictures."""
    picture_numbers = itertools.count(1)
    sections = [section for chapter in document.chapters for section in chapter.sections]
    scripts = []
    lead_context = None
    if any(section.simulator for section in sections):
        scripts = [_read_file("market.js") + _read_file("simulator.js")]
    if document.lead is not None:
        lead_context = _build_section_context(document.lead, "answer", picture_numbers, figures)
    chapter_contexts = [
        _build_chapter_context(chapter, picture_numbers, figures) for chapter in document.chapters
    ]
    anchor_by_title = {
        section["title"]: section["anchor"]
        for chapter in chapter_contexts
        for section in chapter["sections"]
    }
    light_contexts = [
        light._asdict() | {"anchor": anchor_by_title.get(light.where, "")}
        for light in document.lights
    ]
    return escape_unprintable(
        _load_template().render(
            title=" ".join(document.title.split()),
            question=document.question,
            facts=document.facts,
            lead=lead_context,
            lights=light_contexts,
            chapters=chapter_contexts,
            footer=document.footer,
            style=mark_as_html(_read_file("style.css")),
            script=mark_as_html("".join(scripts)),
            policy=build_policy(scripts),
        )
    )


def _build_chapter_context(
    chapter: Chapter, picture_numbers: Iterator[int], figures: Figures
) -> dict[str, Any]:
    """Return the template variables of a chapter."""
    anchor = re.sub(r"\W+", "-", chapter.title.lower()).strip("-")
    section_contexts = [
        _build_section_context(section, f"{anchor}-{index}", picture_numbers, figures)
        for index, section in enumerate(chapter.sections)
    ]
    return {"title": chapter.title, "anchor": anchor, "sections": section_contexts}


def _build_section_context(
    section: Section, anchor: str, picture_numbers: Iterator[int], figures: Figures
) -> dict[str, Any]:
    """Return the template variables of a section."""
    context = section._asdict() | {
        "anchor": anchor,
        "pictures": [],
        "tables": [_build_page_rows(table) for table in section.tables],
    }
    for picture in section.pictures:
        picture_html = make_or_warn(
            f"the report figure captioned '{picture.caption}'",
            partial(draw_page_picture, figures, picture, next(picture_numbers)),
        )
        if picture_html is not None:
            context["pictures"].append(picture_html)
    if section.simulator is not None:
        context["simulator"] = section.simulator._replace(data=mark_as_html(section.simulator.data))
    return context


def _build_page_rows(table: PageTable) -> dict[str, Any]:
    """Return the template variables of a table: its cells, and whether they are texts."""
    frame = table.frame
    text_table = format_table(frame, PAGE_MARKS, MAX_ROWS)
    size_text = f"{len(frame):,} rows"
    if len(frame) > MAX_ROWS:
        size_text = f"first {MAX_ROWS:,} of {len(frame):,} rows"
    return {
        "title": table.title,
        "size": size_text,
        "head": list(zip(text_table.head, text_table.is_text, strict=True)),
        "rows": [list(zip(row, text_table.is_text, strict=True)) for row in text_table.rows],
        "has_index": text_table.sides > 0,
        "is_folded": table.is_pictured or len(frame) > _LONG,
    }


def _read_file(file_name: str) -> str:
    """Return the text of a file in the folder page/."""
    return (files("thali._surfaces") / "page" / file_name).read_text("utf-8")


def _load_template() -> "jinja2.Template":
    """Load the report template of jinja2."""
    import jinja2

    loader = jinja2.DictLoader(
        {name: _read_file(name) for name in ("report.html", "simulator.html")}
    )
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("report.html")
