"""What every page that thali writes as one file has in common: data that end no element, and what a
page may load."""

import base64
import hashlib
import json
from typing import Any


def as_json(data: Any) -> str:
    """JSON for an element of a page, which it cannot end, whatever the labels are.

    Examples
    --------
    >>> print(as_json({"label": "</script>"}))
    {"label":"\\u003c/script\\u003e"}
    """
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def policy(
    scripts: "list[str]", sends_to: str = "", loads: "tuple[list[str], list[str]]" = ([], [])
) -> str:
    """What the page allows: pictures and styles of its own, and these scripts to the letter;
    nothing from elsewhere.

    `sends_to`: the origin to which its scripts may send, such as "https://example.org"; `loads`:
    the addresses of scripts and of styles that it loads all the same.
    """
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    run = " ".join([*(f"'sha256-{digest}'" for digest in digests), *loads[0]])
    style = " ".join(["'unsafe-inline'", *loads[1]])
    allowed = f" script-src {run};" if run else ""
    allowed += f" connect-src {sends_to};" if sends_to else ""
    allowed += " font-src data:;" if loads[1] else ""
    return (
        f"default-src 'none'; img-src data:; style-src {style};{allowed} base-uri 'none';"
        " form-action 'none'"
    )


def markup(text: str) -> Any:
    """Text that is HTML already, for a template."""
    from markupsafe import Markup

    return Markup(text)
