"""A fit of product classes as the draws of a market: some draws and people, and their classes."""

from typing import TYPE_CHECKING

import numpy as np

from thali.people.columns import people_of

from ...answers.figures import thinned
from ...answers.simulator import MarketDraws, attributes_of, first_task_of, held, none_of
from ...market_draws.best import OCCASIONS, BestOfClasses, codes_in, log_passing, values_table

if TYPE_CHECKING:
    import pandas

    from thali.data.experiments.design import Design

    from ..particles import Particles

MIN_DRAWS, MAX_DRAWS = 40, 200
MAX_OWNED = 150_000  # classes that people own, of all draws: two or three bytes each


def market_draws(draws: "Particles", design: "Design", people: "pandas.DataFrame | None") -> MarketDraws:
    """Evenly spaced draws with everybody, or, of many people, fewer draws with some people each."""
    each = len(draws.owned_class) / draws.n_draws / draws.n_respondents  # classes of a person
    wanted = MAX_OWNED / max(each, 1e-9) / draws.n_respondents
    kept = thinned(draws.group, int(np.clip(wanted, MIN_DRAWS, MAX_DRAWS)))
    most = int(MAX_OWNED / max(each, 1e-9) / len(kept))
    number = min(draws.n_respondents, max(1, most))
    some = "each respondent in each"
    if number < draws.n_respondents:
        some = f"{number:,} of {draws.n_respondents:,} respondents in each, so that intervals are somewhat too wide"
    return MarketDraws(
        attributes_of(design),
        _rule(draws, kept, number),
        float(draws.lapse),
        none_of(design),
        first_task_of(design),
        f"{len(kept):,} draws of the posterior, with {some}",
        people=people_of(people, draws.n_respondents),
    )


def _rule(draws: "Particles", kept: np.ndarray, people: int) -> BestOfClasses:
    """The classes that these draws have, and what some people own in each."""
    number = draws.n_respondents
    places = (kept[:, None] * number + held(len(kept), people, number)).ravel()
    counts = draws.first_owned[places + 1] - draws.first_owned[places]
    owned = np.repeat(draws.first_owned[places] - np.concatenate([[0], np.cumsum(counts)])[:-1], counts)
    owned += np.arange(len(owned))
    classes = [np.arange(*draws.first_class[[d, d + 1]].tolist()) for d in kept]
    chosen = np.concatenate(classes)
    sizes = np.diff(draws.offset)
    cells = np.insert(draws.member[chosen], draws.offset[1:], ~draws.active[chosen], axis=1)
    log_theta, log_fresh = draws.owned_log_theta[owned], log_passing(((1.0 - draws.sigma) * draws.a)[kept])
    table = values_table(np.concatenate([log_theta, log_fresh.ravel()]))
    return BestOfClasses(
        tuple(sizes.tolist()),
        np.concatenate([[0], np.cumsum([len(own) for own in classes])]),
        cells,
        counts.reshape(len(kept), people),
        2 * draws.owned_class[owned] + draws.owned_sign[owned],
        codes_in(table, log_theta),
        codes_in(table, log_fresh),
        table,
        max(1, -(-OCCASIONS // people)),
        number,
    )
