"""Descriptions of objects (title, facts, table), rendered as HTML or text."""

import html
from typing import TYPE_CHECKING, NamedTuple

from ._labels import escape_unprintable
from ._number_format import format_for_python

if TYPE_CHECKING:
    import pandas

_MAX_NAMES = 10  # names that are written
_LONGEST_NAME, _LONGEST_TITLE = 40, 200  # characters
_MAX_LINES = 60  # of a table or of text

# Only colours of the notebook are used, so that it may be light or dark. The text is readable
# without this style.
_STYLE = (
    ".thali{color:inherit;font-size:13px;line-height:1.5;max-width:60em;margin:.3em 0;"
    "padding:.4em .8em;border:1px solid var(--jp-border-color2,rgba(128,128,128,.45));"
    "border-radius:4px;overflow-wrap:anywhere}"
    ".thali>p,.thali>dl,.thali>div,.thali>pre{margin:.3em 0}"
    ".thali>dl{display:grid;grid-template-columns:minmax(5em,max-content) minmax(0,1fr);"
    "gap:0 1.2em;padding:0}"
    ".thali>dl>dt{float:none;width:auto;margin:0;padding:0;font-weight:normal;opacity:.7}"
    ".thali>dl>dd{float:none;width:auto;margin:0;padding:0}"
    ".thali>div{overflow-x:auto;overflow-wrap:normal}"
    ".thali>pre{font-family:var(--jp-code-font-family,monospace);line-height:1.25;"
    "white-space:pre;overflow:auto;max-height:30em;padding:0;background:none;color:inherit}"
    ".thali>.thali-good,.thali>.thali-bad{padding-left:.6em;border-left:4px solid}"
    ".thali>.thali-good{border-color:var(--jp-success-color1,#388e3c)}"
    ".thali>.thali-bad{border-color:var(--jp-warn-color1,#ef6c00)}"
)


# (name, value) pairs; a value is a text, or names of which the first are written.
Facts = tuple[tuple[str, str | tuple[str, ...]], ...]


class Description(NamedTuple):
    """Title, facts, table and note that describe an object."""

    title: str
    facts: Facts = ()
    table: "pandas.DataFrame | None" = None
    text: str = ""  # preformatted
    note: str = ""
    good: bool | None = None  # whether the note reports no problem; None: neutral


class DescribedObject:
    """Base of objects shown in notebooks by `_description`."""

    def _description(self) -> Description:
        """Return title, facts and table to show; subclasses define it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Return self-contained HTML without scripts, for notebooks."""
        return format_html(self._description())


class PrintedObject(DescribedObject):
    """Base of objects whose `repr` is their description as text."""

    def __repr__(self) -> str:
        return format_text(self._description())


def format_html(description: Description) -> str:
    """Return a description as HTML for any part of a page.

    Examples
    --------
    >>> format_html(Description("<b>", (("options", ("tea", "milk")),))).partition("</style>")[2]
    '<p><strong>&lt;b&gt;</strong></p><dl><dt>options</dt><dd><bdi>tea</bdi>,
    <bdi>milk</bdi></dd></dl></div>'
    """
    html_parts = [
        f"<p><strong>{_escape_html(_shorten_line(description.title, _LONGEST_TITLE))}</strong></p>"
    ]
    if description.facts:
        fact_rows = "".join(
            f"<dt>{_escape_html(name)}</dt><dd>{_format_fact_html(fact_value)}</dd>"
            for name, fact_value in description.facts
        )
        html_parts.append(f"<dl>{fact_rows}</dl>")
    if description.table is not None:
        has_index = not is_numbered(description.table)
        nonempty_table = drop_empty_columns(description.table)
        table_html = nonempty_table.to_html(
            border=0, float_format=format_for_python, max_rows=_MAX_LINES, index=has_index
        )
        html_parts.append(f"<div>{escape_unprintable(table_html)}</div>")
    if description.text:
        lines = description.text.split("\n")
        if len(lines) > _MAX_LINES:
            lines[_MAX_LINES:] = [f"... and {len(lines) - _MAX_LINES:,} more lines"]
        text = "\n".join(lines)
        html_parts.append(f"<pre>{_escape_html(text)}</pre>")
    if description.note:
        css_class = {True: ' class="thali-good"', False: ' class="thali-bad"', None: ""}[
            description.good
        ]
        html_parts.append(f"<p{css_class}>{_escape_html(description.note)}</p>")
    return f'<div class="thali"><style>{_STYLE}</style>{"".join(html_parts)}</div>'


def format_text(description: Description) -> str:
    """Return a description as plain text.

    Examples
    --------
    >>> print(format_text(Description("Data", (("options", ("tea", "milk")), ("pairs", "1")))))
    Data
      options  tea, milk
      pairs    1
    """
    name_width = max((len(name) for name, _ in description.facts), default=0)
    separator = "\n"
    parts = [
        _shorten_line(description.title, _LONGEST_TITLE),
        *(
            f"  {name:<{name_width}}  {_format_fact_text(fact_value)}"
            for name, fact_value in description.facts
        ),
    ]
    if description.table is not None:
        has_index = not is_numbered(description.table)
        table = drop_empty_columns(description.table).to_string(
            float_format=format_for_python, max_rows=_MAX_LINES, index=has_index
        )
        parts = ["\n".join(parts), "\n".join(line.rstrip() for line in table.splitlines())]
        separator = "\n\n"
    parts = [part for part in (*parts, description.text, description.note) if part]
    return escape_unprintable(separator.join(parts))


def _format_fact_html(fact_value: str | tuple[str, ...]) -> str:
    """Return a fact as HTML, each name with its own writing direction."""
    if isinstance(fact_value, str):
        return _escape_html(fact_value)
    return _join_first_names(
        fact_value,
        [
            f"<bdi>{_escape_html(_shorten_line(name, _LONGEST_NAME))}</bdi>"
            for name in fact_value[:_MAX_NAMES]
        ],
    )


def _format_fact_text(fact_value: str | tuple[str, ...]) -> str:
    """Return a fact as plain text."""
    if isinstance(fact_value, str):
        return fact_value
    return _join_first_names(
        fact_value, [_shorten_line(name, _LONGEST_NAME) for name in fact_value[:_MAX_NAMES]]
    )


def _join_first_names(names: tuple[str, ...], first_names: list[str]) -> str:
    """Return the first names joined by commas, with the number of others."""
    text = ", ".join(first_names)
    if n_more := len(names) - len(first_names):
        text += f", ... and {n_more:,} more"
    return text


def _shorten_line(text: str, max_length: int) -> str:
    """Return a text as one line of at most `max_length` characters."""
    line = " ".join(text.split())
    if len(line) <= max_length:
        return line
    return f"{line[: max_length - 3].rstrip()}..."


def _escape_html(text: str) -> str:
    """Return a text escaped for HTML."""
    return html.escape(escape_unprintable(text))


def drop_empty_columns(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return a table without all-NaN columns (square tables keep them)."""
    row_names = set(table.index)
    is_kept = [name in row_names or not is_empty for name, is_empty in table.isna().all().items()]
    if len(table):
        return table.loc[:, is_kept]
    return table


def is_numbered(table: "pandas.DataFrame") -> bool:
    """Return whether a table's index only counts its rows."""
    if table.index.nlevels > 1 or table.index.name is not None:
        return False
    return table.index.equals(table.index.__class__(range(len(table))))
