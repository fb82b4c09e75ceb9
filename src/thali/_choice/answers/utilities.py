"""What each level adds to utility: of everybody, or of each person, as it is or as zero-centred
differences."""

from typing import TYPE_CHECKING

import numpy as np

from thali._data.experiments.scheme import INSIDE, INSIDE_LEVELS
from thali.errors import Argument, ArgumentError, Setting

from .chooser import Chooser, centre, ends_of_draws, probability_of
from .effects import MAX_DRAWS, ByLevels, by_levels
from .simulator import none_of

if TYPE_CHECKING:
    import pandas

MEAN_RANGE = 100.0  # of the attributes, where utilities are zero-centred differences
NOTHING = (INSIDE, INSIDE_LEVELS[0])  # what choosing nothing is called among levels
_ROUNDING = 1e-12  # of a difference of utilities


def utilities(
    chooser: Chooser, each_person: bool, zero_centred: bool, ci: float
) -> "pandas.DataFrame":
    """A row a level, or a row a person and a column a level."""
    from thali._tables import Table

    ci = probability_of(ci)
    if zero_centred and not each_person:
        raise ArgumentError(
            Argument("zero_centred"),
            " applies to the table per respondent; the sample table has both scales. Set ",
            Setting("each_person", True),
            ", or remove ",
            Argument("zero_centred"),
            ".",
        )
    asked = by_levels(chooser)
    nothing = _nothing(chooser)
    products = np.concatenate([asked.products, asked.examples, nothing])
    named = _names(chooser, asked) + [NOTHING] * len(nothing)
    of_people = _centred(chooser.expected_utilities(products), asked)
    scaled = of_people * _factors(of_people, asked)[:, None]
    differs = chooser.has_individuals
    if each_person:
        if not differs:
            of_people, scaled = (
                np.repeat(each, len(chooser.data.respondents), axis=0)
                for each in (of_people, scaled)
            )
        columns = [f"{attribute}: {level}" for attribute, level in named]
        table = Table(scaled if zero_centred else of_people, chooser.data.respondents, columns)
        return table.rename_axis("respondent")
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
