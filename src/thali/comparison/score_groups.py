"""Scores of what was left out of several groups of people: each group's by its own model."""

from typing import Any, ClassVar

from .score_choices import ChoiceScorer
from .score_similarities import GaussianScorer


class GroupChoiceScorer(ChoiceScorer):
    """As of one group; a model of somebody else gives the model of each group by `of_group`."""

    own_models: ClassVar[tuple[str, ...]] = ("fit", "of_group")


class GroupGaussianScorer(GaussianScorer):
    """As of one group."""

    def score(self, model: Any, test: Any) -> dict[Any, Any]:
        each = [
            super(GroupGaussianScorer, self).score(model.of_group(name), part) for name, part in test.of_group.items()
        ]
        return {name: [value for found in each for value in found[name]] for name in self.fields}
