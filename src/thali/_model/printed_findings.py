"""The findings of an answer that prints itself: a classical test, a design, a search."""

from functools import partial

from thali._printed import Printed

from .finding import FULL, ON_SCREEN, Brief, Finding, Findings, Maker


def findings_of(result: Printed) -> Findings:
    """A finding for each table of the answer, the first with its sentence."""
    names = list(result.tables())
    first = Maker("table", result.title, ON_SCREEN, _answer)
    others = [
        Maker(name, name.capitalize(), FULL, partial(_table, name=name)) for name in names[1:]
    ]
    return Findings(result, (first, *others))


def _answer(result: Printed, settings: None) -> Finding:
    """The table of the answer, with its sentence."""
    brief = Brief("Result", f"{result.title}. {result.note}".strip(), table=result.table)
    return Finding(result.note, title=result.title, table=result.table, brief=brief)


def _table(result: Printed, settings: None, name: str) -> Finding:
    """Another table."""
    return Finding(title=f"{result.title}: {name}", table=result.tables()[name])
