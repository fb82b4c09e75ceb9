"""How much each attribute matters: how far choices change when all alternatives are alike in it."""

from typing import TYPE_CHECKING

import numpy as np

from thali._jit import allocating
from thali._random import streams
from thali.product_classes.choosing import add_winners, draw_values, holds
from thali.product_classes.class_table import standard_error
from thali.product_classes.design_rows import row_with, thinned
from thali.product_classes.parallel import in_threads

if TYPE_CHECKING:
    import pandas

    from thali.product_classes.particles import Particles
    from thali.product_classes.study import Study

MOST_DRAWS, MOST_TASKS = 400, 8  # of each person
_OCCASIONS = 800  # of all draws


@allocating
def add_importance(
    rng, draws, kept, group, person, codes, rows, own, first_row, inside_attribute, repeats, room, total
):
    """Add to total[g, 0] the choices of a person, and to total[g, 1 + i] those when attribute i is the same everywhere.

    The tasks are rows own[first_row[t]], ... of `codes`; the common level is that of a random row of the design, and
    the values of an occasion are the same for all.
    """
    people = (draws.first_owned.shape[0] - 1) // draws.a.shape[0]
    attributes = codes.shape[1]
    width = own.shape[0]
    inside, without = np.empty((room, width), np.bool_), np.empty((room, width), np.bool_)
    every = np.arange(room)
    log_value, value = np.empty(room), np.empty(room)
    winners = np.empty(width)
    common = np.empty((width, attributes), np.int64)
    for row in range(width):
        for i in range(attributes):
            common[row, i] = codes[own[row], i]
    for place in range(kept.shape[0]):
        d, g = kept[place], group[place]
        begin = draws.first_owned[d * people + person]
        end = draws.first_owned[d * people + person + 1]
        n = end - begin
        sign, log_theta = draws.owned_sign[begin:end], draws.owned_log_theta[begin:end]
        shape = (1.0 - draws.sigma[d]) * draws.a[d]
        for o in range(n):
            c = draws.first_class[d] + draws.owned_class[begin + o]
            for row in range(width):
                inside[o, row] = holds(draws.active, draws.member, c, draws.offset, common, row)
        for t in range(first_row.shape[0] - 1):
            first, last = first_row[t], first_row[t + 1]
            for _ in range(repeats):
                draw_values(rng, log_theta, shape, every, n, log_value)
                for row in range(first, last):
                    winners[row] = 0.0
                add_winners(inside, sign, every, n, log_value, value, first, last, 1.0, winners)
                for row in range(first, last):
                    total[g, 0, row] += winners[row]
                for i in range(attributes):
                    level = 1
                    if i != inside_attribute:
                        level = codes[row_with(rng, codes, rows, i, 0), i]
                    touched = False
                    for o in range(n):
                        c = draws.first_class[d] + draws.owned_class[begin + o]
                        uses = draws.active[c, i]
                        touched = touched or uses
                        for row in range(first, last):
                            without[o, row] = inside[o, row]
                            if uses:
                                kept_level = common[row, i]
                                common[row, i] = level
                                without[o, row] = holds(draws.active, draws.member, c, draws.offset, common, row)
                                common[row, i] = kept_level
                    if touched:
                        add_winners(without, sign, every, n, log_value, value, first, last, 1.0, total[g, 1 + i])
                    else:
                        for row in range(first, last):
                            total[g, 1 + i, row] += winners[row]


def attribute_importance(
    draws: "Particles", study: "Study", people: bool = False, *, cores: int | None = None, random_seed=0
) -> "pandas.DataFrame":
    """For each attribute, the mean over tasks of the total variation between choices with and without it.

    Parameters
    ----------
    draws : Particles
    study : Study
    people : bool
        Whether the table is of single people.
    cores : int, optional
    random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional

    Returns
    -------
    pandas.DataFrame
        As `ProductClasses.attribute_importance` describes it.
    """
    import pandas as pd

    from thali.posterior.interval import TAILS

    number, attributes = draws.n_respondents, len(study.attributes)
    kept = thinned(draws.group, MOST_DRAWS)
    numbers, group = np.unique(draws.group[kept], return_inverse=True)
    repeats = max(1, -(-_OCCASIONS // len(kept)))
    rngs = streams(random_seed, number)
    room = int(np.diff(draws.first_owned).max(initial=0)) + 1
    pooled, by_group = np.zeros((number, attributes)), np.zeros((number, attributes, len(numbers)))
    tasks = np.zeros(number)

    def work(person: int) -> None:
        own, first_row = _some_tasks(study, person)
        total = np.zeros((len(numbers), attributes + 1, len(own)))
        parts = (study.products, study.row_product, own, first_row, study.inside)
        add_importance(rngs[person], draws, kept, group.astype(np.int64), person, *parts, repeats, room, total)
        drawn = np.bincount(group) * float(repeats)
        tasks[person] = len(first_row) - 1
        chance = total / drawn[:, None, None]
        by_group[person] = _variation(chance, first_row).T
        pooled[person] = _variation(total.sum(axis=0, keepdims=True) / drawn.sum(), first_row)[0]

    in_threads(work, number, cores)
    felt = 1.0 - draws.lapse
    if people:
        return pd.DataFrame(felt * pooled, pd.Index(study.respondents, name="respondent"), list(study.attributes))
    weight = tasks / tasks.sum()
    low, high = felt * np.quantile(pooled, TAILS, axis=0)
    table = pd.DataFrame(
        {
            "attribute": study.attributes,
            "importance": felt * weight @ pooled,
            "se": felt * standard_error(np.tensordot(weight, by_group, axes=1)),
            "people_lb": low,
            "people_ub": high,
        }
    )
    return table.sort_values("importance", ascending=False, kind="stable", ignore_index=True)


def _some_tasks(study: "Study", person: int) -> tuple[np.ndarray, np.ndarray]:
    """Products of the rows of some tasks of a person, evenly through them, and where each task begins."""
    first, last = study.first_task[person], study.first_task[person + 1]
    tasks = np.unique(np.linspace(first, last - 1, min(last - first, MOST_TASKS)).round().astype(np.int64))
    begin, end = study.first_row[tasks].tolist(), study.first_row[tasks + 1].tolist()
    sizes = np.subtract(end, begin)
    rows = np.concatenate([np.arange(*ends) for ends in zip(begin, end, strict=True)])
    return study.row_product[rows], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _variation(chance: np.ndarray, first_row: np.ndarray) -> np.ndarray:
    """Half the sum of |difference| between choices (group, with all or without one, row), mean over the tasks."""
    apart = np.abs(chance[:, 1:] - chance[:, :1]).sum(axis=2)
    return 0.5 * apart / (len(first_row) - 1)
