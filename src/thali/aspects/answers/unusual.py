"""People whose answers are like nobody else's: how probable those of each are, beside those of simulated people."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali.data.kinds import BEST_WORST, OF_GROUPS, PAIRS
from thali.errors import ArgumentError
from thali.inference.seeds import streams
from thali.posterior.view import Posterior

from ..draws.columns import Columns
from ..likelihoods.best_worst import rule_of
from .check_by_data import whole_choices
from .groups import _rows_of
from .kind import of_kind
from .new_people import new_people, population_in
from .predict import out_of_sets

if TYPE_CHECKING:
    import pandas
    import xarray

AMONG, SIMULATED = 1_000, 199  # new people by whom answers are judged, and of whom answers are simulated
SAME = 1e-9  # nats; two that are nearer are equal but for rounding


class Answered(NamedTuple):
    """What a person answered, and how often, set after set."""

    places: list[np.ndarray]  # the members of each set
    counts: np.ndarray  # (answers,)


def unusual_table(tree: "xarray.DataTree", random_seed: Any) -> "pandas.DataFrame":
    """A row a person, those whose answers are the least probable beside simulated ones first."""
    import pandas as pd

    from thali._tables import Table

    seen = Posterior(tree)
    kind = OF_GROUPS[seen.data_kind]
    if not of_kind(kind).of_choices or seen.tie is not None:
        raise ArgumentError("unusual_people is for choices without ties.")
    among, simulated = _new_people(tree)
    lapse, rule = float(seen.fixed["lapse"]), rule_of(tree)
    rows = []
    for g, rng in enumerate(streams(random_seed, len(seen.groups))):
        places, counts = answered_by(tree, g)
        start = np.concatenate([[0], np.cumsum(_sizes(places, kind))])

        def probabilities(people: list[Columns], places: list[np.ndarray] = places) -> np.ndarray:
            each = [out_of_sets(columns, places, kind == BEST_WORST, lapse, rule) for columns in people]
            drawn = [draws_of(slice(0, columns.n_draws)) for (draws_of, _), columns in zip(each, people, strict=True)]
            return np.concatenate(drawn)

        of_sets = np.split(probabilities(simulated), start[1:-1], axis=1)
        totals = np.add.reduceat(counts, start[:-1])
        drawn = [rng.multinomial(n, p / p.sum(axis=1, keepdims=True)) for n, p in zip(totals, of_sets, strict=True)]
        answers = np.concatenate([counts[None], np.concatenate(drawn, axis=1)])
        logs = log_means(probabilities(among), answers) / counts.sum()
        as_odd = (logs[1:] <= logs[0] + SAME).sum()
        rows.append((counts.sum(), logs[0], logs[1:].mean(), (1 + as_odd) / (1 + SIMULATED)))
    index = pd.Index(seen.groups, name="person")
    table = Table(rows, index, ["answers", "log_predictive", "expected", "p_value"])
    table.attrs["simulated"] = SIMULATED
    return table.sort_values(["p_value", "log_predictive"], kind="stable")


def log_means(p: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """ln of the mean over people of the probability of all answers; `p` (people, answers), counts (rows, answers)."""
    from scipy.special import logsumexp

    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(p), -1e6) @ answers.T.astype(float)  # what nobody does is no NaN where it is not done
    return logsumexp(logs, axis=0) - np.log(len(p))


def answered_by(tree: "xarray.DataTree", g: int) -> Answered:
    """What the person of that number answered; a comparison is a choice out of a set of two."""
    fixed, observed = (_rows_of(tree[part].to_dataset(), g) for part in ("constant_data", "observed_data"))
    if OF_GROUPS[Posterior(tree).data_kind] == PAIRS:
        places = list(np.stack([fixed["first"].values, fixed["second"].values], axis=1))
        counts = np.stack([observed["wins"].values, fixed["losses"].values], axis=1).ravel()
    else:
        places = np.split(fixed["member"].values, np.cumsum(fixed["set_size"].values)[:-1])
        counts = observed["chosen"].values
    named = {"alternative": np.arange(len(counts)), "offered": np.full(len(counts), "the sets")}
    return Answered(places, whole_choices(counts, named))


def _sizes(places: list[np.ndarray], kind: str) -> np.ndarray:
    """How many answers there may be to each set."""
    sizes = np.array([len(each) for each in places])
    return sizes * (sizes - 1) if kind == BEST_WORST else sizes


def _new_people(tree: "xarray.DataTree") -> tuple[list[Columns], list[Columns]]:
    """New people of evenly spaced draws by whom answers are judged, and others whose answers are simulated."""
    population = population_in(tree)
    draws = population.common.n_draws
    kept = np.unique(np.linspace(0, draws - 1, min(draws, AMONG)).round().astype(np.int64))
    each = new_people(population.taken(kept))
    number = min(-(-AMONG // len(kept)), len(each) - 1)
    others, some = each[number:], np.linspace(0, len(kept) - 1, SIMULATED).round().astype(np.int64)
    return each[:number], [people.take(some[k :: len(others)]) for k, people in enumerate(others)]
