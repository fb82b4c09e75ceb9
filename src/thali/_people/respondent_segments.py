"""Segments (clusters) of respondents by preference: k-means, stability, names."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from thali._argument_checks import check_allowed, check_integers
from thali._data.kinds import INSIDE, INSIDE_LEVELS
from thali._exportable_table import Table
from thali._inference.index_arithmetic import argsort_descending, count_pairs, space_evenly
from thali._inference.numerics.weight_shares import compute_shares
from thali._inference.random_seeds import RandomSeed, spawn_generators
from thali._labels import format_plural
from thali._number_format import format_percent
from thali._object_descriptions import Description, PrintedObject
from thali._posterior.posterior_interval import INTERVAL, compute_interval, interval_tails
from thali._printed_result import printed_dataclass
from thali.errors import Argument, DataError

from .population_weights import (
    RESPONDENTS,
    describe_population,
    describe_sample,
    draw_exponentials,
)

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

    def segments(
        self,
        k: int | Iterable[int] | None = None,
        random_seed: RandomSeed = 0,
        ci: float = INTERVAL,
        people: str | None = None,
    ) -> "Segments":
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
            Seed of the starts of k-means, and of the respondents' weights.
        ci : float in (0, 1)
            Probability of the intervals.
        people : str, optional
            Whose segments the intervals are about. None: of the population that the respondents
            represent, by the Bayesian bootstrap; "respondents": of the respondents themselves.

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
        Hubert & Arabie (1985), Comparing partitions; Rubin (1981), The Bayesian bootstrap.
        """
        return build_segments(self._preferences(), k, random_seed, ci, people)


