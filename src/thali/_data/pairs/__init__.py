"""Paired comparisons."""

from .comparisons import PairedComparisons

__all__ = ["PairedComparisons"]
