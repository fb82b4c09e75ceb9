"""`segments`, which models of choice experiments share."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thali.people.segments import Preferences, Segments


class HasSegments:
    """What models of choice experiments share that know the tastes of everybody."""

    _preferences: Any  # () -> Preferences

    def segments(self, k: Any = None, random_seed: Any = 0) -> "Segments":
        r"""Segments of the respondents by what they prefer, with their sizes, profiles, names and stability.

        People are grouped by k-means of the mean log odds of their preferences; in every draw of the posterior each
        belongs to the nearest centre. Preferences are

        .. math:: v_{nl} = \frac{1}{L - 1} \sum_{m \neq l} P_n(\text{level } l \succ \text{level } m),

        how often a person chooses a product with level l rather than one with another level of the attribute, all else
        being equal; all attributes count alike, whatever their number of levels. Segments of people who differ by
        degrees can be stable without being separate groups: read `explained` beside `stability`.

        Parameters
        ----------
        k : int, or several, optional
            How many segments; of several the most stable number is chosen, the largest of those within .05 of it. None:
            from 2 to 6, or one where nobody differs.
        random_seed : int, numpy.random.SeedSequence or numpy.random.Generator, optional
            Of the starts of k-means.

        Returns
        -------
        Segments
            `.sizes`, `.profiles`, `.assignment`, `.probabilities`, `.stability`, `.by_number`; `print` shows them.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If `k` is no whole number of 2 or more.
        DataError
            If there are more segments than respondents, or the file of the model could not hold the data.

        References
        ----------
        Hubert & Arabie (1985), Comparing partitions.
        """
        from thali.people.segments import segments_of

        preferences: Preferences = self._preferences()
        return segments_of(preferences, k, random_seed)