@printed_dataclass
class Segments(PrintedObject):
    """Clusters of respondents by preference, with sizes, profiles and stability.

    Attributes
    ----------
    sizes : pandas.DataFrame
        One row per segment, largest first: `name` (the levels that it prefers more than average),
        `respondents`, `share` of the respondents (mean over draws) and its interval `share_low` to
        `share_high`; ``attrs["whose"]`` tells whether of the population or of the respondents.
    profiles : pandas.DataFrame
        One row per segment and level, or option: `preferred`, the probability that the level is
        preferred to another level of its attribute, all else being equal, or the option to another
        option (.5: indifferent), its interval `preferred_low` to `preferred_high`, and
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

    sizes: pd.DataFrame
    profiles: pd.DataFrame
    assignment: pd.DataFrame
    probabilities: pd.DataFrame
    stability: float
    by_number: pd.DataFrame

    def __len__(self) -> int:
        return len(self.sizes)

    def table(self) -> pd.DataFrame:
        """Return all segments' profiles next to each other.

        Returns
        -------
        pandas.DataFrame
            One row per level or option; columns `attribute` and `level`, or `option`,
            `all_respondents`, and "segment 1", "segment 2", ...
        """
        profile_by_segment = dict(list(self.profiles.groupby("segment")))
        level_columns = [name for name in ("attribute", "level", "option") if name in self.profiles]
        first_profile = profile_by_segment[1].reset_index(drop=True)[
            [*level_columns, "all_respondents"]
        ]
        return Table(
            first_profile.assign(
                **{
                    f"segment {k}": profile["preferred"].to_numpy()
                    for k, profile in profile_by_segment.items()
                }
            )
        )

    def _description(self) -> Description:
        """Return what `print` shows: sizes, names and stability."""
        share_texts = [
            (f"segment {number}", f"{format_percent(row['share'])}: {row['name']}")
            for number, row in self.sizes.to_dict("index").items()
        ]
        note = (
            f"Stability {self.stability:.2f} (mean adjusted Rand index between the segments in"
            " each draw and the final assignment; 1: perfect agreement, 0: chance)."
        )
        return Description(
            f"{format_plural(len(self), 'segment')} of"
            f" {format_plural(len(self.assignment), 'respondent')}",
            tuple(share_texts),
            table=self.table().round(2),
            note=note,
        )


def build_segments(
    preferences: Preferences,
    requested_numbers: int | Iterable[int] | None,
    random_seed: RandomSeed,
    ci: float = INTERVAL,
    people: str | None = None,
) -> Segments:
    r"""Return segments of respondents, from k-means of their mean log odds of preference.

    In every draw, respondents belong to the nearest centre. Log odds are clustered because
    probabilities near 0 and 1 hide differences between respondents.

    .. math:: \ln \frac{v}{1 - v}, \qquad v \text{ between .02 and .98}
    """
    if people is not None:
        check_allowed("people", people, (RESPONDENTS,))
    n_draws, n_respondents, _ = preferences.values.shape
    segment_numbers = list_segment_numbers(requested_numbers, n_respondents)
    bounded_preferences = np.clip(preferences.values, _CLOSEST, 1.0 - _CLOSEST)
    points = np.log(bounded_preferences / (1.0 - bounded_preferences)) * np.sqrt(
        _compute_level_weights(preferences)
    )
    weights = np.ones((n_draws, n_respondents))
    whose = describe_sample(n_respondents)
    if people is None:
        weights = draw_exponentials(n_draws, n_respondents, random_seed)
        whose = describe_population(n_respondents)
    # segments of one number do not depend on the others
    seeds = spawn_generators(random_seed, max(segment_numbers) + 1)
    labels_by_number = {k: _assign_draws(points, k, seeds[k]) for k in segment_numbers}
    n_filled_segments = {
        k: len(np.unique(_find_most_frequent_segment(labels, k)))
        for k, labels in labels_by_number.items()
    }
    labels_without_empty = {
        k: labels for k, labels in labels_by_number.items() if n_filled_segments[k] == k
    }
    if not labels_without_empty and requested_numbers is None:
        labels_without_empty = {1: np.zeros(points.shape[:2], np.int64)}
    if not labels_without_empty:
        n_found = n_filled_segments[segment_numbers[0]]
        raise DataError(
            f"Respondents form only {format_plural(n_found, 'segment')}, so {segment_numbers[0]}"
            " are not possible; reduce ",
            Argument("k"),
            ".",
        )
    quality_by_number = {
        k: _evaluate_partition(points, labels, k) for k, labels in labels_without_empty.items()
    }
    min_stability = max(quality["stability"] for quality in quality_by_number.values()) - _AS_STABLE
    best_number = max(
        k for k, quality in quality_by_number.items() if quality["stability"] >= min_stability
    )
    segments = _build_result(
        preferences, labels_without_empty[best_number], best_number, quality_by_number, weights, ci
    )
    for table in (segments.sizes, segments.profiles):
        table.attrs["whose"] = whose
    return segments


def list_segment_numbers(
    requested_numbers: int | Iterable[int] | None, n_respondents: int, name: str = "k"
) -> tuple[int, ...]:
    """Return the numbers of segments to try."""
    if requested_numbers is None:
        return tuple(range(2, min(MAX_TRIED, n_respondents - 1) + 1)) or (2,)
    segment_numbers = check_integers(name, requested_numbers, 2)
    if max(segment_numbers) > n_respondents:
        raise DataError(
            f"{max(segment_numbers):,} segments are too many for"
            f" {format_plural(n_respondents, 'respondent')}; reduce ",
            Argument(name),
            ".",
        )
    return segment_numbers


def _compute_level_weights(preferences: Preferences) -> np.ndarray:
    """Return weights of levels that give all attributes equal influence, (F,)."""
    # A strict order has distance 1 from indifference.
    attributes = [attribute for *attribute, _ in preferences.levels]
    n_levels = [attributes.count(attribute) for attribute in attributes]
    return np.array([1.0 / ((np.linspace(0.0, 1.0, size) - 0.5) ** 2).sum() for size in n_levels])


def _assign_draws(points: np.ndarray, n_segments: int, rng: np.random.Generator) -> np.ndarray:
    """Assign respondents in each draw to the nearest of fixed centres, (draws, respondents)."""
    # The centres come from the mean positions; segments are numbered from the largest.
    centres = find_centres(points.mean(axis=0), n_segments, rng)
    labels = np.stack([compute_squared_distances(draw, centres).argmin(axis=1) for draw in points])
    by_size = argsort_descending(np.bincount(labels.ravel(), minlength=n_segments))
    return np.argsort(by_size)[labels]


def _compute_segment_probabilities(labels: np.ndarray, n_segments: int) -> np.ndarray:
    """Return the share of draws of each respondent in each segment, (respondents, segments)."""
    return np.stack([(labels == k).mean(axis=0) for k in range(n_segments)], axis=-1)


def _find_most_frequent_segment(labels: np.ndarray, n_segments: int) -> np.ndarray:
    """Return each respondent's most frequent segment over draws, (respondents,)."""
    return _compute_segment_probabilities(labels, n_segments).argmax(axis=1)


