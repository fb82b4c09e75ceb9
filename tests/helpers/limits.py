"""Limits that files and tables of some bytes reach: the one place where a test lowers one."""

from thali import _input_files
from thali._reading import table_files, text_cells

LIMITS = {
    "bytes of a pipe": (_input_files, "MAX_PIPED"),
    "bytes of a workbook": (table_files, "HARMLESS_WORKBOOK"),
    "cells of a sheet": (table_files, "MAX_CELLS"),
    "cells of Parquet": (table_files, "HARMLESS"),
    "cells of a byte of Parquet": (table_files, "MAX_TIMES"),
    "bytes of Parquet": (table_files, "MAX_BYTES"),
    "cells of a text": (text_cells, "MAX_CELLS"),
}


def lower(monkeypatch, **limits):
    """Set limits, by their names with underscores."""
    for name, value in limits.items():
        module, constant = LIMITS[name.replace("_", " ")]
        lower_in(module, monkeypatch, **{constant: value})


def lower_in(module, monkeypatch, **constants):
    """Set limits of the module that a test is about: constants, of the type that they have."""
    for name, value in constants.items():
        assert name.isupper() and isinstance(value, type(getattr(module, name))), name
        monkeypatch.setattr(module, name, value)
