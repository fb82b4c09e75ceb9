"""The part of a posterior that pairs, sets or best-worst choices add: probabilities, and the likelihood of each."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.kinds import BEST_WORST, CHOICES, PAIRS
from thali._posterior.view import COVARIATE

from ..draws.columns import FeatureColumns
from ..draws.counts import outcomes
from ..draws.covariates import Lift, lifted, parts_of, with_worths
from ..draws.probabilities import advantage_blocks, lapsing, probability_draws, slices
from ..draws.tree import MAX_PAIRS, DataPart, pair_coordinates, pair_index, pair_names
from .answer_draws import choice_answers, comparison_answers

if TYPE_CHECKING:
    from thali._data.choices import Choices
    from thali._data.pairs import PairedComparisons


def stored_comparisons(data: "PairedComparisons", lapse: float, unique: bool, has_ties: bool) -> DataPart:
    """Return what a posterior holds of the comparisons themselves."""
    labels = np.asarray(data.labels, dtype=str)
    coefficients = np.bincount(data.cells.pair, data.questions().log_coefficients(), data.n_pairs)
    constants, names = ({}, {}) if data.covariates is None else parts_of(data.covariates)
    observed = {"wins": ("compared_pair", as_counts(data.wins))}
    if has_ties:
        observed["ties"] = "compared_pair", as_counts(data.tied)
    return DataPart(
        kind=PAIRS,
        log_constant=float(coefficients.sum()),
        descriptions={
            "choice_probability": "probability that the first of a pair is chosen, given that one is, including lapses",
            "tie": "nu, the tie parameter",
            "covariate": "covariate coefficients: change in the log odds per unit",
        },
        coordinates=names,
        observed=observed,
        constants={
            "first": ("compared_pair", data.first),
            "second": ("compared_pair", data.second),
            "losses": ("compared_pair", as_counts(data.losses)),
            "log_binomial_coefficient": ("compared_pair", coefficients),
            "lapse": float(lapse),
            "unique": bool(unique),
            "has_ties": has_ties,
            **constants,
        },
        observed_coordinates=pair_coordinates("compared_pair", labels, data.first, data.second) | names,
        rows=("compared_pair", "cell"),
        common=("covariate",),
    )


def choices_part(
    columns: FeatureColumns,
    data: "PairedComparisons",
    shape: tuple[int, int],
    dense: bool,
    *,
    lapse: float,
    unique: bool,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> DataPart:
    """The part of a posterior about pairs; `tie` and `beta`, of ties and covariates, draw by draw."""
    stored, cells = stored_comparisons(data, lapse, unique, tie is not None), data.cells
    if beta is not None:
        assert data.covariates is not None
        columns = with_worths(columns, data.covariates.options, beta)
    variables = {"unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))}
    if beta is not None:
        variables["covariate"] = (("chain", "draw", COVARIATE), beta.reshape(*shape, -1))
    coordinates, pointwise, answers = stored.coordinates, {}, None
    if dense and len(cells.pair) <= MAX_PAIRS:
        answers = partial(comparison_answers(columns, data, lapse, tie, beta), slice(0, len(cells.pair)))
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability, terms = _pair_draws(columns, i, j, data, lapse, tie, beta)
        variables["choice_probability"] = (("chain", "draw", "pair"), probability.reshape(*shape, -1))
        coordinates = coordinates | pair_names(np.asarray(data.labels, dtype=str))
        terms = (terms + stored.constants["log_binomial_coefficient"][1]).reshape(*shape, -1)
        pointwise = {"wins": (("chain", "draw", "compared_pair"), terms)}
    return replace(stored, variables=variables, coordinates=coordinates, pointwise=pointwise, answers=answers)


def as_counts(values: np.ndarray) -> np.ndarray:
    """Counts as integers, by which ArviZ knows discrete data; weighted ones as they are."""
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else values


def _pair_draws(
    columns: FeatureColumns,
    i: np.ndarray,
    j: np.ndarray,
    data: Any,
    lapse: float,
    tie: np.ndarray | None,
    beta: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """p̃ of all pairs i < j with covariates of 0, and the log-likelihood of compared ones, draw by draw."""
    compared = pair_index(data.first, data.second, data.n_options)
    probability = np.empty((columns.n_draws, len(i)))
    pointwise = np.empty((columns.n_draws, len(compared)))
    for draws, ij, ji in advantage_blocks(columns, i, j):
        probability[draws] = lapsing(ij, ji, lapse)
        if beta is None:
            # The reverse probability from its own advantage: 1 - p would lose the digits of a small one.
            reverse = lapsing(ji[:, compared], ij[:, compared], lapse)
            nu = None if tie is None else tie[draws]
            pointwise[draws] = _terms(probability[draws][:, compared], reverse, nu, data)
            continue
        cells, own = data.cells, data.covariates.values
        starts = np.searchsorted(cells.pair, np.arange(data.n_pairs))
        for some in slices(ij.shape[0], len(cells.pair)):  # there may be many more cells than pairs
            these, pairs = slice(draws.start + some.start, draws.start + some.stop), compared[cells.pair]
            up, down = lifted(ij[some][:, pairs], ji[some][:, pairs], Lift(beta, own).of(these))
            nu = None if tie is None else tie[these]
            terms = _terms(lapsing(up, down, lapse), lapsing(down, up, lapse), nu, cells)
            pointwise[these] = np.add.reduceat(terms, starts, axis=1)
    return probability, pointwise


def _terms(p: np.ndarray, q: np.ndarray, tie: np.ndarray | None, counts: Any) -> np.ndarray:
    """The log-likelihood of pairs, or cells, draw by draw."""
    from scipy.special import xlogy

    if tie is None:
        return xlogy(counts.wins, p) + xlogy(counts.losses, q)
    of_outcome = np.moveaxis(outcomes(p, q, tie[:, None]), -1, 0)
    terms = [xlogy(n, p) for n, p in zip((counts.wins, counts.tied, counts.losses), of_outcome, strict=True)]
    return np.sum(terms, axis=0)


# What draws say about choices from sets: choice probabilities, and the likelihood of every set ----------------------


def stored_sets(data: "Choices", lapse: float, unique: bool) -> DataPart:
    """Return what a posterior holds of the choices from sets themselves, or of best and worst."""
    labels, asked, is_named = np.asarray(data.labels, dtype=str), data.questions(), data.worst is not None
    coefficients = asked.log_coefficients()
    names = np.array([", ".join(members) for members in data.sets], dtype=str)
    coordinates, rows = {"set": names}, ("set", "place")
    if is_named:
        rows = (*rows, "answer")
    else:
        offered = "place", names[data.set_of]
        coordinates |= {"offered": offered, "alternative": ("place", labels[data.members])}
    return DataPart(
        kind=BEST_WORST if is_named else CHOICES,
        log_constant=float(coefficients.sum()),
        descriptions={
            "choice_probability": "probability that the first of a pair is chosen, including lapses",
            "set_probability": "probability that the alternative is chosen out of those offered, including lapses",
        },
        observed={"chosen": (rows[-1], as_counts(asked.counts))},
        constants={
            "set_size": ("set", data.sizes),
            "member": ("place", data.members),
            "log_multinomial_coefficient": ("set", coefficients),
            "lapse": float(lapse),
            "unique": bool(unique),
        },
        observed_coordinates=coordinates,
        rows=rows,
    )


def sets_part(
    columns: FeatureColumns,
    data: "Choices",
    shape: tuple[int, int],
    dense: bool,
    *,
    lapse: float,
    unique: bool,
    rule: str,
) -> DataPart:
    """The part of a posterior about choices from sets, or about best and worst of them."""
    stored, asked, labels = stored_sets(data, lapse, unique), data.questions(), np.asarray(data.labels, dtype=str)
    variables: dict[Any, Any] = {
        "unique_weights": (("chain", "draw", "option"), columns.unique_weights.reshape(*shape, -1))
    }
    coordinates, pointwise, answers = {}, {}, None
    if dense:
        i, j = np.triu_indices(data.n_options, k=1)
        probability = probability_draws(columns, i, j, lapse)
        variables["choice_probability"] = (("chain", "draw", "pair"), probability.reshape(*shape, -1))
        coordinates = pair_names(labels)
    if len(asked.counts) <= MAX_PAIRS:
        answers = choice_answers(columns, data, lapse, rule)(slice(0, data.n_sets))
        pointwise = {"chosen": (("chain", "draw", "set"), asked.log_likelihoods(answers).reshape(*shape, -1))}
    if answers is not None and data.worst is None:
        offered, alternative = (stored.observed_coordinates[name][1] for name in ("offered", "alternative"))
        variables["set_probability"] = (("chain", "draw", "place"), answers.reshape(*shape, -1))
        coordinates |= {
            "place": np.array([f"{one} | {of}" for one, of in zip(alternative, offered, strict=True)], dtype=str),
            "offered": ("place_number", offered),  # a separate dimension, as that of `option_a`
            "alternative": ("place_number", alternative),
        }
    drawn = None if answers is None else lambda: answers
    return replace(stored, variables=variables, coordinates=coordinates, pointwise=pointwise, answers=drawn)


# What people were shown, of which the choices may be those of a ranking -----------------------------------------------


def as_shown(part: DataPart, data: "Choices", rule: str) -> DataPart:
    """The part with how many options were shown at once, and by which rule the best and the worst were chosen."""
    told = {"shown_size": ("shown_set", data.sizes)} | ({} if data.worst is None else {"best_worst": rule})
    return replace(part, constants=part.constants | told, rows=(*part.rows, "shown_set"))
