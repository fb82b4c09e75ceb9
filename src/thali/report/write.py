"""`report`: a fitted model as one HTML file."""

from pathlib import Path
from typing import Any

from thali.errors import PYTHON, Words
from thali.inference.files import atomic_write
from thali.model.base import Model
from thali.model.settings import USUAL, Settings
from thali.surfaces.figures import Figures
from thali.surfaces.findings import findings
from thali.surfaces.html.document import Document
from thali.surfaces.html.page import rendered
from thali.surfaces.html.report import document_of, document_of_answer


def report(what: Any, path: Any) -> None:
    """Write a report: one HTML file that needs nothing from anywhere, to mail, to print, to read on a phone.

    It says what was asked and of what data, whether the answer can be trusted, the answer with its pictures, how sure
    it is, what the model does not explain, how to repeat the fit, and what a paper would say of the methods. The same
    fit gives the same file, to the byte.

    Parameters
    ----------
    what : fitted model, table of thali.compare, leaderboard, or result of a function of thali.paired or thali.designs
    path : str or path
        Of the file; one that exists is replaced.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ArgumentError
        If there is no report of such a thing.
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib, thali as th
    >>> model = th.EliminationByAspects("unique")
    >>> model = model.fit(th.datasets.celebrities(), draws=200, tune=200, random_seed=1, progressbar=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "report.html"
    ...     report(model, file)
    ...     file.read_text("utf-8").startswith("<!doctype html>")
    True
    """
    atomic_write(Path(path), page_of(what))


def page_of(
    what: Any,
    command: str = "",
    words: Words = PYTHON,
    settings: Settings = USUAL,
    figures: Figures | None = None,
) -> bytes:
    """The report as HTML; `command` is what was typed to make the fit, `settings` are those of a model's answer."""
    return rendered(_document(what, command, words, settings), figures).encode()


def _document(what: Any, command: str, words: Words, settings: Settings) -> Document:
    if isinstance(what, Model):
        what._require_fitted()
        return document_of(what, what._findings_with(what._settings_for(what._data_of_fit(), settings)), command, words)
    return document_of_answer(findings(what), command, words)
