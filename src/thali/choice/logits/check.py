"""The posterior predictive check of choice experiments: which choices would the model seldom make?"""

from typing import TYPE_CHECKING, Any

import numpy as np

from thali.inference.seeds import streams
from thali.posterior.interval import INTERVAL, TAILS

if TYPE_CHECKING:
    import pandas

REPLICATES = 100  # at most, at evenly spaced draws
LEVEL, PLACE, PEOPLE = "share of level", "share of place", "spread between people"
_MAX_PLACES = 12


class HasChoiceCheck:
    """What models of choice experiments share that can make all choices once more."""

    _choices_again: Any  # (most, rng): the design of the data, and replicates (draws, tasks) of its choices

    def check(self, random_seed: Any = None) -> "pandas.DataFrame":
        """Posterior predictive check: which choices would the model seldom make?

        All choices are made once more at evenly spaced draws (100 at most), and compared by numbers that describe them.

        Parameters
        ----------
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the replicates.

        Returns
        -------
        pandas.DataFrame
            One row a number, the worst first: `what` and `of` (share of level: the part of tasks in which a product
            with that level was chosen; share of place: that of the first, second, ... alternative; spread between
            people: the standard deviation over respondents of their shares of a level), observed, predicted (mean of
            the replicates), low and high (the interval that holds 89 % of them), p_value (two-sided) and missed
            (whether observed lies outside).

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the file of the model could not hold the data.

        References
        ----------
        Gelman, Meng & Stern (1996), Posterior predictive assessment of model fitness via realized discrepancies.
        """
        design, replicates = self._choices_again(REPLICATES, streams(random_seed, 1)[0])
        return choice_check(design, replicates)


def choice_check(design: Any, replicates: np.ndarray) -> "pandas.DataFrame":
    """Shares of levels and of places in the task, and how far people differ, against replicates of all choices.

    The design is a `ChoiceExperiment` or what a model keeps of it; replicates (draws, tasks) are like `chosen`.
    """
    from thali._tables import Table

    named, of_rows = _indicators(design)
    found = [_statistics(design, of_rows, chosen) for chosen in (design.chosen, *replicates)]
    observed, drawn = found[0], np.array(found[1:])
    low, high = np.quantile(drawn, TAILS, axis=0)
    below = 2 * (drawn < observed).sum(axis=0) + (drawn == observed).sum(axis=0)
    table = Table(named, columns=["what", "of"]).assign(
        observed=observed,
        predicted=drawn.mean(axis=0),
        low=low,
        high=high,
        p_value=np.minimum(below, 2 * len(drawn) - below) / len(drawn),
        missed=(observed < low) | (observed > high),
    )
    table = table.sort_values("p_value", kind="stable", ignore_index=True)
    table.attrs.update(interval=INTERVAL, draws=len(drawn))
    return table


def check_sentence(table: "pandas.DataFrame") -> str:
    """How many of the numbers the model misses, and the worst of them."""
    missed = table.loc[table["missed"]]
    expected = (1.0 - table.attrs["interval"]) * len(table)
    sentence = (
        f"{len(missed) or 'None'} of {len(table):,} numbers that describe the choices lie outside the"
        f" {100 * INTERVAL:g} % interval of the model's own replicates (about {expected:.0f} of data that it was not"
        " fitted to would, of these data fewer)"
    )
    if not len(missed):
        return f"{sentence}."
    worst = [
        f"{row['what']}, {row['of']} (observed {row['observed']:.3f}, predicted {row['low']:.3f} to {row['high']:.3f})"
        for row in missed.head(3).to_dict("records")
    ]
    return f"{sentence}. The worst: {'; '.join(worst)}."


def _indicators(design: Any) -> tuple[list[tuple[str, str]], np.ndarray]:
    """What is counted, and which rows of the tasks count, shape (rows, numbers); then the same between people."""
    products = design.products[design.row_product]
    named, columns = [], []
    for place, (name, levels) in enumerate(design.scheme.levels.items()):
        for code, level in enumerate(levels):
            named.append((LEVEL, f"{name} = {level}"))
            columns.append(products[:, place] == code)
    between = [(PEOPLE, of) for _, of in named]
    sizes = np.diff(design.first_row)
    position = np.arange(len(products)) - np.repeat(design.first_row[:-1], sizes)
    for place in range(min(int(sizes.max()), _MAX_PLACES)):
        named.append((PLACE, f"alternative {place + 1}"))
        columns.append(position == place)
    return [*named, *between], np.column_stack(columns).astype(np.float64)


def _statistics(design: Any, of_rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Shares of all choices, and standard deviations over people of their shares of the levels."""
    counted = of_rows[design.first_row[:-1] + chosen]
    levels = sum(map(len, design.scheme.levels.values()))
    of_people = np.add.reduceat(counted[:, :levels], design.first_task[:-1]) / np.diff(design.first_task)[:, None]
    return np.concatenate([counted.mean(axis=0), of_people.std(axis=0)])
