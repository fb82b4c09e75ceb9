"""Versions of software, for all reports."""

import importlib.metadata
import platform

_LIBRARIES = ("numpy", "scipy", "numba", "pandas", "xarray")


def get_version(name: str) -> str:
    """Return the installed version of a library, such as "1.26.4"."""
    return importlib.metadata.version(name)


def describe_versions() -> tuple[tuple[str, str], ...]:
    """Return (name, version) pairs for thali, its libraries and Python."""
    libraries = ", ".join(f"{name} {get_version(name)}" for name in ("thali", *_LIBRARIES))
    return ("Versions", libraries), ("Python", platform.python_version())


def describe_program() -> str:
    """Return "thali VERSION (Python VERSION)"."""
    return f"thali {get_version('thali')} (Python {platform.python_version()})"


def format_report_footer(date: str = "") -> str:
    """Return the last line of a report: thali's version, and `date` of the draws."""
    made_with = f"Made with thali {get_version('thali')}"
    if date:
        return f"{made_with}; posterior draws from {date}."
    return f"{made_with}."
