"""The app: from a file to a report in the browser, on this computer alone."""

from thali._surfaces.app.start import run_app

__all__ = ["run_app"]
