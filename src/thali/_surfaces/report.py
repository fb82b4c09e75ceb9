"""Public functions `findings` and `report` for any result."""

import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas

from thali._comparison import findings as of_comparison
from thali._conjoint.result import ConjointResult
from thali._inference.checksummed_files import atomic_write
from thali._inference.replaced_files import check_replaced
from thali._labels import shorten
from thali._model import printed_table_findings
from thali._model.base import Model
from thali._model.finding import Findings
from thali._model.finding_settings import DEFAULT_SETTINGS, AnswerSettings
from thali._paired import leaderboard_report
from thali._paired.leaderboard_findings import build_board_findings
from thali._paired.leaderboard_result import Leaderboard
from thali._printed_result import PrintedResult
from thali.errors import PYTHON, ArgumentError, Words

from .figure_files import Figures
from .html_report import (
    Cover,
    build_document,
    describe_fit,
    find_fit_date,
    list_run_facts,
    render_document,
)


def findings(answer: Any, **settings: Any) -> Findings:
    """Return the results of a model, comparison, leaderboard or test as `Findings`.

    Parameters
    ----------
    answer : fitted model, table of thali.compare, leaderboard, or result of a function of
    thali.paired or thali.designs **settings
        Settings of a fitted model; see its `findings`.

    Returns
    -------
    Findings
        A sequence in the order of a reader's questions; ``["comparison"]`` gives the finding with
        that key.

    Raises
    ------
    ArgumentError
        If the object has no findings, or settings are given for an object that is not a model.

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
            f"Settings such as {shorten([*settings], 1)} require a fitted model; got"
            f" {type(answer).__name__}."
        )
    if isinstance(answer, Leaderboard):
        return build_board_findings(answer)
    if isinstance(answer, ConjointResult):
        return answer.findings()
    if isinstance(answer, PrintedResult):
        return printed_table_findings.build_printed_findings(answer)
    if isinstance(answer, pandas.DataFrame) and {"scorer", "by"} & set(answer.attrs):
        return of_comparison.find_comparison_findings(answer)
    raise ArgumentError(
        "findings requires a fitted model, a table from thali.compare, a leaderboard, or a result"
        f" from thali.paired or thali.designs; got {type(answer).__name__}."
    )


# Citations as BibTeX ------------------------------------------------------------------------------


def read_references() -> dict[str, str]:
    """Return the BibTeX entries of references.bib, by key."""
    text = (files("thali._surfaces") / "references.bib").read_text("utf-8")
    entry_list = [entry.strip() for entry in text.split("\n\n") if entry.strip()]
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entry_list}


def format_own_citation() -> str:
    """Return the BibTeX entry for citing this version of thali."""
    from thali import __version__

    return (
        "@software{thali,\n  author = {{The thali developers}},\n"
        "  title = {thali: latent-feature models of choice and similarity},\n"
        f"  version = {{{__version__}}},\n  year = {{2026}},\n}}"
    )


# Reports ------------------------------------------------------------------------------------------

EMPTY_COVER = Cover()


def report(
    what: Any,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    author: str = "",
    question: str = "",
) -> None:
    """Write a report: one self-contained HTML file to mail, to print or to read on a phone.

    The first screen answers the research question with a picture and states the reliability of the
    result. It is followed by all results, model checks, the data, a methods text, every quantity
    with its convergence, how to repeat the fit, and references. The same fit gives the same bytes.

    Parameters
    ----------
    what : fitted model, table of thali.compare, or result of leaderboard, thali.paired or designs
    path : str or path
        Path of the file; an existing report is replaced.
    title, author, question : str
        Title, author and research question in your words; "" uses thali's texts.

    Raises
    ------
    NotFittedError
        Before `fit`.
    ArgumentError
        If the object has no report.
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
    check_replaced(Path(path))
    atomic_write(Path(path), render_report(what, cover=Cover(title, author, question)))


def render_report(
    subject: Any,
    command: str = "",
    words: Words = PYTHON,
    settings: AnswerSettings = DEFAULT_SETTINGS,
    figures: Figures | None = None,
    cover: Cover = EMPTY_COVER,
) -> bytes:
    """Return the HTML report of a result as bytes.

    `command`: the command that made the fit; `settings`: settings of a model's findings.
    """
    findings = compute_findings(subject, settings)
    run_facts = ()
    date = ""
    if isinstance(subject, Model):
        run_facts = list_run_facts(subject)
        date = find_fit_date(subject)
        command = command or subject._format_python()
    elif isinstance(subject, Leaderboard):
        run_facts = leaderboard_report.list_settings(subject)
        command = command or leaderboard_report.format_python(subject)
    description = describe_subject(subject)
    document = build_document(findings, words, description, run_facts, command, date, cover)
    return render_document(document, figures).encode()


def compute_findings(subject: Any, settings: AnswerSettings = DEFAULT_SETTINGS) -> Findings:
    """Return the findings of a model, comparison, leaderboard or test."""
    if isinstance(subject, Model):
        return subject._compute_findings(settings)
    return findings(subject)


def describe_subject(subject: Any) -> str:
    """Return the sentence below a report's title; "" for other results."""
    if isinstance(subject, Leaderboard):
        return leaderboard_report.describe_board(subject)
    if isinstance(subject, ConjointResult):
        return subject.size
    if isinstance(subject, Model):
        return describe_fit(subject)
    return ""
