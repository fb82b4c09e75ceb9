"""The command line of thali."""

import atexit
import gc
import os
import sys

from .app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    os.environ["PYTHONSAFEPATH"] = "1"  # workers import nothing from the folder of the data
    for stream in (sys.stdout, sys.stderr):
        # A label or a Greek letter that the terminal's encoding lacks becomes "?" instead of an error.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    # Python would look through all that was loaded for garbage before it ends, which takes half a second.
    atexit.register(gc.freeze)
    app()
