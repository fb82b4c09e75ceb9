"""Segments (clusters) of respondents by preference: k-means, stability, names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thali._arguments import check_integers
from thali._data.kinds import INSIDE, INSIDE_LEVELS
from thali._described import Description, PrintedObject
from thali._digits import format_percent
from thali._inference.indexing import argsort_descending, count_pairs, space_evenly
from thali._inference.seeds import spawn_generators
from thali._labels import format_plural
from thali._posterior.interval import INTERVAL, compute_interval, interval_tails
from thali._printed import printed_dataclass
from thali.errors import Argument, DataError

from .class_order import share_by_class

if TYPE_CHECKING:
    import pandas

MAX_TRIED = 6  # maximum of segments if their number is not given
_AS_STABLE = 0.05  # difference of stability below which more segments are better
_CLOSEST = 0.02  # minimum distance of a preference to 0 and 1


MAX_DRAWS = 100
_MAX_NUMBERS = 2e7  # draws x respondents x levels


class Preferences(NamedTuple):
    """Draws of respondents' preferences for F levels or options, between 0 and 1."""

    levels: tuple[tuple[str, ...], ...]  # (attribute, level), or (option,)
    values: np.ndarray  # (D, N, F) between 0 and 1
    respondents: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the table columns that identify a level or option."""
        if len(self.levels[0]) == 1:
            return ("option",)
        return ("attribute", "level")


def select_segment_draws(n_draws: int, n_respondents: int, n_levels: int) -> np.ndarray:
    """Return indices of evenly spaced draws that fit in memory."""
    max_draws = int(np.clip(_MAX_NUMBERS / (n_respondents * n_levels), 2, MAX_DRAWS))
    return space_evenly(n_draws, max_draws)


class SegmentResults:
    """Base class of results with the method `segments`."""

    _preferences: Any  # () -> Preferences

    def segments(self, k: Any = None, random_seed: Any = 0, ci: float = INTERVAL) -> "Segments":
        r"""Cluster the respondents by preference; return sizes, profiles, names, stability.

        Respondents are clustered by k-means of the mean log odds of their preferences; in every
        draw of the posterior each respondent belongs to the nearest centre. Preferences are

        .. math::

            v_{nl} = \frac{1}{L - 1} \sum_{m \neq l} P_n(\text{level } l \succ \text{level } m),

        the probability that respondent n chooses a product with level l rather than another level
        of the attribute, all else being equal. All attributes have equal weight, whatever their
        number of levels. For choices among options, they are the probabilities of choosing one
        option rather than another, averaged over the others. Segments of respondents who differ
        gradually can be stable without being separate groups; see `explained`.

        Parameters
        ----------
        k : int, or several, optional
            Number of segments; if several are given, the largest number whose stability is within
            .05 of the best. None: 2 to 6, or one segment if respondents do not differ.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Seed of the starts of k-means.
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
            If `k` is not an integer of at least 2, `ci` is not between 0 and 1, or the model has no
            individual preferences.
        DataError
            If there are more segments than respondents, or the file of the model has no data.

        References
        ----------
        Hubert & Arabie (1985), Comparing partitions.
        """
        return build_segments(self._preferences(), k, random_seed, ci)


@printed_dataclass
class Segments(PrintedObject):
    """Clusters of respondents by preference, with sizes, profiles and stability.

    Attributes
    ----------
    sizes : pandas.DataFrame
        One row per segment, largest first: `name` (the levels that it prefers more than average),
        `respondents`, `share` of the respondents (mean over draws) and its interval `share_low` to
        `share_high`.
    profiles : pandas.DataFrame
        One row per segment and level, or option: `preferred`, the probability that the level is
        preferred to another level of its attribute, all else being equal, or the option to another
        option (.5: indifferent), its interval over draws `preferred_low` to `preferred_high`, and
        `all_respondents`, the same probability for all respondents.
    assignment : pandas.DataFrame
        One row per respondent: `segment`, and `probability`, the share of draws in this segment.
    probabilities : pandas.DataFrame
        Respondents by segments.
    stability : float
        Adjusted Rand index between the segments of a draw and the assignment, mean over draws: 1 if
        all draws agree, 0 for agreement by chance.
    by_number : pandas.DataFrame
        One row per number of segments: `stability`, `explained` (the share of the variance between
        respondents that is between segments) and `smallest` (share of the smallest segment).
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
        """Return all segments' profiles next to each other.

        Returns
        -------
        pandas.DataFrame
            One row per level or option; columns `attribute` and `level`, or `option`,
            `all_respondents`, and "segment 1", "segment 2", ...
        """
        from thali._result_table import Table

        parts = dict(list(self.profiles.groupby("segment")))
        names = [name for name in ("attribute", "level", "option") if name in self.profiles]
        first = parts[1].reset_index(drop=True)[[*names, "all_respondents"]]
        return Table(
            first.assign(
                **{f"segment {k}": part["preferred"].to_numpy() for k, part in parts.items()}
            )
        )

    def _description(self) -> Description:
        """Return what `print` shows: sizes, names and stability."""
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