def _evaluate_partition(
    points: np.ndarray, labels: np.ndarray, n_segments: int
) -> dict[str, float]:
    """Return stability, explained variance and smallest segment share."""
    mean_points = points.mean(axis=0)
    segment_of_respondent = _find_most_frequent_segment(labels, n_segments)
    within_sum_of_squares = sum(
        (
            (
                mean_points[segment_of_respondent == k]
                - mean_points[segment_of_respondent == k].mean(axis=0)
            )
            ** 2
        ).sum()
        for k in np.unique(segment_of_respondent)
    )
    total_sum_of_squares = ((mean_points - mean_points.mean(axis=0)) ** 2).sum()
    smallest_share = np.bincount(segment_of_respondent, minlength=n_segments).min() / len(
        segment_of_respondent
    )
    explained_share = np.nan
    if total_sum_of_squares > 0.0:
        explained_share = float(1.0 - within_sum_of_squares / total_sum_of_squares)
    return {
        "stability": float(
            np.mean(
                [
                    compute_adjusted_rand_index(draw_labels, segment_of_respondent)
                    for draw_labels in labels
                ]
            )
        ),
        "explained": explained_share,
        "smallest": float(smallest_share),
    }


def _build_result(
    preferences: Preferences,
    labels: np.ndarray,
    n_segments: int,
    quality_by_number: dict[int, dict[str, float]],
    weights: np.ndarray,
    ci: float,
) -> Segments:
    """Build the `Segments` with all tables for one number of segments."""
    # intervals have the weights (draws, respondents) of respondents; means have equal weights
    probabilities = _compute_segment_probabilities(labels, n_segments)
    segment_of_respondent = probabilities.argmax(axis=1)
    segment_index = pd.Index(np.arange(1, n_segments + 1), name="segment")
    is_member = np.stack([labels == k for k in range(n_segments)], axis=1)
    weighted_members = is_member * weights[:, None]
    segment_shares = compute_shares(weighted_members.sum(axis=2))
    profiles = _compute_segment_profiles(preferences.values, is_member)
    average_preferences = preferences.values.mean(axis=(0, 1))
    mean_profiles = np.nanmean(profiles, axis=0)
    low, high = compute_interval(segment_shares, ci)
    size_table = Table(
        {
            "name": name_segments(preferences.levels, mean_profiles, average_preferences),
            "respondents": np.bincount(segment_of_respondent, minlength=n_segments),
            "share": is_member.mean(axis=(0, 2)),
            "share_low": low,
            "share_high": high,
        },
        segment_index,
    )
    size_table.attrs["interval"] = ci
    weighted_profiles = _compute_segment_profiles(preferences.values, weighted_members)
    low, high = np.nanquantile(weighted_profiles, interval_tails(ci), axis=0)
    level_profiles = Table(preferences.levels * n_segments, columns=preferences.names).assign(
        preferred=mean_profiles.ravel(),
        preferred_low=low.ravel(),
        preferred_high=high.ravel(),
        all_respondents=np.tile(average_preferences, n_segments),
    )
    level_profiles.insert(0, "segment", np.repeat(segment_index, len(preferences.levels)))
    level_profiles.attrs["interval"] = ci
    respondent_index = pd.Index(preferences.respondents, name="respondent")
    assignment = Table(
        {"segment": segment_of_respondent + 1, "probability": probabilities.max(axis=1)},
        respondent_index,
    )
    return Segments(
        size_table,
        level_profiles,
        assignment,
        Table(probabilities, respondent_index, segment_index),
        quality_by_number[n_segments]["stability"],
        Table(list(quality_by_number.values()), pd.Index(list(quality_by_number), name="segments")),
    )


