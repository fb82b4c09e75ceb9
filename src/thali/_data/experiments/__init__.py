"""Choice experiments."""

from .experiment import ChoiceExperiment

__all__ = ["ChoiceExperiment"]