def build_segments(
    preferences: Preferences, requested: Any, random_seed: Any, ci: float = INTERVAL
) -> Segments:
    r"""Return segments of respondents, from k-means of their mean log odds of preference.

    In every draw, respondents belong to the nearest centre. Log odds are clustered because
    probabilities near 0 and 1 hide differences between respondents.

    .. math:: \ln \frac{v}{1 - v}, \qquad v \text{ between .02 and .98}
    """
    n_respondents = preferences.values.shape[1]
    numbers = list_segment_numbers(requested, n_respondents)
    bounded = np.clip(preferences.values, _CLOSEST, 1.0 - _CLOSEST)
    points = np.log(bounded / (1.0 - bounded)) * np.sqrt(_level_weights(preferences))
    # segments of one number do not depend on the others
    seeds = spawn_generators(random_seed, max(numbers) + 1)
    labels_by_number = {k: _assign_draws(points, k, seeds[k]) for k in numbers}
    n_filled = {
        k: len(np.unique(_most_frequent_segment(labels, k)))
        for k, labels in labels_by_number.items()
    }
    full_labels = {k: labels for k, labels in labels_by_number.items() if n_filled[k] == k}
    if not full_labels and requested is None:
        full_labels = {1: np.zeros(points.shape[:2], np.int64)}
    if not full_labels:
        n_found = n_filled[numbers[0]]
        raise DataError(
            f"Respondents form only {format_plural(n_found, 'segment')}, so {numbers[0]} are not"
            " possible; reduce ",
            Argument("k"),
            ".",
        )
    rows = {k: _evaluate_partition(points, labels, k) for k, labels in full_labels.items()}
    min_stability = max(row["stability"] for row in rows.values()) - _AS_STABLE
    chosen = max(k for k, row in rows.items() if row["stability"] >= min_stability)
    return _build_result(preferences, full_labels[chosen], chosen, rows, ci)


def list_segment_numbers(requested: Any, people: int, name: str = "k") -> tuple[int, ...]:
    """Return the numbers of segments to try."""
    if requested is None:
        return tuple(range(2, min(MAX_TRIED, people - 1) + 1)) or (2,)
    numbers = check_integers(name, requested, 2)
    if max(numbers) > people:
        raise DataError(
            f"{max(numbers):,} segments are too many for {format_plural(people, 'respondent')};"
            " reduce ",
            Argument(name),
            ".",
        )
    return numbers


def _level_weights(preferences: Preferences) -> np.ndarray:
    """Return weights of levels that give all attributes equal influence, (F,)."""
    # A strict order has distance 1 from indifference.
    attributes = [attribute for *attribute, _ in preferences.levels]
    sizes = [attributes.count(attribute) for attribute in attributes]
    return np.array([1.0 / ((np.linspace(0.0, 1.0, size) - 0.5) ** 2).sum() for size in sizes])


def _assign_draws(points: np.ndarray, n_segments: int, rng: np.random.Generator) -> np.ndarray:
    """Assign respondents in each draw to the nearest of fixed centres, (draws, respondents)."""
    # The centres come from the mean positions; segments are numbered from the largest.
    centres = find_centres(points.mean(axis=0), n_segments, rng)
    labels = np.stack([squared_distances(draw, centres).argmin(axis=1) for draw in points])
    order = argsort_descending(np.bincount(labels.ravel(), minlength=n_segments))
    return np.argsort(order)[labels]


def _most_frequent_segment(labels: np.ndarray, n_segments: int) -> np.ndarray:
    """Return each respondent's most frequent segment over draws, (respondents,)."""
    return share_by_class(labels, n_segments, axis=0).argmax(axis=1)


