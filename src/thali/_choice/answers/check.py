"""How a fit to a choice experiment is judged: the posterior predictive check, and the rows of the
summary."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thali._data.experiments.scheme import INSIDE, Scheme
from thali._inference.seeds import streams
from thali._posterior.interval import INTERVAL, level_name, tails_of

if TYPE_CHECKING:
    import pandas
    import xarray

    from thali._data.experiments import ChoiceExperiment
    from thali._data.experiments.design import ExperimentDesign

REPLICATES = 100  # at most, at evenly spaced draws
LEVEL, PLACE, PEOPLE = "share of level", "share of position", "heterogeneity between respondents"
_MAX_PLACES = 12


class HasChoiceCheck:
    """What models of choice experiments share that can make all choices once more."""

    # (most, rng): the design of the data, and replicates (draws, tasks) of its choices
    _choices_again: Any

    def check(self, random_seed: Any = None, ci: float = INTERVAL) -> "pandas.DataFrame":
        """Posterior predictive check: which choices would the model seldom make?

        All choices are made once more at evenly spaced draws (100 at most), and compared by numbers
        that describe them.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        pandas.DataFrame
            One row a number, the worst first: `measure` and `category` (share of level: the part of
            tasks in which a product with that level was chosen; share of place: that of the first,
            second, ... alternative; spread between people: the standard deviation over respondents
            of their shares of a level), observed, predicted (mean of the replicates), low and high
            (their interval), p_value (two-sided) and missed (whether observed lies outside).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `ci` is not between 0 and 1.
        DataError
            If the file of the model could not hold the data.

        References
        ----------
        Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized
        discrepancies.
        """
        design, replicates = self._choices_again(REPLICATES, streams(random_seed, 1)[0])
        return choice_check(design, replicates, ci)


def choice_check(
    design: "ChoiceExperiment | ExperimentDesign", replicates: np.ndarray, ci: float
) -> "pandas.DataFrame":
    """Shares of levels and places, and how far people differ, against replicates (draws, tasks) of
    `design.chosen`."""
    from thali._tables import Table

    named, of_rows = _indicators(design)
    found = [_statistics(design, of_rows, chosen) for chosen in (design.chosen, *replicates)]
    observed, drawn = found[0], np.array(found[1:])
    low, high = np.quantile(drawn, tails_of(ci), axis=0)
    below = 2 * (drawn < observed).sum(axis=0) + (drawn == observed).sum(axis=0)
    table = Table(named, columns=["measure", "category"]).assign(
        observed=observed,
        predicted=drawn.mean(axis=0),
        low=low,
        high=high,
        p_value=np.minimum(below, 2 * len(drawn) - below) / len(drawn),
        missed=(observed < low) | (observed > high),
    )
    table = table.sort_values("p_value", kind="stable", ignore_index=True)
    table.attrs.update(interval=ci, draws=len(drawn))
    return table


def check_sentence(table: "pandas.DataFrame") -> str:
    """How many of the numbers the model misses, and the worst of them."""
    missed = table.loc[table["missed"]]
    ci = table.attrs["interval"]
    sentence = (
        f"{len(missed)} of {len(table):,} summary statistics of the choices fell outside the"
        f" {level_name(ci)} predictive intervals (about {(1.0 - ci) * len(table):.0f} expected by"
        " chance)"
    )
    if not len(missed):
        return f"{sentence}."
    worst = [
        f"{row['measure']}, {row['category']} (observed {row['observed']:.3f}, predicted"
        f" {row['low']:.3f} to {row['high']:.3f})"
        for row in missed.head(3).to_dict("records")
    ]
    return f"{sentence}. Worst: {'; '.join(worst)}."


def _indicators(
    design: "ChoiceExperiment | ExperimentDesign",
) -> tuple[list[tuple[str, str]], np.ndarray]:
    """What is counted, and which rows of the tasks count, shape (rows, numbers); then the same
    between people."""
    products = design.products[design.row_product]
    named, columns = [], []
    for place, (name, (groups, of_level)) in enumerate(design.scheme.groups.items()):
        group = np.append(of_level, -1)[products[:, place]]
        for number, label in enumerate(groups):
            named.append((LEVEL, f"{name} = {label}"))
            columns.append(group == number)
    between = [(PEOPLE, of) for _, of in named]
    sizes = np.diff(design.first_row)
    position = np.arange(len(products)) - np.repeat(design.first_row[:-1], sizes)
    for place in range(min(int(sizes.max()), _MAX_PLACES)):
        named.append((PLACE, f"alternative {place + 1}"))
        columns.append(position == place)
    return [*named, *between], np.column_stack(columns).astype(np.float64)


def _statistics(
    design: "ChoiceExperiment | ExperimentDesign", of_rows: np.ndarray, chosen: np.ndarray
) -> np.ndarray:
    """Shares of all choices, and standard deviations over people of their shares of the levels."""
    counted = of_rows[design.first_row[:-1] + chosen]
    levels = sum(len(groups) for groups, _ in design.scheme.groups.values())
    of_people = (
        np.add.reduceat(counted[:, :levels], design.first_task[:-1])
        / np.diff(design.first_task)[:, None]
    )
    return np.concatenate([counted.mean(axis=0), of_people.std(axis=0)])


# The quantities by which models of choice experiments are judged: shares of levels among choices,
# level effects


DESCRIPTIONS = {
    "share": "expected share of the tasks in the data in which a product with that level is chosen",
    "effect": "probability that one level is preferred to the other, all else being equal; mean"
    " over respondents",
}


def share_names(scheme: "Scheme") -> list[str]:
    """Of every level, or group of levels, of an attribute but the first, whose share follows from
    the others."""
    return [
        INSIDE if name == INSIDE else f"{name}={label}"
        for name, (groups, _) in scheme.groups.items()
        for label in groups[1:]
    ]


def levels_of_products(scheme: "Scheme", products: np.ndarray) -> np.ndarray:
    """Which of these levels products (P, attributes) have, shape (P, levels)."""
    columns = []
    for i, (groups, of_level) in enumerate(scheme.groups.values()):
        group = np.append(of_level, -1)[products[:, i]]
        columns += [group == k for k in range(1, len(groups))]
    return np.array(columns, float).T


def level_pairs_of(
    scheme: "Scheme", directions: Sequence[int] | np.ndarray
) -> list[tuple[int, int, int]]:
    """(attribute, level, preferred level) for each level and the first; the better one where there
    is a direction."""
    pairs = []
    for i, (name, levels) in enumerate(scheme.levels.items()):
        first, *others = scheme.compared(name, np.arange(len(levels))).tolist()
        pairs += [(i, first, k) for k in others]
    return [(i, b, a) if directions[i] < 0 else (i, a, b) for i, a, b in pairs]


def effect_names(scheme: "Scheme", pairs: Sequence[tuple[int, int, int]]) -> list[str]:
    """What the pairs are called."""
    named = list(scheme.labels.items())
    return [f"{named[i][0]}: {named[i][1][b]} over {named[i][1][a]}" for i, a, b in pairs]


def named_arrays(
    shares: np.ndarray, effects: np.ndarray, levels: Sequence[str], pairs: Sequence[str]
) -> "dict[str, xarray.DataArray]":
    """Shares and effects (chain, draw, name) as variables of a posterior."""
    import xarray as xr

    found = {"share": (shares, "product_level", levels), "effect": (effects, "level_pair", pairs)}
    return {
        name: xr.DataArray(
            values,
            {dim: list(names)},
            ("chain", "draw", dim),
            attrs={"description": DESCRIPTIONS[name]},
        )
        for name, (values, dim, names) in found.items()
    }


def reported_rows(draws: "xarray.Dataset") -> dict[str, np.ndarray]:
    """Return shares of levels among choices and level effects, arrays (chain, draw) by the names of
    the rows of `summary`."""
    rows = {}
    for name in DESCRIPTIONS:
        variable = draws[name]
        labels = variable[variable.dims[2]].values
        rows |= {f"{name}[{label}]": variable.values[..., k] for k, label in enumerate(labels)}
    return rows
