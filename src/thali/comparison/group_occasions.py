"""Data of several groups of people, one after the other, so that some of all groups can be left out together."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .occasions import Occasions, OfRespondents


class GroupOccasions(OfRespondents):
    """Choices of several groups, with the parts of `Occasions` that scores need; a group may have none."""

    def __init__(self, of_group: Mapping[str, Occasions]) -> None:
        self.of_group = {name: each for name, each in of_group.items() if each.n_tasks}
        parts = self.of_group.values()
        self.told_apart = all(each.told_apart for each in parts)
        people = np.cumsum([0, *(each.n_respondents for each in parts)])
        rows = np.cumsum([0, *(each.n_alternatives for each in parts)])
        self.respondents = tuple(f"{name}: {who}" for name, each in self.of_group.items() for who in each.respondents)
        self.respondent_of_task = np.concatenate(
            [first + each.respondent_of_task for first, each in zip(people, parts, strict=False)]
        )
        self.task_labels = np.concatenate([each.task_labels for each in parts])
        self.chosen = np.concatenate([each.chosen for each in parts])
        starts = [first + each.first_row[:-1] for first, each in zip(rows, parts, strict=False)]
        self.first_row = np.append(np.concatenate(starts), rows[-1])
        self.n_alternatives = int(rows[-1])

    @property
    def n_tasks(self) -> int:
        return len(self.chosen)

    def sizes(self, of: str) -> np.ndarray:
        """How many tasks, or respondents, each group has."""
        return np.array([getattr(each, of) for each in self.of_group.values()])

    def take(self, kept: np.ndarray) -> "GroupOccasions":
        """Those occasions alone."""
        masks = np.split(kept, np.cumsum(self.sizes("n_tasks"))[:-1])
        return GroupOccasions(
            {name: each.take(mask) for (name, each), mask in zip(self.of_group.items(), masks, strict=True)}
        )

    def predicted_by(self, model: Any) -> np.ndarray:
        """Probabilities of every alternative of every occasion, by the model of each group."""
        return np.concatenate([each.predicted_by(model.of_group(name)) for name, each in self.of_group.items()])

    def log_predicted_by(self, model: Any) -> np.ndarray:
        """The ln of the probability of all choices of each respondent together, by the model of each group."""
        return np.concatenate([each.log_predicted_by(model.of_group(name)) for name, each in self.of_group.items()])
