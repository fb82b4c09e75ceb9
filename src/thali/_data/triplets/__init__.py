"""Which pair of a set is the most similar."""

from .triplets import Triplets

__all__ = ["Triplets"]
