"""Findings from the printed tables of other results: classical tests, designs, searches."""

from functools import partial

from thali._printed_result import PrintedResult

from .finding import FULL, ON_SCREEN, Brief, Finding, FindingMaker, Findings


def build_printed_findings(result: PrintedResult) -> Findings:
    """Build one finding per table of a printed result; the first has its sentence."""
    table_names = list(result.tables())
    main_maker = FindingMaker("table", result.title, ON_SCREEN, _report_main_table)
    other_makers = [
        FindingMaker(name, name.capitalize(), FULL, partial(_report_table, name=name))
        for name in table_names[1:]
    ]
    return Findings(result, (main_maker, *other_makers))


def _report_main_table(result: PrintedResult, settings: None) -> Finding:
    """Report the first table of a printed result, with its sentence."""
    brief = Brief("Result", f"{result.title}. {result.note}".strip(), table=result.table)
    return Finding(result.note, title=result.title, table=result.table, brief=brief)


def _report_table(result: PrintedResult, settings: None, name: str) -> Finding:
    """Report the table `name` of a printed result."""
    return Finding(title=f"{result.title}: {name}", table=result.tables()[name])
