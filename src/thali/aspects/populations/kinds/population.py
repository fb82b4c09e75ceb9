"""People of kinds that nobody knows: features in common, weights by kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from thali.errors import Argument, ArgumentError

from ..one import Parts, Population
from .task import build_kind_task, check_kinds, people_answered

if TYPE_CHECKING:
    import xarray

    from thali.model.evidence import EvidenceRun
    from thali.model.prior_sample import PriorSample
    from thali.posterior.evidence import LogEvidence


@dataclass(frozen=True)
class Kinds(Population):
    """People who are told apart, each of one of so many kinds; `weights` say how the kinds differ."""

    number: Any
    weights: Any

    def data(self, given: Any, convert: Callable[[Any], Any]) -> Any:
        check_kinds(self.number, self.weights)
        if isinstance(given, Mapping):
            raise ArgumentError(
                Argument("kinds"), " are looked for in people of one group, and the data are of several; leave it out."
            )
        return convert(given)

    def checked(self, data: Any) -> Any:
        return people_answered(data, self.number)

    def task(self, data: Any, draws: int, tune: int, thin: Any, parts: Parts) -> Any:
        return build_kind_task(data, self.number, draws, tune, thin, self.weights, **parts)

    def tree(self, draws: Any, data: Any, parts: Parts, task: Any, attrs: Mapping[str, Any]) -> "xarray.DataTree":
        from ...answers.kinds_of_people import kinds_tree

        similar, learned = task.model.similar, task.model.learn_alpha
        return kinds_tree(draws, data, parts["likelihood"], learned_alpha=learned, similar=similar, attrs=attrs)

    def prior_sample(self, data: Any, parts: Parts, rngs: Sequence[np.random.Generator]) -> "PriorSample":
        raise _no_simulation()

    def replicates(
        self, tree: "xarray.DataTree", data: Any, parts: Parts, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        raise _no_simulation()

    def observed(self, tree: "xarray.DataTree", data: Any, parts: Parts) -> dict[str, np.ndarray]:
        raise _no_simulation()

    def evidence(self, data: Any, parts: Parts, how: "EvidenceRun") -> "LogEvidence":
        raise ArgumentError(
            "The evidence of several kinds of people is not computed; compare numbers of kinds by the people that are "
            "left out."
        )

    def refuse_update(self) -> None:
        raise ArgumentError(
            "Further comparisons are added without who made them, which kinds of people need; fit to all the data."
        )


def _no_simulation() -> ArgumentError:
    """What is said where people would have to be simulated."""
    return ArgumentError("Simulated data are of people of one kind; leave out ", Argument("kinds"), ".")