def _evaluate_partition(
    points: np.ndarray, labels: np.ndarray, n_segments: int
) -> dict[str, float]:
    """Return stability, explained variance and smallest segment share."""
    mean = points.mean(axis=0)
    segment = _most_frequent_segment(labels, n_segments)
    within_sum_of_squares = sum(
        ((mean[segment == k] - mean[segment == k].mean(axis=0)) ** 2).sum()
        for k in np.unique(segment)
    )
    total = ((mean - mean.mean(axis=0)) ** 2).sum()
    smallest = np.bincount(segment, minlength=n_segments).min() / len(segment)
    explained_share = np.nan
    if total > 0.0:
        explained_share = float(1.0 - within_sum_of_squares / total)
    return {
        "stability": float(
            np.mean([adjusted_rand_index(draw_labels, segment) for draw_labels in labels])
        ),
        "explained": explained_share,
        "smallest": float(smallest),
    }


def _build_result(
    preferences: Preferences,
    labels: np.ndarray,
    n_segments: int,
    rows: dict[int, dict[str, float]],
    ci: float,
) -> Segments:
    """Build the `Segments` with all tables for one number of segments."""
    import pandas as pd

    from thali._result_table import Table

    probabilities = share_by_class(labels, n_segments, axis=0)
    segment = probabilities.argmax(axis=1)
    index = pd.Index(np.arange(1, n_segments + 1), name="segment")
    shares = share_by_class(labels, n_segments, axis=1)
    profiles = _segment_profiles(preferences.values, labels, n_segments)
    average = preferences.values.mean(axis=(0, 1))
    means = np.nanmean(profiles, axis=0)
    low, high = compute_interval(shares, ci)
    sizes = Table(
        {
            "name": name_segments(preferences.levels, means, average),
            "respondents": np.bincount(segment, minlength=n_segments),
            "share": shares.mean(axis=0),
            "share_low": low,
            "share_high": high,
        },
        index,
    )
    sizes.attrs["interval"] = ci
    low, high = np.nanquantile(profiles, interval_tails(ci), axis=0)
    levels = Table(preferences.levels * n_segments, columns=preferences.names).assign(
        preferred=means.ravel(),
        preferred_low=low.ravel(),
        preferred_high=high.ravel(),
        all_respondents=np.tile(average, n_segments),
    )
    levels.insert(0, "segment", np.repeat(index, len(preferences.levels)))
    levels.attrs["interval"] = ci
    respondents = pd.Index(preferences.respondents, name="respondent")
    assignment = Table(
        {"segment": segment + 1, "probability": probabilities.max(axis=1)}, respondents
    )
    return Segments(
        sizes,
        levels,
        assignment,
        Table(probabilities, respondents, index),
        rows[n_segments]["stability"],
        Table(list(rows.values()), pd.Index(list(rows), name="segments")),
    )


