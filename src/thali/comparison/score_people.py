"""Scores of people who were left out: of each choice, and of all choices of a person together."""

from typing import Any, ClassVar

import numpy as np

from thali.model.registry import spec_of

from .occasions import Occasions
from .score_choices import ChoiceScorer
from .table import Scores

_MAX_NAMED = 4


class PeopleScorer(ChoiceScorer):
    """As of choices, and ln p of all that a person chose, shared out evenly over these choices."""

    fields: ClassVar[dict[str, type[Any]]] = {**ChoiceScorer.fields, "together": list}
    table = (
        *ChoiceScorer.table,
        *("together", "together_se", "together_difference", "together_difference_se"),
    )
    shown = (*ChoiceScorer.shown, "together", "together_se")

    def score_one(self, model: Any, test: Occasions) -> dict[Any, Any]:
        found = super().score_one(model, test)
        if spec_of(model) is None:  # each choice as if another person had made it
            with np.errstate(divide="ignore"):
                of_people = np.bincount(test.respondent_of_task, np.log(found["chosen"]), test.n_respondents)
        else:
            of_people = test.log_predicted_by(model)
        return found | {"together": (of_people / np.diff(test.first_task))[test.respondent_of_task].tolist()}

    def frames(self, found: Scores) -> dict[str, Any]:
        frames = super().frames(found)
        together = found.frame("together")
        together[list(self.before)] = frames[self.main][list(self.before)]
        return frames | {"together": together}

    def every_column(self, found: Scores) -> dict[str, Any]:
        difference, difference_se = found.differences_from(found.best_by("together"), "together")
        own = {"together_difference": difference, "together_difference_se": difference_se}
        return super().every_column(found) | own

    def attrs(self, found: Scores) -> dict[str, Any]:
        return super().attrs(found) | {"together": found.frames["together"]}

    def remarks(self, table: Any, ranked: list[str]) -> list[str]:
        scores = table.loc[ranked, "together"].dropna().sort_values(ascending=False, kind="stable")
        best = f"{scores.index[0]}: {scores.iloc[0]:.3f} a choice"
        less = [
            f"{name} {-row['together_difference']:.3f} less (standard error {row['together_difference_se']:.3f})"
            for name, row in table.loc[scores.index[1:]].iterrows()
        ]
        said = "; ".join([f"All choices of a person together are predicted best by {best}", *less[:_MAX_NAMED]])
        return [f"{said}.", *super().remarks(table, ranked)]
