"""Segments of people by draws of what each prefers: k-means, how stable they are, and their
names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_integers
from thali._data.kinds import INSIDE, INSIDE_LEVELS
from thali._described import Described, Description, as_text
from thali._digits import format_percent
from thali._inference.indexing import space_evenly
from thali._inference.seeds import spawn_generators
from thali._labels import format_plural
from thali._posterior.interval import INTERVAL, tails_of
from thali.errors import Argument, DataError

if TYPE_CHECKING:
    import pandas

MAX_TRIED = 6  # segments, where their number is not given
_AS_STABLE = 0.05  # difference of stability below which more segments are better
_CLOSEST = 0.02  # of a preference to 0 and 1


MAX_DRAWS = 100
_MAX_NUMBERS = 2e7  # draws x people x levels


class Preferences(NamedTuple):
    """Preferences of N people in D draws for F levels of attributes, or options; .5:
    indifferent."""

    levels: tuple[tuple[str, ...], ...]  # (attribute, level), or (option,)
    values: np.ndarray  # (D, N, F) between 0 and 1
    respondents: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What a level is called by, as columns."""
        return ("option",) if len(self.levels[0]) == 1 else ("attribute", "level")


def spaced_draws(draws: int, people: int, levels: int) -> np.ndarray:
    """Numbers of evenly spaced draws, as many as there is room for."""
    most = int(np.clip(_MAX_NUMBERS / (people * levels), 2, MAX_DRAWS))
    return space_evenly(draws, most)


class HasSegments:
    """What models share that know what everybody prefers."""

    _preferences: Any  # () -> Preferences

    def segments(self, k: Any = None, random_seed: Any = 0, ci: float = INTERVAL) -> "Segments":
        r"""Segments of the respondents by what they prefer, with their sizes, profiles, names and
        stability.

        People are grouped by k-means of the mean log odds of their preferences; in every draw of
        the posterior each belongs to the nearest centre. Preferences are

        .. math::

            v_{nl} = \frac{1}{L - 1} \sum_{m \neq l} P_n(\text{level } l \succ \text{level } m),

        how often a person chooses a product with level l rather than one with another level of the
        attribute, all else being equal; all attributes count alike, whatever their number of
        levels. Of choices among options they are how often a person chooses one option rather than
        another one, for all others alike. Segments of people who differ by degrees can be stable
        without being separate groups: read `explained` beside `stability`.

        Parameters
        ----------
        k : int, or several, optional
            How many segments; of several the most stable number is chosen, the largest of those
            within .05 of it. None: from 2 to 6, or one where nobody differs.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the starts of k-means.
        ci : float in (0, 1)
            Probability of the intervals.

        Returns
        -------
        Segments
            `.sizes`, `.profiles`, `.assignment`, `.probabilities`, `.stability`, `.by_number`;
            `print` shows them.

        Raises
        ------
        ArgumentError
            If `k` is no whole number of 2 or more, `ci` is not between 0 and 1, or the model does
            not know what each person prefers.
        DataError
            If there are more segments than respondents, or the file of the model could not hold the
            data.

        References
        ----------
        Hubert & Arabie (1985), Comparing partitions.
        """
        return segments_of(self._preferences(), k, random_seed, ci)


@dataclass(frozen=True, repr=False, eq=False)
class Segments(Described):
    """Segments of the respondents.

    Attributes
    ----------
    sizes : pandas.DataFrame
        One row a segment, the largest first: `name` (the levels that it prefers most beyond
        everybody), `respondents`, `share` of these respondents (mean over draws) and its interval
        `share_low` to `share_high`.
    profiles : pandas.DataFrame
        One row a segment and level of an attribute, or option: `preferred`, how often the level is
        preferred to another one of its attribute, all else being equal, or the option to another
        one (.5: indifferent), its interval over draws `preferred_low` to `preferred_high`, and
        `all_respondents`, the same of all respondents.
    assignment : pandas.DataFrame
        One row a respondent: `segment`, and `probability`, the share of draws in which she belongs
        to it.
    probabilities : pandas.DataFrame
        Respondents by segments.
    stability : float
        Adjusted Rand index between the segments of a draw and the assignment, mean over draws: 1 if
        all draws agree, 0 if they agree as chance does.
    by_number : pandas.DataFrame
        One row a number of segments that was tried: `stability`, `explained` (the part of the
        variance between people that lies between segments) and `smallest` (share of the smallest
        segment).
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
            One row a level, or option; columns `attribute` and `level`, or `option`,
            `all_respondents`, and "segment 1", "segment 2", ...
        """
        from thali._tables import Table

        parts = dict(list(self.profiles.groupby("segment")))
        names = [name for name in ("attribute", "level", "option") if name in self.profiles]
        first = parts[1].reset_index(drop=True)[[*names, "all_respondents"]]
        return Table(
            first.assign(
                **{f"segment {k}": part["preferred"].to_numpy() for k, part in parts.items()}
            )
        )

    def _description(self) -> Description:
        shares = [
            (f"segment {number}", f"{format_percent(row['share'])}: {row['name']}")
            for number, row in self.sizes.to_dict("index").items()
        ]
        note = (
            f"Stability {self.stability:.2f} (adjusted Rand index between draws and the"
            " assignment; 1: all draws agree)."
        )
        return Description(
            f"{format_plural(len(self), 'segment')} of"
            f" {format_plural(len(self.assignment), 'respondent')}",
            tuple(shares),
            table=self.table().round(2),
            note=note,
        )

    def __str__(self) -> str:
        return as_text(self._description())

    __repr__ = __str__


