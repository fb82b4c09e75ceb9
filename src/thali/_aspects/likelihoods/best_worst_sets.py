"""Best and worst out of sets, where no aspect is shared, as the samplers read them; see `best_worst` for the formulas.

The probability of each distinct answer is stored. A change of one weight is made in the state, the answers to the sets
that hold the option are evaluated, and the change is reverted.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._compile.jit import scalar, vectorised
from thali._data.answers import answers_given
from thali._inference.numerics.logarithm import fast_log
from thali._inference.places import starts
from thali._model.best_worst import REVERSED

from .. import operations

if TYPE_CHECKING:
    from thali._data.choices import Choices

MIN_PROBABILITY = 1e-300  # stands for a probability of 0, so that its logarithm is a number


class BestWorstSets(NamedTuple):
    """The distinct answers."""

    start: np.ndarray  # (answers + 1,) int64: the set of answer t is at places start[t] to start[t + 1] - 1
    member: np.ndarray  # (places,) int64 options: the best, the worst, the others
    times: np.ndarray  # (answers,) how often they were given in the data
    first: np.ndarray  # (n + 1,) int64: option i is in the sets of the answers within[first[i]] to first[i + 1] - 1
    within: np.ndarray  # (places,) int64
    lapse: float
    is_reversed: bool


class BestWorstCache(NamedTuple):
    """The cache of a chain."""

    probability: np.ndarray  # (answers,)
    times: np.ndarray  # (answers,) how often they count


def compiled_best_worst(data: "Choices", lapse: float, rule: str) -> Any:
    """The likelihood of best-worst choices, and a function that makes a chain's cache."""
    assert data.worst is not None
    numbers, row, which = np.unique(answers_given(data), return_index=True, return_inverse=True)
    best, worst = data.choice[row], data.worst[row]
    sets = data.set_of[best]
    size = data.sizes[sets]
    start = starts(size)
    answer = np.repeat(np.arange(len(numbers)), size)
    place = np.arange(start[-1]) - start[answer] + data.start[sets][answer]
    between = np.where(place == best[answer], 0, np.where(place == worst[answer], 1, 2))
    member = data.members[place[np.lexsort([place, between, answer])]]
    order = np.argsort(member, kind="stable")
    likelihood = BestWorstSets(
        start=start.astype(np.int64),
        member=member.astype(np.int64),
        times=np.bincount(which, data.times),
        first=np.searchsorted(member[order], np.arange(data.n_options + 1)).astype(np.int64),
        within=answer[order].astype(np.int64),
        lapse=float(lapse),
        is_reversed=rule == REVERSED,
    )
    return likelihood, _empty_cache


def _empty_cache(sets: BestWorstSets) -> BestWorstCache:
    return BestWorstCache(np.zeros(sets.times.size), np.array(sets.times))


# ------------------------------------------------------------------------------------- the probability of an answer


@scalar
def last_of_2(sets: Any, w: Any, a: Any) -> Any:
    """The probability that an option with weight w comes after one with weight a."""
    return (1.0 - sets.lapse) * a / (a + w) + sets.lapse / 2.0


@scalar
def last_of_3(sets: Any, w: Any, a: Any, b: Any) -> Any:
    after_a, after_b = last_of_2(sets, w, b), last_of_2(sets, w, a)
    return (1.0 - sets.lapse) * (a * after_a + b * after_b) / (a + b + w) + sets.lapse / 3.0 * (after_a + after_b)


@scalar
def last_of_4(sets: Any, w: Any, a: Any, b: Any, c: Any) -> Any:
    after_a, after_b, after_c = last_of_3(sets, w, b, c), last_of_3(sets, w, a, c), last_of_3(sets, w, a, b)
    chosen = (a * after_a + b * after_b + c * after_c) / (a + b + c + w)
    return (1.0 - sets.lapse) * chosen + sets.lapse / 4.0 * (after_a + after_b + after_c)


