"""The report of a classical test of paired comparisons."""

from thali._printed import Printed

from .document import Document, Section, Table
from .settings import made_by, versions


def document_of(result: Printed, command: str) -> Document:
    """The report of what a function of `thali.paired` returned."""
    frame = result.table
    answer = Section("The answer", (result.note,) if result.note else (), tables=(Table(result.title, frame),))
    settings = Section("Settings and versions", facts=versions(), code=command)
    return Document(result.title, result.note, (answer, settings), made_by())
