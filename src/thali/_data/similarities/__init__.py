"""Similarities of objects."""

from .similarities import Similarities

__all__ = ["Similarities"]