@scalar
def last_of_5(sets: Any, w: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    after_a, after_b = last_of_4(sets, w, b, c, d), last_of_4(sets, w, a, c, d)
    after_c, after_d = last_of_4(sets, w, a, b, d), last_of_4(sets, w, a, b, c)
    chosen = (a * after_a + b * after_b + c * after_c + d * after_d) / (a + b + c + d + w)
    return (1.0 - sets.lapse) * chosen + sets.lapse / 5.0 * (after_a + after_b + after_c + after_d)


@scalar
def by_ranking(sets: Any, b: Any, t: Any) -> Any:
    """The probability of answer t as the first and the last of a ranking."""
    begin, size = sets.start[t], sets.start[t + 1] - sets.start[t]
    best, w = b.s[sets.member[begin]], b.s[sets.member[begin + 1]]
    x = b.s[sets.member[begin + 2]] if size > 2 else 0.0
    y = b.s[sets.member[begin + 3]] if size > 3 else 0.0
    z = b.s[sets.member[begin + 4]] if size > 4 else 0.0
    u = b.s[sets.member[begin + 5]] if size > 5 else 0.0
    if size == 2:
        last = 1.0
    elif size == 3:
        last = last_of_2(sets, w, x)
    elif size == 4:
        last = last_of_3(sets, w, x, y)
    elif size == 5:
        last = last_of_4(sets, w, x, y, z)
    else:
        last = last_of_5(sets, w, x, y, z, u)
    return ((1.0 - sets.lapse) * best / (best + w + x + y + z + u) + sets.lapse / size) * last


@scalar
def by_difference(sets: Any, b: Any, t: Any) -> Any:
    """The probability of answer t as the pair that differs most."""
    begin, end = sets.start[t], sets.start[t + 1]
    size = end - begin
    total, inverse = sums(sets, b, begin, end)
    odds = b.s[sets.member[begin]] / (b.s[sets.member[begin + 1]] * (total * inverse - size))
    return (1.0 - sets.lapse) * odds + sets.lapse / (size * (size - 1.0))


@vectorised
def sums(sets: Any, b: Any, begin: Any, end: Any) -> Any:
    """Of the members at some places the sum of the weights, and of one over them."""
    total = 0.0
    inverse = 0.0
    for place in range(begin, end):
        s = b.s[sets.member[place]]
        total += s
        inverse += 1.0 / s
    return total, inverse


@scalar
def probability_of(sets: Any, b: Any, t: Any) -> Any:
    """The probability of answer t."""
    return max(by_difference(sets, b, t) if sets.is_reversed else by_ranking(sets, b, t), MIN_PROBABILITY)


# --------------------------------------------------------------------------------------------------------- operations


@operations.sees_full.register(BestWorstSets)
def _sees_full(sets: Any) -> Any:
    return False


@operations.is_scale_free.register(BestWorstSets)
def _is_scale_free(sets: Any) -> Any:
    return True


@operations.cache_at.register(BestWorstSets)
def _cache_at(sets: Any, caches: Any, t: Any) -> Any:
    return BestWorstCache(caches.probability[t], caches.times[t])


@operations.delta_own.register(BestWorstSets)
def _delta_own(sets: Any, c: Any, b: Any, i: Any, d: Any) -> Any:
    before = b.s[i]
    b.s[i] = max(before + d, MIN_PROBABILITY)
    total = 0.0
    for k in range(sets.first[i], sets.first[i + 1]):
        t = sets.within[k]
        total += c.times[t] * fast_log(probability_of(sets, b, t) / c.probability[t])
    b.s[i] = before
    return total


@operations.apply_own.register(BestWorstSets)
def _apply_own(sets: Any, c: Any, b: Any, i: Any, d: Any) -> None:
    before = b.s[i]
    b.s[i] = max(before + d, MIN_PROBABILITY)
    for k in range(sets.first[i], sets.first[i + 1]):
        t = sets.within[k]
        c.probability[t] = probability_of(sets, b, t)
    b.s[i] = before


@operations.rebuild.register(BestWorstSets)
def _rebuild(sets: Any, c: Any, b: Any) -> None:
    for t in range(c.probability.shape[0]):
        c.probability[t] = probability_of(sets, b, t)


@operations.log_likelihood.register(BestWorstSets)
def _log_likelihood(sets: Any, c: Any, b: Any) -> Any:
    total = 0.0
    for t in range(c.probability.shape[0]):
        total += c.times[t] * fast_log(c.probability[t])
    return total


# The answers of people whose kind changes: places are the distinct answers, -1 of those that nobody gave.


@operations.look_at_answers.register(BestWorstSets)
def _look_at_answers(sets: Any, c: Any, b: Any, people: Any, logs: Any) -> None:
    for answer in range(people.place.shape[0]):
        if people.place[answer] >= 0:
            logs[answer] = fast_log(c.probability[people.place[answer]])


@operations.add_answer.register(BestWorstSets)
def _add_answer(sets: Any, c: Any, people: Any, answer: Any, times: Any, log: Any) -> None:
    c.times[people.place[answer]] += times


@operations.forget_answers.register(BestWorstSets)
def _forget_answers(sets: Any, c: Any) -> None:
    for t in range(c.times.shape[0]):
        c.times[t] = 0.0


for _operation, _answer in operations.WITHOUT_COLUMNS.items():
    _operation.register(BestWorstSets)(_answer)