def _segment_profiles(preferences: np.ndarray, labels: np.ndarray, n_segments: int) -> np.ndarray:
    """Return mean preferences by segment, (draws, K, F); NaN if empty."""
    members = np.stack([labels == k for k in range(n_segments)], axis=1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return members @ preferences / members.sum(axis=2, keepdims=True)


# K-means (Lloyd 1982), with starts that are spread out (Arthur & Vassilvitskii 2007) --------------


_STARTS = 20
_MAX_PASSES = 100


def find_centres(points: np.ndarray, n_segments: int, rng: np.random.Generator) -> np.ndarray:
    """Return the best k-means centres (K, F) of several starts."""
    runs = [_move_centres(points, _choose_starts(points, n_segments, rng)) for _ in range(_STARTS)]
    return min(runs, key=lambda centres: squared_distances(points, centres).min(axis=1).sum())


def _move_centres(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Run Lloyd's k-means iterations from these centres; return the final ones."""
    # A centre without points stays.
    nearest = None
    for _ in range(_MAX_PASSES):
        before = nearest
        nearest = squared_distances(points, centres).argmin(axis=1)
        if before is not None and np.array_equal(nearest, before):
            break
        counts = np.bincount(nearest, minlength=len(centres))
        sums = np.stack([np.bincount(nearest, column, len(centres)) for column in points.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return squared distances of points and centres, shape (points, centres)."""
    return np.maximum(
        (points**2).sum(axis=1)[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1), 0.0
    )


def _choose_starts(points: np.ndarray, n_segments: int, rng: np.random.Generator) -> np.ndarray:
    """Draw starting centres as in k-means++."""
    centres = points[[rng.integers(len(points))]]
    for _ in range(n_segments - 1):
        distance = squared_distances(points, centres).min(axis=1)
        total = distance.sum()
        p = None
        if total > 0.0:
            p = distance / total
        chosen = rng.choice(len(points), p=p)
        centres = np.vstack([centres, points[chosen]])
    return centres


# Agreement of two partitions of the same respondents ----------------------------------------------


def adjusted_rand_index(one: np.ndarray, other_labels: np.ndarray) -> float:
    r"""Return the adjusted Rand index of two partitions (labels).

    It is 1 for equal partitions, and 0 on average for independent ones of the same sizes.

    .. math::

        (R - E[R]) \Big/ \big(\tfrac12 (A + B) - E[R]\big), \quad
        R = \sum_{ij} \binom{n_{ij}}{2}, \;
        A = \sum_i \binom{n_i}{2}, \; B = \sum_j \binom{n_j}{2}, \; E[R] = A B \Big/ \binom{n}{2}
    """
    rows, columns = (np.unique(labels, return_inverse=True)[1] for labels in (one, other_labels))
    table = np.zeros((rows.max() + 1, columns.max() + 1))
    np.add.at(table, (rows, columns), 1.0)
    n_joint, n_first, n_second = (
        count_pairs(counts).sum() for counts in (table, table.sum(axis=1), table.sum(axis=0))
    )
    expected = n_first * n_second / max(count_pairs(len(rows)), 1.0)
    maximum = 0.5 * (n_first + n_second)
    if maximum > expected:
        return float((n_joint - expected) / (maximum - expected))
    return 1.0


# Names of segments, by their differences from the average -----------------------------------------


_WORTH_NAMING = 0.05  # minimum difference of a preference from the average
_WORDS: dict[tuple[str, ...], str] = {
    (INSIDE, INSIDE_LEVELS[0]): "no choice",
    (INSIDE, INSIDE_LEVELS[1]): "any product",
}
_MIN_NAMED, _MAX_NAMED = 2, 3  # attributes in a name


def name_segments(
    levels: Sequence[tuple[str, ...]], profiles: np.ndarray, average: np.ndarray
) -> list[str]:
    """Name segments by the levels on which they differ most from the average.

    Names have two attributes, or three if names would be equal; profiles (K, F).
    """
    phrases_by_segment = [
        _describe_differences(levels, segment_profile, average) for segment_profile in profiles
    ]
    for n_named in (_MIN_NAMED, _MAX_NAMED):
        names = [
            ", ".join(segment_profile[:n_named]) or "close to average"
            for segment_profile in phrases_by_segment
        ]
        if len(set(names)) == len(names):
            break
    return names


def _describe_differences(
    levels: Sequence[tuple[str, ...]], segment_profile: np.ndarray, average: np.ndarray
) -> list[str]:
    """Return phrases on a segment's most distinctive levels, strongest first."""
    preferred, indifferent = [], []
    for attribute in dict.fromkeys(tuple(attribute) for *attribute, _ in levels):
        level_indices = np.flatnonzero([tuple(name) == attribute for *name, _ in levels])
        difference = segment_profile[level_indices] - average[level_indices]
        scores = np.where(segment_profile[level_indices] >= 0.5 + _WORTH_NAMING, difference, 0.0)
        best_indices = argsort_descending(scores)
        if attribute:
            best_indices = best_indices[:1]
        named_indices = [k for k in best_indices if scores[k] >= _WORTH_NAMING]
        for k in named_indices:
            level = levels[int(level_indices[k])]
            preferred.append((scores[k], _WORDS.get(level, " ".join(level))))
        spread_loss = np.ptp(average[level_indices]) - np.ptp(segment_profile[level_indices])
        if not named_indices and spread_loss >= 2 * _WORTH_NAMING:
            indifferent.append((spread_loss, f"{' '.join(attribute) or 'the option'} matters less"))
    return [
        phrase
        for phrases in (preferred, indifferent)
        for _, phrase in sorted(phrases, key=lambda k: -k[0])
    ]
