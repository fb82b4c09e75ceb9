"""Segments by the draws of everybody's preferences, and what they answer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import several_whole
from thali._described import Described, Description
from thali._labels import plural
from thali.errors import Argument, DataError
from thali.inference.seeds import streams

from .agreement import adjusted_rand
from .clusters import centres_of, distances
from .naming import names_of

if TYPE_CHECKING:
    import pandas


MOST_TRIED = 6  # segments, where their number is not given
_AS_STABLE = 0.05  # difference of stability below which more segments are better
_CLOSEST = 0.02  # of a preference to 0 and 1


class Preferences(NamedTuple):
    """Preferences of N people in D draws for F levels; .5: indifferent."""

    levels: tuple[tuple[str, str], ...]  # (attribute, level)
    values: np.ndarray  # (D, N, F) between 0 and 1
    respondents: tuple[str, ...]


@dataclass(frozen=True, repr=False, eq=False)
class Segments(Described):
    """Segments of the respondents.

    Attributes
    ----------
    sizes : pandas.DataFrame
        One row a segment, the largest first: `name` (the levels that it prefers most beyond everybody), `people`,
        `share` of these respondents (mean over draws) and its 89 % interval `share_low` to `share_high`.
    profiles : pandas.DataFrame
        One row a segment and level: `preferred`, how often the level is preferred to another one of its attribute, all
        else being equal (.5: indifferent), its 89 % interval over draws `preferred_low` to `preferred_high`, and
        `everybody`, the same of all respondents.
    assignment : pandas.DataFrame
        One row a respondent: `segment`, and `probability`, the share of draws in which she belongs to it.
    probabilities : pandas.DataFrame
        Respondents by segments.
    stability : float
        Adjusted Rand index between the segments of a draw and the assignment, mean over draws: 1 if all draws agree,
        0 if they agree as chance does.
    by_number : pandas.DataFrame
        One row a number of segments that was tried: `stability`, `explained` (the part of the variance between people
        that lies between segments) and `smallest` (share of the smallest segment).
    """

    sizes: "pandas.DataFrame"
    profiles: "pandas.DataFrame"
    assignment: "pandas.DataFrame"
    probabilities: "pandas.DataFrame"
    stability: float
    by_number: "pandas.DataFrame"

    def __len__(self) -> int:
        return len(self.sizes)

    def table(self) -> "pandas.DataFrame":
        """The profiles beside each other.

        Returns
        -------
        pandas.DataFrame
            One row a level; columns `attribute`, `level`, `everybody`, and "segment 1", "segment 2", ...
        """
        from thali._tables import Table

        parts = dict(list(self.profiles.groupby("segment")))
        first = parts[1].reset_index(drop=True)[["attribute", "level", "everybody"]]
        return Table(first.assign(**{f"segment {k}": part["preferred"].to_numpy() for k, part in parts.items()}))

    def _description(self) -> Description:
        shares = [
            (f"segment {number}", f"{100 * row['share']:.0f} %: {row['name']}")
            for number, row in self.sizes.to_dict("index").items()
        ]
        note = f"Stability {self.stability:.2f} (adjusted Rand index of draws with the assignment; 1: all agree)."
        return Description(
            f"{plural(len(self), 'segment')} of {plural(len(self.assignment), 'respondent')}",
            tuple(shares),
            table=self.table().round(2),
            note=note,
        )

    def __str__(self) -> str:
        from thali._described import as_text

        return as_text(self._description())

    __repr__ = __str__


def segments_of(preferences: Preferences, number: Any, random_seed: Any) -> Segments:
    r"""Segments by k-means: centres of everybody's mean, to the nearest of which people belong in every draw.

    What is compared is the log odds of preferences, since probabilities near 0 and 1 hide how far people differ.

    .. math:: \ln \frac{v}{1 - v}, \qquad v \text{ between .02 and .98}
    """
    people = preferences.values.shape[1]
    numbers = numbers_of_segments(number, people)
    within = np.clip(preferences.values, _CLOSEST, 1.0 - _CLOSEST)
    points = np.log(within / (1.0 - within)) * np.sqrt(_weights(preferences))
    seeds = streams(random_seed, max(numbers) + 1)  # segments of one number do not depend on the others
    tried = {k: _partitions(points, k, seeds[k]) for k in numbers}
    found = {k: labels for k, labels in tried.items() if len(np.unique(_assigned(labels, k))) == k}
    if not found and number is None:
        found = {1: np.zeros(points.shape[:2], np.int64)}
    if not found:
        kinds = len(np.unique(_assigned(tried[numbers[0]], numbers[0])))
        raise DataError(
            f"The model finds {plural(kinds, 'kind')} of people, so that {numbers[0]} segments cannot be made; "
            "ask for fewer by ",
            Argument("k"),
            ".",
        )
    rows = {k: _row(points, labels, k) for k, labels in found.items()}
    enough = max(row["stability"] for row in rows.values()) - _AS_STABLE
    best = max(k for k, row in rows.items() if row["stability"] >= enough)
    return _answer(preferences, found[best], best, rows)


def numbers_of_segments(number: Any, people: int, name: str = "k") -> tuple[int, ...]:
    """The numbers of segments that are to be tried."""
    if number is None:
        return tuple(range(2, min(MOST_TRIED, people - 1) + 1)) or (2,)
    numbers = several_whole(name, number, 2)
    if max(numbers) > people:
        raise DataError(
            f"{max(numbers):,} segments are more than the {plural(people, 'respondent')}; ask for fewer by ",
            Argument(name),
            ".",
        )
    return numbers


def _weights(preferences: Preferences) -> np.ndarray:
    """Weights of levels by which all attributes count alike: a strict order lies 1 from indifference."""
    attributes = [attribute for attribute, _ in preferences.levels]
    sizes = [attributes.count(attribute) for attribute in attributes]
    return np.array([1.0 / ((np.linspace(0.0, 1.0, size) - 0.5) ** 2).sum() for size in sizes])


def _partitions(points: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """The segment of everybody in every draw, shape (draws, people); the largest is number 0."""
    centres = centres_of(points.mean(axis=0), number, rng)
    labels = np.stack([distances(draw, centres).argmin(axis=1) for draw in points])
    order = np.argsort(-np.bincount(labels.ravel(), minlength=number), kind="stable")
    return np.argsort(order)[labels]


def _probabilities(labels: np.ndarray, number: int) -> np.ndarray:
    """The share of draws in which everybody is in each segment, shape (people, K)."""
    return np.stack([(labels == k).mean(axis=0) for k in range(number)], axis=1)


def _assigned(labels: np.ndarray, number: int) -> np.ndarray:
    """The segment to which everybody belongs in most draws."""
    return _probabilities(labels, number).argmax(axis=1)


def _row(points: np.ndarray, labels: np.ndarray, number: int) -> dict[str, float]:
    """What is said of a number of segments."""
    mean = points.mean(axis=0)
    assigned = _assigned(labels, number)
    within = sum(((mean[assigned == k] - mean[assigned == k].mean(axis=0)) ** 2).sum() for k in np.unique(assigned))
    total = ((mean - mean.mean(axis=0)) ** 2).sum()
    smallest = np.bincount(assigned, minlength=number).min() / len(assigned)
    return {
        "stability": float(np.mean([adjusted_rand(own, assigned) for own in labels])),
        "explained": float(1.0 - within / total) if total > 0.0 else np.nan,
        "smallest": float(smallest),
    }


def _answer(
    preferences: Preferences,
    labels: np.ndarray,
    number: int,
    rows: dict[int, dict[str, float]],
) -> Segments:
    """All tables of one number of segments."""
    import pandas as pd

    from thali._tables import Table
    from thali.posterior.interval import INTERVAL, TAILS

    probabilities = _probabilities(labels, number)
    assigned = probabilities.argmax(axis=1)
    index = pd.Index(np.arange(1, number + 1), name="segment")
    shares = np.stack([(labels == k).mean(axis=1) for k in range(number)], axis=1)
    profiles = _profiles(preferences.values, labels, number)
    everybody = preferences.values.mean(axis=(0, 1))
    means = np.nanmean(profiles, axis=0)
    sizes = Table(
        {
            "name": names_of(preferences.levels, means, everybody),
            "people": np.bincount(assigned, minlength=number),
            "share": shares.mean(axis=0),
            **dict(zip(("share_low", "share_high"), np.quantile(shares, TAILS, axis=0), strict=True)),
        },
        index,
    )
    sizes.attrs["interval"] = INTERVAL
    low, high = np.nanquantile(profiles, TAILS, axis=0)
    rows_of_profiles = {
        "segment": np.repeat(index, len(preferences.levels)),
        "attribute": [attribute for attribute, _ in preferences.levels] * number,
        "level": [level for _, level in preferences.levels] * number,
        "preferred": means.ravel(),
        "preferred_low": low.ravel(),
        "preferred_high": high.ravel(),
        "everybody": np.tile(everybody, number),
    }
    levels = Table(rows_of_profiles)
    levels.attrs["interval"] = INTERVAL
    people = pd.Index(preferences.respondents, name="respondent")
    assignment = Table({"segment": assigned + 1, "probability": probabilities.max(axis=1)}, people)
    return Segments(
        sizes,
        levels,
        assignment,
        Table(probabilities, people, index),
        rows[number]["stability"],
        Table(list(rows.values()), pd.Index(list(rows), name="segments")),
    )


def _profiles(values: np.ndarray, labels: np.ndarray, number: int) -> np.ndarray:
    """Mean preferences of the people in each segment, shape (draws, K, F); NaN in a draw in which it has nobody."""
    members = np.stack([labels == k for k in range(number)], axis=1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return members @ values / members.sum(axis=2, keepdims=True)
