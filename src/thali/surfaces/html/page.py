"""A report as one HTML file that needs nothing from anywhere."""

import base64
import contextlib
import hashlib
import itertools
import re
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from thali._described import printable
from thali.model.finding import Picture
from thali.surfaces.readable import readable

from ..figures import Figures
from .document import Chapter, Document, Section, Table
from .drawing import Drawn, attempted, drawn
from .numbers import cells

if TYPE_CHECKING:
    import jinja2

_LONG = 15  # rows, above which a table is folded
MAX_ROWS = 1_000  # of a table that are shown


class _Rows(NamedTuple):
    """A table as the page shows it; each cell with its class of style."""

    title: str
    size: str
    head: list[tuple[str, str]]
    rows: list[list[tuple[str, str]]]
    has_index: bool
    is_long: bool


def rendered(document: Document, figures: Figures | None = None) -> str:
    """The page; the same document gives the same text. `figures`: those that are drawn already."""
    with contextlib.nullcontext(figures) if figures is not None else Figures() as drawing:
        return _rendered(document, drawing)


def _rendered(document: Document, figures: Figures) -> str:
    pictures = itertools.count(1)
    sections = [section for chapter in document.chapters for section in chapter.sections]
    scripts = [_script()] if any(section.simulator for section in sections) else []
    lead = None if document.lead is None else _section(document.lead, "answer", pictures, figures)
    chapters = [_chapter(chapter, pictures, figures) for chapter in document.chapters]
    anchor_of = {section["title"]: section["anchor"] for chapter in chapters for section in chapter["sections"]}
    lights = [light._asdict() | {"anchor": anchor_of.get(light.where, "")} for light in document.lights]
    return printable(
        _template().render(
            title=" ".join(document.title.split()),
            question=document.question,
            facts=document.facts,
            lead=lead,
            lights=lights,
            chapters=chapters,
            made=document.made,
            style=_markup(_file("style.css")),
            script=_markup("".join(scripts)),
            policy=policy(scripts),
        )
    )


def _chapter(chapter: Chapter, pictures: Any, figures: Figures) -> dict[str, Any]:
    """What the template needs of a chapter."""
    anchor = _anchor(chapter.title)
    sections = [
        _section(section, f"{anchor}-{number}", pictures, figures) for number, section in enumerate(chapter.sections)
    ]
    return {"title": chapter.title, "anchor": anchor, "sections": sections}


def _anchor(title: str) -> str:
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def policy(scripts: "list[str]") -> str:
    """What the page allows: pictures and styles of its own, and these scripts to the letter; nothing from elsewhere."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = "".join(f" script-src 'sha256-{digest}';" for digest in digests)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline';{allowed} base-uri 'none'; form-action 'none'"


def _script() -> str:
    """The script of the simulator."""
    return _file("market.js") + _file("simulator.js")


def _section(section: Section, anchor: str, numbers: Any, figures: Figures) -> dict[str, Any]:
    """What the template needs of a section."""
    shown = section._asdict()
    shown["anchor"] = anchor
    pictures = [
        attempted(_named(picture), partial(drawn, figures, picture, next(numbers))) for picture in section.pictures
    ]
    shown["pictures"] = [_with_markup(picture) for picture in pictures if picture is not None]
    shown["tables"] = [_rows(table) for table in section.tables]
    if section.simulator is not None:
        shown["simulator"] = section.simulator._replace(data=_markup(section.simulator.data))
    return shown


def _named(picture: Picture) -> str:
    """A picture in a warning."""
    return f"the picture of the report with the caption '{picture.caption}'"


def _with_markup(picture: Drawn) -> Drawn:
    return picture._replace(content=_markup(picture.content))


def _rows(table: Table) -> _Rows:
    """The cells of a table as text."""
    frame = table.frame
    shown = readable(frame, cells, MAX_ROWS)
    kinds = ["text" if is_text else "" for is_text in shown.is_text]
    size = f"{len(frame):,} rows" if len(frame) <= MAX_ROWS else f"the first {MAX_ROWS:,} of {len(frame):,} rows"
    head = list(zip(shown.head, kinds, strict=True))
    rows = [list(zip(row, kinds, strict=True)) for row in shown.rows]
    return _Rows(table.title, size, head, rows, shown.sides > 0, len(frame) > _LONG)


def _markup(text: str) -> Any:
    """Text that is HTML already."""
    from markupsafe import Markup

    return Markup(text)


def _file(name: str) -> str:
    return (files("thali.surfaces.html") / "page" / name).read_text("utf-8")


def _template() -> "jinja2.Template":
    import jinja2

    loader = jinja2.DictLoader({name: _file(name) for name in ("report.html", "simulator.html")})
    environment = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.get_template("report.html")
