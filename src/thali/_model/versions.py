"""What was used to make an answer: the same for all reports."""

import importlib.metadata
import platform

_LIBRARIES = ("numpy", "scipy", "numba", "pandas", "xarray")


def version(name: str) -> str:
    """The version of a library."""
    return importlib.metadata.version(name)


def versions() -> tuple[tuple[str, str], ...]:
    """Facts about the versions of thali, of what it rests on, and of Python."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("thali", *_LIBRARIES))
    return ("Versions", libraries), ("Python", platform.python_version())


def program() -> str:
    """What computed, in a sentence."""
    return f"thali {version('thali')} (Python {platform.python_version()})"


def made_by(date: str = "") -> str:
    """The last line of a report; the date is that of the draws."""
    return f"Made with thali {version('thali')}{f'; posterior draws from {date}' if date else ''}."
