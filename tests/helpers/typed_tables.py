"""Tables as they are typed into a file."""

from thali._input_files import Source
from thali._reading.layout_recognition import recognise
from thali._reading.table_files import load_table


def table(text, name="x.csv"):
    """The table that a file of this text holds."""
    return load_table(Source(name, text.encode()))


def made(text, *kinds, **options):
    """The data that a file of this text holds, and the sentence about them."""
    return recognise(table(text), *kinds, **options).build()
