"""What each level adds to utility: of everybody, or of each person, as it is or as zero-centred
differences."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.experiments.scheme import INSIDE, INSIDE_LEVELS

from .chooser import Chooser, centre, ends_of_draws, probability_of
from .effects import MAX_DRAWS, ByLevels, by_levels
from .simulator import none_of

if TYPE_CHECKING:
    import pandas

MEAN_RANGE = 100.0  # of the attributes, where utilities are zero-centred differences
NOTHING = (INSIDE, INSIDE_LEVELS[0])  # what choosing nothing is called among levels
_ROUNDING = 1e-12  # of a difference of utilities


def utilities(chooser: Chooser, ci: float) -> "pandas.DataFrame":
    """Return the utility of each level, a row each, as mean over respondents."""
    from thali._tables import Table

    ci = probability_of(ci)
    named, of_people, scaled = _level_utilities(chooser)
    differs = chooser.has_individuals
    fewer = chooser.thinned(MAX_DRAWS)
    _, of_draws = utility_draws(fewer)
    low, high = ends_of_draws(fewer, of_draws, ci)
    table = Table(named, columns=["attribute", "level"]).assign(
        **{
            "utility": of_people.mean(axis=0) if differs else centre(fewer, of_draws),
            "low": low,
            "high": high,
            "std_error": fewer.errors(of_draws, fewer.chain),
            **({"respondents_sd": of_people.std(axis=0)} if differs else {}),
            "zero_centred": scaled.mean(axis=0),
            **({"zero_centred_sd": scaled.std(axis=0)} if differs else {}),
        }
    )
    table.attrs.update(chooser.facts(ci))
    return table


def tabulate_respondent_utilities(chooser: Chooser, zero_centred: bool) -> "pandas.DataFrame":
    """Return the utility of each level for each respondent, (respondents, levels)."""
    from thali._tables import Table

    named, of_people, scaled = _level_utilities(chooser)
    respondents = chooser.data.respondents
    values = np.zeros((len(respondents), 1)) + (scaled if zero_centred else of_people)
    columns = [f"{attribute}: {level}" for attribute, level in named]
    return Table(values, respondents, columns).rename_axis("respondent")


def _level_utilities(
    chooser: Chooser,
) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """Return attributes and levels, and for each respondent their utilities and zero-centred
    differences; one row if all respondents have the same tastes."""
    asked, nothing = by_levels(chooser), _nothing(chooser)
    products = np.concatenate([asked.products, asked.examples, nothing])
    named = _names(chooser, asked) + [NOTHING] * len(nothing)
    of_people = _centred(chooser.expected_utilities(products), asked)
    return named, of_people, of_people * _factors(of_people, asked)[:, None]


def utility_draws(chooser: Chooser) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Attributes and levels, and the mean utility of people for each, centred, in every draw
    (draws, levels)."""
    asked, nothing = by_levels(chooser), _nothing(chooser)
    products = np.concatenate([asked.products, asked.examples, nothing])
    found = [_centred(block, asked).mean(axis=1) for block in chooser.utilities(products)]
    return _names(chooser, asked) + [NOTHING] * len(nothing), np.concatenate(found)


def _nothing(chooser: Chooser) -> np.ndarray:
    """The no-choice option as a product, if there is one."""
    nothing = none_of(chooser.data)
    width = len(chooser.data.scheme.names)
    return np.empty((0, width)) if nothing is None else np.array([nothing], float)


def _names(chooser: Chooser, asked: ByLevels) -> list[tuple[str, str]]:
    """Attribute and level of each row of the table, but for choosing nothing."""
    labels = chooser.data.scheme.levels
    names = chooser.data.scheme.names
    return [
        (names[i], labels[names[i]][level])
        for i, levels in asked.levels.items()
        for level in levels
    ]


# v_il = u(x with l) - 1/L Σ_m u(x with m), means over the examples x; of nothing its utility less
# that of a product of which all levels of each attribute are alike.
def _centred(utilities: np.ndarray, asked: ByLevels) -> np.ndarray:
    """What each level adds, and nothing (..., levels), of the utilities (..., products) of what was
    asked."""
    count, examples = len(asked.products), len(asked.examples)
    found = asked.shaped(utilities[..., :count]).mean(axis=-1)
    typical = utilities[..., count : count + examples].mean(axis=-1)
    average = typical.copy()
    for levels in asked.places.values():
        mean = found[..., levels].mean(axis=-1)
        average += mean - typical
        found[..., levels] -= mean[..., None]
    found[np.abs(found) < _ROUNDING] = 0.0
    return np.concatenate([found, utilities[..., count + examples :] - average[..., None]], axis=-1)


def _factors(of_people: np.ndarray, asked: ByLevels) -> np.ndarray:
    """What makes the mean range over attributes `MEAN_RANGE`, of each person; 0 of one who is
    indifferent."""
    total = sum(np.ptp(of_people[:, levels], axis=1) for levels in asked.places.values())
    whole = MEAN_RANGE * len(asked.places)
    return np.divide(whole, total, out=np.zeros(len(of_people)), where=total > 0)