def segments_of(
    preferences: Preferences, number: Any, random_seed: Any, ci: float = INTERVAL
) -> Segments:
    r"""Segments by k-means: centres of everybody's mean, to the nearest of which people belong in
    every draw.

    What is compared is the log odds of preferences, since probabilities near 0 and 1 hide how far
    people differ.

    .. math:: \ln \frac{v}{1 - v}, \qquad v \text{ between .02 and .98}
    """
    people = preferences.values.shape[1]
    numbers = numbers_of_segments(number, people)
    within = np.clip(preferences.values, _CLOSEST, 1.0 - _CLOSEST)
    points = np.log(within / (1.0 - within)) * np.sqrt(_weights(preferences))
    # segments of one number do not depend on the others
    seeds = spawn_generators(random_seed, max(numbers) + 1)
    tried = {k: _partitions(points, k, seeds[k]) for k in numbers}
    found = {k: labels for k, labels in tried.items() if len(np.unique(_assigned(labels, k))) == k}
    if not found and number is None:
        found = {1: np.zeros(points.shape[:2], np.int64)}
    if not found:
        kinds = len(np.unique(_assigned(tried[numbers[0]], numbers[0])))
        raise DataError(
            f"Respondents form only {format_plural(kinds, 'segment')}, so {numbers[0]} are not"
            " possible; reduce ",
            Argument("k"),
            ".",
        )
    rows = {k: _row(points, labels, k) for k, labels in found.items()}
    enough = max(row["stability"] for row in rows.values()) - _AS_STABLE
    best = max(k for k, row in rows.items() if row["stability"] >= enough)
    return _answer(preferences, found[best], best, rows, ci)


def numbers_of_segments(number: Any, people: int, name: str = "k") -> tuple[int, ...]:
    """The numbers of segments that are to be tried."""
    if number is None:
        return tuple(range(2, min(MAX_TRIED, people - 1) + 1)) or (2,)
    numbers = check_integers(name, number, 2)
    if max(numbers) > people:
        raise DataError(
            f"{max(numbers):,} segments are too many for {format_plural(people, 'respondent')};"
            " reduce ",
            Argument(name),
            ".",
        )
    return numbers


