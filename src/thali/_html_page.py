"""Shared parts of HTML pages that thali writes: embedded data and content policy."""

import base64
import hashlib
import json
from typing import Any


def encode_json(data: Any) -> str:
    """Return data as JSON that is safe inside a script element.

    Examples
    --------
    >>> print(encode_json({"label": "</script>"}))
    {"label":"\\u003c/script\\u003e"}
    """
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def build_policy(
    scripts: "list[str]", sends_to: str = "", loads: "tuple[list[str], list[str]]" = ([], [])
) -> str:
    """Return the content security policy of a page with only these scripts.

    Pictures and styles may be embedded; nothing else is loaded. `sends_to`: the origin to which
    scripts may send, such as "https://example.org"; `loads`: addresses of scripts and of styles
    that are also allowed.
    """
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    script_sources = " ".join([*(f"'sha256-{digest}'" for digest in digests), *loads[0]])
    style_sources = " ".join(["'unsafe-inline'", *loads[1]])
    directives = ""
    if script_sources:
        directives += f" script-src {script_sources};"
    if sends_to:
        directives += f" connect-src {sends_to};"
    if loads[1]:
        directives += " font-src data:;"
    return (
        f"default-src 'none'; img-src data:; style-src {style_sources};{directives} base-uri"
        " 'none'; form-action 'none'"
    )


def mark_as_html(text: str) -> Any:
    """Return a text marked as HTML, which templates do not escape."""
    from markupsafe import Markup

    return Markup(text)
