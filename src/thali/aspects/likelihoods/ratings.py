"""Additive clustering of people of kinds that nobody knows: every judgement counts by itself."""

import math
from dataclasses import dataclass
from typing import Any

from .. import operations
from ..state import COLUMNS
from ..weight_priors import EXPONENTIAL
from .additive import LEARNED, Additive
from .residuals import VARIANCE, Ratings, add_judgement, fill_fitted, forget_judgements, nobodys_cache


@dataclass(frozen=True)
class AdditiveOfKinds(Additive):
    r"""As `Additive`, of every judgement x_ijp of the people p of a kind, whose means change with the kinds.

    .. math:: x_{ijp} \sim \mathrm{Normal}(\mu_{ij}, \sigma^2)

    A sigma that the data bring is one of people alike, and not used; the prior mean of a learned one is 0.02 times the
    variance of all judgements.
    """

    def _numbers(self, data: Any) -> Any:
        return data.answers

    def fixed_sigma(self, data: Any) -> float | None:
        return None if self.sigma in (None, LEARNED) else float(self.sigma)

    def compiled(self, data: Any, weights: Any = EXPONENTIAL) -> Any:
        # a copy, as simulations change it
        ratings = Ratings(value=data.answers.values.copy(), objects=data.n_options, **self._priors(data, weights))
        return ratings, nobodys_cache


@operations.look_at_answers.register(Ratings)
def _look_at_answers(ratings: Any, c: Any, b: Any, people: Any, logs: Any) -> None:
    fill_fitted(c, b, b.whole[COLUMNS])
    n, variance = ratings.objects, c.real[VARIANCE]
    unit = 0.5 * math.log(variance / ratings.variance)
    for answer in range(people.place.shape[0]):
        i, j = people.place[answer] // n, people.place[answer] % n
        e = ratings.value[answer] - c.fitted[i, j]
        logs[answer] = -0.5 * e * e / variance - unit


@operations.add_answer.register(Ratings)
def _add_answer(ratings: Any, c: Any, people: Any, answer: Any, times: Any, log: Any) -> None:
    add_judgement(c, people.place[answer], ratings.value[answer], times)


@operations.forget_answers.register(Ratings)
def _forget_answers(ratings: Any, c: Any) -> None:
    forget_judgements(c)
