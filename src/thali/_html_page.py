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


def build_policy(scripts: list[str]) -> str:
    """Return the content security policy of a page with only these scripts.

    Pictures and styles may be embedded; nothing else is loaded.
    """
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    script_sources = " ".join(f"'sha256-{digest}'" for digest in digests)
    script_directive = ""
    if scripts:
        script_directive = f" script-src {script_sources};"
    return (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline';{script_directive} base-uri"
        " 'none'; form-action 'none'"
    )


def mark_as_html(text: str) -> Any:
    """Return a text marked as HTML, which templates do not escape."""
    from markupsafe import Markup

    return Markup(text)