def _weights(preferences: Preferences) -> np.ndarray:
    """Weights of levels by which all attributes count alike: a strict order lies 1 from
    indifference."""
    attributes = [attribute for *attribute, _ in preferences.levels]
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
    """Notes on a number of segments."""
    mean = points.mean(axis=0)
    assigned = _assigned(labels, number)
    within = sum(
        ((mean[assigned == k] - mean[assigned == k].mean(axis=0)) ** 2).sum()
        for k in np.unique(assigned)
    )
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
    ci: float,
) -> Segments:
    """All tables of one number of segments."""
    import pandas as pd

    from thali._tables import Table

    probabilities = _probabilities(labels, number)
    assigned = probabilities.argmax(axis=1)
    index = pd.Index(np.arange(1, number + 1), name="segment")
    shares = np.stack([(labels == k).mean(axis=1) for k in range(number)], axis=1)
    profiles = _profiles(preferences.values, labels, number)
    everybody = preferences.values.mean(axis=(0, 1))
    means = np.nanmean(profiles, axis=0)
    low, high = np.quantile(shares, tails_of(ci), axis=0)
    sizes = Table(
        {
            "name": names_of(preferences.levels, means, everybody),
            "respondents": np.bincount(assigned, minlength=number),
            "share": shares.mean(axis=0),
            "share_low": low,
            "share_high": high,
        },
        index,
    )
    sizes.attrs["interval"] = ci
    low, high = np.nanquantile(profiles, tails_of(ci), axis=0)
    levels = Table(preferences.levels * number, columns=preferences.names).assign(
        preferred=means.ravel(),
        preferred_low=low.ravel(),
        preferred_high=high.ravel(),
        all_respondents=np.tile(everybody, number),
    )
    levels.insert(0, "segment", np.repeat(index, len(preferences.levels)))
    levels.attrs["interval"] = ci
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
    """Mean preferences of the people in each segment, shape (draws, K, F); NaN in a draw in which
    it has nobody."""
    members = np.stack([labels == k for k in range(number)], axis=1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return members @ values / members.sum(axis=2, keepdims=True)


# K-means (Lloyd 1982), with starts that are spread out (Arthur & Vassilvitskii 2007) --------------


_STARTS = 20
_MAX_PASSES = 100


def centres_of(points: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """The best of several runs: centres (K, F) that leave the least sum of squared distances."""
    found = [_moved(points, _spread(points, number, rng)) for _ in range(_STARTS)]
    return min(found, key=lambda centres: distances(points, centres).min(axis=1).sum())


def _moved(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Centres moved to the means of their points until no point changes; one without points
    stays."""
    nearest = None
    for _ in range(_MAX_PASSES):
        before, nearest = nearest, distances(points, centres).argmin(axis=1)
        if before is not None and np.array_equal(nearest, before):
            break
        counts = np.bincount(nearest, minlength=len(centres))
        sums = np.stack([np.bincount(nearest, column, len(centres)) for column in points.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Squared distances, shape (points, centres)."""
    return np.maximum(
        (points**2).sum(axis=1)[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1), 0.0
    )


def _spread(points: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Points drawn one after the other, each in proportion to the squared distance from those
    before."""
    centres = points[[rng.integers(len(points))]]
    for _ in range(number - 1):
        away = distances(points, centres).min(axis=1)
        total = away.sum()
        drawn = rng.choice(len(points), p=away / total if total > 0.0 else None)
        centres = np.vstack([centres, points[drawn]])
    return centres


# How far two partitions of the same people agree --------------------------------------------------


def adjusted_rand(one: np.ndarray, other: np.ndarray) -> float:
    r"""The adjusted Rand index: 1 for the same partition, 0 on average for independent ones of the
    same sizes.

    .. math::

        (R - E[R]) \Big/ \big(\tfrac12 (A + B) - E[R]\big), \quad
        R = \sum_{ij} \binom{n_{ij}}{2}, \;
        A = \sum_i \binom{n_i}{2}, \; B = \sum_j \binom{n_j}{2}, \; E[R] = A B \Big/ \binom{n}{2}
    """
    rows, columns = (np.unique(labels, return_inverse=True)[1] for labels in (one, other))
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1.0)
    together, first, second = (
        _pairs(counts).sum() for counts in (table, table.sum(axis=1), table.sum(axis=0))
    )
    expected = first * second / max(_pairs(np.array(float(len(rows)))), 1.0)
    most = 0.5 * (first + second)
    return float((together - expected) / (most - expected)) if most > expected else 1.0


def _pairs(counts: np.ndarray) -> np.ndarray:
    return counts * (counts - 1.0) / 2.0


# Names for segments, by what distinguishes them from everybody ------------------------------------


_WORTH_NAMING = 0.05  # of a preference, by which a segment differs from everybody
_WORDS: dict[tuple[str, ...], str] = {
    (INSIDE, INSIDE_LEVELS[0]): "no choice",
    (INSIDE, INSIDE_LEVELS[1]): "any product",
}
_MIN_NAMED, _MAX_NAMED = 2, 3  # attributes in a name


def names_of(
    levels: Sequence[tuple[str, ...]], profiles: np.ndarray, everybody: np.ndarray
) -> list[str]:
    """Names by the two attributes, or options, three where names are alike, in which profiles (K,
    F) differ most from everybody."""
    phrases = [_phrases(levels, own, everybody) for own in profiles]
    for number in (_MIN_NAMED, _MAX_NAMED):
        names = [", ".join(own[:number]) or "close to average" for own in phrases]
        if len(set(names)) == len(names):
            break
    return names


def _phrases(
    levels: Sequence[tuple[str, ...]], own: np.ndarray, everybody: np.ndarray
) -> list[str]:
    """A phrase for each attribute, or option, the most distinctive first: the level liked more than
    others like it."""
    liked, indifferent = [], []
    for attribute in dict.fromkeys(tuple(attribute) for *attribute, _ in levels):
        places = np.array(
            [place for place, (*name, _) in enumerate(levels) if tuple(name) == attribute]
        )
        beyond = own[places] - everybody[places]
        wanted = np.where(own[places] >= 0.5 + _WORTH_NAMING, beyond, 0.0)
        best = np.argsort(-wanted, kind="stable")[: 1 if attribute else None]
        named = [
            (float(wanted[each]), levels[int(places[each])])
            for each in best
            if wanted[each] >= _WORTH_NAMING
        ]
        liked += [(beyond, _WORDS.get(level, " ".join(level))) for beyond, level in named]
        if (
            not named
            and (less := float(np.ptp(everybody[places]) - np.ptp(own[places])))
            >= 2 * _WORTH_NAMING
        ):
            indifferent.append((less / 2, f"{' '.join(attribute) or 'the option'} matters less"))
    return [
        phrase
        for part in (liked, indifferent)
        for _, phrase in sorted(part, key=lambda each: -each[0])
    ]
