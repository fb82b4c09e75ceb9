"""`thali.findings`: the findings of any answer; `report`: a fitted model as one HTML file."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas

from thali._comparison import findings as of_comparison
from thali._inference.files import atomic_write, describe_write_error, write_together
from thali._labels import shorten
from thali._model import printed_findings
from thali._model.base import Model
from thali._model.finding import Findings
from thali._model.settings import DEFAULT_SETTINGS, AnswerSettings
from thali._paired import findings as of_leaderboard
from thali._paired import made
from thali._paired.board import Leaderboard
from thali._printed import Printed
from thali.errors import PYTHON, ArgumentError, DataError, Words

from .figures import Figures
from .html import Cover, Document, document_of, document_of_answer, fit_in_words, rendered
from .slides import slide_files
from .slides import slides as slides_of


def findings(answer: Any, **settings: Any) -> Findings:
    """What an answer says, as data: a sentence, a table and a picture for each question that a
    reader may have.

    Parameters
    ----------
    answer : fitted model, table of thali.compare, leaderboard, or result of a function of
    thali.paired or thali.designs **settings
        Of a fitted model: see its `findings`.

    Returns
    -------
    Findings
        A sequence in the order of a reader's questions; ``["comparison"]`` gives the finding of
        that key.

    Raises
    ------
    ArgumentError
        If there are no findings of such a thing, or settings of something else than a model.

    Examples
    --------
    >>> import thali as th
    >>> findings(th.paired.transitivity(th.datasets.celebrities())).keys()[0]
    'table'
    """
    if isinstance(answer, Model):
        return answer.findings(**settings)
    if settings:
        raise ArgumentError(
            f"Settings require a fitted model; {type(answer).__name__} has none, but got"
            f" {shorten([*settings])}."
        )
    if isinstance(answer, Leaderboard):
        return of_leaderboard.findings_of(answer)
    if isinstance(answer, Printed):
        return printed_findings.build_printed_findings(answer)
    if isinstance(answer, pandas.DataFrame) and {"scorer", "by"} & set(answer.attrs):
        return of_comparison.find_comparison_findings(answer)
    raise ArgumentError(
        "findings requires a fitted model, a table from thali.compare, a leaderboard, or a result"
        f" from thali.paired or thali.designs; got {type(answer).__name__}."
    )


# The literature as BibTeX: an entry for each work, and one for thali ------------------------------


def entries() -> dict[str, str]:
    """The entries of `references.bib` by their keys."""
    text = (files("thali._surfaces") / "references.bib").read_text("utf-8")
    found = [entry.strip() for entry in text.split("\n\n") if entry.strip()]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in found}


def of_thali() -> str:
    """The entry of this version of thali."""
    from thali import __version__

    return (
        "@software{thali,\n  author = {{The thali developers}},\n"
        "  title = {thali: latent-feature models of choice and similarity},\n"
        f"  version = {{{__version__}}},\n  year = {{2026}},\n}}"
    )


# A report to mail ---------------------------------------------------------------------------------

UNTITLED = Cover()


def report(what: Any, path: Any, *, title: str = "", author: str = "", question: str = "") -> None:
    """Write a report: one HTML file that needs nothing from anywhere, to mail, to print, to read on
    a phone.

    Its first screen answers what was asked, with a picture, and says in a line each how sure that
    is. Then come all answers, what the model misses, the data, what a paper would say of the
    methods, every quantity with its convergence, how to repeat the fit, and references. The same
    fit gives the same file, to the byte.

    Parameters
    ----------
    what : fitted model, table of thali.compare, leaderboard, or result of a function of
    thali.paired or thali.designs path : str or path
        Of the file; one that exists is replaced.
    title, author, question : str
        What the report is called, whose it is, and what was asked, in your words; "": in those of
        thali.

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
    >>> model = model.fit(
    ...     th.datasets.celebrities(), draws=20, tune=20, random_seed=1, progressbar=False
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "report.html"
    ...     report(model, file)
    ...     file.read_text("utf-8").startswith("<!doctype html>")
    True
    """
    atomic_write(Path(path), page_of(what, cover=Cover(title, author, question)))


def slides(model: Any, folder: Any, **settings: Any) -> list[str]:
    """Write a slide of 16 to 9 for each answer that has a picture: the picture under the sentence
    that it shows.

    The slides are those of ``thali fit --slides FOLDER``, each as PNG, 1,920 pixels across, and as
    SVG.

    Parameters
    ----------
    model : fitted model, or what else there are `findings` of
    folder : str or path
        Is made where it is absent; files of the same names are replaced.
    **settings
        See `findings` of the model, such as ``market=``.

    Returns
    -------
    list of str
        The names of the files, in the order of a reader's questions; none where no answer has a
        picture.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ArgumentError
        If there are no findings of such a thing, or a setting is not one of the model, or out of
        its range.
    DataError
        If the files cannot be written.

    Examples
    --------
    >>> import tempfile, thali as th
    >>> model = th.MultinomialLogit(linear="price")
    >>> model = model.fit(th.datasets.product_choices(people=10, random_seed=1).data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     slides(model, folder)[:2]
    ['01_attribute_importance.png', '01_attribute_importance.svg']
    """
    found = slide_files(slides_of(findings(model, **settings), PYTHON, about(model)))
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        write_together(target, found)
    except OSError as error:
        raise DataError(describe_write_error(target, error)) from error
    return list(found)


def page_of(
    what: Any,
    command: str = "",
    words: Words = PYTHON,
    settings: AnswerSettings = DEFAULT_SETTINGS,
    figures: Figures | None = None,
    cover: Cover = UNTITLED,
) -> bytes:
    """The report as HTML; `command` is what was typed to make the fit, `settings` are those of a
    model's answer."""
    return rendered(_document(what, command, words, settings, cover), figures).encode()


def _document(
    what: Any, command: str, words: Words, settings: AnswerSettings, cover: Cover
) -> Document:
    if isinstance(what, Model):
        what._require_fitted()
        return document_of(what, findings_of(what, settings), command, words, cover)
    if isinstance(what, Leaderboard):
        command = command or made.as_python(what)
        return document_of_answer(
            findings_of(what), command, words, cover, about(what), made.settings_of(what)
        )
    return document_of_answer(findings_of(what), command, words, cover)


def findings_of(what: Any, settings: AnswerSettings = DEFAULT_SETTINGS) -> Findings:
    """The findings of an answer, with those settings if it is of a model."""
    if isinstance(what, Model):
        return what._build_findings(what._complete_settings(what._get_fit_data(), settings))
    return findings(what)


def about(what: Any) -> str:
    """What an answer is of, where it is one of a model or a leaderboard."""
    if isinstance(what, Leaderboard):
        return made.in_words(what)
    return fit_in_words(what) if isinstance(what, Model) else ""
