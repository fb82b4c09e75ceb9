"""What an object shows of itself: facts, and the one template each that makes HTML or plain text of
them."""

import html
from typing import TYPE_CHECKING, NamedTuple

from ._digits import format_for_python
from ._labels import escape_unprintable

if TYPE_CHECKING:
    import pandas

_MAX_NAMES = 10  # that are written out
_LONGEST_NAME, _LONGEST_TITLE = 40, 200  # characters
_MAX_LINES = 60  # of a table or of text

# No colours but those of the notebook, so that it may be light or dark; without its style the text
# still reads well.
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


# Names and values; a value is a text, or names of which the first ones are written out.
Facts = tuple[tuple[str, str | tuple[str, ...]], ...]


class Description(NamedTuple):
    """What an object shows."""

    title: str
    facts: Facts = ()
    table: "pandas.DataFrame | None" = None
    text: str = ""  # whose lines and blanks matter
    note: str = ""
    good: bool | None = None  # whether the note is good news; None: neither


class Described:
    """Base of what notebooks show; a subclass has `_description`."""

    def _description(self) -> Description:
        """What is shown."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """What a notebook shows: HTML and CSS, without scripts and without anything from
        elsewhere."""
        return as_html(self._description())


def as_html(shown: Description) -> str:
    """The description as HTML that may stand anywhere in a page.

    Examples
    --------
    >>> as_html(Description("<b>", (("options", ("tea", "milk")),))).partition("</style>")[2]
    '<p><strong>&lt;b&gt;</strong></p><dl><dt>options</dt><dd><bdi>tea</bdi>,
    <bdi>milk</bdi></dd></dl></div>'
    """
    parts = [f"<p><strong>{_escaped(_shortened(shown.title, _LONGEST_TITLE))}</strong></p>"]
    if shown.facts:
        facts = "".join(
            f"<dt>{_escaped(name)}</dt><dd>{_value_as_html(value)}</dd>"
            for name, value in shown.facts
        )
        parts.append(f"<dl>{facts}</dl>")
    if shown.table is not None:
        index = not is_numbered(shown.table)
        full = without_empty(shown.table)
        table = full.to_html(
            border=0, float_format=format_for_python, max_rows=_MAX_LINES, index=index
        )
        parts.append(f"<div>{escape_unprintable(table)}</div>")
    if shown.text:
        lines = shown.text.split("\n")
        more = (
            [f"... and {len(lines) - _MAX_LINES:,} more lines"] if len(lines) > _MAX_LINES else []
        )
        parts.append(f"<pre>{_escaped(chr(10).join([*lines[:_MAX_LINES], *more]))}</pre>")
    if shown.note:
        kind = {True: ' class="thali-good"', False: ' class="thali-bad"', None: ""}[shown.good]
        parts.append(f"<p{kind}>{_escaped(shown.note)}</p>")
    return f'<div class="thali"><style>{_STYLE}</style>{"".join(parts)}</div>'


def as_text(shown: Description) -> str:
    """The description as plain text.

    Examples
    --------
    >>> print(as_text(Description("Data", (("options", ("tea", "milk")), ("pairs", "1")))))
    Data
      options  tea, milk
      pairs    1
    """
    wide = max((len(name) for name, _ in shown.facts), default=0)
    parts = [
        _shortened(shown.title, _LONGEST_TITLE),
        *(f"  {name:<{wide}}  {_value_as_text(value)}" for name, value in shown.facts),
    ]
    if shown.table is not None:
        index = not is_numbered(shown.table)
        table = without_empty(shown.table).to_string(
            float_format=format_for_python, max_rows=_MAX_LINES, index=index
        )
        parts = ["\n".join(parts), "\n".join(line.rstrip() for line in table.splitlines())]
    parts = [part for part in (*parts, shown.text, shown.note) if part]
    return escape_unprintable(("\n" if shown.table is None else "\n\n").join(parts))


def _value_as_html(value: str | tuple[str, ...]) -> str:
    """A text, or names, each with its own direction of writing."""
    if isinstance(value, str):
        return _escaped(value)
    return _listed(
        value,
        [f"<bdi>{_escaped(_shortened(name, _LONGEST_NAME))}</bdi>" for name in value[:_MAX_NAMES]],
    )


def _value_as_text(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return value
    return _listed(value, [_shortened(name, _LONGEST_NAME) for name in value[:_MAX_NAMES]])


def _listed(names: tuple[str, ...], first: list[str]) -> str:
    """The first of the names, as they are written, and how many more there are."""
    more = len(names) - len(first)
    return ", ".join([*first, *([f"... and {more:,} more"] if more else [])])


def _shortened(text: str, most: int) -> str:
    """The text in one line of so many characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."


def _escaped(text: str) -> str:
    return html.escape(escape_unprintable(text))


def without_empty(table: "pandas.DataFrame") -> "pandas.DataFrame":
    """Return the table without the columns that are NaN in every row, but for those of a square of
    its rows."""
    rows = set(table.index)
    kept = [name in rows or not is_empty for name, is_empty in table.isna().all().items()]
    return table.loc[:, kept] if len(table) else table


def is_numbered(table: "pandas.DataFrame") -> bool:
    """Whether the rows have no names."""
    if table.index.nlevels > 1 or table.index.name is not None:
        return False
    return table.index.equals(table.index.__class__(range(len(table))))