def _compute_segment_profiles(preferences: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return mean preferences by segment, (draws, K, F); NaN if empty."""
    # members are weights of respondents in each segment, (draws, K, respondents)
    members = members.astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return members @ preferences / members.sum(axis=2, keepdims=True)


# K-means (Lloyd 1982), with starts that are spread out (Arthur & Vassilvitskii 2007) --------------


_STARTS = 20
_MAX_PASSES = 100


def find_centres(points: np.ndarray, n_segments: int, rng: np.random.Generator) -> np.ndarray:
    """Return the best k-means centres (K, F) of several starts."""
    centre_sets = [
        _move_centres(points, _choose_starts(points, n_segments, rng)) for _ in range(_STARTS)
    ]
    return min(
        centre_sets,
        key=lambda centres: compute_squared_distances(points, centres).min(axis=1).sum(),
    )


def _move_centres(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Run Lloyd's k-means iterations from these centres; return the final ones."""
    # A centre without points stays.
    nearest = None
    for _ in range(_MAX_PASSES):
        previous_nearest = nearest
        nearest = compute_squared_distances(points, centres).argmin(axis=1)
        if previous_nearest is not None and np.array_equal(nearest, previous_nearest):
            break
        n_points = np.bincount(nearest, minlength=len(centres))
        point_sums = np.stack(
            [np.bincount(nearest, column, len(centres)) for column in points.T], axis=1
        )
        centres = np.where(
            n_points[:, None] > 0, point_sums / np.maximum(n_points, 1)[:, None], centres
        )
    return centres


def compute_squared_distances(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return squared distances of points and centres, shape (points, centres)."""
    return np.maximum(
        (points**2).sum(axis=1)[:, None] - 2.0 * points @ centres.T + (centres**2).sum(axis=1), 0.0
    )


def _choose_starts(points: np.ndarray, n_segments: int, rng: np.random.Generator) -> np.ndarray:
    """Draw starting centres as in k-means++."""
    centres = points[[rng.integers(len(points))]]
    for _ in range(n_segments - 1):
        distances = compute_squared_distances(points, centres).min(axis=1)
        total_distance = distances.sum()
        probabilities = None
        if total_distance > 0.0:
            probabilities = distances / total_distance
        chosen_point = rng.choice(len(points), p=probabilities)
        centres = np.vstack([centres, points[chosen_point]])
    return centres


# Agreement of two partitions of the same respondents ----------------------------------------------


def compute_adjusted_rand_index(first_labels: np.ndarray, second_labels: np.ndarray) -> float:
    r"""Return the adjusted Rand index of two partitions (labels).

    It is 1 for equal partitions, and 0 on average for independent ones of the same sizes.

    .. math::

        (R - E[R]) \Big/ \big(\tfrac12 (A + B) - E[R]\big), \quad
        R = \sum_{ij} \binom{n_{ij}}{2}, \;
        A = \sum_i \binom{n_i}{2}, \; B = \sum_j \binom{n_j}{2}, \; E[R] = A B \Big/ \binom{n}{2}
    """
    first_indices, second_indices = (
        np.unique(labels, return_inverse=True)[1] for labels in (first_labels, second_labels)
    )
    contingency_table = np.zeros((first_indices.max() + 1, second_indices.max() + 1))
    np.add.at(contingency_table, (first_indices, second_indices), 1.0)
    n_joint, n_first, n_second = (
        count_pairs(counts).sum()
        for counts in (
            contingency_table,
            contingency_table.sum(axis=1),
            contingency_table.sum(axis=0),
        )
    )
    expected_pairs = n_first * n_second / max(count_pairs(len(first_indices)), 1.0)
    max_pairs = 0.5 * (n_first + n_second)
    if max_pairs > expected_pairs:
        return float((n_joint - expected_pairs) / (max_pairs - expected_pairs))
    return 1.0


# Names of segments, by their differences from the average -----------------------------------------


_AVERAGE = "close to the average"
_LESS = " matters less"
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
            ", ".join(segment_phrases[:n_named]) or _AVERAGE
            for segment_phrases in phrases_by_segment
        ]
        if len(set(names)) == len(names):
            break
    return names


def describe_members(segment_name: str) -> str:
    """Return the name of a segment as a phrase on its members, such as "prefer zoom yes"."""
    first_phrase = segment_name.split(", ")[0]
    if first_phrase == _AVERAGE or first_phrase.endswith(_LESS):
        return segment_name
    return f"prefer {segment_name}"


def _describe_differences(
    levels: Sequence[tuple[str, ...]], segment_profile: np.ndarray, average: np.ndarray
) -> list[str]:
    """Return phrases on a segment's most distinctive levels, strongest first."""
    preferred_phrases = []
    indifferent_phrases = []
    for attribute in dict.fromkeys(tuple(attribute) for *attribute, _ in levels):
        level_indices = np.flatnonzero([tuple(name) == attribute for *name, _ in levels])
        differences = segment_profile[level_indices] - average[level_indices]
        naming_scores = np.where(
            segment_profile[level_indices] >= 0.5 + _WORTH_NAMING, differences, 0.0
        )
        best_indices = argsort_descending(naming_scores)
        if attribute:
            best_indices = best_indices[:1]
        named_indices = [k for k in best_indices if naming_scores[k] >= _WORTH_NAMING]
        for k in named_indices:
            level = levels[int(level_indices[k])]
            preferred_phrases.append((naming_scores[k], _WORDS.get(level, " ".join(level))))
        spread_loss = np.ptp(average[level_indices]) - np.ptp(segment_profile[level_indices])
        if not named_indices and spread_loss >= 2 * _WORTH_NAMING:
            indifferent_phrases.append(
                (spread_loss, f"{' '.join(attribute) or 'the option'}{_LESS}")
            )
    return [
        phrase
        for phrases in (preferred_phrases, indifferent_phrases)
        for _, phrase in sorted(phrases, key=lambda k: -k[0])
    ]
