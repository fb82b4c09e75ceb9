"""Choices out of sets."""

from .choices import Choices

__all__ = ["Choices"]
