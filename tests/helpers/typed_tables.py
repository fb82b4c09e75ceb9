"""Tables as they are typed into a file."""

from thali._reading.recognise import recognise
from thali._reading.table_files import load_table
from thali._source import Source


def table(text, name="x.csv"):
    """The table that a file of this text holds."""
    return load_table(Source(name, text.encode()))


def made(text, *kinds, **options):
    """The data that a file of this text holds, and the sentence about them."""
    return recognise(table(text), *kinds, **options).build()
